"""Reads and writes the documents that a user converts, exactly.

A document is one JSON value, kept as its JSON bytes. Numbers keep their spelling (`1.10`, `1e5`, any number
of digits) and objects the order of their keys. YAML scalars mean what they mean in YAML 1.2, as far as
JSON can say it: `true`, `null` and numbers; dates, versions, `yes` and `012` are text.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, assert_never

import msgspec

from trundle.documents import (
    JsonSyntaxError,
    Node,
    Parsed,
    UnreadableError,
    decode,
    node_of,
    parse_json,
    parse_yaml,
)
from trundle.project._write import as_json, as_yaml

_OPENS_JSON = re.compile(r"\s*[{\[]")


class Document(msgspec.Struct, frozen=True):
    """One document of a file.

    Attributes:
        data: the document as JSON. What was JSON in the file stands here byte for byte.
        line: the line of the file where it starts; the first is 1.
    """

    data: bytes
    line: int


def read_documents(text: bytes, name: str) -> list[Document]:
    """Reads the documents of a file, YAML or JSON, one or several.

    Text that starts with `{` or `[` is JSON; only where the file is named `.yaml` or `.yml` may it be
    YAML nevertheless.

    Args:
        text: the content of the file, in UTF-8.
        name: the file as the user named it, for messages and for the format.

    Raises:
        UnreadableError: the text cannot be read, or not exactly: duplicate keys, keys that are not text,
            numbers that are not finite, half a surrogate pair, too many levels, or nothing at all.
    """
    return [Document(each.data, each.line) for each in parse_documents(text, name)]


def parse_documents(text: bytes, name: str) -> list[Parsed]:
    """Like `read_documents`, with the nodes of each document, where every value has its line.

    Raises:
        UnreadableError: as `read_documents` does.
    """
    parsed = _parse(decode(text, name), name)
    if not parsed:
        raise UnreadableError(name, 1, "a document", "nothing", "write at least one object")
    return parsed


def elements(documents: Iterable[Document]) -> Iterator[Document]:
    """The documents themselves, and in place of a list its elements; numbers keep their spelling there, too."""
    for document in documents:
        if document.data.lstrip()[:1] != b"[":
            yield document
            continue
        place = 0
        for element in msgspec.json.decode(document.data, type=list[msgspec.Raw]):
            data = bytes(element)
            place = document.data.index(data, place)
            yield Document(data, document.line + document.data.count(b"\n", 0, place))
            place += len(data)


def write_documents(documents: Sequence[bytes], format: Literal["json", "yaml"]) -> str:  # noqa: A002 - the word that the command line uses
    """Writes documents as text for people, which `read_documents` reads back exactly.

    Args:
        documents: one JSON value each.
        format: how to write them. Several YAML documents are parted by `---`.

    Raises:
        UnreadableError: a document is not one JSON value.
    """
    roots = [_one(data, f"document {index}").root for index, data in enumerate(documents, 1)]
    return write_nodes(roots, format)


def write_values(values: Iterable[Any], format: Literal["json", "yaml"]) -> str:  # noqa: A002 - the word that the command line uses
    """Writes plain values as text for people, one document each; see `write_documents`.

    Raises:
        UnreadableError: a text in one has half of a surrogate pair.
    """
    return write_nodes([node_of(each) for each in values], format)


def write_nodes(roots: Sequence[Node], format: Literal["json", "yaml"]) -> str:  # noqa: A002 - the same
    """Writes nodes as text for people, one document each; see `write_documents`."""
    match format:
        case "json":
            return "".join(f"{as_json(root)}\n" for root in roots)
        case "yaml":
            return "---\n".join(f"{as_yaml(root)}\n" for root in roots)
        case _:
            assert_never(format)


def _one(data: bytes, name: str) -> Parsed:
    parsed = parse_json(decode(data, name), name)
    if len(parsed) != 1:
        raise UnreadableError(name, 1, "one JSON value", f"{len(parsed)}", "pass each on its own")
    return parsed[0]


def _parse(text: str, name: str) -> list[Parsed]:
    lowered = name.lower()
    if lowered.endswith(".json"):
        return parse_json(text, name)
    if not _OPENS_JSON.match(text):
        return parse_yaml(text, name)
    if not lowered.endswith((".yaml", ".yml")):
        return parse_json(text, name)
    try:
        return parse_json(text, name)
    except JsonSyntaxError:
        return parse_yaml(text, name)
