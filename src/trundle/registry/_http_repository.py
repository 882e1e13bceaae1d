"""A registry over HTTP, by the OCI distribution specification 1.1, with the traps of those that are older.

Debian's `docker-registry` (2.8) ignores conditional requests, so a tag is compared and set under a lease; it deletes
by digest only; its lists of tags are neither sorted nor paged; and it has no API for referrers.
"""

import contextlib
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

from trundle.registry import _referrers
from trundle.registry._deletions import Deletions
from trundle.registry._downloads import fill
from trundle.registry._files import Download, storage_errors
from trundle.registry._interface import (
    ANYTHING,
    Anything,
    Expected,
    Lease,
    Progress,
    Repository,
    StoredManifest,
    check_expected,
    is_internal,
)
from trundle.registry._lease import Sight, TagLease
from trundle.registry._markers import REMOVED_ARTIFACT, put_marker
from trundle.registry._model import (
    MANIFEST_TYPES,
    MAX_MANIFEST,
    OCI_INDEX,
    Descriptor,
    ImageIndex,
    ImageManifest,
    check_blob_size,
    check_content,
    check_manifest_size,
    describe,
    digest_of,
    is_digest,
    parse_manifest,
    small_content,
    sniff_media_type,
)
from trundle.registry._names import MOST_PAGES, read_names
from trundle.registry._reference import check_tag
from trundle.registry._requests import ACCEPT, Requests, missing
from trundle.registry._transport import (
    TransferError,
    Transport,
    closing,
    fault_text,
)
from trundle.registry._uploads import upload
from trundle.registry.errors import (
    DigestMismatchError,
    InvalidReferenceError,
    NotFoundError,
    RegistryRefusedError,
)

_LOOKERS = 8
_LOCK_WAIT = 60.0
_OK, _CREATED, _ACCEPTED = 200, 201, 202
_BAD_REQUEST, _NOT_FOUND = 400, 404


