"""Tables of objects, as kubectl prints them.

Source: `meta.k8s.io/v1` `Table`, and the additional printer columns of custom resources.
"""

import datetime as dt
import functools
from collections.abc import Sequence
from typing import Any

import jsonpath
import msgspec

from trundle.api._ages import age
from trundle.api._event_tables import event_cells, event_columns
from trundle.api._kinds import ServedKind
from trundle.project import PrinterColumn

_NAME = (
    "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client "
    "to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and "
    "configuration definition. Cannot be updated. More info: "
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names"
)


def column_definitions(kind: ServedKind) -> list[dict[str, Any]]:
    """The columns of the tables of a resource type."""
    name = {
        "name": "Name",
        "type": "string",
        "format": "name",
        "description": _NAME,
        "priority": 0,
    }
    if _is_event(kind):
        return event_columns(name)
    more = (
        {
            "name": each.name,
            "type": each.type,
            "format": "",
            "description": each.description
            or f"Custom resource definition column (in JSONPath format): {each.path}",
            "priority": each.priority,
        }
        for each in kind.columns
    )
    return [name, *more]


def table(
    kind: ServedKind,
    metadata: Any,
    objects: Sequence[bytes],
    include: str,
    now: dt.datetime,
    version: str,
    *,
    head: bool = True,
) -> bytes:
    """A table as JSON.

    Args:
        kind: the resource type of the objects.
        metadata: the metadata of the list.
        objects: the objects as JSON.
        include: what of each object is beside its cells: `None`, `Metadata` or `Object`.
        now: the time, for ages.
        version: the API version of the table.
        head: whether it has the definitions of its columns; a watch has them once.
    """
    return msgspec.json.encode(
        {
            "kind": "Table",
            "apiVersion": version,
            "metadata": metadata,
            "columnDefinitions": column_definitions(kind) if head else None,
            "rows": [_row(kind, each, include, now, version) for each in objects],
        }
    )


def partial(document: bytes, version: str) -> dict[str, Any]:
    """The metadata of an object alone, as an object of an API version."""
    metadata = msgspec.json.decode(document).get("metadata", {})
    return {"kind": "PartialObjectMetadata", "apiVersion": version, "metadata": metadata}


def _row(
    kind: ServedKind, document: bytes, include: str, now: dt.datetime, version: str
) -> dict[str, Any]:
    value = msgspec.json.decode(document)
    if _is_event(kind):
        cells = event_cells(value, now)
    else:
        name = value["metadata"].get("name", "")
        cells = [name, *(_cell(each, value, now) for each in kind.columns)]
    match include:
        case "None":
            return {"cells": cells, "object": None}
        case "Object":
            return {"cells": cells, "object": msgspec.Raw(document)}
        case _:
            return {"cells": cells, "object": partial(document, version)}


def _is_event(kind: ServedKind) -> bool:
    return (kind.group, kind.kind) == ("", "Event")


def _cell(column: PrinterColumn, value: Any, now: dt.datetime) -> Any:
    """The value of a column; None where an object has none, or one of another type."""
    path = _compiled(column.path)
    found = [] if path is None else path.findall(value)
    if not found:
        return None
    first = found[0]
    match column.type:
        case "integer" if isinstance(first, int | float) and not isinstance(first, bool):
            return int(first)
        case "number" if isinstance(first, int | float) and not isinstance(first, bool):
            return first  # An integer may have more digits than a float.
        case "boolean" if isinstance(first, bool):
            return first
        case "date" if isinstance(first, str):
            return age(first, now)
        case "string":
            return first if isinstance(first, str) else msgspec.json.encode(first).decode()
    return None


@functools.lru_cache(maxsize=1024)
def _compiled(path: str) -> Any:
    try:
        return jsonpath.compile(f"${path}")
    except jsonpath.JSONPathError:
        return None
