"""Texts as their writers spelled them, where the enums of one property know different texts.

Such versions share the value: it is kept as it was written. A version shows its own letter case of a text that its
enum has, but what its own clients wrote it shows as they did: where that is not the enum's own letter case, an entry of
the bag has it, as long as no other client changes the value. Versions with the same enum share what their clients wrote.
"""

from collections.abc import Iterable, Mapping
from typing import assert_never

from trundle.evolution._spelling import enums_at, spellings
from trundle.evolution._threads import ADDITIONAL, OWN_TEXT, Place, Thread
from trundle.evolution._type_versions import TypeVersions
from trundle.schema import EnumType, FreeForm, ListOf, MapOf, Nullable, Ref, Scalar, Type, Union

_KEYS = frozenset({"apiVersion", "id", "key", "name"})
"""Properties by which a list's elements or a type's variants are found, whose texts stay as they are."""


def own_texts(
    lineage: TypeVersions, threads: Iterable[Thread]
) -> Mapping[Place, tuple[Place, ...]]:
    """By place of an enum that shows its own letter case: the entries that may have what its clients wrote."""
    found: dict[Place, tuple[Place, ...]] = {}
    for thread in threads:
        groups: dict[frozenset[tuple[str, frozenset[str]]], list[Place]] = {}
        for place in thread.places:
            groups.setdefault(frozenset(spellings(enums_at(lineage, place)).items()), []).append(
                place
            )
        if len(groups) == 1 or any(_stays(lineage, place) for place in thread.places):
            continue
        for places in groups.values():
            entries = tuple(map(own_text_entry, places))
            found.update(dict.fromkeys(places, entries))
    return found


def own_text_entry(place: Place) -> Place:
    """The entry that has what a client wrote at a place, beside the value that versions share."""
    return Place(place.version, f"{place.property}{OWN_TEXT}")


def _stays(lineage: TypeVersions, place: Place) -> bool:
    """Whether texts at a place are shown as they are stored: keys and tags, and what is more than texts."""
    definition = lineage.definition(place.version)
    name = lineage.path(place)[-1]
    return (
        place.property == ADDITIONAL
        or name == definition.tag
        or name in _KEYS
        or name in lineage.evolution.key_names
        or own_text_entry(place).property in lineage.followed(place.version)
        or not _is_text(lineage, place, lineage.type(place))
    )


def _is_text(lineage: TypeVersions, place: Place, type_: Type) -> bool:
    """Whether a type is an enum of texts, or lists or maps of these."""
    match type_:
        case Nullable(inner) | ListOf(inner) | MapOf(inner):
            return _is_text(lineage, place, inner)
        case Ref(key):
            found = lineage.evolution.schema(place.version).definitions[key]
            return isinstance(found, EnumType) and found.kind == "string"
        case Scalar() | FreeForm() | Union():
            return False
        case _:
            assert_never(type_)
