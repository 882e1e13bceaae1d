"""Plain data: what JSON has, and nothing else."""

import json
import math
from collections.abc import Mapping
from typing import Any, TypeAlias

from trundle.errors import expectation, shown

Plain: TypeAlias = Any
"""None, booleans, integers, finite floats, texts, and lists and dictionaries of these with texts as keys."""


def as_plain(value: Any, path: str = "$") -> Plain:
    """A copy of a value that is plain data, which shares nothing with it.

    Raises:
        ValueError: something in it is not plain.
    """
    match value:
        case None | bool() | int():
            return value
        case str():
            if not _is_text(value):
                raise ValueError(_wrong("text that UTF-8 can spell", value, path))
            return value
        case float():
            if not math.isfinite(value):
                raise ValueError(_wrong("a finite number", value, path))
            return value
        case Mapping():
            for key in value:
                if not isinstance(key, str) or not _is_text(key):
                    raise ValueError(_wrong("a text as a key", key, path))
            return {str(key): as_plain(each, f"{path}.{key}") for key, each in value.items()}
        case list() | tuple():
            return [as_plain(each, f"{path}[{at}]") for at, each in enumerate(value)]
    raise ValueError(_wrong("plain data", value, path))


def plain_text(value: Plain) -> str:
    """Plain data as one line of JSON; the same text for what is equal, whatever the order of keys. True and 1 differ, and so do 1 and 1.0."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _wrong(expected: str, value: Any, path: str) -> str:
    return f"{path}: {expectation(expected, shown(value))}"
