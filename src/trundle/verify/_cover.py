"""Documents that together show every value that matters, drawn up from a schema and not by luck.

Every place rotates through its own values: each value of an enum, each variant of a union, absent and
present, empty and filled, null where it is allowed, the numbers and texts that conversions stumble over, and
what rules and hooks mention. As many documents are made as the place with the most values needs.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Protocol, assert_never

from trundle.schema import (
    EnumType,
    FreeForm,
    ListOf,
    MapOf,
    Nullable,
    ObjectType,
    Ref,
    Resource,
    Scalar,
    Schema,
    Type,
    Union,
)
from trundle.verify._broken import Number, spoken
from trundle.verify._literals import NOTHING_MENTIONED, Mentioned

_TEXTS = ("a", "", '{"a": 1.10}', "null", "Zo\u00eb\u2028\U0001f600")
_INTEGERS = ("0", "1", "-1", "9007199254740993", "-9223372036854775808", "18446744073709551615")
_NUMBERS = ("0", "0.5", "-2.25", "1e22", "1.7976931348623157e308")
_FREE: tuple[Any, ...] = (
    None,
    Number("1.10"),
    Number("123456789012345678901234567890"),
    "",
    "Zo\u00eb",
    [],
    {},
    {"a": [Number("2.50"), None], "apiVersion": "v1"},
)
_KEYS = ("a", "", "two words", "é", "Name", "name", "0", "z", "y")
_EXTRA_KEYS = ("x-a", "x two", "x$", "x-b", "x.c", "x-d", "x-e", "x-f", "x-g")
_UNHEARD = "Unheard-Of"
_DOCUMENTS = 8
"""Lists and maps have few elements where so many documents are enough for all of them to come up."""
_NESTED = 2
"""How many recursive objects stand in each other where all of their values come up."""
_DEEP = 14
"""How often a recursive type is nested in the deepest document."""


def covering(
    schema: Schema, resource: Resource, mentioned: Mapping[str, Mentioned] = NOTHING_MENTIONED
) -> Iterator[bytes]:
    """Documents of one version of a resource type, in a fixed order.

    Args:
        schema: the version.
        resource: the resource type in it.
        mentioned: the literals to try in each object, by the name of its type.
    """
    making = _Making(schema, resource, mentioned)
    for number in range(making.root.count):
        yield making.document(making.root.make(number))
    deep = making.deep(Ref(resource.root), _DEEP, ())
    if deep is not None:
        yield making.document(deep)


class _Options(Protocol):
    """All values of a place that are to come up, by number."""

    @property
    def count(self) -> int:
        """How many there are."""

    def make(self, number: int) -> Any:
        """One of them."""


class _Leaf:
    """A scalar: each of some values."""

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.values = values
        self.count = len(values)

    def make(self, number: int) -> Any:
        return self.values[number % self.count]


class _Many:
    """A list or map: empty first, then filled with the next of its elements' values."""

    def __init__(self, item: _Options, keys: tuple[str, ...] = ()) -> None:
        self.item = item
        self.keys = keys
        self.size = min(max(2, -(-item.count // _DOCUMENTS)), len(_KEYS) - 1)
        self.count = 1 + -(-item.count // self.size)

    def make(self, number: int) -> Any:
        number %= self.count
        first = (number - 1) * self.size
        items = (
            [self.item.make(each) for each in range(first, min(first + self.size, self.item.count))]
            if number
            else []
        )
        return dict(zip(self.keys[number % 2 :], items, strict=False)) if self.keys else items


class _OneOf:
    """A union: all values of its variants, one variant after the other."""

    def __init__(self, variants: tuple[_Options, ...]) -> None:
        self.variants = variants
        self.count = sum(each.count for each in variants)

    def make(self, number: int) -> Any:
        number %= self.count
        for each in self.variants:
            if number < each.count:
                return each.make(number)
            number -= each.count
        raise AssertionError(number)


class _Record:
    """An object: each property goes through its own values, and absent where that is allowed.

    In the last one all properties are present, and objects have nothing in them but what they require: to other
    versions such an object may hold what stands beside it here.
    """

    def __init__(
        self,
        required: Mapping[str, _Options],
        optional: Mapping[str, _Options],
        extra: _Options | None,
        least: Mapping[str, Any],
    ) -> None:
        self.least = least
        self.members = [(name, each, 0) for name, each in required.items()]
        self.members += [(name, each, 1) for name, each in optional.items()]
        self.extra = extra
        counts = [each.count + absent for _, each, absent in self.members]
        self.hollow = any(isinstance(each, _Record) for _, each, _ in self.members)
        self.rotated = max([1, *counts, *([extra.count] if extra else [])])
        self.count = self.rotated + self.hollow

    def make(self, number: int) -> Any:
        if self.hollow and number % self.count == self.rotated:
            return {
                name: each.least if isinstance(each, _Record) else each.make(0)
                for name, each, _ in self.members
            }
        found = {}
        for place, (name, each, absent) in enumerate(self.members):
            own = (number + place * absent) % (each.count + absent)
            if own < each.count:
                found[name] = each.make(own)
        if self.extra is not None:
            found.update(
                (name, value)
                for name, value in self.extra.make(number).items()
                if name not in found
            )
        return found


class _Making:
    def __init__(
        self, schema: Schema, resource: Resource, mentioned: Mapping[str, Mentioned]
    ) -> None:
        self.schema = schema
        self.resource = resource
        self.mentioned = mentioned
        group = f"{resource.group}/" if resource.group else ""
        self.names = {
            "apiVersion": f"{group}{schema.version.text}",
            resource.name_property: resource.name,
        }

    def document(self, value: dict[str, Any]) -> bytes:
        return spoken({**self.names, **value}).encode()

    @cached_property
    def root(self) -> _Options:
        """What the resource's documents may be."""
        return self.options(Ref(self.resource.root), (), "")

    def options(self, type_: Type, path: tuple[str, ...], owner: str) -> _Options:
        match type_:
            case Scalar(kind):
                return _Leaf(self.scalars(kind, owner))
            case FreeForm():
                return _Leaf(_FREE)
            case Nullable(inner):
                return _OneOf((self.options(inner, path, owner), _Leaf((None,))))
            case ListOf(items):
                return _Many(self.options(items, path, owner))
            case MapOf(values):
                return _Many(self.options(values, path, owner), _KEYS)
            case Union(variants):
                return _OneOf(tuple(self.options(each, path, owner) for each in variants))
            case Ref(key):
                return self.definition(key, path, owner)

    def scalars(self, kind: str, owner: str) -> tuple[Any, ...]:
        said = self.mentioned.get(owner, Mentioned())
        match kind:
            case "boolean":
                return (True, False)
            case "string":
                return tuple(dict.fromkeys((*_TEXTS, *said.texts)))
            case "integer":
                return tuple(map(Number, dict.fromkeys((*_INTEGERS, *map(str, said.integers)))))
            case _:
                texts = (*_NUMBERS, *map(str, said.integers), *map(repr, said.numbers))
                return tuple(map(Number, dict.fromkeys(texts)))

    def definition(self, key: str, path: tuple[str, ...], owner: str) -> _Options:
        definition = self.schema.definitions[key]
        if isinstance(definition, EnumType):
            return _Leaf(self.enum(definition, owner))
        nested = sum(each in self.cyclic for each in path) if key in self.cyclic else 0
        if key in path or nested >= _NESTED:
            return _Leaf((self.least(key, ()),))
        required: dict[str, _Options] = {}
        optional: dict[str, _Options] = {}
        for each in definition.properties:
            if key == self.resource.root and each.name in self.names:
                continue
            found = self.options(each.type, (*path, key), definition.name)
            if each.name == definition.tag and isinstance(found, _Leaf):
                found = _Leaf(found.values[:1])
            # Variants are distinguished by their tag, whether their schema requires it or not.
            needed = each.required or each.name == definition.tag
            (required if needed else optional)[each.name] = found
        extra = definition.additional
        return _Record(
            required,
            optional,
            None
            if extra is None
            else _Many(self.options(extra, (*path, key), definition.name), _EXTRA_KEYS),
            self.least(key, ()),
        )

    def enum(self, definition: EnumType, owner: str) -> tuple[Any, ...]:
        if definition.kind != "string":
            return tuple(
                Number(repr(each))
                if isinstance(each, int | float) and each is not True and each is not False
                else each
                for each in definition.values
            )
        if len(definition.values) == 1:
            return definition.values
        said = self.mentioned.get(owner, Mentioned()).texts
        ends = (str(definition.values[0]).swapcase(), str(definition.values[-1]).swapcase())
        return tuple(dict.fromkeys((*definition.values, *ends, _UNHEARD, *said)))

    def least(self, key: str, path: tuple[str, ...]) -> dict[str, Any]:
        """An object with nothing but what is required."""
        definition = self.schema.object(key)
        return {
            each.name: self.least_value(each.type, (*path, key))
            for each in definition.properties
            if each.required or each.name == definition.tag
        }

    def least_value(self, type_: Type, path: tuple[str, ...]) -> Any:
        match type_:
            case Nullable():
                return None
            case ListOf():
                return []
            case MapOf():
                return {}
            case Union(variants):
                return self.least_value(variants[0], path)
            case Ref(key) if isinstance(self.schema.definitions[key], ObjectType):
                return {} if key in path else self.least(key, path)
            case Scalar() | FreeForm() | Ref():
                return self.options(type_, path, "").make(0)
            case _:
                assert_never(type_)

    @cached_property
    def cyclic(self) -> frozenset[str]:
        """The objects that are found within themselves."""
        return frozenset(key for key, below in self.reached.items() if key in below)

    @cached_property
    def recursive(self) -> frozenset[str]:
        """The objects from which a recursive one is reached."""
        return frozenset(
            key for key, below in self.reached.items() if self.cyclic & (below | {key})
        )

    @cached_property
    def reached(self) -> Mapping[str, set[str]]:
        """For each definition, all objects that are found within it."""
        reached = {key: set(self.objects_below(key)) for key in self.schema.definitions}
        changed = True
        while changed:
            changed = False
            for below in reached.values():
                more = set().union(*(reached[each] for each in below)) - below
                changed = changed or bool(more)
                below.update(more)
        return reached

    def objects_below(self, key: str) -> Iterator[str]:
        definition = self.schema.definitions[key]
        if isinstance(definition, ObjectType):
            for each in definition.properties:
                yield from self.objects_in(each.type)
            if definition.additional is not None:
                yield from self.objects_in(definition.additional)

    def objects_in(self, type_: Type) -> Iterator[str]:
        match type_:
            case Ref(key) if isinstance(self.schema.definitions[key], ObjectType):
                yield key
            case ListOf(inner) | MapOf(inner) | Nullable(inner):
                yield from self.objects_in(inner)
            case Union(variants):
                for each in variants:
                    yield from self.objects_in(each)
            case Scalar() | FreeForm() | Ref():
                return
            case _:
                assert_never(type_)

    def deep(self, type_: Type, levels: int, path: tuple[str, ...]) -> Any:
        """A value in which a recursive type is nested so often; None where there is none."""
        match type_:
            case Nullable(inner):
                return self.deep(inner, levels, path)
            case ListOf(inner) | MapOf(inner):
                found = self.deep(inner, levels, path)
                if found is None:
                    return None
                return [found] if isinstance(type_, ListOf) else {"a": found}
            case Union(variants):
                found = (self.deep(each, levels, path) for each in variants)
                return next((each for each in found if each is not None), None)
            case Ref(key) if key in self.recursive:
                return self.deep_object(key, levels - (key in path), (*path, key))
            case Scalar() | FreeForm() | Ref():
                return None
            case _:
                assert_never(type_)

    def deep_object(self, key: str, levels: int, path: tuple[str, ...]) -> dict[str, Any]:
        definition = self.schema.object(key)
        value = self.least(key, ())
        if key == self.resource.root:
            value = {name: each for name, each in value.items() if name not in self.names}
        if levels <= 0:
            return value
        again = [each for each in definition.properties if self.leads(each.type, path)]
        further = [each for each in definition.properties if self.leads(each.type, ())]
        for each in (again or further)[:1]:
            value[each.name] = self.deep(each.type, levels, path)
        return value

    def leads(self, type_: Type, path: tuple[str, ...]) -> bool:
        """Whether a type holds a recursive object; one of a path, where there is one."""
        return any(
            key in self.recursive and (not path or key in path) for key in self.objects_in(type_)
        )
