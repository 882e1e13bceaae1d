"""Finds members that stand in a JSON object several times: a reader that takes the last one would lose the others."""

import json
from typing import Any

import msgspec

_plain, _written = msgspec.json.Decoder().decode, msgspec.json.Encoder().encode


def has_repeated_member(data: bytes) -> bool:
    """Whether an object in a JSON text has a member several times; not so where the text is no JSON.

    Values have the last member of each name. Written anew, they have each of their colons: one behind each name, and those in strings.
    So a text has more of them just where it has members that its values lack. Only a colon that is escaped would stand for one in
    secret; then all names are looked at, as where a number is too large for a value.
    """
    try:
        anew = _written(_plain(data))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return _names_repeat(data)
    if anew == data:
        return False
    if b"\\" in data and b"\\u003" in data:
        return _names_repeat(data)
    return data.count(b":") != anew.count(b":")


def _names_repeat(data: bytes) -> bool:
    found = False

    def look(pairs: list[tuple[str, Any]]) -> None:
        nonlocal found
        found = found or len(pairs) != len(dict(pairs))

    try:
        json.loads(data, object_pairs_hook=look)
    except (ValueError, RecursionError):
        return False  # What is wrong with it is found when it is read.
    return found
