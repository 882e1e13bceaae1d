"""Finds members that stand in a JSON object several times: a reader that takes the last one would lose the others."""

import json
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from trundle.documents import UnreadableError, parse_json
from trundle.errors import expectation

_END = b'":'
_SPACED = re.compile(rb'"\s+:')
_plain, _written = msgspec.json.Decoder().decode, msgspec.json.Encoder().encode


def has_repeated_member(data: bytes) -> bool:
    """Whether an object in a JSON text has a member several times; not so where the text is no JSON.

    A text has none that its values give when they are written anew, nor has one with as many ends of names as there are then. Where
    ends of names may look otherwise, all names are looked at.
    """
    try:
        anew = _written(_plain(data))
        if anew == data:
            return False
        if _has_usual_ends(data):
            return data.count(_END) != anew.count(_END)
        found = False

        def look(pairs: list[tuple[str, Any]]) -> None:
            nonlocal found
            found = found or len(pairs) != len(dict(pairs))

        json.loads(data, object_pairs_hook=look)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return False  # What is wrong with it is found when it is converted.
    return found


def _has_usual_ends(data: bytes) -> bool:
    """Whether each quote with a colon behind it is written as it would be written anew."""
    if b"\\u00" in data and (b"\\u0022" in data or b"\\u003a" in data or b"\\u003A" in data):
        return False
    # Looking for bytes is much faster than for a pattern.
    if b" :" in data or b"\t:" in data or b"\r:" in data or b"\n:" in data:
        return not _SPACED.search(data)
    return True


def repeated_members(data: bytes) -> Sequence[str]:
    """What is wrong with a text that has a member several times."""
    try:
        parse_json(data.decode(), "")
    except UnreadableError as error:
        return [expectation(error.expected, error.found, error.advice)]
    return [expectation("each key once in an object", "one a second time")]
