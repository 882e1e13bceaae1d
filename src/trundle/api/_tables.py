"""Tables of objects, as kubectl prints them.

Source: `meta.k8s.io/v1` `Table`, and the additional printer columns of custom resources.
"""

import datetime as dt
import functools
import re
from collections.abc import Sequence
from typing import Any

import jsonpath
import msgspec

from trundle.api._ages import age
from trundle.api._event_tables import event_cells, event_columns
from trundle.api._event_words import is_event, words_of_core
from trundle.api._kinds import ServedKind, ServedVersion
from trundle.schema import PrinterColumn

_NAME = (
    "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client "
    "to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and "
    "configuration definition. Cannot be updated. More info: "
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names"
)


_UNKNOWN = "<unknown>"
_ESCAPED = str.maketrans({each: f"\\u{ord(each):04x}" for each in "<>&"})
"""What stands for what HTML would read, in JSON as Go writes it."""
_STEP = re.compile(r"\[[^\]]*\]|\.(?P<name>(?:[^.\[\\]|\\.)+)")
"""A step in brackets, or a name after a dot."""


def column_definitions(kind: ServedKind, served: ServedVersion) -> list[dict[str, Any]]:
    """The columns of the tables of a resource type at a version."""
    name = {
        "name": "Name",
        "type": "string",
        "format": "name",
        "description": _NAME,
        "priority": 0,
    }
    if is_event(kind):
        return event_columns(name)
    more = (
        {
            "name": each.name,
            "type": each.type,
            "format": each.format,
            "description": each.description
            or f"Custom resource definition column (in JSONPath format): {each.path}",
            "priority": each.priority,
        }
        for each in kind.columns_at(served)
    )
    return [name, *more]


def table(
    kind: ServedKind,
    served: ServedVersion,
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
        served: their version.
        metadata: the metadata of the list.
        objects: the objects as JSON.
        include: what of each object is beside its cells: `None`, `Metadata` or `Object`.
        now: the time, for ages.
        version: the API version of the table.
        head: whether it has the definitions of its columns; a watch has them once.
    """
    columns = kind.columns_at(served)
    return msgspec.json.encode(
        {
            "kind": "Table",
            "apiVersion": version,
            "metadata": metadata,
            "columnDefinitions": column_definitions(kind, served) if head else None,
            "rows": [_row(kind, columns, each, include, now, version) for each in objects],
        }
    )


def partial(document: bytes, version: str) -> dict[str, Any]:
    """The metadata of an object alone, as an object of an API version."""
    metadata = msgspec.json.decode(document).get("metadata", {})
    return {"kind": "PartialObjectMetadata", "apiVersion": version, "metadata": metadata}


def _row(
    kind: ServedKind,
    columns: Sequence[PrinterColumn],
    document: bytes,
    include: str,
    now: dt.datetime,
    version: str,
) -> dict[str, Any]:
    value = msgspec.json.decode(document)
    if is_event(kind):
        cells = event_cells(words_of_core(kind, value), now)
    else:
        name = value["metadata"].get("name", "")
        cells = [name, *(_cell(each, value, now) for each in columns)]
    match include:
        case "None":
            return {"cells": cells, "object": None}
        case "Object":
            return {"cells": cells, "object": msgspec.Raw(document)}
        case _:
            return {"cells": cells, "object": partial(document, version)}


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
            return age(first, now) if first else _UNKNOWN
        case "string":
            return first if isinstance(first, str) else _json(first)
    return None


def _json(value: Any) -> str:
    """A value that is no text, as API servers print it."""
    text = msgspec.json.encode(value, order="sorted").decode()
    return text.translate(_ESCAPED)


@functools.lru_cache(maxsize=1024)
def _compiled(path: str) -> Any:
    try:
        return jsonpath.compile(f"${_STEP.sub(_step, path)}")
    except jsonpath.JSONPathError:
        return None


def _step(match: re.Match[str]) -> str:
    """A step of Kubernetes' JSONPath in that of the library, which has no backslash before a dot in a name."""
    name = match["name"]
    if name is None:
        return match[0].replace(r"\.", ".")
    if "\\" not in name:
        return match[0]
    plain = re.sub(r"\\(.)", r"\1", name)
    return f"['{plain}']" if "'" not in plain else match[0]
