"""Carries out what was decided about several packages: selects, fetches, checks, unpacks, and commits all together."""

import contextlib
from collections.abc import Callable, Collection, Iterable, Mapping

import msgspec

from trundle.channels import RefusalCode, RefusedError, refusal
from trundle.channels.artifacts import Artifact
from trundle.channels.files import ListedVersion
from trundle.channels.reading import Subscription
from trundle.errors import Finding
from trundle.installation._content import ArrivingError, check_entry
from trundle.installation._errors import StateBusyError
from trundle.installation._installation import Installation
from trundle.installation._outlook import Outlook
from trundle.installation._records import EventKind, InstalledPackage, PackageEvent
from trundle.installation._selection import Selection, UpgradeOffer, check_together, select
from trundle.installation._stored import check_readable
from trundle.packages import Conflict, Release, Requirement, to_install
from trundle.registry import open_repository


class Goal(msgspec.Struct, frozen=True, kw_only=True):
    """A package that may change, and where its versions come from.

    Attributes:
        name: the package.
        subscription: how it follows its channel.
        ready: the versions that may be installed now, best first.
        wanted: whether it is to change by itself; else only where another package needs it.
        before: what is installed of it.
    """

    name: str
    subscription: Subscription
    ready: tuple[ListedVersion, ...] = ()
    wanted: bool = True
    before: InstalledPackage | None = None

    @property
    def offer(self) -> UpgradeOffer:
        """The goal, as the selection takes it."""
        known = self.before is not None and self.before.version is not None
        release = self.before.release if self.before and known else None
        return UpgradeOffer(name=self.name, installed=release, ready=self.ready, wanted=self.wanted)


