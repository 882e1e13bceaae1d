"""Jobs, and those who do them with the same documents and come to the same."""

import json
import sys
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from rounds import Timing, measure


class Contestant(msgspec.Struct, frozen=True):
    """One way to do a job.

    Attributes:
        name: what does it.
        run: does it once.
        shown: its result as documents that can be compared.
        runs: how many documents one run converts.
    """

    name: str
    run: Callable[[], Any]
    shown: Callable[[Any], Any] = json.loads
    runs: int = 1


class Job(msgspec.Struct, frozen=True):
    """Something that several contestants do with the same documents; the first one is the peer."""

    name: str
    contestants: tuple[Contestant, ...]


class Measured(msgspec.Struct, frozen=True):
    """A contestant's timing, for one document."""

    job: Job
    contestant: Contestant
    timing: Timing


def check(jobs: Iterable[Job]) -> None:
    """Ends the run where contestants of a job come to different documents."""
    for job in jobs:
        peer, *others = job.contestants
        expected = peer.shown(peer.run())
        for each in others:
            if each.shown(each.run()) != expected:
                sys.exit(f"{job.name}: {each.name} and {peer.name} come to different documents")


def measured(jobs: Iterable[Job], rounds: int) -> list[Measured]:
    """The timings of all contestants, in interleaved rounds."""
    entrants = [(job, each) for job in jobs for each in job.contestants]
    timings = measure([each.run for _, each in entrants], rounds)
    return [
        Measured(job, each, Timing(tuple(seconds / each.runs for seconds in timing.rounds)))
        for (job, each), timing in zip(entrants, timings, strict=True)
    ]
