"""Lets another act at each moment at which it could, while a call works that holds no lock then.

`each_moment` repeats a call, and lets the other act at another of its moments each time. So every way in which
one act of the other can fall between two steps of the call is tried once, always in the same order.
"""

import contextlib
import itertools
import shutil
import threading

import pytest

from trundle.database import Database
from trundle.installation import Installation
from trundle.registry import DirectoryRepository

READS = ("get_manifest", "has_manifest", "resolve", "tags", "read_blob", "has_blob", "fetch_blob")


class Moments:
    """Counts the moments at which another may act.

    Attributes:
        number: how many there were.
        callback: called with their number at each; what it does itself is not counted.
    """

    def __init__(self, patch):
        self.number = 0
        self.callback = lambda number: None
        self._patch = patch
        self._held = 0
        self._thread = threading.get_ident()

    def before(self, owner, *names):
        """Counts a moment before each call of some methods."""
        for name in names:
            self._patch.setattr(owner, name, self._counted(getattr(owner, name)))

    def around(self, owner, *names):
        """Counts a moment before and after what some methods hold, and none within."""
        for name in names:
            self._patch.setattr(owner, name, self._holding(getattr(owner, name)))

    def here(self):
        """A moment; what other threads do is none."""
        if not self._held and threading.get_ident() == self._thread:
            self.number += 1
            with self._uncounted():
                self.callback(self.number)

    def _counted(self, method):
        def call(*arguments, **further):
            self.here()
            return method(*arguments, **further)

        return call

    def _holding(self, method):
        @contextlib.contextmanager
        def held(*arguments, **further):
            self.here()
            with method(*arguments, **further) as result, self._uncounted():
                yield result
            self.here()

        return held

    @contextlib.contextmanager
    def _uncounted(self):
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1


def moments_of_repositories(patch):
    """The reads of repositories in folders while no lock is held."""
    moments = Moments(patch)
    moments.before(DirectoryRepository, *READS)
    moments.around(DirectoryRepository, "_locked")
    return moments


def moments_of_installations(patch):
    """The transactions of installations, the reads of repositories, and the times between locks."""
    moments = moments_of_repositories(patch)
    moments.before(Database, "reading")
    moments.around(Database, "writing")
    moments.around(Installation, "_locked")
    return moments


def each_moment(folder, moments_of, call, act, check, *, least=1):
    """Repeats a call until the other has acted at each of its moments, and once not at all.

    Args:
        folder: what both work on; it is as before for each call.
        moments_of: counts the moments.
        call: the call.
        act: the act of the other.
        check: called with what the call returned, and whether the other acted.
        least: how many moments there are at least.
    """
    saved = folder.with_name(f"{folder.name}.saved")
    folder.rename(saved)
    for step in itertools.count(1):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(saved, folder, symlinks=True)
        with pytest.MonkeyPatch.context() as patch:
            moments = moments_of(patch)

            def other(number, step=step):
                if number == step:
                    act()

            moments.callback = other
            result = call()
        acted = moments.number >= step
        check(result, acted)
        if not acted:
            assert step > least
            return