class ChangeResult(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a change, or would come of it.

    Attributes:
        events: what happened, in alphabetical order of the packages.
        outlooks: what was decided about each package whose channel was looked at.
        refusals: why a package that was to change did not.
        notes: what else one should know.
    """

    events: tuple[PackageEvent, ...] = ()
    outlooks: Mapping[str, Outlook] = {}
    refusals: Mapping[str, tuple[Finding, ...]] = {}
    notes: tuple[str, ...] = ()

    @property
    def all_refusals(self) -> tuple[Finding, ...]:
        """The refusals of all packages."""
        return tuple(each for name in sorted(self.refusals) for each in self.refusals[name])


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What is going to change; all content is in the local store already.

    Attributes:
        packages: the packages as they are from then on.
        result: what will have come of it.
    """

    packages: tuple[InstalledPackage, ...] = ()
    result: ChangeResult


def carry_out(
    installation: Installation,
    look: Callable[[], Iterable[Goal]],
    *,
    dry_run: bool = False,
    complete: Callable[[Change], Change] = lambda change: change,
    also: Callable[[], None] | None = None,
) -> ChangeResult:
    """Brings packages to the best versions that fit together.

    Channels are read and content is fetched without the installation's lock. Under it the content is unpacked and the change
    recorded, if nothing that was decided by has changed meanwhile; else all is looked at again.

    A package whose content cannot be had stays as it is, and the others go on without it.

    Args:
        installation: the installation.
        look: decides about the packages that may change.
        dry_run: whether nothing is fetched and changed.
        complete: adds to the change, or refuses it.
        also: changes what else is remembered, in the same transaction; called only where something changes.

    Raises:
        StateBusyError: others were changing the installation all the time.
        StateError: the installation cannot be changed; it is as before.
        StorageError: the same for its store.
        OSError: the same for its folders.
    """
    for _ in range(ATTEMPTS):
        basis = basis_of(installation, dry_run=dry_run)
        goals = {each.name: each for each in look()}
        # What is fetched may not be removed again before it is recorded that it is needed.
        with contextlib.nullcontext() if dry_run else installation.fetching():
            result = _attempt(installation, goals, basis, complete, also, dry_run=dry_run)
        if result is not None:
            return result
    raise changed_all_the_time(installation)


def _attempt(
    installation: Installation,
    goals: Mapping[str, Goal],
    basis: object,
    complete: Callable[[Change], Change],
    also: Callable[[], None] | None,
    *,
    dry_run: bool,
) -> ChangeResult | None:
    """Fetches content and commits what becomes of it; None where others have changed the installation meanwhile."""
    broken: dict[str, tuple[Finding, ...]] = {}
    while True:
        change = complete(_prepare(installation, goals, broken, dry_run=dry_run))
        if dry_run or not (change.packages or change.result.events):
            return change.result
        with installation.alone():
            if installation.memory.basis() != basis:
                return None
            failed = _unpack(installation, change.packages)
            if not failed:
                installation.commit(change.packages, change.result.events, also=also)
                return change.result
        broken |= failed


ATTEMPTS = 5
"""How often all is looked at again where others change the installation meanwhile."""


def basis_of(installation: Installation, *, dry_run: bool) -> object:
    """What decisions rest on, after what a dead process left is finished."""
    if dry_run:
        return None
    with installation.alone():
        return installation.memory.basis()


def changed_all_the_time(installation: Installation) -> StateBusyError:
    """The error for an installation that others changed each time while content was fetched."""
    where, found = str(installation.folders.root), "another change each time"
    return StateBusyError(where, "no change by others meanwhile", found, "try again later")


def _prepare(
    installation: Installation,
    goals: Mapping[str, Goal],
    broken: Mapping[str, tuple[Finding, ...]],
    *,
    dry_run: bool,
) -> Change:
    """Selects versions, and fetches their content; without those that are broken."""
    staged = offers_of(installation, goals.values())
    refusals = dict(broken)
    for name in broken:
        staged[name] = msgspec.structs.replace(staged[name], ready=())
    while True:
        selection = select(staged.values())
        artifacts, failed = ({}, {}) if dry_run else _fetched(installation, goals, selection)
        if not failed:
            break
        refusals |= failed
        for name in failed:
            staged[name] = msgspec.structs.replace(staged[name], ready=())
    notes = _weigh(selection, refusals)
    pairs = [
        _changed(installation, goals[name], entry, artifacts.get(name))
        for name, entry in sorted(selection.chosen.items())
    ]
    packages = tuple(package for package, _ in pairs if package is not None)
    events = tuple(event for _, event in pairs)
    return Change(
        packages=packages, result=ChangeResult(events=events, refusals=refusals, notes=notes)
    )


def _unpack(
    installation: Installation, packages: Iterable[InstalledPackage]
) -> dict[str, tuple[Finding, ...]]:
    """Unpacks packages whose content is here; returns why some cannot be."""
    failed = {}
    for each in packages:
        try:
            unpack_here(installation, each)
        except RefusedError as error:
            failed[each.name] = error.refusals
    return failed


def unpack_here(installation: Installation, package: InstalledPackage) -> None:
    """Unpacks a package whose content is here; called while `alone`.

    Raises:
        RefusedError: the archive is damaged, or is gone.
        StorageError: the local store cannot be read. So for OSError.
    """
    where = f"{package.name} {package.release.version}"
    folder = installation.folders.of(package)
    if not folder.exists():
        artifact = installation.content.look(None, package.digest, where)
        installation.content.unpack(artifact, folder, where)


def offers_of(installation: Installation, goals: Iterable[Goal]) -> dict[str, UpgradeOffer]:
    """What may become of each package, by name; those that are no goals stay as they are."""
    installed = installation.packages()
    offers = {each.name: UpgradeOffer(name=each.name, installed=each.release) for each in installed}
    return offers | {each.name: each.offer for each in goals}


def install_unpacked(
    installation: Installation,
    packages: Iterable[InstalledPackage],
    events: Iterable[PackageEvent],
    also: Callable[[], None] | None = None,
) -> None:
    """Unpacks packages whose content is here, and commits them.

    Raises:
        RefusedError: the archive of one is damaged; everything is as before.
        StateError: the installation cannot be changed; the same. So for StorageError and OSError.
    """
    packages = tuple(packages)
    for each in packages:
        unpack_here(installation, each)
    installation.commit(packages, events, also=also)


def conflict_refusals(
    where: str,
    conflicts: Iterable[Conflict],
    advice: str = "",
) -> tuple[Finding, ...]:
    """The refusals that conflicts lead to.

    Args:
        where: what they are about.
        conflicts: the conflicts.
        advice: what to do about all of them; where it is empty, it depends on whether a package is missing, which is a refusal of its own.
    """
    found = {}
    for each in conflicts:
        code, do = RefusalCode.DEPENDENCY_CONFLICT, advice or "change what is installed"
        if not advice and any(clash.is_missing for clash in each.clashes):
            code = RefusalCode.PACKAGE_MISSING
            do = (
                "give the repositories of missing packages with --with, or change what is installed"
            )
        text = str(each)
        found[text] = refusal(code, where, "packages that fit together", text, do)
    return tuple(found.values())


def check_fits(
    installation: Installation,
    where: str,
    *,
    put: Iterable[Release] = (),
    drop: Collection[str] = (),
    advice: str = "",
) -> None:
    """Refuses a change after which requirements are unmet that are met now.

    Args:
        installation: the installation.
        where: what the refusals are about.
        put: what takes the place of the releases of these packages.
        drop: the packages that go.
        advice: what to do about a refusal; see `conflict_refusals`.

    Raises:
        RefusedError: there are such requirements.
    """
    now = {each.name: each.release for each in installation.packages()}
    after = {name: each for name, each in now.items() if name not in drop}
    after |= {each.name: each for each in put}
    broken = {str(each) for each in check_together(now.values())}
    new = [each for each in check_together(after.values()) if str(each) not in broken]
    if new:
        raise RefusedError(*conflict_refusals(where, new, advice))


def _weigh(selection: Selection, refusals: dict[str, tuple[Finding, ...]]) -> tuple[str, ...]:
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
) -> tuple[dict[str, Artifact], dict[str, tuple[Finding, ...]]]:
    """The content of what was selected, fetched and checked; and what is wrong with the rest. Called while `fetching`."""
    artifacts: dict[str, Artifact] = {}
    failed: dict[str, tuple[Finding, ...]] = {}
    arriving: dict[str, tuple[Finding, ...]] = {}
    for name, entry in selection.chosen.items():
        place, where = goals[name].subscription.repository, f"{name} {entry.version}"
        source, content = (
            open_repository(place, settings=installation.settings),
            installation.content,
        )
        try:
            artifact = content.look(source, entry.digest or entry.tag_name, where)
            check_entry(artifact, name, entry)
            check_readable(installation, goals[name].before, artifact.package, where)
            content.fetch(source, artifact, where, installation.progress)
            artifacts[name] = artifact
        except ArrivingError as error:
            arriving[name] = error.refusals
        except RefusedError as error:
            failed[name] = error.refusals
    return artifacts, failed | _waiting(goals, selection, arriving)


