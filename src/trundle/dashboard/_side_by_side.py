"""Documents of one object at several versions, beside each other: a row for each value."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from trundle.dashboard._nodes import Path
from trundle.dashboard._plain import shown_text
from trundle.report import json_path

_SHOWN_METADATA = ("labels", "annotations", "finalizers", "ownerReferences")
_NAMES = ("apiVersion", "kind")
_LAST_APPLIED = "metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"
"""What `kubectl apply` keeps for itself: the whole document once more, which `kubectl describe` does not show, either."""


Counterpart: TypeAlias = Callable[[int, int, Path], Path | None]
"""Where a value stands in another document, by the numbers of both documents and its place; None where it has no place there."""


class Row(NamedTuple):
    """A value at several versions.

    Attributes:
        path: where it is, in the first document that has it.
        values: what each document has there, as JSON; None where it has nothing.
        places: where each document has it; None where it has nothing.
    """

    path: str
    values: tuple[str | None, ...]
    places: tuple[str | None, ...]

    @property
    def differs(self) -> bool:
        """Whether the documents have different values there."""
        return len(set(self.values)) > 1

    def renamed(self, number: int) -> str:
        """Where a document has it, if that is another place than in the first one; else empty."""
        place = self.places[number]
        return "" if place is None or place == self.path else place


def side_by_side(
    documents: Sequence[Mapping[str, Any] | None], counterpart: Counterpart | None = None
) -> tuple[Row, ...]:
    """The values of documents, in the order in which the first document with each has them.

    Left out is what the server says about an object, such as its `uid`, and what `kubectl apply` keeps for itself.

    Args:
        documents: JSON objects as values; None for one that is not there.
        counterpart: says what is the same value in two documents; by default what stands at the same place.
    """
    rows: dict[tuple[int, Path], dict[int, tuple[Path, str]]] = {}
    for number, each in enumerate(documents):
        for path, value in _leaves(_content(each)) if each is not None else ():
            if path == _LAST_APPLIED:
                continue
            key = _key(number, path, counterpart)
            rows.setdefault(key, {})[number] = path, value
    return tuple(_row(found, len(documents)) for found in _grouped(rows))


def _key(number: int, path: Path, counterpart: Counterpart | None) -> tuple[int, Path]:
    """The first document that has a place for a value, and this place."""
    if counterpart is None:
        return 0, path
    for other in range(number):
        found = counterpart(number, other, path)
        if found is not None:
            return other, found
    return number, path


def _row(found: Mapping[int, tuple[Path, str]], number: int) -> Row:
    places = {
        at: json_path(path).removeprefix("$").removeprefix(".") for at, (path, _) in found.items()
    }
    values = tuple(found[at][1] if at in found else None for at in range(number))
    return Row(next(iter(places.values())), values, tuple(places.get(at) for at in range(number)))


def _grouped(
    rows: Mapping[tuple[int, Path], Mapping[int, tuple[Path, str]]],
) -> Iterable[Mapping[int, tuple[Path, str]]]:
    """Rows by the first member on their places, so that what only some documents have stands beside its neighbours."""
    first: dict[str | int, list[Mapping[int, tuple[Path, str]]]] = {}
    for (_, path), found in rows.items():
        first.setdefault(path[0], []).append(found)
    return (each for group in first.values() for each in group)


def _content(document: Mapping[str, Any]) -> dict[str, Any]:
    metadata = document.get("metadata")
    kept = metadata if isinstance(metadata, Mapping) else {}
    shown = {key: kept[key] for key in _SHOWN_METADATA if kept.get(key)}
    rest = {key: value for key, value in document.items() if key not in {*_NAMES, "metadata"}}
    return {**({"metadata": shown} if shown else {}), **rest}


def _leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    if isinstance(value, Mapping) and value:
        for key, each in value.items():
            yield from _leaves(each, (*path, key))
    elif isinstance(value, list) and value:
        for number, each in enumerate(value):
            yield from _leaves(each, (*path, number))
    elif path:
        yield path, shown_text(value)
