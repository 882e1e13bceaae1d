"""How enums spell texts, and between which enums of one property a text takes another letter case.

Text is carried as it was written between versions whose enums spell it alike. Where the enums of a property spell a
text in two ways, each shows its own letter case, and a client still reads the text that it wrote: there, the
conversion between enums with other values is not exact.
"""

from collections.abc import Iterable, Mapping
from typing import TypeAlias, assert_never

import msgspec

from trundle.evolution._identity import references
from trundle.evolution._threads import Link, Place
from trundle.evolution._type_versions import TypeVersions
from trundle.evolution.conversions import (
    ByVariant,
    CallHook,
    Conversion,
    ConvertObject,
    ConvertScalar,
    EachItem,
    EachValue,
    EnumText,
    Keyed,
    MapValues,
    Narrow,
    NullFits,
    Same,
    Unwrap,
    Wrap,
)
from trundle.schema import EnumType, Ref

Spellings: TypeAlias = Mapping[str, frozenset[str]]
"""How each text is spelled, by its case-folded form."""


def spellings(enums: Iterable[EnumType]) -> Spellings:
    """All spellings of the texts of some enums."""
    found: dict[str, frozenset[str]] = {}
    for text in (str(value) for each in enums for value in each.values):
        found[text.casefold()] = found.get(text.casefold(), frozenset()) | {text}
    return found


def respelled(lineage: TypeVersions, links: Iterable[Link]) -> Mapping[Place, int]:
    """The places whose enums show their own letter case; those that conversions join have one number."""
    found: dict[Place, int] = {}
    for number, joined in enumerate(_joined(links)):
        places = {place for link in joined for place in (link.older, link.newer)}
        enums = [each for place in places for each in enums_at(lineage, place)]
        if _in_two_ways(enums):
            found.update(dict.fromkeys(places, number))
    return found


def respell(lineage: TypeVersions, links: Iterable[Link]) -> Iterable[Link]:
    """The links, those between enums that show their own letter case as conversions of text."""
    links = list(links)
    places = respelled(lineage, links)
    for link in links:
        if link.conversion is None or not {link.older, link.newer} <= places.keys():
            yield link
            continue
        older, newer = (enums_at(lineage, place) for place in (link.older, link.newer))
        if not older or not newer or spellings(older) == spellings(newer):
            yield link
        else:
            text = EnumText(_values(older), _values(newer))
            yield msgspec.structs.replace(link, conversion=_respelled(link.conversion, text))


def _respelled(conversion: Conversion, text: EnumText) -> Conversion:
    """A conversion whose texts take the letter case of the other side."""
    match conversion:
        case Same():
            return text
        case EachItem(inner) | EachValue(inner) | NullFits(inner) | Wrap(inner) | Unwrap(inner):
            field = conversion.__struct_fields__[0]
            return msgspec.structs.replace(conversion, **{field: _respelled(inner, text)})
        case ByVariant(older, newer, variants):
            respelled_variants = tuple(
                msgspec.structs.replace(each, conversion=_respelled(each.conversion, text))
                if isinstance(older[each.older], Ref) and isinstance(newer[each.newer], Ref)
                else each
                for each in variants
            )
            return ByVariant(older, newer, respelled_variants)
        case (
            ConvertObject()
            | Narrow()
            | EnumText()
            | MapValues()
            | ConvertScalar()
            | Keyed()
            | CallHook()
        ):
            return conversion
        case _:
            assert_never(conversion)


def _values(enums: Iterable[EnumType]) -> tuple[str, ...]:
    return tuple(str(value) for each in enums for value in each.values)


def _in_two_ways(enums: Iterable[EnumType]) -> bool:
    known: dict[str, frozenset[str]] = {}
    for each in enums:
        for text, ways in spellings([each]).items():
            if known.setdefault(text, ways) != ways:
                return True
    return False


def _joined(links: Iterable[Link]) -> Iterable[list[Link]]:
    """The links whose places conversions join, together."""
    group: dict[Place, list[Link]] = {}
    for link in links:
        if link.conversion is None:
            continue
        ours = group.setdefault(link.older, [])
        theirs = group.setdefault(link.newer, ours)
        ours.append(link)
        if ours is not theirs:
            ours.extend(theirs)
            for place, each in group.items():
                if each is theirs:
                    group[place] = ours
    return {id(each): each for each in group.values()}.values()


def enums_at(lineage: TypeVersions, place: Place) -> tuple[EnumType, ...]:
    """The enums of texts that a property's type names."""
    definitions = lineage.evolution.schema(place.version).definitions
    named = (definitions[key] for key in references(lineage.type(place)))
    return tuple(each for each in named if isinstance(each, EnumType) and each.kind == "string")
