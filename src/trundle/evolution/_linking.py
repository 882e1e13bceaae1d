"""Finding which properties of a type meet, from version to version."""

from collections.abc import Container, Hashable, Iterable, Iterator, Mapping
from typing import TypeAlias

import msgspec

from trundle.evolution._changes import KEYED_CONVERSIONS, TypeChanges
from trundle.evolution._discriminating import Meets
from trundle.evolution._errors import ChangeError
from trundle.evolution._hooks import hook_converter
from trundle.evolution._keyed import bare, relate_keyed
from trundle.evolution._neighbours import Neighbours, VersionMap
from trundle.evolution._spelling import respell
from trundle.evolution._threads import Link, Place
from trundle.evolution._type_versions import TypeVersions
from trundle.evolution.conversions import (
    ByVariant,
    Conversion,
    ConvertScalar,
    EachItem,
    EachValue,
    MapValues,
    NullFits,
    Unwrap,
    Wrap,
    lossless,
    object_pairs,
    relate,
    variant,
)
from trundle.schema import EnumType, ListOf, MapOf, Nullable, Ref, Schema, Type, Union
from trundle.version import ApiVersion

Group: TypeAlias = dict[ApiVersion, str]
"""What one property is called, by version."""


def link_places(lineage: TypeVersions) -> tuple[Link, ...]:
    """All pairs of properties of a lineage that meet, namesakes included."""
    found: set[Link] = set()
    for group in groups_of(lineage):
        found.update(_links_of(lineage, group))
    ordered = sorted(found, key=lambda link: (link.older, link.newer))
    return tuple(respell(lineage, ordered))


def groups_of(lineage: TypeVersions) -> list[Group]:
    """Properties by name, with renames and moves joining those of older and newer versions."""
    by_trail: dict[Hashable, Group] = {}
    for version in lineage.nodes:
        for name in lineage.followed(version):
            by_trail.setdefault(lineage.trail(Place(version, name)), {})[version] = name
    groups = list(by_trail.values())
    for changes in _changes_of(lineage):
        for rule, older, newer in changes.named():
            if newer is not None and newer != older:
                _join(lineage, groups, changes, (rule, older, newer))
    return [group for group in groups if group]


def meeting_objects(
    lineage: TypeVersions, links: Iterable[Link]
) -> Iterator[set[tuple[Place, str]]]:
    """The objects at all places of a lineage, by place and key of their definitions: those together that meet."""
    group: dict[tuple[Place, str], set[tuple[Place, str]]] = {}
    for version in lineage.nodes:
        for name in lineage.followed(version):
            place = Place(version, name)
            for key in lineage.evolution.objects_in(version, lineage.type(place)):
                group[place, key] = {(place, key)}
    for link in links:
        for pair in object_pairs(link.conversion):
            ours, theirs = group[link.older, pair.older], group[link.newer, pair.newer]
            if ours is theirs or {p.version for p, _ in ours} & {p.version for p, _ in theirs}:
                continue
            ours |= theirs
            for member in theirs:
                group[member] = ours
    yield from {id(members): members for members in group.values()}.values()


def _changes_of(lineage: TypeVersions) -> Iterator[TypeChanges]:
    for version in lineage.nodes:
        changes = lineage.evolution.changes(version, lineage.definition(version).name)
        if changes is not None:
            yield changes
    yield from lineage.nested_changes


def _join(
    lineage: TypeVersions, groups: list[Group], changes: TypeChanges, rule: tuple[str, str, str]
) -> None:
    version = changes.version
    kind, older, newer = rule
    if older not in _known(lineage, version):
        return  # the type is at several places; whether a rule matches any is found elsewhere
    later = VersionMap.of(
        [version, *(v for v in lineage.nodes if v > version and newer in _known(lineage, v))]
    )
    target = later.neighbour(version) or next(iter(later.versions[1:]), None)
    if target is None:
        return
    ours = next(group for group in groups if group.get(version) == older)
    theirs = next(group for group in groups if group.get(target) == newer)
    if ours is theirs:
        return
    leaving = {
        v: name
        for v, name in ours.items()
        if name == older
        and (
            (v >= target and not target.preview)
            or (v in theirs and theirs[v] == newer and v > version)
        )
    }
    staying = {
        v: name
        for v, name in theirs.items()
        if name == newer and v <= version and _leads_through(lineage, v, version)
    }
    for each in leaving:
        del ours[each]
    for each in staying:
        del theirs[each]
    if overlap := ours.keys() & theirs.keys():
        doing, what = ("moving", "rule") if kind == "move" else ("renaming", "rename")
        raise ChangeError(
            changes.place(kind, older),
            f"{doing} {older!r} to {newer!r} contradicts another {what} of {changes.type}: "
            f"both have a property in {min(overlap)}",
        )
    ours.update(theirs)
    theirs.clear()
    groups.extend(part for part in (leaving, staying) if part)


