"""The definitions of one API version while it is read, under temporary keys."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from trundle.schema._model import (
    EnumType,
    ListOf,
    MapOf,
    Nullable,
    ObjectType,
    Ref,
    Scalar,
    ScalarKind,
    Type,
    Union,
)

Definition = ObjectType | EnumType


class Table:
    """Definitions by temporary key; keys are given in the order of discovery.

    Attributes:
        definitions: what is known so far; an object that is still to be read is missing.
        joined: for each key that was found equal to another, that other.
        order: for each key, what decides which of several namesakes keeps the plain name.
    """

    def __init__(self) -> None:
        self.definitions: dict[str, Definition] = {}
        self.order: dict[str, tuple[Any, ...]] = {}
        self.joined: dict[str, str] = {}
        self._merged: dict[tuple[str, ...], Ref] = {}

    def reserve(self, order: tuple[Any, ...]) -> Ref:
        """A reference to a definition that is put later."""
        key = f"#{len(self.order)}"
        self.order[key] = (*order, len(self.order))
        return Ref(key)

    def add(self, definition: Definition, order: tuple[Any, ...]) -> Ref:
        """Puts a definition under a key of its own."""
        ref = self.reserve(order)
        self.definitions[ref.key] = definition
        return ref

    def union(self, types: Iterable[Type]) -> Type:
        """The type of values that have one of these types.

        Nested unions are flattened and duplicates left out; null makes the whole nullable. A scalar
        absorbs the enums of its kind, and number absorbs integer, because their values are among its own.
        Unnamed enums of one kind become one enum.
        """
        variants: dict[Type, None] = {}
        nullable = False
        pending = list(types)[::-1]
        while pending:
            each = pending.pop()
            match each:
                case Nullable(inner):
                    nullable = True
                    pending.append(inner)
                case Union(nested):
                    pending.extend(nested[::-1])
                case _:
                    variants[each] = None
        kept = self._join_enums(self._absorb(list(variants)))
        joined = kept[0] if len(kept) == 1 else Union(tuple(kept))
        return Nullable(joined) if nullable else joined

    def enum(self, variant: Type) -> EnumType | None:
        """The enum that the type refers to, if it does."""
        found = self.definitions.get(variant.key) if isinstance(variant, Ref) else None
        return found if isinstance(found, EnumType) else None

    def _absorb(self, variants: list[Type]) -> list[Type]:
        kinds = {each.kind for each in variants if isinstance(each, Scalar)}
        if not kinds:
            return variants
        if "number" in kinds:
            variants = [
                each
                for each in variants
                if not (isinstance(each, Scalar) and each.kind == "integer")
            ]
            kinds.add("integer")
        plain = _without_format_twins(variants)
        return [
            each for each in plain if (enum := self.enum(each)) is None or enum.kind not in kinds
        ]

    def _join_enums(self, variants: list[Type]) -> list[Type]:
        groups: dict[ScalarKind, list[Type]] = {}
        for each in variants:
            enum = self.enum(each)
            if enum is not None and not enum.named:
                groups.setdefault(enum.kind, []).append(each)
        replaced = {group[0]: self._joined(group) for group in groups.values() if len(group) > 1}
        gone = {each for group in groups.values() for each in group[1:]}
        return [replaced.get(each, each) for each in variants if each not in gone]

    def _joined(self, group: Sequence[Type]) -> Ref:
        keys = tuple(each.key for each in group if isinstance(each, Ref))
        if keys not in self._merged:
            enums = [enum for each in group if (enum := self.enum(each)) is not None]
            values = distinct(value for enum in enums for value in enum.values)
            joined = msgspec.structs.replace(enums[0], values=values)
            self._merged[keys] = self.add(joined, self.order[keys[0]])
        return self._merged[keys]


def distinct(values: Iterable[Any]) -> tuple[Any, ...]:
    """The scalars in their order, without duplicates; 1 and true are different, 1 and 1.0 are not."""
    found: dict[Any, Any] = {}
    for each in values:
        found.setdefault((isinstance(each, bool), each), each)
    return tuple(found.values())


def references(kind: Type | None) -> list[str]:
    """The keys that a type refers to, in order."""
    found: list[str] = []
    pending = [kind]
    while pending:
        match pending.pop():
            case Ref(key):
                found.append(key)
            case ListOf(items, _):
                pending.append(items)
            case MapOf(inner) | Nullable(inner):
                pending.append(inner)
            case Union(variants):
                pending.extend(variants[::-1])
    return found


def types_of(definition: Definition) -> list[Type]:
    """The types that an object mentions directly; none for an enum."""
    if isinstance(definition, EnumType):
        return []
    found = [each.type for each in definition.properties]
    return found if definition.additional is None else [*found, definition.additional]


def _without_format_twins(variants: list[Type]) -> list[Type]:
    """Variants in which a scalar without format absorbs those of its kind that have one."""
    bare = {each.kind for each in variants if isinstance(each, Scalar) and each.format is None}
    return [
        each
        for each in variants
        if not (isinstance(each, Scalar) and each.format is not None and each.kind in bare)
    ]
