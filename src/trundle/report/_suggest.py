"""Likely changes that the schemas cannot express, ranked, with the evidence for each.

Only neighbours are compared, because that is where configured changes stand. What a rule or a hook bridges
already is not suggested again.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from trundle.evolution import (
    SCALAR_CONVERSIONS,
    Evolution,
    Lineage,
    NamedConversion,
    Place,
    relate_keyed,
)
from trundle.evolution.conversions import EnumText
from trundle.report._described_values import successors
from trundle.report._durations import timed
from trundle.report._matched_properties import Meeting, change_of, meetings, spelled
from trundle.report._moved_places import MovedPlaces
from trundle.report._moves import likely_moves, members_of
from trundle.report._references import regrouped
from trundle.report._renames import likely_renames, members
from trundle.report._similarity import case_only, likeness, overlap, together
from trundle.report._spelling import paired_definitions
from trundle.report._suggestion import Rule, Suggestion
from trundle.report._taken_up import taken_up
from trundle.report._walk import TypePair, lineages, type_pairs
from trundle.schema import EnumType, ListOf, MapOf, Nullable, Scalar, Schema, Type

if TYPE_CHECKING:
    from trundle.version import ApiVersion

LEAST = 0.65
"""Suggestions of a lower score are left out unless asked for."""
_DESCRIBED = 0.9
"""The score of a value that the description of the property names for another."""


def suggest(evolution: Evolution, *, least: float = LEAST) -> tuple[Suggestion, ...]:
    """Suggests configured changes, the likeliest first.

    What is suggested lets types meet that did not before, such as the elements of a list under its new name, and leaves fewer
    rivals to others. So it is looked at as if it was configured, until nothing more is found.

    Args:
        evolution: where to look, with the changes that are configured already.
        least: the lowest score to report.
    """
    found: dict[tuple[object, ...], Suggestion] = {}
    while new := [each for each in _likely(evolution, least) if _line(each) not in found]:
        found |= {_line(each): each for each in new}
        changes = taken_up(evolution.all_changes, filter(_is_plain, new))
        evolution = Evolution(evolution.schemas, changes, evolution.hooks)
    return tuple(sorted(found.values(), key=lambda each: -each.score))


def _likely(evolution: Evolution, least: float) -> tuple[Suggestion, ...]:
    """What is likely as long as nothing of it is configured, the likeliest first."""
    found = lineages(evolution)
    guesses: list[Suggestion] = []
    for pair in type_pairs(found):
        if not pair.identical:
            guesses.extend(each for each in _guesses(pair) if each.score >= least)
    consistent = _consistent(guesses, MovedPlaces(evolution, found))
    chosen = [each for each in consistent if _fits(each, found)]
    every = [one for each in chosen for one in (each, *each.beside)]
    return tuple({_line(one): one for one in reversed(every)}.values())[::-1]


def _is_plain(each: Suggestion) -> bool:
    """Whether a rule says no more than names; no types meet by the others that would not without."""
    return not each.target.startswith("{")


def _line(each: Suggestion) -> tuple[object, ...]:
    """What a suggestion configures: two renames of properties may need the same rename of their type."""
    return (each.older, each.type, each.rule, each.property, each.target)


def _rank(each: Suggestion) -> tuple[object, ...]:
    return (-each.score, each.older, each.type, each.rule, each.property, each.target, each.newer)


def _consistent(guesses: list[Suggestion], moved: MovedPlaces) -> list[Suggestion]:
    """The best guess for each property, and for each name that a property may get."""
    taken: set[tuple[object, ...]] = set()
    types: dict[tuple[ApiVersion, str], str] = {}
    chosen = []
    for each in sorted(guesses, key=_rank):
        renamed = {
            (one.older, one.type): one.target
            for one in (each, *each.beside)
            if one.rule == "renameType"
        }
        if any(types.get(one, target) != target for one, target in renamed.items()):
            continue
        keys = {(each.older, each.type, "from", each.property)}
        if each.rule in ("rename", "move"):
            keys.add((each.older, each.type, "to", each.target))
        if not keys & taken and moved.take(each):
            taken |= keys
            types |= renamed
            chosen.append(each)
    return chosen


def _fits(each: Suggestion, found: dict[Lineage, tuple[str, ...]]) -> bool:
    """Whether a change says something true of every place where its type stands.

    A type that is renamed ends at its place as long as nothing says so; nothing is asked of it.
    """
    if each.rule in ("renameType", "move"):
        return True
    for lineage in found:
        if each.older not in lineage.nodes or lineage.definition(each.older).name != each.type:
            continue
        newer = lineage.versions.neighbour(each.older)
        if newer is None:
            return False
        if each.property and each.property not in lineage.names(each.older):
            return False
        if each.rule == "rename" and each.target not in lineage.names(newer):
            return False
    return True


def _guesses(pair: TypePair) -> Iterator[Suggestion]:
    met = meetings(*pair)
    renames = tuple(_renames(pair, met))
    yield from renames
    yield from _references(pair, met)
    yield from _durations(pair, met)
    # What is in a renamed object meets there, and goes nowhere else.
    likely = [each for each in renames if each.score >= LEAST]
    olders, newers = {each.property for each in likely}, {each.target for each in likely}
    for move in _moves(pair):
        one, other = move.property.partition(".")[0], move.target.partition(".")[0]
        if one not in olders and other not in newers:
            yield move
    for meeting in met:
        if meeting.older is None or meeting.newer is None:
            continue
        if change_of(pair.lineage, meeting) == "Change of Type" and meeting.bond == "name":
            yield from _changes_of_type(pair, meeting.older, meeting.newer)
        elif _without_rule(pair.lineage, meeting) and meeting.older.property != "apiVersion":
            yield from _changes_of_values(pair, meeting.older, meeting.newer)


def _without_rule(lineage: Lineage, meeting: Meeting) -> bool:
    """Whether no rule names the values of two properties that meet."""
    return meeting.bond == "thread" or any(
        (link.older, link.newer) == (meeting.older, meeting.newer)
        and isinstance(link.conversion, EnumText)
        for link in lineage.links
    )


def _suggestion(
    pair: TypePair, rule: Rule, evidence: tuple[tuple[float, str], ...], **what: str
) -> Suggestion:
    return Suggestion(
        older=pair.older,
        newer=pair.newer,
        type=what.get("type", pair.lineage.definition(pair.older).name),
        rule=rule,
        property=what.get("property", ""),
        target=what.get("target", ""),
        score=together(weight for weight, _ in evidence),
        evidence=tuple(text for _, text in evidence if text),
    )


def _moves(pair: TypePair) -> Iterator[Suggestion]:
    """Properties that went into a nested object or came out of one, with what their values need."""
    name = pair.lineage.definition(pair.older).name
    changes = pair.lineage.evolution.changes(pair.older, name)
    known = dict(changes.move) if changes is not None else {}
    for move in likely_moves(pair, known):
        if move.older in known or move.newer in known.values():
            continue
        what = {"property": move.older, "target": move.newer}
        found = _suggestion(pair, "move", move.evidence, **what)
        with_it = ((found.score, "goes with the move"),)
        beside = []
        if move.conversion:
            beside.append(
                _suggestion(pair, "convert", with_it, property=move.older, target=move.conversion)
            )
        if move.values:
            values = _suggestion(pair, "values", with_it, property=move.older)
            beside.append(msgspec.structs.replace(values, values=move.values))
        yield msgspec.structs.replace(found, beside=tuple(beside))


def _renames(pair: TypePair, met: tuple[Meeting, ...]) -> Iterator[Suggestion]:
    """Properties that one side lost and the other gained, with the renames of types that they need."""
    for rename in likely_renames(pair, met):
        what = {"property": rename.older, "target": rename.newer}
        found = _suggestion(pair, "rename", rename.evidence, **what)
        with_it = ((found.score, "goes with the rename"),)
        beside = tuple(
            _suggestion(pair, "renameType", with_it, type=older, target=newer)
            for older, newer in rename.types
        )
        if rename.conversion:
            what = {"property": rename.older, "target": rename.conversion}
            beside = (*beside, _suggestion(pair, "convert", with_it, **what))
        yield msgspec.structs.replace(found, beside=beside)


def _references(pair: TypePair, met: tuple[Meeting, ...]) -> Iterator[Suggestion]:
    """References whose `apiVersion` became a group, with the conversion that takes the version off."""
    for found in regrouped(pair.lineage, met):
        what = {"property": found.version, "target": found.group}
        evidence = ((0.9, f"a reference has {found.group} in place of {found.version}"),)
        rename = _suggestion(pair, "rename", evidence, **what)
        with_it = ((rename.score, "goes with the rename"),)
        what["target"] = "api-version-to-group"
        convert = _suggestion(pair, "convert", with_it, **what)
        yield msgspec.structs.replace(rename, beside=(convert,))


def _durations(pair: TypePair, met: tuple[Meeting, ...]) -> Iterator[Suggestion]:
    """Durations that became seconds, with the conversion that counts them."""
    for found in timed(pair.lineage, met):
        evidence = ((0.9, "a duration became a number, and its name has the unit"),)
        rename = _suggestion(pair, "rename", evidence, property=found.older, target=found.newer)
        with_it = ((rename.score, "goes with the rename"),)
        what = {"property": found.older, "target": found.conversion}
        convert = _suggestion(pair, "convert", with_it, **what)
        yield msgspec.structs.replace(rename, beside=(convert,))


def _changes_of_type(pair: TypePair, older: Place, newer: Place) -> Iterator[Suggestion]:
    """What may bridge a property whose type changed; if nothing does, that it stays apart."""
    lineage = pair.lineage
    evolution = lineage.evolution
    schemas = evolution.schema(older.version), evolution.schema(newer.version)
    ours, theirs = _plain(lineage.type(older)), _plain(lineage.type(newer))
    renames = list(_type_renames(pair, older, ours, theirs, schemas))
    yield from renames
    name = {"property": older.property, "target": newer.property}
    same = f"{spelled(lineage, older)} became {spelled(lineage, newer)}"
    if isinstance(theirs, ListOf) and _alike(ours, theirs.items, schemas):
        yield _suggestion(pair, "wrap", ((0.9, same),), **name)
    elif isinstance(ours, ListOf) and _alike(ours.items, theirs, schemas):
        yield _suggestion(pair, "unwrap", ((0.85, same),), **name)
    elif keyed := _keyed_conversion(pair, ours, theirs, schemas):
        name["target"] = keyed
        yield _suggestion(pair, "convert", ((0.85, same),), **name)
    elif conversion := _scalar_conversion(ours, theirs):
        name["target"] = conversion
        yield _suggestion(pair, "convert", ((0.8, same),), **name)
    elif not renames:
        if move := _into_itself(ours, theirs, schemas):
            paths = {"property": older.property + move[0], "target": newer.property + move[1]}
            evidence = ((0.75, f"{same}, of which one has one property of the other's type"),)
            yield _suggestion(pair, "move", evidence, **paths)
            if move[0]:
                return
        evidence = ((0.7, f"{same}, and no rule bridges them"),)
        yield _suggestion(pair, "keep", evidence, property=older.property)


def _plain(type_: Type) -> Type:
    return type_.inner if isinstance(type_, Nullable) else type_


def _alike(older: Type, newer: Type, schemas: tuple[Schema, Schema]) -> bool:
    pairs = paired_definitions(older, newer, schemas)
    return pairs is not None and all(one.name == other.name for one, other in pairs)


def _into_itself(
    older: Type, newer: Type, schemas: tuple[Schema, Schema]
) -> tuple[str, str] | None:
    """What is added to the names of two namesakes, of which one is in the other's only property of its type."""
    inside = [
        each.name
        for each in members_of(newer, schemas[1])
        if "." not in each.name and _alike(older, each.type, schemas)
    ]
    if len(inside) == 1:
        return "", f".{inside[0]}"
    outside = [
        each.name
        for each in members_of(older, schemas[0])
        if "." not in each.name and _alike(each.type, newer, schemas)
    ]
    return (f".{outside[0]}", "") if len(outside) == 1 else None


