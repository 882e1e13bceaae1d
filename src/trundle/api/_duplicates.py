"""Members that stand in a JSON object several times, of which the last counts."""

import itertools
import json
from collections.abc import Iterator
from typing import Any

import msgspec

_MOST = 100
"""How many are named."""

_END = b'":'
_OTHERWISE = (b" :", b"\t:", b"\n:", b"\r:", b"\\u0022", b"\\u003a", b"\\u003A")
"""What may be an end of a name with space between, or become one when it is written anew."""

_plain = msgspec.json.Decoder().decode


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
        if not _any_repeated(body):
            return []
        found = json.loads(body, object_pairs_hook=_Object)
    except (ValueError, RecursionError):
        return []
    return list(itertools.islice(_places(found, ""), _MOST))


def _any_repeated(body: bytes) -> bool:
    """Whether any object of a JSON text has a member several times; most have none, and need no places."""
    return not _is_written_once(body) and _counts_more(body)


def _is_written_once(body: bytes) -> bool:
    """Whether a JSON text surely has no member several times: it has as many ends of names as when its values are written anew.

    Texts in which ends of names may look otherwise are left to a closer look.
    """
    if any(each in body for each in _OTHERWISE):
        return False
    try:
        return body.count(_END) == msgspec.json.encode(_plain(body)).count(_END)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False


def _counts_more(body: bytes) -> bool:
    """Whether any object of a JSON text has more members than names."""
    excess = 0

    def made(pairs: list[tuple[str, Any]]) -> None:
        nonlocal excess
        if len(pairs) > 1:
            excess += len(pairs) - len({name for name, _ in pairs})

    json.loads(body, object_pairs_hook=made)
    return excess > 0


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
