"""What `trundle package docs` reads: the packages that a user names, each with the version before among them."""

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from trundle.cli._failures import unmet
from trundle.cli._package_sources import package_folder
from trundle.cli._reviewing import release_folders

if TYPE_CHECKING:
    from trundle.cli._printing import Step
    from trundle.pages import DescribedVersion
    from trundle.version import SemVer


@contextlib.contextmanager
def described(named: Iterable[str], step: "Step") -> Iterator["list[DescribedVersion]"]:
    """What the pages of packages show.

    Args:
        named: folders of packages or of releases, archives, or published versions.
        step: called with the name of each package.

    Raises:
        Refusal: a name names no package, or two have one version of a package.
        TrundleError: a package cannot be read.
    """
    from trundle.packages import Package, read_manifest  # noqa: PLC0415
    from trundle.pages import describe  # noqa: PLC0415
    from trundle.version import version_before  # noqa: PLC0415

    with contextlib.ExitStack() as opened:
        folders: dict[tuple[str, SemVer], Path] = {}
        for each in named:
            trees = release_folders(Path(each)) if Path(each).is_dir() else ()
            for place in map(str, trees) if trees else (each,):
                folder = opened.enter_context(package_folder(place))
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
