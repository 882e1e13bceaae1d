"""The commands that make and keep a project: init, generate, check, lock, schema."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trundle.cli._failures import CommandExit, ExitCode, unmet
from trundle.cli._printing import (
    DocumentFormat,
    Format,
    harmless,
    print_data,
    print_exactly,
    print_result,
    print_styled,
    progress,
    say,
    shown_path,
    styled,
    terminal_width,
)
from trundle.cli._project import config_of
from trundle.cli._settings import current, settings_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trundle.errors import Finding
    from trundle.project import GenerateResult, LockChange

Output = Annotated[Format, typer.Option("--output-format", "-o", help="How to print the result.")]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        min=1,
        metavar="N",
        help="How many processes to use.",
        show_default="one to each processor",
    ),
]
_NOTES = 5
"""How many notes of one kind a terminal shows."""
DryRun = Annotated[bool, typer.Option("--dry-run", help="Change nothing; show what would change.")]


def init(
    context: typer.Context,
    *,
    package: Annotated[
        str, typer.Option("--package", help="Dotted name of the Python package to generate.")
    ],
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILES", help="Schema files or folders.", show_default="schemas"),
    ] = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Start a project from schema files or a CRD."""
    from trundle.project import CONFIG_NAME, plan_init, write_new_files  # noqa: PLC0415

    folder = settings_of(context).folder
    paths = files or [folder / "schemas"]
    planned = plan_init(paths, package, folder)
    if not dry_run:
        write_new_files(folder, planned)
    names = [str(folder / name) for name in planned]
    if output is Format.TABLE and dry_run:
        print_exactly(planned[CONFIG_NAME].decode())
    elif output is not Format.TABLE:
        print_data({"dryRun": dry_run, "written": names}, output.value)
    both = " and ".join(names)
    say(f"would write {both}" if dry_run else f"wrote {both}; next: `trundle generate`")


def generate(
    context: typer.Context,
    *,
    only_check: Annotated[
        bool, typer.Option("--check", help="Write nothing; fail if the package is stale.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Replace generated files that were edited by hand.")
    ] = False,
    dry_run: DryRun = False,
    jobs: Jobs = None,
    output: Output = Format.TABLE,
) -> None:
    """Write the generated package: types, storage, conversions and tests."""
    from trundle.project import generate as run  # noqa: PLC0415

    config = config_of(context)
    with progress("Generating") as step:
        result = run(
            config,
            check=only_check or dry_run,
            force=force,
            jobs=jobs or current().jobs,
            progress=step,
        )
    if result.notes:
        notes = "1 note" if result.notes == 1 else f"{result.notes} notes"
        say(f"{notes} about the schemas; `trundle check` lists what was left out")
    print_result(result.to_plain, lambda: _generated_text(result), output)
    if result.change is not None:
        change = result.change
        say(
            f"{shown_path(result.root)}: wrote {len(change.written)}, removed {len(change.removed)}, "
            f"left {len(change.unchanged)} files as they were"
        )
    elif not result.stale:
        say(f"{shown_path(result.root)}: up to date")
    elif only_check:
        place, advice = shown_path(result.root), "run `trundle generate`"
        expected, found = "what would be generated", "other files"
        raise unmet(place, expected, found, advice, ExitCode.FINDINGS)


def _generated_text(result: "GenerateResult") -> str:
    if result.comparison is None:
        return ""
    groups = (
        ("would add", result.comparison.missing),
        ("would change", result.comparison.changed),
        ("would remove", result.comparison.extra),
    )
    return "".join(f"{word} {name}\n" for word, names in groups for name in names)


def check(
    context: typer.Context,
    *,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Changes of type need a rule, a hook or `keep`."),
    ] = False,
    every: Annotated[
        bool,
        typer.Option(
            "--all", help="On a terminal, show all notes of each kind, not only the first ones."
        ),
    ] = False,
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            metavar="URL",
            help="A store whose objects the project must be able to read: a file or a URL.",
        ),
    ] = None,
    jobs: Jobs = None,
    output: Output = Format.TABLE,
) -> None:
    """Check the project and report every finding; notes alone do not fail."""
    from trundle.errors import errors_among  # noqa: PLC0415
    from trundle.project import check as run  # noqa: PLC0415

    config = config_of(context)
    with progress("Checking") as step:
        findings = run(config, strict=strict, jobs=jobs or current().jobs, progress=step)
    if store is not None:
        from trundle.cli._stores import still_stored  # noqa: PLC0415

        findings = (*still_stored(context, store), *findings)
    if output is Format.TABLE:
        print_findings(findings, every=every)
    else:
        print_data([each.to_plain() for each in findings], output.value)
    errors = len(errors_among(findings))
    notes = len(findings) - errors
    say(f"{_counted(errors, 'error')}, {_counted(notes, 'note')}")
    if errors:
        raise CommandExit(ExitCode.FINDINGS)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number or 'no'} {noun}s"


def print_findings(findings: "Sequence[Finding]", *, every: bool) -> None:
    """Prints findings; on a terminal they are wrapped, and only the first notes of each kind are shown."""
    width = terminal_width()
    folding = width is not None and not every
    notes: Counter[str] = Counter()
    for each in findings:
        notes[each.code] += each.severity == "note"
        if each.severity == "error" or not folding or notes[each.code] <= _NOTES:
            _print_finding(each.severity, each.coded, width)
    for code, number in notes.items():
        if folding and number > _NOTES:
            rest = f"{number - _NOTES} more like these; `--all` shows them [{code}]"
            _print_finding("note", rest, width)


def _print_finding(severity: str, text: str, width: int | None) -> None:
    from trundle.report import wrapped  # noqa: PLC0415

    line = f"{severity}: {harmless(text)}"
    shown = line if width is None else wrapped(line, width, indent=2)
    colour = typer.colors.RED if severity == "error" else typer.colors.CYAN
    print_styled(f"{styled(severity, colour)}{shown.removeprefix(severity)}\n")


def lock(
    context: typer.Context,
    *,
    accept: Annotated[
        bool,
        typer.Option(
            "--accept", help="Replace recorded formats whose stored objects become unreadable."
        ),
    ] = False,
    dry_run: DryRun = False,
    jobs: Jobs = None,
    output: Output = Format.TABLE,
) -> None:
    """Record the current stored format of every resource type as released."""
    from trundle.project import lock as run  # noqa: PLC0415

    config = config_of(context)
    with progress("Recording") as step:
        change = run(
            config, accept=accept, dry_run=dry_run, jobs=jobs or current().jobs, progress=step
        )
    print_result(change.to_plain, lambda: _lock_text(change), output)
    if not change.changes:
        say(f"{shown_path(change.path)}: up to date")
    else:
        say(
            f"would write {shown_path(change.path)}"
            if dry_run
            else f"wrote {shown_path(change.path)}"
        )


def _lock_text(change: "LockChange") -> str:
    groups = change.groups.items()
    return "".join(f"{word} {name}\n" for word, names in groups for name in names)


def schema(
    output: Annotated[
        DocumentFormat, typer.Option("--output-format", "-o", help="How to print it.")
    ] = DocumentFormat.JSON,
) -> None:
    """Print the JSON Schema of trundle.yaml."""
    from trundle.project import config_schema  # noqa: PLC0415

    print_data(config_schema(), output.value)
