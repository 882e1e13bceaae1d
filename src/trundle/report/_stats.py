"""How the types of some schemas evolve, in numbers: what the case study counts, and the totals.

Counted are pairs of neighbours of a type: two definitions that meet, at however many places, count once.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec

from trundle.evolution import Evolution
from trundle.report._enums import EnumChange, enum_changes
from trundle.report._matched_properties import Meeting, change_of, meetings
from trundle.report._similarity import case_only
from trundle.report._spelling import count
from trundle.report._suggest import LEAST, suggest
from trundle.report._table import table
from trundle.report._walk import TypePair, lineages, type_pairs


class Statistics(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What happened between neighbours.

    Attributes:
        ga_only: whether only GA versions count.
        resources: resource types.
        versions: versions.
        types: object types, each version of one counted.
        pairs: pairs of neighbours of types.
        unchanged: pairs without any change of a property.
        only_new: pairs whose only change is new properties.
        only_new_one: those of them that add one property.
        only_new_two: those of them that add two properties.
        renames: property renames, configured or inferred.
        renames_configured: those that a rule says.
        renames_inferred: those that are inferred from the likeness of names, see `suggest`.
        renames_by_case: those of all renames that change nothing but letter case.
        became_optional: properties that were required and are not any more.
        became_required: properties that were optional and are not any more.
        changes_of_type: properties whose type changed; optionality is no part of the type.
        type_renames: those of them whose old and new type still convert into each other.
        new_properties: properties that only the newer side has.
        removed_properties: properties that only the older side has.
        enums_changed: pairs of enums whose values differ.
        values_added: values of enums that only the newer side has.
        values_removed: values of enums that only the older side has.
        values_recased: values of enums that changed by letter case alone.
        values_renamed: values of enums that a rule renames.
    """

    ga_only: bool
    resources: int
    versions: int
    types: int
    pairs: int
    unchanged: int
    only_new: int
    only_new_one: int
    only_new_two: int
    renames: int
    renames_configured: int
    renames_inferred: int
    renames_by_case: int
    became_optional: int
    became_required: int
    changes_of_type: int
    type_renames: int
    new_properties: int
    removed_properties: int
    enums_changed: int
    values_added: int
    values_removed: int
    values_recased: int
    values_renamed: int


def statistics(evolution: Evolution, *, ga_only: bool = False) -> Statistics:
    """Counts how types evolve.

    Args:
        evolution: where to look.
        ga_only: leave previews out.
    """
    found = lineages(evolution)
    versions = [v for v in evolution.versions.versions if not (ga_only and v.preview)]
    types = {node for each in found for node in each.nodes.items() if node[0] in versions}
    resources = [
        each
        for each in evolution.resources
        if not ga_only or any(not version.preview for version in each.resources)
    ]
    tally: Counter[str] = Counter()
    enums: set[tuple[object, object, EnumChange]] = set()
    for pair in type_pairs(found):
        if not ga_only or not (pair.older.preview or pair.newer.preview):
            tally["pairs"] += 1
            tally.update({"unchanged": 1} if pair.identical else _of_pair(pair))
            changes = () if pair.identical else enum_changes((pair.lineage,), *pair[1:])
            enums.update((pair.older, pair.newer, each) for each in changes)
    tally.update(_of_enums(each for _, _, each in enums))
    inferred = [
        each
        for each in suggest(evolution, least=LEAST)
        if each.rule == "rename" and not (ga_only and (each.older.preview or each.newer.preview))
    ]
    tally["renames_inferred"] = len(inferred)
    tally["renames_by_case"] += sum(each.by_case_alone() for each in inferred)
    tally["renames"] = tally["renames_configured"] + len(inferred)
    counted = {name: tally[name] for name in Statistics.__struct_fields__[4:]}
    return Statistics(
        ga_only=ga_only,
        resources=len(resources),
        versions=len(versions),
        types=len(types),
        **counted,
    )


def _of_enums(changes: Iterable[EnumChange]) -> Counter[str]:
    """What happened to the values of enums."""
    tally: Counter[str] = Counter()
    for each in changes:
        tally["enums_changed"] += 1
        tally["values_added"] += len(each.added)
        tally["values_removed"] += len(each.removed)
        tally["values_recased"] += len(each.recased)
        tally["values_renamed"] += len(each.renamed)
    return tally


def _of_pair(pair: TypePair) -> Counter[str]:
    """What happened between two versions of a type."""
    tally: Counter[str] = Counter()
    met = meetings(*pair)
    kinds = Counter(change_of(pair.lineage, each) for each in met)
    for each in met:
        tally.update(_optionality(pair, each))
    tally["new_properties"] = kinds["New Property"]
    tally["removed_properties"] = kinds["Property Removed"]
    tally["type_renames"] = kinds["Type Rename"]
    tally["changes_of_type"] = kinds["Change of Type"] + kinds["Type Rename"]
    renamed = [
        (each.older.property, each.newer.property)
        for each in met
        if each.older and each.newer and each.older.property != each.newer.property
    ]
    tally["renames_configured"] = len(renamed)
    tally["renames_by_case"] = sum(case_only(*names) for names in renamed)
    changed = {kind for kind, number in kinds.items() if number and kind != "None"}
    tally["unchanged"] = not changed
    if changed == {"New Property"}:
        tally["only_new"] = 1
        tally["only_new_one"] = kinds["New Property"] == 1
        tally["only_new_two"] = kinds["New Property"] == 2  # noqa: PLR2004 - the study counts two
    return tally


def _optionality(pair: TypePair, meeting: Meeting) -> tuple[str, ...]:
    if meeting.older is None or meeting.newer is None:
        return ()
    was, now = (pair.lineage.property(place).required for place in (meeting.older, meeting.newer))
    if was == now:
        return ()
    return ("became_required",) if now else ("became_optional",)


def statistics_data(figures: Statistics) -> dict[str, Any]:
    """The figures as plain JSON values."""
    plain: dict[str, Any] = msgspec.to_builtins(figures)
    return plain


def statistics_text(figures: Statistics) -> str:
    """The figures as a table, the totals first."""
    which = "GA versions" if figures.ga_only else "all versions"
    rows = [(label, f"{getattr(figures, name):,}") for name, label in _LABELS.items()]
    title = (
        f"{count(figures.resources, 'resource type')} in {count(figures.versions, 'version')} "
        f"({which}): {count(figures.types, 'object type')}, "
        f"{count(figures.pairs, 'pair')} of neighbours."
    )
    return f"{title}\n\n{table(('Between neighbours', 'Number'), rows)}\n"


_LABELS = {
    "unchanged": "Pairs of types without any change",
    "only_new": "Pairs whose only change is new properties",
    "only_new_one": "... of these, adding one property",
    "only_new_two": "... of these, adding two properties",
    "renames": "Property renames",
    "renames_configured": "... of these, configured",
    "renames_inferred": "... of these, inferred from similar names",
    "renames_by_case": "... of these, by letter case alone",
    "became_optional": "Properties that became optional",
    "became_required": "Properties that became required",
    "changes_of_type": "Properties whose type changed",
    "type_renames": "... of these, to a type of another name that still converts",
    "new_properties": "New properties",
    "removed_properties": "Removed properties",
    "enums_changed": "Enums whose values changed",
    "values_added": "... of these, values added",
    "values_removed": "... of these, values removed",
    "values_recased": "... of these, values whose letter case changed",
    "values_renamed": "... of these, values that a rule renames",
}
