"""The parts of a project: what is generated as a package of its own, and what each is made from.

A project without `groups` is one part. With them, each group of resources is one: its package is within
the project's, and nothing of another group counts for it. Configured changes and hooks go to every part that
has their version; what fits none of these parts is a finding.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from trundle.errors import Finding, did_you_mean, listed
from trundle.evolution import TypeChanges
from trundle.project._class_sources import holds_packages
from trundle.project._spelling import as_declared
from trundle.project._storage import Recorded, unknown_hubs
from trundle.project.changes import version_gone
from trundle.project.config import Config
from trundle.project.errors import FileCode, ProjectError, ProjectFileError
from trundle.project.findings import Misfit, ProjectCode, finding
from trundle.project.hooks import hook_key, versions_gone
from trundle.schema.readers import Catalogue, Declared, is_python, matching
from trundle.version import ApiVersion


class Part(msgspec.Struct, frozen=True):
    """What is generated as one package.

    Attributes:
        name: its name within the project's package; empty for a project that is one part.
        config: what the project's file says about it: its package, changes and hooks.
        group: the group whose resources it has; None for all.
        declared: its resources, in every version.
        recorded: the storage versions that the lock records of its resource types.
    """

    name: str
    config: Config
    group: str | None
    declared: tuple[Declared, ...]
    recorded: Recorded = {}

    @property
    def prefix(self) -> str:
        """What the paths of its files start with, seen from the project's package."""
        return f"{self.name}/" if self.name else ""

    @property
    def root_package(self) -> str:
        """The project's package."""
        return (
            self.config.package.removesuffix(f".{self.name}") if self.name else self.config.package
        )

    @property
    def resources(self) -> tuple[str, ...]:
        """The names of its resource types, each as its newest version writes it."""
        found: dict[str, Declared] = {}
        for each in self.declared:
            known = found.setdefault(each.resource.casefold(), each)
            if each.version > known.version:
                found[each.resource.casefold()] = each
        return tuple(sorted(each.resource for each in found.values()))

    @property
    def imports_python(self) -> bool:
        """Whether it may be made from Python modules, whose own imports are unknown."""
        python = {str(each.path) for each in self.config.sources if is_python(each)}
        return any(each.file in python for each in self.declared)


class Outline(msgspec.Struct, frozen=True):
    """A project whose parts are known, before any of them is loaded.

    Attributes:
        config: what the project's file says.
        parts: its parts, in alphabetical order.
        findings: what is wrong with its groups, and with changes and hooks of versions that no part has.
    """

    config: Config
    parts: tuple[Part, ...]
    findings: tuple[Finding, ...] = ()


def outline_of(config: Config, catalogue: Catalogue, recorded: Recorded) -> Outline:
    """The parts of a project.

    Args:
        config: what the project's file says.
        catalogue: what its sources declare.
        recorded: the storage versions that its lock records.

    Raises:
        ProjectError: there are no resources in the schemas.
    """
    declared = catalogue.declared
    if not declared:
        raise nothing_declared(config)
    config = as_declared(config, (each.version for each in declared))
    unmatched = tuple(_unmatched(config))
    if not config.groups:
        part = Part("", config, None, declared, recorded)
        unsound = (*_namesakes(config, declared), *unknown_hubs(config, declared))
        return Outline(config, (part,), (*unmatched, *unsound))
    by_group: dict[str, list[Declared]] = {}
    for each in declared:
        by_group.setdefault(each.group.casefold(), []).append(each)
    parts = []
    for group in sorted(config.groups, key=lambda each: each.name):
        own = tuple(by_group.get(group.key, ()))
        if own:
            narrow = _narrowed(config, group.name, group.group, {each.version for each in own})
            kept = _recorded_of(own, recorded)
            parts.append(Part(group.name, narrow, group.group, own, kept))
    findings = [*_unlisted(config, by_group), *_empty(config, by_group), *_gone(config, declared)]
    findings += unknown_hubs(config, declared)
    return Outline(config, tuple(parts), (*unmatched, *findings))


_DECLARE = "name the files or folders that hold them, or list `resources` in their source"


def no_resources(where: str, advice: str = _DECLARE) -> ProjectError:
    """The error for sources that declare nothing."""
    expected = "schemas of resources"
    return ProjectFileError(FileCode.NO_RESOURCES, where, expected, "none", advice)


def nothing_declared(config: Config) -> ProjectError:
    """The error for a project whose sources declare nothing, or only classes."""
    where = str(config.path)
    if not holds_packages(config):
        return no_resources(where)
    expected, found = (
        "schemas of resources",
        "packages of classes",
    )
    advice = "use `trundle package check --against` to compare releases, and `trundle model convert` for object models"
    return ProjectFileError(FileCode.NO_RESOURCES, where, expected, found, advice)


def _narrowed(config: Config, name: str, group: str, versions: set[ApiVersion]) -> Config:
    """What a project's file says about one group."""
    return msgspec.structs.replace(
        config,
        package=f"{config.package}.{name}",
        title=f"{group or name} of {config.title}" if config.title else group or name,
        groups=(),
        changes=tuple(each for each in config.changes if each.version in versions),
        hooks=tuple(each for each in config.hooks if {each.older, each.newer} & versions),
    )


