"""The siblings of a generated folder that exist while it is written, and how an interrupted write is completed or undone."""

import shutil
from collections.abc import Callable
from pathlib import Path

from trundle._durable import sync_folder

MANIFEST = ".trundle-generated.json"
"""The file in a generated folder that lists what Trundle wrote there."""


class Places:
    """The generated folder and the siblings that exist only while it is written."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.staged = root.with_name(f".{root.name}.trundle-new")
        self.backup = root.with_name(f".{root.name}.trundle-old")
        self.trash = root.with_name(f".{root.name}.trundle-trash")
        self.lock = root.with_name(f".{root.name}.trundle-lock")

    def left_over(self) -> bool:
        """Whether an interrupted write left something to recover."""
        return any(each.exists() for each in (self.staged, self.backup, self.trash, self.lock))

    def recover(self) -> None:
        """Completes or undoes a write that was interrupted anywhere."""
        _remove(self.trash)
        if self.backup.exists():
            if (self.root / MANIFEST).exists():
                self.backup.rename(self.trash)
                _remove(self.trash)
            elif not self.root.exists() or not any(self.root.iterdir()):
                self.backup.rename(self.root)
        _remove(self.staged)

    def swap(self, checkpoint: Callable[[str], None]) -> None:
        """Puts the staged tree in the place of the generated folder."""
        checkpoint("set aside")
        if self.root.exists():
            self.root.rename(self.backup)
        checkpoint("put in place")
        self.staged.rename(self.root)
        checkpoint("clean up")
        sync_folder(self.root.parent)


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
