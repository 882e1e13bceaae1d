"""Reads YAML exactly: scalars by the rules of YAML 1.2 that JSON can express, everything else as text.

`yes`, `1.10.3`, `2014-04-04` and `12:30` are text; `1.10` is a number spelled `1.10`. Works on the events
of libyaml and builds the tree itself, so that neither depth nor aliases can exhaust the machine.
"""

import re
from typing import NoReturn

import yaml

from trundle.documents._errors import DocumentError
from trundle.documents._tree import (
    MAX_DEPTH,
    ListNode,
    MapNode,
    Node,
    Parsed,
    ScalarNode,
    compact,
    describe,
    duplicate,
    text_node,
    too_deep,
)

MAX_EXPANSION = 1_000_000
"""How many characters the aliases of one file may add to it."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
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
_TAG = "tag:yaml.org,2002:"
_TAG_STARTS = {"null": "n", "bool": "tf", "int": "-0123456789", "float": "-0123456789"}
_INTEGER = re.compile(r"-?[0-9]+")


def _line(event: yaml.Event) -> int:
    """Where an event is; the first line is 1."""
    return event.start_mark.line + 1 if event.start_mark else 1


class _Frame:
    """A list or object that is still open; children of an object alternate keys and values."""

    def __init__(self, event: yaml.CollectionStartEvent) -> None:
        self.anchor: str | None = event.anchor
        self.is_map = isinstance(event, yaml.MappingStartEvent)
        self.line = _line(event)
        self.children: list[Node] = []
        self.weight = 2
        self.height = 0

    @property
    def wants_key(self) -> bool:
        return self.is_map and len(self.children) % 2 == 0


class _Anchored:
    """What an alias stands for; `node` is None while it is still open."""

    def __init__(self, node: Node | None, weight: int, height: int) -> None:
        self.node = node
        self.weight = weight
        self.height = height


class _Composer:
    """Builds trees from events; collects the findings after which reading can go on."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.stack: list[_Frame] = []
        self.anchors: dict[str, _Anchored] = {}
        self.roots: list[Node] = []
        self.findings: list[DocumentError] = []
        self.expansion = 0

    def take(self, event: yaml.Event) -> None:
        match event:
            case yaml.DocumentStartEvent():
                self.anchors = {}
            case yaml.ScalarEvent():
                self._scalar(event)
            case yaml.AliasEvent():
                self._alias(event)
            case yaml.CollectionStartEvent():
                self._open(event)
            case yaml.CollectionEndEvent():
                self._close()
            case _:
                pass

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        line = _line(event)
        if not event.value.isascii() and _SURROGATE.search(event.value):
            advice = "write the character itself"
            self._fail(line, "a character", "half a surrogate pair", advice)
        plain = event.implicit[0] and event.style in (None, "")
        if not self.stack and plain and not event.value:
            return  # nothing between two document markers
        if plain and event.value == "<<" and self.stack and self.stack[-1].wants_key:
            advice = "write the merged keys out, or quote the key"
            self._note(line, "keys of the object itself", "the merge key '<<'", advice)
        node = self._resolve(event, line, plain=plain)
        if event.anchor:
            self.anchors[event.anchor] = _Anchored(node, len(node.json), 0)
        self._add(node, len(node.json), 0)

    def _resolve(self, event: yaml.ScalarEvent, line: int, *, plain: bool) -> ScalarNode:
        tag = (event.tag or "").removeprefix(_TAG)
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

    def _alias(self, event: yaml.AliasEvent) -> None:
        line = _line(event)
        target = self.anchors.get(event.anchor or "")
        if target is None or target.node is None:
            found = f"*{event.anchor}, which {'stands inside itself' if target else 'names none'}"
            self._fail(line, "an alias of an earlier, complete value", found, "write the value out")
        self.expansion += target.weight
        if self.expansion > MAX_EXPANSION:
            expected = f"aliases that add at most {MAX_EXPANSION} characters"
            self._fail(line, expected, "more", "write the values out, or split the file")
        self._add(target.node, target.weight, target.height)

    def _open(self, event: yaml.CollectionStartEvent) -> None:
        frame = _Frame(event)
        own = ("", "!", f"{_TAG}map" if frame.is_map else f"{_TAG}seq")
        if (event.tag or "") not in own:
            self._fail(
                frame.line, "a value without a tag", f"the tag {event.tag}", "remove the tag"
            )
        if len(self.stack) >= MAX_DEPTH:
            raise too_deep(self.name, frame.line)
        if frame.anchor:
            self.anchors[frame.anchor] = _Anchored(None, 0, 0)
        self.stack.append(frame)

    def _close(self) -> None:
        frame = self.stack.pop()
        node: Node
        if frame.is_map:
            node = MapNode(self._entries(frame.children), frame.line)
        else:
            node = ListNode(tuple(frame.children), frame.line)
        if frame.anchor:
            self.anchors[frame.anchor] = _Anchored(node, frame.weight, frame.height + 1)
        self._add(node, frame.weight, frame.height + 1)

    def _entries(self, children: list[Node]) -> tuple[tuple[ScalarNode, Node], ...]:
        entries: dict[str, tuple[ScalarNode, Node]] = {}
        for key, value in zip(children[::2], children[1::2], strict=True):
            if not isinstance(key, ScalarNode) or not key.is_text:
                advice = "quote the key" if isinstance(key, ScalarNode) else "write text"
                self._note(key.line, "text as key", describe(key), advice)
            elif key.text in entries:
                self.findings.append(duplicate(self.name, key.line, key.text))
            else:
                entries[key.text] = (key, value)
        return tuple(entries.values())

    def _add(self, node: Node, weight: int, height: int) -> None:
        if not self.stack:
            self.roots.append(node)
            return
        frame = self.stack[-1]
        if len(self.stack) + height > MAX_DEPTH:
            raise too_deep(self.name, node.line)
        frame.children.append(node)
        frame.weight += weight + 1
        frame.height = max(frame.height, height)

    def _note(self, line: int, expected: str, found: str, advice: str) -> None:
        self.findings.append(DocumentError(self.name, line, expected, found, advice))

    def _fail(self, line: int, expected: str, found: str, advice: str) -> NoReturn:
        raise DocumentError(self.name, line, expected, found, advice)


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


