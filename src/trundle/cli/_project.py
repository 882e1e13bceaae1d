"""How a command gets at the project that it works on."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from trundle.cli._failures import unmet
from trundle.cli._printing import progress, warn
from trundle.cli._settings import Settings, settings_of
from trundle.errors import listed

if TYPE_CHECKING:
    from trundle.engine import Limits
    from trundle.evolution import Evolution
    from trundle.project import Config, Project
    from trundle.project.package_evolution import PackageEvolution, PackageEvolutions


def config_of(context: typer.Context) -> "Config":
    """What the file of the project says that a command works on."""
    from trundle.project import load_config  # noqa: PLC0415

    return load_config(settings_of(context).config_path)


def load(context: typer.Context) -> "Project":
    """The project that a command works on, as a whole."""
    from trundle.project import load_project  # noqa: PLC0415

    with progress("Reading schemas") as step:
        return load_project(settings_of(context).config_path, on_file=lambda path: step(path.name))


def package_evolution(paths: list[Path]) -> "PackageEvolution | None":
    """How the classes of packages evolve that some folders have in them; None for folders without packages.

    See `package_evolutions`.
    """
    found = package_evolutions(paths)
    if found is None:
        return None
    evolutions, name = found
    return evolutions.of(name)


def package_evolutions(
    paths: list[Path], limits: "Limits | None" = None
) -> "tuple[PackageEvolutions, str] | None":
    """The packages that some folders have in them, and the name of the one that is meant; None for folders without packages.

    Args:
        paths: the first one names the package; the others have what it requires.
        limits: how much each call of a hook may take.

    Raises:
        CommandExit: the first path has several packages in it.
    """
    from trundle.packages import MANIFEST_FILE  # noqa: PLC0415

    if not paths or not all(each.is_dir() and any(each.rglob(MANIFEST_FILE)) for each in paths):
        return None

    from trundle.cli._package_sources import packages_below  # noqa: PLC0415
    from trundle.project.package_evolution import PackageEvolutions  # noqa: PLC0415

    with progress("Reading packages"):
        first, others = packages_below(paths[:1]), packages_below(paths[1:])
        names = {each.name for each in first}
        if len(names) > 1:
            advice = (
                "name the folder with its versions; name folders with what it requires after it"
            )
            raise unmet(str(paths[0]), "one package", listed(sorted(names)), advice)
        return PackageEvolutions([*first, *others], limits), names.pop()


def packages_of_project(settings: Settings) -> list[Path]:
    """The folders with the packages of a project of classes, or of a folder without a project; none where a project has schemas."""
    from trundle.project import holds_packages, load_config  # noqa: PLC0415

    if not settings.config_path.exists():
        return [settings.config_path.parent]
    config = load_config(settings.config_path)
    return [each.path for each in config.sources] if holds_packages(config) else []


def load_evolution(context: typer.Context, schemas: list[Path]) -> tuple["Evolution", int | None]:
    """How some schemas or packages evolve, or else the project's, with the project's horizon.

    What is wrong with a project's changes and hooks is a warning; a report is of use all the same.
    """
    packages = package_evolution(schemas or packages_of_project(settings_of(context)))
    if packages is not None:
        for each in packages.findings:
            warn(each.coded)
        return packages.evolution, None
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
