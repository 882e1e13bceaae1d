"""The commands that keep a store: status, roll, check, export, import, compact."""

import datetime as dt
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trundle._environment import expanded
from trundle.cli._carried import Installed, installed_place, installed_store
from trundle.cli._failures import CommandExit, ExitCode, going_on, unmet
from trundle.cli._installing import State, state_folder
from trundle.cli._losses import print_losses
from trundle.cli._printing import (
    Format,
    print_data,
    print_result,
    print_text,
    progress,
    say,
    table,
    warn,
)
from trundle.cli._settings import settings_of
from trundle.cli._stores import Place, file_of, project_store, warn_unserved
from trundle.cli._workers import Scheduler, workers_of
from trundle.cli.project import DryRun, Output, print_findings

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from trundle.cli._rolling import RollPlace
    from trundle.cli._stores import StorePlace
    from trundle.runtime import AnyScheme
    from trundle.store import Compaction, Move, Roll, StoreStatus

Count = Annotated[int, typer.Option("--workers", min=1, metavar="N", help="In so many processes.")]

app = typer.Typer(no_args_is_help=True, help="Keep objects that clients of all versions share.")


def _found(
    context: typer.Context, place: str | None, state: Path | None, *, installed: bool
) -> "AbstractContextManager[StorePlace]":
    """The store of the project, or of what is installed."""
    return installed_store(state, place) if installed else project_store(context, place)


def _elsewhere(
    context: typer.Context, place: str | None, state: Path | None, *, installed: bool
) -> "RollPlace":
    """How another process opens the store."""
    from trundle.cli._rolling import RollPlace  # noqa: PLC0415
    from trundle.project import load_config, ship  # noqa: PLC0415

    settings = settings_of(context)
    if installed:
        folder = state_folder(state)
        return RollPlace(str(installed_place(folder, place)), None, folder)
    package = ship(load_config(settings.config_path))
    return RollPlace(_absolute(place or settings.project_store), package, None)


def _absolute(place: str) -> str:
    """A database as another process finds it, whatever folder it works in."""
    return place if "://" in place else str(expanded(place).absolute())


@app.command()
def status(
    context: typer.Context,
    *,
    store: Place = None,
    installed: Installed = False,
    state: State = None,
    output: Output = Format.TABLE,
) -> None:
    """Show what is stored, in which storage versions, and which servers use the store."""
    from trundle.store import put_back  # noqa: PLC0415
    from trundle.store import status as run  # noqa: PLC0415

    with _found(context, store, state, installed=installed) as place, place.to_read() as opened:
        found = run(opened)
        if (difference := put_back(opened)) is not None:
            warn(str(difference))
    print_result(found.to_plain, lambda: _status_text(found), output)
    if not found.resources:
        say(f"{found.where}: nothing is stored")


def _status_text(found: "StoreStatus") -> str:
    head = ("RESOURCE", "STORED IN", "OBJECTS", "EARLIER", "BYTES", "NOTE")
    rows: list[tuple[str, ...]] = [
        (
            each.name,
            stored.version,
            str(stored.objects),
            str(stored.earlier),
            str(stored.size),
            "" if stored.version == each.storage_version else f"to be {each.storage_version}",
        )
        for each in found.resources
        for stored in each.versions
    ]
    text = table(head, rows)
    servers: list[tuple[str, ...]] = [
        (each.name, f"{each.expires:%Y-%m-%dT%H:%M:%SZ}") for each in found.holders
    ]
    return text + (f"\n{table(('SERVER', 'LEASE UNTIL'), servers)}" if servers else "")


