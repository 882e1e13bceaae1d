"""Finding the same element among others: by declared keys, a key property, equality, or its place."""

import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import msgspec

from trundle.runtime._bases import StorageObject
from trundle.runtime._by_class import once
from trundle.runtime._json import decoder, encode
from trundle.runtime._objects import ABSENT, GeneratedObject

KEY_PROPERTIES = (("name",), ("id",), ("key",))
"""The properties that may distinguish elements whose schema declares no keys, in order."""


def match(
    values: Sequence[Any], others: Sequence[Any], keys: tuple[str, ...] = ()
) -> list[int | None]:
    """For each value the position of the same element among others, or None.

    Elements are matched by declared keys, else by a key property that is unique on both sides, else by
    equality, else alone at the same place between matched neighbours.
    """
    for names in (keys, *KEY_PROPERTIES) if keys else KEY_PROPERTIES:
        if (found := _by_key(values, others, names)) is not None:
            return found
    return _by_equality(values, others)


def match_first(
    values: Sequence[Any], others: Sequence[Any], keys: tuple[str, ...]
) -> list[int | None] | None:
    """For each value, whose declared key is its own, the position of the first element with that key.

    None where values share keys, or one has none. So members of a map meet the elements that they derive from, although
    other elements have no key or repeat one.
    """
    ours = keys_of(values, keys) if keys else [None]
    if None in ours or len(set(ours)) != len(ours):
        return None
    places: dict[Hashable, int] = {}
    for place, key in enumerate(keys_of(others, keys)):
        places.setdefault(key, place)
    return [places.get(key) for key in ours]


def removed_keys(
    before: Sequence[Any], after: Sequence[Any], keys: tuple[str, ...]
) -> set[Hashable]:
    """The declared keys that elements had before, and no element has after; none where keys are not declared."""
    return {*keys_of(before, keys)} - {*keys_of(after, keys), None} if keys else set()


def _by_key(
    values: Sequence[Any], others: Sequence[Any], names: tuple[str, ...]
) -> list[int | None] | None:
    ours, theirs = keys_of(values, names), keys_of(others, names)
    if None in ours or None in theirs:
        return None
    if len(set(ours)) != len(ours) or len(set(theirs)) != len(theirs):
        return None
    places = {key: place for place, key in enumerate(theirs)}
    return [places.get(key) for key in ours]


def keys_of(values: Sequence[Any], names: tuple[str, ...]) -> list[Hashable]:
    """What identifies each element, None for one that nothing does: texts as they are, all else as JSON."""
    if len(names) == 1:
        found = _same_member(values, names[0])
        if found is not None:
            return found
    return [key_of([_member(value, name) for name in names]) for value in values]


def _same_member(values: Sequence[Any], name: str) -> list[Hashable] | None:
    """The texts of a property of objects of one class; None where it is anything else."""
    classes = set(map(type, values))
    class_ = classes.pop() if len(classes) == 1 else None
    if class_ is None or not issubclass(class_, GeneratedObject):
        return None
    attribute = attributes_of(class_).get(name)
    if attribute is None:
        return None
    found = list(map(operator.attrgetter(attribute), values))
    return found if set(map(type, found)) == _TEXT else None


_TEXT = {str}


def key_of(parts: list[Any]) -> Hashable:
    """What identifies an element by the values of its key properties; None where one cannot."""
    found = []
    for part in parts:
        decoded = decoder(Any).decode(part) if isinstance(part, msgspec.Raw) else part
        if decoded is ABSENT or isinstance(decoded, list | dict | GeneratedObject):
            return None
        found.append(decoded if isinstance(decoded, str) else encode(decoded))
    return found[0] if len(found) == 1 else tuple(found)


def _member(value: Any, name: str) -> Any:
    """A property by its name in documents; one that the storage type lacks is looked for in the bag."""
    value = _opened(value)
    if isinstance(value, dict):
        return value.get(name, ABSENT)
    if not isinstance(value, GeneratedObject):
        return ABSENT
    attribute = attributes_of(type(value)).get(name)
    if attribute is not None:
        return getattr(value, attribute)
    if isinstance(value, StorageObject) and value.property_bag is not ABSENT:
        for entry in value.property_bag.get(name, {}).values():
            if isinstance(entry.value, str | int | msgspec.Raw):
                return entry.value
    return ABSENT


def _opened(value: Any) -> Any:
    """An element; one that stayed JSON is read, whatever the order in which its members are written."""
    return _OPEN(value) if isinstance(value, msgspec.Raw) else value


_OPEN = msgspec.json.Decoder(float_hook=str).decode
_SORTED = msgspec.json.Encoder(order="deterministic").encode
"""The JSON of a value by which equal ones are found."""


@once
def attributes_of(class_: type[GeneratedObject]) -> Mapping[str, str]:
    """The attributes of a class by the names of their properties in documents."""
    return dict(zip(class_.__struct_encode_fields__, class_.__struct_fields__, strict=True))


def _by_equality(values: Sequence[Any], others: Sequence[Any]) -> list[int | None]:
    """Matches equal elements; of several that are, those at the ends stay where they are."""
    ours, theirs = ([_SORTED(_opened(each)) for each in some] for some in (values, others))
    shared = min(len(ours), len(theirs))
    start = next((n for n in range(shared) if ours[n] != theirs[n]), shared)
    shared -= start
    end = next((n for n in range(shared) if ours[-1 - n] != theirs[-1 - n]), shared)
    waiting: dict[bytes, list[int]] = {}
    for place in range(start, len(theirs) - end):
        waiting.setdefault(theirs[place], []).append(place)
    found: list[int | None] = [*range(start)]
    for data in ours[start : len(ours) - end]:
        places = waiting.get(data)
        found.append(places.pop(0) if places else None)
    found.extend(range(len(theirs) - end, len(theirs)))
    _fill_gaps(found, len(others))
    return found


def _fill_gaps(found: list[int | None], count: int) -> None:
    """Matches an element that is alone between matched neighbours, on both sides."""
    taken = {place for place in found if place is not None}
    for position, place in enumerate(found):
        if place is not None:
            continue
        before = found[position - 1] if position else -1
        after = found[position + 1] if position + 1 < len(found) else count
        if before is None or after is None or after - before != 2 or before + 1 in taken:  # noqa: PLR2004 - one place in between
            continue
        found[position] = before + 1
        taken.add(before + 1)


def aligned(
    values: Any, stored: Any, view: Callable[[Any], Any], keys: tuple[str, ...] = ()
) -> list[Any]:
    """For each element of a list the stored element that it edits, or None.

    Args:
        values: the elements as a writer has them.
        stored: the stored elements, or absent.
        view: what the writer sees of a stored element.
        keys: the properties that identify an element, where the schema declares them.
    """
    if not isinstance(stored, list):
        return [None] * len(values)
    places = match(values, [view(each) for each in stored], keys)
    return [None if place is None else stored[place] for place in places]
