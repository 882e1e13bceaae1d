"""The commands for authors of packages: what changed between two releases, and whether a package may be released."""

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trundle.cli import _package_tests
from trundle.cli._catalogs import At, CatalogPlace, Place, Tenant
from trundle.cli._describing import described
from trundle.cli._failures import CommandExit, ExitCode, unmet
from trundle.cli._package_sources import package_folder, packages_below
from trundle.cli._printing import (
    DocumentFormat,
    Format,
    data_text,
    print_data,
    print_exactly,
    print_text,
    progress,
    say,
    shown_path,
    table,
    warn,
)
from trundle.cli._settings import current
from trundle.cli.project import DryRun, Jobs, Output, print_findings
from trundle.cli.reports import MapFormat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trundle.engine import Explained
    from trundle.packages import Bump, Package

app = typer.Typer(no_args_is_help=True, help="Compare, check, explain, test and release packages.")

_Package = "A folder, an archive, a published version such as `oci:DIR//NAME:1.2.3`, or `catalog:NAME:1.2.3`."


@app.command()
def diff(
    old: Annotated[str, typer.Argument(metavar="OLD", help=_Package)],
    new: Annotated[str, typer.Argument(metavar="NEW", help=_Package)],
    *,
    tenant: Tenant = None,
    catalog: Place = None,
    server: At = None,
    output: Output = Format.TABLE,
) -> None:
    """Show what changed between two releases of a package, how far each change goes, and the required version.

    Exits with 3 if the version of NEW is too low.
    """
    from trundle.packages import read_manifest  # noqa: PLC0415
    from trundle.project import bump_to_plain, compare_packages  # noqa: PLC0415

    kept = CatalogPlace(catalog, server, tenant)
    with package_folder(old, kept) as before, package_folder(new, kept) as now:
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
    tenant: Tenant = None,
    catalog: Place = None,
    server: At = None,
    jobs: Jobs = None,
    output: Output = Format.TABLE,
) -> None:
    """Check a package as `publish` does: its projects, what they store, its manifest, its classes, and its version.

    Classes are checked against the packages of the catalog that it requires, as far as that has them; what it does not have is noted.
    """
    from trundle.packages import read_manifest  # noqa: PLC0415
    from trundle.project import review  # noqa: PLC0415

    with contextlib.ExitStack() as opened, progress("Checking") as step:
        released = None
        kept = CatalogPlace(catalog, server, tenant)
        if against is not None:
            before = opened.enter_context(package_folder(against, kept))
            released = (before, read_manifest(before).version)
        noted: dict[str, None] = {}

        def among(package: "Package") -> "list[Package]":
            known = kept.required(package)
            noted.update(dict.fromkeys(_missing(package, known)))
            return known

        found = review(folder, released, among=among, jobs=jobs or current().jobs, progress=step)
    for each in noted:
        say(f"note: {each}")
    if output is Format.TABLE:
        if found.bump is not None:
            print_text(changes_text(found.bump))
        print_findings(found.findings, every=True)
    else:
        print_data(found.to_plain(), output.value)
    if found.bump is not None:
        say(f"{found.bump.base} -> {found.version}: {found.bump.required} is required at least")
    if found.errors:
        raise CommandExit(ExitCode.FINDINGS)


def _missing(package: "Package", known: "list[Package]") -> "Iterator[str]":
    """What a package requires and neither the catalog nor Trundle has: its classes are not looked at then."""
    from trundle.engine import core_packages  # noqa: PLC0415

    there = [package, *known, *core_packages()]
    for each in package.manifest.requirements:
        if not any(one.name == each.name and one.version in each.range for one in there):
            advice = "upload it, or name another --catalog"
            what = f"what {package.name} uses of it is not checked"
            yield f"the catalog has no {each}, so {what}; {advice}"


@app.command()
def explain(
    name: Annotated[str, typer.Argument(metavar="CLASS", help="The full name of a class.")],
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FOLDER",
            help="Packages, or folders with packages in them; the current folder if there is none.",
        ),
    ] = None,
    *,
    version: Annotated[
        str | None, typer.Option(metavar="RANGE", help="Its version; the latest by default.")
    ] = None,
    package: Annotated[
        str | None, typer.Option(metavar="NAME", help="Its package, where several have it.")
    ] = None,
    output: Annotated[
        MapFormat, typer.Option("--format", "-o", help="How to show it.")
    ] = MapFormat.TEXT,
    file: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="The file to write to.")
    ] = None,
) -> None:
    """Show the ancestors of a class: the version of each, and the requirement that chose it."""
    from trundle.engine import Engine  # noqa: PLC0415
    from trundle.engine import explain as run  # noqa: PLC0415

    with Engine(packages_below(folders or [Path()])).session() as session:
        found = run(session.type(name, version, package))
    text = _explanation(found, output)
    if file is not None:
        file.write_text(text, encoding="utf-8")
        say(f"wrote {file}")
    elif output in (MapFormat.JSON, MapFormat.YAML):
        print_exactly(text)
    else:
        print_text(text)


def _explanation(found: "tuple[Explained, ...]", output: MapFormat) -> str:
    from trundle import engine  # noqa: PLC0415

    match output:
        case MapFormat.TEXT:
            rows = engine.explanation_rows(found)
            return table(("CLASS", "VERSION", "PACKAGE", "CHOSEN BY"), rows)
        case MapFormat.MERMAID:
            return engine.explanation_mermaid(found)
        case MapFormat.SVG:
            return engine.explanation_svg(found)
        case MapFormat.JSON | MapFormat.YAML:
            return data_text(engine.explanation_data(found), output.value)


