"""The file that records the stored format of released versions: where it is, and what is in it."""

from pathlib import Path

import msgspec

from trundle.documents import UnreadableError, plain
from trundle.project._recorded_types import RecordedType, parse_format_1, recorded_type
from trundle.project._storage import Recorded
from trundle.project._stored import StoredRelease
from trundle.project.config import Config
from trundle.project.documents import parse_documents, write_values
from trundle.project.errors import FileCode, ProjectError, ProjectFileError

LOCK_NAME = "trundle.lock"
"""How the lock is called; it is beside the project's file and belongs under version control."""

FORMAT = 2
"""The version of the file's format. The first spelled types in words, and is still read."""

_HEAD = """\
# The shape of stored objects, by resource type and storage version. Written by `trundle lock`; keep it
# under version control. `trundle check` compares every change with it.
"""


class LockFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a lock records.

    Attributes:
        format: version of the file's format.
        resources: the releases, by resource type and storage version.
    """

    format: int
    resources: dict[str, dict[str, StoredRelease]]


def lock_path(config: Config) -> Path:
    """Where a project's lock is."""
    return config.path.with_name(LOCK_NAME)


def read_lock(path: Path) -> LockFile:
    """Reads a lock; one that does not exist is empty.

    Raises:
        ProjectError: the file cannot be read.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return LockFile(FORMAT, {})
    except OSError as error:
        found = error.strerror or str(error)
        raise _unusable(path, "a readable file", found) from None
    if not data.strip():
        raise _unusable(path, "a lock", "an empty file")
    try:
        documents = parse_documents(data, f"{path}")
        if len(documents) != 1:
            raise _unusable(path, "one document", str(len(documents)))
        lock = msgspec.convert(plain(documents[0].root), LockFile)
        if lock.format == 1:
            lock = _from_format_1(lock)
        if lock.format == FORMAT:
            _check_types(lock)
    except UnreadableError as error:
        raise ProjectError(str(error)) from None
    except (msgspec.ValidationError, ValueError) as error:
        raise _unusable(path, "a lock", str(error)) from None
    if lock.format != FORMAT:
        expected, found = f"format {FORMAT}", str(lock.format)
        raise _unusable(path, expected, found, "use the Trundle that wrote it")
    return lock


def _unusable(
    path: Path, expected: str, found: str, advice: str = "restore it from version control"
) -> ProjectFileError:
    return ProjectFileError(FileCode.LOCK, path, expected, found, advice)


def _from_format_1(lock: LockFile) -> LockFile:
    """A lock of the first format as one of today's.

    Raises:
        ValueError: a type is spelled as no release has spelled it.
    """

    def read(types: dict[str, RecordedType]) -> dict[str, RecordedType]:
        return {name: parse_format_1(str(text)) for name, text in types.items()}

    def of_release(release: StoredRelease) -> StoredRelease:
        types = {
            name: msgspec.structs.replace(
                each, properties=read(each.properties), bag=read(each.bag)
            )
            for name, each in release.types.items()
        }
        return msgspec.structs.replace(release, types=types)

    return LockFile(
        FORMAT,
        {
            name: {version: of_release(each) for version, each in releases.items()}
            for name, releases in lock.resources.items()
        },
    )


def _check_types(lock: LockFile) -> None:
    """Reads all types once, so that a damaged lock is found here.

    Raises:
        ValueError: one of them is no type.
    """
    for releases in lock.resources.values():
        for release in releases.values():
            for each in release.types.values():
                for each_type in (*each.properties.values(), *each.bag.values()):
                    recorded_type(each_type)


def write_lock_text(lock: LockFile) -> bytes:
    """The content of a lock file: YAML in a fixed order."""
    resources = {
        name: dict(sorted(releases.items())) for name, releases in sorted(lock.resources.items())
    }
    return (
        _HEAD + write_values([msgspec.to_builtins(LockFile(FORMAT, resources))], "yaml")
    ).encode()


def recorded_versions(lock: LockFile) -> Recorded:
    """The storage versions that a lock records of each resource type, as it calls them."""
    return {name: tuple(releases) for name, releases in lock.resources.items()}
