"""YAML to plain values, as schemas take it: the core schema of YAML 1.2, in which dates, `on` and `no` are text.

Built from parser events, so that depth, aliases and duplicate keys are under control and every error
knows its line.
"""

import math
import re
from collections.abc import Callable, Iterable
from typing import Any

import yaml

from trundle.documents._errors import DocumentCode

DEEPEST = 500
MOST_NODES = 5_000_000

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"[-+]?[0-9]+")
_PREFIXED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_CONSTANTS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_TAGS: dict[str, Callable[[str], Any]] = {
    "tag:yaml.org,2002:str": str,
    "tag:yaml.org,2002:int": int,
    "tag:yaml.org,2002:float": float,
}
_COLLECTION_TAGS = {None, "!", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"}
_NEAR = "correct the indentation, quotes or brackets near this line"
ONCE = "each key once in an object"
ONE_OF_TWO = "remove one of the two, or rename it"
_MERGE = object()
_MISSING = object()


class ValuesError(Exception):
    """A text that cannot be read; the reader of the file adds its name.

    Attributes:
        line: the line, counted from 1.
        expected: what such a text has there.
        found: what is there instead.
        advice: what to do about it.
        code: what kind of mistake it is.
    """

    def __init__(
        self,
        line: int,
        expected: str,
        found: str,
        advice: str,
        code: DocumentCode = DocumentCode.SYNTAX,
    ) -> None:
        self.line = line
        self.expected = expected
        self.found = found
        self.advice = advice
        self.code = code
        super().__init__(line, expected, found, advice)


def load_yaml(text: str) -> list[Any]:
    """All documents of a YAML text that are not empty.

    Raises:
        ValuesError: malformed text, duplicate keys, unknown tags, or a text that unfolds beyond measure.
    """
    try:
        documents = _Composer().documents(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise ValuesError(
            line, "valid YAML", f"a mistake: {error.problem or error.context}", _NEAR
        ) from None
    except yaml.YAMLError as error:
        raise ValuesError(1, "valid YAML", f"a mistake: {error}", _NEAR) from None
    return [each for each in documents if each is not None]


class _Composer:
    """Puts events together; each open collection is a frame on a stack."""

    def __init__(self) -> None:
        self._stack: list[_Frame] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._nodes = 0

    def documents(self, events: Iterable[Any]) -> list[Any]:
        found: list[Any] = []
        for event in events:
            line = event.start_mark.line + 1
            if isinstance(event, yaml.DocumentStartEvent):
                self._anchors = {}
            elif isinstance(event, yaml.ScalarEvent):
                self._put(_scalar(event, line), event.anchor, 1, line, found)
            elif isinstance(event, yaml.AliasEvent):
                self._put_alias(event, line, found)
            elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
                self._open(event, line)
            elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
                frame = self._stack.pop()
                self._put(frame.value, frame.anchor, frame.size, frame.line, found)
        return found

    def _open(self, event: Any, line: int) -> None:
        if len(self._stack) >= DEEPEST:
            raise ValuesError(
                line,
                f"at most {DEEPEST} levels of lists and objects",
                "deeper nesting",
                "use definitions",
                DocumentCode.TOO_DEEP,
            )
        if event.tag not in _COLLECTION_TAGS:
            raise ValuesError(
                line, "a value without a tag", f"the tag {event.tag}", "remove the tag"
            )
        value: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
        self._stack.append(_Frame(value, event.anchor, line))

    def _put_alias(self, event: Any, line: int, found: list[Any]) -> None:
        if event.anchor not in self._anchors:
            raise ValuesError(
                line,
                "an alias of an earlier, complete value",
                f"*{event.anchor}",
                "write the value out",
            )
        value, size = self._anchors[event.anchor]
        self._put(value, None, size, line, found)

    def _put(self, value: Any, anchor: str | None, size: int, line: int, found: list[Any]) -> None:
        if anchor is not None:
            self._anchors[anchor] = (value, size)
        if not self._stack:
            found.append(value)
            return
        frame = self._stack[-1]
        frame.size += size
        if frame.size > MOST_NODES:
            raise ValuesError(
                line,
                f"aliases that unfold to at most {MOST_NODES} values",
                "more",
                "write the values out, or split the file",
            )
        frame.put(value, line)


class _Frame:
    """A mapping or sequence that is still open."""

    __slots__ = ("anchor", "key", "line", "merged", "size", "value")

    def __init__(self, value: Any, anchor: str | None, line: int) -> None:
        self.value = value
        self.anchor = anchor
        self.line = line
        self.size = 1
        self.key: Any = _MISSING
        self.merged: set[Any] = set()

    def put(self, value: Any, line: int) -> None:
        if isinstance(self.value, list):
            self.value.append(value)
        elif self.key is _MISSING:
            self._put_key(value, line)
        elif self.key is _MERGE:
            self._merge(value, line)
            self.key = _MISSING
        else:
            self.value[self.key] = value
            self.merged.discard(self.key)
            self.key = _MISSING

    def _put_key(self, key: Any, line: int) -> None:
        if isinstance(key, dict | list):
            raise ValuesError(line, "a scalar as key", "a collection", "write text")
        if key is not _MERGE and key in self.value and key not in self.merged:
            raise ValuesError(
                line, ONCE, f"{key!r} a second time", ONE_OF_TWO, DocumentCode.DUPLICATE_KEY
            )
        self.key = key

    def _merge(self, value: Any, line: int) -> None:
        for each in value if isinstance(value, list) else [value]:
            if not isinstance(each, dict):
                raise ValuesError(
                    line, "a mapping to merge with <<", "another value", "write the merged keys out"
                )
            for key, member in each.items():
                if key not in self.value:
                    self.value[key] = member
                    self.merged.add(key)


def _scalar(event: Any, line: int) -> Any:
    text: str = event.value
    if event.tag is not None and event.tag != "!":
        return _tagged(event.tag, text, line)
    if not event.implicit[0]:
        return text
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text == "<<":
        return _MERGE
    return _number(text, line)


def _number(text: str, line: int) -> Any:
    """The number that a plain scalar is, else its text."""
    try:
        if _INTEGER.fullmatch(text):
            return int(text)
        if _PREFIXED.fullmatch(text):
            return int(text, 0)
    except ValueError as error:
        raise ValuesError(line, "a value that can be read", str(error), "correct it") from None
    if not _FLOAT.fullmatch(text):
        return text
    number = float(text)
    if not math.isfinite(number):
        raise ValuesError(line, "a number in the range of numbers", text, "write it as text")
    return number


def _tagged(tag: str, text: str, line: int) -> Any:
    try:
        return _TAGS[tag](text)
    except KeyError:
        raise ValuesError(
            line,
            "a value without a tag, or one that its tag fits",
            f"the tag {tag}",
            "remove the tag",
        ) from None
    except ValueError as error:
        raise ValuesError(line, "a value that can be read", str(error), "correct it") from None
