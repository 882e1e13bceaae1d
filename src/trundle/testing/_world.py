"""The world of tests: what packages deploy in a test goes into a folder that is gone after it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trundle.providers import FolderProvider


class TestWorld:
    """A folder for the documents and files of one test after the other.

    There is nothing for processes: a test replaces them with `inject`.

    Args:
        folder: where it may be; it belongs to nothing else.
    """

    __test__ = False  # It is none of pytest's.

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.providers = {"folder": FolderProvider(folder)}

    @contextmanager
    def fresh(self) -> Iterator[None]:
        """An empty world, for one test."""
        try:
            yield
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)
