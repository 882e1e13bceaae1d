"""Properties that probably got another name, with the evidence for each rename."""

from collections.abc import Iterator
from typing import NamedTuple

from trundle.evolution import Lineage, Place
from trundle.report._matched_properties import Meeting, spelled
from trundle.report._similarity import (
    case_only,
    has_name,
    likeness,
    opposite,
    overlap,
    texts_alike,
)
from trundle.report._spelling import DefinitionPair, paired_definitions
from trundle.report._walk import TypePair
from trundle.schema import EnumType, ListOf, MapOf, Nullable, ObjectType, Schema, Type
from trundle.version import ApiVersion

NEGATION = "disabled-to-enabled"
"""The conversion between two booleans of which one says the opposite of the other."""
OPPOSED = 0.8
"""How much names say the same that only differ by a word and its opposite."""
_SAME_DOCS = 0.85
_SIMILAR = 0.4
_NAME_IN_NAME = 0.4
_SAME_MEMBERS = 0.75
_MANY_MEMBERS = 2
"""Objects with fewer members in common have them in common by accident."""


class Rename(NamedTuple):
    """A property that probably got another name.

    Attributes:
        older: its name in the older version.
        newer: its name in the newer version.
        evidence: the evidence for it: weights and words.
        types: the types that have to be renamed with it, by older and newer name.
        conversion: the named conversion that the rename needs, if it needs one.
    """

    older: str
    newer: str
    evidence: tuple[tuple[float, str], ...]
    types: tuple[tuple[str, str], ...]
    conversion: str = ""


class _Candidate(NamedTuple):
    older: Place
    newer: Place
    members: float
    """How much of their members two objects share; 0 where these say nothing."""


def likely_renames(pair: TypePair, met: tuple[Meeting, ...]) -> Iterator[Rename]:
    """Properties that one side lost and the other gained, two by two."""
    removed, added = _one_sided(pair, met)
    lineage = pair.lineage
    hooked = {(each.output, place) for each in lineage.hooks for place in each.inputs}
    candidates = [
        _Candidate(older, newer, _shared_members(lineage, older, newer))
        for older in removed
        for newer in added
        if newer.property != older.property  # kept apart on purpose
        # A version and what names no version are never the same.
        and "apiVersion" not in (older.property, newer.property)
        and (newer, older) not in hooked
        and (older, newer) not in hooked
    ]
    for each in candidates:
        rivals = _rivals(each, candidates) if each.members else max(len(removed), len(added))
        evidence = _evidence(lineage, each, rivals, alone=_alone_has_name(each, removed, added))
        if evidence:
            types = tuple(
                (one.name, other.name)
                for one, other in _paired(lineage, each.older, each.newer)
                if one.name != other.name and one.named and other.named
            )
            names = each.older.property, each.newer.property
            yield Rename(*names, evidence, types, NEGATION if opposite(*names) else "")


def _one_sided(pair: TypePair, met: tuple[Meeting, ...]) -> tuple[list[Place], list[Place]]:
    """What only the older version has and what only the newer has, seen over all versions."""
    lineage = pair.lineage
    removed = [
        each.older
        for each in met
        if each.older is not None and each.newer is None and _gone(lineage, each.older, pair.newer)
    ]
    added = [
        each.newer
        for each in met
        if each.newer is not None and each.older is None and _fresh(lineage, each.newer, pair.older)
    ]
    return removed, added


def _gone(lineage: Lineage, older: Place, newer: ApiVersion) -> bool:
    return all(place.version < newer for place in lineage.thread(older).places)


def _fresh(lineage: Lineage, newer: Place, older: ApiVersion) -> bool:
    return all(place.version > older for place in lineage.thread(newer).places)


def _rivals(one: _Candidate, candidates: list[_Candidate]) -> int:
    """How many objects with such members were removed, or added: what has other members is no rival."""
    alike = [each for each in candidates if each.members >= _SAME_MEMBERS]
    removed = {each.older for each in alike if each.newer == one.newer}
    added = {each.newer for each in alike if each.older == one.older}
    return max(len(removed), len(added), 1)


