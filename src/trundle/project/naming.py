"""What clients call resource types, and which of these names an API server has for one resource type of a group only."""

import re
from collections.abc import Iterable, Iterator

import msgspec

from trundle.errors import Finding, did_you_mean, listed
from trundle.evolution import ResourceLineage
from trundle.project.config import Config
from trundle.project.findings import ProjectCode, finding
from trundle.project.loading import Project
from trundle.schema import KindNames
from trundle.version import ApiVersion


class NamedKind(msgspec.Struct, frozen=True):
    """A resource type by the names that clients have for it.

    Attributes:
        resource: its name in the schemas.
        group: its API group.
        names: what clients call it.
        where: where its newest version is declared.
        is_grouped: whether the schemas or the project say its group; else it is derived from the name of the package.
    """

    resource: str
    group: str
    names: KindNames
    where: str
    is_grouped: bool = True

    @property
    def taken(self) -> Iterator[tuple[str, str]]:
        """The names that no other resource type of its group may have, each with what it is a name of.

        As in an API server: plurals, singulars and short names are names of resources; kinds and their lists, of kinds.
        """
        names = self.names
        yield from (("resource", x) for x in (names.plural, names.singular, *names.short_names))
        yield from (("kind", each) for each in (names.kind, names.list_kind))


def named_kind(project: Project, resource: ResourceLineage) -> NamedKind:
    """A resource type as clients call it: as the project says, else as its CRD does, else derived from its name.

    Of its versions, the one that clients prefer counts first; one that is served, before all others.
    """
    config = project.config
    served = resource.served(config.horizon)
    versions = sorted(resource.resources, key=lambda x: (x not in served, preference(x)))
    group = resource.resources[resource.versions.hub].group
    return NamedKind(
        resource.name,
        (group or config.kubernetes.group_for(config.package)).lower(),
        _names(config, resource.name, (resource.resources[each].names for each in versions)),
        resource.root.definition(versions[0]).source,
        bool(group or config.kubernetes.group),
    )


def _names(config: Config, name: str, declared: Iterable[KindNames]) -> KindNames:
    given = config.kubernetes.types.get(name.casefold(), KindNames())
    said = next((each for each in declared if each.plural), KindNames())
    own = _kind(name)
    kind = given.kind or own
    # What a CRD says of lists goes with the kind that it says.
    list_kind = said.list_kind if kind == own else ""
    return KindNames(
        kind=kind,
        list_kind=list_kind or f"{kind}List",
        plural=given.plural or said.plural or plural(kind.lower()),
        singular=given.singular or said.singular or kind.lower(),
        short_names=given.short_names or said.short_names,
        categories=given.categories or said.categories,
        scope=given.scope,
        columns=given.columns,
    )


def _kind(name: str) -> str:
    """A resource type as a kind: `Microsoft.Batch/batchAccounts/pools` is `BatchAccountsPools`."""
    parts = name.split("/")[1:] or [name]
    return "".join(each[:1].upper() + each[1:] for each in (re.sub(r"\W", "", x) for x in parts))


def plural(singular: str) -> str:
    """The plural of an English noun by the rules that Kubernetes' own tools have for kinds."""
    if re.search(r"[^aeiou]y$", singular):
        return f"{singular[:-1]}ies"
    if re.search(r"(s|x|z|ch|sh)$", singular):
        return f"{singular}es"
    return f"{singular}s"


def preference(version: ApiVersion) -> tuple[bool, "_Reversed"]:
    """Orders versions as clients prefer them: GA before previews, the newest first."""
    return version.preview, _Reversed(version)


class _Reversed(msgspec.Struct, frozen=True):
    version: ApiVersion

    def __lt__(self, other: "_Reversed") -> bool:
        return other.version < self.version


def kinds_of(project: Project) -> Iterator[NamedKind]:
    """The resource types that a project serves, as clients call them."""
    horizon = project.config.horizon
    return (named_kind(project, x) for x in project.evolution.resources if x.served(horizon))


def unknown_names(config: Config, declared: Iterable[str]) -> Iterator[Finding]:
    """The resource types that `kubernetes.types` names and no schema has.

    Args:
        config: what the project's file says.
        declared: the resource types of all schemas.
    """
    known = {each.casefold(): each for each in declared}
    for name, where in config.kubernetes.named:
        if name.casefold() not in known:
            what = f"`kubernetes.types` names {name}, which no schema has"
            advice = did_you_mean(name, known.values(), "correct it, or remove it")
            yield finding(ProjectCode.NAMES, where, what, advice, severity="note")


def name_clashes(kinds: Iterable[NamedKind]) -> Iterator[Finding]:
    """The names that two resource types of one group have, of which an API server accepts one."""
    owners: dict[tuple[str, str, str], NamedKind] = {}
    shared: dict[tuple[str, int, int], list[str]] = {}
    listing = list(kinds)
    places = {id(each): place for place, each in enumerate(listing)}
    for place, kind in enumerate(listing):
        for what, name in dict.fromkeys(kind.taken):
            first = owners.setdefault((kind.group, what, name), kind)
            if first is not kind:
                shared.setdefault((kind.group, places[id(first)], place), []).append(name)
    for (group, one, other), names in shared.items():
        first, second = listing[one], listing[other]
        yield finding(
            ProjectCode.NAMES,
            second.where,
            f"{listed(names)}, which {first.resource} has too",
            f"write other names for {second.resource} or {first.resource} in `kubernetes.types`",
            expected=f"names for {second.resource} that no other resource type of {group} has",
            severity="error" if second.is_grouped else "note",
        )
