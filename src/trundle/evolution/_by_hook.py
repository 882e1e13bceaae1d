"""What hooks write: the value of an output, as one call of the hook gives it."""

from trundle.evolution._entries import Entries
from trundle.evolution._threads import Derivation
from trundle.evolution._values import End
from trundle.evolution._ways import along, between, way
from trundle.evolution.steps import Chain, Expression, HookCall, HookOutput, Refill, Shape


def hook_output(call: HookCall, each: Derivation, goal: End, entries: Entries) -> Expression:
    """What a hook writes to a property, at some end.

    Args:
        call: the call, with all inputs.
        each: the derivation of the output.
        goal: where the value is wanted, and in which shape.
        entries: what the source has in its bag.
    """
    lineage, output = entries.lineage, each.output
    made = End(lineage, output, Shape("api", output.version))
    typed = End(lineage, output, Shape("storage", output.version))
    across = _seen_across(each, typed, entries)
    if across is None:
        return HookOutput(call, output, between(made, goal))
    written = HookOutput(call, output, between(made, typed))
    kept = entries.read(lineage.thread(output), typed)
    return along(Refill(written, kept, across), typed, goal)


def _seen_across(each: Derivation, typed: End, entries: Entries) -> Chain | None:
    """What objects that a hook writes go through to the side that it reads, and back.

    What is lost on that way the hook cannot know of: where the entry of its output is stale, the rest of it
    still belongs to these objects. None where they have nothing in common with what the hook reads.
    """
    lineage = entries.lineage
    homes = entries.read(lineage.thread(each.output), typed)
    if not homes or not lineage.changing(each.output):
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
