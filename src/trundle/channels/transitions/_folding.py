"""Folds operations of several publishers into one channel, whatever their order."""

from collections.abc import Iterable, Mapping

import msgspec

from trundle.channels._refusals import RefusedError
from trundle.channels.files import Channel
from trundle.channels.transitions._applying import Draft
from trundle.channels.transitions._operations import Operation, id_of_operation
from trundle.errors import Finding


class OperationOutcome(msgspec.Struct, frozen=True):
    """What became of an operation.

    Attributes:
        id: its name, as `id_of_operation` gives it.
        operation: the operation.
        refusals: why it was refused; empty where it was applied.
        notes: what the caller should know.
    """

    id: str
    operation: Operation
    refusals: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()


class Folded(msgspec.Struct, frozen=True):
    """A channel with all operations folded in.

    Attributes:
        channel: the channel.
        outcomes: what became of each operation, in the order in which they were applied.
    """

    channel: Channel
    outcomes: tuple[OperationOutcome, ...]

    def outcome(self, operation: Operation) -> OperationOutcome | None:
        """What became of one operation; None if it was not among those that were folded."""
        name = id_of_operation(operation)
        return next((each for each in self.outcomes if each.id == name), None)


def fold(channel: Channel, operations: Iterable[Operation]) -> Folded:
    """Folds a set of operations into the channel that they all began with.

    The result depends on the set alone: not on the order in which operations are given, nor on how often each is.
    They are applied by what their authors had seen of the channel, then by time, then by name. So an operation
    comes after all that its author knew of, whatever the clocks say, and of two publishers of one version the
    same one always wins.

    The serial grows by the number of different operations, refused ones included. Hence a publisher that has folded more
    operations has the higher serial, even where a late one causes another to be refused.

    Args:
        channel: the channel before any of the operations; an empty one, or a checkpoint without those in it.
        operations: the operations, such as all of a ledger.
    """
    return fold_named(channel, {id_of_operation(each): each for each in operations})


def fold_named(channel: Channel, named: Mapping[str, Operation]) -> Folded:
    """Folds operations whose names, as `id_of_operation` gives them, are at hand; as `fold` does."""
    order = sorted(named, key=lambda name: (named[name].seen, named[name].at, name))
    draft = Draft(channel)
    outcomes = []
    for name in order:
        operation = named[name]
        try:
            outcomes.append(OperationOutcome(name, operation, notes=draft.apply(operation)))
        except RefusedError as error:
            draft.count()
            outcomes.append(OperationOutcome(name, operation, error.refusals))
    return Folded(draft.channel(), tuple(outcomes))
