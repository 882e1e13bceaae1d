"""Writing objects of an API class over stored ones, property by property.

The merge of `_merge.py` converts what a writer sees and what it writes to the stored shape, and compares the results.
A way compares the two as they are, and converts only what differs. The table `TIED` beside a conversion to storage
says what depends on what:

- A *copied* property is passed on as it is, and nothing else depends on it. What was written takes its place.
- The objects in a *part* are converted one by one, by a way of their own. Only those that differ are looked into.
- All others are *tied*, objects that entries of their holder go with among them. If one of them differs, all of them are converted and merged together.
"""

import operator
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import compress
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import replace

from trundle.runtime._bag import tidy
from trundle.runtime._bases import StorageObject
from trundle.runtime._class_fields import fields_of
from trundle.runtime._json import encode
from trundle.runtime._lookup import Lookup
from trundle.runtime._marks import written_over
from trundle.runtime._matching import KEY_PROPERTIES, attributes_of, key_of
from trundle.runtime._merge import merge_attribute, merge_objects
from trundle.runtime._objects import ABSENT, GeneratedObject
from trundle.runtime._unmarked import without_marks

Held: TypeAlias = Literal["object", "list", "map"]
"""What holds the objects of a part."""

_PART = "*"
"""How `TIED` marks the storage class' attribute of a part."""


class Property(NamedTuple):
    """A property of an API class.

    Attributes:
        name: its attribute.
        loose: whether values that Python takes for equal may be written otherwise, as 1 and 1.0 are.
        target: the attribute of the storage class that it is copied or converted to; empty where it is tied.
        part: how the objects in it are merged; None for one that is copied, or tied.
    """

    name: str
    loose: bool
    target: str = ""
    part: "Part | None" = None


class Ways:
    """The ways of a generated package.

    Args:
        lookup: the package's classes and functions.
    """

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._ways: dict[tuple[type[Any], type[Any]], Way | None] = {}

    def between(self, class_: type[Any], storage: type[Any]) -> "Way | None":
        """The way from an API class to a storage class; None where objects must be converted whole."""
        key = (class_, storage)
        if key not in self._ways:
            self._ways[key] = None
            up, down = (self._lookup.conversion(*each) for each in (key, (storage, class_)))
            tied = None if up is None else self._lookup.tied(up.function)
            if up is None or down is None or tied is None or up.wants_base or down.wants_base:
                return None
            way = Way(class_, storage, self._lookup.bound(up), self._lookup.bound(down))
            self._ways[key] = way  # objects of the class may hold others of it
            way.settle(tuple(self._properties(class_, storage, tied)))
        return self._ways[key]

    def _properties(
        self, class_: type[Any], storage: type[GeneratedObject], tied: Mapping[str, str]
    ) -> Iterator[Property]:
        theirs = {each.name: each.type for each in fields_of(storage)}
        attributes = attributes_of(storage)
        tables = ("__entries_within__", "__outside__")
        holders = {
            attributes[path[0]] for table in tables for path, _ in getattr(storage, table, ())
        }  # with such an object go entries beside it, and what others have outside of it stays
        for field in fields_of(class_):
            if field.name == "unknown":
                continue
            target = tied.get(field.name, field.name)
            name, loose = target.removeprefix(_PART), _is_loose(field.type, set())
            if name in holders:
                target = name = ""
            part = None
            if target.startswith(_PART) and name in theirs:
                keys = storage.__list_keys__.get(name, ())
                part = self._part(field.type, theirs[name], keys)
            copied = target == name and name in theirs
            yield Property(field.name, loose, name if copied or part else "", part)

    def _part(self, ours: Any, theirs: Any, keys: tuple[str, ...]) -> "Part | None":
        """How objects in a property are merged; None where they are no objects of one class each."""
        one, other = _held(ours), _held(theirs)
        if one is None or other is None or one[0] != other[0]:
            return None
        way = self.between(one[1], other[1])
        down = self._lookup.conversion(other[1], one[1])
        if way is None or down is None:
            return None
        stashed = {
            entry.property for entries, _ in self._lookup.bagged(down).values() for entry in entries
        }
        return Part(one[0], way, keys, frozenset(stashed))