def _scalar_conversion(older: Type, newer: Type) -> str | None:
    if isinstance(older, Scalar) and isinstance(newer, Scalar):
        name = f"{older.kind}-to-{newer.kind}"
        if older.format == "duration" and newer.kind in ("integer", "number"):
            name = "duration-to-seconds"
        return name if name in SCALAR_CONVERSIONS else None
    return None


def _keyed_conversion(
    pair: TypePair, older: Type, newer: Type, schemas: tuple[Schema, Schema]
) -> str:
    """The conversion between a map and a list with a key, as the configuration writes it; empty where none fits."""
    rule = "map-to-list" if isinstance(older, MapOf) else "list-to-map"
    meets = pair.lineage.evolution.meets(pair.older, pair.newer, pair.lineage.nodes)
    for key in ("name", "key", "id", "type"):
        for value in ("", "value"):
            tried = NamedConversion(name=rule, key=key, value=value)
            if relate_keyed(tried, (older, newer), schemas, meets) is not None:
                return f"{{{rule}: {{key: {key}{f', value: {value}' if value else ''}}}}}"
    return ""


def _type_renames(
    pair: TypePair, older: Place, ours: Type, theirs: Type, schemas: tuple[Schema, Schema]
) -> Iterator[Suggestion]:
    """Types of other names that are at the same place and have much in common."""
    for one, other in paired_definitions(ours, theirs, schemas) or ():
        if one.name == other.name or any(
            each.name == one.name for each in schemas[1].definitions.values()
        ):
            continue
        shared = overlap(members(one), members(other))
        if not shared:
            continue
        what = "values" if isinstance(one, EnumType) else "properties"
        evidence = (
            (0.2, f"both stand at {older.property}"),
            (0.85 * shared, f"{shared:.0%} of their {what} are the same"),
            (0.4 * likeness(one.name, other.name), ""),
        )
        yield _suggestion(pair, "renameType", evidence, type=one.name, target=other.name)


