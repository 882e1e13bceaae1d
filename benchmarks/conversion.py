"""Measures conversions of a document of about 2 KB against what somebody would write without Trundle.

Run it with `make bench`. It generates the package of `schemas/` into a temporary folder, checks that all
contestants of a job come to the same document, measures them in interleaved rounds in one process, and prints
one table of ratios. Higher is faster; the named peer is `json` with a conversion of dictionaries.
"""

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import handwritten
import msgspec
import orjson
import with_cattrs
import with_pydantic
from documents import BEFORE_LAST, FIRST, LAST, document
from handwritten import Document
from rich.console import Console
from rich.table import Table
from rounds import Timing, measure

from trundle.project import load_project
from trundle.project.generated import generated_scheme
from trundle.project.generating import generate
from trundle.runtime import Scheme

HERE = Path(__file__).parent
BATCH = 500
OLDER, NEWER = "2023-01-01", BEFORE_LAST
"""The neighbours that are measured most: containers rename a property and lose one."""


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


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=60, help="rounds to take the median of")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="trundle-bench-") as folder:
        project = Path(folder)
        shutil.copytree(HERE / "schemas", project / "schemas")
        shutil.copy(HERE / "trundle.yaml", project)
        loaded = load_project(project / "trundle.yaml")
        generate(loaded.config)
        with generated_scheme(loaded.config) as scheme:
            jobs = tuple(_jobs(scheme))
            _check(jobs)
            _show(_measured(jobs, arguments.rounds), len(_compact(document(0))), arguments.rounds)


def _jobs(scheme: Scheme) -> Iterator[Job]:
    first = _compact(document(0))
    yield from _single(scheme, first)
    yield _decoding(scheme, scheme.convert_json(first, OLDER))
    yield _objects(scheme, scheme.convert_json(first, OLDER))
    yield from _through_storage(scheme, first)
    yield from _puts(scheme, first)
    yield _batch(scheme)


def _single(scheme: Scheme, first: bytes) -> Iterator[Job]:
    """Conversions between two API versions."""
    older = scheme.convert_json(first, OLDER)
    yield Job(
        f"one version apart: {OLDER} to {NEWER}, bytes to bytes",
        (
            _peer(lambda: json.dumps(handwritten.neighbour(json.loads(older))).encode()),
            Contestant(
                "orjson, hand-written",
                lambda: orjson.dumps(handwritten.neighbour(orjson.loads(older))),
            ),
            Contestant("pydantic, hand-written", lambda: with_pydantic.convert(older)),
            Contestant("attrs and cattrs, hand-written", lambda: with_cattrs.convert(older)),
            Contestant(
                "scheme.decode, convert, encode",
                lambda: scheme.encode(scheme.convert(scheme.decode(older), NEWER)),
            ),
            Contestant("scheme.convert_json", lambda: scheme.convert_json(older, NEWER)),
            Contestant(
                "scheme.convert_json strict", lambda: scheme.convert_json(older, NEWER, strict=True)
            ),
        ),
    )
    before = scheme.convert_json(first, BEFORE_LAST)
    yield Job(
        f"one version apart: {BEFORE_LAST} to {LAST}, which differ in a number's type",
        (
            _peer(lambda: json.dumps(handwritten.renamed(json.loads(before), LAST)).encode()),
            Contestant("scheme.convert_json", lambda: scheme.convert_json(before, LAST)),
        ),
    )
    yield Job(
        f"five versions apart: {FIRST} to {LAST}",
        (
            _peer(lambda: json.dumps(handwritten.last_of_first(json.loads(first))).encode()),
            Contestant("scheme.convert_json", lambda: scheme.convert_json(first, LAST)),
        ),
    )


def _decoding(scheme: Scheme, older: bytes) -> Job:
    class_ = type(scheme.decode(older))
    decoder = msgspec.json.Decoder(class_)
    return Job(
        "reading alone",
        (
            _peer(lambda: json.loads(older), name="json", shown=_same),
            Contestant("orjson", lambda: orjson.loads(older), _same),
            Contestant("msgspec, typed", lambda: decoder.decode(older), _plain),
            Contestant("scheme.decode", lambda: scheme.decode(older), _plain),
        ),
    )


def _objects(scheme: Scheme, older: bytes) -> Job:
    source = json.loads(older)
    value = scheme.decode(older)
    return Job(
        f"{OLDER} to {NEWER}, what is read already",
        (
            _peer(
                lambda: handwritten.neighbour(source),
                name="dictionaries, hand-written",
                shown=_same,
            ),
            Contestant("scheme.convert", lambda: scheme.convert(value, NEWER), _plain),
        ),
    )


def _through_storage(scheme: Scheme, first: bytes) -> Iterator[Job]:
    """The first version to what a store keeps, with its bags, and back."""

    def by_hand() -> bytes:
        stored = handwritten.stored_of_first(json.loads(first))
        return json.dumps(handwritten.first_of_stored(stored)).encode()

    def by_scheme() -> bytes:
        stored = scheme.to_storage(scheme.decode(first))
        return scheme.encode(scheme.from_storage(stored, FIRST))

    yield Job(
        f"{FIRST} through a stored bag and back, in memory",
        (_peer(by_hand), Contestant("to_storage, from_storage", by_scheme)),
    )

    def by_hand_through_bytes() -> bytes:
        kept = json.dumps(handwritten.stored_of_first(json.loads(first))).encode()
        return json.dumps(handwritten.first_of_stored(json.loads(kept))).encode()

    yield Job(
        f"{FIRST} through a stored bag and back, stored as bytes",
        (
            _peer(by_hand_through_bytes),
            Contestant(
                "scheme.convert_json, twice",
                lambda: scheme.convert_json(scheme.convert_json(first), FIRST),
            ),
        ),
    )


