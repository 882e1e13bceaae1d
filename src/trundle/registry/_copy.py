"""Copies artifacts from one registry to another; every digest stays what it was."""

import msgspec

from trundle.registry._interface import Progress, Repository, StoredManifest
from trundle.registry._model import Descriptor
from trundle.registry.errors import DigestMismatchError, InvalidManifestError

_DEEPEST = 16
_MOST = 100_000


class Copied(msgspec.Struct, frozen=True):
    """What a copy consists of.

    Attributes:
        descriptor: the manifest that was asked for.
        manifests: the digests of all manifests, in the order in which they were put.
        blobs: the digests of all blobs, in the order in which they were brought.
        size: bytes of both; those that were there already are counted as well.
    """

    descriptor: Descriptor
    manifests: tuple[str, ...]
    blobs: tuple[str, ...]
    size: int


def copy(
    source: Repository,
    target: Repository,
    reference: str,
    *,
    tag: str | None = None,
    referrers: bool = True,
    progress: Progress | None = None,
) -> Copied:
    """Copies an artifact with all that it consists of, and all that refers to it.

    Parts come before the whole, and the tag comes last. So an interrupted copy shows nothing half, and the next
    one goes on: what is there already is not moved again, and a blob that broke off is continued.

    Args:
        source: where the artifact is.
        target: where it goes.
        reference: its tag or digest.
        tag: the tag to set at the target; the tag of the source, if it was named by one, by default.
        referrers: whether the manifests that refer to it are copied, and those that refer to these.
        progress: called with the number of bytes after each piece of a blob.

    Raises:
        NotFoundError: something is missing at the source.
        DigestMismatchError: something at the source is not what its descriptor says.
        InvalidManifestError: a manifest cannot be understood, or nests too deep.
        RegistryError: anything else that the registries raise.
    """
    root = source.get_manifest(reference)
    copying = _Copying(source, target, progress, referrers=referrers)
    copying.bring(root, 0)
    if tag is None and reference != root.descriptor.digest:
        tag = reference
    if tag is not None:
        target.set_tag(tag, root.descriptor.digest)
    return Copied(root.descriptor, tuple(copying.manifests), tuple(copying.blobs), copying.size)


class _Copying:
    """What was copied so far."""

    def __init__(
        self, source: Repository, target: Repository, progress: Progress | None, *, referrers: bool
    ) -> None:
        self._source = source
        self._target = target
        self._progress = progress
        self._referrers = referrers
        self.manifests: dict[str, None] = {}
        self.blobs: dict[str, None] = {}
        self.size = 0

    def bring(self, stored: StoredManifest, depth: int) -> None:
        """Copies a manifest after its parts, and then what refers to it."""
        digest = stored.descriptor.digest
        if digest in self.manifests:
            return
        if depth > _DEEPEST or len(self.manifests) >= _MOST:
            raise InvalidManifestError(
                stored.where,
                f"at most {_MOST} manifests, nested {_DEEPEST} deep",
                "more",
                "do not use the artifact",
            )
        for child in stored.document.children():
            self.bring(self._member(child), depth + 1)
        for blob in stored.document.blobs():
            if blob.digest not in self.blobs:
                self._target.pull_blob(self._source, blob, progress=self._progress)
                self.blobs[blob.digest] = None
                self.size += blob.size
        self._target.put_manifest(stored.content, stored.descriptor.media_type)
        self.manifests[digest] = None
        self.size += stored.descriptor.size
        if self._referrers:
            for each in self._source.referrers(digest):
                self.bring(self._member(each), depth + 1)

    def _member(self, descriptor: Descriptor) -> StoredManifest:
        """A manifest that another one names, when it is what that one says."""
        stored = self._source.get_manifest(descriptor.digest)
        found = stored.descriptor
        if (found.size, found.media_type) != (descriptor.size, descriptor.media_type):
            raise DigestMismatchError(
                stored.where,
                f"{descriptor.media_type} with {descriptor.size} bytes",
                f"{found.media_type} with {found.size} bytes",
                "do not use the artifact, and ask its publisher",
            )
        return stored