@app.command()
def roll(
    context: typer.Context,
    *,
    rate: Annotated[
        float | None,
        typer.Option("--rate", min=0.001, metavar="N", help="At most so many objects in a second."),
    ] = None,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Compare what every version shows before and after."),
    ] = False,
    workers: Count = 1,
    scheduler: Scheduler = None,
    store: Place = None,
    installed: Installed = False,
    state: State = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Rewrite stored objects in the storage version of this release, beside servers that use the store.

    It may be interrupted at any time; the next run goes on. With `--dry-run` all is converted, and nothing written.
    """
    from trundle.store import roll as run  # noqa: PLC0415

    _require_shared(scheduler, installed=installed)
    with (
        going_on(dry_run=dry_run),
        _found(context, store, state, installed=installed) as place,
        place.to_change() as opened,
        progress("Rolling") as step,
    ):
        if workers == 1 and scheduler is None:
            done = run(opened, rate=rate, verify=verify, dry_run=dry_run, progress=step)
        else:
            from trundle.cli._rolling import roll_in_processes  # noqa: PLC0415

            there = _elsewhere(context, store, state, installed=installed)
            with workers_of(scheduler, workers, "--workers") as processes:
                done = roll_in_processes(
                    opened, there, processes, step, rate=rate, verify=verify, dry_run=dry_run
                )
    if output is Format.TABLE:
        print_text(_rolled_text(done))
    else:
        print_data(done.to_plain() | {"dryRun": dry_run}, output.value)
    _say_moves(done.moves, dry_run=dry_run)
    number = sum(sum(each.rolled.values()) for each in done.resources)
    what = "1 revision" if number == 1 else f"{number or 'no'} revisions"
    say(f"would roll {what}" if dry_run else f"rolled {what}")
    if done.findings:
        print_findings(done.findings, every=True) if output is Format.TABLE else None
        raise CommandExit(ExitCode.FINDINGS)


def _require_shared(scheduler: str | None, *, installed: bool) -> None:
    """Refuses a store of what is installed: workers on other machines have other installations."""
    if installed and scheduler is not None:
        expected, advice = "the store of a project", "use --workers where it is installed"
        raise unmet(f"--scheduler {scheduler}", expected, "--installed", advice)


def _rolled_text(done: "Roll") -> str:
    rows: list[tuple[str, ...]] = [
        (each.resource, version, each.storage_version, str(number))
        for each in done.resources
        for version, number in sorted(each.rolled.items())
    ]
    return table(("RESOURCE", "FROM", "TO", "REVISIONS"), rows)


def _say_moves(moves: "tuple[Move, ...]", *, dry_run: bool) -> None:
    for each in moves:
        if each.held_by:
            servers = ", ".join(each.held_by)
            text = f"is stored in {each.before} until these servers end, which cannot read {each.after}: {servers}"
            warn(f"{each.resource} {text}")
        else:
            verb = "would be" if dry_run else "is"
            say(f"{each.resource} {verb} stored in {each.after} from now on; it was {each.before}")


@app.command()
def check(
    context: typer.Context,
    *,
    without: Annotated[
        str | None,
        typer.Option(
            "--without", metavar="VERSION", help="Report what would be lost if a version went."
        ),
    ] = None,
    workers: Count = 1,
    scheduler: Scheduler = None,
    store: Place = None,
    installed: Installed = False,
    state: State = None,
    output: Output = Format.TABLE,
) -> None:
    """Read every object at every version that is served, and report what cannot be.

    With `--without`, report instead how much is stored in a version, what of it cannot be converted, and which values no other served
    version shows.
    """
    from trundle.store import check as run  # noqa: PLC0415
    from trundle.store import losses  # noqa: PLC0415

    _require_shared(scheduler, installed=installed)
    in_processes = workers > 1 or scheduler is not None
    if without is not None and in_processes:
        raise unmet("--without", "no --workers and no --scheduler with it", "one", "leave it out")
    with (
        _found(context, store, state, installed=installed) as place,
        place.to_read() as opened,
        progress("Checking") as step,
    ):
        lost = None if without is None else losses(opened, without, step)
        if not in_processes:
            findings = run(opened, progress=step) if lost is None else ()
        else:
            from trundle.cli._rolling import check_in_processes  # noqa: PLC0415

            there = _elsewhere(context, store, state, installed=installed)
            with workers_of(scheduler, workers, "--workers") as processes:
                findings = check_in_processes(opened, there, processes, step)
    if lost is not None:
        print_losses(lost, output)
        return
    if output is Format.TABLE:
        print_findings(findings, every=True)
    else:
        print_data([each.to_plain() for each in findings], output.value)
    say(f"{len(findings) or 'no'} {'finding' if len(findings) == 1 else 'findings'}")
    if findings:
        raise CommandExit(ExitCode.FINDINGS)


@app.command("export")
def export_(
    context: typer.Context,
    *,
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="FILE", help="The file.", show_default="standard output"),
    ] = None,
    store: Place = None,
    installed: Installed = False,
    state: State = None,
    output: Output = Format.TABLE,
) -> None:
    """Write everything that is stored at one moment, as lines of JSON.

    `-o` prints what was done; it needs `--to`, since the objects go to standard output without it.
    """
    from trundle._durable import durable_file  # noqa: PLC0415
    from trundle.store import export  # noqa: PLC0415

    if to is None and output is not Format.TABLE:
        raise unmet(f"-o {output.value}", "--to with it", "none", "name the file for the objects")
    if to is not None and to.exists():
        advice = "remove it, or name another one with --to"
        raise unmet(str(to), "no such file", "one", advice, ExitCode.EXISTS)
    results = sys.stdout  # While the store is open, what is printed goes to standard error.
    with (
        _found(context, store, state, installed=installed) as place,
        place.to_read() as opened,
        progress("Exporting") as step,
    ):
        if to is None:
            number = export(opened, results.buffer, progress=step)
            results.flush()
        else:
            with durable_file(to) as target:
                number = export(opened, target, progress=step)
    if output is not Format.TABLE:
        print_data({"exported": number, "file": str(to)}, output.value)
    say(f"exported {_objects(number)}")


@app.command("import")
def import_(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `export` wrote.")],
    *,
    store: Place = None,
    installed: Installed = False,
    state: State = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Store what was exported; objects that are there already, just as they are in the file, stay as they are."""
    from trundle.store import import_ as run  # noqa: PLC0415

    beside = _served_beside()
    with _found(context, store, state, installed=installed) as place:
        path = file_of(place.where)
        if not dry_run and path is not None and not path.exists():
            with place.to_try() as empty:  # No file is made for what is refused.
                run(empty, file, beside=beside, dry_run=True)
        found = place.to_change() if dry_run else place.to_fill()
        with found as opened, progress("Importing") as step:
            if not dry_run and not installed:  # What is installed may go, and come back.
                warn_unserved(opened)
            done = run(opened, file, beside=beside, dry_run=dry_run, progress=step)
    if output is not Format.TABLE:
        print_data({**done.to_plain(), "dryRun": dry_run}, output.value)
    verb = "would import" if dry_run else "imported"
    there = f"; {_objects(done.there)} there already" if done.there else ""
    say(f"{verb} {_objects(done.stored)}{there}")


