"""The types of an object's metadata, as Kubernetes has them: what API servers cannot read is refused before anything else is looked at.

Source: `ObjectMeta`, `OwnerReference` and `ManagedFieldsEntry` of `meta.k8s.io/v1`.
"""

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Literal, TypeAlias

from trundle.api._status import Cause, type_cause

_Scalar: TypeAlias = Literal["string", "boolean", "integer", "date-time", "anything"]
_Shape: TypeAlias = "_Scalar | Mapping[str, _Shape] | list[_Shape]"

_EACH = "*"
"""Stands for every name, in the shape of a map."""
_TEXTS: _Shape = {_EACH: "string"}
_OWNER: Mapping[str, _Shape] = {
    **dict.fromkeys(("apiVersion", "kind", "name", "uid"), "string"),
    **dict.fromkeys(("controller", "blockOwnerDeletion"), "boolean"),
}
_ENTRY: Mapping[str, _Shape] = {
    **dict.fromkeys(("manager", "operation", "apiVersion", "fieldsType", "subresource"), "string"),
    "time": "date-time",
    "fieldsV1": "anything",
}
_MEMBERS: Mapping[str, _Shape] = {
    **dict.fromkeys(
        ("name", "generateName", "namespace", "uid", "resourceVersion", "selfLink"), "string"
    ),
    **dict.fromkeys(("creationTimestamp", "deletionTimestamp"), "date-time"),
    **dict.fromkeys(("generation", "deletionGracePeriodSeconds"), "integer"),
    "labels": _TEXTS,
    "annotations": _TEXTS,
    "finalizers": ["string"],
    "ownerReferences": [_OWNER],
    "managedFields": [_ENTRY],
}
METADATA = frozenset(_MEMBERS)
"""The members of an object's metadata."""

_EMPTY: Mapping[str, Any] = {"finalizers": "", "ownerReferences": {}, "managedFields": {}}
"""What null is as an element of a list."""
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([.,]\d+)?(Z|[-+]\d\d:\d\d)", re.ASCII)
_MOST = 2**63


def wrong_types(metadata: Any) -> list[Cause]:
    """What of an object's metadata is not of the type that it has to be; what is null counts as absent."""
    return list(_wrong(metadata, _MEMBERS, "metadata"))


def as_read(metadata: dict[str, Any]) -> dict[str, Any]:
    """Metadata whose types are right, as API servers read it: what is null within is empty."""
    found = dict(metadata)
    for name in ("labels", "annotations"):
        texts = found.get(name)
        if texts and None in texts.values():
            found[name] = {key: "" if each is None else each for key, each in texts.items()}
    for name, empty in _EMPTY.items():
        listed = found.get(name)
        if listed and None in listed:
            found[name] = [empty if each is None else each for each in listed]
    return found


def without_unknown(owners: Any) -> Any:
    """Owner references as API servers keep them: each once, with the members that they know."""
    if not isinstance(owners, list):
        return owners
    found: list[Any] = []
    for owner in owners:
        kept = owner
        if isinstance(owner, dict):
            kept = {key: x for key, x in owner.items() if key in _OWNER and x is not None}
        if kept not in found:
            found.append(kept)
    return found


def repeated_owners(owners: Any) -> list[str]:
    """The uids of owner references that stand again."""
    uids = [each.get("uid") for each in owners or () if isinstance(each, dict)]
    return sorted({str(each) for each in uids if uids.count(each) > 1})


def unknown_members(metadata: Mapping[str, Any]) -> list[str]:
    """The places in an object's metadata that Kubernetes does not know."""
    found = [f"metadata.{each}" for each in metadata if each not in _MEMBERS]
    owners = metadata.get("ownerReferences")
    for index, owner in enumerate(owners if isinstance(owners, list) else ()):
        if isinstance(owner, dict):
            place = f"metadata.ownerReferences[{index}]"
            found += [f"{place}.{each}" for each in owner if each not in _OWNER]
    return found


def _wrong(value: Any, shape: _Shape, place: str) -> Iterator[Cause]:
    if value is None or shape == "anything":
        return
    if isinstance(shape, str):
        if not _is(value, shape):
            yield type_cause(place, value, shape)
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield type_cause(place, value, "array")
            return
        for index, each in enumerate(value):
            yield from _wrong(each, shape[0], f"{place}[{index}]")
    elif isinstance(value, dict):
        for name, each in value.items():
            inner = shape.get(name, shape.get(_EACH, "anything"))
            if inner != "string" or not isinstance(each, str):  # Most are texts.
                yield from _wrong(each, inner, f"{place}.{name}")
    else:
        yield type_cause(place, value, "object")


def _is(value: Any, scalar: str) -> bool:
    match scalar:
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            is_number = isinstance(value, int | Decimal) and not isinstance(value, bool)
            return is_number and -_MOST <= value < _MOST and value == int(value)
        case "date-time":
            return isinstance(value, str) and _is_time(value)
    return isinstance(value, str)


def _is_time(text: str) -> bool:
    if not _TIME.fullmatch(text):
        return False
    try:
        dt.datetime.fromisoformat(text[:19])
    except ValueError:
        return False
    return True