@app.command()
def release(
    tree: Annotated[
        Path, typer.Argument(metavar="TREE", help="The folder with `dev` and the releases.")
    ] = Path(),
    *,
    line: Annotated[
        str | None,
        typer.Option("--from", metavar="LINE", help="The line to go on from, such as `1.2`."),
    ] = None,
    version: Annotated[
        str | None,
        typer.Option(
            "--version",
            metavar="VERSION",
            help="The version.",
            show_default="the lowest that the changes admit",
        ),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option(
            "--source",
            metavar="DIR",
            help="The folder to release, such as a corrected copy of an earlier release.",
            show_default="dev",
        ),
    ] = None,
    jobs: Jobs = None,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Write the folder of the next release, with the version that its changes and the marks of commits require."""
    from trundle.packages import release_tree  # noqa: PLC0415
    from trundle.project import Wanted, plan_release, write_release  # noqa: PLC0415
    from trundle.version import SemVer, VersionRange  # noqa: PLC0415

    found = release_tree(tree)
    if found is None:
        expected, advice = "a folder `dev` with a package", "name the folder that holds it"
        raise unmet(str(tree), expected, "none", advice, ExitCode.NOT_FOUND)
    wanted = Wanted(
        None if line is None else VersionRange.parse(line),
        None if version is None else SemVer.parse(version),
        source,
    )
    with progress("Checking") as step:
        planned = plan_release(found, wanted, jobs=jobs or current().jobs, progress=step)
    if not dry_run:
        write_release(planned)
    if output is Format.TABLE:
        print_text(changes_text(planned.bump))
        for each in planned.requirements:
            print_text(f"requires {each}")
    else:
        print_data(planned.to_plain() | {"dryRun": dry_run}, output.value)
    for note in planned.notes:
        warn(note)
    done = f"{shown_path(planned.folder)}: {planned.package} {planned.version}"
    say(f"would have written {done}" if dry_run else f"wrote {done}")


@app.command()
def docs(
    packages: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PACKAGE",
            help="Folders of packages or of releases, archives, published versions, or `catalog:` for all packages of a catalog, "
            "`catalog:NAME` for one; the current folder by default.",
        ),
    ] = None,
    *,
    tenant: Tenant = None,
    catalog: Place = None,
    server: At = None,
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="The folder of the pages.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Write pages anew that are there already.")
    ] = False,
    dry_run: DryRun = False,
    output: Output = Format.TABLE,
) -> None:
    """Write HTML and Markdown pages about packages: classes, members, requirements, and what changed.

    Pages of other versions stay as they are. A version is compared with the one before if that is given, too.
    """
    from trundle.pages import write_site  # noqa: PLC0415

    kept = CatalogPlace(catalog, server, tenant)
    with progress("Reading") as step, described(packages or ["."], kept, step) as releases:
        done = write_site(to, releases, replace=replace, dry_run=dry_run)
    if output is Format.TABLE:
        for each in done.written:
            print_text(f"{'would write' if dry_run else 'wrote'} {shown_path(each)}\n")
        for each in done.kept:
            say(f"left {shown_path(each)} as it was")
    else:
        print_data(done.to_plain() | {"dryRun": dry_run}, output.value)


@app.command()
def form(
    package: Annotated[str, typer.Argument(metavar="PACKAGE", help=_Package)],
    *,
    values: Annotated[
        Path | None,
        typer.Option(
            "--values",
            metavar="FILE",
            help="The answers, as YAML or JSON, by step and field.",
            show_default="ask at the terminal",
        ),
    ] = None,
    json_schema: Annotated[
        bool, typer.Option("--json-schema", help="Show a JSON Schema of the answers instead.")
    ] = False,
    convert: Annotated[
        bool,
        typer.Option(
            "--convert", help="Show the form in the newest version of its format instead."
        ),
    ] = False,
    name: Annotated[
        str | None,
        typer.Option("--form", metavar="NAME", help="Its file, where there are several."),
    ] = None,
    packages: Annotated[
        list[Path] | None,
        typer.Option(
            "--packages",
            metavar="FOLDER",
            help="Packages that it uses, or folders with packages in them; repeatable.",
        ),
    ] = None,
    tenant: Tenant = None,
    catalog: Place = None,
    server: At = None,
    output: Annotated[
        DocumentFormat, typer.Option("--output-format", "-o", help="How to print.")
    ] = DocumentFormat.YAML,
) -> None:
    """Show the object model that answers to the form of a package give."""
    from trundle.cli._forms import filled, parameters_for  # noqa: PLC0415
    from trundle.forms import form_of_package  # noqa: PLC0415
    from trundle.forms import json_schema as schema_of  # noqa: PLC0415
    from trundle.packages import Package  # noqa: PLC0415

    with package_folder(package, CatalogPlace(catalog, server, tenant)) as folder:
        read = Package.from_folder(folder)
    found = form_of_package(read, name)
    if found is None:
        expected, advice = "a form in the package", "add UI/ui.yaml"
        raise unmet(package, expected, "none", advice, ExitCode.NOT_FOUND)
    if convert:
        for each in found.findings:
            warn(each.coded)
        print_exactly(found.text)
        return
    others = packages_below(packages or [])
    if json_schema:
        schema = schema_of(found.form, parameters_for(found.form, read, others))
        print_data(schema, output.value)
    else:
        print_data(filled(found.form, read, others, values).model, output.value)


app.command("test")(_package_tests.run_tests_of)


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
