"""Walks a parsed file by hand, and collects a finding for everything that is not as expected."""

import difflib
from collections.abc import Collection, Mapping
from typing import TypeAlias

from trundle.reading._tree import ListNode, MapNode, Node, ScalarNode, describe, shorten

Fields: TypeAlias = Mapping[str, tuple[ScalarNode, Node]]


class Walker:
    """Reads nodes as what they ought to be; where one is not, notes a finding and returns nothing.

    Attributes:
        file: the file as the user named it.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self._findings: list[tuple[int, str]] = []

    @property
    def findings(self) -> tuple[str, ...]:
        """Everything noted so far, in the order of the file."""
        return tuple(text for _, text in sorted(self._findings, key=lambda each: each[0]))

    def note(self, line: int, expected: str, found: str, advice: str) -> None:
        """Notes a finding."""
        text = f"{self.file}:{line}: expected {expected}, found {found}; {advice}"
        self.note_text(line, text)

    def note_text(self, line: int, text: str) -> None:
        """Notes a finding that is already worded."""
        self._findings.append((line, text))

    def place(self, node: Node) -> str:
        """File and line of a node."""
        return f"{self.file}:{node.line}"

    def fields(
        self, node: Node, what: str, known: Collection[str], required: Collection[str] = ()
    ) -> Fields:
        """The entries of an object whose keys are known; unknown and missing ones are findings."""
        if not isinstance(node, MapNode):
            expected = f"{what} with the keys {', '.join(known)}"
            self.note(node.line, expected, describe(node), "write an object")
            return {}
        fields = {key.text: (key, value) for key, value in node.entries}
        for name, (key, _) in fields.items():
            if name not in known:
                close = difflib.get_close_matches(name, known, 1)
                advice = f"did you mean {close[0]}?" if close else "remove it"
                expected = f"one of the keys {', '.join(known)} in {what}"
                self.note(key.line, expected, shorten(name), advice)
        for name in required:
            if name not in fields:
                self.note(node.line, f"the key {name} in {what}", "none", f"add `{name}:`")
        return fields

    def entries(
        self, node: Node, what: str, *, may_be_empty: bool = False
    ) -> tuple[tuple[ScalarNode, Node], ...]:
        """The entries of an object with keys of the author's choice; empty keys are findings."""
        if not isinstance(node, MapNode):
            self.note(node.line, what, describe(node), "write an object, or remove the key")
            return ()
        if may_be_empty:
            return node.entries
        for key, _ in node.entries:
            if not key.text:
                self.note(key.line, f"a name as key of {what}", "empty text", "write the name")
        return tuple(entry for entry in node.entries if entry[0].text)

    def items(self, node: Node, what: str) -> tuple[Node, ...]:
        """The items of a list."""
        if not isinstance(node, ListNode):
            self.note(node.line, what, describe(node), "write a list, or remove the key")
            return ()
        return node.items

    def text(self, node: Node, what: str) -> str | None:
        """Text that is not empty."""
        if isinstance(node, ScalarNode) and node.is_text and node.text:
            return node.text
        if isinstance(node, ScalarNode) and not node.is_text and node.json != "null":
            self.note(node.line, what, describe(node), "put it in quotes")
        else:
            found = "empty text" if isinstance(node, ScalarNode) and node.is_text else None
            self.note(node.line, what, found or describe(node), "write text")
        return None

    def texts(self, node: Node, what: str) -> tuple[ScalarNode, ...]:
        """A list of texts, each of them once."""
        found: dict[str, ScalarNode] = {}
        for item in self.items(node, f"a list of {what}s"):
            text = self.text(item, f"a {what}")
            if text is None or not isinstance(item, ScalarNode):
                continue
            if text in found:
                self.note(item.line, f"each {what} once", f"{text!r} twice", "remove one of them")
            found.setdefault(text, item)
        return tuple(found.values())

    def choice(self, node: Node, what: str, choices: Collection[str]) -> str | None:
        """One of several words."""
        text = self.text(node, f"{what}: {', '.join(choices)}")
        if text is None or text in choices:
            return text
        close = difflib.get_close_matches(text, choices, 1)
        advice = f"did you mean {close[0]}?" if close else "write one of them"
        self.note(node.line, f"{what}: {', '.join(choices)}", shorten(text), advice)
        return None
