"""What every registry can do, and what goes in and out of it."""

import contextlib
import enum
import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Final, Protocol, TypeAlias

import msgspec

from trundle.registry._model import Descriptor, ImageIndex, ImageManifest, parse_manifest
from trundle.registry.errors import ConflictError

INTERNAL_PREFIX = "_trundle."
"""What the tags begin with that are no releases: leases, and the entries of ledgers."""


_REFERRERS_TAG = re.compile(r"sha256-[0-9a-f]{64}")


def is_internal(tag: str) -> bool:
    """Whether a tag is no release: one of Trundle's own, or the fallback tag of referrers."""
    return tag.startswith(INTERNAL_PREFIX) or _REFERRERS_TAG.fullmatch(tag) is not None


class Anything(enum.Enum):
    """The type of `ANYTHING`."""

    ANYTHING = enum.auto()


ANYTHING: Final = Anything.ANYTHING
"""Expected of a tag where it does not matter what it points to."""

Expected: TypeAlias = str | Anything | None
"""What a tag has to point to before it is set: a digest, `None` for no such tag, or `ANYTHING`."""

Progress: TypeAlias = Callable[[int], None]
"""Called with the number of bytes that were just moved."""


class StoredManifest(msgspec.Struct, frozen=True, dict=True):
    """A manifest as it was read, verified.

    Attributes:
        where: names it in messages.
        descriptor: media type, digest and size.
        content: its bytes, as they were pushed.
    """

    where: str
    descriptor: Descriptor
    content: bytes

    @cached_property
    def document(self) -> ImageManifest | ImageIndex:
        """What the bytes say.

        Raises:
            InvalidManifestError: they cannot be understood.
        """
        return parse_manifest(self.content, self.descriptor.media_type, self.where)


def check_expected(where: str, expected: str | None, found: str | None) -> None:
    """Compares what a tag points to with what it should.

    Raises:
        ConflictError: it points to something else.
    """
    if expected != found:
        raise ConflictError(
            where,
            "no such tag" if expected is None else expected,
            found or "no such tag",
            "read it again and decide anew",
        )


class Lease(Protocol):
    """The right to do something alone, for a while."""

    def check(self) -> None:
        """Makes sure that no other process may have taken over.

        Raises:
            LeaseLostError: too much time has gone by.
        """