def compose(text: str, name: str) -> tuple[list[Node], list[DocumentError]]:
    """Reads the YAML documents of a text; empty ones are left out.

    Returns:
        The documents, and the duplicate or unusable keys that were left out of them.

    Raises:
        DocumentError: the text cannot be read any further.
    """
    if forbidden := _FORBIDDEN.search(text):
        line = text.count("\n", 0, forbidden.start()) + 1
        found = f"the character U+{ord(forbidden.group()):04X}"
        advice = "write it as an escape in double quotes"
        raise DocumentError(name, line, "printable text", found, advice)
    composer = _Composer(name)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            composer.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = min(mark.line if mark else 0, text.rstrip("\n").count("\n")) + 1
        found = "a mistake: " + " ".join(part for part in (error.problem, error.context) if part)
        advice = "correct the indentation, quotes or brackets near this line"
        raise DocumentError(name, line, "valid YAML", found, advice) from None
    except ValueError as error:  # the loader without libyaml does not check escapes
        advice = "correct the escapes in double quotes"
        raise DocumentError(name, 1, "valid YAML", f"a mistake: {error}", advice) from None
    return composer.roots, composer.findings


def parse_yaml(text: str, name: str) -> list[Parsed]:
    """Reads the YAML documents of a text.

    Raises:
        DocumentError: the text is not YAML, or means something that JSON cannot express.
    """
    roots, findings = compose(text, name)
    if findings:
        raise findings[0]
    return [Parsed(root, root.line, compact(root).encode()) for root in roots]
