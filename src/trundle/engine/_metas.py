"""What is attached to classes and members, as far as it is written out: constants, not expressions."""

from collections.abc import Iterator, Mapping
from typing import Any

from trundle.engine._nodes import ListNode, MapNode, Node, ScalarNode
from trundle.engine._type import Type

SERIALIZE = "io.murano.metadata.engine.Serialize"


def attached(type_: Type, meta: Node | None) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The classes of what is attached, by their full names, each with its constant properties."""
    nodes = meta.items if isinstance(meta, ListNode) else () if meta is None else (meta,)
    for node in nodes:
        if isinstance(node, ScalarNode):
            yield _full(type_, node), {}
        elif isinstance(node, MapNode):
            for key, value in node.entries:
                entries = value.entries if isinstance(value, MapNode) else ()
                constants = {
                    each.text: one.value for each, one in entries if isinstance(one, ScalarNode)
                }
                yield _full(type_, key), constants


def is_serialized_as_reference(type_: Type, meta: Node | None) -> bool:
    """Whether dumps have the objects of a property by their ids only."""
    return meta is not None and any(
        name == SERIALIZE and constants.get("as") == "reference"
        for name, constants in attached(type_, meta)
    )


def _full(type_: Type, node: ScalarNode) -> str:
    try:
        return type_.declaration.names.full(node.text)
    except KeyError:
        return node.text
