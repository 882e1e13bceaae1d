"""The content of packages: fetched into the local store, checked against what the channel says, and unpacked.

The local store is an image layout. What it has is never fetched again, so that going back needs no network.
"""

import contextlib
import math
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path

from trundle.channels import RefusalCode, RefusedError, refusal
from trundle.channels.artifacts import Artifact, read_artifact
from trundle.channels.files import ListedVersion, is_digest
from trundle.channels.transitions import check_manifest
from trundle.packages import (
    FolderExistsError,
    ManifestError,
    UnpackError,
    read_manifest,
    unpack,
)
from trundle.registry import (
    DigestMismatchError,
    DirectoryRegistry,
    InvalidManifestError,
    NotFoundError,
    Progress,
    Repository,
    StorageError,
    TooLargeError,
    UnauthorisedError,
    UnreachableError,
)

_FORGED = "do not install it; ask the publisher"


class ArrivingError(RefusedError):
    """Content is not here yet, and arrives in the background; what needs it waits, rather than going on without it."""


class ContentStore:
    """The content of everything that was ever installed here.

    Args:
        folder: the folder of the image layout.
    """

    def __init__(self, folder: Path) -> None:
        self._store = DirectoryRegistry(folder).repository("")

    def has(self, digest: str) -> bool:
        """Whether an artifact is here, and stays until it is tidied away, so that nothing has to be fetched."""
        if not is_digest(digest) or not self._store.has_manifest(digest):
            return False
        return digest.partition(":")[2] in self._store.tags()  # Tidying takes the tag first.

    def look(self, source: Repository | None, reference: str, where: str) -> Artifact:
        """What an artifact is, here or at its source; its files are not fetched.

        Args:
            source: where to look; None for what must be here.
            reference: its digest or tag.
            where: what messages call it.

        Raises:
            RefusedError: it is missing, cannot be reached, or is no package; the code says which.
        """
        repository = self._store if source is None or self.has(reference) else source
        with self._refused(where, repository):
            return read_artifact(repository, reference, where)

    def fetch(
        self,
        source: Repository,
        artifact: Artifact,
        where: str,
        progress: Progress | None = None,
    ) -> None:
        """Brings an artifact here with its files; what is here already is not fetched.

        Args:
            source: where to fetch them from.
            artifact: the artifact, as it was read there.
            where: what messages call it.
            progress: called with the number of bytes after each piece.

        Raises:
            RefusedError: they are missing, cannot be reached, or have other content than expected; the code says which.
            StorageError: the local store cannot be written.
        """
        with self._refused(where, source):
            # What is small comes last: it is not here for hours without a tag.
            self._store.pull_blob(source, artifact.layer, progress=progress)
            self._store.put_blob(artifact.config, artifact.config_descriptor, progress=progress)
            if not self.has(artifact.digest):
                tag = artifact.digest.partition(":")[2]
                self._store.put_manifest(artifact.content, artifact.descriptor.media_type, tag=tag)

    def artifacts(self) -> list[str]:
        """The digests of the artifacts that are here, in alphabetical order.

        Raises:
            StorageError: the store cannot be read.
        """
        return [f"sha256:{tag}" for tag in self._store.tags()]

    def tidy(
        self,
        needed: Collection[str],
        *,
        dry_run: bool = False,
        grace: float = 0,
        now: float = math.inf,
    ) -> tuple[list[str], int]:
        """Removes artifacts that are not needed, and what broke off.

        Args:
            needed: the digests of the artifacts that stay.
            dry_run: whether nothing is removed.
            grace: for how many seconds files stay that were written, or asked for, without being part of an artifact yet. Without it,
                nothing may be fetched meanwhile.
            now: the time, as `time.time` returns it; files are removed however new they are where it is not given.

        Returns:
            The digests of those that go, and how many bytes they have that no other one needs.

        Raises:
            StorageError: the store cannot be read or written.
        """
        parts = {each: self._parts(each) for each in self.artifacts()}
        gone = sorted(parts.keys() - set(needed))
        live = {each for digest in parts.keys() & set(needed) for each in parts[digest]}
        dead = {name: size for digest in gone for name, size in parts[digest].items()}
        if not dry_run and self._store.folder.is_dir():
            for digest in gone:
                self._store.remove_tag(digest.partition(":")[2])
            self._store.collect_garbage(grace, now=now)
        return gone, sum(size for name, size in dead.items() if name not in live)

    def _parts(self, digest: str) -> dict[str, int]:
        """The blobs of an artifact that is here with their sizes; nothing where its manifest is damaged."""
        try:
            stored = self._store.get_manifest(digest)
        except (NotFoundError, DigestMismatchError, InvalidManifestError):
            return {}
        blobs = {each.digest: each.size for each in stored.document.blobs()}
        return {digest: stored.descriptor.size, **blobs}

    def archive(self, digest: str, where: str, limit: int) -> bytes:
        """The archive with the files of an artifact that is here.

        Args:
            digest: the digest of the artifact.
            where: what messages call it.
            limit: how many bytes are read at most.

        Raises:
            RefusedError: it is missing, damaged, or larger than that; the code says which.
        """
        artifact = self.look(None, digest, where)
        with self._refused(where, self._store):
            return self._store.read_blob(artifact.layer, limit=limit)

    def unpack(self, artifact: Artifact, folder: Path, where: str) -> None:
        """Unpacks an artifact that is here into a folder, which appears with one rename; nothing if it exists.

        Raises:
            RefusedError: the archive is damaged, holds what no package holds, or packs another manifest than the
                artifact's.
            OSError: the folder cannot be written.
            StorageError: the same.
        """
        if folder.exists():
            return
        folder.parent.mkdir(parents=True, exist_ok=True)
        with (
            self._refused(where, self._store),
            tempfile.TemporaryDirectory(
                dir=folder.parent, prefix=".archive.", suffix=".partial"
            ) as name,
        ):
            archive = Path(name, "content.tar")
            self._store.fetch_blob(
                artifact.layer, archive
            )  # Verified on the way, whatever happened to the disk.
            with archive.open("rb") as file, contextlib.suppress(FolderExistsError):
                try:
                    unpack(
                        file, folder, check=lambda staged: _check_packed(artifact, staged, where)
                    )
                except OSError as error:  # The system does not always say which file.
                    place = error.filename or str(folder)
                    raise OSError(error.errno, error.strerror, place) from error

    @contextlib.contextmanager
    def unpacked_aside(self, digest: str, where: str) -> Iterator[Path]:
        """A folder with an artifact that is here, as long as the block lasts.

        Args:
            digest: the digest of the artifact.
            where: what messages call it.

        Raises:
            RefusedError: it is missing or damaged.
            OSError: the folder cannot be written.
            StorageError: the same.
        """
        artifact = self.look(None, digest, where)
        with tempfile.TemporaryDirectory(prefix="trundle-") as parent:
            folder = Path(parent) / "package"
            self.unpack(artifact, folder, where)
            yield folder

    def _refused(
        self, where: str, repository: Repository
    ) -> contextlib.AbstractContextManager[None]:
        return _refused(where, self._store.folder, local=repository is self._store)


