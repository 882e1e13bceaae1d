"""Makes the next release of a package out of its folder `dev`: its version, its requirements, its folder.

The version follows from what changed since the release before: from what `compare_packages` finds, and from the marks in the
messages of commits.
"""

import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from trundle.errors import Finding, Place, errors_among
from trundle.packages import (
    Bump,
    ChangeCode,
    Level,
    Manifest,
    ReleaseChange,
    ReleaseTree,
    Requirement,
    bump_of,
    manifest_keys,
    next_version,
    package_files,
    read_manifest,
    release_tree,
)
from trundle.project._commits import Commit, History, commits_since
from trundle.project._each_part import Progress, ignore
from trundle.project._release_codes import ReleaseCode
from trundle.project.documents import read_documents, write_documents
from trundle.project.findings import FindingsError
from trundle.project.releasing import bump_to_plain, compare_packages, review
from trundle.version import SemVer, VersionRange

CHANGES = "CHANGES"
"""The file in the folder of a release that lists what changed in it, and in those before."""

_NOTHING = SemVer(0, 0, 0)


class NextRelease(msgspec.Struct, frozen=True):
    """A release that is to be made.

    Attributes:
        package: the name of the package.
        version: its version.
        folder: the folder that is written.
        source: the folder that it is made from.
        bump: what changed since the release that it follows; that of a first release is 0.0.0.
        requirements: its requirements, with precise ranges.
        commits: the commits since the release that it follows, oldest first.
        written: what is not copied from the source: its manifest and `CHANGES`.
        notes: what should be known.
    """

    package: str
    version: SemVer
    folder: Path
    source: Path
    bump: Bump
    requirements: tuple[Requirement, ...]
    commits: tuple[Commit, ...]
    written: Mapping[str, bytes]
    notes: tuple[str, ...] = ()

    def to_plain(self) -> dict[str, Any]:
        """The release as plain values, for programs."""
        return {
            "package": self.package,
            "version": str(self.version),
            "folder": str(self.folder),
            "requirements": {each.name: str(each.range) for each in self.requirements},
            "commits": [{"id": each.id, "subject": each.subject} for each in self.commits],
            "notes": list(self.notes),
            **bump_to_plain(self.bump),
        }


class Wanted(msgspec.Struct, frozen=True):
    """What the author of a release says about it.

    Attributes:
        line: the line that it belongs to, such as `1.2`; None for the newest.
        version: its version; None for the lowest that the changes admit.
        source: the folder that it is made from; None for `dev`.
    """

    line: VersionRange | None = None
    version: SemVer | None = None
    source: Path | None = None


def plan_release(
    tree: ReleaseTree,
    wanted: Wanted,
    *,
    jobs: int | None = None,
    progress: Progress = ignore,
) -> NextRelease:
    """The next release of a package; nothing is written.

    Args:
        tree: the folders of the package.
        wanted: what its author says about it.
        jobs: how many processes to use; None for one to each processor, where that is worth it.
        progress: called for each step.

    Raises:
        FindingsError: the source is not in order, or the version that is asked for is too low or not in the line.
        PackageError: a manifest cannot be used.
        ProjectError: a project cannot be read. So for SchemaError.
    """
    source = wanted.source or tree.development
    base = tree.newest(wanted.line)
    if base is None and wanted.line is not None:
        known = ", ".join(map(str, tree.releases)) or "none"
        expected, advice = f"a release of {wanted.line}", "name the line of one of them"
        if not tree.releases:
            advice = "leave the line out"
        raise FindingsError([_finding(str(tree.folder), expected, known, advice)])
    before = None if base is None else tree.releases[base]
    manifest = read_manifest(source)
    left = _left(tree, wanted.line)
    folder = None if left is None else tree.releases[left]
    history = commits_since(source, folder, _step_to(tree, left))
    bump = _bump(base, before, source, history)
    version = wanted.version or bump.required
    requirements, open_ = _precise(manifest, tree)
    checked = errors_among(review(source, jobs=jobs, progress=progress).findings)
    against = [*checked, *open_, *_objections(tree, wanted, bump, version)]
    if against:
        raise FindingsError(against)
    written = {CHANGES: _changes_text(version, bump, history, before)}
    name, content = _manifest(source, manifest, version, requirements, history)
    return NextRelease(
        package=manifest.name,
        version=version,
        folder=tree.folder / str(version),
        source=source,
        bump=bump,
        requirements=requirements,
        commits=history.commits,
        written={**written, name: content},
        notes=history.notes,
    )


def write_release(release: NextRelease) -> None:
    """Writes the folder of a release: all of it, or nothing.

    Raises:
        OSError: it cannot be written.
    """
    parent = release.folder.parent
    with tempfile.TemporaryDirectory(dir=parent, prefix=f".{release.version}.") as name:
        staged = Path(name) / "release"
        for each in package_files(release.source).files:
            target = staged / each.name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(each.path, target)
        for path, content in release.written.items():
            (staged / path).write_bytes(content)
        staged.rename(release.folder)


def _left(tree: ReleaseTree, line: VersionRange | None) -> SemVer | None:
    """The release since which commits count.

    `dev` went on from the newest release. Where an earlier line goes on, `dev` also has what came after that line
    began, whatever was corrected in the line since.
    """
    if not tree.releases:
        return None
    if line is None or tree.newest(line) == tree.newest():
        return max(tree.releases)
    return min(each for each in tree.releases if line.contains(each))


