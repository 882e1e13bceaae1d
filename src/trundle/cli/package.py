"""The commands for authors of packages: what changed between two releases, and whether a package may be released."""

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trundle.cli._failures import ExitCode, Refusal, unmet
from trundle.cli._package_sources import package_folder
from trundle.cli._printing import Format, print_data, print_text, progress, say, table
from trundle.cli._settings import current
from trundle.cli.project import Jobs, Output, print_findings

if TYPE_CHECKING:
    from trundle.packages import Bump

app = typer.Typer(no_args_is_help=True, help="Compare, check and release packages.")

_Package = "A folder, an archive, or a published version such as `oci:DIR//NAME:1.2.3`."


@app.command()
def diff(
    old: Annotated[str, typer.Argument(metavar="OLD", help=_Package)],
    new: Annotated[str, typer.Argument(metavar="NEW", help=_Package)],
    *,
    output: Output = Format.TABLE,
) -> None:
    """Show what changed between two releases of a package, how far each change goes, and the required version.

    Exits with 3 if the version of NEW is too low.
    """
    from trundle.packages import read_manifest  # noqa: PLC0415
    from trundle.project import bump_to_plain, compare_packages  # noqa: PLC0415

    with package_folder(old) as before, package_folder(new) as now:
        base, version = read_manifest(before).version, read_manifest(now).version
        bump = compare_packages(before, now, base)
    low = version.release < bump.required
    if output is Format.TABLE:
        print_text(changes_text(bump))
        say(f"{base} -> {version}: {bump.required} is required at least")
    else:
        data = {"version": str(version), "sufficient": not low, **bump_to_plain(bump)}
        print_data(data, output.value)
    if low:
        expected = f"{bump.required} at least"
        raise unmet("", expected, str(version), code=ExitCode.FINDINGS)


@app.command()
def check(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The folder of the package.")
    ] = Path(),
    *,
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="PACKAGE", help=f"The release before. {_Package}"),
    ] = None,
    jobs: Jobs = None,
    output: Output = Format.TABLE,
) -> None:
    """Check a package as `publish` does: its projects, what they store, its manifest, and its version."""
    from trundle.packages import read_manifest  # noqa: PLC0415
    from trundle.project import review  # noqa: PLC0415

    with contextlib.ExitStack() as opened, progress("Checking") as step:
        released = None
        if against is not None:
            before = opened.enter_context(package_folder(against))
            released = (before, read_manifest(before).version)
        found = review(folder, released, jobs=jobs or current().jobs, progress=step)
    if output is Format.TABLE:
        if found.bump is not None:
            print_text(changes_text(found.bump))
        print_findings(found.findings, every=True)
    else:
        print_data(found.to_plain(), output.value)
    if found.bump is not None:
        say(f"{found.bump.base} -> {found.version}: {found.bump.required} is required at least")
    if found.errors:
        raise Refusal(ExitCode.FINDINGS)


def changes_text(bump: "Bump") -> str:
    """What changed since a release, in columns; an asterisk marks what only a person can judge."""
    rows: list[tuple[str, ...]] = [
        (f"{each.level.word}{'*' if each.judge else ''}", each.place, f"{each.text} [{each.code}]")
        for each in bump.changes
    ]
    text = table(("LEVEL", "PLACE", "CHANGE"), rows)
    if any(each.judge for each in bump.changes):
        text += "* only a person can judge how far this goes\n"
    return text
