"""How the classes of a package evolve over its versions, under the rules of its releases."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

import msgspec

from trundle.codegen import LiveConversions
from trundle.engine import Engine, EngineError, Type
from trundle.errors import Finding
from trundle.evolution import (
    Evolution,
    Neighbours,
    PlanKey,
    ResourceLineage,
    TypeChanges,
    VersionMap,
)
from trundle.packages import Package
from trundle.project._release_rules import ReleaseHook, ReleaseRules, read_release_rules
from trundle.project.changes import apply_changes
from trundle.project.errors import ConfigError
from trundle.project.findings import ProjectCode, finding
from trundle.schema import EnumType, ObjectType, Resource, Schema, SchemaNote
from trundle.version import ApiVersion, SemVer

_BY_PROPERTY = ("rename", "wrap", "unwrap", "move", "convert", "variant", "default")
_REFERENCE = "reference to "
ENVELOPE = ("apiVersion", "kind", "metadata")
"""The properties that every resource has."""


class PackageEvolution(msgspec.Struct, frozen=True, kw_only=True):
    """The classes of a package through its versions.

    Attributes:
        name: the package.
        evolution: the schemas of its versions, under the rules that fit.
        findings: what is wrong with the other rules.
        hooks: where releases call code; nothing runs it yet.
        lines: by version and class, what the class is called through all versions.
    """

    name: str
    evolution: Evolution
    findings: tuple[Finding, ...]
    hooks: tuple[ReleaseHook, ...]
    lines: Mapping[tuple[ApiVersion, str], str]

    def resource(self, version: ApiVersion, class_name: str) -> ResourceLineage | None:
        """The class of a version through all versions; None where the version has no such class."""
        name = self.lines.get((version, class_name))
        return next((each for each in self.evolution.resources if each.name == name), None)

    def as_documents(self) -> Evolution:
        """The same evolution for documents that name their class as `kind`; they have no properties of a resource's own."""
        schemas = tuple(map(_as_documents, self.evolution.schemas))
        return apply_changes(schemas, self.evolution.all_changes).evolution

    def class_at(self, resource: ResourceLineage, version: ApiVersion) -> str | None:
        """What a class is called in a version; None where the version does not have it."""
        found = resource.resources.get(version)
        return None if found is None else found.root


class PackageEvolutions:
    """The evolutions of packages that may require each other.

    Args:
        packages: packages in all their versions, or a snapshot of a catalog.

    Raises:
        EngineError: two packages of one name and version differ.
        ConfigError: the rules of a release cannot be read.
    """

    def __init__(self, packages: Iterable[Package]) -> None:
        self.packages: dict[str, dict[ApiVersion, Package]] = {}
        listed = tuple(packages)
        for each in listed:
            self.packages.setdefault(each.name, {})[api_version(each.version)] = each
        self.engine = Engine(listed)
        self.session = self.engine.session()
        self._rules: dict[str, tuple[tuple[TypeChanges, ...], tuple[ReleaseHook, ...]]] = {}
        self._found: dict[str, PackageEvolution] = {}
        self._conversions: dict[PlanKey, LiveConversions] = {}
        self._misplaced: list[Finding] = []

    def conversions(self, name: str, key: PlanKey) -> LiveConversions:
        """What runs a plan of a package; it is made once.

        Raises:
            ChangeError: the rules contradict each other.
        """
        if key not in self._conversions:
            self._conversions[key] = LiveConversions(self.of(name).evolution, [key])
        return self._conversions[key]

    def of(self, name: str) -> PackageEvolution:
        """How the classes of a package evolve.

        Raises:
            KeyError: there is no such package.
            EngineError: a class cannot be built.
            ConfigError: the rules of a release cannot be read.
        """
        if name not in self._found:
            self._found[name] = self._make(name)
        return self._found[name]

    def type(self, name: str, version: ApiVersion, class_name: str) -> Type:
        """A class of a package in a version."""
        return self.session.type(class_name, str(self.packages[name][version].version), name)

    def _make(self, name: str) -> PackageEvolution:
        self._misplaced = []
        own, hooks = self._rules_of(name)
        found = _Classes(self, name)
        lines = found.lines(own)
        changes = [*found.inherited(own), *_of_references(found, own)]
        schemas = tuple(found.schema(version, lines) for version in sorted(self.packages[name]))
        applied = apply_changes(schemas, changes)
        findings = [*self._misplaced, *(each.finding for each in applied.misfits)]
        return PackageEvolution(
            name=name,
            evolution=applied.evolution,
            findings=tuple(dict.fromkeys(findings)),
            hooks=hooks,
            lines=lines,
        )

    def _rules_of(self, name: str) -> tuple[tuple[TypeChanges, ...], tuple[ReleaseHook, ...]]:
        """The rules and hooks of all releases of a package, each under the older one of two neighbours."""
        if name not in self._rules:
            changes: list[TypeChanges] = []
            hooks: list[ReleaseHook] = []
            pairs = version_map(self.packages[name]).pairs
            for version, package in sorted(self.packages[name].items()):
                rules = read_release_rules(package)
                olders = [each.older for each in pairs if each.newer == version]
                for each in _placed(rules, olders, version, self._misplaced):
                    if isinstance(each, TypeChanges):
                        changes.append(each)
                    else:
                        hooks.append(each)
            self._rules[name] = tuple(changes), tuple(hooks)
        return self._rules[name]

    def rules_between(
        self, name: str, older: ApiVersion, newer: ApiVersion
    ) -> Iterator[tuple[TypeChanges, ...]]:
        """The rules of a package from one of its versions to a later one, pair by pair."""
        if name not in self.packages:
            return
        versions = version_map(self.packages[name])
        changes, _ = self._rules_of(name)
        at: ApiVersion | None = older
        while at is not None and at < newer:
            after = versions.neighbour(at)
            if after is None or after > newer or after <= at:
                return
            yield tuple(each for each in changes if each.version == at)
            at = after