def _known(lineage: TypeVersions, version: ApiVersion) -> Container[str]:
    """What rules may name in a version: the type's properties, and those that are lifted."""
    return {*lineage.names(version), *lineage.lifted(version)}


def _leads_through(lineage: TypeVersions, version: ApiVersion, other: ApiVersion) -> bool:
    """Whether a version's way to the hub leads through a later one; no GA's leads through a preview."""
    if not other.preview:
        return True
    return version.preview and not any(version < ga < other for ga in lineage.versions.ga)


def _links_of(lineage: TypeVersions, group: Group) -> Iterator[Link]:
    """The links of one group: each version to its neighbour of a related type, and namesakes."""
    versions = VersionMap.of(group)
    pairs = frozenset(versions.pairs)
    linked: set[Neighbours] = set()
    taken: set[ApiVersion] = set()
    for version in reversed(versions.versions):
        for other in _candidates(versions, version):
            pair = Neighbours(min(version, other), max(version, other))
            if pair in linked or (not version.preview and other in taken):
                continue
            link = _link(lineage, group, pair, ruled=pair in pairs)
            if link.conversion is not None:
                yield link
                linked.add(pair)
                if not version.preview:
                    taken.add(other)
                elif not lossless(link.conversion):
                    yield from _link_before(lineage, group, version, linked)
                break
    for pair in versions.pairs:
        if pair not in linked:
            link = _link(lineage, group, pair, ruled=True)
            if link.conversion is None:
                yield link


def _link_before(
    lineage: TypeVersions, group: Group, version: ApiVersion, linked: set[Neighbours]
) -> Iterator[Link]:
    """The link of a preview to the GA before, with which it shared its value until it was taken over."""
    before = next((ga for ga in reversed(VersionMap.of(group).ga) if ga < version), None)
    if before is None or Neighbours(before, version) in linked:
        return
    link = _link(lineage, group, Neighbours(before, version), ruled=False)
    if link.conversion is not None and lossless(link.conversion):
        yield link
        linked.add(Neighbours(before, version))


def _candidates(versions: VersionMap, version: ApiVersion) -> list[ApiVersion]:
    """The versions that one may link to, the best first."""
    if not version.preview:
        return [ga for ga in versions.ga if ga > version]
    successor = versions.successor(version)
    later = [v for v in versions.versions if v > version and (successor is None or v <= successor)]
    first = later if successor is not None or not versions.ga else [versions.ga[-1]]
    earlier = [v for v in reversed(versions.versions) if v < version]
    over_gap = [ga for ga in versions.ga if ga > version]
    rest = [*earlier, *over_gap] if versions.ga else []
    return [*first, *(v for v in rest if v not in first)]


def _link(lineage: TypeVersions, group: Group, pair: Neighbours, *, ruled: bool) -> Link:
    older, newer = Place(pair.older, group[pair.older]), Place(pair.newer, group[pair.newer])
    return Link(older, newer, _conversion(lineage, older, newer, ruled=ruled))


def _conversion(
    lineage: TypeVersions, older: Place, newer: Place, *, ruled: bool
) -> Conversion | None:
    """How two places convert; rules and hooks count only where the two are neighbours."""
    evolution = lineage.evolution
    changes = evolution.changes(older.version, lineage.definition(older.version).name)
    for each in lineage.nested_changes:
        if (each.version, *each.move.items()) == (older.version, (older.property, newer.property)):
            changes = each
    own = _own_places(lineage, older, newer)
    if own is not None and (changes is None or not _speaks(changes, older.property)):
        return _conversion(*own, ruled=ruled)
    ours, theirs = lineage.type(older), lineage.type(newer)
    schemas = (evolution.schema(older.version), evolution.schema(newer.version))
    meets = evolution.meets(older.version, newer.version, lineage.nodes)
    if not ruled:
        return relate(ours, theirs, schemas, meets)
    if changes is not None:
        name = older.property
        if name in changes.keep:
            return None
        if name in changes.values:
            return MapValues(_pairs_of_values(changes.values[name], ours, schemas[0]))
        if (named := changes.conversion(name)) is not None:
            if named.name in KEYED_CONVERSIONS:
                return relate_keyed(named, (ours, theirs), schemas, meets)
            return ConvertScalar(named.name, named.version)
        if changes.wrap.get(name) == newer.property and isinstance(bare(theirs), ListOf):
            return _wrapped(ours, theirs, schemas, meets)
        if changes.unwrap.get(name) == newer.property and isinstance(bare(ours), ListOf):
            return _unwrapped(ours, theirs, schemas, meets)
        if name in changes.variant:
            return _variant(lineage, changes, older, newer)
    hooked = hook_converter(lineage, older, newer)
    if hooked is not None:
        return hooked
    return relate(ours, theirs, schemas, meets)