class Way:
    """How objects of an API class are written over objects of a storage class.

    Args:
        class_: the API class.
        storage: the storage class.
        up: converts an object of the API class.
        down: converts an object of the storage class.
    """

    __slots__ = (
        "_blank",
        "_loose",
        "_places",
        "_rest",
        "_values",
        "class_",
        "copied",
        "down",
        "properties",
        "storage",
        "up",
    )

    def __init__(
        self,
        class_: type[Any],
        storage: type[GeneratedObject],
        up: Callable[[Any], Any],
        down: Callable[[Any], Any],
    ) -> None:
        self.class_ = class_
        self.storage = storage
        self.up = up
        self.down = down

    def settle(self, properties: tuple[Property, ...]) -> None:
        """Takes the properties of the API class, some of which may hold objects of the same."""
        self.properties = properties
        self._values = values_getter([each.name for each in properties])
        self._places = range(len(properties))
        self._loose = [place for place, each in enumerate(properties) if each.loose]
        merged = [each for each in properties if each.target]
        targets = {each.target for each in merged}
        self._blank = dict.fromkeys((each.name for each in merged), ABSENT)
        self._rest = tuple(each for each in self.storage.__struct_fields__ if each not in targets)
        self.copied = {each.target: each.name for each in merged if each.part is None}
        """The attributes of the API class that are copied, by that of the storage class."""

    def over(self, stored: Any, seen: Any, written: Any) -> Any:
        """What a store keeps after an object was written; the stored object itself where nothing differs.

        Args:
            stored: what it keeps now.
            seen: what the writer sees of that.
            written: the writer's object, in which nothing is unknown.
        """
        ours, theirs = self._values(seen), self._values(written)
        result, tied = stored, False
        for place in self._different(ours, theirs):
            _, _, target, part = self.properties[place]
            if not target:
                tied = True
                continue
            if result is stored:
                result = replace(stored)
            if part is None:
                setattr(result, target, theirs[place])
            else:
                part.merge(result, target, ours[place], theirs[place])
        if tied:
            result = self._merge_tied(result, seen, written)
        if result is not stored and isinstance(result, StorageObject):
            tidy(result)
        return result

    def _different(self, ours: tuple[Any, ...], theirs: tuple[Any, ...]) -> list[int]:
        """The places of the properties that differ."""
        found = list(compress(self._places, map(operator.ne, ours, theirs)))
        equal = [each for each in self._loose if each not in found and ours[each] is not ABSENT]
        if equal and not _alike([ours[each] for each in equal], [theirs[each] for each in equal]):
            found += [each for each in equal if not _alike(ours[each], theirs[each])]
        return found

    def _merge_tied(self, merged: Any, seen: Any, written: Any) -> Any:
        """Merges all that is tied."""
        with written_over():
            before, after = (self.up(replace(each, **self._blank)) for each in (seen, written))
        result = merge_objects(merged, before, after)
        return without_marks(result, merged, self._rest)


class Part:
    """How the objects in a property are merged.

    Args:
        held: what holds them.
        way: how each is written over a stored one.
        keys: the properties that distinguish elements of a list, where the schema declares them.
        stashed: the properties that the bag of a stored object may have for the API class.
    """

    __slots__ = ("_held", "_keys", "way")

    def __init__(
        self, held: Held, way: Way, keys: tuple[str, ...], stashed: frozenset[str]
    ) -> None:
        self._held = held
        self.way = way
        self._keys = _Keys(way, keys, stashed) if held == "list" else None

    def merge(self, result: Any, name: str, before: Any, after: Any) -> None:
        """Applies the difference between what a writer sees and writes to an attribute of a stored object."""
        kept = getattr(result, name)
        known = type(kept)
        if self._keys is not None:
            if known is type(before) is type(after) is list:
                matched = self._keys.matched(after, before)
                if matched is not None:
                    setattr(result, name, self._list(kept, before, after, matched))
                    return
        elif known is type(before) is type(after) is dict:
            setattr(result, name, self._map(kept, before, after))
            return
        elif all(isinstance(each, GeneratedObject) for each in (kept, before, after)):
            setattr(result, name, self.way.over(kept, before, after))
            return
        with written_over():
            ours, theirs = self._up(before), self._up(after)
        merge_attribute(result, name, ours, theirs)
        setattr(result, name, without_marks(getattr(result, name), kept))

    def _map(
        self, kept: dict[str, Any], before: dict[str, Any], after: dict[str, Any]
    ) -> dict[str, Any]:
        return {
            key: self.way.over(kept[key], before[key], value) if key in before else self._new(value)
            for key, value in after.items()
        }

    def _list(
        self,
        kept: list[Any],
        before: list[Any],
        after: list[Any],
        matched: Sequence[int | None],
    ) -> list[Any]:
        ours = [None if place is None else before[place] for place in matched]
        same = list(map(operator.eq, ours, after))
        if not _alike(list(compress(ours, same)), list(compress(after, same))):
            same = [False] * len(after)
        return [
            self._new(value)
            if place is None
            else kept[place]
            if equal
            else self.way.over(kept[place], before[place], value)
            for place, value, equal in zip(matched, after, same, strict=True)
        ]

    def _new(self, value: Any) -> Any:
        """An object that the store does not have."""
        with written_over():
            made = self.way.up(value)
        return without_marks(made)

    def _up(self, value: Any) -> Any:
        up = self.way.up
        match value:
            case GeneratedObject():
                return up(value)
            case list():
                return [up(each) for each in value]
            case dict():
                return {key: up(each) for key, each in value.items()}
            case _:
                return value


