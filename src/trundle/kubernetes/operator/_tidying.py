"""Removes from the operator's folder what no installation needs any more; all of it can be fetched again.

What is needed is read off the installations at each look. Since when the rest is not needed is kept in memory alone, so the process after a
killed one begins to count anew.
"""

import datetime as dt
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path

from trundle.installation import Installation, exists, needed_content
from trundle.kubernetes.operator._fetching import BackgroundContent

_KEPT = dt.timedelta(minutes=30)
_PAUSE = dt.timedelta(minutes=5)
_WAYS_BACK = 1
_GONE = ".gone"


class Tidying:
    """What the folder of the operator keeps, and for how long.

    Args:
        folder: the folder, with one for each namespace.
        content: the content of packages.
    """

    def __init__(self, folder: Path, content: BackgroundContent) -> None:
        self._folder = folder
        self._content = content
        self._needed: dict[str, set[str]] = {}
        self._since: dict[str, dt.datetime] = {}
        self._last: dt.datetime | None = None

    def note(self, space: str, installation: Installation) -> None:
        """Notes what is needed in a namespace: what is installed, and what can be rolled back to.

        Args:
            space: the namespace.
            installation: what is installed there.
        """
        self._needed[space] = needed_content(installation, _WAYS_BACK)

    def tidy(self, spaces: Collection[str], within: str, now: dt.datetime) -> list[str]:
        """Removes what was not needed for a while, and the folders of namespaces without installations; nothing where it did so just before.

        Args:
            spaces: the namespaces that have installations.
            within: the only namespace that is looked at; `*` for all.
            now: the time.

        Returns:
            The namespaces whose folders are gone.

        Raises:
            StorageError: the content cannot be read or written.
            InvalidManifestError: content that is needed is damaged.
            OSError: a folder cannot be removed.
        """
        if self._last is not None and self._last <= now < self._last + _PAUSE:
            return []
        self._last = now
        self._needed = {space: each for space, each in self._needed.items() if space in spaces}
        self._tidy_content(now)
        return list(self._left(spaces, within))

    def _tidy_content(self, now: dt.datetime) -> None:
        needed = self._content.asked().union(*self._needed.values())
        here = self._content.artifacts()
        known = {each: min(self._since.get(each, now), now) for each in here}
        self._since = {each: now if each in needed else then for each, then in known.items()}
        staying = [each for each, then in self._since.items() if now - then < _KEPT]
        # What is being fetched has no tag yet; its files are new.
        self._content.tidy(staying, grace=_KEPT.total_seconds(), now=now.timestamp())

    def _left(self, spaces: Collection[str], within: str) -> Iterator[str]:
        """Removes the folders of namespaces without installations; one of them disappears with one rename."""
        if not self._folder.is_dir():
            return
        for each in self._folder.glob(f".*{_GONE}"):
            shutil.rmtree(each)
        for each in self._folder.iterdir():
            if each.name in spaces or each.name.startswith(".") or within not in {"*", each.name}:
                continue
            if each.is_dir() and not each.is_symlink() and exists(each):
                gone = each.with_name(f".{each.name}{_GONE}")
                each.rename(gone)
                yield each.name
                shutil.rmtree(gone)
