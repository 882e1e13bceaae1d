"""Variants of unions: which one a value is, and which ones meet."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trundle.schema import EnumType, ListOf, MapOf, ObjectType, Ref, Type, Union
from trundle.verify._broken import MISSING, Number
from trundle.verify.oracle._meeting import At, World, bare, once
from trundle.verify.oracle._scalars import kind_of, may_be

Tags = Mapping[str, str]


def variants(type_: Type) -> tuple[Type, ...]:
    """The variants of a union; any other type is a union of one."""
    found = bare(type_)
    return found.variants if isinstance(found, Union) else (found,)


@once
def fixed_texts(world: World, at: At) -> Tags:
    """The properties that an object type fixes to one text each."""
    found = {}
    for each in world.object(at).properties:
        target = world.definition(At(at.version, bare(each.type)))
        if isinstance(target, EnumType) and target.kind == "string" and len(target.values) == 1:
            found[each.name] = str(target.values[0])
    return found


@once
def tags(world: World, at: At) -> list[Tags | None]:
    """What distinguishes each variant of a union from the others; None for variants that are no objects.

    A text that several variants share distinguishes nothing.
    """
    every = [At(at.version, each) for each in variants(at.type)]
    found = [
        fixed_texts(world, each) if isinstance(world.definition(each), ObjectType) else None
        for each in every
    ]
    objects = [each for each in found if each is not None]
    distinguishing = {
        name
        for name in set().union(*objects)
        if len({each[name].casefold() for each in objects if name in each}) == len(objects)
    }
    return [
        None if each is None else {name: each[name] for name in each.keys() & distinguishing}
        for each in found
    ]


def which(world: World, value: Any, at: At) -> int | None:
    """The place of the variant that a value is; None where that is not sure."""
    every = variants(at.type)
    variant_tags = tags(world, at)
    if kind_of(value) == "object":
        objects = [place for place, each in enumerate(variant_tags) if each is not None]
        if len(objects) == 1:
            return objects[0]
        found = [
            place for place in objects if _agree(variant_tags[place] or {}, _texts(value)) is True
        ]
        return found[0] if len(found) == 1 else None
    fitting = [
        place
        for place, each in enumerate(every)
        if variant_tags[place] is None and may_be(world, value, At(at.version, each)) is not False
    ]
    return fitting[0] if len(fitting) == 1 else None


def _texts(value: Mapping[str, Any]) -> Tags:
    return {
        name: each
        for name, each in value.items()
        if isinstance(each, str) and not isinstance(each, Number)
    }


def _agree(one: Tags, other: Tags) -> bool | None:
    """Whether two sets of texts agree where both say something; None where they share nothing."""
    shared = one.keys() & other.keys()
    if not shared:
        return None
    return all(one[name].casefold() == other[name].casefold() for name in shared)


@once
def meeting(world: World, one: At, place: int, other: At) -> list[int]:
    """The places of the variants of another union that one of this meets.

    Objects meet where the discriminators that both know agree; where they share none, by their names.
    """
    own = variants(one.type)[place]
    own_tags = tags(world, one)[place]
    met = []
    for number, (each, theirs) in enumerate(
        zip(variants(other.type), tags(world, other), strict=True)
    ):
        pair = At(one.version, own), At(other.version, each)
        if (own_tags is None) is not (theirs is None):
            continue
        agree = None if own_tags is None or theirs is None else _agree(own_tags, theirs)
        if agree or (agree is None and world.meet(*pair)):
            met.append(number)
    return met


@once
def contested(world: World, one: At, place: int, other: At, met: int) -> bool:
    """Whether further variants meet the one that a variant meets by its name only; just one of them can."""
    ours, theirs = tags(world, one)[place], tags(world, other)[met]
    if ours is not None and theirs is not None and _agree(ours, theirs):
        return False
    rivals = (each for each in range(len(variants(one.type))) if each != place)
    return any(met in meeting(world, one, each, other) for each in rivals)


def changed_discriminators(
    world: World, document: Any, source: str, shown: Any, target: str
) -> Iterator[tuple[str, str]]:
    """The texts of discriminators that a document shows in one version, and does not have in another.

    Only texts that both versions know count, at places that both have. This asks nothing of how variants meet.

    Yields:
        The place, with names only, and the text.
    """
    ours: dict[str, list[str]] = {}
    theirs: dict[str, list[str]] = {}
    known: dict[str, set[str]] = {}
    for place, text, texts in _discriminators(world, document, world.root(source), ""):
        ours.setdefault(place, []).append(text)
        known.setdefault(place, set()).update(texts)
    for place, text, _ in _discriminators(world, shown, world.root(target), ""):
        if text in known.get(place, ()):
            theirs.setdefault(place, []).append(text)
    for place, texts in theirs.items():
        left = list(ours.get(place, ()))
        for text in texts:
            if text not in left:
                yield place, text
            else:
                left.remove(text)


def _discriminators(
    world: World, value: Any, at: At, path: str
) -> Iterator[tuple[str, str, Sequence[str]]]:
    """All discriminators in a value: the place, the text, and all texts that its union knows."""
    type_ = bare(at.type)
    definition = world.definition(At(at.version, type_))
    match type_:
        case ListOf(items) if isinstance(value, list):
            for each in value:
                yield from _discriminators(world, each, At(at.version, items), f"{path}[]")
        case MapOf(values) if isinstance(value, dict):
            for name, each in value.items():
                yield from _discriminators(world, each, At(at.version, values), f"{path}.{name}")
        case Union() if isinstance(value, dict):
            known = tags(world, at)
            for name, text in _texts(value).items():
                texts = [each[name].casefold() for each in known if each and name in each]
                if len(texts) > 1:
                    yield f"{path}.{name}", text.casefold(), texts
            place = which(world, value, at)
            if place is not None:
                found = At(at.version, variants(at.type)[place])
                yield from _discriminators(world, value, found, path)
        case Ref() if isinstance(definition, ObjectType) and isinstance(value, dict):
            for name, each in value.items():
                member = world.member(At(at.version, type_), name)
                if member is not None and each is not MISSING:
                    yield from _discriminators(world, each, member, f"{path}.{name}")
        case _:
            return
