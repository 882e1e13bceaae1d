"""Imports what earlier releases kept in files: what was seen of signed channels, one file for each."""

from pathlib import Path

import msgspec

from trundle._durable import sync_folder
from trundle.installation._errors import StateError
from trundle.installation._state import Memory


def import_trust(folder: Path, state: Memory) -> None:
    """Imports the files of a folder, and removes them once the database has them durably.

    Into a copy they are imported too, and stay where they are.

    Args:
        folder: the folder; nothing happens where there is none.
        state: what the installation remembers. What it has of a channel already is newer, and stays.

    Raises:
        StateError: a file is damaged, or the folder cannot be read; nothing was imported.
        DatabaseError: the database cannot be written; the same.
    """
    try:
        files = sorted(folder.glob("*.json"))
        if not files:
            return
        contents = {path.stem: path.read_bytes() for path in files}
    except FileNotFoundError:  # Another process has imported them meanwhile.
        return
    except OSError as error:
        found = error.strerror or str(error)
        raise StateError(str(folder), "files that can be read", found, "give the rights") from error
    for path in files:
        _check(path, contents[path.stem])
    with state.changing():
        known = set(state.trusted())
        for key, content in contents.items():
            if key not in known:
                state.put_trust(key, content)
    if not state.is_copy:
        for path in (*files, *folder.glob("*.json.lock")):
            path.unlink(missing_ok=True)
        sync_folder(folder)


def _check(path: Path, content: bytes) -> None:
    try:
        root = msgspec.json.decode(content, type=dict[str, object]).get("root")
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        root, found = None, str(error)
    else:
        found = "no root"
    if not root:
        advice = "restore the file, or remove it and install the package again with --root"
        raise StateError(str(path), "what was seen of a channel", found, advice)
