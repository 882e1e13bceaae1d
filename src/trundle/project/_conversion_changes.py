"""What changed about conversions from one release of a project to the next: what plans carry, and the rules behind it."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import msgspec

from trundle.evolution import Evolution, Lineage, TypeChanges
from trundle.packages import ChangeCode, ReleaseChange, judged, major, minor
from trundle.project.changes import BY_PROPERTY
from trundle.project.loading import Project
from trundle.report import Handling, Meeting, lineages, meetings
from trundle.version import ApiVersion

_KEPT_APART = ("Property Bag", "Skip")
_Way: TypeAlias = tuple[str, str, str]
"""A type, and its property on the way's one side and on its other."""


class _Ways(msgspec.Struct, frozen=True):
    """What converts from one version to another.

    Attributes:
        carried: the ways that a value goes.
        sources: the types and properties of the one version.
        targets: the types, as the one version calls them, and properties of the other.
    """

    carried: frozenset[_Way]
    sources: frozenset[tuple[str, str]]
    targets: frozenset[tuple[str, str]]

    def without(self, other: "_Ways") -> Iterator[_Way]:
        """The ways that others do not go, although they have both properties."""
        for name, one, two in sorted(self.carried - other.carried):
            if (name, one) in other.sources and (name, two) in other.targets:
                yield name, one, two


def conversion_changes(before: Project, now: Project) -> Iterator[ReleaseChange]:
    """What clients of two API versions see of each other's values, and no longer, or for the first time."""
    known = now.evolution.versions.versions
    for pair in _pairs(before):
        if not {*pair} <= {*known}:
            continue
        for source, target in (pair, pair[::-1]):
            yield from _differences(before.evolution, now.evolution, source, target)
    yield from _rule_changes(before, now)


def _pairs(project: Project) -> Iterator[tuple[ApiVersion, ApiVersion]]:
    found = {
        (pair.older, pair.newer)
        for resource in project.evolution.resources
        for pair in resource.versions.pairs
    }
    yield from sorted(found)


def _differences(
    before: Evolution, now: Evolution, source: ApiVersion, target: ApiVersion
) -> Iterator[ReleaseChange]:
    old, new = (_ways(each, source, target) for each in (before, now))
    for name, one, other in old.without(new):
        place = f"{name}.{one} from {source} to {target}"
        text = f"{_value(one, other)} is no longer seen as {other}"
        yield major(ChangeCode.CONVERSION_LOST, place, text)
    for name, one, other in new.without(old):
        place = f"{name}.{one} from {source} to {target}"
        text = f"{_value(one, other)} is now seen as {other}"
        yield minor(ChangeCode.CONVERSION_ADDED, place, text)


def _value(one: str, other: str) -> str:
    return "the value" if one == other else f"the value of {one}"


def _ways(evolution: Evolution, source: ApiVersion, target: ApiVersion) -> _Ways:
    carried: set[_Way] = set()
    sources: set[tuple[str, str]] = set()
    targets: set[tuple[str, str]] = set()
    for lineage in lineages(evolution, (source, target)):
        name = lineage.definition(source).name
        sources.update((name, each) for each in lineage.names(source))
        targets.update((name, each) for each in lineage.names(target))
        carried.update((name, *each) for each in _carried(lineage, source, target))
    return _Ways(frozenset(carried), frozenset(sources), frozenset(targets))


def _carried(lineage: Lineage, source: ApiVersion, target: ApiVersion) -> Iterator[tuple[str, str]]:
    older, newer = min(source, target), max(source, target)
    handling = Handling(lineage, source, target)
    for each in meetings(lineage, older, newer):
        meeting = each if source == older else Meeting(each.newer, each.older, each.bond)
        if meeting.older is None or meeting.newer is None or meeting.bond == "name":
            continue
        if handling.of(meeting) not in _KEPT_APART:
            yield meeting.older.property, meeting.newer.property


def _rule_changes(before: Project, now: Project) -> Iterator[ReleaseChange]:
    """Rules that say something else than they did; what they carry is found above."""
    ours, theirs = (_rules(each.evolution.all_changes) for each in (before, now))
    for key in sorted(ours.keys() & theirs.keys()):
        if ours[key] != theirs[key]:
            version, name, rule, property_name = key
            place = (
                f"{name}.{property_name} in {version}" if property_name else f"{name} in {version}"
            )
            text = f"its rule `{rule}` says something else; look at what becomes of values"
            yield judged(ChangeCode.RULE_CHANGED, place, text)


def _rules(changes: tuple[TypeChanges, ...]) -> dict[tuple[str, str, str, str], Any]:
    found: dict[tuple[str, str, str, str], Any] = {}
    for each in changes:
        for rule in BY_PROPERTY:
            said = getattr(each, rule)
            if isinstance(said, Mapping):
                for name, value in said.items():
                    found[str(each.version), each.type, rule, name] = msgspec.to_builtins(value)
    return found
