"""From bytes to plain values: JSON and YAML, with duplicate keys and broken text as errors."""

import json
import math
from typing import Any

from trundle.documents._errors import DocumentCode, DocumentError, duplicate
from trundle.documents._tree import decode
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
        DocumentError: the text is too large, undecodable, truncated, malformed, nested too deeply, or has
            duplicate keys.
    """
    if len(data) > LARGEST_FILE:
        limit, size = (each // (1024 * 1024) for each in (LARGEST_FILE, len(data)))
        expected, code = f"a file of at most {limit} MiB", DocumentCode.TOO_LARGE
        raise DocumentError(file, 1, expected, f"{size} MiB", "split the file", code)
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
        raise DocumentError(file, error.lineno, "valid JSON", found, advice) from None
    except _DuplicateKeyError as error:
        raise duplicate(file, _line_of_duplicate(text, error.key), repr(error.key)) from None
    except RecursionError:
        expected, code = "fewer levels of lists and objects", DocumentCode.TOO_DEEP
        raise DocumentError(file, 1, expected, "deeper nesting", DEFINITIONS, code) from None
    except ValueError as error:
        raise DocumentError(file, 1, "valid JSON", f"a mistake: {error}", "correct it") from None


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


def _line_of_duplicate(text: str, key: str) -> int:
    """The line on which an object of the text names the key again; 1 where that cannot be determined."""
    quoted = json.dumps(key, ensure_ascii=False)
    stack: list[set[str]] = []
    position, line = 0, 1
    while position < len(text):
        character = text[position]
        if character == "\n":
            line += 1
        elif character in "{[":
            stack.append(set())
        elif character in "}]":
            stack.pop()
        elif character == '"':
            end = _end_of_string(text, position)
            found = text[position:end]
            if found == quoted and text[end:].lstrip()[:1] == ":":
                if key in stack[-1]:
                    return line
                stack[-1].add(key)
            position = end
            continue
        position += 1
    return 1


def _end_of_string(text: str, start: int) -> int:
    position = start + 1
    while position < len(text) and text[position] != '"':
        position += 2 if text[position] == "\\" else 1
    return position + 1
