"""Paths in rules and hooks: dotted names, seen from the type that the rule is under.

`strategy.rollingUpdate.maxSurge` leads through nested objects. A name with a dot or a bracket in it, or the key
of a map, is in brackets: `metadata.annotations["example.com/paused"]`. `[]` is each element of a list.
"""

import json
import re
from typing import TypeAlias

from trundle.errors import Kind, TrundleError

Path: TypeAlias = tuple[str, ...]
"""The names that a path leads through, the last one the property that it names."""

EACH = "[]"
"""The part of a path that stands for each element of a list."""

_PART = re.compile(r'\.?(?:(\[\])|\[("(?:[^"\\]|\\.)*")\]|([^.\[\]"]+))')
_PLAIN = re.compile(r'[^.\[\]"]+')


class PathError(TrundleError, ValueError):
    """A text that is no path."""

    kind = Kind.REFUSED


def split_path(text: str) -> Path:
    """The parts of a path.

    Raises:
        PathError: the text is no path.
    """
    parts: list[str] = []
    at = 0
    while at < len(text):
        found = _PART.match(text, at)
        dotted = text[at] == "."
        if found is None or dotted != (bool(parts) and found[3] is not None):
            raise PathError(f"no name after {text[:at]!r}" if at else "no name at its beginning")
        parts.append(json.loads(found[2]) if found[2] else found[1] or found[3])
        at = found.end()
    if not parts or parts[0] == EACH or parts[-1] == EACH:
        raise PathError("it does not begin and end with a name")
    return tuple(parts)


def join_path(parts: Path) -> str:
    """A path as text."""
    text = ""
    for each in parts:
        if each == EACH:
            text += each
        elif _PLAIN.fullmatch(each):
            text += f".{each}" if text else each
        else:
            text += f"[{json.dumps(each, ensure_ascii=False)}]"
    return text


def plain_path(text: str) -> str:
    """A path in the one spelling that rules are compared by; a single name is itself, whatever is in it.

    Raises:
        PathError: the text is no path.
    """
    parts = split_path(text)
    return parts[0] if len(parts) == 1 else join_path(parts)
