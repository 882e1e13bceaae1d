"""`managedFields` of an object on its way through admission: who owns what of it.

The API server finds owners before it asks for admission. Where a client dropped the carrier, it has seen an object without what the carrier has, and
has taken that from its owners.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from trundle.api.apply import FieldSet, Path, UnreadableFieldsError, decode, encode

_ABSENT = object()


def without_path(entries: Iterable[Any], path: Path) -> list[Any]:
    """The entries of `managedFields` without a path; entries that have nothing else go.

    Args:
        entries: the entries.
        path: the path; what only leads to it goes as well.
    """
    found = []
    for each in entries:
        fields = fields_of(each)
        if path not in fields:
            found.append(each)
            continue
        rest = fields - {path}
        for length in range(len(path) - 1, 0, -1):
            if any(other[:length] == path[:length] and len(other) > length for other in rest):
                break
            rest -= {path[:length]}
        if rest:
            found.append({**each, "fieldsV1": encode(rest)})
    return found


def with_owners(
    before: Iterable[Mapping[str, Any]],
    after: Iterable[Mapping[str, Any]],
    written_at: str,
    shown: Callable[[str], tuple[Any, Any]],
) -> list[Mapping[str, Any]]:
    """The entries of `managedFields` after a write, with what a dropped carrier has taken from owners at other versions.

    Args:
        before: the entries before the write.
        after: those that the API server has found.
        written_at: the `apiVersion` of the write.
        shown: the object at a version, before and after the write.
    """
    found = list(after)
    places = {identity(each): at for at, each in enumerate(found)}
    for each in before:
        version = each.get("apiVersion")
        if version == written_at:
            continue
        at = places.get(identity(each))
        if at is not None and found[at].get("apiVersion") != version:
            continue  # An applier that writes at another version now: an entry names one version only.
        now = frozenset[Path]() if at is None else fields_of(found[at])
        had = fields_of(each)
        kept = _unchanged(had, had - now, *shown(str(version))) if had - now else frozenset()
        if kept and at is None:
            found.append({**each, "fieldsV1": encode(kept)})
        elif kept and at is not None:
            found[at] = {**found[at], "fieldsV1": encode(now | kept)}
    return found


def fields_of(entry: Mapping[str, Any]) -> FieldSet:
    """The fields of an entry of `managedFields`; none where they cannot be read."""
    try:
        return decode(entry.get("fieldsV1") or {})
    except UnreadableFieldsError:
        return frozenset()


def identity(entry: Mapping[str, Any]) -> tuple[Any, ...]:
    """What an API server knows an entry by; an applier has one entry, whatever its version."""
    version = None if entry.get("operation") == "Apply" else entry.get("apiVersion")
    return entry.get("manager"), entry.get("operation"), entry.get("subresource"), version


def _unchanged(had: FieldSet, lost: FieldSet, before: Any, after: Any) -> FieldSet:
    """Which of some fields have the same value before and after a write; a field that has others inside only has to be there."""
    around = {path[:length] for path in had for length in range(len(path))}
    return frozenset(
        path
        for path in lost
        if (old := _value(before, path)) is not _ABSENT
        and (new := _value(after, path)) is not _ABSENT
        and (path in around or old == new)
    )


def _value(document: Any, path: Path) -> Any:
    """What is at a path of a document."""
    for element in path:
        kind, _, rest = element.partition(":")
        if kind == "f" and isinstance(document, dict):
            document = document.get(rest, _ABSENT)
        elif kind in {"k", "v"} and isinstance(document, list):
            wanted = json.loads(rest)
            document = next((x for x in document if is_element(x, wanted, kind)), _ABSENT)
        else:
            return _ABSENT
    return document


def is_element(element: Any, wanted: Any, kind: str) -> bool:
    """Whether an element of a list is the one that a path element of a kind means: `v` by its value, `k` by its keys."""
    if kind == "v":
        return bool(element == wanted)
    return isinstance(element, dict) and all(
        element.get(key) == value for key, value in wanted.items()
    )
