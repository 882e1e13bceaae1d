"""Records the stored format of released versions in `trundle.lock`, and guards it.

A release writes objects in the shape of its hub. Later releases must read them, so the lock keeps that
shape, and `check` compares the schemas, changes and hooks of today with it.
"""

import functools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from trundle._durable import write_durably
from trundle.errors import Finding, expectation
from trundle.evolution import VersionMap
from trundle.project._each_part import Progress, each_part, ignore, on_file
from trundle.project._lock import locked
from trundle.project._lock_comparison import (
    Hub,
    LockComparison,
    Share,
    compare_with_lock,
    shares_of,
    spelt_as_declared,
)
from trundle.project._lock_file import (
    FORMAT,
    LockFile,
    lock_path,
    read_lock,
    recorded_versions,
    write_lock_text,
)
from trundle.project._parts import Part, outline_of, unfit
from trundle.project._stored import StoredRelease
from trundle.project._write import spell_text
from trundle.project.config import Config
from trundle.project.errors import FileCode, OutputBusyError, ProjectError
from trundle.project.errors import finding as finding_of_file
from trundle.project.findings import FindingsError, Misfit, ProjectCode, finding
from trundle.project.loading import load_part
from trundle.schema import SchemaError
from trundle.schema.readers import Catalogue, raise_all
from trundle.version import ApiVersion

_WAIT = 10.0


class LockChange(msgspec.Struct, frozen=True):
    """What `trundle lock` does; each is named as `Person 2019-09-09`.

    Attributes:
        path: the lock file.
        content: its new content.
        recorded: releases that are new.
        extended: releases that gained something without contradicting what was recorded.
        replaced: recorded releases that were accepted in another shape.
        removed: recorded releases that were given up.
        unchanged: releases that stay as they are.
    """

    path: Path
    content: bytes
    recorded: tuple[str, ...] = ()
    extended: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()

    @property
    def changes(self) -> bool:
        """Whether the file changes at all."""
        return bool(self.recorded or self.extended or self.replaced or self.removed)

    @property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """The releases by what becomes of them."""
        return {
            "recorded": self.recorded,
            "extended": self.extended,
            "replaced": self.replaced,
            "removed": self.removed,
            "unchanged": self.unchanged,
        }

    def to_plain(self) -> dict[str, Any]:
        """The change as plain values, for programs."""
        return {"path": str(self.path), **{name: list(of) for name, of in self.groups.items()}}


def lock_findings(
    config: Config, known: LockFile, comparisons: Iterable[LockComparison]
) -> Iterator[Finding]:
    """Everything that makes recorded objects unreadable, else notes on what is not recorded yet."""
    comparisons = tuple(comparisons)
    refused = False
    for comparison in comparisons:
        for each in comparison.broken:
            refused = True
            yield from each.findings
    if refused:
        return
    path = lock_path(config)
    change = _change(path, known, comparisons)
    advice = "run `trundle lock` when you release it"
    for label in change.recorded:
        what = f"the stored format of {label} is not recorded"
        yield _note(path, what, advice)
    for label in change.extended:
        yield _note(path, f"the stored format of {label} has grown", advice)
    for comparison in comparisons:
        for hub in comparison.hubs:
            yield from _no_way_back(path, hub, known.resources.get(hub.name, {}))


def _no_way_back(path: Path, hub: Hub, recorded: Mapping[str, StoredRelease]) -> Iterator[Finding]:
    """The note on a hub that the release which was recorded last cannot read."""
    if not recorded or hub.version in recorded:
        return
    known = {ApiVersion.parse(each) for release in recorded.values() for each in release.versions}
    stored = [ApiVersion.parse(each) for each in recorded]
    readable = VersionMap.stored({*known, *stored}, (), stored).storage
    if ApiVersion.parse(hub.version) in readable:
        return
    last = max(recorded, key=lambda each: (len(recorded[each].versions), ApiVersion.parse(each)))
    what = f"{hub.name} is stored in {hub.version} from now on, which the release that is recorded here cannot read"
    advice = (
        f"to be able to roll back to it, write `hub: {{{spell_text(hub.name)}: {last}}}` in the "
        "project's file for one release"
    )
    yield finding(ProjectCode.HUB, str(path), what, advice, severity="note")


def _note(path: Path, what: str, advice: str) -> Finding:
    return finding(ProjectCode.LOCK, str(path), what, advice, severity="note")