def _served_beside() -> "tuple[AnyScheme, ...]":
    """The scheme of what a control plane keeps beside the project's objects; none where none can run here."""
    try:
        from trundle.api import core_scheme  # noqa: PLC0415
    except ImportError:  # It needs an extra.
        return ()
    return (core_scheme,)


def _objects(number: int) -> str:
    return "1 object" if number == 1 else f"{number or 'no'} objects"


@app.command()
def compact(
    context: typer.Context,
    *,
    older_than: Annotated[
        float | None,
        typer.Option(
            "--older-than",
            min=0,
            metavar="MINUTES",
            help="Forget changes that are older.",
            show_default="5",
        ),
    ] = None,
    most: Annotated[
        int | None,
        typer.Option(
            "--most", min=0, metavar="N", help="Keep at most so many changes of a resource type."
        ),
    ] = None,
    restored: Annotated[
        bool,
        typer.Option(
            "--restored",
            help="The database was put back from a copy: forget all, and go on with resource versions that no client has seen.",
        ),
    ] = False,
    store: Place = None,
    installed: Installed = False,
    state: State = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Forget earlier states of objects; a client that watches from there has to list again.

    With `--restored` this holds for all clients. Run it before a server uses the store again.
    """
    from trundle.store import begin_anew  # noqa: PLC0415
    from trundle.store import compact as run  # noqa: PLC0415

    if restored and (older_than is not None or most is not None):
        option = "--most" if older_than is None else "--older-than"
        raise unmet("--restored", f"no {option}", "one", "leave it out; all is forgotten")
    age = _minutes(5.0 if older_than is None else older_than)
    with _found(context, store, state, installed=installed) as place, place.to_change() as opened:
        if restored:
            done = begin_anew(opened, beside=_served_beside(), dry_run=dry_run)
        else:
            done = run(opened, age=age, most=most, dry_run=dry_run)
    print_result(
        lambda: {"resources": [each.to_plain() for each in done], "dryRun": dry_run},
        lambda: _compacted_text(done),
        output,
    )


def _minutes(number: float) -> dt.timedelta:
    try:
        return dt.timedelta(minutes=number)
    except (OverflowError, ValueError):
        raise unmet("--older-than", "a number of minutes", str(number), "correct it") from None


def _compacted_text(done: "tuple[Compaction, ...]") -> str:
    head = ("RESOURCE", "COMPACTED UP TO", "WAS", "REMOVED")
    rows: list[tuple[str, ...]] = [
        (
            f"{each.group}/{each.resource}" if each.group else each.resource,
            str(each.resource_version),
            str(each.before),
            str(each.removed),
        )
        for each in done
    ]
    return table(head, rows)
