"""JSON as plain values: the standard library reads it, with hooks for what it would accept in silence.

The exact reader (`_json.py`) has the line, the spelling and the bytes of each value, and takes about ten times as long. Schemas may have many
megabytes, and channel files are read by every command; neither needs these.
"""

import json
import math
from collections.abc import Callable
from typing import Any

import msgspec

from trundle.documents._errors import DEFINITIONS, DocumentCode, UnreadableError, duplicate
from trundle.documents._json import parse_json
from trundle.documents._repeated import repeated_names
from trundle.documents._tree import decode, shorten

_LONGEST_INTEGER = 18
"""Integers with more digits are kept as they are spelled; none is meant to be counted with."""

_LONGEST_WITH_LINES = 1024 * 1024
"""How many characters a text may have in which the line of a mistake is looked for: the exact reader takes seconds for each million."""


class _DuplicateKeyError(Exception):
    """A JSON object with two members of one name."""

    def __init__(self, key: str) -> None:
        self.key = key
        super().__init__(key)


def json_value(text: str, file: str) -> Any:
    """A text that is one JSON value; numbers are Python's.

    Args:
        text: the text.
        file: the name of the file, for errors.

    Raises:
        UnreadableError: the text is not JSON, is nested too deeply, or has duplicate keys or a number that Python does not have.
    """
    try:
        return _read(text, file, _finite, int)
    except _DuplicateKeyError as error:
        raise _duplicate(text, file, error.key) from None
    except RecursionError:
        raise _too_deep(file, DEFINITIONS) from None


def parse_exact_values(data: bytes, *, file: str, largest: int) -> Any:
    """Bytes that are one JSON value, which can be written again with the same values, as `msgspec` writes it.

    Numbers that Python would spell otherwise are `msgspec.Raw`.

    Args:
        data: the bytes, in UTF-8 (no byte order mark is allowed).
        file: the name of the file, for errors.
        largest: how many bytes it may have.

    Raises:
        UnreadableError: it is too large, undecodable, not JSON, nested too deeply, or has duplicate keys or half a surrogate pair.
    """
    if len(data) > largest:
        expected, found = f"a file of at most {largest:,} bytes", f"{len(data):,} bytes"
        code = DocumentCode.TOO_LARGE
        raise UnreadableError(file, None, expected, found, "split the file", code)
    text = decode(data, file, "utf-8")
    try:
        value = _read(text, file, _raw, _integer)
        msgspec.json.encode(value)
    except _DuplicateKeyError as error:
        raise duplicate(file, None, shorten(error.key)) from None
    except RecursionError:
        raise _too_deep(file, "nest them less deeply") from None
    except UnicodeEncodeError:
        advice = "write the whole pair, or the character itself"
        found = "half a surrogate pair"
        raise UnreadableError(file, None, "Unicode text", found, advice) from None
    return value


def _read(
    text: str, file: str, read_float: Callable[[str], Any], read_integer: Callable[[str], Any]
) -> Any:
    try:
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_float=read_float,
            parse_int=read_integer,
        )
    except json.JSONDecodeError as error:
        found = f"a mistake in column {error.colno}: {error.msg}"
        advice = "correct it; is the file complete?"
        raise UnreadableError(file, error.lineno, "valid JSON", found, advice) from None
    except ValueError as error:
        found = f"a mistake: {error}"
        raise UnreadableError(file, None, "valid JSON", found, "correct it") from None


def _too_deep(file: str, advice: str) -> UnreadableError:
    expected, code = "fewer levels of lists and objects", DocumentCode.TOO_DEEP
    return UnreadableError(file, None, expected, "deeper nesting", advice, code)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    raise _DuplicateKeyError(repeated_names(pairs)[0])


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is beyond the range of numbers")
    return number


def _raw(text: str) -> msgspec.Raw:
    return msgspec.Raw(text.encode())


def _integer(text: str) -> int | msgspec.Raw:
    return _raw(text) if len(text) > _LONGEST_INTEGER or text == "-0" else int(text)


def _duplicate(text: str, file: str, key: str) -> UnreadableError:
    """The error for a text in which an object has a key twice, with the line where the exact reader finds one."""
    if len(text) <= _LONGEST_WITH_LINES:
        try:
            parse_json(text, file, deepest=len(text))
        except UnreadableError as error:
            if error.findings[0].code is DocumentCode.DUPLICATE_KEY:
                return error
    return duplicate(file, None, shorten(key))
