"""The steps between a map and the list with a key that it is on the other side."""

from trundle.evolution._keyed import bare
from trundle.evolution._values import End, Mismatch, beside_null, change_between
from trundle.evolution.conversions import Keyed
from trundle.evolution.steps import Chain, ToList, ToMap, Values, ValueStep
from trundle.schema import ListOf, MapOf, ObjectType


def change_keyed(source: End, target: End, conversion: Keyed, *, up: bool) -> ValueStep | Mismatch:
    """The step from the map to the list, or back."""
    to_list = conversion.map_older == up
    maps, lists = (source, target) if to_list else (target, source)
    map_type, list_type = bare(maps.type), bare(lists.type)
    assert isinstance(map_type, MapOf)
    assert isinstance(list_type, ListOf)
    items = bare(list_type.items)
    if conversion.value:
        element = lists.definition(items)
        assert isinstance(element, ObjectType)
        member = element.property(conversion.value)
        assert member is not None
        items = member.type
    ends = (map_type.values, items) if to_list else (items, map_type.values)
    inner = change_between(source, target, *ends)
    if isinstance(inner, Mismatch):
        return inner
    each = () if inner is None else (Values(inner),)
    keyed = (lists.place, lists.shape, conversion.key, conversion.value)
    steps = (*each, ToList(*keyed)) if to_list else (ToMap(*keyed), *each)
    step: ValueStep = steps[0] if len(steps) == 1 else Chain(steps)
    return beside_null(step, source, target)
