"""Documents of one object at several versions, beside each other: a row for each value."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from trundle.dashboard._plain import text_of
from trundle.report import json_path

_SHOWN_METADATA = ("labels", "annotations", "finalizers", "ownerReferences")
_NAMES = ("apiVersion", "kind")


class Row(NamedTuple):
    """A value at several versions.

    Attributes:
        path: where it is.
        values: what each document has there, as JSON; None where it has nothing.
    """

    path: str
    values: tuple[str | None, ...]

    @property
    def differs(self) -> bool:
        """Whether the documents have different values there."""
        return len(set(self.values)) > 1


def side_by_side(documents: Sequence[Mapping[str, Any] | None]) -> tuple[Row, ...]:
    """The values of documents, in the order in which the first document with each has them.

    Left out is what the server says about an object, such as its `uid`.

    Args:
        documents: JSON objects as values; None for one that is not there.
    """
    leaves = [dict(_leaves(_content(each))) if each is not None else {} for each in documents]
    order: dict[str, None] = {}
    for each in leaves:
        order |= dict.fromkeys(each)
    return tuple(Row(path, tuple(each.get(path) for each in leaves)) for path in _grouped(order))


def _grouped(paths: Iterable[str]) -> list[str]:
    """Paths by the first member on them, so that what only some documents have stands beside its neighbours."""
    first: dict[str, list[str]] = {}
    for each in paths:
        head = each.partition(".")[0].partition("[")[0]
        first.setdefault(head, []).append(each)
    return [each for group in first.values() for each in group]


def _content(document: Mapping[str, Any]) -> dict[str, Any]:
    metadata = document.get("metadata")
    kept = metadata if isinstance(metadata, Mapping) else {}
    shown = {key: kept[key] for key in _SHOWN_METADATA if kept.get(key)}
    rest = {key: value for key, value in document.items() if key not in {*_NAMES, "metadata"}}
    return {**({"metadata": shown} if shown else {}), **rest}


def _leaves(value: Any, parts: tuple[str | int, ...] = ()) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        for key, each in value.items():
            yield from _leaves(each, (*parts, key))
    elif isinstance(value, list) and value:
        for number, each in enumerate(value):
            yield from _leaves(each, (*parts, number))
    elif parts:
        path = json_path(parts).removeprefix("$").removeprefix(".")
        yield path, text_of(value).decode()
