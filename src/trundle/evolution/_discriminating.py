"""What distinguishes the variants of a union, and which variants of two unions meet.

A constant that several variants of a union share discriminates nothing. Variants meet where all discriminators
that both have agree, and by name where nothing discriminates; letter case does not matter.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TypeAlias

from trundle.schema import EnumType, ObjectType, Ref, Schema, Type

Meets: TypeAlias = Callable[[ObjectType | EnumType, ObjectType | EnumType], bool]
"""Whether two named definitions at the same place are the same thing."""
Definitions: TypeAlias = Mapping[str, ObjectType | EnumType]


def fixed_text(type_: Type, definitions: Definitions) -> str | None:
    """The only text that a type admits; None where it admits others, or is no text."""
    target = definitions.get(type_.key) if isinstance(type_, Ref) else None
    if isinstance(target, EnumType) and target.kind == "string" and len(target.values) == 1:
        return str(target.values[0])
    return None


def constants(definition: ObjectType, definitions: Definitions) -> Mapping[str, str]:
    """The properties of an object that admit one text only, with that text."""
    texts = {each.name: fixed_text(each.type, definitions) for each in definition.properties}
    return {name: text for name, text in texts.items() if text is not None}


def tag_text(definition: ObjectType, definitions: Definitions) -> str | None:
    """The text of an object's tag; None where it has no tag."""
    return None if definition.tag is None else constants(definition, definitions)[definition.tag]


def discriminators(variants: tuple[Type, ...], schema: Schema) -> tuple[Mapping[str, str], ...]:
    """For each variant of a union, the constant texts that distinguish it from the others, by property name.

    A constant that another variant has, too, distinguishes nothing; neither does the version of an embedded resource.
    """
    found = tuple(_constants(each, schema.definitions) for each in variants)
    times = Counter((name, text.casefold()) for each in found for name, text in each.items())
    return tuple(
        {name: text for name, text in each.items() if times[name, text.casefold()] == 1}
        for each in found
    )


def _constants(variant: Type, definitions: Definitions) -> Mapping[str, str]:
    definition = definitions.get(variant.key) if isinstance(variant, Ref) else None
    if not isinstance(definition, ObjectType):
        return {}
    found = dict(constants(definition, definitions))
    if definition.embedded:
        found.pop("apiVersion", None)
    return found


def likeness_of(
    one: ObjectType,
    other: ObjectType,
    tags: Mapping[str, str],
    others: Mapping[str, str],
    meets: Meets,
) -> tuple[int, ...] | None:
    """How much alike two variants are, the larger the more; None where they do not meet.

    Args:
        one: the older variant.
        other: the newer variant.
        tags: the discriminators of the older.
        others: the discriminators of the newer.
        meets: whether two definitions are the same thing by their names.
    """
    shared = tags.keys() & others.keys()
    if any(tags[name].casefold() != others[name].casefold() for name in shared):
        return None
    if not shared and not meets(one, other):
        return None
    texts, other_texts = ({text.casefold() for text in each.values()} for each in (tags, others))
    names, other_names = ({each.name for each in side.properties} for side in (one, other))
    same_text, same_names = len(texts & other_texts), len(names & other_names)
    return len(shared), one.name == other.name, same_text, same_names


def contradict(one: ObjectType, other: ObjectType, older: Schema, newer: Schema) -> bool:
    """Whether different texts of one property distinguish two objects from other variants."""
    if one.tag is None or one.tag != other.tag:
        return False
    texts = tag_text(one, older.definitions), tag_text(other, newer.definitions)
    return str(texts[0]).casefold() != str(texts[1]).casefold()
