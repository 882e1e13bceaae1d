"""The command that shows a project in a browser, without a server of its resources."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trundle.cli._carried import Installed, installed_kinds
from trundle.cli._channels import web_settings
from trundle.cli._failures import ExitCode, unmet
from trundle.cli._installing import State, state_folder
from trundle.cli._listening import LOCAL_HOST, listening_at
from trundle.cli._page import require_page
from trundle.cli._printing import Format
from trundle.cli._project import load_evolution
from trundle.cli._settings import resolve_for, settings_of
from trundle.cli.project import Output
from trundle.cli.reports import Schemas
from trundle.cli.serve import Port, announce

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trundle.dashboard import ShownProject

_PORT = 8002


def ui(
    context: typer.Context,
    *,
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FOLDER",
            help="The folder of a project, of schema files, or of a package with all its versions; of a package, folders with what it requires after it.",
            show_default="the project's folder",
        ),
    ] = None,
    schemas: Schemas = None,
    installed: Installed = False,
    state: State = None,
    port: Port = _PORT,
    output: Output = Format.TABLE,
) -> None:
    """Show the versions of a project, or of what is installed, in a browser.

    The page answers on this machine alone, until the command is stopped. Of what `trundle serve` serves it is at `/ui/` there.
    """
    require_page()
    from trundle.dashboard import ShownInstallation, serve_page  # noqa: PLC0415

    given = [*(folders or ()), *(schemas or ())]
    if installed and given:
        raise unmet("--installed", "no folder and no schemas with it", str(given[0]))
    if missing := next((each for each in folders or () if not each.exists()), None):
        raise unmet(str(missing), "a folder", "no such file", code=ExitCode.NOT_FOUND)
    if len(given) == 1 and folders:
        context.obj = resolve_for(folders[0])
        given = [] if settings_of(context).config_path.exists() else given
    projects = _installed(state) if installed else _project(context, given)
    shown = None
    if installed:
        shown = ShownInstallation(state_folder(state), settings=web_settings())
    results = sys.stdout
    with listening_at(LOCAL_HOST, port) as listener:
        where = f"http://{LOCAL_HOST}:{listener.getsockname()[1]}/ui/"
        serve_page(projects, listener, lambda: announce(where, output, results), shown)


def _project(context: typer.Context, schemas: list[Path]) -> "Mapping[str, ShownProject]":
    from trundle.dashboard import ShownProject  # noqa: PLC0415

    evolution, horizon = load_evolution(context, schemas)
    return {"": ShownProject(evolution, horizon)}


def _installed(state: Path | None) -> "Mapping[str, ShownProject]":
    from trundle.dashboard import shown_kinds  # noqa: PLC0415

    return shown_kinds(installed_kinds(state))
