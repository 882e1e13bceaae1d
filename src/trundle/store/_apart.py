"""Resource versions that no client can have seen: where a store goes on after it was imported, or put back from a copy."""

import datetime as dt

_APART = 1_000_000_000
"""How far they are from the last one at least; the store that it is of may have gone on since."""
_MICROSECOND = dt.timedelta(microseconds=1)
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def is_apart(version: int, last: int) -> bool:
    """Whether a store has gone on already from far behind a resource version.

    Args:
        version: that of its last write.
        last: the last one that the export or the copy has.
    """
    return version >= last + _APART


def apart_from(last: int, now: dt.datetime) -> int:
    """The resource version behind which a store goes on.

    It is later each time, also where the same copy is put back twice: it is at least the number of microseconds since 1970, and no store
    writes that fast.

    Args:
        last: the last one that the export or the copy has.
        now: the time.
    """
    return max(last + _APART, (now - _EPOCH) // _MICROSECOND)
