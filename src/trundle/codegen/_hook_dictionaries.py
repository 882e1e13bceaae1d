"""What a hook may write for a nested object: the object, or a dictionary of its attributes, which a checker knows.

There is a dictionary type for each object type that a declared hook may write; a hook that is not declared yet
writes any mapping.
"""

from collections.abc import Hashable
from typing import TypeAlias

from trundle.codegen._classes import ApiNode, ClassPath
from trundle.codegen._text import class_mark
from trundle.codegen._types import TypeRenderer
from trundle.evolution import ADDITIONAL, LONGEST, Place, fitting
from trundle.schema import ListOf, MapOf, Nullable, ObjectType, Ref, Type, Union
from trundle.version import ApiVersion

KnownRecords: TypeAlias = dict[Hashable, tuple[str, str]]
"""By what a record has: its module and its name."""


class WrittenTypes:
    """The annotations of what hooks write in one version, and the dictionary types that these need.

    Args:
        types: what renders annotations.
        version: the version.
        module: the module that the types are in.
        side: what their names say of the version among its neighbours: `Older` or `Newer`.
        known: the records that were named before; grows.
        declared: whether a hook is declared there.

    Attributes:
        classes: the dictionary types that are not named before, each as its name and its members.
    """

    def __init__(
        self,
        types: TypeRenderer,
        version: ApiVersion,
        module: str,
        side: str,
        known: KnownRecords,
        *,
        declared: bool,
    ) -> None:
        self.types = types
        self.version = version
        self.schema = types.evolution.schema(version)
        self.module = module
        self.side = side
        self.known = known
        self.declared = declared
        self.classes: list[tuple[str, list[str]]] = []

    def annotation(self, node: ApiNode, type_: Type, place: Place) -> str:
        """What a hook may return for a value of a type."""
        plain = self.types.annotation(node, type_, place)
        if "\x01" not in plain:
            return plain
        match type_:
            case ListOf(items):
                return f"Sequence[{self.annotation(node, items, place)}]"
            case MapOf(values):
                return f"Mapping[str, {self.annotation(node, values, place)}]"
            case Nullable(inner):
                return f"{self.annotation(node, inner, place)} | None"
            case Union(variants):
                alone = len([each for each in variants if self._object(each)]) == 1
                parts = [
                    self.annotation(node, each, place)
                    if alone or not self._object(each)
                    else f"{self.types.annotation(node, each, place)} | Mapping[str, Any]"
                    for each in variants
                ]
                return " | ".join(dict.fromkeys(parts))
            case Ref(key):
                return f"{plain} | {self._dictionary(key)}"
            case _:
                return plain

    def _object(self, type_: Type) -> bool:
        return isinstance(type_, Ref) and isinstance(self.schema.definitions[type_.key], ObjectType)

    def _dictionary(self, key: str) -> str:
        """The dictionary type of a definition."""
        if not self.declared:
            return "Mapping[str, Any]"
        path = self.types.classes.api(self.version, key)
        found = self.known.get(path)
        if found is None:
            found = self.known[path] = self.module, self._name(path.name)
            self.classes.append((found[1], self._members(key)))
        return class_mark(ClassPath(*found))

    def _name(self, class_: str) -> str:
        behind = f"{self.side}Written"
        return f"{fitting(class_, LONGEST - len(behind))}{behind}"

    def _members(self, key: str) -> list[str]:
        node = ApiNode(self.version, key)
        definition = self.schema.object(key)
        names = self.types.names(self.version, definition)
        lines = []
        for each in self.types.fields(node, definition):
            given = self.annotation(node, each.type, Place(self.version, each.name))
            given = f"Required[{given}]" if each.required else f"{given} | Absent"
            lines.append(f"{names[each.name]}: {given}")
        if definition.additional is not None:
            place = Place(self.version, ADDITIONAL)
            given = self.annotation(node, MapOf(definition.additional), place)
            lines.append(f"additional_properties: {given} | Absent")
        return lines
