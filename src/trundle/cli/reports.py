"""The commands that answer questions about how schemas evolve: diff, stats, suggest, map, explain."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trundle.cli._failures import CommandExit, ExitCode, unmet
from trundle.cli._printing import (
    Format,
    data_text,
    harmless,
    print_exactly,
    print_result,
    print_styled,
    print_text,
    progress,
    say,
    styled,
    terminal_width,
)
from trundle.cli._project import load_evolution

if TYPE_CHECKING:
    from trundle.evolution import Evolution
    from trundle.report import Comparison
    from trundle.version import ApiVersion

Output = Annotated[Format, typer.Option("--output-format", "-o", help="How to print the result.")]
Schemas = Annotated[
    list[Path] | None,
    typer.Option(
        "--schemas",
        metavar="PATH",
        help="Schema files or folders, or packages of classes, instead of a project's; repeatable.",
    ),
]


_PROSE = 100
"""How wide prose is at most."""
_COLOURS = {
    "added": typer.colors.GREEN,
    "removed": typer.colors.RED,
    "changed": typer.colors.YELLOW,
}


class MapFormat(StrEnum):
    """How a version map is drawn."""

    TEXT = "text"
    MERMAID = "mermaid"
    SVG = "svg"
    JSON = "json"
    YAML = "yaml"


def diff(
    context: typer.Context,
    *,
    older: Annotated[str, typer.Argument(metavar="OLD", help="A version, or a schema file.")],
    newer: Annotated[str, typer.Argument(metavar="NEW", help="A version, or a schema file.")],
    type_name: Annotated[
        str | None, typer.Option("--type", metavar="T", help="Only this type.")
    ] = None,
    every: Annotated[
        bool,
        typer.Option("--all", help="On a terminal, show unchanged properties and all names, too."),
    ] = False,
    schemas: Schemas = None,
    output: Output = Format.TABLE,
) -> None:
    """Show what changed between two versions, and how each property converts."""
    from trundle.report import compare, comparison_data, comparison_text  # noqa: PLC0415

    versions = (_version(older), _version(newer))
    if versions[0] is not None and versions[1] is not None:
        evolution, _ = load_evolution(context, schemas or [])
        pair = (versions[0], versions[1])
    elif versions != (None, None) or schemas:
        expected = "two versions, or two schema files without --schemas"
        raise unmet("", expected, f"{older} and {newer}")
    else:
        evolution, pair = _of_files(Path(older), Path(newer))
    with progress("Comparing"):
        comparison = compare(evolution, *pair, type_name)
    width = terminal_width()
    if output is Format.TABLE and width is not None:
        _print_on_terminal(comparison, width, every=every)
        return
    print_result(lambda: comparison_data(comparison), lambda: comparison_text(comparison), output)


def _print_on_terminal(comparison: "Comparison", width: int, *, every: bool) -> None:
    from trundle.report import comparison_lines  # noqa: PLC0415

    for text, meaning in comparison_lines(comparison, width, every=every):
        shown, colour = harmless(text), _COLOURS.get(meaning)
        bold, dim = meaning == "title", meaning == "unchanged"
        if colour or bold or dim:
            shown = styled(shown, colour, bold=bold, dim=dim)
        print_styled(f"{shown}\n")


def _version(text: str) -> "ApiVersion | None":
    from trundle.version import ApiVersion, VersionError  # noqa: PLC0415

    try:
        return ApiVersion.parse(text)
    except VersionError as error:
        if not Path(text).exists():
            expected, found = "a version or a schema file", f"neither: {error}"
            raise unmet("", expected, found, code=ExitCode.NOT_FOUND) from None
        return None


def _of_files(older: Path, newer: Path) -> "tuple[Evolution, tuple[ApiVersion, ApiVersion]]":
    """How two schema files evolve, each of them with one version."""
    from trundle.evolution import Evolution  # noqa: PLC0415
    from trundle.schema.readers import Source, read_schemas  # noqa: PLC0415

    schemas = []
    for path in (older, newer):
        found = [each for each in read_schemas([Source(path)]) if each.resources]
        if len(found) != 1:
            versions = ", ".join(str(each.version) for each in found) or "none"
            advice = f"write `trundle diff VERSION VERSION --schemas {path}`"
            raise unmet(str(path), "one version", versions, advice)
        schemas.append(found[0])
    one, other = schemas
    if one.version == other.version:
        place, advice = f"{older} and {newer}", "name files of different versions"
        raise unmet(place, "two versions", f"{one.version} in both", advice)
    return Evolution((one, other)), (one.version, other.version)


def stats(
    context: typer.Context,
    *,
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PATHS", help="Schema files or folders.")
    ] = None,
    ga: Annotated[bool, typer.Option("--ga", help="Count GA versions only.")] = False,
    output: Output = Format.TABLE,
) -> None:
    """Count how types evolve from version to version."""
    from trundle.report import statistics, statistics_data, statistics_text  # noqa: PLC0415

    evolution, _ = load_evolution(context, paths or [])
    with progress("Counting"):
        figures = statistics(evolution, ga_only=ga)
    print_result(lambda: statistics_data(figures), lambda: statistics_text(figures), output)


def suggest(context: typer.Context, schemas: Schemas = None, output: Output = Format.TABLE) -> None:
    """Suggest renames and other rules, as configuration lines to paste."""
    from trundle.project import suggest_rules  # noqa: PLC0415
    from trundle.report import suggestions_data, suggestions_text  # noqa: PLC0415

    evolution, _ = load_evolution(context, schemas or [])
    with progress("Looking for renames"):
        found = suggest_rules(evolution)
    print_result(lambda: suggestions_data(found), lambda: suggestions_text(found), output)


def map_(
    context: typer.Context,
    *,
    resource: Annotated[
        str | None, typer.Argument(metavar="RESOURCE", help="A resource type; all by default.")
    ] = None,
    schemas: Schemas = None,
    output: Annotated[
        MapFormat, typer.Option("--output-format", "-o", help="How to draw it.")
    ] = MapFormat.TEXT,
    as_of: Annotated[
        str | None,
        typer.Option(metavar="VERSION", help="Draw it as of the release of this version."),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="The file to write to.")
    ] = None,
) -> None:
    """Draw the version map: versions, storage, and what converts to what."""
    evolution, horizon = load_evolution(context, schemas or [])
    if as_of is not None:
        from trundle.report import as_released  # noqa: PLC0415
        from trundle.version import ApiVersion  # noqa: PLC0415

        evolution = as_released(evolution, ApiVersion.parse(as_of))
    names = [resource] if resource else [each.name for each in evolution.resources]
    if output in (MapFormat.SVG, MapFormat.MERMAID) and len(names) != 1:
        message = f"a picture shows one resource type; name one of {', '.join(names)}"
        raise CommandExit(ExitCode.USAGE, message)
    text = _drawn(evolution, horizon, names, output, listing=resource is None)
    if file is None and output in (MapFormat.JSON, MapFormat.YAML):
        print_exactly(text)
    elif file is None:
        print_text(text)
    else:
        file.write_text(text, encoding="utf-8")
        say(f"wrote {file}")


def _drawn(
    evolution: "Evolution",
    horizon: int | None,
    names: list[str],
    output: MapFormat,
    *,
    listing: bool,
) -> str:
    from trundle import report  # noqa: PLC0415

    maps = [report.version_map(evolution, name, horizon) for name in names]
    match output:
        case MapFormat.TEXT:
            width = terminal_width()
            return "\n".join(report.version_map_text(each, width) for each in maps)
        case MapFormat.MERMAID:
            return report.version_map_mermaid(maps[0])
        case MapFormat.SVG:
            return report.version_map_svg(maps[0])
        case MapFormat.JSON | MapFormat.YAML:
            data = [report.version_map_data(each) for each in maps]
            return data_text(data if listing else data[0], output.value)


def explain(
    context: typer.Context,
    *,
    question: Annotated[str, typer.Argument(metavar="TYPE[.property]", help="What to explain.")],
    schemas: Schemas = None,
    output: Output = Format.TABLE,
) -> None:
    """Show the history of a type or property."""
    from trundle.report import explain as run  # noqa: PLC0415
    from trundle.report import explanation_data, explanation_text  # noqa: PLC0415

    evolution, _ = load_evolution(context, schemas or [])
    with progress("Explaining"):
        found = run(evolution, question)
    width = min(terminal_width() or _PROSE, _PROSE)
    print_result(lambda: explanation_data(found), lambda: explanation_text(found, width), output)
