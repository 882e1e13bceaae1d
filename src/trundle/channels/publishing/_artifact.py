"""A package folder as an artifact: packed to a temporary file, and pushed so that it is not visible before it is whole."""

import contextlib
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from trundle.channels.artifacts import Artifact, make_artifact
from trundle.packages import ARCHIVE_MEDIA_TYPE, ArchiveLimits, pack
from trundle.registry import Descriptor, Progress, Repository


class PackedArtifact(msgspec.Struct, frozen=True):
    """A package that is ready to be pushed.

    Attributes:
        artifact: the package as an artifact.
        archive: the file with its files.
        files: how many files are packed.
        notes: what the publisher should know of its manifest.
    """

    artifact: Artifact
    archive: Path
    files: int
    notes: tuple[str, ...] = ()

    def push(self, repository: Repository, progress: Progress | None = None) -> None:
        """Pushes everything but a tag; it is not visible yet.

        Raises:
            RegistryError: as the registry raises it.
        """
        artifact = self.artifact
        repository.put_blob(artifact.config, artifact.config_descriptor)
        repository.put_blob(self.archive, artifact.layer, progress=progress)
        repository.put_manifest(artifact.content, artifact.descriptor.media_type)

    def blobs(self) -> tuple[tuple[bytes | Path, Descriptor], ...]:
        """What its manifest names, each with its content."""
        artifact = self.artifact
        return (artifact.config, artifact.config_descriptor), (self.archive, artifact.layer)


@contextlib.contextmanager
def packed(
    folder: Path,
    limits: ArchiveLimits | None = None,
    *,
    resources: Mapping[str, Iterable[str]] | None = None,
    storage: Mapping[str, Iterable[str]] | None = None,
) -> Iterator[PackedArtifact]:
    """Packs a package folder into a temporary file, which is gone afterwards.

    Args:
        folder: the folder of the package.
        limits: how large the package may be; the default limits where None.
        resources: the API versions that its projects bring, by resource type; nothing where it carries no project.
        storage: the storage versions that these can read, by resource type.

    Raises:
        PackageError: the folder cannot be packed; as `pack` has it.
        OSError: the temporary file cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix="trundle-publish-") as name:
        archive = Path(name) / "content.tar"
        with archive.open("wb") as target:
            done = pack(folder, target, limits)
        layer = Descriptor(media_type=ARCHIVE_MEDIA_TYPE, digest=done.digest, size=done.size)
        notes = tuple(each.coded for each in done.notes)
        manifest = done.manifest.bringing(resources, storage or {}) if resources else done.manifest
        artifact = make_artifact(manifest, layer)
        yield PackedArtifact(artifact, archive, len(done.files), notes)
