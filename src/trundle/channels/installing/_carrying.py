"""Carries out what was decided about several packages: selects, fetches, checks, unpacks, and commits all together."""

from collections.abc import Callable, Iterable, Mapping

import msgspec

from trundle.channels._refusals import Refusal, RefusalCode, RefusedError
from trundle.channels.files import Entry
from trundle.channels.installing._content import Artifact, check_entry
from trundle.channels.installing._installation import Installation
from trundle.channels.installing._looking import Outlook
from trundle.channels.installing._records import Deed, Event, Package
from trundle.channels.installing._selecting import Offer, Selection, check_together, select
from trundle.channels.policy import Policy
from trundle.packages import Conflict, Release
from trundle.registry import open_repository


class Goal(msgspec.Struct, frozen=True, kw_only=True):
    """A package that may change, and where its versions come from.

    Attributes:
        name: the package.
        repository: the reference of its repository.
        channel: the channel's word, URL or folder.
        word: the channel's word.
        signed: whether the channel's signatures are verified.
        policy: its own policy, if any.
        ready: the versions that may be installed now, best first.
        wanted: whether it is to change by itself; else only where another package needs it.
        before: what is installed of it.
    """

    name: str
    repository: str
    channel: str
    word: str
    signed: bool
    policy: Policy | None = None
    ready: tuple[Entry, ...] = ()
    wanted: bool = True
    before: Package | None = None

    @property
    def offer(self) -> Offer:
        """The goal, as the selection takes it."""
        known = self.before is not None and self.before.version is not None
        release = self.before.release if self.before and known else None
        return Offer(name=self.name, installed=release, ready=self.ready, wanted=self.wanted)


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a change, or would come of it.

    Attributes:
        events: what happened, in alphabetical order of the packages.
        outlooks: what was decided about each package whose channel was looked at.
        refusals: why a package that was to change did not.
        notes: what else one should know.
    """

    events: tuple[Event, ...] = ()
    outlooks: Mapping[str, Outlook] = {}
    refusals: Mapping[str, tuple[Refusal, ...]] = {}
    notes: tuple[str, ...] = ()

    @property
    def all_refusals(self) -> tuple[Refusal, ...]:
        """The refusals of all packages."""
        return tuple(each for name in sorted(self.refusals) for each in self.refusals[name])


def carry_out(
    installation: Installation,
    goals: Iterable[Goal],
    *,
    dry_run: bool = False,
    before_commit: Callable[[], None] | None = None,
) -> Result:
    """Brings packages to the best versions that fit together; called while the installation is `alone`.

    A package whose content cannot be had stays as it is, and the others go on without it.

    Args:
        installation: the installation.
        goals: the packages that may change.
        dry_run: whether nothing is fetched and changed.
        before_commit: called once all content is here, when something is going to change.

    Raises:
        StateError: the installation cannot be changed; it is as before.
        StorageError: the same for its store.
        OSError: the same for its folders.
    """
    by_name = {each.name: each for each in goals}
    staged = offers_of(installation, by_name.values())
    refusals: dict[str, tuple[Refusal, ...]] = {}
    while True:
        selection = select(staged.values())
        artifacts, failed = ({}, {}) if dry_run else _fetched(installation, by_name, selection)
        if not failed:
            break
        refusals |= failed
        for name in failed:
            staged[name] = msgspec.structs.replace(staged[name], ready=())
    notes = _weigh(selection, refusals)
    pairs = [
        _changed(installation, by_name[name], entry, artifacts.get(name))
        for name, entry in sorted(selection.chosen.items())
    ]
    events = tuple(event for _, event in pairs)
    if pairs and not dry_run:
        packages = [package for package, _ in pairs if package is not None]
        if before_commit is not None:
            before_commit()
        install_unpacked(installation, packages, events)
    return Result(events=events, refusals=refusals, notes=notes)


def offers_of(installation: Installation, goals: Iterable[Goal]) -> dict[str, Offer]:
    """What may become of each package, by name; those that are no goals stay as they are."""
    installed = installation.packages()
    offers = {each.name: Offer(name=each.name, installed=each.release) for each in installed}
    return offers | {each.name: each.offer for each in goals}


def install_unpacked(
    installation: Installation,
    packages: Iterable[Package],
    events: Iterable[Event],
    also: Callable[[], None] | None = None,
) -> None:
    """Unpacks packages whose content is here, and commits them.

    Raises:
        RefusedError: the archive of one is damaged; everything is as before.
        StateError: the installation cannot be changed; the same. So for StorageError and OSError.
    """
    packages = tuple(packages)
    for each in packages:
        where = f"{each.name} {each.release.version}"
        folder = installation.folders.of(each)
        if not folder.exists():
            artifact = installation.content.fetch(None, each.digest, where)
            installation.content.unpack(artifact, folder, where)
    installation.commit(packages, events, also=also)


def conflict_refusals(
    where: str,
    conflicts: Iterable[Conflict],
    advice: str = "give the repositories of missing packages with --with, or change what is installed",
) -> tuple[Refusal, ...]:
    """The refusals that conflicts lead to."""
    code, expected = RefusalCode.DEPENDENCY_CONFLICT, "packages that fit together"
    texts = dict.fromkeys(str(each) for each in conflicts)
    return tuple(Refusal(code, where, expected, text, advice) for text in texts)


def check_fits(
    installation: Installation, where: str, *, put: Release | None = None, drop: str | None = None
) -> None:
    """Refuses a change after which requirements are unmet that are met now.

    Raises:
        RefusedError: there are such requirements.
    """
    now = {each.name: each.release for each in installation.packages()}
    after = {name: each for name, each in now.items() if name != drop}
    if put is not None:
        after[put.name] = put
    broken = {str(each) for each in check_together(now.values())}
    new = [each for each in check_together(after.values()) if str(each) not in broken]
    if new and drop is not None:
        raise RefusedError(*conflict_refusals(where, new, "uninstall first what needs it"))
    if new:
        raise RefusedError(*conflict_refusals(where, new))


def _weigh(selection: Selection, refusals: dict[str, tuple[Refusal, ...]]) -> tuple[str, ...]:
    """Adds a refusal for each package that stays because of a conflict; notes for those that go less far."""
    notes = []
    for name, conflicts in selection.conflicts.items():
        found = conflict_refusals(name, conflicts)
        if name in selection.chosen:
            notes += [f"not the best version of {name}: {each.found}" for each in found]
        else:
            refusals[name] = (*refusals.get(name, ()), *found)
    return tuple(notes)


def _fetched(
    installation: Installation, goals: Mapping[str, Goal], selection: Selection
) -> tuple[dict[str, Artifact], dict[str, tuple[Refusal, ...]]]:
    """The content of what was selected, fetched and checked; and what is wrong with the rest."""
    artifacts: dict[str, Artifact] = {}
    failed: dict[str, tuple[Refusal, ...]] = {}
    for name, entry in selection.chosen.items():
        goal = goals[name]
        where = f"{name} {entry.version}"
        try:
            artifact = installation.content.fetch(
                open_repository(goal.repository, settings=installation.settings),
                entry.digest or entry.tag_name,
                where,
                check=lambda found, name=name, entry=entry: check_entry(found, name, entry),  # type: ignore[misc]
                progress=installation.progress,
            )
            package = _package(installation, goal, entry, artifact)
            installation.content.unpack(artifact, installation.folders.of(package), where)
            artifacts[name] = artifact
        except RefusedError as error:
            failed[name] = error.refusals
    return artifacts, failed


def _package(installation: Installation, goal: Goal, entry: Entry, artifact: Artifact) -> Package:
    return Package(
        name=goal.name,
        repository=goal.repository,
        channel=goal.channel,
        word=goal.word,
        signed=goal.signed,
        policy=goal.policy,
        version=entry.version,
        digest=artifact.digest,
        since=installation.now(),
        manifest=artifact.manifest,
    )


def _changed(
    installation: Installation, goal: Goal, entry: Entry, artifact: Artifact | None
) -> tuple[Package | None, Event]:
    before = goal.before
    event = Event(
        package=goal.name,
        at=installation.now(),
        action=_deed(before, entry),
        before=str(before.version or "") if before else "",
        before_digest=before.digest if before else "",
        after=str(entry.version),
        after_digest=artifact.digest if artifact else entry.identity,
    )
    package = None if artifact is None else _package(installation, goal, entry, artifact)
    return package, event


def _deed(before: Package | None, entry: Entry) -> Deed:
    if before is None or before.version is None:
        return "install"
    return "upgrade" if entry.version > before.version else "downgrade"