def _recorded_of(declared: Iterable[Declared], recorded: Recorded) -> Recorded:
    """What a lock records of some resource types."""
    names = {
        name.casefold()
        for each in declared
        for name in (each.resource, f"{each.group}/{each.resource}")
    }
    return {name: versions for name, versions in recorded.items() if name.casefold() in names}


def _unmatched(config: Config) -> Iterator[Finding]:
    """Patterns of files to leave out that match none."""
    sources = [each for each in config.sources if not is_python(each)]
    for pattern, where in config.exclude:
        if not any(matching(source, pattern) for source in sources):
            expected = f"files of the sources that {pattern!r} excludes"
            advice = "correct the pattern, which is relative to this file, or remove it"
            yield finding(ProjectCode.UNUSED, where, "none", advice, expected=expected)


def _finding(where: str, expected: str, found: str, advice: str) -> Finding:
    return finding(ProjectCode.GROUP, where, found, advice, expected=expected)


def _namesakes(config: Config, declared: Iterable[Declared]) -> Iterator[Finding]:
    """Resource types of several groups that share a name, and so cannot be in one package."""
    groups: dict[str, dict[str, Declared]] = {}
    for each in declared:
        groups.setdefault(each.resource.casefold(), {}).setdefault(each.group.casefold(), each)
    for _, found in sorted(groups.items()):
        if len(found) > 1:
            first, *_ = found.values()
            places = listed(f"{each.group or 'no group'} in {each.file}" for each in found.values())
            expected, those = f"one resource type {first.resource}", f"those of {places}"
            advice = "give each group a package of its own by `groups`, or leave one out"
            yield _finding(str(config.path), expected, those, advice)


def _unlisted(config: Config, by_group: Mapping[str, Sequence[Declared]]) -> Iterator[Finding]:
    """Groups that the schemas have and `groups` does not."""
    known = {each.key for each in config.groups}
    for key, declared in sorted(by_group.items()):
        if key in known:
            continue
        first = declared[0]
        names = listed(dict.fromkeys(each.resource for each in declared), 3)
        found = f"resources of {first.group} ({names}; the first in {first.file})"
        advice = f"add a line `name: {first.group}` below `groups`"
        if not first.group:
            found = f"resources of no group ({names}; the first in {first.file})"
            advice = 'add a line `core: ""` below `groups`, give their source a `group`, or leave them out by its `resources`'
        expected = "every group of the schemas among `groups`"
        yield _finding(config.groups_where, expected, found, advice)


def _empty(config: Config, by_group: Mapping[str, Sequence[Declared]]) -> Iterator[Finding]:
    """Groups without any resource."""
    known = {declared[0].group for declared in by_group.values() if declared[0].group}
    for each in config.groups:
        if each.key not in by_group:
            expected = f"resources of {each.group or 'no group'} for {each.name}"
            advice = did_you_mean(each.group, known) if each.group else "remove the line"
            yield _finding(each.where, expected, "none in the schemas", advice)


def _gone(config: Config, declared: Iterable[Declared]) -> Iterator[Finding]:
    """Changes and hooks of versions that no group has."""
    versions = sorted({each.version for each in declared})
    for changes in config.changes:
        if changes.version not in versions:
            yield version_gone(changes, versions)
    for hook in config.hooks:
        if not {hook.older, hook.newer} & set(versions):
            yield from versions_gone(hook, versions)


def unfit(
    parts: Sequence[Part], misfits: Mapping[str, Iterable[Misfit]]
) -> tuple[tuple[Finding, ...], frozenset[str]]:
    """What fits no part that it was checked against.

    Args:
        parts: all parts.
        misfits: what fits each part not, by its name. Its findings are empty where it was not checked.

    Returns:
        The findings, and the parts that should be looked at for those that are not known.
    """
    rules = {name: {each.rule for each in found} for name, found in misfits.items()}
    findings: dict[Finding, None] = {}
    unseen: set[str] = set()
    for name, found in misfits.items():
        for each in found:
            if each.rule and not all(_misses(part, each.rule, rules) for part in parts):
                continue
            if each.finding.found:
                findings[each.finding] = None
            else:
                unseen.add(name)
    return tuple(findings), frozenset(unseen)


def _misses(part: Part, rule: tuple[str, ...], rules: Mapping[str, set[tuple[str, ...]]]) -> bool:
    """Whether a rule was not checked against a part, or does not fit it."""
    changed = any(_is_change(each, rule) for each in part.config.changes)
    if not changed and not any(hook_key(each) == rule for each in part.config.hooks):
        return True
    own = rules.get(part.name, set())
    return rule in own or (*rule[:2], "", "") in own


def _is_change(changes: TypeChanges, rule: tuple[str, ...]) -> bool:
    return (str(changes.version), changes.type) == rule[:2]
