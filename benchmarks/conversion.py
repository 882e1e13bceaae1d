"""Measures conversions of a document of about 2 KB against what one would write without Trundle.

Run it with `make bench`. It generates the package of `schemas/` into a temporary folder, checks that all
contestants of a job come to the same document, measures them in interleaved rounds in one process, and prints
one table of ratios. Higher is faster; the named peer is `json` with a conversion of dictionaries.
"""

import argparse
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from contestants import Measured, check, measured
from documents import crowded, document
from jobs import BATCH, FIVE_APART, IN_BATCH, ONE_APART, STRAIGHT, STRICT, all_jobs, compact
from rich.console import Console
from rich.table import Table
from rounds import Timing

from trundle.project import load_project
from trundle.project.generated import generated_scheme
from trundle.project.generating import generate
from trundle.runtime import Scheme

HERE = Path(__file__).parent


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=60, help="rounds to take the median of")
    parser.add_argument(
        "--only", default="", help="measure jobs only that have this text in their name"
    )
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="trundle-bench-") as folder:
        project = Path(folder)
        shutil.copytree(HERE / "schemas", project / "schemas")
        shutil.copy(HERE / "trundle.yaml", project)
        loaded = load_project(project / "trundle.yaml")
        generate(loaded.config)
        with generated_scheme(loaded.config) as scheme:
            assert isinstance(scheme, Scheme)
            jobs = [each for each in all_jobs(scheme) if arguments.only in each.name]
            check(jobs)
            found = measured(jobs, arguments.rounds)
    sizes = ", ".join(str(len(compact(each(0)))) for each in (document, crowded))
    about = f"Documents of {sizes} bytes, medians over {arguments.rounds} interleaved rounds"
    if arguments.markdown:
        print("\n".join(_markdown(found)))
    else:
        _show(found, about)
    if not arguments.only:
        print("\n".join(_costs(found)))


def _ratio(each: Measured, found: list[Measured]) -> float:
    """How many times as fast as the peer of its job a contestant is."""
    peer = next(other for other in found if other.job is each.job)
    return each.timing.times_as_fast_as(peer.timing)


def _show(found: list[Measured], about: str) -> None:
    table = Table(
        title=about,
        caption="How many times as fast as the first of each job. All of a job come to the same document.",
    )
    table.add_column("job and contestant")
    for name in ("microseconds", "times as fast"):
        table.add_column(name, justify="right")
    for each in found:
        if each.contestant is each.job.contestants[0]:
            table.add_section()
            table.add_row(f"[bold]{each.job.name}")
        table.add_row(
            f"  {each.contestant.name.replace('`', '')}",
            f"{each.timing.median * 1e6:.1f}",
            f"{_ratio(each, found):.2f}",
        )
    Console(width=max(100, Console().width)).print(table)


def _markdown(found: list[Measured]) -> Iterator[str]:
    yield "| job | contestant | times as fast |"
    yield "|---|---|--:|"
    for each in found:
        first = each.contestant is each.job.contestants[0]
        job = each.job.name if first else ""
        yield f"| {job} | {each.contestant.name} | {_ratio(each, found):.2f} |"


def _costs(found: list[Measured]) -> Iterator[str]:
    """What distance and company add to the cost of a document."""
    for name in (STRAIGHT, STRICT):
        single, far, batch = (
            _timing(found, part, name) for part in (ONE_APART, FIVE_APART, IN_BATCH)
        )
        yield (
            f"{name.replace('`', '')}: five versions apart cost {1 / far.times_as_fast_as(single):.2f} "
            f"times one version apart; in a batch of {BATCH} a document costs "
            f"{1 / batch.times_as_fast_as(single):.2f} times a single one."
        )


def _timing(found: list[Measured], job: str, name: str) -> Timing:
    return next(
        each.timing for each in found if job in each.job.name and each.contestant.name == name
    )


if __name__ == "__main__":
    main()
