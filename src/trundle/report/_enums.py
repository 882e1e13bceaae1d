"""What changed about the values of enums between two versions, and an enum through all versions."""

from collections.abc import Iterable, Iterator
from itertools import groupby

import msgspec

from trundle.evolution import Evolution, Lineage, Place
from trundle.evolution.conversions import MapValues
from trundle.report._matched_properties import meetings
from trundle.report._similarity import case_only
from trundle.report._spelling import paired_definitions
from trundle.schema import EnumType
from trundle.version import ApiVersion


class EnumChange(msgspec.Struct, frozen=True):
    """What changed about the values of an enum.

    Attributes:
        older: its name in the older version.
        newer: its name in the newer version.
        added: values that only the newer version has.
        removed: values that only the older version has.
        recased: newer by older value, where they differ by letter case or by the marks between words.
        renamed: newer by older value, where a rule says so.
    """

    older: str
    newer: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    recased: tuple[tuple[str, str], ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()

    @property
    def number(self) -> int:
        """How many values changed."""
        return sum(map(len, (self.added, self.removed, self.recased, self.renamed)))


class EnumStage(msgspec.Struct, frozen=True):
    """A run of versions in which an enum has the same values.

    Attributes:
        versions: in ascending order, as the enum has them.
        values: in the order of the schema.
        change: what changed since the stage before.
    """

    versions: tuple[ApiVersion, ...]
    values: tuple[str, ...]
    change: EnumChange | None = None


class EnumLife(msgspec.Struct, frozen=True):
    """The life of one enum.

    Attributes:
        name: its name.
        stages: what it is from version to version.
        places: the properties that have it, as `Type.property`.
    """

    name: str
    stages: tuple[EnumStage, ...]
    places: tuple[str, ...]


def enum_changes(
    lineages: Iterable[Lineage], older: ApiVersion, newer: ApiVersion
) -> tuple[EnumChange, ...]:
    """All enums that meet in two versions and whose values differ, in alphabetical order."""
    found = {
        change: None
        for lineage in lineages
        for change in _enums_of(lineage, older, newer)
        if change.number
    }
    return tuple(sorted(found, key=lambda each: (each.newer, each.older, each.added, each.removed)))


def _enums_of(lineage: Lineage, older: ApiVersion, newer: ApiVersion) -> Iterator[EnumChange]:
    schemas = lineage.evolution.schema(older), lineage.evolution.schema(newer)
    for met in meetings(lineage, older, newer):
        if met.older is None or met.newer is None:
            continue
        types = lineage.type(met.older), lineage.type(met.newer)
        for one, other in paired_definitions(*types, schemas) or ():
            if isinstance(one, EnumType) and isinstance(other, EnumType):
                values = list(map(str, one.values))
                yield enum_change(one, other, _renamed(lineage, met.older, met.newer, values))


def _renamed(lineage: Lineage, one: Place, other: Place, values: Iterable[str]) -> dict[str, str]:
    """What rules make of some values on the way from one place to another, which may be of an earlier version."""
    found = {each: each for each in values}
    for link, up in lineage.way(one, other):
        if isinstance(link.conversion, MapValues):
            pairs = [pair if up else pair[::-1] for pair in link.conversion.values]
            for value, here in found.items():
                found[value] = min((b for a, b in pairs if a == here != b), default=here)
    return found


def enum_change(older: EnumType, newer: EnumType, rules: dict[str, str]) -> EnumChange:
    """What changed about the values of an enum; their order is no change."""
    ours, theirs = list(map(str, older.values)), list(map(str, newer.values))
    removed = [each for each in ours if each not in theirs]
    added = [each for each in theirs if each not in ours]
    renamed = {old: rules[old] for old in removed if rules.get(old) in added}
    recased = {
        old: new
        for old in removed
        for new in added
        if case_only(old, new) and old not in renamed and new not in renamed.values()
    }
    gone, come = {*renamed, *recased}, {*renamed.values(), *recased.values()}
    return EnumChange(
        older.name,
        newer.name,
        tuple(each for each in added if each not in come),
        tuple(each for each in removed if each not in gone),
        tuple(recased.items()),
        tuple(renamed.items()),
    )


def enum_lives(evolution: Evolution, name: str, lineages: Iterable[Lineage]) -> Iterator[EnumLife]:
    """The lives of the enums of a name, without regard to letter case; one for each spelling of it."""
    known = {
        each.name
        for schema in evolution.schemas
        for each in schema.definitions.values()
        if isinstance(each, EnumType) and each.name.casefold() == name.casefold()
    }
    held = tuple(lineages)
    for found in sorted(known):
        yield EnumLife(found, tuple(_stages(evolution, found)), tuple(_places(held, found)))


def _stages(evolution: Evolution, name: str) -> Iterator[EnumStage]:
    having = [
        (schema.version, each)
        for schema in evolution.schemas
        for each in schema.definitions.values()
        if isinstance(each, EnumType) and each.name == name
    ]
    before: EnumType | None = None
    for values, run in groupby(having, key=lambda each: sorted(map(str, each[1].values))):
        stage = list(run)
        versions = tuple(dict.fromkeys(version for version, _ in stage))
        change = None if before is None else enum_change(before, stage[0][1], {})
        before = stage[-1][1]
        shown = tuple(map(str, stage[0][1].values))
        assert len(shown) == len(values)
        yield EnumStage(versions, shown, change)


def _places(lineages: Iterable[Lineage], name: str) -> tuple[str, ...]:
    found = set()
    for lineage in lineages:
        for version in lineage.nodes:
            definitions = lineage.evolution.schema(version).definitions
            for each in lineage.names(version):
                type_ = lineage.type(Place(version, each))
                for key in lineage.evolution.definitions_in(type_):
                    if definitions[key].name == name and isinstance(definitions[key], EnumType):
                        found.add(f"{lineage.definition(version).name}.{each}")
    return tuple(sorted(found))


def change_text(change: EnumChange) -> list[str]:
    """A change in lines: one for each way in which values changed."""
    lines = [
        f"- {title}: {', '.join(values)}"
        for title, values in (("added", change.added), ("removed", change.removed))
        if values
    ]
    for title, pairs in (("letter case", change.recased), ("renamed", change.renamed)):
        if pairs:
            lines.append(f"- {title}: {', '.join(f'{one} -> {other}' for one, other in pairs)}")
    return lines