_DECIDING = ("name", "version", "min_upgrade_from", "requirements", "format")
"""What is decided by: the artifact's manifest and the packed one must agree on it."""


def _check_packed(artifact: Artifact, folder: Path, where: str) -> None:
    """Refuses an archive whose own manifest contradicts the artifact's, by which everything was decided."""
    packed = read_manifest(folder)
    for field in _DECIDING:
        wanted, found = getattr(artifact.package, field), getattr(packed, field)
        if wanted != found:
            name = field.replace("_", " ")
            expected = f"the {name} {_text(wanted)} in the packed manifest, as the artifact says"
            raise mismatch(where, expected, _text(found))


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)


def check_entry(artifact: Artifact, package: str, entry: ListedVersion) -> None:
    """Holds an artifact against what the channel says of it.

    Raises:
        RefusedError: they differ.
    """
    where = f"{package} {entry.version}"
    if not entry.is_same_content(artifact.digest):
        code = RefusalCode.CONTENT_MISMATCH
        raise RefusedError(refusal(code, where, entry.identity, artifact.digest, _FORGED))
    refusals = check_manifest(entry, package, artifact.package)
    if refusals:
        raise RefusedError(*refusals)
    if entry.size is not None and entry.size != artifact.size:
        expected = f"{entry.size} bytes, as the channel says"
        raise mismatch(where, expected, f"{artifact.size} bytes")


def mismatch(where: str, expected: str, found: str) -> RefusedError:
    """The refusal of an artifact with other content than expected."""
    return RefusedError(refusal(RefusalCode.MANIFEST_MISMATCH, where, expected, found, _FORGED))


@contextlib.contextmanager
def _refused(where: str, store: Path, *, local: bool) -> Iterator[None]:
    """Turns what is wrong with content into refusals.

    Args:
        where: what is fetched.
        store: the folder of the local store, whose own trouble is no refusal.
        local: whether the content comes from there.
    """
    try:
        yield
    except NotFoundError as error:
        advice = "ask the publisher to restore it"
        if local:
            advice = "fetch it again: upgrade --to this version, with --allow-downgrade"
        code, found = RefusalCode.CONTENT_MISSING, f"nothing at {error.where}"
        raise _refusal(code, where, "its content", found, advice) from error
    except (DigestMismatchError, TooLargeError) as error:
        code, advice = RefusalCode.CONTENT_MISMATCH, _FORGED
        if local:
            advice = (
                f"the local store is damaged: remove {_file(store, error.expected)} and try again"
            )
        raise _refusal(code, where, error.expected, error.found, advice) from error
    except InvalidManifestError as error:
        raise mismatch(where, error.expected, error.found) from error
    except (UnreachableError, UnauthorisedError) as error:
        is_refused = isinstance(error, UnauthorisedError)
        code = RefusalCode.ACCESS_REFUSED if is_refused else RefusalCode.UNREACHABLE
        raise _refusal(
            code, where, error.expected, error.found, f"{error.advice} ({error.where})"
        ) from error
    except StorageError as error:
        if str(store) in error.where:
            raise
        code = RefusalCode.UNREACHABLE
        raise _refusal(code, error.where, error.expected, error.found, error.advice) from error
    except ManifestError as error:
        raise mismatch(where, "the manifest of a package", str(error)) from error
    except UnpackError as error:
        code = RefusalCode.CONTENT_MISMATCH
        raise _refusal(code, where, "the archive of a package", str(error), _FORGED) from error


def _file(store: Path, expected: str) -> Path:
    return store / "blobs" / "sha256" / expected.partition(" ")[0].removeprefix("sha256:")


def _refusal(code: RefusalCode, where: str, expected: str, found: str, advice: str) -> RefusedError:
    return RefusedError(refusal(code, where, expected, found, advice))