def lock(
    config: Config,
    *,
    accept: bool = False,
    dry_run: bool = False,
    jobs: int | None = None,
    progress: Progress = ignore,
) -> LockChange:
    """Records the shape of the hub of every resource type as released.

    A recorded release may grow: new properties, new entries, new versions. Anything that contradicts what
    is recorded is refused unless accepted.

    Args:
        config: what the project's file says.
        accept: replace recorded releases whose objects cannot be read any more, and forget those that no
            schema has.
        dry_run: change nothing.
        jobs: how many processes to use; None for one to each processor, where that is worth it.
        progress: called for each step.

    Raises:
        SchemaError: a schema cannot be read.
        FindingsError: the project has errors, or a recorded release would change.
        OutputBusyError: another process has changed the lock meanwhile; it is as that one left it.
        ProjectError: the lock cannot be read or written, or there are no resources in the schemas.
    """
    path = lock_path(config)
    catalogue = Catalogue(config.sources, on_file=on_file(progress))
    found = read_lock(path)
    outline = outline_of(config, catalogue, recorded_versions(found))
    known = spelt_as_declared(found, outline)
    shares, findings = shares_of(outline, known, str(path))
    work = functools.partial(_compare_part, shares=shares)
    compared = each_part(work, outline.parts, catalogue, jobs, progress)
    raise_all([each.error for each in compared.values() if each.error is not None])
    catalogue.require_used({file for each in compared.values() for file in each.files})
    misfits, _ = unfit(outline.parts, {name: each.misfits for name, each in compared.items()})
    if unsound := (*outline.findings, *misfits, *findings):
        raise FindingsError(unsound)
    comparisons = [each.comparison for each in compared.values()]
    against = [finding for each in comparisons for one in each.broken for finding in one.findings]
    if against and not accept:
        raise FindingsError(against)
    change = _change(path, known, comparisons)
    if change.changes and not dry_run:
        _write(path, found, change.content)
    return change


class _Compared(msgspec.Struct, frozen=True):
    """How a part stands to the lock, or why it cannot be read."""

    comparison: LockComparison = LockComparison()
    misfits: tuple[Misfit, ...] = ()
    files: tuple[str, ...] = ()
    error: SchemaError | None = None


def _compare_part(part: Part, catalogue: Catalogue, *, shares: Mapping[str, Share]) -> _Compared:
    try:
        loaded = load_part(part, catalogue)
    except SchemaError as error:
        return _Compared(error=error)
    comparison = compare_with_lock(loaded.project, shares[part.name])
    return _Compared(comparison, loaded.misfits, tuple(map(str, loaded.files)))


def _change(path: Path, known: LockFile, comparisons: Iterable[LockComparison]) -> LockChange:
    """What becomes of a lock; what is against it is taken as accepted."""
    releases = {name: dict(each) for name, each in known.resources.items()}
    did: dict[str, list[str]] = {}
    for comparison in comparisons:
        for each in comparison.broken:
            label = f"{each.name} {each.version}"
            if each.now is None:
                del releases[each.name][each.version]
                did.setdefault("removed", []).append(label)
            else:
                releases[each.name][each.version] = each.now
                did.setdefault("replaced", []).append(label)
        replaced = {(each.name, each.version) for each in comparison.broken}
        for hub in comparison.hubs:
            old = known.resources.get(hub.name, {}).get(hub.version)
            releases.setdefault(hub.name, {})[hub.version] = hub.release
            if (hub.name, hub.version) not in replaced:
                what = (
                    "recorded" if old is None else "unchanged" if old == hub.release else "extended"
                )
                did.setdefault(what, []).append(f"{hub.name} {hub.version}")
    kept = {name: each for name, each in releases.items() if each}
    return LockChange(
        path,
        write_lock_text(LockFile(FORMAT, kept)),
        **{what: tuple(sorted(names)) for what, names in did.items()},
    )


def _write(path: Path, before: LockFile, content: bytes) -> None:
    """Replaces the file as a whole, unless another process has changed it since it was read."""
    try:
        with locked(path, path.with_name(f".{path.name}.trundle-lock"), _WAIT):
            if read_lock(path) != before:
                expected, found = "the lock as it was read", "other content"
                advice = "another process has changed it; run the command again"
                why = finding_of_file(FileCode.BUSY, path, expected, found, advice)
                raise OutputBusyError(path, [why])
            write_durably(path, content)
    except OSError as error:
        found, advice = error.strerror or str(error), "check its permissions and the space"
        text = expectation("a file that can be written", found, advice)
        raise ProjectError(f"{path}: {text}") from error
