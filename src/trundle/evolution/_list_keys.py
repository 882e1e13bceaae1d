"""What identifies the elements of lists."""

from collections.abc import Iterator, Mapping

from trundle.evolution._keyed import bare, is_text, object_of
from trundle.evolution._lineage import Lineage
from trundle.evolution._threads import Place
from trundle.evolution.conversions import Keyed
from trundle.schema import ListOf, ObjectType, Schema
from trundle.version import ApiVersion

_CONDITION = ("type", "status")
_KEYS = ("name", "id", "key")
"""The properties that distinguish elements without declared keys, in order, as the runtime has them."""
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
    where the elements are conditions, else what another version calls by a name of key properties, if the elements
    of this version have none.
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
        elif thread is not None and (key := _renamed_key(lineage, Place(version, each.name))):
            found[each.name] = (key,)
    return found


def _renamed_key(lineage: Lineage, place: Place) -> str | None:
    """What the elements of a list call the property that is their key property in another version."""
    objects = tuple(lineage.evolution.objects_in(place.version, lineage.type(place)))
    if len(objects) != 1:
        return None
    elements = lineage.child(place, objects[0])
    names = [each.name for each in elements.definition(place.version).properties]
    if not set(_KEYS).isdisjoint(names):
        return None
    for key in _KEYS:
        for thread in elements.threads:
            own = thread.at(place.version)
            if own is not None and any(each.property == key for each in thread.places):
                return own.property
    return None


def _thread(lineage: Lineage, place: Place) -> int | None:
    """The number of a place's thread; the envelope of a resource has none."""
    followed = place.property in lineage.names(place.version)
    return lineage.thread(place).number if followed else None


def _is_condition(element: ObjectType | None, schema: Schema) -> bool:
    """Whether an object is a condition as Kubernetes, Cluster API or Knative write it."""
    if element is None or not all(is_text(element.property(each), schema) for each in _CONDITION):
        return False
    return any(each.name in _ABOUT_CONDITIONS for each in element.properties)
