"""Properties that probably moved into a nested object or out of one, with the evidence for each move."""

from collections import Counter
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from trundle.evolution import Lineage, Place
from trundle.report._durations import to_seconds, without_seconds
from trundle.report._matched_properties import meetings
from trundle.report._references import GROUPS, KIND, VERSION
from trundle.report._renames import NEGATION, OPPOSED
from trundle.report._similarity import (
    case_only,
    overlap,
    texts_alike,
    together,
    turned,
    words,
)
from trundle.report._spelling import count, spell
from trundle.report._walk import TypePair
from trundle.schema import (
    EnumType,
    ListOf,
    MapOf,
    Nullable,
    ObjectType,
    Property,
    Ref,
    Scalar,
    Schema,
    Type,
    Union,
)

_DEEPEST = 4
_MANY_VALUES = 3
_DISTINCTIVE = 0.65
"""What a type says that hardly any two properties share by accident."""
_SAME_DOCS = 0.85
_SIMILAR_DOCS = 0.6
_LEAST = 0.7
"""Moves of a lower score are never suggested: there are many more ways to move than to rename."""
_LEAST_NAME = 0.5
_CLEARLY = 0.05
"""By how much a description is more like another than a third one."""
_SAME_MEMBERS = 0.8
_MANY = 2
_UNITS = frozenset({"second", "in"})


class Move(NamedTuple):
    """A property that probably moved.

    Attributes:
        older: its dotted path in the older version, seen from the type.
        newer: its dotted path in the newer version.
        evidence: the evidence for it: weights and words.
        values: newer by older value, where the values of an enum were written anew.
        conversion: the named conversion that the move needs, if it needs one.
    """

    older: str
    newer: str
    evidence: tuple[tuple[float, str], ...]
    values: tuple[tuple[str, str], ...] = ()
    conversion: str = ""

    @property
    def score(self) -> float:
        """How likely it is, from 0 to 1."""
        return together(weight for weight, _ in self.evidence)


class _Spot(NamedTuple):
    """A property somewhere within a type of one version."""

    path: tuple[str, ...]
    property: Property


def likely_moves(pair: TypePair, known: Mapping[str, str]) -> Iterator[Move]:
    """Moves between two versions of a type, each property and each place at most once.

    Args:
        pair: the type in the two versions.
        known: newer by older path, of the moves that are configured.
    """
    schemas = _schemas(pair.lineage, pair)
    removed, added = _one_sided(pair.lineage, pair, (), (), schemas)
    removed = [each for each in removed if not _emptied(each, {*known}, schemas[0])]
    added = [each for each in added if not _emptied(each, {*known.values()}, schemas[1])]
    taken: set[tuple[str, ...]] = set()
    given: set[tuple[str, ...]] = set()
    likely = [move for one in removed for move in _from(one, added, schemas)]
    for move in (*_displaced(pair, removed, added), *sorted(likely, key=_whole_first)):
        one, other = tuple(move.older.split(".")), tuple(move.newer.split("."))
        if any(_inside(one, each) for each in taken) or any(_inside(other, each) for each in given):
            continue
        taken.add(one)
        given.add(other)
        yield move
        if one[-1] == other[-1] == KIND:
            yield from _version_of(move, one[:-1], other[:-1], removed, added)


def _emptied(spot: _Spot, moved: AbstractSet[str], schema: Schema) -> bool:
    """Whether a property is an object of which rules move all that is in it."""
    inside = members_of(spot.property.type, schema)
    return bool(inside) and all(".".join((*spot.path, each.name)) in moved for each in inside)


def _version_of(
    move: Move,
    older: tuple[str, ...],
    newer: tuple[str, ...],
    removed: list[_Spot],
    added: list[_Spot],
) -> Iterator[Move]:
    """What became of the `apiVersion` beside a kind that moved: it went along, or left its group."""
    came = {each.path[-1] for each in added if each.path[:-1] == newer and _is_text(each)}
    for one in removed:
        if one.path == (*older, VERSION) and _is_text(one):
            for name in came.intersection((VERSION, *GROUPS)):
                evidence = ((move.score, "goes with the kind"),)
                conversion = "" if name == VERSION else "api-version-to-group"
                paths = ".".join(one.path), ".".join((*newer, name))
                yield Move(*paths, evidence, conversion=conversion)


