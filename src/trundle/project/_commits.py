"""What commits say about a release, as the `git` command shows them."""

import re
import subprocess
from pathlib import Path

import msgspec

from trundle.packages import Level

_MARK = re.compile(r"\[changes (major version|minor version|revision)\]", re.IGNORECASE)
_LEVELS = {
    "major version": Level.MAJOR,
    "minor version": Level.MINOR,
    "revision": Level.PATCH,
}
_SHORT = 10


class Commit(msgspec.Struct, frozen=True):
    """A commit.

    Attributes:
        id: the first digits of its name.
        subject: the first line of its message, without marks.
        level: how far its marks say that it goes; None where it has none.
    """

    id: str
    subject: str
    level: Level | None


class History(msgspec.Struct, frozen=True):
    """The commits since a release.

    Attributes:
        commits: the oldest first; none where there is no repository.
        notes: what should be known of them.
    """

    commits: tuple[Commit, ...] = ()
    notes: tuple[str, ...] = ()


def commits_since(folder: Path, release: Path | None) -> History:
    """The commits that changed a folder after a release was committed; all where there is no release.

    Args:
        folder: the folder.
        release: the folder of the release.
    """
    if _git(folder, "rev-parse", "--is-inside-work-tree") is None:
        return History(notes=("no commits are read: there is no git repository, or no git",))
    notes = []
    if _git(folder, "status", "--porcelain", "--", "."):
        notes.append(f"{folder.name} has changes that are not committed")
    since: tuple[str, ...] = ()
    if release is not None:
        added = _git(release, "log", "--diff-filter=A", "--format=%H", "--", ".")
        if not added:
            notes.append(f"{release.name} is not committed, so no commits are read since")
            return History(notes=tuple(notes))
        since = (f"{added.split()[-1]}..HEAD",)  # The commit that the release came with
    shown = _git(folder, "log", "-z", "--reverse", "--format=%H%n%B", *since, "--", ".") or ""
    return History(tuple(map(_commit, filter(None, shown.split("\0")))), tuple(notes))


def _commit(text: str) -> Commit:
    name, _, message = text.partition("\n")
    levels = [_LEVELS[each.lower()] for each in _MARK.findall(message)]
    first = message.strip().partition("\n")[0]
    subject = " ".join(_MARK.sub("", first).split())
    return Commit(name[:_SHORT], subject, max(levels, default=None))


def _git(folder: Path, *arguments: str) -> str | None:
    """What git prints; None where it fails, or is not installed."""
    command = ("git", "--no-pager", "-C", str(folder), *arguments)
    try:
        done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603
    except OSError:
        return None
    return done.stdout.decode(errors="replace") if done.returncode == 0 else None
