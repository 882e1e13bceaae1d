"""The content of versions in the registry: their tags, looked up, set again and removed; what is missing or damaged."""

import hashlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from trundle.channels.artifacts import Artifact
from trundle.channels.files import ListedVersion
from trundle.channels.publishing._artifact import PackedArtifact
from trundle.errors import expectation
from trundle.registry import (
    REMOVED_ARTIFACT,
    Descriptor,
    DigestMismatchError,
    InvalidManifestError,
    NotFoundError,
    RegistryRefusedError,
    Repository,
    TooLargeError,
)


def digest_of_tag(repository: Repository, tag: str) -> str | None:
    """What a tag names; None where there is no such tag."""
    try:
        return repository.resolve(tag).digest
    except NotFoundError:
        return None


def is_being_removed(repository: Repository, tag: str) -> bool:
    """Whether a publisher began to remove a tag, and died."""
    try:
        document = repository.get_manifest(tag).document
    except NotFoundError:
        return False
    return document.artifact_type == REMOVED_ARTIFACT


def remove_version_tag(repository: Repository, entry: ListedVersion) -> tuple[str, ...]:
    """Removes a version's tag; and its manifest, where no other tag needs that and the registry only deletes manifests.

    Returns:
        Why the tag is still there; empty where it is not.

    Raises:
        RegistryError: the registry cannot be reached.
    """
    found = digest_of_tag(repository, entry.tag_name)
    if found is None:
        return ()
    others = entry.digest is not None and found != entry.digest
    if others and not is_being_removed(repository, entry.tag_name):
        return (f"the tag {entry.tag_name} names {found}, which is not this version; it was left",)
    try:
        repository.remove_tag(entry.tag_name)
    except NotFoundError:
        return ()
    except RegistryRefusedError as error:
        return (f"the content is still in the registry: {error}",)
    return ()


def content_damage(repository: Repository, digest: str) -> Iterator[str]:
    """What is missing or damaged of an artifact: its manifest, or the blobs that the manifest names.

    Blobs of a registry over HTTP are not downloaded: only their length is compared. See `content_delivered_otherwise`.

    Args:
        repository: the repository that has the artifact.
        digest: the digest of its manifest.

    Raises:
        RegistryError: the registry cannot be read.
    """
    try:
        stored = repository.get_manifest(digest)
    except NotFoundError:
        yield expectation(f"the manifest {digest}", "none")
        return
    except (DigestMismatchError, InvalidManifestError, TooLargeError) as error:
        yield expectation(f"the manifest {digest}", error.found)
        return
    for each in stored.document.blobs():
        file = repository.blob_file(each)
        # A file of another length is other content; `has_blob` does not count it.
        if not (repository.has_blob(each) if file is None else file.is_file()):
            found = "none" if file is not None else "none of this length"
            yield expectation(f"the blob {each.digest} of {each.size:,} bytes", found)
        elif not _is_whole(repository, each):
            yield expectation(f"the blob {each.digest}", "other content")


def content_delivered_otherwise(repository: Repository, digest: str) -> Iterator[str]:
    """Which blobs of an artifact a registry over HTTP has by their length, and delivers with other content.

    All are downloaded. What `content_damage` finds is not repeated.

    Raises:
        RegistryError: the registry cannot be read.
    """
    try:
        blobs = repository.get_manifest(digest).document.blobs()
    except (NotFoundError, DigestMismatchError, InvalidManifestError, TooLargeError):
        return
    for each in blobs:
        if not _is_delivered(repository, each):
            yield expectation(f"the blob {each.digest}", "other content")


def _is_delivered(repository: Repository, descriptor: Descriptor) -> bool:
    """Whether a blob that a registry over HTTP has is the content of its digest; True where there is none."""
    if repository.blob_file(descriptor) is not None or not repository.has_blob(descriptor):
        return True
    with tempfile.TemporaryDirectory(prefix="trundle-") as folder:
        try:
            repository.fetch_blob(descriptor, Path(folder) / "blob")
        except DigestMismatchError:
            return False
        except NotFoundError:
            return True
    return True


def is_damaged(repository: Repository, digest: str) -> bool:
    """Whether something of an artifact is missing or damaged; all its content is read.

    Raises:
        RegistryError: the registry cannot be read.
    """
    return any(_all_damage(repository, digest))


def _all_damage(repository: Repository, digest: str) -> Iterator[str]:
    yield from content_damage(repository, digest)
    yield from content_delivered_otherwise(repository, digest)


def restore_content(repository: Repository, package: PackedArtifact) -> bool:
    """Stores a package's content again where some of it is missing or damaged.

    Returns:
        Whether anything was.

    Raises:
        RegistryRefusedError: the registry keeps what is damaged, as docker-registry does.
        RegistryError: the registry cannot be read or written.
    """
    artifact = package.artifact
    if not is_damaged(repository, artifact.digest):
        return False
    manifest = repository.blob_file(artifact.descriptor)
    if manifest is not None and not _is_whole(repository, artifact.descriptor):
        manifest.unlink(missing_ok=True)
    for content, blob in package.blobs():
        if not (_is_whole(repository, blob) and _is_delivered(repository, blob)):
            repository.replace_blob(content, blob)
    package.push(repository)
    left = "; ".join(_all_damage(repository, artifact.digest))
    if left:
        raise RegistryRefusedError(
            repository.location,
            "the registry to replace damaged content",
            f"the same as before ({left})",
            "ask its operator to delete the files of that blob, then publish again with --skip-existing",
        )
    return True


def set_version_tag(repository: Repository, artifact: Artifact, tag: str) -> None:
    """Points a version's tag to an artifact whose content is there."""
    repository.put_manifest(artifact.content, artifact.descriptor.media_type, tag=tag)


def _is_whole(repository: Repository, descriptor: Descriptor) -> bool:
    """Whether a blob that is kept in a file has the content of its digest; True where there is no file at hand."""
    file = repository.blob_file(descriptor)
    if file is None or not file.is_file():
        return True
    with file.open("rb") as content:
        return f"sha256:{hashlib.file_digest(content, 'sha256').hexdigest()}" == descriptor.digest