def _puts(scheme: Scheme, first: bytes) -> Iterator[Job]:
    """The first version written over what the last one has added to."""
    base = handwritten.stored_of_first(json.loads(first))
    base["region"] = "eu-central"
    base["containers"][1]["cpu"] = 0.5
    by_hand = json.dumps(base).encode()
    kept = scheme.convert_json(first)
    by_last = _compact(handwritten.last_of_stored(base))
    by_scheme = scheme.convert_json(by_last, base=kept)
    seen = handwritten.first_of_stored(base)
    edited = json.loads(json.dumps(seen))
    edited["title"] = "Invoices"
    edited["replicas"] += 1
    edited["containers"][0]["image"] += "-hotfix"
    for name, written in (("what was read", _compact(seen)), ("an edit", _compact(edited))):
        yield Job(
            f"{FIRST} put over what is stored: {name}",
            (
                _put_by_hand(written, by_hand),
                _put_by_scheme(scheme, written, by_scheme),
            ),
        )


def _put_by_hand(written: bytes, base: bytes) -> Contestant:
    def run() -> bytes:
        return json.dumps(handwritten.put_first(json.loads(written), json.loads(base))).encode()

    def shown(stored: bytes) -> list[Document]:
        read = json.loads(stored)
        return [handwritten.first_of_stored(read), handwritten.last_of_stored(read)]

    return _peer(run, shown=shown)


def _put_by_scheme(scheme: Scheme, written: bytes, base: bytes) -> Contestant:
    return Contestant(
        "scheme.convert_json with a base",
        lambda: scheme.convert_json(written, base=base),
        lambda stored: [json.loads(scheme.convert_json(stored, each)) for each in (FIRST, LAST)],
    )


def _batch(scheme: Scheme) -> Job:
    batch = [scheme.convert_json(_compact(document(number)), OLDER) for number in range(BATCH)]

    def by_hand() -> list[bytes]:
        return [json.dumps(handwritten.neighbour(json.loads(each))).encode() for each in batch]

    def shown(results: list[bytes]) -> list[Any]:
        return [json.loads(each) for each in results]

    return Job(
        f"{OLDER} to {NEWER}, a batch of {BATCH}, for one of them",
        (
            _peer(by_hand, shown=shown, runs=BATCH),
            Contestant(
                "scheme.convert_json",
                lambda: [scheme.convert_json(each, NEWER) for each in batch],
                shown,
                BATCH,
            ),
        ),
    )


def _peer(
    run: Callable[[], Any],
    *,
    name: str = "json, hand-written",
    shown: Callable[[Any], Any] = json.loads,
    runs: int = 1,
) -> Contestant:
    return Contestant(name, run, shown, runs)


def _compact(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _plain(value: Any) -> Any:
    return json.loads(msgspec.json.encode(value))


def _same(value: Any) -> Any:
    return value


def _check(jobs: tuple[Job, ...]) -> None:
    """Ends the run where contestants of a job come to different documents."""
    for job in jobs:
        peer, *others = job.contestants
        expected = peer.shown(peer.run())
        for each in others:
            if each.shown(each.run()) != expected:
                sys.exit(f"{job.name}: {each.name} and {peer.name} come to different documents")


def _measured(jobs: tuple[Job, ...], rounds: int) -> list[Measured]:
    entrants = [(job, each) for job in jobs for each in job.contestants]
    timings = measure([each.run for _, each in entrants], rounds)
    return [
        Measured(job, each, Timing(tuple(seconds / each.runs for seconds in timing.rounds)))
        for (job, each), timing in zip(entrants, timings, strict=True)
    ]


def _show(measured: list[Measured], size: int, rounds: int) -> None:
    peer = measured[0]
    table = Table(
        title=f"A document of {size} bytes, medians over {rounds} interleaved rounds",
        caption="A ratio says how many times as fast: against the peer of the same job, and against\n"
        "the peer of the first job. All contestants of a job come to the same document.",
    )
    table.add_column("job and contestant")
    for name in ("microseconds", "same job", "first job"):
        table.add_column(name, justify="right")
    for each in measured:
        own = next(other for other in measured if other.job is each.job)
        if own is each:
            table.add_section()
            table.add_row(f"[bold]{each.job.name}")
        table.add_row(
            f"  {each.contestant.name}",
            f"{each.timing.median * 1e6:.1f}",
            f"{each.timing.times_as_fast_as(own.timing):.2f}",
            f"{each.timing.times_as_fast_as(peer.timing):.2f}",
        )
    console = Console(width=max(100, Console().width))
    console.print(table)
    single, far, batch = (
        next(
            each.timing
            for each in measured
            if each.job.name.startswith(name) and each.contestant.name == "scheme.convert_json"
        )
        for name in (f"one version apart: {OLDER}", "five", f"{OLDER} to {NEWER}, a batch")
    )
    console.print(
        f"scheme.convert_json: five versions apart cost {1 / far.times_as_fast_as(single):.2f} times "
        f"one version apart; in a batch of {BATCH} a document costs "
        f"{1 / batch.times_as_fast_as(single):.2f} times a single one."
    )


if __name__ == "__main__":
    main()
