"""The command that proves a project: verify."""

import contextlib
import os
import random
import re
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trundle.cli._failures import CommandExit, ExitCode, unmet
from trundle.cli._printing import Format, Step, print_result, progress, say, shown_path, warn
from trundle.cli._project import config_of, load, package_evolutions, packages_of_project
from trundle.cli._runs import MEMORY, MemoryLimit, RunOptions, limits_of
from trundle.cli._settings import Settings, current, settings_of
from trundle.cli._workers import Scheduler, workers_of
from trundle.cli.project import Jobs, Output

if TYPE_CHECKING:
    from trundle.project import ProofOptions, ProofRun
    from trundle.verify.limits import Limit
    from trundle.verify.proofs import Counterexample, Proof
    from trundle.workers import Workers

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(s|m|h)")
_SECONDS = {"s": 1, "m": 60, "h": 3600}
_SEEDS = 1_000_000
_CONFIG = "trundle.yaml"
_SILENCE = 10
"""After so many seconds a line says how far the proofs are."""

Files = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="FILES", help="Schema files or folders, or a project; by default the project's."
    ),
]


Seed = Annotated[
    int | None, typer.Option("--seed", min=0, help="Replay the examples of this seed.")
]
Examples = Annotated[
    int | None,
    typer.Option(
        "--examples",
        min=0,
        help="Examples for each version of a resource type.",
        show_default="10",
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(
        "--for",
        metavar="TIME",
        help="Continue with further seeds for this long, such as 90s, 10m or 1h.",
    ),
]
Resources = Annotated[
    list[str] | None,
    typer.Option("--resource", help="Only this resource type; may be given several times."),
]
Version = Annotated[str | None, typer.Option("--api-version", help="Only this API version.")]
Limits = Annotated[
    bool,
    typer.Option(
        "--limits", help="List all conversions that must lose something, with the reasons."
    ),
]


HookLimit = Annotated[
    float,
    typer.Option(
        "--time-limit",
        min=0.1,
        metavar="SECONDS",
        help="How long a call of a hook of a package may take.",
    ),
]


def verify(
    context: typer.Context,
    *,
    paths: Files = None,
    seed: Seed = None,
    examples: Examples = None,
    budget: Budget = None,
    jobs: Jobs = None,
    scheduler: Scheduler = None,
    resource: Resources = None,
    api_version: Version = None,
    limits: Limits = False,
    time_limit: HookLimit = 10.0,
    memory_limit: MemoryLimit = MEMORY,
    output: Output = Format.TABLE,
) -> None:
    """Check the project's conversions against the laws of conversion, with generated values.

    Hooks of packages run in processes of their own, within limits; with --scheduler, the workers say how much memory they may take.
    """
    _need_hypothesis()
    from trundle.project import ProofOptions  # noqa: PLC0415

    options = ProofOptions(
        seed=random.randrange(_SEEDS) if seed is None else seed,  # noqa: S311 - no secret
        examples=10 if examples is None else examples,
        jobs=jobs or current().jobs or os.cpu_count() or 1,
        seconds=None if budget is None else _seconds(budget),
        resources=tuple(resource or ()),
        version=api_version,
    )
    with contextlib.ExitStack() as stack:
        cluster = None if scheduler is None else stack.enter_context(workers_of(scheduler, jobs))
        say(f"seed {options.seed}; the same seed replays the same examples")
        prove = _proving(context, paths or [], options, RunOptions(time_limit, memory_limit))
        run = _run(prove, cluster)
    command = _command(context, paths or [])
    print_result(
        lambda: run.to_plain(partial(_replay, command)),
        lambda: _text(run, command, every=limits),
        output,
    )
    found = sum(len(each.findings) for each in run.proofs)
    say(_summary(run, found))
    if found:
        raise CommandExit(ExitCode.FINDINGS)


def _need_hypothesis() -> None:
    try:
        import trundle.verify.proofs  # noqa: F401, PLC0415
    except ImportError as error:
        raise CommandExit(ExitCode.FAILED, str(error)) from None


def _seconds(text: str) -> float:
    found = _DURATION.fullmatch(text)
    if found is None:
        raise unmet(f"--for {text}", "a time such as 90s, 10m or 1h", repr(text))
    return float(found[1]) * _SECONDS[found[2]]


def _run(prove: "Callable[..., ProofRun]", cluster: "Workers | None") -> "ProofRun":
    with progress("Verifying") as step:
        progressed = _Progress(step, time.monotonic)
        try:
            return prove(on_total=progressed.know, on_step=progressed.count, workers=cluster)
        except KeyboardInterrupt:
            say(f"interrupted after {progressed.reached}; all processes have ended")
            raise
        except (Exception, SystemExit):
            if progressed.total:
                say(f"stopped after {progressed.reached}; all processes have ended")
            raise


class _Progress:
    """What is shown while proofs are under way: how far they are, and each finding as soon as it is made.

    Args:
        step: shows a step where standard error is a terminal.
        clock: seconds that pass; elsewhere a line is printed whenever enough of them have.
    """

    def __init__(self, step: Step, clock: Callable[[], float]) -> None:
        self.step = step
        self.clock = clock
        self.done = self.total = self.findings = 0
        self.printed = clock()

    @property
    def reached(self) -> str:
        """How far the proofs are; with a time to go on for, each round proves all versions again."""
        number, done = self.round
        further = f" in round {number}" if number > 1 else ""
        return f"{done} of {self.total} versions{further}"

    @property
    def round(self) -> tuple[int, int]:
        """Which round the proofs are in, and how many of it are made."""
        before = max(self.done - 1, 0) // max(self.total, 1)
        return before + 1, self.done - before * self.total

    def know(self, total: int) -> None:
        """Takes the number of versions that are to be proved."""
        self.total = total

    def count(self, proof: "Proof") -> None:
        """Takes the next proof."""
        self.done += 1
        self.findings += len(proof.findings)
        last = f"{proof.resource} {proof.version}"
        self.step(last, self.round[1], self.total)
        for each in proof.findings:
            say(f"found in {last}: {each.law}, at {each.path} of {', '.join(each.versions)}")
        if not sys.stderr.isatty() and self.clock() - self.printed >= _SILENCE:
            self.printed = self.clock()
            found = f"{self.findings or 'no'} {'finding' if self.findings == 1 else 'findings'}"
            say(f"verified {self.reached}, {found}; last {last}")


def _proving(
    context: typer.Context, paths: list[Path], options: "ProofOptions", calls: RunOptions
) -> "Callable[..., ProofRun]":
    """What proves the project, each of its groups, or some schemas."""
    from trundle import project as rooms  # noqa: PLC0415
    from trundle.schema.readers import Source  # noqa: PLC0415

    if len(paths) == 1 and _is_project(paths[0]):
        context.obj = Settings(paths[0])
        paths = []
    of_project = [] if paths else packages_of_project(settings_of(context))
    packages = package_evolutions(paths or of_project, limits_of(calls))
    if packages is not None:
        evolutions, name = packages
        found = evolutions.of(name)
        for each in (*found.findings, *found.left_out):
            warn(each.coded)
        return partial(rooms.prove_classes, evolutions, name, options)
    if paths:
        with progress("Reading schemas") as step:
            sources = [Source(path) for path in paths]
            evolution = rooms.evolution_of(sources, on_file=lambda path: step(path.name))
        return partial(rooms.prove_schemas, evolution, options)
    config = config_of(context)
    if config.groups:
        return partial(rooms.prove_groups, config, options)
    return partial(rooms.prove_project, load(context), options)


def _is_project(path: Path) -> bool:
    return path.name == _CONFIG or (path / _CONFIG).is_file()


def _command(context: typer.Context, paths: list[Path]) -> str:
    """The command line without its options, as it was called."""
    folder = settings_of(context).folder
    parts = ["trundle"]
    if not paths and folder != Path():
        parts += ["-C", str(folder)]
    return shlex.join([*parts, "verify", *map(str, paths)])


def _summary(run: "ProofRun", found: int) -> str:
    examples = sum(each.examples + each.covering for each in run.proofs)
    place = "generated to be proved" if run.folder is None else f"in {shown_path(run.folder)}"
    versions = len({(each.resource, each.version) for each in run.proofs})
    reached = str(versions) if run.complete else f"{versions} of {run.planned}"
    noun = "version of a resource type" if reached == "1" else "versions of resource types"
    rounds = "" if run.rounds == 1 else f" in {run.rounds} rounds"
    return (
        f"package {run.package}, {place}: {reached} {noun}, {examples} "
        f"examples{rounds}, {found or 'no'} {'finding' if found == 1 else 'findings'}, "
        f"{run.seconds:.1f} s, seed {run.seed}"
    )


def _replay(command: str, found: "Counterexample", proof: "Proof") -> str:
    return (
        f"{command} --resource {shlex.quote(found.resource)} --api-version {found.version} "
        f"--seed {found.seed} --examples {proof.examples}"
    )


def _text(run: "ProofRun", command: str, *, every: bool) -> str:
    from trundle.report import table  # noqa: PLC0415

    rows = []
    findings: list[str] = []
    for name, proofs in run.by_resource():
        found = [(each, proof) for proof in proofs for each in proof.findings]
        rows.append(
            [
                name,
                str(len({each.version for each in proofs})),
                str(sum(each.examples + each.covering for each in proofs)),
                str(len(found)),
                _counted(run.limits[name]),
            ]
        )
        findings.extend(_finding_text(each, proof, command) for each, proof in found)
    header = ["resource type", "versions", "examples", "findings", "lossy by nature"]
    return "\n\n".join([table(header, rows), *_limits_text(run, every=every), *findings])


def _counted(limits: "tuple[Limit, ...]") -> str:
    kinds = dict.fromkeys(each.kind for each in limits)
    counts = {kind: sum(each.kind == kind for each in limits) for kind in kinds}
    return ", ".join(f"{count} {kind}" for kind, count in counts.items()) or "nothing"


def _limits_text(run: "ProofRun", *, every: bool) -> Iterator[str]:
    """The limits that break a law, and all others where they are asked for; and what the words mean."""
    from trundle.verify.limits import KINDS  # noqa: PLC0415

    kinds: dict[str, None] = {}
    for name, limits in run.limits.items():
        kinds.update(dict.fromkeys(each.kind for each in limits))
        listed = [each for each in limits if every or each.law is not None]
        if listed:
            yield "\n".join([name, *(f"  {_limit_text(each)}" for each in listed)])
    if kinds:
        explained = (f"{kind}: {KINDS[kind]}" for kind in KINDS if kind in kinds)
        hidden = "" if every else "\n`--limits` lists each of them, with the reason."
        yield "\n".join(explained) + hidden


def _limit_text(limit: "Limit") -> str:
    law = f" (cannot keep {limit.law})" if limit.law else ""
    others = f", not {_span(limit.others)}" if limit.others else ""
    reason = f": {limit.reason}" if limit.reason else ""
    return f"{limit.kind}{law} {limit.path} of {_span(limit.versions)}{others}{reason}"


def _span(versions: tuple[str, ...]) -> str:
    few = 2
    if len(versions) <= few:
        return " and ".join(versions)
    return f"{versions[0]} to {versions[-1]} ({len(versions)} versions)"


def _finding_text(found: "Counterexample", proof: "Proof", command: str) -> str:
    lines = [
        f"finding: {found.law}",
        f"  {found.resource} {', '.join(found.versions)} at {found.path}",
        f"  expected: {found.expected}",
        f"  found:    {found.found}",
    ]
    lines += [
        f"  written by {each.version}: {bytes(each.document).decode()}"
        for each in found.case.writes
    ]
    for name in ("document", "edited", "touched", "earlier"):
        value = getattr(found.case, name)
        if value is not None:
            lines.append(f"  {name}: {bytes(value).decode()}")
    lines.append(f"  replay: {_replay(command, found, proof)}")
    return "\n".join(lines)
