"""Values that several threads have one of: a write of one takes the place of the others, whatever they can express.

Threads that derive from each other by conversion have one value, in the shapes of several versions. Where a version on the
way cannot express what a client writes, nothing of it reaches the threads beyond, and these have to lose what they had.
Elements of lists are apart: those that a version cannot express stay beside those that it can. So are objects and free-form
data, which have members that the other cannot express, and lists of texts, of which each keeps its own spelling.
A single value and the list around it are one value.
"""

from typing import TypeAlias, assert_never

from trundle.evolution._lineage import Lineage
from trundle.evolution._paths import Path
from trundle.evolution._threads import ByConversion, Place, Thread
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
    loosens,
)
from trundle.schema import FreeForm, ListOf, MapOf, Nullable, Ref, Scalar, Type, Union
from trundle.version import ApiVersion

OneValue: TypeAlias = tuple[Path, tuple[tuple[Place, ...], ...]]
"""The path of a property, empty where a shape has none; and by thread the entries that may have its value."""


def entries_of_one_value(lineage: Lineage, version: ApiVersion) -> tuple[OneValue, ...]:
    """The values that several threads have one of: where objects of a stored shape have each, and its entries.

    Args:
        lineage: the type of the objects.
        version: the version whose storage type they have.
    """
    found = []
    for threads in lineage.evolution.once(_groups, lineage):
        kept = [place for each in threads if (place := each.at(version)) is not None]
        if len(kept) <= 1:
            path = lineage.path(kept[0]) if kept else ()
            found.append((path, tuple(each.places for each in threads)))
    return tuple(sorted(found))


def _groups(lineage: Lineage) -> tuple[tuple[Thread, ...], ...]:
    """The threads of a lineage that derive from each other one value by one value."""
    group = {each.number: [each] for each in lineage.threads}
    for number, derivations in lineage.derivations.items():
        for each in derivations:
            if not isinstance(each.how, ByConversion) or not _of_one(each.how.conversion):
                continue
            ends = (each.inputs[0], each.output)
            if loosens(each.how.conversion) and any(map(lineage.holds_objects, ends)):
                continue
            if isinstance(each.how.conversion, EnumText) and any(
                _is_of_lists(lineage.type(end)) for end in ends
            ):
                continue  # each text of a list has a spelling of its own
            ours, theirs = group[number], group[lineage.thread(each.inputs[0]).number]
            if ours is not theirs:
                ours += theirs
                group.update((thread.number, ours) for thread in theirs)
    several = {id(each): each for each in group.values() if len(each) > 1}
    return tuple(tuple(sorted(each, key=lambda one: one.places)) for each in several.values())


def _is_of_lists(type_: Type) -> bool:
    """Whether a type is a list, or a map of them."""
    match type_:
        case ListOf():
            return True
        case MapOf(inner) | Nullable(inner):
            return _is_of_lists(inner)
        case Scalar() | FreeForm() | Ref() | Union():
            return False
        case _:
            assert_never(type_)


def _of_one(conversion: Conversion) -> bool:
    """Whether a conversion makes one value of one, or each member of a map."""
    match conversion:
        case EachValue(inner) | NullFits(inner) | Wrap(inner) | Unwrap(inner):
            return _of_one(inner)
        case EachItem(inner):
            return _is_whole(inner)
        case Keyed():
            return False
        case (
            ByVariant()
            | CallHook()
            | ConvertObject()
            | ConvertScalar()
            | EnumText()
            | MapValues()
            | Narrow()
            | Same()
        ):
            return True
        case _:
            assert_never(conversion)


def _is_whole(item: Conversion) -> bool:
    """Whether each element of a list has a counterpart on the other side, which is an object or a list of them."""
    return isinstance(item, ConvertObject) or (isinstance(item, EachItem) and _is_whole(item.item))
