"""Which value of a document at one version is which at another: what was renamed or moved between them is one property."""

from collections.abc import Iterator, Mapping
from functools import lru_cache

from trundle.dashboard._nodes import Path
from trundle.evolution import Lineage, Place
from trundle.report import meetings
from trundle.schema import ListOf, MapOf, Nullable, Type
from trundle.version import ApiVersion

_KEPT = 256


def counterpart(root: Lineage, source: ApiVersion, target: ApiVersion, path: Path) -> Path | None:
    """Where a value of one version stands at another one.

    Args:
        root: the lineage of the resource type.
        source: the version that has the value at `path`.
        target: the other version.
        path: where it is.

    Returns:
        The place; None where the other version has no such property. What no schema knows stands at the same place.
    """
    if source == target:
        return path
    lineage, rest = root, path
    found: Path = ()
    while rest:
        if not {source, target} <= lineage.nodes.keys():
            return None
        known = _places(lineage, source, target)
        # What a rule moves stands deeper than its object, so the longest place counts.
        here = next((rest[:x] for x in range(len(rest), 0, -1) if rest[:x] in known), None)
        if here is None:
            return (*found, *rest)
        there = known[here]
        if there is None:
            return None
        found, rest = (*found, *there), rest[len(here) :]
        type_ = _type(lineage, source, here)
        while type_ is not None and rest and isinstance(type_, ListOf | MapOf | Nullable):
            if isinstance(type_, Nullable):
                type_ = type_.inner
                continue
            found, rest = (*found, rest[0]), rest[1:]
            type_ = type_.items if isinstance(type_, ListOf) else type_.values
        objects = () if type_ is None else root.evolution.objects_in(source, type_)
        if len(objects) != 1 or len(here) != 1:
            return (*found, *rest)  # The variants of a union are not distinguished here.
        lineage = lineage.child(Place(source, str(here[0])), objects[0])
    return found


def _type(lineage: Lineage, version: ApiVersion, path: Path) -> Type | None:
    declared = lineage.definition(version).property(str(path[0]))
    return None if declared is None or len(path) > 1 else declared.type


@lru_cache(_KEPT)
def _places(lineage: Lineage, source: ApiVersion, target: ApiVersion) -> Mapping[Path, Path | None]:
    """The places of a type's properties at one version, each with its place at the other."""
    return dict(_pairs(lineage, source, target))


def _pairs(
    lineage: Lineage, source: ApiVersion, target: ApiVersion
) -> Iterator[tuple[Path, Path | None]]:
    older, newer = sorted((source, target))
    for each in meetings(lineage, older, newer):
        ours, theirs = (each.older, each.newer) if older == source else (each.newer, each.older)
        if ours is not None:
            there = None if theirs is None else _path(lineage, theirs)
            yield _path(lineage, ours), there


def _path(lineage: Lineage, place: Place) -> Path:
    return tuple(lineage.lifted(place.version).get(place.property, (place.property,)))
