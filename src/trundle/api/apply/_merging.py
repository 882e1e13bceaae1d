"""Merges a configuration into an object, and takes fields out of one."""

from collections.abc import Callable

from trundle.api.apply._fields import EMPTY, FieldSet, Json, branches, member
from trundle.api.apply._shapes import NOTHING, ListShape, MapShape, Shape, element_of, elements
from trundle.api.apply._values import ABSENT


def merged(shape: Shape, live: Json, config: Json) -> Json:
    """An object with a configuration merged into it: all that the object has, and what the configuration says.

    Elements that only the object has stay where they stand; those that both have come in the order of the configuration.
    """
    if config is ABSENT:
        return live
    match shape.handled(shape.form(config)):
        case ListShape() as listed:
            before = live if isinstance(live, list) else []
            after = config if isinstance(config, list) else []
            if listed.atomic or not (before or after):
                return config
            return _lists(listed, before, after)
        case MapShape() as mapped:
            before_members = live if isinstance(live, dict) else {}
            after_members = config if isinstance(config, dict) else {}
            if mapped.atomic or not (before_members or after_members):
                return config
            return {
                name: merged(
                    mapped.at(name) or NOTHING,
                    before_members.get(name, ABSENT),
                    after_members.get(name, ABSENT),
                )
                for name in {**before_members, **after_members}
            }
        case _:
            return config


def _lists(shape: ListShape, live: list[Json], config: list[Json]) -> list[Json]:
    before = elements(shape, live)
    result: list[Json] = []
    left = [(element_of(shape, value), value) for value in config]
    wanted = {element for element, _ in left}
    coming = iter([element for element, _ in left if element in before])
    following = next(coming, None)
    for value in live:
        element = element_of(shape, value)
        if element not in wanted:
            result.append(value)
        elif element == following:
            # The configuration's own elements before this one stand before it.
            while True:
                each, new = left.pop(0)
                result.append(merged(shape.items, _single(before.get(each)), new))
                if each == element:
                    break
            following = next(coming, None)
    result.extend(merged(shape.items, _single(before.get(each)), new) for each, new in left)
    return result


def _single(values: list[Json] | None) -> Json:
    """What an element of the configuration is merged with; elements of which there are several are replaced."""
    if values is None:
        return ABSENT
    return values[0] if len(values) == 1 else None


def without(
    shape: Shape, value: Json, fields: FieldSet, *, emptied: Callable[[Json], Json]
) -> Json:
    """A value without some fields and elements.

    Args:
        shape: the shape of the value.
        value: the value, which stays as it is.
        fields: what to leave out.
        emptied: what stands in place of a list or object of which everything is left out.
    """
    groups = branches(fields)
    match shape.handled(shape.form(value)):
        case ListShape(atomic=False) as listed if groups and isinstance(value, list):
            elements_ = [
                without(listed.items, each, under, emptied=emptied)
                for each in value
                if () not in (under := groups.get(element_of(listed, each), EMPTY))
            ]
            return elements_ or emptied(value)
        case MapShape(atomic=False) as mapped if groups and isinstance(value, dict):
            members = {
                name: without(mapped.at(name) or NOTHING, inner, under, emptied=emptied)
                for name, inner in value.items()
                if () not in (under := groups.get(member(name), EMPTY))
            }
            return members or emptied(value)
        case _:
            return value


def as_null(_: Json) -> None:
    """Null in place of an emptied list or object, which counts as stated like any value."""
    return


def as_empty(value: Json) -> Json:
    """An empty list or object in place of an emptied one."""
    return type(value)()