def _alone_has_name(one: _Candidate, removed: list[Place], added: list[Place]) -> bool:
    """Whether one name has all words of the other and more, and no other name of either side does, as `deprecatedCount` for `count`."""
    older, newer = one.older.property, one.newer.property
    shorter, longer = (older, newer) if has_name(newer, older) else (newer, older)
    if not has_name(longer, shorter):
        return False
    names = {each.property for each in (*removed, *added)}
    return not any(
        has_name(each, shorter) or has_name(longer, each) for each in names - {shorter, longer}
    )


def _evidence(
    lineage: Lineage, found: _Candidate, rivals: int, *, alone: bool
) -> tuple[tuple[float, str], ...]:
    """The evidence for a rename: pairs of weight and words; empty where the types exclude it."""
    older, newer, shared = found
    ours, theirs = spelled(lineage, older), spelled(lineage, newer)
    if ours != theirs and shared < _SAME_MEMBERS:
        return ()
    negated = opposite(older.property, newer.property)
    if negated and not ours.startswith("boolean"):
        return ()
    name = OPPOSED if negated else likeness(older.property, newer.property)
    same_case = case_only(older.property, newer.property)
    similar = "names differ by letter case only" if same_case else ""
    step = "removed and added in the same step"
    docs = texts_alike(lineage.property(older).doc, lineage.property(newer).doc)
    evidence = [
        (0.5 / rivals, f"{step}, with no rival" if rivals == 1 else step),
        (0.2, f"both {ours}") if ours == theirs else (0.0, ""),
        (0.4 * shared, f"{shared:.0%} of their properties are the same" if shared else ""),
        (
            0.95 if same_case else 0.75 * name,
            "names that say the opposite"
            if negated
            else similar or ("similar names" if name > _SIMILAR else ""),
        ),
    ]
    if alone:
        evidence.append((_NAME_IN_NAME, "no other name has its words"))
    if docs >= _SAME_DOCS:
        evidence.append((0.7 * docs, "same description" if docs == 1 else "similar descriptions"))
    return tuple(evidence)


def _shared_members(lineage: Lineage, older: Place, newer: Place) -> float:
    """How much of their members two objects share; 0 where a rename could not join their types."""
    schemas = _schemas(lineage, older, newer)
    pairs = _paired(lineage, older, newer)
    many = isinstance(_bare(lineage.type(older)), ListOf | MapOf)  # what is in it cannot move alone
    shared = [
        (_overlap_renamed if many else overlap)(members(one), members(other))
        for one, other in pairs
        if isinstance(one, ObjectType) and _joinable((one, other), schemas)
    ]
    return min(shared) if shared and len(shared) == len(pairs) else 0.0


def _bare(type_: Type) -> Type:
    return type_.inner if isinstance(type_, Nullable) else type_


def _overlap_renamed(ours: frozenset[str], theirs: frozenset[str]) -> float:
    """How much two sets of names share, counting one that got a longer name of its own words, as `computeResources` for `resources`."""
    longer = [
        (old, new)
        for old in sorted(ours - theirs)
        for new in sorted(theirs - ours)
        if has_name(new, old)
    ]
    if len({old for old, _ in longer}) == len({new for _, new in longer}) == len(longer):
        renamed = dict(longer)
        ours = frozenset(renamed.get(name, name) for name in ours)
    return overlap(ours, theirs)


def _joinable(pair: DefinitionPair, schemas: tuple[Schema, Schema]) -> bool:
    """Whether two objects would meet: one has no name, or theirs are alike, or one can take the other's."""
    one, other = pair
    if not (one.named and other.named):
        return True
    if len(members(one) & members(other)) < _MANY_MEMBERS:
        return False
    return one.name == other.name or not (
        _has(schemas[1], one.name) or _has(schemas[0], other.name)
    )


def _has(schema: Schema, name: str) -> bool:
    return any(each.name == name for each in schema.definitions.values())


def _schemas(lineage: Lineage, older: Place, newer: Place) -> tuple[Schema, Schema]:
    return lineage.evolution.schema(older.version), lineage.evolution.schema(newer.version)


def _paired(lineage: Lineage, older: Place, newer: Place) -> tuple[DefinitionPair, ...]:
    schemas = _schemas(lineage, older, newer)
    return paired_definitions(lineage.type(older), lineage.type(newer), schemas) or ()


def members(definition: ObjectType | EnumType) -> frozenset[str]:
    """The names of an object's properties, or the texts of an enum's values."""
    if isinstance(definition, EnumType):
        return frozenset(str(value) for value in definition.values)
    return frozenset(each.name for each in definition.properties)
