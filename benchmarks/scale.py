"""Measures what converting documents in parts costs beside the conversions themselves, and calculates what more of both would take.

The peer is a loop over the lines of a file that refuses members that stand twice, converts, and writes the results to another file, which is
what each part has to do. What is compared is time of the processor; what grows with workers is measured by the clock. Documents have about 2 KB.
"""

import argparse
import contextlib
import functools
import heapq
import json
import operator
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from documents import LAST, document

from store import HERE, HUB, generated
from trundle.documents import has_repeated_member
from trundle.parts import ConversionOptions, FolderConversion
from trundle.project import ShippedPackage, load_config, ship
from trundle.runtime import AnyScheme
from trundle.workers import DaskCluster, Opening, Processes, Workers

MEGABYTE = 1 << 20
TO = ConversionOptions(to=LAST)
PIECES = 2000
"""How many pieces of work that do nothing a cluster is given."""


class Folders:
    """Where documents are and results go; each result has a folder of its own.

    Args:
        folder: for both.
        package: the generated package.
    """

    def __init__(self, folder: Path, package: ShippedPackage) -> None:
        self._folder = folder
        self._package = package
        self._number = 0
        self.target = folder / "loop.jsonl"

    def written(self, name: str, count: int, *, spaced: bool = False) -> Path:
        """A file with so many documents, as compact JSON or with spaces in it."""
        path = self._folder / name / "documents.jsonl"
        path.parent.mkdir()
        separators = (", ", ": ") if spaced else (",", ":")
        with path.open("wb") as file:
            for number in range(count):
                text = json.dumps(document(number), ensure_ascii=False, separators=separators)
                file.write(text.encode() + b"\n")
        return path

    def convert(self, source: Path, workers: Workers, part_size: int) -> int:
        """Converts a file into a folder that is not there yet; how many parts that were."""
        self._number += 1
        into = self._folder / f"into-{self._number}"
        work = FolderConversion(str(source), str(into), TO, self._package, part_size)
        found = work.run(workers)
        assert found.refused == 0
        return found.parts


def loop(scheme: AnyScheme, source: Path, target: Path, *, checked: bool) -> None:
    """What each part has to do, as one would write it without parts."""
    with source.open("rb") as lines, target.open("wb") as file:
        for each in lines:
            line = each.rstrip(b"\n")
            if checked and has_repeated_member(line):
                raise ValueError(line)
            file.write(scheme.convert_json(line, LAST, strict=True) + b"\n")
        file.flush()
        os.fsync(file.fileno())