def check_rules(package: Package, before: Package | None) -> Iterator[Finding]:
    """What is wrong with the rules of a release.

    Args:
        package: the release.
        before: the one before it; None where there is none, and then the rules are only read. They are not compared where classes cannot be built
            without what the packages require.
    """
    try:
        rules = read_release_rules(package)
        if before is not None and rules != ReleaseRules():
            yield from PackageEvolutions([before, package]).of(package.name).findings
    except ConfigError as error:
        yield from error.findings
    except EngineError:
        return


class _Classes:
    """The classes of one package."""

    def __init__(self, around: PackageEvolutions, name: str) -> None:
        self.around = around
        self.name = name
        self.types: dict[tuple[ApiVersion, str], Type] = {
            (version, class_name): around.type(name, version, class_name)
            for version, package in around.packages[name].items()
            for class_name in package.classes
        }

    @cached_property
    def pairs(self) -> tuple[Neighbours, ...]:
        return version_map(self.around.packages[self.name]).pairs

    def lines(self, changes: Iterable[TypeChanges]) -> dict[tuple[ApiVersion, str], str]:
        """What each class is called through all versions: as the newest version calls it that it leads to."""
        renames = {(each.version, each.type): each.rename_type for each in changes}
        after = {each.older: each.newer for each in self.pairs}
        found: dict[tuple[ApiVersion, str], str] = {}
        for version, name in sorted(self.types, reverse=True):
            newer = after.get(version)
            to = renames.get((version, name)) or name
            found[version, name] = found.get((newer, to), name) if newer is not None else name
        return found

    def schema(self, version: ApiVersion, lines: Mapping[tuple[ApiVersion, str], str]) -> Schema:
        """All classes of a version as one schema."""
        definitions: dict[str, ObjectType | EnumType] = {}
        resources: list[Resource] = []
        notes: list[SchemaNote] = []
        sources: list[str] = []
        for (at, name), type_ in sorted(self.types.items()):
            if at != version:
                continue
            schema = type_.schema
            definitions |= schema.definitions
            notes += schema.notes
            sources += schema.sources
            (resource,) = schema.resources
            resources.append(
                msgspec.structs.replace(resource, name=lines[version, name], kept=True)
            )
        ordered = tuple(sorted(resources, key=lambda each: each.name))
        return Schema(version, definitions, ordered, tuple(sources), tuple(notes))

    def refers(self, version: ApiVersion, name: str) -> bool:
        """Whether a class of a version refers to another one by this definition."""
        return any(
            name in type_.schema.definitions
            for (at, _), type_ in self.types.items()
            if at == version
        )

    def inherited(self, own: Iterable[TypeChanges]) -> Iterator[TypeChanges]:
        """The rules of the package, each class also under those of its ancestors in other classes."""
        left = {(each.version, each.type): each for each in own}
        renamed = {key: each.rename_type for key, each in left.items()}
        for pair in self.pairs:
            for (version, name), type_ in sorted(self.types.items()):
                if version != pair.older:
                    continue
                newer = self.types.get((pair.newer, renamed.get((version, name)) or name))
                for each in () if newer is None else self._of_ancestors(type_, newer, version):
                    mine = left.pop((version, each.type), None)
                    yield each if mine is None else _over(each, mine)
        yield from left.values()

    def _of_ancestors(self, older: Type, newer: Type, version: ApiVersion) -> Iterator[TypeChanges]:
        """What the rules of its ancestors say of a class and of the objects in it, by type."""
        found: dict[str, TypeChanges] = {}
        for ancestor in reversed(older.ancestors):
            same = [x for x in newer.ancestors if _key(x) == _key(ancestor)]
            if not same:
                continue
            ends = api_version(ancestor.version), api_version(same[0].version)
            for hop in self.around.rules_between(ancestor.package, *ends):
                for each in hop:
                    rest = _rest(each.type, ancestor.class_name)
                    if rest is None:
                        continue
                    name = f"{older.class_name}{rest}"
                    moved = msgspec.structs.replace(
                        each, version=version, type=name, rename_type=None
                    )
                    before = found.get(name)
                    found[name] = moved if before is None else _after(before, moved)
        return iter(found.values())


