"""What an installation remembers, as bytes that are kept elsewhere, where its folder does not last."""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from trundle.database import file_content
from trundle.installation._applying import unpack_here
from trundle.installation._folders import Folders
from trundle.installation._installation import Installation
from trundle.installation._upgrade import way_back
from trundle.registry import open_repository


def snapshot(folder: Path) -> tuple[bytes, str]:
    """What an installation remembers, and a digest of it that is the same as long as nothing changes.

    Args:
        folder: the folder of the installation.

    Raises:
        DatabaseError: it cannot be read.
    """
    return file_content(Folders(folder).database)


def restore(folder: Path, content: bytes | None) -> None:
    """Makes an installation remember what a snapshot has, and nothing else.

    Args:
        folder: the folder of the installation, which nothing else uses meanwhile.
        content: the snapshot; None for an installation in which nothing is installed.
    """
    folders = Folders(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for each in folder.iterdir():
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each)
        else:
            each.unlink()
    if content is not None:
        folders.database.write_bytes(content)


def complete(installation: Installation, name: str) -> None:
    """Fetches the content of an installed package again, where only what is remembered was restored.

    Args:
        installation: the installation.
        name: the package.

    Raises:
        RefusedError: it cannot be had; what is remembered stays.
        StateError: the folder cannot be written. So for StorageError and OSError.
    """
    package = installation.package(name)
    if installation.folders.of(package).exists():
        return
    with installation.fetching():
        where = f"{name} {package.release.version}"
        _fetch(installation, package.subscription.repository, package.digest, where)
        with installation.alone():
            unpack_here(installation, package)


def complete_before(installation: Installation, name: str) -> None:
    """Fetches what `roll_back` goes back to, where only what is remembered was restored; nothing where there is none.

    Args:
        installation: the installation.
        name: the package.

    Raises:
        RefusedError: it cannot be had.
        StorageError: the local store cannot be written.
    """
    package = installation.package(name)
    event = next(way_back(installation.history(package.name), package.digest), None)
    if event is not None and not installation.content.has(event.before_digest):
        with installation.fetching():
            repository, where = package.subscription.repository, f"{name} {event.before}"
            _fetch(installation, repository, event.before_digest, where)


@contextlib.contextmanager
def unpacked_release(
    installation: Installation, repository: str, version: str, digest: str
) -> Iterator[Path]:
    """A folder with a version of a package, which need not be installed any more, as long as the block lasts; it is fetched where it is not here.

    Args:
        installation: the installation.
        repository: where the package is.
        version: the version.
        digest: its digest.

    Raises:
        RefusedError: it cannot be had, or is damaged.
        OSError: the folder cannot be written. So for StorageError.
    """
    where = f"{repository} {version}"
    if not installation.content.has(digest):
        with installation.fetching():
            _fetch(installation, repository, digest, where)
    with installation.content.unpacked_aside(digest, where) as folder:
        yield folder


def _fetch(installation: Installation, repository: str, digest: str, where: str) -> None:
    """Fetches the content of a version of a package."""
    source = open_repository(repository, settings=installation.settings)
    artifact = installation.content.look(source, digest, where)
    installation.content.fetch(source, artifact, where, installation.progress)
