"""Walks a parsed file by hand, and collects a finding for everything that is not as expected."""

from collections.abc import Collection, Mapping
from typing import TypeAlias

from trundle.documents._errors import DocumentCode, UnreadableError
from trundle.documents._tree import (
    ListNode,
    MapNode,
    Node,
    ScalarNode,
    decode,
    describe,
    shorten,
)
from trundle.documents._yaml import compose
from trundle.errors import Finding, Place, did_you_mean

Fields: TypeAlias = Mapping[str, tuple[ScalarNode, Node]]


class Walker:
    """Reads nodes as what they ought to be; where one is not, notes a finding and returns nothing.

    Attributes:
        file: the file as the user named it.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self._findings: list[Finding] = []

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Everything noted so far, in the order of the file."""
        return tuple(sorted(self._findings, key=lambda each: each.place.line or 0))

    def note(
        self,
        line: int,
        expected: str,
        found: str,
        advice: str,
        code: DocumentCode = DocumentCode.VALUE,
    ) -> None:
        """Notes a finding."""
        self._findings.append(Finding(code, Place(self.file, line), expected, found, advice))

    def add(self, error: UnreadableError) -> None:
        """Notes the findings of an error."""
        self._findings += error.findings

    def place(self, node: Node) -> str:
        """File and line of a node."""
        return str(Place(self.file, node.line))

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
                advice = did_you_mean(name, known, "remove it")
                expected = f"one of the keys {', '.join(known)} in {what}"
                self.note(key.line, expected, shorten(name), advice, DocumentCode.UNKNOWN_KEY)
        for name in required:
            if name not in fields:
                expected, code = f"the key {name} in {what}", DocumentCode.MISSING_KEY
                self.note(node.line, expected, "none", f"add `{name}:`", code)
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
        advice = did_you_mean(text, choices, "write one of them")
        self.note(node.line, f"{what}: {', '.join(choices)}", shorten(text), advice)
        return None


def walk_yaml(data: bytes, file: str) -> tuple[Walker, list[Node]]:
    """A walker that has noted what is wrong with some YAML, and the documents in it; empty ones are left out.

    Args:
        data: the YAML.
        file: the file as the user named it.

    Raises:
        UnreadableError: it is no UTF-8, or cannot be read any further.
    """
    roots, errors = compose(decode(data, file), file)
    walker = Walker(file)
    for each in errors:
        walker.add(each)
    return walker, roots
