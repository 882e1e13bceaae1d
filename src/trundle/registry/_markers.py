"""Tags that say something by being there: each has a manifest of its own."""

from collections.abc import Mapping

from trundle.registry._interface import Repository
from trundle.registry._model import (
    EMPTY,
    EMPTY_DESCRIPTOR,
    OCI_MANIFEST,
    Descriptor,
    ImageManifest,
    encode,
)

TAG_ANNOTATION = "dev.trundle.tag"
"""Distinguishes the manifests of such tags, so that deleting one by its digest takes no other tag along."""
SIGN_ANNOTATION = "dev.trundle.sign"
"""Distinguishes the manifests that one such tag is set to."""
REMOVED_ARTIFACT = "application/vnd.trundle.removed.v1"
"""The artifact type of a tag that is about to be removed."""


def put_marker(
    repository: Repository,
    tag: str,
    artifact_type: str,
    layers: tuple[Descriptor, ...] = (EMPTY_DESCRIPTOR,),
    *,
    facts: Mapping[str, str] | None = None,
) -> None:
    """Sets a tag to a manifest that only this tag has.

    Args:
        repository: where.
        tag: the tag; it must never have been used before.
        artifact_type: what it is for.
        layers: blobs that are there, in place of an empty one.
        facts: further annotations.
    """
    prepare_markers(repository)
    _put(repository, tag, artifact_type, layers, facts or {})


def prepare_markers(repository: Repository) -> None:
    """Stores what all such manifests consist of, unless it is there."""
    repository.put_blob(EMPTY, EMPTY_DESCRIPTOR)


def set_marker(repository: Repository, tag: str, artifact_type: str, sign: str) -> None:
    """Sets a tag, perhaps anew, with one request; the repository is prepared for it.

    Args:
        repository: where.
        tag: the tag; it must never have been used before, unless with another sign.
        artifact_type: what it is for.
        sign: makes the manifest another one than those that the tag was set to before; empty at first.
    """
    facts = {SIGN_ANNOTATION: sign} if sign else {}
    _put(repository, tag, artifact_type, (EMPTY_DESCRIPTOR,), facts)


def _put(
    repository: Repository,
    tag: str,
    artifact_type: str,
    layers: tuple[Descriptor, ...],
    facts: Mapping[str, str],
) -> None:
    manifest = ImageManifest(
        schema_version=2,
        media_type=OCI_MANIFEST,
        artifact_type=artifact_type,
        config=EMPTY_DESCRIPTOR,
        layers=layers,
        annotations={TAG_ANNOTATION: tag, **facts},
    )
    repository.put_manifest(encode(manifest), OCI_MANIFEST, tag=tag)
