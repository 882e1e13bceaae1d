"""The YAML of class files, before it is known which scalars are expressions: they keep their text, quotes and line.

So a class file is read without reading a single expression. Values are those of YAML 1.1, which packages were always written
for: `yes` is true and `010` is eight; but dates and times stay text, because 12:30 is not 750 to its author.
"""

import math
import re
from dataclasses import dataclass
from typing import Any, TypeAlias

from trundle.documents import (
    DocumentCode,
    ScalarEvent,
    UnreadableError,
    interpret,
    is_plain,
    kind_in_yaml_1_1,
    short_tag,
    value_in_yaml_1_1,
)
from trundle.errors import shown

_SWITCHES = re.compile("(?i)yes|no|on|off")
_ALWAYS_TEXT = ("timestamp", "value", "merge")
_DECIMAL = re.compile(r"[1-9][0-9]{0,17}")
_WORDS = re.compile(r"[\w.\s]*")


@dataclass(frozen=True, slots=True)
class ScalarNode:
    """A scalar.

    Attributes:
        value: its value; for text, the text.
        text: as it is written, without quotes.
        line: where it is.
        may_be_expression: whether it is text without quotes that has more than letters, digits, `_`, `.` and white space.
        is_tagged: whether its tag says that it is an expression.
    """

    value: Any
    text: str
    line: int
    may_be_expression: bool = False
    is_tagged: bool = False


@dataclass(frozen=True, slots=True)
class ListNode:
    """A list."""

    items: tuple["Node", ...]
    line: int


@dataclass(frozen=True, slots=True)
class MapNode:
    """A map, in the order of the file; keys are scalars, each once."""

    entries: tuple[tuple[ScalarNode, "Node"], ...]
    line: int

    def get(self, key: str) -> "Node | None":
        """The value under a key; None where there is none, or an empty one."""
        for each, value in self.entries:
            if each.text == key and not is_empty(value):
                return value
        return None


Node: TypeAlias = ScalarNode | ListNode | MapNode
"""A part of a class file."""


def is_empty(node: Node) -> bool:
    """Whether a node is null."""
    return isinstance(node, ScalarNode) and node.value is None


def parse_nodes(text: str, file: str) -> list[Node]:
    """Reads the YAML documents of a class file; empty ones are left out.

    Args:
        text: the file's text.
        file: what messages call it.

    Raises:
        UnreadableError: the text is not YAML, or has tags, keys or numbers that cannot be used.
    """
    return interpret(text, file, _ClassFile(file))


class _ClassFile:
    deepest = 200
    flatter = "write it less deeply nested"
    expansion = 1_000_000

    def __init__(self, file: str) -> None:
        self._file = file

    def scalar(self, event: ScalarEvent, line: int, *, is_key: bool) -> Node:
        text: str = event.value
        tag = short_tag(event)
        if tag == "!yaql":
            return ScalarNode(text, text, line, is_tagged=True)
        if tag in ("str", "!") or (not tag and not is_plain(event)):
            return ScalarNode(text, text, line)
        if is_key and text == "<<":
            advice = "write the merged keys out, or quote the key"
            raise self._wrong(line, "keys of the map itself", "the merge key '<<'", advice)
        if is_key and not text and not tag:
            advice = "write the key; in a map in braces `?` needs quotes: `'?': ..`"
            raise self._wrong(line, "a key", "none", advice)
        if not tag and _DECIMAL.fullmatch(text):  # Most scalars of long lists
            return ScalarNode(int(text), text, line)
        kind = _kind(text, is_key=is_key)
        if tag and tag != kind:
            found = f"the tag {event.tag}"
            raise self._wrong(line, "a value that its tag fits", found, "remove it")
        if kind in _ALWAYS_TEXT:
            return ScalarNode(text, text, line)
        if kind != "str":
            return ScalarNode(self._value(text, kind, line), text, line)
        return ScalarNode(text, text, line, may_be_expression=not _WORDS.fullmatch(text))

    def sequence(self, items: list[Node], line: int) -> Node:
        return ListNode(tuple(items), line)

    def mapping(self, keys: list[tuple[Node, int]], values: list[Node], line: int) -> Node:
        entries: list[tuple[ScalarNode, Node]] = []
        seen = set()
        for (key, at), value in zip(keys, values, strict=True):
            if not isinstance(key, ScalarNode):
                advice = "write text or an expression; a key with braces may need quotes"
                raise self._wrong(at, "a scalar as key", "a list or map", advice)
            is_expression = key.may_be_expression or key.is_tagged
            name = (type(key.value), key.value, is_expression)
            if name in seen:
                found = f"{f'`{key.text}`' if is_expression else shown(key.value)} a second time"
                advice, code = "remove one of the two, or rename it", DocumentCode.DUPLICATE_KEY
                raise self._wrong(at, "each key once in a map", found, advice, code)
            seen.add(name)
            entries.append((key, value))
        return MapNode(tuple(entries), line)

    def _value(self, text: str, kind: str, line: int) -> Any:
        try:
            value = value_in_yaml_1_1(text, kind)
        except ValueError:  # Such as more digits than Python reads
            value = math.nan
        if isinstance(value, float) and not math.isfinite(value):
            raise self._wrong(line, "a finite number", shown(text), "quote it as text")
        return value

    def _wrong(
        self,
        line: int,
        expected: str,
        found: str,
        advice: str,
        code: DocumentCode = DocumentCode.VALUE,
    ) -> UnreadableError:
        return UnreadableError(self._file, line, expected, found, advice, code)


def _kind(text: str, *, is_key: bool) -> str:
    """The type that YAML 1.1 gives a plain scalar, without its prefix; `int` only for what people take for a number."""
    kind = kind_in_yaml_1_1(text)
    if kind == "bool" and is_key and _SWITCHES.fullmatch(text):
        return "value"
    if kind in ("int", "float") and ":" in text:  # 12:30 is 750 to YAML 1.1
        return "timestamp"
    return kind
