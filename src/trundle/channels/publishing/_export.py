"""Writes a channel as static files, as any web server can serve them."""

from pathlib import Path

from trundle._durable import write_durably
from trundle.channels.reading import RepositorySource, is_metadata_name

_LAST = ("targets.json", "snapshot.json", "timestamp.json")


def export(source: RepositorySource, folder: Path, *, dry_run: bool = False) -> tuple[Path, ...]:
    """Writes the files of a channel into a folder: `latest`, `all`, and the metadata where it is signed.

    Each file appears as a whole. Files are no snapshot together; what is signed comes before what vouches for it, and
    readers read again where files do not belong together.

    Returns:
        The files, in the order in which they were written.

    Raises:
        OSError: the folder cannot be written.
        RegistryError: the channel cannot be read.
    """
    names = [each for each in source.files if not is_metadata_name(each)]
    names += sorted(each for each in source.files if each.endswith(".root.json"))
    names += [each for each in _LAST if each in source.files]
    contents = {name: b"".join(source.read(name)) for name in names}
    paths = tuple(folder / name for name in contents)
    if dry_run:
        return paths
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        write_durably(folder / name, content, mode=0o644)
    return paths
