"""The change table: what became of every property between two versions, and how conversion handles it."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec

from trundle.evolution import Evolution, Lineage, Place, ResourceLineage
from trundle.report._enums import EnumChange, change_text, enum_changes
from trundle.report._errors import ReportError
from trundle.report._handlers import Handler, Handling
from trundle.report._matched_properties import ChangeKind, change_of, meetings
from trundle.report._reached import reached
from trundle.report._spelling import count, spell_property
from trundle.report._table import table
from trundle.report._walk import known_version, lineages
from trundle.schema import EnumType
from trundle.version import ApiVersion


class PropertyChange(msgspec.Struct, frozen=True):
    """One row of a change table.

    Attributes:
        name: as the schemas write it; `older -> newer` where it was renamed.
        old: its type in the older version; None where that does not have it.
        new: its type in the newer version; None where that does not have it.
        change: what changed.
        handler: what becomes of a value on its way from the older version to storage of the newer.
    """

    name: str
    old: str | None
    new: str | None
    change: ChangeKind
    handler: Handler


class TypeComparison(msgspec.Struct, frozen=True):
    """The change table of one type.

    Attributes:
        older: its name in the older version.
        newer: its name in the newer version.
        resources: the resource types that reach it, in alphabetical order.
        properties: one row for each property, in alphabetical order.
    """

    older: str
    newer: str
    resources: tuple[str, ...]
    properties: tuple[PropertyChange, ...]

    @property
    def type(self) -> str:
        """The type's name, the newer one where it was renamed."""
        return self.newer

    @property
    def changed(self) -> bool:
        """Whether any property changed."""
        return any(each.change != "None" for each in self.properties)


class Comparison(msgspec.Struct, frozen=True):
    """What changed between two versions.

    Attributes:
        older: the version that conversion starts from.
        newer: the version that it leads to.
        types: the types that meet, in alphabetical order.
        enums: the enums that meet and whose values differ, in alphabetical order.
        added: names of types, enums included, that only the newer version has.
        removed: names of types, enums included, that only the older version has.
        chosen: whether one type was asked for.
    """

    older: ApiVersion
    newer: ApiVersion
    types: tuple[TypeComparison, ...]
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    chosen: bool = False
    enums: tuple[EnumChange, ...] = ()


def compare(
    evolution: Evolution,
    older: ApiVersion,
    newer: ApiVersion,
    type_name: str | None = None,
    *,
    resource: ResourceLineage | None = None,
) -> Comparison:
    """Compares two versions, neighbours or not.

    Args:
        evolution: where the versions are.
        older: the version that conversion starts from.
        newer: the version that it leads to.
        type_name: only this type, by its name in either version, without regard to letter case.
        resource: only types that this resource type reaches; it must be in both versions.

    Raises:
        ReportError: there is no such version or type.
    """
    older, newer = known_version(evolution, older), known_version(evolution, newer)
    met = lineages(evolution, (older, newer), None if resource is None else [resource])
    renamed = {each.definition(version).name for each in met for version in (older, newer)}
    ours, theirs = (_types(evolution, each, resource) for each in (older, newer))
    added, removed = _one_sided(ours, theirs, renamed)
    wanted = None if type_name is None else type_name.casefold()
    if type_name is not None:
        known = {*renamed, *added, *removed, *_enum_names(evolution, (older, newer))}
        if wanted not in {name.casefold() for name in known}:
            raise ReportError("type", type_name, known, f"{older} and {newer}")
        added = tuple(name for name in added if name.casefold() == wanted)
        removed = tuple(name for name in removed if name.casefold() == wanted)
    chosen = {
        lineage: resources
        for lineage, resources in met.items()
        if wanted is None
        or wanted in {lineage.definition(version).name.casefold() for version in (older, newer)}
    }
    types = _merged(
        TypeComparison(
            lineage.definition(older).name,
            lineage.definition(newer).name,
            resources,
            property_changes(lineage, older, newer),
        )
        for lineage, resources in chosen.items()
    )
    enums = tuple(
        each
        for each in enum_changes(met, older, newer)
        if wanted is None or wanted in {each.older.casefold(), each.newer.casefold()}
    )
    return Comparison(older, newer, types, added, removed, wanted is not None, enums)


def _enum_names(evolution: Evolution, versions: Iterable[ApiVersion]) -> set[str]:
    return {
        each.name
        for version in versions
        for each in evolution.schema(version).definitions.values()
        if isinstance(each, EnumType)
    }


def property_changes(
    lineage: Lineage, older: ApiVersion, newer: ApiVersion
) -> tuple[PropertyChange, ...]:
    """The rows of one type's change table."""
    handling = Handling(lineage, older, newer)
    return tuple(
        PropertyChange(
            meeting.name,
            _spelled(lineage, meeting.older),
            _spelled(lineage, meeting.newer),
            change_of(lineage, meeting),
            handling.of(meeting),
        )
        for meeting in meetings(lineage, older, newer)
    )


def _spelled(lineage: Lineage, place: Place | None) -> str | None:
    if place is None:
        return None
    return spell_property(lineage.property(place), lineage.evolution.schema(place.version))


