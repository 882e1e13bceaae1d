"""Discriminators of OpenAPI: which definitions may stand for a base, and the constant of each.

A definition with a `discriminator` and `oneOf` or `anyOf` names its variants itself. One without is the
base of those that include it by `allOf`; where it is referenced, one of them stands, or the base itself if
its mapping names it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from trundle.schema.readers._facets import Dialect
from trundle.schema.readers._library import Node


class Discriminators:
    """What the discriminators of one document say.

    Args:
        names: the definitions of the document, by name.
    """

    def __init__(self, names: Mapping[str, Node]) -> None:
        self._names = names
        self._by_pointer = {node.pointer: name for name, node in names.items()}
        self._bases: dict[str, tuple[Node, ...]] = {}
        self._constants: dict[str, dict[str, list[str]]] = {}
        children = self._children()
        for name, node in names.items():
            found = _discriminator(node.value)
            if found is not None:
                self._note(name, node, *found, children)

    def dialect(self) -> Dialect:
        """How a document with these discriminators is to be read."""
        if not self._constants:
            return Dialect(dotted_names=True)
        return Dialect(dotted_names=True, refine=self._refine, variants=self._variants)

    def _note(
        self,
        name: str,
        node: Node,
        property_name: str,
        mapping: Mapping[str, str],
        children: Mapping[str, list[str]],
    ) -> None:
        listed = [*node.value.get("oneOf", ()), *node.value.get("anyOf", ())]
        variants = [found for each in listed if (found := self._referenced(each)) is not None]
        if not listed:
            variants = _descendants(name, children)
        constants: dict[str, list[str]] = {}
        for text, target in mapping.items():
            found = self._target(target)
            if found is not None:
                constants.setdefault(found, []).append(text)
        if not listed:
            mapped = [each for each in constants if each not in variants]
            members = [*variants, *mapped]
            self._bases[node.pointer] = tuple(
                self._names[each] for each in members if members != [name]
            )
            variants = members
        for each in variants:
            texts = constants.get(each) or [each.rpartition(".")[2]]
            known = self._constants.setdefault(self._names[each].pointer, {})
            known.setdefault(property_name, []).extend(texts)

    def _children(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name, node in self._names.items():
            parts = node.value.get("allOf") if isinstance(node.value, dict) else None
            for part in parts if isinstance(parts, list) else ():
                base = self._referenced(part)
                if base is not None:
                    found.setdefault(base, []).append(name)
        return found

    def _referenced(self, value: Any) -> str | None:
        reference = value.get("$ref") if isinstance(value, dict) else None
        return self._target(reference) if isinstance(reference, str) else None

    def _target(self, text: str) -> str | None:
        """The definition that a reference or a plain name means."""
        return text if text in self._names else self._by_pointer.get(text.partition("#")[2])

    def _variants(self, node: Node) -> tuple[Node, ...]:
        return self._bases.get(node.pointer, ()) if self._own(node) else ()

    def _refine(self, node: Node) -> Iterator[Node]:
        """The schema that makes a variant's discriminator its constant."""
        if not self._own(node):
            return
        for name, texts in self._constants.get(node.pointer, {}).items():
            constant = {"enum": list(dict.fromkeys(texts)), "type": "string"}
            value = {"properties": {name: constant}, "required": [name]}
            yield Node(node.document, f"{node.pointer}/discriminator", value)

    def _own(self, node: Node) -> bool:
        name = self._by_pointer.get(node.pointer)
        return name is not None and self._names[name].document is node.document


def _discriminator(value: Any) -> tuple[str, Mapping[str, str]] | None:
    """Property and mapping of a definition's discriminator; in OpenAPI 2 it is just the property."""
    found = value.get("discriminator") if isinstance(value, dict) else None
    if isinstance(found, str):
        return found, {}
    if isinstance(found, dict) and isinstance(found.get("propertyName"), str):
        mapping = found.get("mapping")
        return found["propertyName"], mapping if isinstance(mapping, dict) else {}
    return None


def _descendants(name: str, children: Mapping[str, list[str]]) -> list[str]:
    found: dict[str, None] = {}
    pending = list(children.get(name, ()))
    while pending:
        each = pending.pop(0)
        if each not in found and each != name:
            found[each] = None
            pending.extend(children.get(each, ()))
    return list(found)
