"""Types, versions and names as a person reads them in a report."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias, assert_never

from trundle.schema import (
    EnumType,
    FreeForm,
    ListOf,
    MapOf,
    Nullable,
    ObjectType,
    Property,
    Ref,
    Scalar,
    Schema,
    Type,
    Union,
)

DefinitionPair: TypeAlias = tuple[ObjectType | EnumType, ObjectType | EnumType]

_PLAIN = re.compile(r"[A-Za-z_$][A-Za-z0-9_$./*-]*")
_OTHER_THAN_TEXT = frozenset({"false", "n", "no", "null", "off", "on", "true", "y", "yes"})


def spell(type_: Type, schema: Schema) -> str:
    """A type in a word or two: `string`, `NodeTypes[]`, `map of Level`, `string | null`, `any`."""
    match type_:
        case Scalar(kind):
            return kind
        case FreeForm():
            return "any"
        case Ref(key):
            return schema.definitions[key].name
        case ListOf(items):
            text = spell(items, schema)
            return f"({text})[]" if " " in text else f"{text}[]"
        case MapOf(values):
            return f"map of {spell(values, schema)}"
        case Nullable(inner):
            return f"{spell(inner, schema)} | null"
        case Union(variants):
            names = Counter(spell(each, schema) for each in variants)
            return " | ".join(
                name if number == 1 else f"{name} ({number} variants)"
                for name, number in names.items()
            )
        case _:
            assert_never(type_)


def spell_property(declared: Property, schema: Schema) -> str:
    """The type of a property; `?` after it says that the property is optional."""
    text = spell(declared.type, schema)
    if declared.required:
        return text
    return f"({text})?" if " " in text else f"{text}?"


def paired_definitions(
    older: Type, newer: Type, schemas: tuple[Schema, Schema]
) -> tuple[DefinitionPair, ...] | None:
    """The definitions that are at the same place of two types; None where the types are built otherwise."""
    match older, newer:
        case Nullable(inner), _:
            return paired_definitions(inner, newer, schemas)
        case _, Nullable(inner):
            return paired_definitions(older, inner, schemas)
        case Ref(key), Ref(other):
            one, two = schemas[0].definitions[key], schemas[1].definitions[other]
            return ((one, two),) if type(one) is type(two) else None
        case (ListOf(inner), ListOf(others)) | (MapOf(inner), MapOf(others)):
            return paired_definitions(inner, others, schemas)
        case Union(variants), Union(candidates) if len(variants) == len(candidates):
            found: list[DefinitionPair] = []
            for variant, candidate in _namesakes_first(variants, candidates, schemas):
                pairs = paired_definitions(variant, candidate, schemas)
                if pairs is None:
                    return None
                found.extend(pairs)
            return tuple(found)
        case Scalar(kind), Scalar(other):
            return () if kind == other else None
        case FreeForm(), FreeForm():
            return ()
        case _:
            return None


def _namesakes_first(
    variants: tuple[Type, ...], candidates: tuple[Type, ...], schemas: tuple[Schema, Schema]
) -> Iterator[tuple[Type, Type]]:
    """Pairs of variants: those that are spelled alike, then the others in their order."""
    left = [(spell(each, schemas[1]), each) for each in candidates]
    alone = []
    for variant in variants:
        name = spell(variant, schemas[0])
        namesake = next((each for each in left if each[0] == name), None)
        if namesake is None:
            alone.append(variant)
        else:
            left.remove(namesake)
            yield variant, namesake[1]
    yield from zip(alone, (each for _, each in left), strict=True)


def yaml_text(text: str) -> str:
    """A text as YAML writes it within a flow mapping, quoted where it would read as something else."""
    plain = _PLAIN.fullmatch(text) is not None and text.casefold() not in _OTHER_THAN_TEXT
    return text if plain else json.dumps(text, ensure_ascii=False)


def count(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun: `1 type`, `2 types`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
