"""The bags of maps within an object: they stand in the header of the object, by the place of the map.

The contract of a map drops what it does not name, and a bag in the map with it.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from trundle.models._graph import is_mark

NESTED = "$within"
"""The entry of a bag that has the bags of maps within the object."""

_BAG = "$propertyBag"
_KEYS = ("name", "id", "key")


def gather_bags(
    document: dict[str, Any], bag: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Takes the bags out of the maps in a document, and puts them into that of the object; gives both."""
    left = dict(bag.get(NESTED, {}))
    for place, each in _maps(document, ""):
        if each.get(_BAG):
            left[place] = each.pop(_BAG)
    own = {name: each for name, each in bag.items() if name != NESTED}
    return document, {**own, **({NESTED: left} if left else {})}


def spread_bags(
    document: dict[str, Any], bag: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Puts the bags of maps that stand in that of the object back into them; gives a copy of the document, and the rest."""
    made = _copied(document)
    left = dict(bag.get(NESTED, {}))
    for place, each in list(_maps(made, "")):
        if place in left:
            each[_BAG] = left.pop(place)
    own = {name: each for name, each in bag.items() if name != NESTED}
    if left:
        own[NESTED] = left
    return made, own


def _copied(value: Any) -> Any:
    if isinstance(value, list):
        return [_copied(each) for each in value]
    return (
        {name: _copied(each) for name, each in value.items()} if isinstance(value, dict) else value
    )


def _maps(value: Any, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """All maps within a value with their places; an element of a list is known by its key, else by its position."""
    if isinstance(value, list):
        names = [_name(each) for each in value]
        counts = Counter(names)
        for at, (each, name) in enumerate(zip(value, names, strict=True)):
            own = name if name is not None and counts[name] == 1 else str(at)
            yield from _within(each, f"{place}[{own}]")
    elif isinstance(value, dict) and not is_mark(value):
        for name, each in list(value.items()):
            if name != _BAG:
                yield from _within(each, f"{place}/{name}")


def _within(value: Any, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(value, dict) and not is_mark(value):
        yield place, value
    yield from _maps(value, place)


def _name(value: Any) -> str | None:
    if not isinstance(value, dict) or is_mark(value):
        return None
    return next((f"{key}={value[key]}" for key in _KEYS if isinstance(value.get(key), str)), None)