class Repository(Protocol):
    """One repository of a registry: blobs, manifests and tags.

    All reads are verified against the digest. Unless a method says otherwise it raises `UnreachableError` and
    `UnauthorisedError` for a registry over HTTP, and `StorageError` for one in a folder.
    """

    @property
    def location(self) -> str:
        """The repository, as references and messages have it."""

    def has_blob(self, descriptor: Descriptor) -> bool:
        """Whether the blob is there."""

    def blob_file(self, descriptor: Descriptor) -> Path | None:
        """The file that is the blob, unverified, where the registry keeps blobs in files at hand."""

    def read_blob(self, descriptor: Descriptor, *, limit: int) -> bytes:
        """Reads a small blob into memory.

        Args:
            descriptor: the blob; content that it carries itself is not asked for again.
            limit: the most bytes that the caller takes.

        Raises:
            NotFoundError: there is no such blob.
            TooLargeError: the descriptor announces more than the limit.
            DigestMismatchError: the content is not what the descriptor says.
        """

    def fetch_blob(
        self,
        descriptor: Descriptor,
        target: Path,
        *,
        partial: Path | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Streams a blob into a file; the digest is computed on the way and memory use is constant.

        The file appears under its name once it is whole and verified. What an interrupted call has fetched
        stays in a file beside it, and the next call goes on from there.

        Args:
            descriptor: the blob.
            target: the file to write; its folder exists.
            partial: where to collect the bytes, on the same file system; beside the target by default.
            progress: called with the number of bytes after each piece, those found from before included.

        Raises:
            NotFoundError: there is no such blob.
            DigestMismatchError: the content is not what the descriptor says, or never ends; it was removed.
            TooLargeError: the descriptor announces more than this registry may deliver.
        """

    def put_blob(
        self, content: bytes | Path, descriptor: Descriptor, *, progress: Progress | None = None
    ) -> None:
        """Stores a blob, unless it is there.

        Args:
            content: the bytes, or the file to stream them from.
            descriptor: what the content has to be.
            progress: called with the number of bytes after each piece.

        Raises:
            DigestMismatchError: the content is not what the descriptor says; nothing was stored.
            TooLargeError: the registry does not take so much.
        """

    def replace_blob(self, content: bytes | Path, descriptor: Descriptor) -> None:
        """Stores a blob, also where one is there, whose content is damaged. A registry over HTTP may keep what it has.

        Raises:
            DigestMismatchError: the content is not what the descriptor says.
            TooLargeError: the registry does not take so much.
        """

    def pull_blob(
        self, source: "Repository", descriptor: Descriptor, *, progress: Progress | None = None
    ) -> None:
        """Brings a blob from another repository, unless it is there; without moving bytes where that can be.

        Raises:
            NotFoundError: the source does not have it.
            DigestMismatchError: the source's content is not what the descriptor says.
        """

    def has_manifest(self, digest: str) -> bool:
        """Whether the manifest is there."""

    def get_manifest(self, reference: str) -> StoredManifest:
        """Reads a manifest by its tag or digest.

        Raises:
            NotFoundError: there is none.
            DigestMismatchError: the content is not what the digest says.
            TooLargeError: it is larger than manifests may be.
        """

    def put_manifest(
        self,
        content: bytes,
        media_type: str,
        *,
        tag: str | None = None,
        expected: Expected = ANYTHING,
    ) -> Descriptor:
        """Stores a manifest whose parts are there, and sets a tag to it.

        A manifest with a subject is listed among the subject's referrers. One without a tag that nothing else
        refers to may be collected as garbage.

        Args:
            content: the bytes; they are stored as they are.
            media_type: what they are.
            tag: the tag to set.
            expected: what the tag has to point to before.

        Raises:
            InvalidManifestError: it is no manifest.
            NotFoundError: a blob or a member is not there.
            ConflictError: the tag does not point to what was expected; the tag is untouched.
        """

    def resolve(self, tag: str) -> Descriptor:
        """What a tag points to.

        Raises:
            NotFoundError: there is no such tag.
        """

    def set_tag(self, tag: str, digest: str, *, expected: Expected = ANYTHING) -> None:
        """Points a tag to a manifest that is there.

        Raises:
            NotFoundError: there is no such manifest.
            ConflictError: the tag does not point to what was expected; it is untouched.
        """

    def tags(self, *, internal: bool = False) -> list[str]:
        """All tags in alphabetical order; none for a repository that does not exist.

        Args:
            internal: those that are no releases (`is_internal`), in place of the others.
        """

    def remove_tag(self, tag: str) -> None:
        """Removes a tag; and its manifest, where that has no other tag and the registry only deletes manifests.

        Raises:
            NotFoundError: there is no such tag.
            RegistryRefusedError: the registry does not delete.
        """

    def remove_unique_tag(self, tag: str) -> None:
        """Removes a tag whose manifest has no other, if it is there; for tags that were made so.

        Raises:
            RegistryRefusedError: the registry does not delete.
        """

    def restore_manifest(self, digest: str) -> bool:
        """Brings a manifest back that went with its tag, unless it is there.

        That works until the registry collects its garbage.

        Returns:
            Whether it is there now, with all its parts.

        Raises:
            DigestMismatchError: the registry keeps other content under that digest.
        """

    def referrers(self, digest: str) -> tuple[Descriptor, ...]:
        """The manifests whose subject is the given one, by digest; with artifact types and annotations."""

    def lease(self, name: str, *, wait: float) -> contextlib.AbstractContextManager[Lease]:
        """Keeps all others out who ask for the lease of that name in this repository.

        In a folder that is a lock. Over HTTP it is a queue of tags, safe as long as its holder calls `check`
        before each change and no request takes longer than the lease.

        Args:
            name: lower-case letters, digits and hyphens.
            wait: seconds to wait for others.

        Raises:
            BusyError: others held it all the time.
        """


class Registry(Protocol):
    """A place with repositories."""

    @property
    def location(self) -> str:
        """The registry, as references have it."""

    def repositories(self) -> list[str]:
        """The names of all repositories, in alphabetical order.

        Raises:
            UnauthorisedError: the registry does not list them for anonymous users.
            UnreachableError: the registry does not answer.
            StorageError: a folder cannot be read.
        """

    def repository(self, name: str) -> Repository:
        """A repository, which need not exist; it comes into being with the first thing that is put there.

        Raises:
            InvalidReferenceError: that is no name of a repository.
        """
