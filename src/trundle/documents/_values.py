"""From bytes to plain values: JSON and YAML, with duplicate keys and broken text as errors.

JSON has two readers. The exact one (`_json.py`) keeps the spelling of each scalar and the bytes of each document, and
takes about ten times as long as the standard library. Schemas need neither and may have many megabytes, so they
are read here by the standard library, with hooks for what it would accept in silence. Where a key stands twice, the exact
reader finds the line.
"""

import json
import math
from typing import Any

from trundle.documents._errors import DocumentCode, UnreadableError, duplicate
from trundle.documents._json import parse_json
from trundle.documents._tree import decode, shorten
from trundle.documents._values_yaml import DEFINITIONS, load_yaml

LARGEST_FILE = 64 * 1024 * 1024


class _DuplicateKeyError(ValueError):
    """A JSON object with two members of one name."""

    def __init__(self, key: str) -> None:
        self.key = key
        super().__init__(key)


def parse_values(data: bytes, *, file: str, yaml: bool) -> list[Any]:
    """The documents of a file as plain values: one for JSON, any number for YAML.

    This is how schemas are read: numbers are Python's, `<<` merges, and what counts is the value, not its spelling.

    Args:
        data: the content of the file, in UTF-8 (a byte order mark is allowed).
        file: its name, for errors.
        yaml: whether it is YAML.

    Raises:
        UnreadableError: the text is too large, undecodable, truncated, malformed, nested too deeply, or has
            duplicate keys.
    """
    if len(data) > LARGEST_FILE:
        limit, size = (each // (1024 * 1024) for each in (LARGEST_FILE, len(data)))
        expected, code = f"a file of at most {limit} MiB", DocumentCode.TOO_LARGE
        raise UnreadableError(file, 1, expected, f"{size} MiB", "split the file", code)
    text = decode(data, file)
    return load_yaml(text, file) if yaml else [_parse_json(text, file)]


def _parse_json(text: str, file: str) -> Any:
    try:
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_float=_finite,
        )
    except json.JSONDecodeError as error:
        found = f"a mistake in column {error.colno}: {error.msg}"
        advice = "correct it; is the file complete?"
        raise UnreadableError(file, error.lineno, "valid JSON", found, advice) from None
    except _DuplicateKeyError as error:
        raise _duplicate(text, file, error.key) from None
    except RecursionError:
        expected, code = "fewer levels of lists and objects", DocumentCode.TOO_DEEP
        raise UnreadableError(file, 1, expected, "deeper nesting", DEFINITIONS, code) from None
    except ValueError as error:
        raise UnreadableError(file, 1, "valid JSON", f"a mistake: {error}", "correct it") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise _DuplicateKeyError(key)
        seen.add(key)
    return value


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is beyond the range of numbers")
    return number


def _duplicate(text: str, file: str, key: str) -> UnreadableError:
    """The error for a text in which an object has a key twice, with the line where the exact reader finds one."""
    try:
        parse_json(text, file, deepest=len(text))
    except UnreadableError as error:
        if error.findings[0].code is DocumentCode.DUPLICATE_KEY:
            return error
    return duplicate(file, 1, shorten(key))
