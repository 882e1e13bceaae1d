"""Records and paths of a trace: where each value of a converted document comes from."""

import json
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Any, TypeAlias

import msgspec

from trundle.evolution import Lineage, Shape

Parts: TypeAlias = tuple[str | int, ...]
"""The names and indexes that lead to a value in a document."""

BAG = "$propertyBag"
WRITTEN_WITH = "$writtenWith"
MISSING: Any = msgspec.UNSET


class Cause(StrEnum):
    """What gave a value of the output."""

    COPIED = "copied"
    RENAMED = "renamed"
    MOVED = "moved"
    MAPPED = "mapped value"
    CONVERTED = "converted"
    HOOK = "hook"
    DEFAULT = "default"
    BAG = "property bag"
    STORED = "stored before"
    SET = "set"
    UNEXPLAINED = "not in a plan"


class Origin(msgspec.Struct, frozen=True):
    """Where one value of an output comes from.

    Attributes:
        path: the value's place in the output.
        sources: the places in the input that it is made of.
        cause: what gave it.
        how: the steps in words, in their order.
        whole: whether the value is the source's as it is, so that parts of it are at the same places within.
    """

    path: Parts
    sources: tuple[Parts, ...]
    cause: Cause
    how: tuple[str, ...] = ()
    whole: bool = True


class Leg(msgspec.Struct, frozen=True):
    """One conversion between two shapes, and the documents before and after it.

    Attributes:
        lineage: the resource's root.
        source: the shape of the document before.
        target: the shape of the document after.
        before: the document, as plain values.
        after: what it became.
        repeat: converts a document like `before` in the same way; `MISSING` where that fails.
        base: what a store held before, in the target's shape; None where nothing is written over.
    """

    lineage: Lineage
    source: Shape
    target: Shape
    before: Any
    after: Any
    repeat: Callable[[Any], Any]
    base: Any = None


def value_at(document: Any, path: Parts) -> Any:
    """The value at a path; `MISSING` where there is none."""
    for part in path:
        if isinstance(part, int):
            if not isinstance(document, list) or part >= len(document):
                return MISSING
        elif not isinstance(document, dict) or part not in document:
            return MISSING
        document = document[part]
    return document


def same(one: Any, other: Any) -> bool:
    """Whether two plain values are the same JSON; 1, 1.0 and true differ."""
    if one is MISSING or other is MISSING:
        return one is other
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def leaves(value: Any, path: Parts = ()) -> Iterator[tuple[Parts, Any]]:
    """All scalars and empty containers of a document, with their paths."""
    inner: Iterator[tuple[str | int, Any]]
    if isinstance(value, dict) and value:
        inner = iter(value.items())
    elif isinstance(value, list) and value:
        inner = enumerate(value)
    else:
        yield path, value
        return
    for part, each in inner:
        yield from leaves(each, (*path, part))


def prefixes(path: Parts) -> Iterator[Parts]:
    """The paths of all that a path leads through, the document first and its own value last."""
    return (path[:length] for length in range(len(path) + 1))


def json_path(path: Parts) -> str:
    """A path as JSONPath (RFC 9535)."""
    return "$" + "".join(map(_part, path))


def _part(part: str | int) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    plain = part.isidentifier() and part.isascii()
    return f".{part}" if plain else f"[{json.dumps(part, ensure_ascii=False)}]"
