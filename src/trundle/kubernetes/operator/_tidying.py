"""Removes from the operator's folder what no installation needs any more; all of it can be fetched again.

What is needed is read off the installations at each look. Since when the rest is not needed is kept in memory alone, so the process after a
killed one begins to count anew.
"""

import contextlib
import datetime as dt
import shutil
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from trundle.errors import TrundleError
from trundle.installation import Installation, exists, needed_content
from trundle.kubernetes.operator._fetching import BackgroundContent

_KEPT = dt.timedelta(minutes=30)
_PAUSE = dt.timedelta(minutes=5)
_WAYS_BACK = 1
_GONE = ".gone"


@dataclass(frozen=True, slots=True)
class TidiedFolder:
    """What tidying has done to the folder of the operator.

    Attributes:
        gone: the namespaces whose folders are gone.
        errors: why other things could not be removed; they are tried again.
    """

    gone: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()


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

    def tidy(self, spaces: Collection[str], within: str, now: dt.datetime) -> TidiedFolder:
        """Removes what was not needed for a while, and the folders of namespaces without installations; nothing where it did so just before.

        Content stays as long as it is unknown what one of the namespaces needs.

        Args:
            spaces: the namespaces that have installations.
            within: the only namespace that is looked at; `*` for all.
            now: the time.
        """
        if self._last is not None and self._last <= now < self._last + _PAUSE:
            return TidiedFolder()
        self._last = now
        self._needed = {space: each for space, each in self._needed.items() if space in spaces}
        gone: list[str] = []
        errors: list[str] = []
        if all(each in self._needed for each in spaces):
            with _noted(errors):
                self._tidy_content(now)
        for each in self._folder.glob(f".*{_GONE}"):
            with _noted(errors):
                shutil.rmtree(each)
        with _noted(errors):
            for each in self._folder.iterdir() if self._folder.is_dir() else ():
                with _noted(errors):
                    if _is_left(each, spaces, within):
                        moved = each.rename(each.with_name(f".{each.name}{_GONE}"))
                        gone.append(each.name)
                        shutil.rmtree(moved)
        return TidiedFolder(tuple(gone), tuple(errors))

    def _tidy_content(self, now: dt.datetime) -> None:
        needed = self._content.asked().union(*self._needed.values())
        here = self._content.artifacts()
        known = {each: min(self._since.get(each, now), now) for each in here}
        self._since = {each: now if each in needed else then for each, then in known.items()}
        staying = [each for each, then in self._since.items() if now - then < _KEPT]
        # What is being fetched has no tag yet; its files are new.
        self._content.tidy(staying, grace=_KEPT.total_seconds(), now=now.timestamp())


def _is_left(folder: Path, spaces: Collection[str], within: str) -> bool:
    """Whether a folder is that of a namespace without installations."""
    if folder.name in spaces or folder.name.startswith(".") or within not in {"*", folder.name}:
        return False
    return folder.is_dir() and not folder.is_symlink() and exists(folder)


@contextlib.contextmanager
def _noted(errors: list[str]) -> Iterator[None]:
    """Notes what goes wrong with one thing, so that the others are done."""
    try:
        yield
    except (TrundleError, OSError) as error:
        errors.append(str(error))
