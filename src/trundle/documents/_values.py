"""From bytes to plain values: JSON and YAML, with duplicate keys and broken text as errors."""

from typing import Any

from trundle.documents._errors import DocumentCode, UnreadableError
from trundle.documents._json_values import json_value
from trundle.documents._tree import decode
from trundle.documents._values_yaml import load_yaml

LARGEST_FILE = 64 * 1024 * 1024


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
    return load_yaml(text, file) if yaml else [json_value(text, file)]
