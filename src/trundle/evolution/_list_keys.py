"""What identifies the elements of lists."""

from collections.abc import Iterator, Mapping

from trundle.evolution._keyed import bare, is_text, object_of
from trundle.evolution._lineage import Lineage
from trundle.evolution._threads import Place
from trundle.evolution.conversions import Keyed
from trundle.schema import ListOf, ObjectType, Schema
from trundle.version import ApiVersion

_CONDITION = ("type", "status")
_ABOUT_CONDITIONS = {"lastTransitionTime", "message", "reason", "severity"}


def derived_keys(lineage: Lineage) -> Iterator[tuple[Lineage, str]]:
    """The types of elements whose key derives from a map of another version, each with the key's property."""
    for link in lineage.links:
        if isinstance(link.conversion, Keyed):
            place = link.newer if link.conversion.map_older else link.older
            for key in lineage.evolution.objects_in(place.version, lineage.type(place)):
                yield lineage.child(place, key), link.conversion.key


def list_keys(lineage: Lineage, version: ApiVersion) -> Mapping[str, tuple[str, ...]]:
    """By property that is a list: the properties that identify an element.

    These are what the schema declares, else the key of a configured `map-to-list` or `list-to-map`, else `type`
    where the elements are conditions.
    """
    schema = lineage.evolution.schema(version)
    configured: dict[int | None, str] = {
        lineage.thread(place).number: link.conversion.key
        for link in lineage.links
        if isinstance(link.conversion, Keyed)
        for place in (link.older, link.newer)
    }
    found = {}
    for each in lineage.definition(version).properties:
        type_ = bare(each.type)
        if not isinstance(type_, ListOf):
            continue
        if type_.keys:
            found[each.name] = type_.keys
        elif (thread := _thread(lineage, Place(version, each.name))) in configured:
            found[each.name] = (configured[thread],)
        elif _is_condition(object_of(type_.items, schema), schema):
            found[each.name] = _CONDITION[:1]
    return found


def _thread(lineage: Lineage, place: Place) -> int | None:
    """The number of a place's thread; the envelope of a resource has none."""
    followed = place.property in lineage.names(place.version)
    return lineage.thread(place).number if followed else None


def _is_condition(element: ObjectType | None, schema: Schema) -> bool:
    """Whether an object is a condition as Kubernetes, Cluster API or Knative write it."""
    if element is None or not all(is_text(element.property(each), schema) for each in _CONDITION):
        return False
    return any(each.name in _ABOUT_CONDITIONS for each in element.properties)
