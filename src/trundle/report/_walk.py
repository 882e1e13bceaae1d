"""Going through the types of an evolution: every lineage once, with the resources that reach it."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from trundle.evolution import Evolution, Lineage, Place, ResourceLineage
from trundle.report._errors import ReportError
from trundle.version import ApiVersion


def lineages(
    evolution: Evolution,
    versions: Iterable[ApiVersion] | None = None,
    resources: Iterable[ResourceLineage] | None = None,
) -> dict[Lineage, tuple[str, ...]]:
    """All lineages, each with the names of the resources that reach it, in alphabetical order.

    Args:
        evolution: where to look.
        versions: when given, only lineages that exist in all of these. An object that only one of them has may
            hold what a rule moves into an object of another.
        resources: when given, only lineages that one of these resource types reaches.
    """
    wanted = None if versions is None else frozenset(versions)
    found: dict[Lineage, list[str]] = {}
    for resource in evolution.resources if resources is None else resources:
        seen: set[Lineage] = set()
        waiting = [resource.root]
        while waiting:
            lineage = waiting.pop()
            if lineage in seen:
                continue
            seen.add(lineage)
            if wanted is None or wanted <= lineage.nodes.keys():
                found.setdefault(lineage, []).append(resource.name)
            waiting.extend(children(lineage, wanted and wanted & lineage.nodes.keys()))
    return {lineage: tuple(names) for lineage, names in found.items()}


def children(lineage: Lineage, versions: Iterable[ApiVersion] | None = None) -> tuple[Lineage, ...]:
    """The lineages of the objects directly within a type, without duplicates."""
    evolution = lineage.evolution
    found: dict[Lineage, None] = {}
    for version in lineage.nodes if versions is None else sorted(versions):
        for name in lineage.held(version):
            place = Place(version, name)
            for key in evolution.objects_in(version, lineage.type(place)):
                found[lineage.child(place, key)] = None
    return tuple(found)


def known_version(evolution: Evolution, version: ApiVersion) -> ApiVersion:
    """A version as the schemas spell it.

    Raises:
        ReportError: no schema has it.
    """
    known = {each: each for each in evolution.versions.versions}
    if version not in known:
        raise ReportError("version", str(version), map(str, known))
    return known[version]


class TypePair(NamedTuple):
    """A type in two versions that are neighbours for it."""

    lineage: Lineage
    older: ApiVersion
    newer: ApiVersion

    @property
    def identical(self) -> bool:
        """Whether the type is the same all the way down, and no rule says otherwise."""
        lineage, evolution = self.lineage, self.lineage.evolution
        ours, theirs = (
            evolution.identities[version, lineage.nodes[version]]
            for version in (self.older, self.newer)
        )
        name = lineage.definition(self.older).name
        return ours == theirs and evolution.changes(self.older, name) is None


def type_pairs(found: Iterable[Lineage]) -> Iterator[TypePair]:
    """All pairs of neighbours of some lineages; two definitions that meet at several places count once."""
    seen: set[tuple[ApiVersion, str, ApiVersion, str]] = set()
    for lineage in found:
        for pair in lineage.versions.pairs:
            key = (pair.older, lineage.nodes[pair.older], pair.newer, lineage.nodes[pair.newer])
            if key not in seen:
                seen.add(key)
                yield TypePair(lineage, pair.older, pair.newer)