def _waiting(
    goals: Mapping[str, Goal],
    selection: Selection,
    arriving: Mapping[str, tuple[Finding, ...]],
) -> dict[str, tuple[Finding, ...]]:
    """What waits for content that arrives, and why: without it, what needs it would go to a version in between, and on from there later."""
    waiting = dict(arriving)
    more = waiting
    while more:
        more = {
            name: waiting[need.name]
            for name, entry in selection.chosen.items()
            if name not in waiting
            for need in to_install(entry.depends_on)
            if need.name in waiting and not _is_met(need, goals[need.name].before)
        }
        waiting |= more
    return waiting


def _is_met(need: Requirement, installed: InstalledPackage | None) -> bool:
    """Whether what is installed is what another package needs."""
    version = None if installed is None else installed.version
    return version is not None and version in need.range


def _package(
    installation: Installation, goal: Goal, entry: ListedVersion, artifact: Artifact
) -> InstalledPackage:
    return InstalledPackage(
        name=goal.name,
        subscription=goal.subscription,
        version=entry.version,
        digest=artifact.digest,
        since=installation.now(),
        manifest=artifact.package,
    )


def _changed(
    installation: Installation, goal: Goal, entry: ListedVersion, artifact: Artifact | None
) -> tuple[InstalledPackage | None, PackageEvent]:
    before = goal.before
    event = PackageEvent(
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


def _deed(before: InstalledPackage | None, entry: ListedVersion) -> EventKind:
    if before is None or before.version is None:
        return "install"
    return "upgrade" if entry.version > before.version else "downgrade"
