"""How a command gets at the project that it works on."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from trundle.cli._printing import progress, warn
from trundle.cli._settings import settings_of

if TYPE_CHECKING:
    from trundle.evolution import Evolution
    from trundle.project import Config, Project


def config_of(context: typer.Context) -> "Config":
    """What the file of the project says that a command works on."""
    from trundle.project import load_config  # noqa: PLC0415

    return load_config(settings_of(context).config_path)


def load(context: typer.Context) -> "Project":
    """The project that a command works on, as a whole."""
    from trundle.project import load_project  # noqa: PLC0415

    with progress("Reading schemas") as step:
        return load_project(settings_of(context).config_path, on_file=lambda path: step(path.name))


def load_evolution(context: typer.Context, schemas: list[Path]) -> tuple["Evolution", int | None]:
    """How some schemas evolve, or else the project's, with the project's horizon.

    What is wrong with a project's changes and hooks is a warning; a report is of use all the same.
    """
    if not schemas:
        project = load(context)
        for each in project.findings:
            warn(str(each))
        return project.evolution, project.config.horizon
    from trundle.project import evolution_of  # noqa: PLC0415
    from trundle.schema.readers import Source  # noqa: PLC0415

    with progress("Reading schemas") as step:
        sources = [Source(path) for path in schemas]
        return evolution_of(sources, on_file=lambda path: step(path.name)), None
