"""Deciding what distinguishes the variants of unions, before anything is compared.

Variants of different JSON kinds need no tag. Several objects need one property that each fixes
to a text of its own; it becomes their tag. A union whose variants nothing distinguishes is carried as free-form data.
The variants of a settled union have an order of their own: the order of the schema says nothing.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias, assert_never

import msgspec

from trundle.evolution._discriminating import constants
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

_Candidate: TypeAlias = tuple[str, str]
"""The name of a type, and a property that could be its tag."""


def settle(schemas: Sequence[Schema]) -> tuple[Schema, ...]:
    """The schemas with their unions settled: tags on their objects, free-form data where nothing distinguishes them.

    Of several properties that could be the tag of a union, the one becomes it that documents must have, and
    that most versions have for types of these names: so far as possible, all versions choose alike.
    """
    versions: Counter[_Candidate] = Counter()
    for schema in schemas:
        asking = _Settling(schema, Counter())
        asking.settled()
        versions.update(asking.candidates)
    return tuple(_Settling(schema, versions).settled() for schema in schemas)


class _Settling:
    """Settles one schema.

    Args:
        schema: the schema.
        versions: in how many versions a property could be the tag of a type.

    Attributes:
        tags: the tags that were chosen, by the key of the object.
        candidates: what could be the tags of its types.
    """

    def __init__(self, schema: Schema, versions: Counter[_Candidate]) -> None:
        self.schema = schema
        self.definitions = schema.definitions
        self.versions = versions
        self.tags: dict[str, str] = {}
        self.candidates: set[_Candidate] = set()

    def settled(self) -> Schema:
        definitions = {
            key: self.definition(definition) if isinstance(definition, ObjectType) else definition
            for key, definition in sorted(self.definitions.items())
        }
        tagged = {
            key: msgspec.structs.replace(definition, tag=self.tags[key])
            if key in self.tags and isinstance(definition, ObjectType)
            else definition
            for key, definition in definitions.items()
        }
        return msgspec.structs.replace(self.schema, definitions=tagged)

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
        settled = self.distinguished(plain)
        return Nullable(settled) if nullable and not isinstance(settled, FreeForm) else settled

    def distinguished(self, variants: list[Type]) -> Type:
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
        ordered = sorted(kept, key=self.order)
        return ordered[0] if len(ordered) == 1 else Union(tuple(ordered))

    def order(self, variant: Type) -> tuple[str, str, str]:
        """Where a variant is among those of its union, whatever the order of the schema."""
        if not isinstance(variant, Ref):
            return self.kind(variant), "", ""
        found = self.definitions[variant.key]
        tag = self.tags.get(variant.key)
        text = "" if tag is None else self.constants(found)[tag].casefold()
        return self.kind(variant), found.name, text

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
        found = {each.key: self.definitions[each.key] for each in objects if isinstance(each, Ref)}
        if len(found) < len(objects):
            return False
        texts = {key: self.constants(definition) for key, definition in found.items()}
        names = [
            name
            for name in set.intersection(*map(set, texts.values()))
            if len({each[name].casefold() for each in texts.values()}) == len(texts)
        ]
        owners = [each for each in found.values() if isinstance(each, ObjectType)]
        self.candidates.update((each.name, name) for each in owners for name in names)
        for name in sorted(names, key=lambda name: self.preference(owners, name)):
            if all(self.tags.get(key, name) == name for key in found):
                self.tags.update(dict.fromkeys(found, name))
                return True
        return False

    def preference(self, owners: Sequence[ObjectType], name: str) -> tuple[bool, int, str]:
        """What decides between properties that could be the tag of some objects, the best first."""
        declared = (each.property(name) for each in owners)
        optional = any(each is not None and not each.required for each in declared)
        return optional, -sum(self.versions[each.name, name] for each in owners), name

    def constants(self, definition: ObjectType | EnumType) -> Mapping[str, str]:
        return constants(definition, self.definitions) if isinstance(definition, ObjectType) else {}
