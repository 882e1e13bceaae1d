"""Small artifacts to put into registries."""

from trundle.registry import (
    EMPTY,
    EMPTY_DESCRIPTOR,
    OCI_INDEX,
    OCI_MANIFEST,
    HttpSettings,
    ImageIndex,
    ImageManifest,
    describe,
    encode,
)

QUICK = HttpSettings(
    retries=3,
    first_pause=0.01,
    longest_pause=2,
    read_timeout=20,
    lease=20,
    poll=0.02,
    chunk=1024 * 1024,
)
"""Settings for a registry on this machine."""

LAYER = "application/octet-stream"


def manifest(*contents: bytes, **further) -> bytes:
    layers = tuple(describe(content, LAYER) for content in contents)
    return encode(
        ImageManifest(
            schema_version=2,
            media_type=OCI_MANIFEST,
            config=EMPTY_DESCRIPTOR,
            layers=layers,
            **further,
        )
    )


def push(repository, *contents: bytes, tag=None, **further):
    """Pushes an artifact with layers; gives the descriptor of its manifest."""
    repository.put_blob(EMPTY, EMPTY_DESCRIPTOR)
    for content in contents:
        repository.put_blob(content, describe(content, LAYER))
    return repository.put_manifest(manifest(*contents, **further), OCI_MANIFEST, tag=tag)


def push_index(repository, *members, tag=None, **further):
    """Pushes an index of manifests that are there."""
    index = ImageIndex(schema_version=2, media_type=OCI_INDEX, manifests=members, **further)
    return repository.put_manifest(encode(index), OCI_INDEX, tag=tag)
