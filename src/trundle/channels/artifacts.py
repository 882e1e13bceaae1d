"""Packages as OCI artifacts: made for publishers, read for installers.

A package is one manifest of the type `PACKAGE_ARTIFACT`. Its configuration is what the package's own manifest says, as
JSON; its only layer is the archive of its files. It says nothing of the channel and the suffix that it is released
with. So the same content has the same digest in every channel, and what was tested as a pre-release is what is released.
"""

import tempfile
from pathlib import Path

import msgspec

from trundle.packages import (
    ARCHIVE_MEDIA_TYPE,
    Manifest,
    manifest_from_json,
    manifest_to_json,
    unpack,
)
from trundle.registry import (
    OCI_MANIFEST,
    Descriptor,
    ImageIndex,
    ImageManifest,
    InvalidManifestError,
    Progress,
    Repository,
    describe,
    encode,
)

PACKAGE_ARTIFACT = "application/vnd.trundle.package.v1"
"""The artifact type of a package."""
PACKAGE_CONFIG = "application/vnd.trundle.package.config.v1+json"
"""The media type of what a package's manifest says, as its configuration blob."""

_TITLE = "org.opencontainers.image.title"
_VERSION = "org.opencontainers.image.version"
_DESCRIPTION = "org.opencontainers.image.description"
_LARGEST_CONFIG = 16 * 1024 * 1024
_FORGED = "do not install it; ask the publisher"


class Artifact(msgspec.Struct, frozen=True):
    """A package as an artifact, without its files.

    Attributes:
        package: what the package says about itself.
        content: the manifest of the artifact.
        descriptor: describes that manifest.
        config: the configuration blob.
        config_descriptor: describes that blob.
        layer: describes the archive with the package's files.
    """

    package: Manifest
    content: bytes
    descriptor: Descriptor
    config: bytes
    config_descriptor: Descriptor
    layer: Descriptor

    @property
    def digest(self) -> str:
        """The digest of the artifact."""
        return self.descriptor.digest

    @property
    def size(self) -> int:
        """How many bytes the artifact has: its manifest, its configuration and its files."""
        return self.descriptor.size + self.config_descriptor.size + self.layer.size

    def parts(self) -> tuple[Descriptor, ...]:
        """All that it consists of."""
        return (self.descriptor, self.config_descriptor, self.layer)


def make_artifact(package: Manifest, archive: Descriptor) -> Artifact:
    """The artifact of a package.

    Args:
        package: what the package says about itself.
        archive: describes the archive with its files.
    """
    config = manifest_to_json(package)
    config_descriptor = describe(config, PACKAGE_CONFIG)
    annotations = {
        _TITLE: package.name,
        _VERSION: str(package.version),
        _DESCRIPTION: package.description,
    }
    content = encode(
        ImageManifest(
            schema_version=2,
            media_type=OCI_MANIFEST,
            artifact_type=PACKAGE_ARTIFACT,
            config=config_descriptor,
            layers=(archive,),
            annotations={key: text for key, text in annotations.items() if text},
        )
    )
    descriptor = describe(content, OCI_MANIFEST)
    return Artifact(package, content, descriptor, config, config_descriptor, archive)


def read_artifact(repository: Repository, reference: str, where: str) -> Artifact:
    """Reads an artifact's manifest and its configuration, each once; its files are not fetched.

    Args:
        repository: the repository that has it.
        reference: its tag or digest.
        where: what messages call it.

    Raises:
        InvalidManifestError: it is no package.
        ManifestError: what the package says about itself cannot be understood.
        RegistryError: it cannot be read.
    """
    stored = repository.get_manifest(reference)
    document = stored.document
    expected = f"one archive of a package, {PACKAGE_ARTIFACT}"
    if not isinstance(document, ImageManifest) or not is_package(document):
        found = f"an artifact of the type {document.artifact_type or 'none'}"
        raise InvalidManifestError(where, expected, found, _FORGED)
    if [each.media_type for each in document.layers] != [ARCHIVE_MEDIA_TYPE]:
        kinds = ", ".join(each.media_type for each in document.layers) or "nothing"
        raise InvalidManifestError(where, expected, kinds, _FORGED)
    config = repository.read_blob(document.config, limit=_LARGEST_CONFIG)
    package = manifest_from_json(config, f"{where}: manifest")
    return Artifact(
        package, stored.content, stored.descriptor, config, document.config, document.layers[0]
    )


def unpack_artifact(
    repository: Repository, artifact: Artifact, folder: Path, *, progress: Progress | None = None
) -> None:
    """Fetches the files of an artifact, and unpacks them into a folder that does not exist yet.

    Args:
        repository: the repository that has it.
        artifact: the artifact, as it was read there.
        folder: where the files go.
        progress: called with the number of bytes after each piece.

    Raises:
        UnpackError: the archive is broken, or holds what no package holds.
        RegistryError: it cannot be fetched, or has other content than its digest says.
        OSError: the folder cannot be written.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".archive.") as name:
        archive = Path(name, "content.tar")
        repository.fetch_blob(artifact.layer, archive, progress=progress)
        with archive.open("rb") as file:
            unpack(file, folder)


def is_package(document: ImageManifest | ImageIndex) -> bool:
    """Whether the manifest of an artifact says that it is a package."""
    return document.artifact_type == PACKAGE_ARTIFACT
