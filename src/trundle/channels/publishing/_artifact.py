"""A package folder as an artifact: packed to a temporary file, and pushed so that it is not visible before it is whole."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from trundle.packages import ARCHIVE_MEDIA_TYPE, Limits, Manifest, manifest_to_json, pack
from trundle.registry import (
    OCI_MANIFEST,
    PACKAGE_CONFIG,
    Descriptor,
    Progress,
    Repository,
    describe,
    encode,
    package_manifest,
    parse_manifest,
)
from trundle.registry import Manifest as ArtifactManifest

_TITLE = "org.opencontainers.image.title"
_VERSION = "org.opencontainers.image.version"
_DESCRIPTION = "org.opencontainers.image.description"


class Artifact(msgspec.Struct, frozen=True):
    """A package that is ready to be pushed.

    It says nothing of the channel and the suffix that it is released with. So the same content has the same digest in
    every channel, and what was tested as a pre-release is what is released.

    Attributes:
        package: what the package says about itself.
        archive: the file with its files.
        layer: describes that file.
        config: the configuration blob.
        content: the manifest of the artifact.
        files: how many files are packed.
    """

    package: Manifest
    archive: Path
    layer: Descriptor
    config: bytes
    content: bytes
    files: int

    @property
    def document(self) -> ArtifactManifest:
        """The manifest of the artifact, parsed."""
        document = parse_manifest(self.content, OCI_MANIFEST, self.package.name)
        assert isinstance(document, ArtifactManifest)
        return document

    @property
    def descriptor(self) -> Descriptor:
        """Describes the manifest of the artifact."""
        return describe(self.content, OCI_MANIFEST)

    @property
    def size(self) -> int:
        """How many bytes the artifact has: its manifest, its configuration and its files."""
        return len(self.content) + len(self.config) + self.layer.size

    def push(self, repository: Repository, progress: Progress | None = None) -> None:
        """Pushes everything but a tag; it is not visible yet.

        Raises:
            RegistryError: as the registry raises it.
        """
        repository.put_blob(self.config, describe(self.config, PACKAGE_CONFIG))
        repository.put_blob(self.archive, self.layer, progress=progress)
        repository.put_manifest(self.content, OCI_MANIFEST)


@contextlib.contextmanager
def packed(folder: Path, limits: Limits | None = None) -> Iterator[Artifact]:
    """Packs a package folder into a temporary file, which is gone afterwards.

    Raises:
        PackageError: the folder cannot be packed; as `pack` has it.
        OSError: the temporary file cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix="trundle-publish-") as name:
        archive = Path(name) / "content.tar"
        with archive.open("wb") as target:
            done = pack(folder, target, limits)
        package = done.manifest
        layer = Descriptor(media_type=ARCHIVE_MEDIA_TYPE, digest=done.digest, size=done.size)
        config = manifest_to_json(package)
        annotations = {
            _TITLE: package.name,
            _VERSION: str(package.version),
            _DESCRIPTION: package.description,
        }
        document = package_manifest(
            describe(config, PACKAGE_CONFIG),
            (layer,),
            {key: text for key, text in annotations.items() if text},
        )
        yield Artifact(package, archive, layer, config, encode(document), len(done.files))
