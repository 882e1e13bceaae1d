"""The commands that work on object models: convert."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trundle.cli._catalogs import NotAt, Place, Tenant, own_catalog
from trundle.cli._failures import ExitCode, unmet
from trundle.cli._models import in_model, is_in_yaml, naming_converted, read_model
from trundle.cli._package_sources import packages_below
from trundle.cli._printing import data_text, print_exactly, progress, warn
from trundle.cli._runs import (
    MEMORY,
    SECONDS,
    MemoryLimit,
    RunOptions,
    TimeLimit,
    Traced,
    run_code,
)
from trundle.cli._settings import current

if TYPE_CHECKING:
    from trundle.engine import Limits
    from trundle.models import ConvertedModel
    from trundle.packages import Package

app = typer.Typer(no_args_is_help=True, help="Carry object models between versions of packages.")


class ModelFormat(StrEnum):
    """How a model is printed."""

    JSON = "json"
    YAML = "yaml"


@app.command()
def convert(
    file: Annotated[Path, typer.Argument(metavar="MODEL", help="The model, as YAML or JSON.")],
    *,
    to: Annotated[
        list[str],
        typer.Option(
            "--to",
            metavar="NAME@RANGE",
            help="A package, and the version that its objects get: the newest of the range; repeatable.",
        ),
    ],
    packages: Annotated[
        list[Path] | None,
        typer.Option(
            "--packages",
            metavar="FOLDER",
            help="Packages, or folders with packages in them, in all versions; repeatable.",
            show_default="the catalog's",
        ),
    ] = None,
    tenant: Tenant = None,
    catalog: Place = None,
    server: NotAt = None,
    time_limit: TimeLimit = SECONDS,
    memory_limit: MemoryLimit = MEMORY,
    trace: Traced = False,
    output: Annotated[
        ModelFormat | None,
        typer.Option("--output-format", "-o", help="How to print.", show_default="as the input"),
    ] = None,
) -> None:
    """Convert a whole object model to other versions of packages; nothing of it is lost.

    Hooks of packages run in a process of their own, within limits.
    """
    from trundle.models import convert_model, targets  # noqa: PLC0415
    from trundle.project.package_evolution import PackageEvolutions  # noqa: PLC0415

    is_yaml = is_in_yaml(file)
    model = read_model(file)

    def work(limits: "Limits") -> "ConvertedModel":
        known = packages_below(packages) if packages else _offered(catalog, server, tenant)
        evolutions = PackageEvolutions(known, limits)
        return convert_model(evolutions, model, targets(evolutions, to))

    with progress("Converting"), naming_converted(file):
        found = run_code(work, RunOptions(time_limit, memory_limit, trace))
    for each in in_model(file, found.findings):
        warn(each)
    form = output or (ModelFormat.YAML if is_yaml else ModelFormat.JSON)
    print_exactly(data_text(found.model, form.value))


def _offered(catalog: str | None, server: str | None, tenant: str | None) -> "list[Package]":
    """The packages that a catalog offers to a tenant.

    Raises:
        CommandExit: there is none.
    """
    whose = tenant or current().tenant
    with own_catalog(catalog, server) as opened:
        found = [*opened.snapshot(tenant=whose)]
        where = opened.where
    if not found:
        expected = f"packages of the catalog that the tenant {whose} sees"
        advice = "upload the package in all its versions, or name its folders with --packages"
        raise unmet(where, expected, "none", advice, ExitCode.NOT_FOUND)
    return found
