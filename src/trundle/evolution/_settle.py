"""Deciding how the variants of unions are told apart, before anything is compared.

Variants of different JSON kinds tell themselves apart. Several objects need one property that each fixes
to a text of its own; it becomes their tag. A union that cannot be told apart is carried as free-form data.
"""

from collections.abc import Mapping
from typing import assert_never

import msgspec

from trundle.evolution._identity import fixed_text
from trundle.schema import (
    EnumType,
    FreeForm,
    ListOf,
    MapOf,
    Nullable,
    ObjectType,
    Ref,
    Scalar,
    Schema,
    Type,
    Union,
)


def settle(schema: Schema) -> Schema:
    """The schema with its unions settled: tags on their objects, free-form data where nothing tells."""
    settling = _Settling(schema)
    definitions = {
        key: settling.definition(definition) if isinstance(definition, ObjectType) else definition
        for key, definition in sorted(schema.definitions.items())
    }
    tagged = {
        key: msgspec.structs.replace(definition, tag=settling.tags[key])
        if key in settling.tags and isinstance(definition, ObjectType)
        else definition
        for key, definition in definitions.items()
    }
    return msgspec.structs.replace(schema, definitions=tagged)


class _Settling:
    def __init__(self, schema: Schema) -> None:
        self.definitions = schema.definitions
        self.tags: dict[str, str] = {}

    def definition(self, definition: ObjectType) -> ObjectType:
        properties = tuple(
            msgspec.structs.replace(each, type=self.type(each.type))
            for each in definition.properties
        )
        additional = definition.additional and self.type(definition.additional)
        return msgspec.structs.replace(definition, properties=properties, additional=additional)

    def type(self, type_: Type) -> Type:
        match type_:
            case ListOf(items, keys):
                return ListOf(self.type(items), keys)
            case MapOf(values):
                return MapOf(self.type(values))
            case Nullable(inner):
                return Nullable(self.type(inner))
            case Union(variants):
                return self.union(variants)
            case Scalar() | FreeForm() | Ref():
                return type_
            case _:
                assert_never(type_)

    def union(self, variants: tuple[Type, ...]) -> Type:
        nullable = any(isinstance(each, Nullable) for each in variants)
        plain = [self.type(each.inner if isinstance(each, Nullable) else each) for each in variants]
        settled = self.told_apart(plain)
        return Nullable(settled) if nullable and not isinstance(settled, FreeForm) else settled

    def told_apart(self, variants: list[Type]) -> Type:
        by_kind: dict[str, list[Type]] = {}
        for each in dict.fromkeys(variants):
            by_kind.setdefault(self.kind(each), []).append(each)
        if "any" in by_kind or len(by_kind.get("array", ())) > 1:
            return FreeForm()
        objects = by_kind.pop("object", [])
        if len(objects) > 1 and not self.tag(objects):
            return FreeForm()
        kept: list[Type] = [*objects]
        for kind, alike in by_kind.items():
            kept.append(alike[0] if len(alike) == 1 else Scalar(self.widest(kind, alike)))  # type: ignore[arg-type]
        ordered = [each for each in dict.fromkeys(variants) if each in kept]
        ordered += [each for each in kept if each not in ordered]
        return ordered[0] if len(ordered) == 1 else Union(tuple(ordered))

    def widest(self, kind: str, alike: list[Type]) -> str:
        if kind != "number":
            return kind
        return "number" if any(map(self.fractional, alike)) else "integer"

    def fractional(self, type_: Type) -> bool:
        """Whether a number's type admits fractions."""
        found = self.definitions.get(type_.key) if isinstance(type_, Ref) else type_
        return isinstance(found, Scalar | EnumType) and found.kind == "number"

    def kind(self, type_: Type) -> str:
        match type_:
            case Scalar(kind):
                return "number" if kind == "integer" else kind
            case ListOf():
                return "array"
            case MapOf():
                return "object"
            case Ref(key):
                found = self.definitions[key]
                if isinstance(found, EnumType):
                    return "number" if found.kind == "integer" else found.kind
                return "object"
            case FreeForm() | Nullable() | Union():
                return "any"
            case _:
                assert_never(type_)

    def tag(self, objects: list[Type]) -> bool:
        """Chooses the tag of some objects; whether there is one."""
        found: list[tuple[str, Mapping[str, str]]] = []
        for each in objects:
            definition = self.definitions.get(each.key) if isinstance(each, Ref) else None
            if not isinstance(definition, ObjectType):
                return False
            assert isinstance(each, Ref)
            found.append((each.key, self.constants(definition)))
        names = set.intersection(*(set(constants) for _, constants in found))
        for name in sorted(names):
            texts = {constants[name].casefold() for _, constants in found}
            agreed = all(self.tags.get(key, name) == name for key, _ in found)
            if len(texts) == len(found) and agreed:
                self.tags.update({key: name for key, _ in found})
                return True
        return False

    def constants(self, definition: ObjectType) -> Mapping[str, str]:
        texts = {}
        for each in definition.properties:
            text = fixed_text(each.type, self.definitions)
            if text is not None:
                texts[each.name] = text
        return texts
