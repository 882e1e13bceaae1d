"""Does something for each part of a project: here, or in several processes where that is quicker."""

import functools
import gc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from trundle.project._parts import Part
from trundle.schema.readers import Catalogue, Source
from trundle.workers import cpu_count, work_in_processes

R = TypeVar("R")

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with what comes next or was just done, how many pieces of work are done, and how many there are."""


def ignore(_step: str, _done: int, _total: int) -> None:
    """Reports no progress."""


def on_file(progress: Progress) -> Callable[[Path], None]:
    """Reports each file that was read."""
    count = 0

    def report(path: Path) -> None:
        nonlocal count
        count += 1
        progress(f"read {path.name}", count, 0)

    return report


_LITTLE = 500_000
"""Up to how many bytes of schemas starting processes takes longer than the work itself."""


def each_part(
    work: Callable[[Part, Catalogue], R],
    parts: Sequence[Part],
    catalogue: Catalogue,
    jobs: int | None,
    progress: Progress,
) -> dict[str, R]:
    """What a function makes of each part, by the part's name.

    Args:
        work: a function of a module; what it returns must be picklable.
        parts: the parts; those with the largest schemas are done first.
        catalogue: what the sources of all parts declare.
        jobs: how many processes to use; None for one to each processor, where that is worth it.
        progress: called for each part that was done.
    """
    sizes = {part.name: _size(part) for part in parts}
    ordered = sorted(parts, key=lambda part: -sizes[part.name])
    if jobs is None:
        jobs = cpu_count() if sum(sizes.values()) > _LITTLE else 1
    done = _Counting(progress, len(ordered))
    if jobs < 2 or len(ordered) < 2:  # noqa: PLR2004 - two are several
        found = []
        for part in ordered:
            found.append(work(part, catalogue))
            done(part)
    else:
        found = work_in_processes(functools.partial(_remote, work), ordered, jobs, done)
    return {part.name: each for part, each in zip(ordered, found, strict=True)}


class _Counting:
    def __init__(self, progress: Progress, total: int) -> None:
        self.progress = progress
        self.total = total
        self.count = 0
        progress("", 0, total)

    def __call__(self, part: Part) -> None:
        self.count += 1
        self.progress(part.config.package, self.count, self.total)


def _size(part: Part) -> int:
    files = {each.file for each in part.declared}
    return sum(path.stat().st_size for path in map(Path, files) if path.is_file())


def _remote(work: Callable[[Part, Catalogue], Any], part: Part) -> Any:
    """Does a piece of work in a worker."""
    found = work(part, _catalogue(part.config.sources))
    gc.collect()
    return found


@functools.lru_cache(maxsize=1)
def _catalogue(sources: tuple[Source, ...]) -> Catalogue:
    """What the sources declare; a worker reads them once, and lives for one run."""
    return Catalogue(sources)