def _pairs_of_values(
    says: Mapping[str, str], older: Type, schema: Schema
) -> tuple[tuple[str, str], ...]:
    """What a rule says of values; one that the older enum has itself, and of which the rule says nothing else, stays the same both ways."""
    plain = bare(older)
    enum = schema.definitions.get(plain.key) if isinstance(plain, Ref) else None
    known = enum.values if isinstance(enum, EnumType) else ()
    same = {each: each for each in says.values() if each in known}
    return tuple(sorted({**same, **says}.items()))


def _wrapped(
    older: Type, newer: Type, schemas: tuple[Schema, Schema], meets: Meets
) -> Conversion | None:
    """How a single value and the list around it convert; either may be null."""
    listed = bare(newer)
    assert isinstance(listed, ListOf)
    item = relate(older, listed.items, schemas, meets)
    return item and _with_nulls(Wrap(item), older, newer)


def _unwrapped(
    older: Type, newer: Type, schemas: tuple[Schema, Schema], meets: Meets
) -> Conversion | None:
    """How a list and the single value in it convert; either may be null."""
    listed = bare(older)
    assert isinstance(listed, ListOf)
    item = relate(listed.items, newer, schemas, meets)
    return item and _with_nulls(Unwrap(item), older, newer)


def _with_nulls(conversion: Wrap | Unwrap, older: Type, newer: Type) -> Conversion:
    """A conversion between a single value and a list, of which one side may be null."""
    nulls = isinstance(older, Nullable), isinstance(newer, Nullable)
    return conversion if nulls[0] == nulls[1] else NullFits(conversion, *nulls)


def _own_places(
    lineage: TypeVersions, older: Place, newer: Place
) -> tuple[TypeVersions, Place, Place] | None:
    """Two lifted places in the nested object that holds both; None where they are anything else."""
    holder = lineage.holder(older)
    if holder is None or lineage.trail(older) != lineage.trail(newer):
        return None
    one, other = (Place(each.version, lineage.path(each)[-1]) for each in (older, newer))
    return holder, one, other


def _speaks(changes: TypeChanges, name: str) -> bool:
    """Whether a rule names a property."""
    return any(older == name for _, older, _ in changes.named())


def _variant(lineage: TypeVersions, changes: TypeChanges, older: Place, newer: Place) -> Conversion:
    """The conversion of an object that becomes a variant of a union, in lists and maps too."""
    wanted = changes.variant[older.property]
    where = changes.place("variant", older.property)
    olds, news = (lineage.evolution.schema(each.version) for each in (older, newer))
    definitions = news.definitions

    def meet(ours: Type, theirs: Type) -> Conversion:
        match ours, theirs:
            case (Nullable(inner), _):
                return meet(inner, theirs)
            case (_, Nullable(inner)):
                return meet(ours, inner)
            case (ListOf(items), ListOf(others)):
                return EachItem(meet(items, others))
            case (MapOf(values), MapOf(others)):
                return EachValue(meet(values, others))
            case (Ref(key) as ours, Union(variants)):
                names = [
                    definitions[each.key].name if isinstance(each, Ref) else None
                    for each in variants
                ]
                if wanted in names:
                    place = names.index(wanted)
                    target = variants[place]
                    assert isinstance(target, Ref)
                    met = variant(ours, target, (olds.object(key), news.object(target.key)))
                    pair = msgspec.structs.replace(met, newer=place)
                    return ByVariant((ours,), variants, (pair,))
                known = ", ".join(repr(name) for name in names if name)
                raise ChangeError(
                    where,
                    f"{newer.property!r} of {newer.version} has no variant {wanted!r}; it has {known}",
                )
            case _:
                raise ChangeError(
                    where,
                    f"{older.property!r} is no object of {older.version} that becomes a union of "
                    f"{newer.version}",
                )

    return meet(lineage.type(older), lineage.type(newer))
