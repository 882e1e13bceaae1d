"""Rolls and checks a store in several processes. Each takes one part after the other, and opens the store by itself."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from trundle.cli._stores import StorePlace, place_of
from trundle.errors import Finding
from trundle.store import (
    CheckPart,
    Pace,
    Roll,
    Rolled,
    RollPart,
    Store,
    check_part,
    plan_check,
    plan_roll,
    roll_part,
    together,
)
from trundle.workers import Opening, Workers

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from trundle.project import ShippedPackage

_PARTS = 8
"""How many parts there are for each process, so that all have something to do to the end."""


class RollPlace(NamedTuple):
    """What a process needs to open the store.

    Attributes:
        store: the database, as a file or a URL.
        package: the project's generated package; None for what is installed.
        state: the folder of the installation.
    """

    store: str
    package: "ShippedPackage | None"
    state: Path | None


class Task(NamedTuple):
    """What is to be done with a part.

    Attributes:
        part: the part.
        rate: how many revisions the process rewrites in a second at most.
        verify: whether views are compared.
        dry_run: whether nothing is written.
    """

    part: RollPart
    rate: float | None
    verify: bool
    dry_run: bool


def roll_in_processes(
    store: Store,
    place: RollPlace,
    workers: Workers,
    progress: Callable[[str, int, int], None],
    *,
    rate: float | None,
    verify: bool,
    dry_run: bool,
) -> Roll:
    """Like `trundle.store.roll`, in several processes.

    Args:
        store: the store.
        place: how the processes open it.
        workers: the processes.
        progress: called after each part.
        rate: how many revisions all of them rewrite in a second at most.
        verify: see `roll`.
        dry_run: see `roll`.
    """
    count = workers.count
    moves, parts = plan_roll(store, count * _PARTS, dry_run=dry_run)
    total, done = sum(each.count for each in parts), 0
    each_rate = None if rate is None else rate / max(1, min(count, len(parts)))
    tasks = [Task(each, each_rate, verify, dry_run) for each in parts]
    found: dict[RollPart, Rolled] = {}
    for part, each in workers.results(Opening(_to_change, (place,)), _rolled, tasks):
        found[part] = each
        done += sum(each.rolled.values()) + len(each.findings)
        progress("revisions", done, max(done, total))
    return Roll(moves, together(found[each] for each in parts))


def check_in_processes(
    store: Store, place: RollPlace, workers: Workers, progress: Callable[[str, int, int], None]
) -> tuple[Finding, ...]:
    """Like `trundle.store.check`, in several processes.

    Args:
        store: the store.
        place: how the processes open it.
        workers: the processes.
        progress: called after each part.
    """
    findings, parts = plan_check(store, workers.count * _PARTS)
    total, done = sum(each.count for each in parts), 0
    found: dict[CheckPart, list[Finding]] = {}
    for part, each in workers.results(Opening(_to_read, (place,)), _checked, parts):
        found[part] = each
        done += part.count
        progress("objects", done, max(done, total))
    return (*findings, *(each for part in parts for each in found[part]))


def _checked(store: Store, part: CheckPart) -> tuple[CheckPart, list[Finding]]:
    """Checks a part in a worker."""
    return part, check_part(store, part)


def _rolled(store: Store, task: Task) -> tuple[RollPart, Rolled]:
    """Rolls a part in a worker."""
    pace = Pace(task.rate)
    return task.part, roll_part(store, task.part, pace, verify=task.verify, dry_run=task.dry_run)


def _to_read(place: RollPlace) -> "AbstractContextManager[Store]":
    return _opened(place, StorePlace.to_read)


def _to_change(place: RollPlace) -> "AbstractContextManager[Store]":
    return _opened(place, StorePlace.to_change)


@contextlib.contextmanager
def _opened(place: RollPlace, way: Callable[[StorePlace], Store]) -> Iterator[Store]:
    """The store in a worker."""
    from trundle.cli._carried import installed_scheme  # noqa: PLC0415
    from trundle.project import shipped_scheme  # noqa: PLC0415

    package = place.package
    of = installed_scheme(place.state) if package is None else shipped_scheme(package)
    with of as scheme, way(StorePlace(place_of(place.store), scheme)) as store:
        yield store
