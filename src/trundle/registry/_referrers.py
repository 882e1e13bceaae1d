"""Lists what refers to a manifest where the registry has no API for that.

The distribution specification 1.1 has a fallback: an index under the tag `sha256-<digest>` lists the manifests whose
subject the digest is, and a client that pushes one adds it to the list.
"""

from trundle.registry._interface import Repository
from trundle.registry._model import OCI_INDEX, Descriptor, ImageIndex, ImageManifest, encode
from trundle.registry.errors import InvalidManifestError, NotFoundError

_WAIT = 60.0


def fallback_tag(digest: str) -> str:
    """The tag of the list for a manifest."""
    return digest.replace(":", "-")


def listed(repository: Repository, digest: str) -> tuple[Descriptor, ...]:
    """What the list says; nothing where there is none.

    Raises:
        InvalidManifestError: the tag leads to something else than a list.
    """
    try:
        stored = repository.get_manifest(fallback_tag(digest))
    except NotFoundError:
        return ()
    if not isinstance(stored.document, ImageIndex):
        raise InvalidManifestError(
            stored.where,
            "an index of referrers",
            "another manifest",
            "remove the tag, and push the referrers again",
        )
    return tuple(sorted(stored.document.children(), key=lambda each: each.digest))


def list_referrer(
    repository: Repository, document: ImageManifest | ImageIndex, descriptor: Descriptor
) -> None:
    """Puts a manifest that was just pushed on the list of its subject, if it has one."""
    if document.subject is None:
        return
    subject = document.subject.digest
    with repository.lease("referrers", wait=_WAIT) as lease:
        present = listed(repository, subject)
        if any(each.digest == descriptor.digest for each in present):
            return
        # What was deleted meanwhile must go: a registry refuses an index with members that it lacks.
        kept = [each for each in present if repository.has_manifest(each.digest)]
        members = sorted((*kept, referrer(document, descriptor)), key=lambda each: each.digest)
        index = ImageIndex(schema_version=2, media_type=OCI_INDEX, manifests=tuple(members))
        lease.check()
        repository.put_manifest(encode(index), OCI_INDEX, tag=fallback_tag(subject))


def referrer(document: ImageManifest | ImageIndex, descriptor: Descriptor) -> Descriptor:
    """A manifest as lists of referrers describe it."""
    kind = document.artifact_type
    if kind is None and isinstance(document, ImageManifest):
        kind = document.config.media_type
    return Descriptor(
        media_type=descriptor.media_type,
        digest=descriptor.digest,
        size=descriptor.size,
        artifact_type=kind,
        annotations=document.annotations,
    )