def _types(evolution: Evolution, version: ApiVersion, resource: ResourceLineage | None) -> set[str]:
    """The names of the types of a version, or of those that a resource type reaches."""
    schema = evolution.schema(version)
    found = schema.definitions
    if resource is not None:
        found = reached(schema, resource.resources[version].root)
    return {each.name for each in found.values()}


def _one_sided(
    ours: set[str], theirs: set[str], renamed: set[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of types that only the newer version has, and that only the older has."""
    return tuple(sorted(theirs - ours - renamed)), tuple(sorted(ours - theirs - renamed))


def _merged(tables: Iterable[TypeComparison]) -> tuple[TypeComparison, ...]:
    """Types that are at several places once, unless they convert differently there."""
    found: dict[TypeComparison, set[str]] = {}
    for each in tables:
        bare = msgspec.structs.replace(each, resources=())
        found.setdefault(bare, set()).update(each.resources)
    merged = (
        msgspec.structs.replace(each, resources=tuple(sorted(resources)))
        for each, resources in found.items()
    )
    return tuple(sorted(merged, key=lambda each: (each.newer, each.older, each.resources)))


def comparison_data(comparison: Comparison) -> dict[str, Any]:
    """A comparison as plain JSON values."""
    return {
        "older": str(comparison.older),
        "newer": str(comparison.newer),
        "added": list(comparison.added),
        "removed": list(comparison.removed),
        "types": [
            {
                "type": each.type,
                "older": each.older,
                "newer": each.newer,
                "resources": list(each.resources),
                "properties": [msgspec.to_builtins(row) for row in each.properties],
            }
            for each in comparison.types
        ],
        "enums": [
            {
                "older": each.older,
                "newer": each.newer,
                "added": list(each.added),
                "removed": list(each.removed),
                "recased": dict(each.recased),
                "renamed": dict(each.renamed),
            }
            for each in comparison.enums
        ],
    }


def comparison_text(comparison: Comparison) -> str:
    """A comparison as Markdown: a table for each changed type, then the names of all others.

    A type that was asked for by name gets its table even where nothing changed.
    """
    parts = [
        type_text(each, comparison.older, comparison.newer) for each in shown_types(comparison)
    ]
    parts.extend(map(_enum_text, comparison.enums))
    notes = [f"{title}: {', '.join(names)}" for title, names in other_types(comparison).items()]
    if not parts and not notes:
        notes = [nothing_to_show(comparison)]
    return "\n\n".join([*parts, *notes]) + "\n"


def shown_types(comparison: Comparison) -> list[TypeComparison]:
    """The types that get a table: those that changed, and the one that was asked for."""
    return [each for each in comparison.types if each.changed or comparison.chosen]


def other_types(comparison: Comparison) -> dict[str, tuple[str, ...]]:
    """The names of the types without a table, by what became of them."""
    same = sorted({each.type for each in comparison.types if not each.changed})
    titled = {
        "Added types": comparison.added,
        "Removed types": comparison.removed,
        "Unchanged types": () if comparison.chosen else tuple(same),
    }
    return {title: names for title, names in titled.items() if names}


def nothing_to_show(comparison: Comparison) -> str:
    """What a comparison says that has neither tables nor names."""
    if comparison.chosen:
        return "No value of the enum changed."
    return f"{comparison.older} and {comparison.newer} have no type in common."


def _enum_text(change: EnumChange) -> str:
    return "\n".join([enum_title(change), "", *change_text(change)])


def enum_title(change: EnumChange) -> str:
    """The heading above the changes of an enum."""
    return f"## {' -> '.join(dict.fromkeys((change.older, change.newer)))}: values"


def type_title(comparison: TypeComparison) -> str:
    """The heading above the change table of a type."""
    return f"## {' -> '.join(dict.fromkeys((comparison.older, comparison.newer)))}"


def type_text(comparison: TypeComparison, older: ApiVersion, newer: ApiVersion) -> str:
    """The change table of one type, with a title and a count of its changes."""
    title = type_title(comparison)
    if not comparison.properties:
        return f"{title}\n\nNo properties."
    rows = [change_row(each) for each in comparison.properties]
    return f"{title}\n\n{table(change_head(older, newer), rows)}\n\n{summary(comparison)}"


def change_head(older: ApiVersion, newer: ApiVersion) -> tuple[str, ...]:
    """The names of the columns of a change table."""
    return ("Property", str(older), str(newer), "Change", "Handler")


def change_row(change: PropertyChange) -> tuple[str, ...]:
    """A row of a change table."""
    return (change.name, change.old or "", change.new or "", change.change, change.handler)


def summary(comparison: TypeComparison) -> str:
    """How many properties of a type changed in which way."""
    kinds = Counter(each.change for each in comparison.properties)
    total = count(len(comparison.properties), "property", "properties")
    numbers = ", ".join(f"{number} {_SPOKEN[kind]}" for kind in _SPOKEN if (number := kinds[kind]))
    return f"{total}: {numbers}."


_SPOKEN: dict[ChangeKind, str] = {
    "None": "unchanged",
    "New Property": "new",
    "Property Removed": "removed",
    "Change of Type": "of another type",
    "Property Rename": "renamed",
    "Property Move": "moved",
    "Type Rename": "of a renamed type",
    "Optionality": "of another optionality",
}
