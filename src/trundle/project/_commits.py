"""What commits say about a release, as the `git` command shows them."""

import re
import subprocess
from pathlib import Path

import msgspec

from trundle.packages import APP_FILE, MANIFEST_FILE, Level

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


def commits_since(folder: Path, release: Path | None, step: Level = Level.MAJOR) -> History:
    """The commits that changed a folder after a release was committed; all where there is no release.

    A merge counts for its marks alone. The commit that the release came with counts if it left the folder with something else than it put into the
    release, or if its mark says more than the release does.

    Args:
        folder: the folder.
        release: the folder of the release.
        step: how far the version of the release is from the one before it.
    """
    if _git(folder, "rev-parse", "--is-inside-work-tree") is None:
        return History(notes=("no commits are read: there is no git repository, or no git",))
    notes = []
    if _git(folder, "status", "--porcelain", "--", "."):
        notes.append(f"{folder.name} has changes that are not committed")
    if (_git(folder, "rev-parse", "--is-shallow-repository") or "").strip() == "true":
        notes.append("the clone is shallow, so commits may be missing; run `git fetch --unshallow`")
    if release is None:
        return History(_logged(folder), tuple(notes))
    added = _git(release, "log", "--diff-filter=A", "--format=%H", "--", ".")
    if not added:
        notes.append(f"{release.name} is not committed, so no commits are read since")
        return History(notes=tuple(notes))
    name = added.split()[-1]
    came = [
        each
        for each in _logged(folder, "-1", name)
        if name.startswith(each.id)
        and ((each.level or Level.PATCH) > step or _went_on(folder, release, name))
    ]
    return History((*came, *_logged(folder, f"{name}..HEAD")), tuple(notes))


def _logged(folder: Path, *which: str) -> tuple[Commit, ...]:
    """The commits that changed a folder, the oldest first; of merges those that have marks."""
    options = ("-z", "--reverse", "--full-history", "--format=%H %P%n%B")
    shown = _git(folder, "log", *options, *which, "--", ".") or ""
    found = []
    for text in filter(None, shown.split("\0")):
        names, _, message = text.partition("\n")
        name, *parents = names.split()
        commit = _commit(name, message)
        if len(parents) <= 1 or commit.level is not None:
            found.append(commit)
    return tuple(found)


def _went_on(folder: Path, release: Path, commit: str) -> bool:
    """Whether a commit changed files of a folder otherwise than it brought them with a release."""
    changed = _git(
        folder, "show", "-z", "--format=", "--name-only", "--relative", commit, "--", "."
    )
    here, there = _blobs(folder, commit), _blobs(release, commit)
    return any(
        here.get(name) != there.get(name)
        for name in filter(None, (changed or "").strip("\n").split("\0"))
        if name not in (APP_FILE, MANIFEST_FILE)
    )


def _blobs(folder: Path, commit: str) -> dict[str, str]:
    """What a folder has in a commit: the name of its content by the path of each file."""
    lines = filter(None, (_git(folder, "ls-tree", "-r", "-z", commit) or "").split("\0"))
    parts = (each.partition("\t") for each in lines)
    return {path: what.split()[-1] for what, _, path in parts}


def _commit(name: str, message: str) -> Commit:
    levels = [_LEVELS[each.lower()] for each in _MARK.findall(message)]
    first = message.strip().partition("\n")[0]
    subject = " ".join(_MARK.sub("", first).split())
    return Commit(name[:_SHORT], subject, max(levels, default=None))


def _git(folder: Path, *arguments: str) -> str | None:
    """What git prints; None where it fails, or is not installed."""
    command = ("git", "--no-pager", "-c", "log.showSignature=false", "-C", str(folder), *arguments)
    try:
        done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603
    except OSError:
        return None
    return done.stdout.decode(errors="replace") if done.returncode == 0 else None
