"""Packages as OCI artifacts, against the bytes that are written down here."""

import hashlib
import json

import pytest

from trundle.channels.artifacts import make_artifact, read_artifact
from trundle.packages import Manifest
from trundle.registry import InvalidManifestError, describe
from trundle.version import SemVer

ARCHIVE = b"an archive"
LAYER = describe(ARCHIVE, "application/vnd.oci.image.layer.v1.tar")
PACKAGE = Manifest(name="acme/db", version=SemVer(1, 2, 3), description="A database")


def digest(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


def pushed(repository, artifact):
    repository.put_blob(artifact.config, artifact.config_descriptor)
    repository.put_blob(ARCHIVE, LAYER)
    repository.put_manifest(artifact.content, artifact.descriptor.media_type, tag="1.2.3")


def test_an_artifact_is_one_manifest_with_a_configuration_and_an_archive():
    artifact = make_artifact(PACKAGE, LAYER)
    assert json.loads(artifact.content) == {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "artifactType": "application/vnd.trundle.package.v1",
        "config": {
            "mediaType": "application/vnd.trundle.package.config.v1+json",
            "digest": digest(artifact.config),
            "size": len(artifact.config),
        },
        "layers": [
            {
                "mediaType": "application/vnd.oci.image.layer.v1.tar",
                "digest": digest(ARCHIVE),
                "size": len(ARCHIVE),
            }
        ],
        "annotations": {
            "org.opencontainers.image.title": "acme/db",
            "org.opencontainers.image.version": "1.2.3",
            "org.opencontainers.image.description": "A database",
        },
    }
    assert artifact.digest == digest(artifact.content)
    assert artifact.size == len(artifact.content) + len(artifact.config) + len(ARCHIVE)


def test_what_was_made_is_read_back(layout):
    artifact = make_artifact(PACKAGE, LAYER)
    pushed(layout, artifact)
    for reference in ("1.2.3", artifact.digest):
        assert read_artifact(layout, reference, "it") == artifact


@pytest.mark.parametrize(
    ("key", "value", "found"),
    [
        ("artifactType", "application/vnd.example", "an artifact of the type application/vnd.ex"),
        ("layers", [], "found nothing"),
        ("layers", [{"mediaType": "text/plain"}], "found text/plain"),
    ],
    ids=["another-artifact", "no-files", "other-files"],
)
def test_what_is_no_package_is_refused(layout, key, value, found):
    artifact = make_artifact(PACKAGE, LAYER)
    pushed(layout, artifact)
    document = json.loads(artifact.content)
    if key == "layers":
        value = [{**document["layers"][0], **each} for each in value]
    content = json.dumps({**document, key: value}).encode()
    layout.put_manifest(content, artifact.descriptor.media_type, tag="other")
    with pytest.raises(InvalidManifestError, match=found):
        read_artifact(layout, "other", "it")