class HttpRepository:
    """A repository over HTTP. `Repository` says what the methods do.

    Attributes:
        location: the repository, as references and messages have it.
        name: its name at the registry.
    """

    def __init__(self, transport: Transport, location: str, name: str) -> None:
        self.location = location
        self.name = name
        self.transport = transport
        self._path = f"/v2/{name}"
        self._sights: dict[str, Sight] = {}
        self._requests = Requests(transport, name)
        self._deletions = Deletions(self._requests, transport, location, f"{self._path}/manifests")

    # Blobs

    def has_blob(self, descriptor: Descriptor) -> bool:
        """Whether the blob is there, with its length: a registry whose disk is damaged may have less of it."""
        url = f"{self._path}/blobs/{self._checked(descriptor.digest)}"
        for method in ("HEAD", "GET"):
            response = self._requests.call(
                method, url, {_OK, _NOT_FOUND}, headers={"Accept": ACCEPT}
            )
            with closing(response):
                if response.status_code == _NOT_FOUND:
                    return False
                size = response.headers.get("Content-Length", "")
                if not size.isdecimal() or int(size) == descriptor.size:
                    return True
                if int(size):
                    break  # Where HEAD says 0, it may mean the length of its own answer
        return False

    def blob_file(self, descriptor: Descriptor) -> Path | None:  # noqa: ARG002 - of the interface
        """None: blobs are not at hand."""
        return None

    def read_blob(self, descriptor: Descriptor, *, limit: int) -> bytes:
        """Reads a small blob into memory."""
        where = f"{self.location}@{descriptor.digest}"

        def read() -> bytes:
            url = f"{self._path}/blobs/{self._checked(descriptor.digest)}"
            return self._requests.read(url, where, limit=descriptor.size)[0]

        return small_content(descriptor, where, limit, read)

    def fetch_blob(
        self,
        descriptor: Descriptor,
        target: Path,
        *,
        partial: Path | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Streams a blob into a file, verified."""
        where = f"{self.location}@{self._checked(descriptor.digest)}"
        check_blob_size(descriptor.size, self.transport.settings.largest_blob, where)
        with (
            storage_errors(where),
            Download(descriptor, target, where, partial=partial, progress=progress) as download,
        ):
            fill(self.transport, self.name, descriptor, download, where)
            if download.resumed and not download.verified():
                download.restart()
                fill(self.transport, self.name, descriptor, download, where)
            download.finish()

    def put_blob(
        self, content: bytes | Path, descriptor: Descriptor, *, progress: Progress | None = None
    ) -> None:
        """Stores a blob, unless it is there."""
        where = f"{self.location}@{descriptor.digest}"
        if isinstance(content, bytes):
            check_content(content, descriptor, where)
        if self.has_blob(descriptor):
            return
        self._upload(content, descriptor, where, progress)

    def replace_blob(self, content: bytes | Path, descriptor: Descriptor) -> None:
        """Stores a blob, also where one is there; some registries keep that."""
        where = f"{self.location}@{descriptor.digest}"
        if isinstance(content, bytes):
            check_content(content, descriptor, where)
        self._upload(content, descriptor, where)

    def _upload(
        self,
        content: bytes | Path,
        descriptor: Descriptor,
        where: str,
        progress: Progress | None = None,
    ) -> None:
        with storage_errors(where):
            upload(self.transport, self.name, content, descriptor, where, progress)

    def pull_blob(
        self, source: Repository, descriptor: Descriptor, *, progress: Progress | None = None
    ) -> None:
        """Brings a blob from another repository, unless it is there; mounts it within one registry."""
        if self.has_blob(descriptor) or self._mount(source, descriptor):
            return
        path = source.blob_file(descriptor)
        if path is not None:
            if not path.is_file():
                raise missing(f"{source.location}@{descriptor.digest}")
            self.put_blob(path, descriptor, progress=progress)
            return
        with tempfile.TemporaryDirectory(prefix="trundle-") as folder:
            file = Path(folder) / "blob"
            source.fetch_blob(descriptor, file)
            self.put_blob(file, descriptor, progress=progress)

    # Manifests

    def has_manifest(self, digest: str) -> bool:
        """Whether the manifest is there."""
        return self._requests.exists(f"{self._path}/manifests/{self._checked(digest)}")

    def get_manifest(self, reference: str) -> StoredManifest:
        """Reads a manifest by its tag or digest."""
        url, where = self._manifest(reference)
        content, kind = self._requests.read(url, where, limit=MAX_MANIFEST)
        if is_digest(reference) and digest_of(content) != reference:
            raise DigestMismatchError(
                where, reference, digest_of(content), "do not use what this registry delivers"
            )
        if kind not in MANIFEST_TYPES:
            kind = sniff_media_type(content, where)
        return StoredManifest(where, describe(content, kind), content)

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
        document = parse_manifest(content, media_type, f"{self.location}@{descriptor.digest}")
        reference = descriptor.digest if tag is None else tag
        if tag is None or isinstance(expected, Anything):
            listed = self._put(reference, content, media_type, document)
        else:
            with self._compared(tag, expected):
                listed = self._put(reference, content, media_type, document)
        if not listed:
            _referrers.list_referrer(self, document, descriptor)
        return descriptor

    def restore_manifest(self, digest: str) -> bool:
        """Brings a manifest back that went with its tag, unless it is there."""
        if self.has_manifest(digest):
            return True
        where = f"{self.location}@{digest}"
        try:
            content, _ = self._requests.read(
                f"{self._path}/blobs/{digest}", where, limit=MAX_MANIFEST
            )
            check_content(
                content, Descriptor(media_type="", digest=digest, size=len(content)), where
            )
            self.put_manifest(content, sniff_media_type(content, where))
        except NotFoundError:
            return False
        return True

    # Tags

    def resolve(self, tag: str) -> Descriptor:
        """What a tag points to."""
        check_tag(tag, self.location)
        url, where = self._manifest(tag)
        response = self._requests.call("HEAD", url, {_OK, _NOT_FOUND}, headers={"Accept": ACCEPT})
        with closing(response):
            if response.status_code == _NOT_FOUND:
                raise missing(where)
            digest = response.headers.get("Docker-Content-Digest", "")
            size = response.headers.get("Content-Length", "")
            kind = response.headers.get("Content-Type", "")
        if is_digest(digest) and size.isdecimal() and kind in MANIFEST_TYPES:
            return Descriptor(media_type=kind, digest=digest, size=int(size))
        return self.get_manifest(tag).descriptor

    def set_tag(self, tag: str, digest: str, *, expected: Expected = ANYTHING) -> None:
        """Points a tag to a manifest that is there."""
        check_tag(tag, self.location)
        stored = self.get_manifest(digest)
        if isinstance(expected, Anything):
            self._put(tag, stored.content, stored.descriptor.media_type, stored.document)
            return
        with self._compared(tag, expected):
            self._put(tag, stored.content, stored.descriptor.media_type, stored.document)

    def tags(self, *, internal: bool = False) -> list[str]:
        """All tags in alphabetical order."""
        found = read_names(self._requests, f"{self._path}/tags/list", f"{self.location}: tags")
        return [tag for tag in found if is_internal(tag) == internal]

    def remove_tag(self, tag: str) -> None:
        """Removes a tag; and its manifest, where that has no other tag and the registry only deletes manifests."""
        found = self.resolve(tag)
        url, _ = self._manifest(tag)
        try:
            with closing(self._requests.call("DELETE", url, {_ACCEPTED, _OK, _NOT_FOUND})):
                return
        except RegistryRefusedError:
            self._deletions.check()  # Registries before the specification 1.1 delete by digest only.
        if any(each != tag for each in self._tags_of(found.digest)):
            # The tag gets a manifest of its own, which can go without harm to others.
            put_marker(self, tag, REMOVED_ARTIFACT)
            self.remove_unique_tag(tag)
            return
        stored = self.get_manifest(found.digest)
        if not self._deletions.delete(found.digest):
            self.remove_unique_tag(tag)
        # For `restore_manifest`: as a mere blob it lasts as long as its parts do, until garbage is collected.
        upload(self.transport, self.name, stored.content, stored.descriptor, stored.where, None)

    def referrers(self, digest: str) -> tuple[Descriptor, ...]:
        """The manifests whose subject is the given one."""
        where = f"{self.location}@{self._checked(digest)}"
        url: str | None = f"{self._path}/referrers/{digest}"
        found: dict[str, Descriptor] = {}
        try:
            while url is not None and len(found) < MOST_PAGES:
                content, url = self._requests.read_page(url, where)
                page = parse_manifest(content, OCI_INDEX, where)
                assert isinstance(page, ImageIndex)
                found |= {each.digest: each for each in page.manifests}
        except (NotFoundError, RegistryRefusedError):
            return _referrers.listed(self, digest)
        return tuple(found[each] for each in sorted(found))

    # Order

    @contextlib.contextmanager
    def lease(self, name: str, *, wait: float) -> Iterator[Lease]:
        """Keeps all others out who ask for the lease of that name; a queue of tags."""
        self._deletions.check()
        settings = self.transport.settings
        lease = TagLease(self, name, settings.lease, settings.poll, sights=self._sights)
        with lease.held(wait):
            yield lease

    def remove_unique_tag(self, tag: str) -> None:
        """Removes a tag whose manifest has no other tag.

        A registry deletes the manifest first and looks for its tags then. Where that fails, the tag stays in the lists
        and leads to nothing; it is set and removed once more.
        """
        for attempt in range(self.transport.settings.retries + 1):
            clean = False
            with contextlib.suppress(NotFoundError):
                clean = self._deletions.delete(self.resolve(tag).digest)
            if clean or tag not in self.tags(internal=is_internal(tag)):
                return
            self.transport.pause(attempt)
            put_marker(self, tag, REMOVED_ARTIFACT)

    # Within

    @contextlib.contextmanager
    def _compared(self, tag: str, expected: str | None) -> Iterator[None]:
        """Compares a tag, and keeps others from setting it who compare as well."""
        with self.lease("tags", wait=_LOCK_WAIT) as lease:
            try:
                found = self.resolve(tag).digest
            except NotFoundError:
                found = None
            check_expected(f"{self.location}:{tag}", expected, found)
            lease.check()
            yield
            lease.check()

    def _put(
        self, reference: str, content: bytes, media_type: str, document: ImageManifest | ImageIndex
    ) -> bool:
        """Pushes a manifest; returns whether the registry itself lists it among its subject's referrers."""
        attempt = 0
        while True:
            try:
                return self._put_once(reference, content, media_type)
            except NotFoundError:
                # While another client pushes the same blob, docker-registry says that it has none.
                whole = all(map(self.has_blob, document.blobs())) and all(
                    self.has_manifest(each.digest) for each in document.children()
                )
                if not whole or attempt == self.transport.settings.retries:
                    raise
                self.transport.pause(attempt)
                attempt += 1

    def _put_once(self, reference: str, content: bytes, media_type: str) -> bool:
        check_manifest_size(len(content), self.location)
        url, where = self._manifest(reference)
        headers = {"Content-Type": media_type}
        response = self._requests.call(
            "PUT", url, {_CREATED, _NOT_FOUND, _BAD_REQUEST}, headers=headers, body=content
        )
        if response.status_code != _CREATED:
            message = fault_text(response)
            if "UNKNOWN" in message:
                raise NotFoundError(where, "the parts of the manifest", message, "push them first")
            raise RegistryRefusedError(
                where, "the manifest to be taken", message, "correct the manifest"
            )
        with closing(response):
            said = response.headers.get("Docker-Content-Digest")
            if said is not None and said != digest_of(content):
                raise DigestMismatchError(
                    where, digest_of(content), said, "do not use this registry"
                )
            return "OCI-Subject" in response.headers

    def _tags_of(self, digest: str) -> list[str]:
        """All tags that point to a manifest."""

        def points(tag: str) -> bool:
            try:
                return self.resolve(tag).digest == digest
            except NotFoundError:
                return False

        tags = self.tags() + self.tags(internal=True)
        with ThreadPoolExecutor(_LOOKERS) as pool:
            return [tag for tag, does in zip(tags, pool.map(points, tags), strict=True) if does]

    def _mount(self, source: Repository, descriptor: Descriptor) -> bool:
        """Makes the registry take a blob over from another of its repositories, if it does such a thing."""
        if not isinstance(source, HttpRepository) or source.transport.base != self.transport.base:
            return False
        url = f"{self._path}/blobs/uploads/?mount={quote(descriptor.digest)}&from={quote(source.name, safe='')}"
        try:
            response = self._requests.call(
                "POST", url, {_CREATED, _ACCEPTED, _NOT_FOUND}, repeatable=False
            )
        except (TransferError, RegistryRefusedError):
            return False
        with closing(response):
            return response.status_code == _CREATED and self.has_blob(descriptor)

    def _manifest(self, reference: str) -> tuple[str, str]:
        """The path of a manifest, and its name for messages."""
        separator = "@" if is_digest(reference) else ":"
        if separator == ":":
            check_tag(reference, self.location)
        return f"{self._path}/manifests/{reference}", f"{self.location}{separator}{reference}"

    def _checked(self, digest: str) -> str:
        if not is_digest(digest):
            raise InvalidReferenceError(
                self.location,
                "sha256: and 64 hexadecimal digits",
                repr(digest),
                "correct the digest",
            )
        return digest
