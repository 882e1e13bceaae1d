"""Ledgers whose heads show the payloads of their entries as a list."""

import msgspec

from trundle.registry import (
    EMPTY,
    EMPTY_DESCRIPTOR,
    MARK_ANNOTATION,
    OCI_MANIFEST,
    ImageManifest,
    Ledger,
    describe,
    encode,
)


def shows(repository):
    """Makes heads whose content is the payloads in order."""

    def build(entries, mark):
        content = msgspec.json.encode([each.payload.decode() for each in entries])
        layer = describe(content, "application/json")
        repository.put_blob(EMPTY, EMPTY_DESCRIPTOR)
        repository.put_blob(content, layer)
        manifest = ImageManifest(
            schema_version=2,
            media_type=OCI_MANIFEST,
            config=EMPTY_DESCRIPTOR,
            layers=(layer,),
            annotations={MARK_ANNOTATION: mark},
        )
        return repository.put_manifest(encode(manifest), OCI_MANIFEST).digest

    return build


def shown(repository, head="stable"):
    layer = repository.get_manifest(head).document.layers[0]
    return msgspec.json.decode(repository.read_blob(layer, limit=1 << 20))


def ledger_of(repository, **further):
    return Ledger(repository, "stable", head="stable", **further)
