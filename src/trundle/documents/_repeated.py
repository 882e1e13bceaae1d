"""Finds members that stand in a JSON object several times: a reader that takes the last one would lose the others."""

import itertools
import json
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

_plain, _written = msgspec.json.Decoder().decode, msgspec.json.Encoder().encode

_MOST = 100
"""How many places are named."""


def has_repeated_member(data: bytes) -> bool:
    """Whether an object in a JSON text has a member several times; not so where the text is no JSON."""
    return bool(repeated_places(data))


def repeated_places(data: bytes, anew: bytes | None = None) -> list[str]:
    """The places of members that a JSON text has several times, e.g. `spec.title`, at most a hundred; none where it is no JSON.

    Args:
        data: the text.
        anew: its values, written anew, where they were read already; they may lack members that it has, and have no others.
    """
    return _looked_for(data) if _may_repeat(data, anew) else []


def _may_repeat(data: bytes, anew: bytes | None) -> bool:
    """Whether all names of a text are to be looked at.

    Values have the last member of each name. Written anew, they have each of their colons: one behind each name, and those in strings.
    So a text has more of them just where it has members that its values lack. Only a colon that is escaped would stand for one in
    secret; then all names are looked at, as where a number is too large for a value, or where values that were read already lack something.
    """
    try:
        anew = _written(_plain(data)) if anew is None else anew
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return True
    if anew == data:
        return False
    return (b"\\" in data and b"\\u003" in data) or data.count(b":") != anew.count(b":")


def repeated_names(pairs: Sequence[tuple[str, Any]]) -> list[str]:
    """The names that several members of a JSON object have."""
    seen: set[str] = set()
    found: dict[str, None] = {}
    for name, _ in pairs:
        if name in seen:
            found[name] = None
        seen.add(name)
    return list(found)


class _Object(dict[str, Any]):
    """A JSON object, and which of its members stand in it again."""

    __slots__ = ("repeated",)

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.repeated = repeated_names(pairs) if len(self) < len(pairs) else []


def _looked_for(data: bytes) -> list[str]:
    """Like `repeated_places`, by a look at all names. Numbers stay text: they may have more digits than Python reads."""
    try:
        found = json.loads(data, object_pairs_hook=_Object, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return []  # What is wrong with it is found when it is read.
    return list(itertools.islice(_places(found), _MOST))


def _places(value: Any) -> Iterator[str]:
    """The places in a value, which may be nested deeply."""
    waiting = [(value, "")]
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
