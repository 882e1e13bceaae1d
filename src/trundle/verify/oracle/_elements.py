"""What names the elements of lists, so that they are found in other versions and after an edit.

Elements are named by their declared keys, else by a key property, else by their places where an edit changes no more than one of them.
"""

from typing import Any, NamedTuple, TypeAlias

from trundle.schema import ListOf, MapOf
from trundle.verify._broken import MISSING, same, spoken
from trundle.verify.oracle._meeting import KEYS, At, World, bare_all, objects_only
from trundle.verify.oracle._scalars import kind_of


class Element(NamedTuple):
    """What names an element of a list.

    Attributes:
        names: the properties that identify it; none where its place does.
        values: their texts in one letter case; its place, and how many elements there are.
    """

    names: tuple[str, ...]
    values: tuple[str | int, ...]


Path: TypeAlias = tuple[str | int | Element, ...]
Pair: TypeAlias = tuple[Any, Any]


def named(world: World, at: At, views: Pair) -> Pair:
    """A value before and after an edit, with lists as maps of their elements by name.

    A list stays one where nothing names all elements, and where one may have got another name.
    """
    (at,) = bare_all((at,))
    if isinstance(at.type, ListOf):
        views = _by_name(at.type.keys, views)
    elif not isinstance(at.type, MapOf) and not objects_only(world, (at,)):
        return views
    found: Pair = ({}, {})
    for name in {name: None for each in views if isinstance(each, dict) for name in each}:
        match at.type:
            case ListOf(inner) | MapOf(inner):
                member: At | None = At(at.version, inner)
            case _:
                member = world.member(at, name)
        values = _members(views, name)
        values = values if member is None else named(world, member, values)
        for view, value in zip(found, values, strict=True):
            view.update({} if value is MISSING else {name: value})
    one, other = (
        new if isinstance(old, dict) else old for new, old in zip(found, views, strict=True)
    )
    return one, other


def named_path(views: Pair, path: tuple[str | int, ...]) -> Path | None:
    """A path with its elements by name; None where that is not sure.

    Args:
        views: a value before and after an edit, with its elements by name.
        path: a path with the places of elements.
    """
    found: list[str | int | Element] = []
    for part in path:
        name: str | int | Element = part
        if isinstance(part, int):
            every = [[*each] for each in views if isinstance(each, dict)]
            names = {each[part] for each in every if part < len(each)}
            if len(names) != 1:
                return None
            (name,) = names
        found.append(name)
        views = _members(views, name)
    return tuple(found)


def member_of(value: Any, name: Any) -> Any:
    """A member of an object, if it is one and has it."""
    return value.get(name, MISSING) if isinstance(value, dict) else MISSING


def _members(views: Pair, name: Any) -> Pair:
    one, other = (member_of(each, name) for each in views)
    return one, other


def _by_name(keys: tuple[str, ...], views: Pair) -> Pair:
    """Lists as maps of their elements by name; the same lists where that is not sure."""
    lists = [each for each in views if isinstance(each, list)]
    if not lists or not all(isinstance(item, dict) for each in lists for item in each):
        return views
    for names in [keys] if keys else [(each,) for each in KEYS]:
        found = [_texts(names, each) for each in lists]
        if all(len({*each}) == len(items) for each, items in zip(found, lists, strict=True)):
            break
    else:
        if keys or not _changes_one(lists):
            return views
        found = [[Element((), (place, len(each))) for place in range(len(each))] for each in lists]
    if not ({*found[0]} <= {*found[-1]} or {*found[0]} >= {*found[-1]}):
        return views
    maps = iter([dict(zip(*each, strict=True)) for each in zip(found, lists, strict=True)])
    one, other = (next(maps) if isinstance(each, list) else each for each in views)
    return one, other


def _texts(names: tuple[str, ...], items: list[Any]) -> list[Element]:
    """What names the elements of a list by some properties, those left out that have no text in one of them."""
    rows = [[item.get(name) for name in names] for item in items]
    plain = [row for row in rows if all(kind_of(each) == "string" for each in row)]
    return [Element(names, tuple(map(str.casefold, row))) for row in plain]


def _changes_one(lists: list[Any]) -> bool:
    """Whether an edit changes no more than one element of a list, and nothing else says which is which."""
    one, other = lists[0], lists[-1]
    changed = [pair for pair in zip(one, other, strict=False) if not same(*pair)]
    unlike = {spoken(each) for each in (*one, *other)}
    named_apart = any(key in item for item in (*one, *other) for key in KEYS)
    sure = len(one) == len(other) and len(changed) <= 1 and not named_apart
    return sure and len(unlike) == len(one) + len(changed)
