"""Edits of lists that come up in every proof: added, removed and reordered elements, on every level."""

from typing import Any

from trundle.verify._values import KEY_PROPERTIES

WAYS = ("reversed", "first removed", "one more in front", "first changed")


def stirred(value: Any, number: int) -> Any:
    """A document in which all lists are edited, in a way that the number determines.

    Args:
        value: a tree, as `trundle.verify._broken.tree` makes it; it is left alone.
        number: chooses the way.
    """
    if isinstance(value, dict):
        return {name: stirred(member, number) for name, member in value.items()}
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
            return [_without_one(value[0]), *(stirred(item, number) for item in value[1:])]


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
    loose = [name for name in item if name not in {*KEY_PROPERTIES, "apiVersion", "kind", "type"}]
    return {name: each for name, each in item.items() if name not in loose[-1:]}
