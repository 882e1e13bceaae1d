"""What is attached to classes and members, as far as it is written out: constants, not expressions."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trundle.engine._nodes import ListNode, MapNode, Node, ScalarNode
from trundle.engine._type import Type, method_key

_METADATA = "io.murano.metadata"
SERIALIZE = f"{_METADATA}.engine.Serialize"
SYNCHRONIZE = f"{_METADATA}.engine.Synchronize"


def attached(type_: Type, meta: Node | None) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The classes of what is attached, by their full names, each with its constant properties."""
    nodes = meta.items if isinstance(meta, ListNode) else () if meta is None else (meta,)
    for node in nodes:
        if isinstance(node, ScalarNode):
            yield _full(type_, node), {}
        elif isinstance(node, MapNode):
            for key, value in node.entries:
                entries = value.entries if isinstance(value, MapNode) else ()
                yield _full(type_, key), dict(_constants(entries))


def _constants(entries: Iterable[tuple[ScalarNode, Node]]) -> Iterator[tuple[str, Any]]:
    for key, value in entries:
        if isinstance(value, ScalarNode):
            yield key.text, value.value
        elif isinstance(value, ListNode):
            yield (
                key.text,
                tuple(each.value for each in value.items if isinstance(each, ScalarNode)),
            )


def actions(type_: Type) -> Mapping[str, Mapping[str, Any]]:
    """The public methods of a class by name, with what is attached to them or to what they override: what people see of them."""
    found = {}
    for name, method in type_.methods.items():
        if method.is_public and method.usage in ("Runtime", "Action"):
            meta = method_metas(type_, name)
            found[name] = {
                "name": name,
                "enabled": meta.get(f"{_METADATA}.ModelBuilder", {}).get("enabled", True),
                "title": meta.get(f"{_METADATA}.Title", {}).get("text") or name,
                "description": meta.get(f"{_METADATA}.Description", {}).get("text"),
                "helpText": meta.get(f"{_METADATA}.HelpText", {}).get("text"),
            }
    return found


def method_metas(type_: Type, name: str) -> Mapping[str, Mapping[str, Any]]:
    """What is attached to a method; where nothing of a class is, what is attached to the method that it overrides."""
    found: dict[str, Mapping[str, Any]] = {}
    for each in type_.lineage.declarers(method_key(name)):
        for class_name, constants in attached(each, each.declaration.methods[name].meta):
            found.setdefault(class_name, constants)
    return found


def is_serialized_as_reference(name: str, declaring: Iterable[Type]) -> bool:
    """Whether dumps have the objects of a property by their ids only.

    Args:
        name: the property.
        declaring: the classes that declare it, the one that counts first. What it does not say is inherited.
    """
    for each in declaring:
        for attached_name, constants in attached(each, each.declaration.properties[name].meta):
            if attached_name == SERIALIZE:
                return constants.get("as") == "reference"
    return False


def _full(type_: Type, node: ScalarNode) -> str:
    try:
        return type_.declaration.names.full(node.text)
    except KeyError:
        return node.text
