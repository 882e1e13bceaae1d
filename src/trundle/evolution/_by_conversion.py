"""What conversions make of a value over one pair of neighbours, on its way to some end."""

from trundle.evolution._changes import SCALAR_CONVERSIONS
from trundle.evolution._entries import Entries
from trundle.evolution._keyed_steps import change_keyed
from trundle.evolution._lineage import Lineage
from trundle.evolution._named import change_scalar
from trundle.evolution._neighbours import Neighbours
from trundle.evolution._stale import with_elements
from trundle.evolution._threads import ByConversion, Derivation, Place
from trundle.evolution._values import End, Mismatch, beside_null, change_value, own_letter_case
from trundle.evolution._ways import along, change, way
from trundle.evolution.conversions import (
    CallHook,
    ConvertScalar,
    Keyed,
    MapValues,
    beside_nulls,
    loosens,
)
from trundle.evolution.steps import (
    CallConverter,
    Chain,
    Expression,
    MapText,
    Read,
    Refill,
    Shape,
    ValueStep,
)


def read_straight(own: End, each: Derivation, how: ByConversion, goal: End) -> Expression | None:
    """What the source has of the other side at `own`, changed to the goal in one step; None where it takes several."""
    lineage, (source, *_) = own.lineage, each.inputs
    if loosens(how.conversion):  # what is free-form has the shape that is beside it
        stepwise = lineage.changing(each.output)
        stepwise = stepwise or (own.place != source and lineage.changing(source))
    else:
        conversion = beside_nulls(how.conversion)
        stepwise = isinstance(conversion, CallHook | ConvertScalar | Keyed | MapValues)
    step = None if stepwise else change_value(own, goal)
    if stepwise or isinstance(step, Mismatch):
        return None
    return change(Read(own.place.property), step)


def input_of(lineage: Lineage, each: Derivation, how: ByConversion) -> End:
    """What a conversion takes: the place that it leads from, in the shape that it knows."""
    source = each.inputs[0]
    hooked = isinstance(how.conversion, CallHook)
    return End(lineage, source, Shape("api" if hooked else "storage", source.version))


def converted(
    value: Expression, each: Derivation, how: ByConversion, goal: End, entries: Entries
) -> Expression | None:
    """A value after a conversion, at some end; None where the types do not meet.

    Args:
        value: the value that the conversion takes.
        each: the derivation.
        how: its conversion.
        goal: where the value is wanted, and in which shape.
        entries: what the source has in its bag.
    """
    lineage = entries.lineage
    given = input_of(lineage, each, how)
    if loosens(how.conversion) and lineage.changing(each.output):
        return _fitted(value, given, each.output, goal, entries)
    step, reached = _across(given, each.output, how)
    if isinstance(step, Mismatch):
        return None
    value = change(value, step)
    keyed = beside_nulls(how.conversion)
    if isinstance(keyed, Keyed) and keyed.map_older == how.up:
        value = with_elements(value, each, keyed, entries)
    return along(value, reached, goal)


def _fitted(value: Expression, free: End, output: Place, goal: End, entries: Entries) -> Expression:
    """Typed data that free-form data gives: what fits the type that is beside the free-form one.

    Where the entry of the typed data is stale, what that has inside of it beyond the type goes along.
    """
    lineage = entries.lineage
    fitting = End(lineage, output, Shape("api", output.version))
    typed = End(lineage, output, Shape("storage", output.version))
    if (goal.place, goal.shape) == (output, fitting.shape):
        return along(value, free, fitting)
    value = along(value, free, fitting, typed)
    kept = entries.read(lineage.thread(output), typed)
    if kept:
        around = way(typed, free, fitting, typed)
        assert around is not None
        value = Refill(value, kept, Chain(around))
    return along(value, typed, goal)


def _across(
    given: End, output: Place, how: ByConversion
) -> tuple[ValueStep | Mismatch | None, End]:
    """The step over one pair of neighbours, and the end that it leads to."""
    lineage, source = given.lineage, given.place
    reached = End(lineage, output, Shape("storage", output.version))
    match beside_nulls(how.conversion):
        case MapValues(values):
            mapped = MapText(values if how.up else _inverse(values))
            # A text that is not mapped may be known to both enums, each in its own letter case.
            steps = (own_letter_case(given), mapped, own_letter_case(reached))
            known = tuple(each for each in steps if each is not None)
            both = Chain(known) if len(known) > 1 else mapped
            return beside_null(both, given, reached), reached
        case ConvertScalar(name, version):
            used = name if how.up else SCALAR_CONVERSIONS[name]
            return change_scalar(lineage, used, version, source, output), reached
        case Keyed() as keyed:
            return change_keyed(given, reached, keyed, up=how.up), reached
        case CallHook(use, up, down):
            method = up if how.up else down
            assert method is not None
            between = Neighbours(*sorted((source.version, output.version)))
            step = CallConverter(use, method, between, source, output)
            return step, End(lineage, output, Shape("api", output.version))
        case _:
            return change_value(given, reached), reached


def _inverse(values: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """The values on the way back: of several that become one, that of the same name, else the first."""
    inverse = {newer: older for older, newer in values if older == newer}
    for older, newer in values:
        inverse.setdefault(newer, older)
    return tuple(sorted(inverse.items()))