class _Keys:
    """The properties that distinguish elements of a list, where they are only copied.

    Args:
        way: how elements are written over stored ones.
        declared: the properties that the schema declares for it.
        stashed: the properties that the bag of a stored element may have.
    """

    def __init__(self, way: Way, declared: tuple[str, ...], stashed: frozenset[str]) -> None:
        self._way = way
        self._names = (declared, *KEY_PROPERTIES) if declared else KEY_PROPERTIES
        self._stashed = stashed
        self._found: tuple[Callable[[Any], tuple[Any, ...]], ...] | None = None

    def matched(self, values: Sequence[Any], others: Sequence[Any]) -> Sequence[int | None] | None:
        """For each value the position of the same element among others, or None for a new one.

        None where that does not depend on keys, or on some that are converted.
        """
        if self._found is None:
            self._found = tuple(map(values_getter, self._attributes()))
        for get in self._found:
            ours, theirs = _keys_of(values, get), _keys_of(others, get)
            alike = ours == theirs
            if None in ours or len(set(ours)) != len(ours):
                continue
            if alike:
                return range(len(ours))
            if None in theirs or len(set(theirs)) != len(theirs):
                continue
            places = {key: place for place, key in enumerate(theirs)}
            return [places.get(key) for key in ours]
        return None

    def _attributes(self) -> Iterator[tuple[str, ...]]:
        """The attributes of the API class that may distinguish elements, up to those for which more counts."""
        stored = attributes_of(self._way.storage)
        for names in self._names:
            if any(name not in stored and name in self._stashed for name in names):
                return
            if all(name in stored for name in names):
                if not all(stored[name] in self._way.copied for name in names):
                    return
                yield tuple(self._way.copied[stored[name]] for name in names)


def _keys_of(values: Sequence[Any], get: Callable[[Any], tuple[Any, ...]]) -> list[Any]:
    found = [get(each) for each in values]
    kinds = {type(part) for each in found for part in each}
    if kinds != {str}:
        return [key_of([*each]) for each in found]
    return found if len(found[0]) > 1 else [each[0] for each in found]


def _alike(one: Any, other: Any) -> bool:
    """Whether equal values are written alike; 1 and 1.0 are not, nor are maps in another order."""
    return encode(one) == encode(other)


def values_getter(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Gives the values of some attributes of an object."""
    if not names:
        return lambda _: ()
    get = operator.attrgetter(*names)
    return get if len(names) > 1 else lambda value: (get(value),)


def _held(type_: Any) -> tuple[Held, type[Any]] | None:
    """What holds the objects in a property, and their class; None where a property holds anything else."""
    origin, arguments = typing.get_origin(type_), typing.get_args(type_)
    if origin in (list, dict):
        items = arguments[-1]
        held: Held = "list" if origin is list else "map"
        return (held, items) if _is_class(items) else None
    if _is_class(type_):
        return "object", type_
    others = [each for each in arguments if each is not msgspec.UnsetType]
    return _held(others[0]) if len(others) == 1 and len(arguments) > 1 else None


def _is_class(type_: Any) -> bool:
    return isinstance(type_, type) and issubclass(type_, GeneratedObject)


def _is_loose(type_: Any, seen: set[Any]) -> bool:
    """Whether values of a type that are equal may be written otherwise."""
    if type_ in (float, dict) or typing.get_origin(type_) is dict:
        return True
    types = typing.get_args(type_)
    if _is_class(type_) and type_ not in seen:
        seen.add(type_)
        types = tuple(each.type for each in fields_of(type_) if each.name != "unknown")
        return any(_is_loose(each, seen) for each in types)
    return {bool, int} <= {*types} or any(_is_loose(each, seen) for each in types)