def seconds(job: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    """How long a job takes."""
    start = clock()
    job()
    return clock() - start


def measure_overhead(scheme: AnyScheme, folders: Folders, count: int, rounds: int) -> float:
    """Prints the cost of a document, of a part, and of a run; gives the seconds that a document takes."""
    source, one = folders.written("many", count), folders.written("one", 1)
    spaced = folders.written("spaced", count, spaced=True)
    here = Processes(1)
    jobs: tuple[Callable[[], object], ...] = (
        lambda: loop(scheme, source, folders.target, checked=False),
        lambda: loop(scheme, source, folders.target, checked=True),
        lambda: folders.convert(source, here, 8 * MEGABYTE),
        lambda: folders.convert(one, here, MEGABYTE),
        lambda: loop(scheme, spaced, folders.target, checked=False),
        lambda: loop(scheme, spaced, folders.target, checked=True),
    )
    found = [[seconds(job) for job in jobs] for _ in range(rounds + 1)][1:]
    alone, _, parts, start, *_ = (statistics.median(each) for each in zip(*found, strict=True))
    checks = statistics.median(each[1] - each[0] for each in found)  # Rounds differ more.
    checks_of_spaced = statistics.median(each[5] - each[4] for each in found)
    net = [(each[2] - start) / each[1] - 1 for each in found]
    gross = [(each[2] - start) / each[0] - 1 for each in found]
    small = 300
    many = folders.written("small", small)
    cut = many.stat().st_size // small + 1
    number = folders.convert(many, here, cut)
    single = statistics.median(
        seconds(lambda: folders.convert(many, here, cut)) for _ in range(rounds)
    )
    each_part = (single - start - small * parts / count) / number
    for title, value in (
        ("conversion of a document in a loop", alone / count),
        ("and refusing members that stand twice", checks / count),
        ("  the same where texts have spaces", checks_of_spaced / count),
        ("both in parts", (parts - start) / count),
        ("a part, beside its documents", each_part),
        ("a run, until its first document", start),
    ):
        print(f"{title:<48}{value * 1e6:>12,.1f} us")
    print(f"{'overhead of parts over the loop':<48}{statistics.median(net):>12.1%}")
    print(f"{'overhead of parts over conversions alone':<48}{statistics.median(gross):>12.1%}")
    each: float = (parts - start) / count
    return each


def measure_workers(folders: Folders, count: int, most: int) -> float:
    """Prints how it grows with processes and with workers of a cluster, by the clock; gives the seconds to hand out a piece."""
    dispatch = 0.0
    source = folders.written("workers", count)

    def report(title: str, workers: Workers) -> None:
        folders.convert(source, workers, 2 * MEGABYTE)  # Workers import what they need.
        taken = seconds(lambda: folders.convert(source, workers, 2 * MEGABYTE), time.perf_counter)
        print(f"{title:<48}{count / taken:>10,.0f} /s")

    for number in range(1, most + 1):
        report(f"{number} {'process' if number == 1 else 'processes'}", Processes(number))
    for number in range(1, most + 1):
        with cluster(number) as workers:
            report(f"a cluster of {number} {'worker' if number == 1 else 'workers'}", workers)
            dispatch = seconds(functools.partial(hand_out, workers), time.perf_counter) / PIECES
            print(f"{'  and a piece of work that does nothing':<48}{dispatch * 1e6:>12,.1f} us")
    return dispatch


def hand_out(workers: Workers) -> None:
    """Lets workers do pieces of work that do nothing."""
    opening = Opening(contextlib.nullcontext, ())
    assert len([*workers.results(opening, operator.is_, range(PIECES))]) == PIECES


@contextlib.contextmanager
def cluster(count: int) -> Iterator[DaskCluster]:
    """A Dask cluster on this machine."""
    sys.path.insert(0, str(HERE.parent / "tests" / "support"))
    import dask_clusters  # noqa: PLC0415

    with (
        tempfile.TemporaryDirectory(prefix="trundle-dask-") as folder,
        dask_clusters.running(folder, count) as found,
        DaskCluster(found.address, patience=60) as workers,
    ):
        while workers.count < count:
            time.sleep(0.1)
        yield workers


def simulated(workers: int, parts: int, each: float, dispatch: float, spread: float) -> float:
    """Seconds that so many workers need for parts of unequal length, which one scheduler hands out one after the other.

    Args:
        workers: how many there are.
        parts: how many parts.
        each: seconds that a part takes on average.
        dispatch: seconds that the scheduler and the client need for a part.
        spread: the standard deviation of the logarithm of what a part takes.
    """
    chance = random.Random(15)
    mean = -(spread**2) / 2
    free = [0.0] * workers
    handed = end = 0.0
    for _ in range(parts):
        handed = max(handed + dispatch, heapq.heappop(free))
        done = handed + each * chance.lognormvariate(mean, spread)
        end = max(end, done)
        heapq.heappush(free, done)
    return end


def simulate(each_document: float, dispatch: float, documents: int) -> None:
    """Prints how long many workers take, by the size of parts, and how busy they are.

    Args:
        each_document: seconds that a document takes.
        dispatch: see `simulated`.
        documents: how many there are.
    """
    print(f"{'part':>8}{'workers':>10}{'hours':>9}{'busy':>8}")
    for size in (8, 32, 256):
        in_part = size * MEGABYTE // 2000
        parts = -(-documents // in_part)
        for workers in (8, 100, 800):
            each = in_part * each_document
            taken = simulated(workers, parts, each, dispatch, 0.5)
            busy = parts * each / workers / taken
            print(f"{size:>5} MB{workers:>10}{taken / 3600:>9.2f}{busy:>8.0%}")


def main() -> None:
    """Prints tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=20_000, help="how many to convert")
    parser.add_argument("--rounds", type=int, default=5, help="rounds to take the median of")
    parser.add_argument("--workers", type=int, default=2, help="how many workers at most")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="trundle-bench-") as name:
        folder = Path(name)
        with generated(folder) as scheme:
            package = ship(load_config(folder / f"until-{HUB}" / "trundle.yaml"))
            folders = Folders(folder, package)
            each = measure_overhead(scheme, folders, arguments.documents, arguments.rounds)
            dispatch = measure_workers(folders, arguments.documents, arguments.workers)
    simulate(each, dispatch, 10**9)


if __name__ == "__main__":
    main()
