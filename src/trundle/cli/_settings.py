"""What the global options say, and how a command gets at the project."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from trundle.cli._printing import progress, warn

if TYPE_CHECKING:
    from trundle.evolution import Evolution
    from trundle.project import Config, Project


class Settings(NamedTuple):
    """The global options.

    Attributes:
        folder: the project's folder, or its file.
    """

    folder: Path = Path()

    @property
    def config_path(self) -> Path:
        """The project's file."""
        return self.folder if self.folder.is_file() else self.folder / "trundle.yaml"


def settings_of(context: typer.Context) -> Settings:
    """The global options that a command was called with."""
    return context.obj if isinstance(context.obj, Settings) else Settings()


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
