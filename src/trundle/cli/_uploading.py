"""What is uploaded to a catalog: the packages at the places that a user names, and what came of them."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from trundle.cli._failures import EXIT_CODES, CommandExit, ExitCode
from trundle.cli._package_sources import archive_bytes
from trundle.cli._printing import Format, print_data, print_text, say, warn
from trundle.cli._reviewing import release_folders

if TYPE_CHECKING:
    from trundle.catalog import Upload
    from trundle.errors import Finding
    from trundle.packages import Package


def places_of_packages(paths: list[Path]) -> list[Path]:
    """The places of packages; a folder with releases stands for all of these."""
    return [place for path in paths for place in release_folders(path) or (path,)]


class UnreadablePlace(NamedTuple):
    """A place where no package could be read: why, and how the command ends for it."""

    problems: list[str]
    code: ExitCode


def read_packages(paths: list[Path]) -> "tuple[dict[Path, Package], list[UnreadablePlace]]":
    """The packages at some places, and what cannot be read there."""
    from trundle.errors import expectation  # noqa: PLC0415
    from trundle.packages import Package, PackageError  # noqa: PLC0415

    packages: dict[Path, Package] = {}
    unreadable: list[UnreadablePlace] = []
    for path in paths:
        try:
            if not path.exists():
                expected, advice = "a folder or an archive of a package", "correct the path"
                problem = f"{path}: {expectation(expected, 'nothing', advice)}"
                unreadable.append(UnreadablePlace([problem], ExitCode.NOT_FOUND))
            elif path.is_dir():
                packages[path] = Package.from_folder(path)
            else:
                packages[path] = Package.from_archive(archive_bytes(path))
        except PackageError as error:
            at = "" if path.is_dir() else f"{path}: "  # Findings of folders name their files.
            problems = [f"{at}{each}" for each in error.messages]
            unreadable.append(UnreadablePlace(problems, EXIT_CODES[error.kind]))
    return packages, unreadable


def not_all_read(unreadable: list[UnreadablePlace], findings: "Iterable[Finding]") -> CommandExit:
    """Everything that is wrong with an upload of which some packages cannot be read.

    A requirement that nothing meets is left out: what cannot be read may meet it.
    """
    from trundle.catalog import CatalogCode  # noqa: PLC0415

    problems = [each for one in unreadable for each in one.problems]
    problems += [
        each.coded
        for each in findings
        if each.severity == "error" and each.code != CatalogCode.REQUIREMENT
    ]
    return CommandExit(unreadable[0].code, *problems)


def print_upload(done: "Upload", output: Format, *, dry_run: bool) -> None:
    """Prints what was stored."""
    if output is Format.TABLE:
        verb = "would have stored" if dry_run else "stored"
        lines = (f"{verb} {each.name} {each.version} {each.digest}" for each in done.stored)
        print_text("".join(f"{line}\n" for line in lines))
        return
    print_data(done.to_plain() | {"dryRun": dry_run}, output.value)


def report_findings(findings: Iterable["Finding"]) -> None:
    """Prints notes and warnings.

    Raises:
        CommandExit: there are errors among the findings.
    """
    errors = []
    for each in findings:
        if each.severity == "error":
            errors.append(each.coded)
        elif each.severity == "warning":
            warn(each.coded)
        else:
            say(f"note: {each.coded}")
    if errors:
        raise CommandExit(ExitCode.FINDINGS, *errors)
