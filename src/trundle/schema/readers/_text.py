"""From bytes to plain values: JSON and YAML, with duplicate keys and broken text as errors."""

import json
import math
from typing import Any

from trundle.schema._model import SchemaError
from trundle.schema.readers._yaml import YamlError, load_yaml

LARGEST_FILE = 64 * 1024 * 1024


class _DuplicateKeyError(ValueError):
    """A JSON object with two members of one name."""

    def __init__(self, key: str) -> None:
        self.key = key
        super().__init__(key)


def parse(data: bytes, *, file: str, yaml: bool) -> list[Any]:
    """The documents of a file as plain values: one for JSON, any number for YAML.

    Args:
        data: the content of the file, in UTF-8 (a byte order mark is allowed).
        file: its name, for errors.
        yaml: whether it is YAML.

    Raises:
        SchemaError: the text is too large, undecodable, truncated, malformed, nested too deeply, or has
            duplicate keys.
    """
    if len(data) > LARGEST_FILE:
        limit = LARGEST_FILE // (1024 * 1024)
        size = len(data) // (1024 * 1024)
        raise SchemaError(file, "#", f"expected a schema of at most {limit} MiB, found {size} MiB")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        reason = (
            f"expected text in UTF-8, found byte 0x{data[error.start]:02x} at offset {error.start}"
        )
        raise SchemaError(file, "#", reason) from None
    if yaml:
        return _parse_yaml(text, file)
    return [_parse_json(text, file)]


def _parse_yaml(text: str, file: str) -> list[Any]:
    try:
        return load_yaml(text)
    except YamlError as error:
        raise SchemaError(file, "#", f"line {error.line}: {error.reason}") from None


def _parse_json(text: str, file: str) -> Any:
    try:
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_float=_finite,
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        reason = f"{where}: invalid JSON: {error.msg}; is the file complete?"
        raise SchemaError(file, "#", reason) from None
    except _DuplicateKeyError as error:
        line = _line_of_duplicate(text, error.key)
        reason = f"line {line}: duplicate key {error.key!r}; keep one of the two"
        raise SchemaError(file, "#", reason) from None
    except RecursionError:
        raise SchemaError(
            file, "#", "the document is nested too deeply; break it up with definitions"
        ) from None
    except ValueError as error:
        raise SchemaError(file, "#", f"invalid JSON: {error}") from None


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
    """The line on which an object of the text names the key again; 1 where that cannot be told."""
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
