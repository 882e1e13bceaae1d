"""Hypothesis strategies of edits: what a client changes in an object that it has read."""

import copy
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from msgspec import inspect

from trundle.runtime import ABSENT, GeneratedObject
from trundle.verify._values import drawn_fields, field_values, name_apart, values

_DEPTH = 2


def edits(value: Any, *, most: int = 3, scalars: bool = False) -> SearchStrategy[Any]:
    """Edited copies of an object.

    A scalar or a nested object is changed, an optional property added or removed, an element of a list
    added, removed, moved or changed. The object itself is not touched.

    Args:
        value: an object of a generated class.
        most: how many edits there are at most; at least one is tried.
        scalars: whether only scalars change that are there and are in no list or map.
    """
    return _edited(value, most, scalars)


@st.composite
def _edited(draw: DrawFn, value: Any, most: int, scalars: bool) -> Any:  # noqa: FBT001 - private
    result = copy.deepcopy(value)
    for _ in range(draw(st.integers(1, most))):
        _edit_object(draw, result, scalars=scalars)
    return result


def _edit_object(draw: DrawFn, holder: Any, *, scalars: bool) -> None:
    fields = drawn_fields(type(holder))
    names = [
        name
        for name in fields
        if not scalars or _editable(getattr(holder, name, ABSENT), fields[name])
    ]
    if not names:
        return
    name = draw(st.sampled_from(names))
    field = fields[name]
    current = getattr(holder, name)
    fresh = field_values(type(holder), field, _DEPTH)
    if current is ABSENT:
        setattr(holder, name, draw(fresh))
    elif scalars:
        setattr(holder, name, _edit(draw, current, field.type, fresh, scalars=True))
    elif not field.required and draw(st.integers(0, 4)) == 0:
        setattr(holder, name, ABSENT)
    else:
        changed = _edit(draw, current, field.type, fresh, scalars=False)
        empty = field.name == "additional_properties" and not changed
        setattr(holder, name, ABSENT if empty else changed)


def _editable(value: Any, field: inspect.Field) -> bool:
    if field.name in {"unknown", "additional_properties"} or value is ABSENT:
        return False
    return not isinstance(value, dict | list)


def _edit(
    draw: DrawFn, value: Any, type_: Any, fresh: SearchStrategy[Any], *, scalars: bool
) -> Any:
    if isinstance(value, GeneratedObject) and (scalars or draw(st.integers(0, 5))):
        _edit_object(draw, value, scalars=scalars)
        return value
    if isinstance(value, list) and value:
        return _edit_list(draw, value, _part(type_, inspect.ListType))
    if isinstance(value, dict) and value:
        return _edit_map(draw, value, _part(type_, inspect.DictType))
    return draw(fresh)


def _part(type_: Any, kind: Any) -> Any:
    types = type_.types if isinstance(type_, inspect.UnionType) else (type_,)
    found = next(each for each in types if isinstance(each, kind))
    return found.item_type if kind is inspect.ListType else found.value_type


def _edit_list(draw: DrawFn, items: list[Any], type_: Any) -> list[Any]:
    ways = ["add", "change", "change", "move", "remove"]
    place = draw(st.integers(0, len(items) - 1))
    fresh = values(type_, depth=1)
    match draw(st.sampled_from(ways)):
        case "add":
            items.insert(place, draw(fresh))
            if isinstance(items[0], GeneratedObject) and draw(st.booleans()):
                name_apart(items)
        case "remove":
            del items[place]
        case "move":
            items = draw(st.permutations(items))
        case _:
            items[place] = _edit(draw, items[place], type_, fresh, scalars=False)
    return list(items)


def _edit_map(draw: DrawFn, members: dict[str, Any], type_: Any) -> dict[str, Any]:
    name = draw(st.sampled_from(sorted(members)))
    fresh = values(type_, depth=1)
    match draw(st.sampled_from(["add", "change", "remove"])):
        case "add":
            members[f"{name}+"] = draw(fresh)
        case "remove":
            del members[name]
        case _:
            members[name] = _edit(draw, members[name], type_, fresh, scalars=False)
    return members
