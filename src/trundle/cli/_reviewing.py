"""What is looked at before a package is published or uploaded: the projects in it, and the release that it follows."""

import io
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from trundle.cli._failures import unmet
from trundle.cli._package_sources import listed_folder
from trundle.cli._printing import progress
from trundle.cli._settings import current

if TYPE_CHECKING:
    from trundle.catalog import Catalog, CatalogServer
    from trundle.channels.files import ListedVersion
    from trundle.channels.publishing import Review
    from trundle.errors import Finding
    from trundle.packages import Package
    from trundle.registry import Repository


def release_folders(folder: Path) -> tuple[Path, ...]:
    """The folders of the releases in a folder, the lowest version first; none where it is a package itself.

    Raises:
        Refusal: nothing is released of it yet.
        ManifestError: a release says another version than its folder is called by.
    """
    from trundle.packages import release_tree  # noqa: PLC0415

    tree = release_tree(folder)
    if tree is None:
        return ()
    tree.check()
    if not tree.releases:
        advice = "make one with `trundle package release`"
        raise unmet(str(folder), "the folder of a release", "only `dev`", advice)
    return tuple(tree.releases.values())


def reviewing(
    repository: "Repository",
    folder: Path,
    resources: Mapping[str, tuple[str, ...]],
    jobs: int | None,
) -> "Review":
    """The review of a package that is published to a repository.

    Args:
        repository: where the release is that it follows.
        folder: the folder of the package.
        resources: what the projects in it bring.
        jobs: how many processes to use.
    """

    def look(base: "ListedVersion | None") -> Iterable["Finding"]:
        from trundle.packages import read_manifest  # noqa: PLC0415
        from trundle.project import review  # noqa: PLC0415

        jobs_ = jobs or current().jobs
        compared = bool(resources or read_manifest(folder).classes)
        with progress("Checking") as step:
            if base is None or not (compared or _carries(repository, base)):
                return review(folder, resources=resources, jobs=jobs_, progress=step).findings
            with listed_folder(repository, base, f"version {base.version}") as before:
                released = (before, base.version)
                found = review(folder, released, resources=resources, jobs=jobs_, progress=step)
                return found.findings

    return look


def _carries(repository: "Repository", base: "ListedVersion") -> bool:
    """Whether a published version carries projects or classes, as its manifest says; its files are not fetched."""
    from trundle.channels.artifacts import read_artifact  # noqa: PLC0415

    where = f"version {base.version}"
    package = read_artifact(repository, base.digest or base.tag_name, where).package
    return bool(package.resource_versions or package.classes)


def uploading(
    catalog: "Catalog | CatalogServer",
    packages: Mapping[Path, "Package"],
    tenant: str,
    jobs: int | None,
) -> Iterator["Finding"]:
    """What is against an upload besides the rules of catalogs: errors in projects, and versions that are too low.

    Classes are left to the catalog, which builds them. Each is compared with the newest lower release of its package that the tenant sees or that is uploaded with it.

    Args:
        catalog: the catalog.
        packages: the packages that are uploaded, by their folders or archives.
        tenant: whose they are.
        jobs: how many processes to use.
    """
    from trundle.engine import EngineCode  # noqa: PLC0415
    from trundle.packages import unpack  # noqa: PLC0415
    from trundle.project import review  # noqa: PLC0415
    from trundle.version import version_before  # noqa: PLC0415

    jobs_ = jobs or current().jobs
    for path, package in packages.items():
        known = {each.version for each in catalog.offers(tenant, package.name)}
        if package.version in known:
            continue  # Nothing new is stored of it.
        given = {each.version: each for each in packages.values() if each.name == package.name}
        before = version_before(package.version, known | set(given))
        with progress("Checking") as step, tempfile.TemporaryDirectory() as name:
            released, folder = None, path
            if not path.is_dir():
                folder = Path(name, "package")
                unpack(io.BytesIO(package.archive), folder)
            if before is not None:
                base = given.get(before) or catalog.package(package.name, before, tenant=tenant)[1]
                unpack(io.BytesIO(base.archive), Path(name, "before"))
                released = (Path(name, "before"), before)
            found = review(folder, released, jobs=jobs_, progress=step)
        yield from (each for each in found.errors if not isinstance(each.code, EngineCode))
