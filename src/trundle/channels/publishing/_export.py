"""Writes a channel as static files, as any web server can serve them."""

from pathlib import Path

from trundle._durable import write_durably
from trundle._locking import locked
from trundle.channels.reading import RepositorySource, is_metadata_name, reading_again

_LAST = ("targets.json", "snapshot.json", "timestamp.json")
_LOCK = ".trundle-export.lock"
_WAIT = 60.0


def export(source: RepositorySource, folder: Path, *, dry_run: bool = False) -> tuple[Path, ...]:
    """Writes the files of a channel into a folder: `latest`, `all`, and the metadata where it is signed.

    Each file appears as a whole. Files are no snapshot together; what is signed comes before what vouches for it, and
    readers read again where files do not belong together. Of several exports at once one writes at a time, and each
    writes the state that the channel has then; so the files of two states do not stay mixed, and no older one comes last.

    Returns:
        The files, in the order in which they were written.

    Raises:
        LockBusyError: other exports were writing there all the time.
        OSError: the folder cannot be written.
        RegistryError: the channel cannot be read.
    """
    if dry_run:
        return tuple(folder / name for name in _contents(source))
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / _LOCK, _WAIT):
        contents = reading_again(source.renewed() or source, _contents)
        for name, content in contents.items():
            write_durably(folder / name, content, mode=0o644)
    return tuple(folder / name for name in contents)


def _contents(source: RepositorySource) -> dict[str, bytes]:
    """The files of a channel in the order in which they are to be written."""
    names = [each for each in source.files if not is_metadata_name(each)]
    names += sorted(each for each in source.files if each.endswith(".root.json"))
    names += [each for each in _LAST if each in source.files]
    return {name: b"".join(source.read(name)) for name in names}
