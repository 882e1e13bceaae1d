"""Measuring in interleaved rounds, so that whatever else the machine does meets all contestants alike.

What is measured is the time of the processor, so that waiting for it does not count.
"""

import itertools
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

Run = Callable[[], Any]
_ROUND = 0.004
"""Seconds that a contestant runs within a round, about."""


class Timing(msgspec.Struct, frozen=True):
    """What a contestant needed for one run, in seconds, round by round."""

    rounds: tuple[float, ...]

    @property
    def median(self) -> float:
        """Of all rounds."""
        return statistics.median(self.rounds)

    def times_as_fast_as(self, other: "Timing") -> float:
        """How many runs fit into one of another contestant: the median over the rounds' ratios."""
        pairs = zip(other.rounds, self.rounds, strict=True)
        return statistics.median(theirs / ours for theirs, ours in pairs)


def measure(runs: Sequence[Run], rounds: int) -> list[Timing]:
    """Runs contestants in turn, round by round; the first round only warms up."""
    counts = [_count(run) for run in runs]
    found: list[list[float]] = [[] for _ in runs]
    for number in range(rounds + 1):
        for run, count, times in zip(runs, counts, found, strict=True):
            seconds = _seconds(run, count) / count
            if number:
                times.append(seconds)
    return [Timing(tuple(times)) for times in found]


def _count(run: Run) -> int:
    run()
    return max(1, round(_ROUND / max(_seconds(run, 3) / 3, 1e-9)))


def _seconds(run: Run, count: int) -> float:
    start = time.process_time()
    for _ in itertools.repeat(None, count):
        run()
    return time.process_time() - start
