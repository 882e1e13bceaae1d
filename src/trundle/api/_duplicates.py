"""Members that stand in a JSON object several times, of which the last counts."""

import itertools
import json
from collections.abc import Iterator
from typing import Any

from trundle.documents import has_repeated_member

_MOST = 100
"""How many are named."""


class _Object(dict[str, Any]):
    """A JSON object, and which of its members stand in it again."""

    __slots__ = ("repeated",)

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.repeated: list[str] = []
        if len(self) < len(pairs):
            seen: set[str] = set()
            for name, _ in pairs:
                if name in seen and name not in self.repeated:
                    self.repeated.append(name)
                seen.add(name)


def duplicate_fields(body: bytes) -> list[str]:
    """The places of members that a JSON text has several times, e.g. `spec.title`; none where it is no JSON.

    Args:
        body: the text.
    """
    try:
        if not has_repeated_member(body):
            return []
        found = json.loads(body, object_pairs_hook=_Object)
    except (ValueError, RecursionError):
        return []
    return list(itertools.islice(_places(found, ""), _MOST))


def _places(value: Any, place: str) -> Iterator[str]:
    """The places below a value, which may be nested deeply."""
    waiting = [(value, place)]
    while waiting:
        value, place = waiting.pop()
        inner: list[tuple[Any, str]] = []
        if isinstance(value, _Object):
            prefix = f"{place}." if place else ""
            yield from (f"{prefix}{name}" for name in value.repeated)
            inner = [(each, f"{prefix}{name}") for name, each in value.items()]
        elif isinstance(value, list):
            inner = [(each, f"{place}[{index}]") for index, each in enumerate(value)]
        waiting += reversed([each for each in inner if isinstance(each[0], dict | list)])
