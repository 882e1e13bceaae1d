"""What is looked at before a package is published: the projects in it, and the release that it follows."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from trundle.cli._package_sources import listed_folder
from trundle.cli._printing import progress
from trundle.cli._settings import current

if TYPE_CHECKING:
    from trundle.channels.files import ListedVersion
    from trundle.channels.publishing import Review
    from trundle.errors import Finding
    from trundle.registry import Repository


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
        from trundle.project import review  # noqa: PLC0415

        jobs_ = jobs or current().jobs
        with progress("Checking") as step:
            if base is None or not (resources or _carries(repository, base)):
                return review(folder, resources=resources, jobs=jobs_, progress=step).findings
            with listed_folder(repository, base, f"version {base.version}") as before:
                released = (before, base.version)
                found = review(folder, released, resources=resources, jobs=jobs_, progress=step)
                return found.findings

    return look


def _carries(repository: "Repository", base: "ListedVersion") -> bool:
    """Whether a published version carries projects, as its manifest says; its files are not fetched."""
    from trundle.channels.artifacts import read_artifact  # noqa: PLC0415

    where = f"version {base.version}"
    artifact = read_artifact(repository, base.digest or base.tag_name, where)
    return bool(artifact.package.resource_versions)
