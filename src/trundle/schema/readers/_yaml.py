"""YAML to plain values: the core schema of YAML 1.2, in which dates, `on` and `no` are text.

Built from parser events, so that depth, aliases and duplicate keys are under control and every error
knows its line.
"""

import math
import re
from collections.abc import Callable, Iterable
from typing import Any

import yaml

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
_MERGE = object()
_MISSING = object()


class YamlError(ValueError):
    """YAML that cannot be read.

    Attributes:
        line: the line, counted from 1.
        reason: what is wrong there.
    """

    def __init__(self, line: int, reason: str) -> None:
        self.line = line
        self.reason = reason
        super().__init__(f"line {line}: {reason}")


def load_yaml(text: str) -> list[Any]:
    """All documents of a YAML text that are not empty.

    Raises:
        YamlError: malformed text, duplicate keys, unknown tags, or a text that unfolds beyond measure.
    """
    try:
        documents = _Composer().documents(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise YamlError(line, f"invalid YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise YamlError(1, f"invalid YAML: {error}") from None
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
            raise YamlError(line, f"nested more than {DEEPEST} levels deep; use definitions")
        if event.tag not in _COLLECTION_TAGS:
            raise YamlError(line, f"unknown tag {event.tag}; write plain YAML")
        value: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
        self._stack.append(_Frame(value, event.anchor, line))

    def _put_alias(self, event: Any, line: int, found: list[Any]) -> None:
        if event.anchor not in self._anchors:
            raise YamlError(line, f"the alias *{event.anchor} names no complete value before it")
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
            raise YamlError(line, f"aliases unfold to more than {MOST_NODES} values")
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
            raise YamlError(line, "expected a scalar as key, found a collection")
        if key is not _MERGE and key in self.value and key not in self.merged:
            raise YamlError(line, f"duplicate key {key!r}; keep one of the two")
        self.key = key

    def _merge(self, value: Any, line: int) -> None:
        for each in value if isinstance(value, list) else [value]:
            if not isinstance(each, dict):
                raise YamlError(line, "expected a mapping to merge with <<")
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
        raise YamlError(line, str(error)) from None
    if not _FLOAT.fullmatch(text):
        return text
    number = float(text)
    if not math.isfinite(number):
        raise YamlError(line, f"{text} is beyond the range of numbers")
    return number


def _tagged(tag: str, text: str, line: int) -> Any:
    try:
        return _TAGS[tag](text)
    except KeyError:
        raise YamlError(line, f"unknown tag {tag}; write plain YAML") from None
    except ValueError as error:
        raise YamlError(line, str(error)) from None
