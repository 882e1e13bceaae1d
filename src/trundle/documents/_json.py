"""Reads JSON strictly and without loss: each scalar keeps its spelling, each document its bytes.

The standard parsers drop duplicate keys, round long numbers or accept `NaN`; this one reports them.
"""

import json
import re
from typing import NoReturn

from trundle.documents._errors import UnreadableError, duplicate, too_deep
from trundle.documents._tree import (
    FLATTEN,
    MAX_DEPTH,
    ListNode,
    MapNode,
    Node,
    Parsed,
    ScalarNode,
    shorten,
)

_BLANK = re.compile(r"[ \t\r\n]*")
_TOKEN = re.compile(
    r"""[ \t\r\n]*(?:(?P<string>"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*")
    |(?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)
    |(?P<word>-?[A-Za-z]+)
    |(?P<mark>[\[\]{},:]))""",
    re.VERBOSE,
)
_WORDS = {"true", "false", "null"}
_NOT_FINITE = {"NaN", "Infinity", "-Infinity"}


class JsonSyntaxError(UnreadableError):
    """Text that is not JSON at all, as opposed to JSON that cannot be read exactly."""


class _Frame:
    """A list or object that is still open; `keys` is None for a list."""

    def __init__(self, keys: set[str] | None) -> None:
        self.keys = keys
        self.key = ScalarNode("", "")
        self.items: list[Node] = []
        self.entries: list[tuple[ScalarNode, Node]] = []

    def add(self, node: Node) -> None:
        if self.keys is None:
            self.items.append(node)
        else:
            self.entries.append((self.key, node))

    def close(self) -> Node:
        return ListNode(tuple(self.items)) if self.keys is None else MapNode(tuple(self.entries))

    @property
    def closer(self) -> str:
        return "]" if self.keys is None else "}"


class _Scanner:
    def __init__(self, text: str, name: str, deepest: int) -> None:
        self.text = text
        self.name = name
        self.deepest = deepest
        self.position = 0

    @property
    def line(self) -> int:
        return self.text.count("\n", 0, self.position) + 1

    def skip_blank(self) -> None:
        match = _BLANK.match(self.text, self.position)
        assert match
        self.position = match.end()

    def value(self) -> Node:
        """Reads one value. A loop rather than a recursion, so that depth is ours to limit."""
        stack: list[_Frame] = []
        while True:
            node = self._scalar_or_open(stack)
            while node is not None:
                if not stack:
                    return node
                stack[-1].add(node)
                node = self._next_or_close(stack)

    def _scalar_or_open(self, stack: list[_Frame]) -> Node | None:
        kind, lexeme = self._token("a value")
        if kind == "string":
            return self._string(lexeme)
        if kind == "number":
            return ScalarNode(lexeme, lexeme)
        if lexeme in _WORDS:
            return ScalarNode(lexeme, lexeme)
        if lexeme in _NOT_FINITE:
            self._fail_on(lexeme, "a finite number", "leave the property out, or write text")
        if lexeme not in "[{":
            self._fail("a value", shorten(lexeme))
        if len(stack) >= self.deepest:
            raise too_deep(self.name, self.line, self.deepest, FLATTEN)
        frame = _Frame(None if lexeme == "[" else set())
        stack.append(frame)
        self.skip_blank()
        if self.text.startswith(frame.closer, self.position):
            self.position += 1
            return stack.pop().close()
        self._key(frame)
        return None

    def _next_or_close(self, stack: list[_Frame]) -> Node | None:
        """After an element: the closed container, or None when another element follows."""
        frame = stack[-1]
        _, lexeme = self._token(f"',' or '{frame.closer}'")
        if lexeme == frame.closer:
            return stack.pop().close()
        if lexeme != ",":
            self._fail(f"',' or '{frame.closer}'", shorten(lexeme))
        self._key(frame)
        return None

    def _key(self, frame: _Frame) -> None:
        if frame.keys is None:
            return
        kind, lexeme = self._token("a key in double quotes")
        if kind != "string":
            self._fail("a key in double quotes", shorten(lexeme))
        frame.key = self._string(lexeme)
        if frame.key.text in frame.keys:
            raise duplicate(self.name, self.line, shorten(frame.key.text))
        frame.keys.add(frame.key.text)
        _, mark = self._token("':'")
        if mark != ":":
            self._fail("':'", shorten(mark))

    def _string(self, lexeme: str) -> ScalarNode:
        if "\\" not in lexeme:
            return ScalarNode(lexeme, lexeme[1:-1])
        text: str = json.loads(lexeme)
        if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
            advice = "write the whole pair, or the character itself"
            self._fail_on(lexeme, "pairs of surrogate escapes", advice)
        return ScalarNode(lexeme, text)

    def _token(self, expected: str) -> tuple[str, str]:
        match = _TOKEN.match(self.text, self.position)
        if match is None:
            self.skip_blank()
            rest = self.text[self.position : self.position + 20].split("\n")[0]
            self._fail(expected, shorten(rest) if rest else "the end of the text")
        self.position = match.end()
        kind = match.lastgroup
        assert kind
        return kind, match[kind]

    def _fail(self, expected: str, found: str) -> NoReturn:
        advice = "correct the JSON; it has no comments and no commas before a closing bracket"
        raise JsonSyntaxError(self.name, self.line, expected, found, advice)

    def _fail_on(self, lexeme: str, expected: str, advice: str) -> NoReturn:
        raise UnreadableError(self.name, self.line, expected, shorten(lexeme), advice)


def parse_json(text: str, name: str, deepest: int = MAX_DEPTH) -> list[Parsed]:
    """Reads the JSON documents that stand one after another in a text.

    Args:
        text: the text.
        name: the name of the file, for errors.
        deepest: how many levels of lists and objects a document may have.

    Raises:
        JsonSyntaxError: the text is not JSON.
        UnreadableError: the text is JSON with a duplicate key, a number that is not finite, half a
            surrogate pair, or too many levels.
    """
    scanner = _Scanner(text, name, deepest)
    documents = []
    scanner.skip_blank()
    line, counted = 1, 0
    while scanner.position < len(text):
        start = scanner.position
        line += text.count("\n", counted, start)
        counted = start
        root = scanner.value()
        documents.append(Parsed(root, line, text[start : scanner.position].encode()))
        scanner.skip_blank()
    return documents