def api_version(version: SemVer) -> ApiVersion:
    """The version of a package as an API version."""
    return ApiVersion.parse(str(version).partition("+")[0])


def version_map(versions: Iterable[ApiVersion]) -> VersionMap:
    """The versions of a package, with their neighbours."""
    listed = tuple(versions)
    return VersionMap.stored(listed, [], listed)


def _placed(
    rules: ReleaseRules, olders: list[ApiVersion], version: ApiVersion, wrong: list[Finding]
) -> Iterator[TypeChanges | ReleaseHook]:
    """The rules of a release under its older neighbour; where another came between, they go on to that."""
    stable = [each for each in olders if not each.preview]
    listed: tuple[TypeChanges | ReleaseHook, ...] = (*rules.changes, *rules.hooks)
    for each in listed:
        if each.version in (*olders, version):
            yield each
        elif stable and each.version < stable[-1]:
            yield msgspec.structs.replace(each, version=stable[-1])
        elif olders and not version.preview:
            where = each.place("") if isinstance(each, TypeChanges) else each.where
            neighbours = " or ".join(map(str, olders))
            found = f"the rules stand under {each.version}, but the older neighbour of {version} is {neighbours}"
            wrong.append(finding(ProjectCode.UNUSED, where, found, "name that version"))


def _of_references(classes: _Classes, own: Iterable[TypeChanges]) -> Iterator[TypeChanges]:
    """A class that is renamed is renamed where others refer to it, too."""
    after = {each.older: each.newer for each in classes.pairs}
    for each in own:
        if each.rename_type is None or each.version not in after:
            continue
        older, newer = f"{_REFERENCE}{each.type}", f"{_REFERENCE}{each.rename_type}"
        if classes.refers(each.version, older) and classes.refers(after[each.version], newer):
            yield TypeChanges(version=each.version, type=older, rename_type=newer, where=each.where)


def _as_documents(schema: Schema) -> Schema:
    definitions = dict(schema.definitions)
    for each in schema.resources:
        root = schema.object(each.root)
        kept = tuple(prop for prop in root.properties if prop.name not in ENVELOPE)
        definitions[each.root] = msgspec.structs.replace(root, properties=kept)
    resources = tuple(msgspec.structs.replace(x, name_property="kind") for x in schema.resources)
    return msgspec.structs.replace(schema, definitions=definitions, resources=resources)


def _key(type_: Type) -> tuple[str, str]:
    return type_.package, type_.class_name


def _rest(name: str, class_name: str) -> str | None:
    """What follows the name of a class in that of a type in it; None for other types."""
    if name == class_name:
        return ""
    rest = name.removeprefix(f"{class_name}.")
    return None if rest == name or rest[:1].isupper() else f".{rest}"


def _over(inherited: TypeChanges, own: TypeChanges) -> TypeChanges:
    """The rules of a class with those that it inherits; its own win."""
    fields = {name: {**getattr(inherited, name), **getattr(own, name)} for name in _BY_PROPERTY}
    return msgspec.structs.replace(
        own,
        **fields,
        values={**inherited.values, **own.values},
        keep=tuple(dict.fromkeys((*inherited.keep, *own.keep))),
        where={**inherited.where, **own.where},
    )


def _after(one: TypeChanges, other: TypeChanges) -> TypeChanges:
    """Two rules in a row as one: properties are called as the first of them calls them."""
    back = {newer: older for _, older, newer in one.placed()}

    def named(rules: Mapping[str, object]) -> dict[str, object]:
        return {back.get(name, name): each for name, each in rules.items()}

    values = {name: dict(each) for name, each in one.values.items()}
    for name, each in other.values.items():
        before = values.get(back.get(name, name), {})
        values[back.get(name, name)] = {
            **each,
            **{older: each.get(newer, newer) for older, newer in before.items()},
        }
    fields = {name: {**getattr(one, name), **named(getattr(other, name))} for name in _BY_PROPERTY}
    kept = (back.get(name, name) for name in other.keep)
    return msgspec.structs.replace(
        one,
        **fields,
        values=values,
        keep=tuple(dict.fromkeys((*one.keep, *kept))),
        where={**other.where, **one.where},
    )
