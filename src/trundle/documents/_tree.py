"""A parsed JSON or YAML document: every scalar keeps its spelling, every node may know its line."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import msgspec

from trundle.documents._errors import UnreadableError

MAX_DEPTH = 200
"""How deeply lists and objects may nest; well above real documents, well below Python's stack."""
FLATTEN = "flatten the document"
"""What to do about a document that nests deeper."""


class ScalarNode(msgspec.Struct, frozen=True, gc=False):
    """A scalar.

    Attributes:
        json: its JSON spelling; a number is spelled as its author did, where JSON allows that.
        text: what a reader sees; for text, the text itself.
        line: where it is; 0 where it is not needed.
    """

    json: str
    text: str
    line: int = 0

    @property
    def is_text(self) -> bool:
        """Whether this is text, rather than a number, a boolean or null."""
        return self.json[0] == '"'


class ListNode(msgspec.Struct, frozen=True, gc=False):
    """A list."""

    items: tuple["Node", ...]
    line: int = 0


class MapNode(msgspec.Struct, frozen=True, gc=False):
    """An object; its keys are text, without duplicates, in the order of the document."""

    entries: tuple[tuple[ScalarNode, "Node"], ...]
    line: int = 0


Node: TypeAlias = ScalarNode | ListNode | MapNode


class Parsed(msgspec.Struct, frozen=True):
    """One document of a file.

    Attributes:
        root: its content.
        line: the line where it starts.
        data: the document as JSON.
    """

    root: Node
    line: int
    data: bytes


def text_node(text: str, line: int = 0) -> ScalarNode:
    """A scalar that is text."""
    return ScalarNode(json.dumps(text, ensure_ascii=False), text, line)


def compact(root: Node) -> str:
    """The shortest JSON spelling of a document."""
    return "".join(_pieces(root))


def plain(node: Node) -> Any:
    """The plain value of a node; numbers are Python's."""
    match node:
        case ScalarNode():
            return node.text if node.is_text else json.loads(node.json)
        case ListNode():
            return [plain(item) for item in node.items]
        case MapNode():
            return {key.text: plain(value) for key, value in node.entries}


def node_of(value: Any) -> Node:
    """The node of a plain value.

    Raises:
        UnreadableError: a text in it has half of a surrogate pair.
        TypeError: it has something else than texts, numbers, booleans, nothing, lists and objects whose keys are texts.
        ValueError: a number in it is not finite.
    """
    match value:
        case str():
            _check_surrogates(value)
            return text_node(value)
        case bool() | int() | float() | None:
            spelt = json.dumps(value, allow_nan=False)
            return ScalarNode(spelt, spelt)
        case list() | tuple():
            return ListNode(tuple(map(node_of, value)))
        case Mapping() if all(isinstance(each, str) for each in value):
            return MapNode(tuple((text_node(key), node_of(each)) for key, each in value.items()))
        case _:
            raise TypeError(f"{type(value).__name__} is not plain")


def _check_surrogates(text: str) -> None:
    if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        advice = "write the whole pair, or the character itself"
        raise UnreadableError("the value", 0, "pairs of surrogates", shorten(text), advice)


def _pieces(node: Node) -> Iterator[str]:
    match node:
        case ScalarNode():
            yield node.json
        case ListNode():
            yield "["
            for index, item in enumerate(node.items):
                if index:
                    yield ","
                yield from _pieces(item)
            yield "]"
        case MapNode():
            yield "{"
            for index, (key, value) in enumerate(node.entries):
                yield f",{key.json}:" if index else f"{key.json}:"
                yield from _pieces(value)
            yield "}"


def describe(node: Node) -> str:
    """What a node is, in the words of a message."""
    match node:
        case ListNode():
            return "a list"
        case MapNode():
            return "an object"
        case ScalarNode(json="null"):
            return "nothing"
        case ScalarNode():
            kind = "the text" if node.is_text else "the value"
            return f"{kind} {shorten(node.text if node.is_text else node.json)}"


def shorten(text: str, limit: int = 60) -> str:
    """Text for a message, quoted and cut."""
    return repr(text if len(text) <= limit else text[: limit - 3] + "...")


def decode(data: bytes, name: str, encoding: str = "utf-8-sig") -> str:
    """Reads bytes as UTF-8, with or without a byte order mark.

    Args:
        data: the bytes.
        name: the name of the file, for errors.
        encoding: `utf-8` leaves a byte order mark in the text.

    Raises:
        UnreadableError: the bytes are not UTF-8.
    """
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
        found = "UTF-16" if wide else f"the byte 0x{data[error.start]:02x}"
        raise UnreadableError(name, line, "UTF-8 text", found, "save the file as UTF-8") from None
