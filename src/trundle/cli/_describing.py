"""What `trundle package docs` reads: the packages that a user names, each with the version before among them."""

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from trundle.cli._catalogs import IN_CATALOG, CatalogPlace
from trundle.cli._failures import unmet
from trundle.cli._package_sources import package_folder
from trundle.cli._reviewing import release_folders

if TYPE_CHECKING:
    from trundle.cli._printing import Step
    from trundle.pages import DescribedVersion
    from trundle.version import SemVer


@contextlib.contextmanager
def described(
    named: Iterable[str], catalog: CatalogPlace, step: "Step"
) -> Iterator["list[DescribedVersion]"]:
    """What the pages of packages show.

    Args:
        named: folders of packages or of releases, archives, published versions, or packages of a catalog.
        catalog: the catalog.
        step: called with the name of each package.

    Raises:
        CommandExit: a name names no package, or two have one version of a package.
        TrundleError: a package cannot be read.
    """
    from trundle.packages import Package, read_manifest  # noqa: PLC0415
    from trundle.pages import describe  # noqa: PLC0415
    from trundle.version import version_before  # noqa: PLC0415

    with contextlib.ExitStack() as opened:
        folders: dict[tuple[str, SemVer], Path] = {}
        for each in named:
            for place in _places(each, catalog):
                folder = opened.enter_context(package_folder(place, catalog))
                manifest = read_manifest(folder)
                key = (manifest.name, manifest.version)
                if key in folders:
                    expected = f"one package {manifest.name} {manifest.version}"
                    raise unmet(place, expected, "a second one", "leave one of them out")
                folders[key] = folder
        packages = [Package.from_folder(folder) for folder in folders.values()]
        found = []
        for at, ((name, version), folder) in enumerate(folders.items()):
            step(f"{name} {version}", at, len(folders))
            others = (one for other, one in folders if other == name)
            before = version_before(version, others)
            released = None if before is None else (folders[name, before], before)
            found.append(describe(folder, released, packages))
        yield found


def _places(named: str, catalog: CatalogPlace) -> Iterable[str]:
    """The places of the versions that a name stands for: the releases in a folder, or all versions in a catalog."""
    if Path(named).is_dir():
        return [str(each) for each in release_folders(Path(named))] or [named]
    return catalog.names(named) if named.startswith(IN_CATALOG) else [named]