def _is_text(spot: _Spot) -> bool:
    type_ = _bare(spot.property.type)
    return isinstance(type_, Scalar) and type_.kind == "string"


def _from(one: _Spot, added: list[_Spot], schemas: tuple[Schema, Schema]) -> Iterator[Move]:
    """Where a property probably went, unless it as likely stayed within its nested type, which has moves of its own."""
    guesses = [(other, _guess(one, other, schemas)) for other in added]
    found = [(other, each) for other, each in guesses if each is not None and each.score >= _LEAST]
    likely = [
        (other, each)
        for other, each in found
        if not any(_better_described(one, rival, other) for rival, _ in found)
    ]
    near = max((each.score for other, each in likely if _within(one, other)), default=0)
    for other, each in likely:
        if not _within(one, other) and each.score > near:
            yield each


def _better_described(one: _Spot, rival: _Spot, other: _Spot) -> bool:
    """Whether a description speaks for another place, and for this one nothing but the names of the objects around it."""
    docs = [texts_alike(one.property.doc, each.property.doc) for each in (rival, other)]
    names = [_shared(one.path[-1:], each.path[-1:], timed=False) for each in (rival, other)]
    return docs[0] >= docs[1] + _CLEARLY and names[0] >= names[1] > 0


def _within(one: _Spot, other: _Spot) -> bool:
    """Whether from one place to another is a rename, or a move within a nested type."""
    return one.path[:-1] == other.path[:-1] or (len(one.path) > 1 and one.path[0] == other.path[0])


def _whole_first(move: Move) -> tuple[object, ...]:
    """Objects before what is in them, then the likeliest."""
    return (move.older.count(".") + move.newer.count("."), -move.score, move.older, move.newer)


