"""Changes of documents as trees: every change gives a new tree, and what it does not name keeps its spelling."""

from typing import TypeAlias

import msgspec

from trundle.documents import (
    ListNode,
    MapNode,
    Node,
    ScalarNode,
    parse_json,
    parse_yaml,
)
from trundle.project import parse_documents, write_nodes

Path: TypeAlias = tuple[str | int, ...]
"""Where a value stands: keys of objects, and numbers of list elements."""


def text_node(text: str) -> ScalarNode:
    """A text."""
    return ScalarNode(msgspec.json.encode(text).decode(), text)


def json_node(json: str) -> Node:
    """A value that is given as JSON."""
    return parse_json(json, "the value")[0].root


def document_nodes(text: str) -> list[Node]:
    """The documents of a text in YAML or JSON.

    Raises:
        UnreadableError: it cannot be read.
    """
    return [each.root for each in parse_documents(text.encode(), "the document")]


def value_nodes(text: str) -> list[Node]:
    """The values of a text in YAML; one, unless something is wrong or nothing is there.

    Raises:
        UnreadableError: it cannot be read.
    """
    return [each.root for each in parse_yaml(text, "the value")]


def yaml_of(node: Node) -> str:
    """A value as YAML."""
    return write_nodes([node], "yaml")


def at(root: Node, path: Path) -> Node | None:
    """The value at a place; None where there is none."""
    found: Node | None = root
    for part in path:
        match found:
            case MapNode():
                found = next((each for key, each in found.entries if key.text == part), None)
            case ListNode() if isinstance(part, int) and part < len(found.items):
                found = found.items[part]
            case _:
                return None
    return found


def put(root: Node | None, path: Path, value: Node) -> Node:
    """A tree with a value at a place: in place of what is there, else at the end; objects on the way are made."""
    if not path:
        return value
    first, rest = path[0], path[1:]
    if isinstance(root, ListNode):
        assert isinstance(first, int), "elements of lists have numbers"
        items = list(root.items)
        inner = put(items[first] if first < len(items) else None, rest, value)
        items[first : first + 1] = [inner]
        return ListNode(tuple(items))
    entries = list(root.entries) if isinstance(root, MapNode) else []
    for number, (key, each) in enumerate(entries):
        if key.text == first:
            entries[number] = key, put(each, rest, value)
            return MapNode(tuple(entries))
    assert isinstance(first, str), "members of objects have keys"
    return MapNode((*entries, (text_node(first), put(None, rest, value))))


def without(root: Node, path: Path) -> Node:
    """A tree without what is at a place."""
    parent, last = at(root, path[:-1]), path[-1]
    match parent:
        case MapNode():
            rest = tuple(each for each in parent.entries if each[0].text != last)
            return put(root, path[:-1], MapNode(rest))
        case ListNode():
            items = tuple(each for number, each in enumerate(parent.items) if number != last)
            return put(root, path[:-1], ListNode(items))
    return root
