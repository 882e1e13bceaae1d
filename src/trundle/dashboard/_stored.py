"""What a store keeps of an object beside what its hub shows: the entries of its property bag."""

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import msgspec

from trundle.api import ServedKind
from trundle.dashboard._plain import shown_text, text_of, values_of
from trundle.evolution import Shape
from trundle.report import Leg, json_path, trace
from trundle.runtime import BAG, AnyScheme
from trundle.store import StoredObject
from trundle.version import ApiVersion, VersionError

Parts: TypeAlias = tuple[str | int, ...]


class BagValue(NamedTuple):
    """An entry of a property bag.

    Attributes:
        path: the property that it is for, from the root of the stored object.
        version: the version in whose shape the value is.
        value: the value as JSON; None where the entry says that there was none.
        is_used: whether that version shows it; else it is stale, or has no place there. None where the version cannot be shown.
    """

    path: str
    version: str
    value: str | None
    is_used: bool | None


def bag_values(
    scheme: AnyScheme, kind: ServedKind, found: StoredObject
) -> tuple[BagValue, ...] | None:
    """The entries of all property bags in an object; None where what is stored is no JSON.

    Args:
        scheme: converts it.
        kind: its resource type.
        found: the object.
    """
    try:
        document = values_of(found.data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    entries = [*_entries(document)]
    shown = {
        version: _sources(scheme, kind, found, document, version)
        for version in dict.fromkeys(version for _, _, version, _ in entries)
    }
    return tuple(
        BagValue(
            json_path((*parts, name)).removeprefix("$").removeprefix("."),
            version,
            _value(entry),
            _is_used(shown[version], json_path((*parts, BAG, name, version, "value"))),
        )
        for parts, name, version, entry in entries
    )


def _entries(value: Any, parts: Parts = ()) -> Iterator[tuple[Parts, str, str, Any]]:
    """The object that each entry is in, its property, its version, and the entry."""
    if isinstance(value, list):
        for number, each in enumerate(value):
            yield from _entries(each, (*parts, number))
    if not isinstance(value, dict):
        return
    for key, each in value.items():
        if key != BAG:
            yield from _entries(each, (*parts, key))
    bag = value.get(BAG)
    for name, versions in bag.items() if isinstance(bag, dict) else ():
        for version, entry in versions.items() if isinstance(versions, dict) else ():
            yield parts, name, version, entry


def _value(entry: Any) -> str | None:
    if not isinstance(entry, dict) or "value" not in entry:
        return None
    return shown_text(entry["value"])


def _is_used(sources: frozenset[str] | None, where: str) -> bool | None:
    if sources is None:
        return None
    return any(each.startswith(where) for each in sources)


def _sources(
    scheme: AnyScheme, kind: ServedKind, found: StoredObject, document: Any, version: str
) -> frozenset[str] | None:
    """The places in the stored object that a version shows something of; None where it cannot be shown."""
    try:
        api, storage = Shape("api", ApiVersion.parse(version)), _storage(found.storage_version)
    except VersionError:  # What is stored is damaged.
        return None
    hub = Shape("storage", kind.hub)
    legs, now = [], document
    for source, target, to in ((storage, hub, None), (hub, api, version)):
        if source == target:
            continue

        def repeat(value: Any, to: str | None = to) -> Any:
            outcome = scheme.attempt(text_of(value), to, resource=kind.resource)
            return msgspec.UNSET if outcome.error else values_of(outcome.result)

        after = repeat(now)
        if after is msgspec.UNSET:
            return None
        legs.append(Leg(kind.lineage, source, target, now, after, repeat))
        now = after
    traced = trace(kind.resource, legs)
    return frozenset(source for each in traced.values for source in each.sources)


def _storage(version: str) -> Shape:
    return Shape("storage", ApiVersion.parse(version))