def _changes_of_values(pair: TypePair, older: Place, newer: Place) -> Iterator[Suggestion]:
    """Values of an enum that one side lost and the other gained under a similar name."""
    lineage = pair.lineage
    schemas = lineage.evolution.schema(older.version), lineage.evolution.schema(newer.version)
    for one, other in paired_definitions(lineage.type(older), lineage.type(newer), schemas) or ():
        if not (isinstance(one, EnumType) and isinstance(other, EnumType)):
            continue
        ours, theirs = members(one), members(other)
        kept = {text.casefold() for text in ours} & {text.casefold() for text in theirs}
        removed = sorted(text for text in ours if text.casefold() not in kept)
        added = sorted(text for text in theirs if text.casefold() not in kept)
        rivals = max(len(removed), len(added))
        scored = sorted(
            (-_value_score(value, candidate, rivals), value, candidate)
            for value in removed
            for candidate in added
        )
        chosen: dict[str, str] = {}
        scores = []
        for score, value, candidate in scored:
            if -score >= LEAST and value not in chosen and candidate not in chosen.values():
                chosen[value] = candidate
                scores.append(-score)
        evidence = f"{one.name} lost and gained them in the same step"
        described = f"{lineage.property(older).doc}\n{one.doc}"
        for value, stays in successors(described, ours, theirs):
            if value in removed and value not in chosen:
                chosen[value] = stays
                scores.append(_DESCRIBED)
                evidence = f"the description of {older.property} says so"
        if chosen:
            found = _suggestion(pair, "values", ((min(scores), evidence),), property=older.property)
            yield msgspec.structs.replace(found, values=tuple(sorted(chosen.items())))


def _value_score(older: str, newer: str, rivals: int) -> float:
    if case_only(older, newer):
        return 0.95
    return together((0.5 / rivals, 0.75 * likeness(older, newer)))
