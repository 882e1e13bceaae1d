"""What is looked at before a package is published or uploaded: the projects in it, and the release that it follows."""

import io
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trundle.cli._failures import unmet
from trundle.cli._package_sources import listed_folder
from trundle.cli._printing import progress
from trundle.cli._settings import current

if TYPE_CHECKING:
    from trundle.catalog import Review as CatalogReview
    from trundle.catalog import Reviewed
    from trundle.channels.files import ListedVersion
    from trundle.channels.publishing import Review
    from trundle.errors import Finding
    from trundle.packages import Package
    from trundle.registry import Repository


Override = Annotated[
    str | None,
    typer.Option(
        "--override",
        metavar="REASON",
        help="Release it in spite of what its review finds; the reason is kept and shown.",
    ),
]


def reason_of(override: str | None) -> str:
    """The reason that is given for an override; empty for none.

    Raises:
        CommandExit: it is blank.
    """
    if override is not None and not override.strip():
        raise unmet("--override", "the reason", "none", "say why it is released all the same")
    return override or ""


def release_folders(folder: Path) -> tuple[Path, ...]:
    """The folders of the releases in a folder, the lowest version first; none where it is a package itself.

    Raises:
        CommandExit: nothing is released of it yet.
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
    folders: Mapping["Package", Path],
    among: "Callable[[Package], Iterable[Package]]",
    jobs: int | None,
    override: str = "",
) -> "CatalogReview":
    """The review of packages that are uploaded to a catalog. Their classes are left to the catalog, which builds them.

    Args:
        folders: the folder or archive of each package to look at; no others are looked at.
        among: gives packages that may be what a package requires.
        jobs: how many processes to use.
        override: the reason why they are stored in spite of errors; empty for none.
    """

    def look(package: "Package", base: "Package | None") -> "Reviewed":
        from trundle.catalog import Reviewed  # noqa: PLC0415
        from trundle.engine import EngineCode  # noqa: PLC0415

        path = folders.get(package)
        if path is None:
            return Reviewed()
        errors = _errors_of(path, package, base, among, jobs or current().jobs)
        against = tuple(each for each in errors if not isinstance(each.code, EngineCode))
        return Reviewed(against, override if against else "")

    return look


def _errors_of(
    path: Path,
    package: "Package",
    base: "Package | None",
    among: "Callable[[Package], Iterable[Package]]",
    jobs: int | None,
) -> Iterable["Finding"]:
    """What is against a package in a folder or an archive, beside the release that it follows."""
    from trundle.packages import RULES_FILE, unpack  # noqa: PLC0415
    from trundle.project import review  # noqa: PLC0415

    with progress("Checking") as step, tempfile.TemporaryDirectory() as name:
        released, folder = None, path
        if not path.is_dir():
            folder = Path(name, "package")
            unpack(io.BytesIO(package.archive), folder)
        if base is not None:
            unpack(io.BytesIO(base.archive), Path(name, "before"))
            released = (Path(name, "before"), base.version)
        known = among if RULES_FILE in package.files else lambda _: ()
        return review(folder, released, among=known, jobs=jobs, progress=step).errors