def _inside(path: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether one of two paths leads into the other."""
    shared = min(len(path), len(other))
    return path[:shared] == other[:shared]


def _schemas(lineage: Lineage, pair: TypePair) -> tuple[Schema, Schema]:
    return lineage.evolution.schema(pair.older), lineage.evolution.schema(pair.newer)


def _one_sided(
    lineage: Lineage,
    pair: TypePair,
    older: tuple[str, ...],
    newer: tuple[str, ...],
    schemas: tuple[Schema, Schema],
) -> tuple[list[_Spot], list[_Spot]]:
    """What only the older version has within a type, and what only the newer has."""
    removed: list[_Spot] = []
    added: list[_Spot] = []
    if len(older) > _DEEPEST:
        return removed, added
    for met in meetings(lineage, pair.older, pair.newer):
        if met.older is None or met.newer is None or met.bond == "name":
            if met.older is not None:
                removed.extend(_spots(older, lineage.property(met.older), schemas[0]))
            if met.newer is not None:
                added.extend(_spots(newer, lineage.property(met.newer), schemas[1]))
            continue
        child = _child(lineage, met.older, met.newer)
        if child is not None and {pair.older, pair.newer} <= child.nodes.keys():
            paths = (*older, met.older.property), (*newer, met.newer.property)
            ours, theirs = _one_sided(child, pair, *paths, schemas)
            removed.extend(ours)
            added.extend(theirs)
    return removed, added


def _child(lineage: Lineage, older: Place, newer: Place) -> Lineage | None:
    """The lineage of an object that is at both of two places."""
    found = []
    for place in (older, newer):
        type_ = _bare(lineage.type(place))
        if not isinstance(type_, Ref) or not lineage.evolution.objects_in(place.version, type_):
            return None
        found.append(lineage.child(place, type_.key))
    return found[0] if found[0] is found[1] else None


def _spots(path: tuple[str, ...], declared: Property, schema: Schema) -> Iterator[_Spot]:
    """A property and all those within the objects that it holds."""
    place = (*path, declared.name)
    if "." in declared.name or len(place) > _DEEPEST + 1:
        return
    yield _Spot(place, declared)
    for each in members_of(declared.type, schema):
        yield from _spots(place, each, schema)


def members_of(type_: Type, schema: Schema) -> tuple[Property, ...]:
    """The properties of an object type; none of any other."""
    bare = _bare(type_)
    found = schema.definitions[bare.key] if isinstance(bare, Ref) else None
    return found.properties if isinstance(found, ObjectType) else ()


def _guess(one: _Spot, other: _Spot, schemas: tuple[Schema, Schema]) -> Move | None:
    """How likely it is that one property is the other; None where it cannot be, or hardly is."""
    if [case_only(*names) for names in zip(one.path, other.path, strict=False)][:1] == [True]:
        return None  # the object around it was renamed
    if VERSION in (one.path[-1], other.path[-1]) or len(one.path) == len(other.path) == 1:
        return None
    kinds = _types_alike(one, other, schemas)
    if kinds is None:
        return None
    weight, reason, values, conversion = kinds
    name = _names_alike(one.path, other.path, timed=bool(conversion))
    if (opposed := turned(one.path[-1], other.path[-1])) is not None:
        if reason != "both boolean":
            return None
        conversion = NEGATION
        name = OPPOSED * _names_alike((*one.path[:-1], opposed), other.path, timed=False)
    docs = texts_alike(one.property.doc, other.property.doc)
    if name < _LEAST_NAME and docs < _SAME_DOCS and weight < _DISTINCTIVE:
        return None
    if weight < _DISTINCTIVE and _differs(one, other, docs):
        return None
    evidence = [
        (0.2, "removed and added in the same step"),
        (weight, reason),
        (0.75 * name, "the same words" if name == 1 else "similar names"),
    ]
    if docs >= _SIMILAR_DOCS:
        evidence.append((0.7 * docs, "same description" if docs == 1 else "similar descriptions"))
    paths = ".".join(one.path), ".".join(other.path)
    return Move(*paths, tuple(evidence), values, conversion)


def _differs(one: _Spot, other: _Spot, docs: float) -> bool:
    """Whether two properties share nothing but words of the objects around them, and their descriptions say other things."""
    described = bool(one.property.doc and other.property.doc)
    is_name = _is_name_of(one.path, other.path)
    return (
        described
        and docs < _SIMILAR_DOCS
        and not is_name
        and not _shared(one.path[-1:], other.path[-1:], timed=True)
    )


_Kinds = tuple[float, str, tuple[tuple[str, str], ...], str]


def _types_alike(one: _Spot, other: _Spot, schemas: tuple[Schema, Schema]) -> _Kinds | None:
    """How much the types of two properties say for a move, in what words, and what the move needs beside."""
    ours, theirs = _bare(one.property.type), _bare(other.property.type)
    while isinstance(ours, ListOf) and isinstance(theirs, ListOf):
        ours, theirs = _bare(ours.items), _bare(theirs.items)
    while isinstance(ours, MapOf) and isinstance(theirs, MapOf):
        ours, theirs = _bare(ours.values), _bare(theirs.values)
    spelled = spell(one.property.type, schemas[0])
    if isinstance(ours, Union) and spelled == spell(other.property.type, schemas[1]):
        return 0.1, f"both {spelled}", (), ""
    if isinstance(ours, Scalar) and isinstance(theirs, Scalar):
        if ours.kind == theirs.kind:
            return 0.1, f"both {spelled}", (), ""
        conversion = to_seconds(one.property, other.property)
        return (0.1, f"a duration became {theirs.kind}", (), conversion) if conversion else None
    if not isinstance(ours, Ref) or not isinstance(theirs, Ref):
        return None
    definitions = schemas[0].definitions[ours.key], schemas[1].definitions[theirs.key]
    match definitions:
        case (EnumType() as before, EnumType() as after):
            return _enums_alike(before, after)
        case (ObjectType() as before, ObjectType() as after):
            has = {each.name for each in before.properties}
            gets = {each.name for each in after.properties}
            if isinstance(_bare(other.property.type), ListOf):  # what is in it cannot move alone
                gets = {without_seconds(each, has) for each in gets}
            shared = overlap(has, gets)
            other_thing = before.named and after.named and before.name != after.name
            if other_thing or shared < (_LEAST_NAME if has <= gets else _SAME_MEMBERS):
                return None  # what is in it may have moved to several places
            return 0.6 * shared, f"{shared:.0%} of their properties are the same", (), ""
        case _:
            return None


def _enums_alike(before: EnumType, after: EnumType) -> _Kinds | None:
    ours, theirs = map(str, before.values), map(str, after.values)
    one, other = {*ours}, {*theirs}
    if one == other:
        return (_DISTINCTIVE if len(one) >= _MANY_VALUES else 0.4), "the same values", (), ""
    by_case = {old: new for old in sorted(one) for new in sorted(other) if case_only(old, new)}
    shared = (len(one & other) + len(by_case)) / max(len(one), len(other))
    if before.kind != after.kind or shared < _LEAST_NAME:
        return None
    reason = "values that differ by letter case" if by_case else f"{shared:.0%} of the values"
    return 0.4 * shared, reason, tuple(by_case.items()), ""


def _names_alike(older: tuple[str, ...], newer: tuple[str, ...], *, timed: bool) -> float:
    """How much two paths say the same, by their words; the last names count most."""
    if _is_name_of(older, newer):
        return 1.0  # the name of an object became a reference to it
    whole = _shared(older, newer, timed=timed)
    last = _shared(older[-1:], newer[-1:], timed=timed)
    distinctive = len(_words(older[-1:], timed=timed)) >= _MANY
    return max(whole, last if distinctive else 0.6 * last)


def _is_name_of(older: tuple[str, ...], newer: tuple[str, ...]) -> bool:
    return newer[-1] == "name" and newer[-2:-1] == (f"{older[-1]}Ref",)


def _shared(older: tuple[str, ...], newer: tuple[str, ...], *, timed: bool) -> float:
    ours, theirs = (Counter(_words(each, timed=timed)) for each in (older, newer))
    return 2 * (ours & theirs).total() / (ours.total() + theirs.total())


def _words(path: tuple[str, ...], *, timed: bool) -> list[str]:
    """The words of a path without plural; of a duration, without its unit."""
    found = [word.removesuffix("s") or word for name in path for word in words(name)]
    kept = [word for word in found if not (timed and word in _UNITS)]
    return kept or found


def _displaced(pair: TypePair, removed: list[_Spot], added: list[_Spot]) -> Iterator[Move]:
    """Properties that gave way to namesakes: `a` went to `old.a`, because `next.a` became `a`.

    Where other properties of the two objects are the same, too, what is in the one went to the other.
    """
    namesakes = {
        met.older.property
        for met in meetings(*pair)
        if met.older is not None and met.newer is not None and met.bond != "name"
        if met.older.property == met.newer.property
    }
    came = {each.path[-1]: each for each in removed if len(each.path) == _MANY}
    went = {each.path[-1]: each for each in added if len(each.path) >= _MANY}
    both = [
        name
        for name in sorted(namesakes & came.keys() & went.keys())
        if came[name].path[0] != went[name].path[0]
    ]
    both = [
        name
        for name in both
        if _beside(came[name], removed).isdisjoint(_beside(went[name], added) - {*both})
    ]
    if len(both) < _MANY and not any(_holds_objects(came[name].property.type) for name in both):
        return
    number = count(len(both), "property", "properties")
    evidence = ((0.9, f"{number} gave way to others of the same name"),)
    for name in both:
        yield Move(name, ".".join(went[name].path), evidence)
        yield Move(".".join(came[name].path), name, evidence)


def _beside(spot: _Spot, spots: list[_Spot]) -> set[str]:
    """The names of what is in the same object."""
    return {each.path[-1] for each in spots if each.path[:-1] == spot.path[:-1]}


def _holds_objects(type_: Type) -> bool:
    bare = _bare(type_)
    return isinstance(bare.items if isinstance(bare, ListOf) else bare, Ref)


def _bare(type_: Type) -> Type:
    return type_.inner if isinstance(type_, Nullable) else type_
