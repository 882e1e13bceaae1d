"""Edits that come up in every proof: of lists, added, removed and reordered elements on every level; of all scalars."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from trundle.verify._broken import same
from trundle.verify._values import KEY_PROPERTIES

WAYS = ("reversed", "first removed", "one more in front", "first changed")
_Place: TypeAlias = tuple[str | int, ...]
_IDENTIFYING = frozenset({*KEY_PROPERTIES, "apiVersion", "kind", "type"})


def edited_lists(value: Any, number: int) -> Any:
    """A document in which all lists are edited, in a way that the number determines.

    Args:
        value: a tree, as `trundle.verify._broken.tree` makes it; it is left alone.
        number: chooses the way.
    """
    if isinstance(value, dict):
        return {name: edited_lists(member, number) for name, member in value.items()}
    if not isinstance(value, list) or not value:
        return value
    match WAYS[number % len(WAYS)]:
        case "reversed":
            return value[::-1]
        case "first removed":
            return value[1:]
        case "one more in front":
            return [_renamed(value[0]), *value]
        case _:
            return [_without_one(value[0]), *(edited_lists(item, number) for item in value[1:])]


def scalars_by_property(documents: Iterable[Any]) -> dict[str, list[Any]]:
    """The different scalars that each property has in some documents, wherever it stands."""
    known: dict[str, dict[tuple[type, Any], Any]] = {}
    for name, scalar in (each for document in documents for each in _scalars(document, "")):
        known.setdefault(name, {}).setdefault((type(scalar), scalar), scalar)
    return {name: [*each.values()] for name, each in known.items()}


def with_other_scalars(value: Any, known: Mapping[str, Sequence[Any]], number: int) -> Any:
    """A document in which each scalar has another of the values known for its property.

    What identifies an element or a type stays, and so does a scalar for which no other value is known. Of each list
    one element changes: two that change at once are two others.

    Args:
        value: a tree, as `trundle.verify._broken.tree` makes it; it is left alone.
        known: scalars by the property that they are in.
        number: chooses among several values.
    """

    def changed(value: Any, name: str) -> Any:
        if isinstance(value, dict):
            return {name: changed(member, name) for name, member in value.items()}
        if isinstance(value, list):
            chosen = number % max(len(value), 1)
            return [
                changed(item, name) if place == chosen else item for place, item in enumerate(value)
            ]
        others = [each for each in known.get(name, ()) if not same(each, value)]
        return others[number % len(others)] if others and name not in _IDENTIFYING else value

    return changed(value, "")


def without_one_scalar(value: Any, number: int) -> Iterator[Any]:
    """Documents that lack one scalar of an object within the document, each another one, from one on that the number determines.

    What identifies an element or a type stays.

    Args:
        value: a tree, as `trundle.verify._broken.tree` makes it; it is left alone.
        number: chooses where to begin.
    """
    return _without_each(
        value, number, lambda place, member: len(place) > 1 and not isinstance(member, dict | list)
    )


def without_one_object(value: Any, number: int) -> Iterator[Any]:
    """Like `without_one_scalar` for the objects within elements of lists."""
    return _without_each(
        value,
        number,
        lambda place, member: isinstance(member, dict) and any(type(each) is int for each in place),
    )


def _without_each(value: Any, number: int, may_go: Callable[[_Place, Any], bool]) -> Iterator[Any]:
    places = [place for place, member in _members(value, ()) if may_go(place, member)]
    for at in range(len(places)):
        yield _without(value, places[(number + at) % len(places)])


def _members(value: Any, place: _Place) -> Iterator[tuple[_Place, Any]]:
    """The members of all objects that do not identify an element or a type, each with its place."""
    if isinstance(value, dict):
        for name, member in value.items():
            if isinstance(member, dict | list) or name not in _IDENTIFYING:
                yield (*place, name), member
            yield from _members(member, (*place, name))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _members(item, (*place, number))


def _without(value: Any, place: _Place) -> Any:
    """A tree without the member at a place."""
    first, *rest = place
    if not rest:
        return {name: member for name, member in value.items() if name != first}
    copied: Any = [*value] if isinstance(value, list) else {**value}
    copied[first] = _without(value[first], tuple(rest))
    return copied


def _scalars(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The scalars of a tree, each with the name of the property that it is in."""
    if isinstance(value, dict):
        for own, member in value.items():
            yield from _scalars(member, own)
    elif isinstance(value, list):
        for item in value:
            yield from _scalars(item, name)
    else:
        yield name, value


def named_apart(value: Any) -> Any:
    """A document in which the elements of each list have key properties of their own, where they have any."""
    if isinstance(value, dict):
        return {name: named_apart(member) for name, member in value.items()}
    if not isinstance(value, list):
        return value
    found = [named_apart(item) for item in value]
    for name in KEY_PROPERTIES:
        for place, item in enumerate(found):
            if isinstance(item, dict) and type(item.get(name)) is str:
                item[name] = f"{item[name]}{place}"
    return found


def _renamed(item: Any) -> Any:
    if not isinstance(item, dict):
        return item
    keys = {name: f"{item[name]}+" for name in KEY_PROPERTIES if type(item.get(name)) is str}
    return {**item, **keys}


def _without_one(item: Any) -> Any:
    """An object without one of the members that do not identify its type."""
    if not isinstance(item, dict):
        return item
    loose = [name for name in item if name not in _IDENTIFYING]
    return {name: each for name, each in item.items() if name not in loose[-1:]}
