"""Rolls a store in several processes. Each takes one part after the other, and opens the store by itself."""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from trundle.store import Pace, Roll, Rolled, RollPart, Store, plan_roll, roll_part, together

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

_PARTS = 8
"""How many parts there are for each process, so that all have something to do to the end."""


class Place(NamedTuple):
    """What a process needs to open the store.

    Attributes:
        store: the database, as a file or a URL.
        config: the project's file; None for what is installed.
        state: the folder of the installation.
    """

    store: str
    config: Path | None
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
    place: Place,
    workers: int,
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
        workers: how many there are at most.
        progress: called after each part.
        rate: how many revisions all of them rewrite in a second at most.
        verify: see `roll`.
        dry_run: see `roll`.
    """
    from trundle.project import spread  # noqa: PLC0415

    moves, parts = plan_roll(store, workers * _PARTS, dry_run=dry_run)
    total, done = sum(each.count for each in parts), 0
    each_rate = None if rate is None else rate / max(1, min(workers, len(parts)))
    tasks = [Task(each, each_rate, verify, dry_run) for each in parts]
    found: dict[RollPart, Rolled] = {}
    results = spread(
        _rolled, tasks, jobs=workers, start=_start, arguments=(place,), option="--workers"
    )
    for part, each in results:
        found[part] = each
        done += sum(each.rolled.values()) + len(each.findings)
        progress("revisions", done, max(done, total))
    return Roll(moves, together(found[each] for each in parts))


class _Opened:
    """The store of a worker, which it uses until it ends."""

    stack = contextlib.ExitStack()
    store: Store


def _start(place: Place) -> None:
    """Opens the store in a worker."""
    _Opened.store = _Opened.stack.enter_context(_open(place))


def _rolled(task: Task) -> tuple[RollPart, Rolled]:
    """Rolls a part in a worker."""
    pace = Pace(task.rate)
    store, part = _Opened.store, task.part
    return part, roll_part(store, part, pace, verify=task.verify, dry_run=task.dry_run)


def _open(place: Place) -> "AbstractContextManager[Store]":
    from trundle.cli._carried import installed_store  # noqa: PLC0415
    from trundle.cli._stores import project_store  # noqa: PLC0415

    if place.config is None:
        return installed_store(place.state, place.store)
    return project_store(place.config, place.store)
