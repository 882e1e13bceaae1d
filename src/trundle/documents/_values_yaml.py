"""YAML to plain values, as schemas take it: the core schema of YAML 1.2, in which dates, `on` and `no` are text."""

import math
import re
from collections.abc import Callable
from typing import Any, NoReturn

from trundle.documents._compose import TAG, ScalarEvent, compose, is_plain
from trundle.documents._errors import DEFINITIONS, UnreadableError, duplicate

DEEPEST = 500

_INTEGER = re.compile(r"[-+]?[0-9]+")
_PREFIXED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_CONSTANTS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_TAGS: dict[str, Callable[[str], Any]] = {
    f"{TAG}str": str,
    f"{TAG}int": int,
    f"{TAG}float": float,
}
_MERGE = object()


def load_yaml(text: str, name: str) -> list[Any]:
    """All documents of a YAML text that are not empty.

    Args:
        text: the text.
        name: the name of its file, for errors.

    Raises:
        UnreadableError: malformed text, duplicate keys, unknown tags, or aliases that expand too far.
    """
    return [each for each in compose(text, name, _Plainly(name)) if each is not None]


class _Plainly:
    """Makes values of Python; `<<` merges."""

    deepest = DEEPEST
    flatter = DEFINITIONS
    expansion = 50_000_000

    def __init__(self, name: str) -> None:
        self._name = name

    def scalar(self, event: ScalarEvent, line: int, *, is_key: bool) -> Any:
        text = event.value
        if is_plain(event):
            if text in _CONSTANTS:
                return _CONSTANTS[text]
            return _MERGE if is_key and text == "<<" else self._number(text, line)
        return text if event.tag in {None, "!"} else self._tagged(event.tag, text, line)

    def sequence(self, items: list[Any], line: int) -> Any:  # noqa: ARG002 - values have no lines
        return items

    def mapping(self, keys: list[tuple[Any, int]], values: list[Any], line: int) -> Any:  # noqa: ARG002 - the same
        made: dict[Any, Any] = {}
        merged: set[Any] = set()
        for (key, at), value in zip(keys, values, strict=True):
            if key is _MERGE:
                for each in value if isinstance(value, list) else [value]:
                    if not isinstance(each, dict):
                        advice = "write the merged keys out"
                        self._fail(at, "a mapping to merge with <<", "another value", advice)
                    merged |= each.keys() - made.keys()
                    made |= {name: each[name] for name in each if name not in made}
            elif isinstance(key, dict | list):
                self._fail(at, "a scalar as key", "a collection", "write text")
            elif key in made and key not in merged:
                raise duplicate(self._name, at, repr(key))
            else:
                made[key] = value
                merged.discard(key)
        return made

    def _number(self, text: str, line: int) -> Any:
        """The number that a plain scalar is, else its text."""
        try:
            if _INTEGER.fullmatch(text):
                return int(text)
            if _PREFIXED.fullmatch(text):
                return int(text, 0)
        except ValueError as error:
            self._fail(line, "a value that can be read", str(error), "correct it")
        if not _FLOAT.fullmatch(text):
            return text
        number = float(text)
        if not math.isfinite(number):
            self._fail(line, "a number in the range of numbers", text, "write it as text")
        return number

    def _tagged(self, tag: str, text: str, line: int) -> Any:
        try:
            return _TAGS[tag](text)
        except KeyError:
            expected = "a value without a tag, or one that its tag fits"
            self._fail(line, expected, f"the tag {tag}", "remove the tag")
        except ValueError as error:
            self._fail(line, "a value that can be read", str(error), "correct it")

    def _fail(self, line: int, expected: str, found: str, advice: str) -> NoReturn:
        raise UnreadableError(self._name, line, expected, found, advice) from None
