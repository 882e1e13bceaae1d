"""A repository in a folder: an OCI image layout.

Beside the files of the specification it has a folder `.trundle` with locks and unfinished
files. Every change is one rename, made under a lock, after all that it refers to is on disk:

1. A blob is written aside, flushed, renamed to its digest, and its folder is flushed.
2. A manifest is a blob whose parts are there already.
3. A tag is an entry of `index.json`, which is written aside and renamed.

So a process that dies, or a disk that is full, leaves the old state or the new one, and at most garbage.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from trundle._durable import write_durably
from trundle._locking import LockBusyError, locked
from trundle.registry import _collect, _referrers
from trundle.registry._files import (
    Download,
    collect_file,
    make_folder,
    storage_errors,
)
from trundle.registry._interface import (
    ANYTHING,
    Anything,
    Expected,
    Lease,
    Progress,
    Repository,
    StoredManifest,
    check_expected,
)
from trundle.registry._layout_index import LayoutIndex
from trundle.registry._lease import check_lease_name
from trundle.registry._model import (
    MAX_MANIFEST,
    Descriptor,
    ImageIndex,
    ImageManifest,
    check_content,
    check_manifest_size,
    describe,
    is_digest,
    parse_manifest,
    small_content,
    sniff_media_type,
)
from trundle.registry._reference import check_tag
from trundle.registry.errors import (
    BusyError,
    InvalidReferenceError,
    NotFoundError,
)

_LAYOUT_FILE = b'{"imageLayoutVersion":"1.0.0"}'
_LOCK_WAIT = 60.0
_LOOKS = 20


class _Lock:
    """A lease that cannot be lost: the operating system keeps it."""

    def check(self) -> None:
        """Always holds."""


class DirectoryRepository:
    """An OCI image layout. `Repository` says what the methods do.

    Attributes:
        folder: the folder of the layout.
    """

    def __init__(self, folder: Path, location: str) -> None:
        self.folder = folder
        self._location = location
        self._blobs = folder / "blobs" / "sha256"
        self._own = folder / ".trundle"
        self._staging = self._own / "staging"
        self._index = folder / "index.json"
        self._known_index: tuple[bytes, LayoutIndex] | None = None

    @property
    def location(self) -> str:
        """The repository, as references and messages have it."""
        return self._location

    # Blobs

    def has_blob(self, descriptor: Descriptor) -> bool:
        """Whether the blob is there, with its size."""
        with storage_errors(self._location), contextlib.suppress(FileNotFoundError):
            return self._path(descriptor.digest).stat().st_size == descriptor.size
        return False

    def blob_file(self, descriptor: Descriptor) -> Path | None:
        """The file that is the blob, unverified."""
        return self._path(descriptor.digest)

    def read_blob(self, descriptor: Descriptor, *, limit: int) -> bytes:
        """Reads a small blob into memory."""
        where = f"{self._location}@{descriptor.digest}"
        return small_content(descriptor, where, limit, lambda: self._read(descriptor.digest, limit))

    def fetch_blob(
        self,
        descriptor: Descriptor,
        target: Path,
        *,
        partial: Path | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Streams a blob into a file, verified."""
        where = f"{self._location}@{descriptor.digest}"
        path = self._path(descriptor.digest)
        if not path.is_file():
            raise self._missing(descriptor.digest)
        with (
            storage_errors(where),
            Download(descriptor, target, where, partial=partial, progress=progress) as download,
        ):
            collect_file(path, download)

    def put_blob(
        self, content: bytes | Path, descriptor: Descriptor, *, progress: Progress | None = None
    ) -> None:
        """Stores a blob, unless it is there."""
        where = f"{self._location}@{descriptor.digest}"
        with storage_errors(where):
            if self._has(descriptor):
                return
            if isinstance(content, bytes):
                check_content(content, descriptor, where)
                write_durably(self._path(descriptor.digest), content, staging=self._staging)
                return
            staged = self._staging / descriptor.digest[7:]
            path = self._path(descriptor.digest)
            with Download(descriptor, path, where, partial=staged, progress=progress) as download:
                collect_file(content, download)

    def replace_blob(self, content: bytes | Path, descriptor: Descriptor) -> None:
        """Stores a blob, also where one is there."""
        with storage_errors(self._location):
            self._path(descriptor.digest).unlink(missing_ok=True)
        self.put_blob(content, descriptor)

    def pull_blob(
        self, source: Repository, descriptor: Descriptor, *, progress: Progress | None = None
    ) -> None:
        """Brings a blob from another repository, unless it is there."""
        with storage_errors(self._location):
            if self._has(descriptor):
                return
        target, staged = self._path(descriptor.digest), self._staging / descriptor.digest[7:]
        source.fetch_blob(descriptor, target, partial=staged, progress=progress)

    # Manifests

    def has_manifest(self, digest: str) -> bool:
        """Whether the manifest is there."""
        return self._path(digest).is_file()

    def get_manifest(self, reference: str) -> StoredManifest:
        """Reads a manifest by its tag or digest."""
        where = f"{self._location}{'@' if is_digest(reference) else ':'}{reference}"
        if not is_digest(reference):
            descriptor, content = self._read_tagged(reference)
            return StoredManifest(where, descriptor, check_content(content, descriptor, where))
        content = self._read(reference, MAX_MANIFEST)
        check_content(
            content, Descriptor(media_type="", digest=reference, size=len(content)), where
        )
        return StoredManifest(where, describe(content, sniff_media_type(content, where)), content)

    def put_manifest(
        self,
        content: bytes,
        media_type: str,
        *,
        tag: str | None = None,
        expected: Expected = ANYTHING,
    ) -> Descriptor:
        """Stores a manifest whose parts are there, and sets a tag to it."""
        descriptor = describe(content, media_type)
        where = f"{self._location}@{descriptor.digest}"
        document = parse_manifest(content, media_type, where)
        if tag is not None:
            check_tag(tag, self._location)
        with self._changing():
            self._check_parts(document)
            index = None if tag is None else self._expected_index(tag, expected)
            if not self._keep(descriptor):
                write_durably(self._path(descriptor.digest), content, staging=self._staging)
            if tag is not None and index is not None:
                self._point(index, tag, descriptor)
        _referrers.list_referrer(self, document, descriptor)
        return descriptor

    # Tags

    def resolve(self, tag: str) -> Descriptor:
        """What a tag points to."""
        check_tag(tag, self._location)
        with storage_errors(self._location):
            descriptor = self._read_index().find(tag)
        if descriptor is None:
            raise self._missing(tag)
        return descriptor

    def set_tag(self, tag: str, digest: str, *, expected: Expected = ANYTHING) -> None:
        """Points a tag to a manifest that is there."""
        check_tag(tag, self._location)
        with self._changing():
            stored = self.get_manifest(digest)
            self._check_parts(stored.document)
            self._point(self._expected_index(tag, expected), tag, stored.descriptor)

    def tags(self, *, internal: bool = False) -> list[str]:
        """All tags in alphabetical order."""
        with storage_errors(self._location):
            return self._read_index().names(internal=internal)

    def remove_tag(self, tag: str) -> None:
        """Removes a tag; its manifest stays until garbage is collected."""
        with self._changing():
            index = self._read_index().copy()
            found = index.find(tag)
            if found is None:
                raise self._missing(tag)
            self._renew(found)
            index.remove_tag(tag)
            self._write_index(index)

    def remove_unique_tag(self, tag: str) -> None:
        """Removes a tag whose manifest has no other tag."""
        with contextlib.suppress(NotFoundError):
            self.remove_tag(tag)

    def restore_manifest(self, digest: str) -> bool:
        """Whether the manifest is there; it stays when its tag goes, until garbage is collected."""
        return self.has_manifest(digest)

    def referrers(self, digest: str) -> tuple[Descriptor, ...]:
        """The manifests whose subject is the given one."""
        return _referrers.listed(self, digest)

    # Order

    @contextlib.contextmanager
    def lease(self, name: str, *, wait: float) -> Iterator[Lease]:
        """Keeps all others out who ask for the lease of that name; a lock."""
        check_lease_name(name, self._location)
        with storage_errors(self._location):
            self._make()
        with self._locked(self._own / f"lease-{name}.lock", wait):
            yield _Lock()

    def collect_garbage(
        self, grace: float, *, now: float, dry_run: bool = False
    ) -> _collect.Garbage:
        """Removes what no tag leads to.

        Args:
            grace: seconds that content is kept after it was put or asked to be kept, or lost its tag; so that an
                artifact whose tag is about to be set is not torn apart, and a reader can finish.
            now: the time, as `time.time` returns it.
            dry_run: only says what would be removed.

        Raises:
            InvalidManifestError: a manifest that a tag leads to cannot be read; nothing was removed.
            BusyError: another process changes the layout all the time.
            StorageError: the folder cannot be read or written.
        """
        with self._changing():
            index = self._read_index().copy()

            def save() -> None:
                self._write_index(index)

            return _collect.collect(
                self, self._blobs, self._staging, index, now - grace, None if dry_run else save
            )

    # Within

    def _path(self, digest: str) -> Path:
        if not is_digest(digest):
            raise InvalidReferenceError(
                self._location,
                "sha256: and 64 hexadecimal digits",
                repr(digest),
                "correct the digest",
            )
        return self._blobs / digest[7:]

    def _make(self) -> None:
        """Makes an empty layout where there is none; also finishes one whose creation was interrupted."""
        for folder in (self._staging, self._blobs):
            make_folder(folder)
        marker = self.folder / "oci-layout"
        if not marker.exists():
            write_durably(marker, _LAYOUT_FILE, staging=self._staging)

    def _has(self, descriptor: Descriptor) -> bool:
        """Whether a blob is there, and stays while garbage is collected; its grace begins anew."""
        self._make()
        if not self.has_blob(descriptor):
            return False
        with self._changing():
            return self._keep(descriptor)

    def _keep(self, descriptor: Descriptor) -> bool:
        """Whether a blob is there; its grace begins anew. Called under the lock of the layout."""
        if not self.has_blob(descriptor):
            return False
        try:
            os.utime(self._path(descriptor.digest))
        except FileNotFoundError:
            return False
        return True

    @contextlib.contextmanager
    def _changing(self) -> Iterator[None]:
        with storage_errors(self._location):
            self._make()
            with self._locked(self._own / "index.lock", _LOCK_WAIT):
                if not self._index.exists():
                    self._write_index(LayoutIndex.empty(str(self._index)))
                yield

    @contextlib.contextmanager
    def _locked(self, path: Path, wait: float) -> Iterator[None]:
        with contextlib.ExitStack() as held:
            try:
                with storage_errors(self._location):
                    held.enter_context(locked(path, wait, pause=0.005))
            except LockBusyError:
                raise BusyError(
                    self._location,
                    f"{path.name} to be free",
                    "it held by another",
                    "try again later",
                ) from None
            yield

    def _check_parts(self, document: ImageManifest | ImageIndex) -> None:
        for part in (*document.blobs(), *document.children()):
            if not self._keep(part):
                raise self._missing(part.digest)

    def _expected_index(self, tag: str, expected: Expected) -> LayoutIndex:
        """The present index, in which the tag points to what is expected."""
        index = self._read_index()
        if not isinstance(expected, Anything):
            found = index.find(tag)
            check_expected(
                f"{self._location}:{tag}", expected, None if found is None else found.digest
            )
        return index

    def _point(self, index: LayoutIndex, tag: str, descriptor: Descriptor) -> None:
        found = index.find(tag)
        if found is None or found.digest != descriptor.digest:
            if found is not None:
                self._renew(found)
            index = index.copy()
            index.set(tag, descriptor)
            self._write_index(index)

    def _renew(self, root: Descriptor) -> None:
        """Begins the grace of an artifact anew whose tag goes: a client may have looked the tag up, and read on."""
        _collect.renew(self, self._blobs, root)

    def _read_tagged(self, tag: str) -> tuple[Descriptor, bytes]:
        """What a tag points to, and its content; looked up again where the tag moved before that was read."""
        descriptor = self.resolve(tag)
        for _ in range(_LOOKS):
            try:
                return descriptor, self._read(descriptor.digest, MAX_MANIFEST)
            except NotFoundError as error:
                missing = error
            before, descriptor = descriptor, self.resolve(tag)
            if descriptor == before:
                break
        raise missing

    def _read_index(self) -> LayoutIndex:
        """The present index, parsed only where it has changed; callers that change it take a copy."""
        try:
            content = self._index.read_bytes()
        except FileNotFoundError:
            return LayoutIndex.empty(str(self._index))
        known = self._known_index
        if known is not None and known[0] == content:
            return known[1]
        index = LayoutIndex.parse(content, str(self._index))
        self._known_index = (content, index)
        return index

    def _write_index(self, index: LayoutIndex) -> None:
        content = index.content()
        write_durably(self._index, content, staging=self._staging)
        self._known_index = (content, index)

    def _read(self, digest: str, limit: int) -> bytes:
        where = f"{self._location}@{digest}"
        with storage_errors(where):
            try:
                with self._path(digest).open("rb") as file:
                    content = file.read(limit + 1)
            except FileNotFoundError:
                raise self._missing(digest) from None
        if limit == MAX_MANIFEST:
            check_manifest_size(len(content), where)
        return content

    def _missing(self, name: str) -> NotFoundError:
        return NotFoundError(
            f"{self._location}{'@' if is_digest(name) else ':'}{name}",
            "it in the layout",
            "nothing",
            "check the name, or push it first",
        )