def _step_to(tree: ReleaseTree, version: SemVer | None) -> Level:
    """How far a release is from the one before it; a first release is as far as can be."""
    before = max((each for each in tree.releases if version and each < version), default=None)
    if before is None or version is None:
        return Level.MAJOR
    return max(
        each for each in Level if each is Level.PATCH or next_version(before, each) <= version
    )


def _finding(where: str, expected: str, found: str, advice: str) -> Finding:
    return Finding(ReleaseCode.VERSION, Place(object=where), expected, found, advice)


def _bump(base: SemVer | None, before: Path | None, source: Path, history: History) -> Bump:
    marked = [
        ReleaseChange(each.id, ChangeCode.MARKED, each.subject, each.level)
        for each in history.commits
        if each.level is not None
    ]
    if base is None or before is None:
        first = ReleaseChange(source.name, ChangeCode.FIRST, "the first release", Level.MINOR)
        return bump_of(_NOTHING, [first, *marked])
    bump = compare_packages(before, source, base)
    other = ReleaseChange(source.name, ChangeCode.CONTENT, "other content", Level.PATCH)
    return bump_of(base, [*bump.changes, *marked] or [other])


def _objections(
    tree: ReleaseTree, wanted: Wanted, bump: Bump, version: SemVer
) -> Iterator[Finding]:
    """What is against a version."""
    where = f"version {version}"
    if version < bump.required:
        yield from bump.findings(version)
    if wanted.line is not None and not wanted.line.contains(version):
        expected = f"changes that stay within {wanted.line}"
        found = f"some that require {bump.required}"
        advice = "take them back, or release a newer line"
        yield _finding(where, expected, found, advice)
        for each in bump.changes:
            if not wanted.line.contains(next_version(bump.base, each.level)):
                yield Finding(each.code, Place(object=each.place), "", each.text)
    elif version in tree.releases:
        yield _finding(where, "a version that is not released", "its folder", "raise the version")
    if version != version.release:
        yield _finding(where, "X.Y.Z", str(version), "publishing adds suffixes")


def _precise(
    manifest: Manifest, tree: ReleaseTree
) -> tuple[tuple[Requirement, ...], tuple[Finding, ...]]:
    """Requirements with the ranges of what is released beside the package, and those for which there is nothing."""
    beside = dict(_newest_beside(tree.folder.parent)) if manifest.requirements else {}
    found, open_ = [], []
    for each in manifest.requirements:
        newest = beside.get(each.name)
        if newest is not None:
            end = f"{newest.major + 1}" if newest.major else f"0.{newest.minor + 1}"
            found.append(Requirement(each.name, VersionRange.parse(f">={newest},<{end}")))
        elif each.range == VersionRange.parse("") or each.range.contains(_NOTHING):
            expected = f"a range for {each.name}, or its releases in a folder beside"
            advice = f"write the range into the manifest of {tree.development.name}"
            place = Place(str(tree.development), object="requirements")
            open_.append(Finding(ReleaseCode.REQUIREMENT, place, expected, "neither", advice))
        else:
            found.append(each)
    return tuple(found), tuple(open_)


def _newest_beside(folder: Path) -> Iterator[tuple[str, SemVer]]:
    """The newest release of each package whose release tree is in a folder."""
    for each in sorted(folder.iterdir()):
        tree = release_tree(each)
        newest = None if tree is None else tree.newest()
        if tree is not None and newest is not None:
            yield read_manifest(tree.releases[newest]).name, newest


def _manifest(
    source: Path,
    manifest: Manifest,
    version: SemVer,
    requirements: Iterable[Requirement],
    history: History,
) -> tuple[str, bytes]:
    """The manifest of a release: its name and content. All else than versions is as in the source."""
    name, keys = manifest_keys(source)
    (document,) = read_documents((source / name).read_bytes(), name)
    plain: dict[str, msgspec.Raw] = msgspec.json.decode(document.data, type=dict[str, msgspec.Raw])
    said: dict[str, Any] = {keys["version"]: str(version)}
    if ranges := {each.name: str(each.range) for each in requirements}:
        said[keys["requirements"]] = ranges
    if manifest.min_upgrade_from is not None:
        said[keys["minUpgradeFrom"]] = str(manifest.min_upgrade_from)
    if not manifest.changes and history.commits:
        said[keys["changes"]] = list(dict.fromkeys(each.subject for each in history.commits))
    if manifest.format is not None and keys["format"] in plain:
        said[keys["format"]] = str(manifest.format)
    data = msgspec.json.encode(
        {**plain, **{key: msgspec.Raw(json.dumps(each).encode()) for key, each in said.items()}}
    )
    return name, write_documents([data], "yaml").encode()


def _changes_text(version: SemVer, bump: Bump, history: History, before: Path | None) -> bytes:
    """What changed in a release, before what the one that it follows says."""
    found = [
        f"- {each.level.word}: {each}" for each in bump.changes if each.code != ChangeCode.MARKED
    ]
    commits = [f"- {each.id} {each.subject}" for each in history.commits]
    text = "\n".join([str(version), "", *found, *commits, ""])
    earlier = None if before is None else before / CHANGES
    if earlier is not None and earlier.is_file():
        text += f"\n{earlier.read_text(encoding='utf-8')}"
    return text.encode()
