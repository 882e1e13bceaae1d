"""How a command gets at a package that a user names: a folder, an archive, or a published reference."""

import contextlib
import io
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from trundle.cli._catalogs import IN_CATALOG, CatalogPlace
from trundle.cli._failures import EXIT_CODES, CommandExit, ExitCode, unmet
from trundle.cli._registry import full_reference

if TYPE_CHECKING:
    from trundle.channels.files import ListedVersion
    from trundle.packages import Package
    from trundle.registry import Repository

_REFERENCE = "a folder, an archive, a reference such as oci:DIR//NAME:1.2.3, or catalog:NAME:1.2.3"

_ZIP = b"PK\x03\x04"
LARGEST_ARCHIVE = 256 * 1024**2
"""How many bytes of an archive are read at most; a package in a catalog has fewer."""


@contextlib.contextmanager
def package_folder(named: str, catalog: CatalogPlace) -> Iterator[Path]:
    """The folder of a package; of an archive, a published one or one in a catalog, a temporary folder that is gone afterwards.

    Args:
        named: a folder, an archive, a reference, or a name such as `catalog:NAME:VERSION`.
        catalog: the catalog.

    Raises:
        CommandExit: it names none of them.
        PackageError: the archive cannot be unpacked.
        RegistryError: the published package cannot be fetched.
        CatalogError: the catalog has no such package.
    """
    from trundle.packages import Package, unpack  # noqa: PLC0415

    path = Path(named)
    if path.is_dir():
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="trundle-package-") as name:
        folder = Path(name, "package")
        if named.startswith(IN_CATALOG):
            unpack(io.BytesIO(catalog.package(named).archive), folder)
        elif path.is_file():
            with path.open("rb") as archive, _naming(path):
                is_zip = archive.read(len(_ZIP)) == _ZIP
                archive.seek(0)
                package = Package.from_archive(archive_bytes(path)) if is_zip else None
                unpack(io.BytesIO(package.archive) if package else archive, folder)
        else:
            _fetch(named, folder)
        yield folder


@contextlib.contextmanager
def _naming(file: Path) -> Iterator[None]:
    """Adds the file of an archive to what is wrong with it."""
    from trundle.packages import PackageError  # noqa: PLC0415

    try:
        yield
    except PackageError as error:
        raise CommandExit(
            EXIT_CODES[error.kind], *(f"{file}: {each}" for each in error.messages)
        ) from None


def archive_bytes(path: Path) -> bytes:
    """The content of an archive.

    Raises:
        CommandExit: it is no file, or larger than any package.
        OSError: it cannot be read.
    """
    size = path.stat().st_size
    if not path.is_file():
        raise unmet(str(path), "a folder or an archive", "something else", "name one of them")
    if size > LARGEST_ARCHIVE:
        expected, advice = f"at most {LARGEST_ARCHIVE} bytes", "leave large files out of packages"
        raise unmet(str(path), expected, str(size), advice, ExitCode.FINDINGS)
    return path.read_bytes()


def packages_below(folders: Iterable[Path]) -> "list[Package]":
    """The packages in folders: each itself, or all that are somewhere below it.

    Raises:
        CommandExit: there is none.
        ManifestError: a manifest cannot be used.
        PackError: a folder holds what cannot be packed.
    """
    from trundle.packages import MANIFEST_FILE, Package, package_folders  # noqa: PLC0415

    found = []
    for folder in folders:
        below = package_folders(folder)
        found += [Package.from_folder(each) for each in below]
        if not below:
            advice = "name the folder of a package, or one that has packages in it"
            raise unmet(str(folder), f"a package with {MANIFEST_FILE}", "none", advice)
    return found


def _fetch(named: str, folder: Path) -> None:
    from trundle.channels.artifacts import read_artifact, unpack_artifact  # noqa: PLC0415
    from trundle.registry import (  # noqa: PLC0415
        InvalidReferenceError,
        Reference,
        open_repository,
        tag_for,
    )

    head, _, tag = named.rpartition(":")
    try:
        parsed = Reference.parse(full_reference(f"{head}:{tag_for(tag)}" if head else named))
    except InvalidReferenceError as error:
        advice = f"{_REFERENCE} ({error.advice})"
        raise unmet(named, "a package", "no such file or folder", advice) from None
    tagged = parsed.digest or parsed.tag
    if tagged is None:
        advice = "write the version after a colon"
        raise unmet(named, _REFERENCE, "a repository without a version", advice)
    repository = open_repository(parsed)
    artifact = read_artifact(repository, tagged, named)
    unpack_artifact(repository, artifact, folder)


@contextlib.contextmanager
def listed_folder(repository: "Repository", entry: "ListedVersion", where: str) -> Iterator[Path]:
    """The content of a version that a channel lists, in a temporary folder that is gone afterwards.

    Raises:
        CommandExit: it is not what the channel says.
        RegistryError: it cannot be fetched.
    """
    from trundle.channels.artifacts import read_artifact, unpack_artifact  # noqa: PLC0415

    artifact = read_artifact(repository, entry.digest or entry.tag_name, where)
    if not entry.is_same_content(artifact.digest):
        code = ExitCode.VERIFICATION_FAILED
        raise unmet(where, entry.identity, artifact.digest, "repair the channel", code)
    with tempfile.TemporaryDirectory(prefix="trundle-package-") as name:
        folder = Path(name, "package")
        unpack_artifact(repository, artifact, folder)
        yield folder
