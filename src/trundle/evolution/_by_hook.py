"""What hooks write: the value of an output, as one call of the hook gives it."""

from trundle.evolution._entries import Entries
from trundle.evolution._lineage import Lineage
from trundle.evolution._threads import Derivation, Place
from trundle.evolution._values import End
from trundle.evolution._ways import along, between, way
from trundle.evolution.steps import (
    Chain,
    Expression,
    HookCall,
    HookOutput,
    HookRefill,
    Refill,
    Shape,
    Witness,
)
from trundle.schema import FreeForm, ListOf, MapOf, Nullable


def hook_output(
    call: HookCall,
    before: tuple[HookCall, Witness] | None,
    each: Derivation,
    goal: End,
    entries: Entries,
) -> Expression:
    """What a hook writes to a property, at some end.

    Args:
        call: the call, with all inputs.
        before: the call with what the hook's other method makes of entries, and these values as what an entry of the output
            accompanies; None where that is not all that it reads.
        each: the derivation of the output.
        goal: where the value is wanted, and in which shape.
        entries: what the source has in its bag.
    """
    lineage, output = entries.lineage, each.output
    made = End(lineage, output, Shape("api", output.version))
    typed = End(lineage, output, Shape("storage", output.version))
    kept = entries.read(lineage.thread(output), typed)
    across = _seen_across(each, typed, entries) if kept else None
    written = HookOutput(call, output, between(made, typed))
    if across is not None:
        return along(Refill(written, kept, across), typed, goal)
    if kept and before is not None and _has_parts(lineage, output):
        call_before, witness = before
        wrote = HookOutput(call_before, output, between(made, typed))
        return along(HookRefill(written, kept, wrote, witness), typed, goal)
    return HookOutput(call, output, between(made, goal))


def _has_parts(lineage: Lineage, place: Place) -> bool:
    """Whether values at a place have parts that may be kept by themselves."""
    type_ = lineage.type(place)
    bare = type_.inner if isinstance(type_, Nullable) else type_
    return isinstance(bare, ListOf | MapOf | FreeForm) or lineage.holds_objects(place)


def _seen_across(each: Derivation, typed: End, entries: Entries) -> Chain | None:
    """What objects that a hook writes go through to the side that it reads, and back.

    What is lost on that way the hook cannot know of: where the entry of its output is stale, the rest of it
    still belongs to these objects. None where they have nothing in common with what the hook reads.
    """
    lineage = entries.lineage
    if not lineage.changing(each.output):
        return None
    for link in lineage.links:
        ends = {link.older, link.newer}
        if link.conversion is None or each.output not in ends:
            continue
        (other,) = ends - {each.output}
        if other not in each.inputs:
            continue
        found = way(typed, End(lineage, other, Shape("api", other.version)), typed)
        if found is not None:
            return Chain(found)
    return None
