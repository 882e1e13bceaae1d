"""What a custom resource definition calls its resource type, and which columns kubectl prints of it."""

import re
from collections.abc import Callable, Iterator

from trundle.schema._kind_names import (
    COLUMN_TYPES,
    LIST_KIND_PATTERN,
    NAME_PATTERN,
    KindNames,
    PrinterColumn,
)
from trundle.schema.readers._facets import describe
from trundle.schema.readers._library import Node


def names_of(spec: Node, version: Node) -> KindNames:
    """What clients call the resource type at a version.

    Raises:
        SchemaError: a cluster would refuse a name or a column.
    """
    names = spec.child("names")
    return KindNames(
        list_kind=_list_kind(names),
        plural=_label(names, "plural"),
        singular=_label(names, "singular"),
        short_names=_labels(names, "shortNames"),
        categories=_labels(names, "categories"),
        columns=_columns(spec, version),
    )


def _list_kind(names: Node) -> str:
    """What lists have as their kind; empty where the definition leaves it to the API server."""
    value = names.value.get("listKind")
    if value in (None, ""):
        return ""
    expected = "a name of letters, digits and - as listKind, other than the kind"
    fits = isinstance(value, str) and re.fullmatch(LIST_KIND_PATTERN, value)
    if not fits or value == names.value.get("kind"):
        found = repr(value) if isinstance(value, str) else describe(value)
        raise names.child("listKind").unexpected(expected, found)
    return str(value)


def _label(node: Node, key: str) -> str:
    """The name under a key; empty where none is."""
    value = node.value.get(key)
    return "" if value in (None, "") else _fitting(node.child(key), key)


def _labels(node: Node, key: str) -> tuple[str, ...]:
    """The names of the list under a key."""
    return tuple(_fitting(each, key) for each in _items(node, key))


def _fitting(node: Node, key: str) -> str:
    value = node.value
    if not isinstance(value, str) or not re.fullmatch(NAME_PATTERN, value):
        found = repr(value) if isinstance(value, str) else describe(value)
        raise node.unexpected(f"a name in lower-case letters as {key}", found)
    return value


def _items(node: Node, key: str) -> Iterator[Node]:
    value = node.value.get(key)
    if value is None:
        return
    if not isinstance(value, list):
        raise node.child(key).unexpected(f"a list as {key}", describe(value))
    yield from (node.child(key, str(i)) for i in range(len(value)))


def _columns(spec: Node, version: Node) -> tuple[PrinterColumn, ...]:
    """The columns of a version; `v1beta1` may say them of all versions at once."""
    for node in (version, spec):
        if found := tuple(_column(each) for each in _items(node, "additionalPrinterColumns")):
            return found
    return ()


def _column(node: Node) -> PrinterColumn:
    if not isinstance(node.value, dict):
        raise node.unexpected("a column (an object)", describe(node.value))
    path = "jsonPath" if "jsonPath" in node.value else "JSONPath"  # As v1beta1 spells it.
    type_ = _text(
        node, "type", lambda each: each in COLUMN_TYPES, f"one of {', '.join(COLUMN_TYPES)}"
    )
    priority = node.value.get("priority") or 0
    if not isinstance(priority, int) or isinstance(priority, bool):
        found = describe(priority)
        raise node.child("priority").unexpected("a whole number as priority", found)
    return PrinterColumn(
        _text(node, "name", bool, "a text"),
        _text(node, path, lambda each: each.startswith("."), "a path such as .status.phase"),
        type_,
        _text(node, "description", None, "a text"),
        priority,
        _text(node, "format", None, "a text"),
    )


def _text(node: Node, key: str, fits: Callable[[str], bool] | None, expected: str) -> str:
    """The text under a key; empty where nothing is required of it and none is there."""
    value = node.value.get(key)
    if fits is None and value is None:
        return ""
    if not isinstance(value, str) or (fits is not None and not fits(value)):
        found = repr(value) if isinstance(value, str) else describe(value)
        at = node.child(key) if key in node.value else node
        raise at.unexpected(f"{expected} as {key} of a column", found)
    return value
