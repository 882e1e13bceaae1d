"""Reads YAML exactly: scalars by the rules of YAML 1.2 that JSON can express, everything else as text.

`yes`, `1.10.3`, `2014-04-04` and `12:30` are text; `1.10` is a number spelled `1.10`. This is how manifests and data
are read.
"""

import re
from typing import NoReturn

from trundle.documents._compose import ScalarEvent, is_plain, short_tag
from trundle.documents._compose import compose as compose_documents
from trundle.documents._errors import UnreadableError, duplicate
from trundle.documents._tree import (
    FLATTEN,
    MAX_DEPTH,
    ListNode,
    MapNode,
    Node,
    Parsed,
    ScalarNode,
    compact,
    describe,
    shorten,
    text_node,
)

MAX_EXPANSION = 1_000_000
"""How many characters the aliases of one file may add to it."""

# YAML 1.1, which libyaml reads, breaks lines at the last three and would change text in silence.
_FORBIDDEN = re.compile(
    r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\x85\u2028\u2029]"
)
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_NUMBER = re.compile(r"([-+]?)(0|[1-9][0-9]*)?(?:(\.)([0-9]*))?([eE][-+]?[0-9]+)?")
_OTHER_BASE = re.compile(r"0x[0-9a-fA-F]{1,1000}|0o[0-7]{1,1000}")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), "null"),
    **dict.fromkeys(("true", "True", "TRUE"), "true"),
    **dict.fromkeys(("false", "False", "FALSE"), "false"),
}
_TAG_STARTS = {"null": "n", "bool": "tf", "int": "-0123456789", "float": "-0123456789"}
_INTEGER = re.compile(r"-?[0-9]+")


class _Exactly:
    """Keeps the spelling of every scalar; collects the findings after which reading can go on."""

    deepest = MAX_DEPTH
    flatter = FLATTEN
    expansion = MAX_EXPANSION

    def __init__(self, name: str) -> None:
        self.name = name
        self.findings: list[UnreadableError] = []

    def scalar(self, event: ScalarEvent, line: int, *, is_key: bool) -> Node:
        if not event.value.isascii() and _SURROGATE.search(event.value):
            advice = "write the character itself"
            self._fail(line, "a character", "half a surrogate pair", advice)
        plain = is_plain(event)
        if plain and is_key and event.value == "<<":
            advice = "write the merged keys out, or quote the key"
            self._note(line, "keys of the object itself", "the merge key '<<'", advice)
        return self._resolve(event, line, plain=plain)

    def _resolve(self, event: ScalarEvent, line: int, *, plain: bool) -> ScalarNode:
        tag = short_tag(event)
        if tag in ("str", "!") or (not tag and not plain):
            return text_node(event.value, line)
        if _NOT_FINITE.fullmatch(event.value):
            advice = "leave the property out, or quote it as text"
            self._fail(line, "a finite number", event.value, advice)
        node = resolve_plain(event.value, line)
        fits = not tag or (tag in _TAG_STARTS and node.json[0] in _TAG_STARTS[tag])
        if not fits or (tag == "int" and not _INTEGER.fullmatch(node.json)):
            known = "a value without a tag, or one that its tag fits"
            self._fail(line, known, f"the tag {event.tag} on {describe(node)}", "remove the tag")
        return node

    def sequence(self, items: list[Node], line: int) -> Node:
        return ListNode(tuple(items), line)

    def mapping(self, keys: list[tuple[Node, int]], values: list[Node], line: int) -> Node:
        entries: dict[str, tuple[ScalarNode, Node]] = {}
        for (key, _), value in zip(keys, values, strict=True):
            if not isinstance(key, ScalarNode) or not key.is_text:
                advice = "quote the key" if isinstance(key, ScalarNode) else "write text"
                self._note(key.line, "text as key", describe(key), advice)
            elif key.text in entries:
                self.findings.append(duplicate(self.name, key.line, shorten(key.text)))
            else:
                entries[key.text] = (key, value)
        return MapNode(tuple(entries.values()), line)

    def _note(self, line: int, expected: str, found: str, advice: str) -> None:
        self.findings.append(UnreadableError(self.name, line, expected, found, advice))

    def _fail(self, line: int, expected: str, found: str, advice: str) -> NoReturn:
        raise UnreadableError(self.name, line, expected, found, advice)


def resolve_plain(text: str, line: int = 0) -> ScalarNode:
    """What a YAML scalar without quotes stands for."""
    if word := _WORDS.get(text):
        return ScalarNode(word, text, line)
    match = _NUMBER.fullmatch(text)
    if match and (match[2] or match[4]):
        sign, whole, dot, fraction, exponent = match.groups(default="")
        decimals = f".{fraction or '0'}" if dot else ""
        spelling = f"{'-' if sign == '-' else ''}{whole or '0'}{decimals}{exponent}"
        return ScalarNode(spelling, text, line)
    if _OTHER_BASE.fullmatch(text):
        return ScalarNode(str(int(text, 0)), text, line)
    return text_node(text, line)


def compose(text: str, name: str) -> tuple[list[Node], list[UnreadableError]]:
    """Reads the YAML documents of a text; empty ones are left out.

    Returns:
        The documents, and the duplicate or unusable keys that were left out of them.

    Raises:
        UnreadableError: the text cannot be read any further.
    """
    if forbidden := _FORBIDDEN.search(text):
        line = text.count("\n", 0, forbidden.start()) + 1
        found = f"the character U+{ord(forbidden.group()):04X}"
        advice = "write it as an escape in double quotes"
        raise UnreadableError(name, line, "printable text", found, advice)
    exactly = _Exactly(name)
    return compose_documents(text, name, exactly), exactly.findings


def parse_yaml(text: str, name: str) -> list[Parsed]:
    """Reads the YAML documents of a text.

    Raises:
        UnreadableError: the text is not YAML, or means something that JSON cannot express.
    """
    roots, findings = compose(text, name)
    if findings:
        raise findings[0]
    return [Parsed(root, root.line, compact(root).encode()) for root in roots]
