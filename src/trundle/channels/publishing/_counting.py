"""The result of a channel's operations: of all of them, or of those that are newer than the shown channel.

A channel with ten thousand versions has at least as many operations. What it shows, which its publisher signed, is
their result; so a change continues from that with the newer operations. That gives the same as all of
them together where each new one sorts behind all that are shown, which the head's annotations prove: a mark stands for
the entries that are shown, and a number says how much the authors of these had seen. Else, and whenever a
channel is repaired, all operations are read.
"""

from collections.abc import Collection, Mapping

import msgspec

from trundle.channels.files import Channel
from trundle.channels.publishing._records import RecordedOperation
from trundle.channels.publishing._signing import Shown
from trundle.channels.transitions import Folded, fold_named
from trundle.registry import Entries, LedgerEntry


class Counted(msgspec.Struct, frozen=True):
    """A channel with all operations that count.

    Attributes:
        folded: the channel, and what became of the operations that were read.
        names: the names of all operations.
        seen: the most that the author of any operation had seen; None where entries of the ledger do not count.
    """

    folded: Folded
    names: Collection[str]
    seen: int | None


def entries_since(entries: Entries, shown: Shown | None) -> tuple[LedgerEntry, ...] | None:
    """The entries that came after those that a channel shows; None where it cannot be gone on from that."""
    if shown is None or shown.seen is None or not shown.mark:
        return None
    since = entries.after(shown.mark)
    # The mark is not signed, but the serial is, which counts the operations.
    if since is None or shown.serial != len(entries) - len(since):
        return None
    return since


def continued(
    shown: Shown, records: Mapping[str, RecordedOperation], word: str, *, ignored: bool
) -> Counted | None:
    """Goes on from what a channel shows.

    Args:
        shown: what it shows.
        records: the operations since that count, by name.
        word: the name of the channel.
        ignored: whether there are others since, which do not count.

    Returns:
        Its result; None where that depends on all operations together.
    """
    before = shown.seen
    channel = shown.reopened
    if before is None or channel is None:
        return None
    if (channel.name, channel.package, channel.serial) != (word, shown.package, shown.serial):
        return None
    if any(each.operation.seen <= before for each in records.values()):
        return None
    known = shown.operations or frozenset()
    if not known.isdisjoint(records):
        return None
    folded = fold_named(channel, {name: each.operation for name, each in records.items()})
    return Counted(folded, known | records.keys(), None if ignored else most_seen(records, before))


def counted(base: Channel, records: Mapping[str, RecordedOperation], *, ignored: bool) -> Counted:
    """The result of all operations, starting from an empty channel."""
    folded = fold_named(base, {name: each.operation for name, each in records.items()})
    return Counted(folded, records.keys(), None if ignored else most_seen(records, 0))


def most_seen(records: Mapping[str, RecordedOperation], before: int) -> int:
    """The most that the author of any operation had seen."""
    return max((each.operation.seen for each in records.values()), default=before)
