"""Upgrades what is installed, and goes back."""

import contextlib
import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from trundle.channels import RefusalCode, RefusedError, refusal
from trundle.channels.decision import Hold, Request, check_holds, weighed
from trundle.channels.policy import Policy
from trundle.installation._applying import (
    ChangeResult,
    Goal,
    carry_out,
    check_fits,
    install_unpacked,
    offers_of,
)
from trundle.installation._installation import Installation
from trundle.installation._outlook import Outlook
from trundle.installation._records import InstalledPackage, PackageEvent
from trundle.installation._resource_changes import with_resources
from trundle.installation._selection import select
from trundle.installation._stored import check_readable, with_readable
from trundle.packages import to_install
from trundle.version import SemVer

_NOTHING_ASKED = Request()
_SHORTEST_PAUSE = dt.timedelta(seconds=1)
_CAME = ("install", "upgrade", "downgrade")


def upgrade(
    installation: Installation,
    names: Iterable[str] | None = None,
    request: Request = _NOTHING_ASKED,
    *,
    dry_run: bool = False,
) -> ChangeResult:
    """Upgrades packages as far as their channels, their policies and each other allow now.

    A package that is refused stays as it is, with the reason in the result; the others go on.

    Args:
        installation: the installation.
        names: the packages; all where None.
        request: what a person asks for besides.
        dry_run: whether nothing is fetched and changed.

    Raises:
        RefusedError: a name is not installed.
        StateBusyError: others were changing the installation all the time.
        StateError: the installation cannot be changed; it is as before. So for StorageError and OSError.
    """
    outlooks: dict[str, Outlook] = {}

    def look() -> list[Goal]:
        packages = _chosen(installation, names)
        outlooks.clear()
        outlooks.update({each.name: look_at(installation, each, request) for each in packages})
        goals = [_goal(each, outlooks[each.name]) for each in packages if each.pinned is None]
        return goals + _helpers(installation, goals)

    names = None if names is None else tuple(names)
    result = carry_out(installation, look, dry_run=dry_run)
    refusals = {name: each.plan.refusals for name, each in outlooks.items() if each.plan.refusals}
    return msgspec.structs.replace(
        result, outlooks=outlooks, refusals=refusals | dict(result.refusals)
    )


def upgrade_waiting(
    installation: Installation,
    names: Iterable[str] | None,
    request: Request,
    wait: dt.timedelta,
    pause: Callable[[dt.timedelta], None],
) -> ChangeResult:
    """Upgrades packages, and waits for what is scheduled: for cooldowns and windows.

    Args:
        installation: the installation.
        names: the packages; all where None.
        request: what a person asks for besides.
        wait: how long to wait at most; what is scheduled for later stays scheduled.
        pause: waits so long.

    Returns:
        The results of all upgrades; for refusals, those of the last one.

    Raises:
        TrundleError: as `upgrade` has it.
    """
    names = None if names is None else tuple(names)
    deadline = installation.now() + wait
    result = upgrade(installation, names, request)
    while True:
        times = (each.plan.next_change for each in result.outlooks.values())
        due = min((each for each in times if each), default=None)
        if due is None or due > deadline:
            return result
        pause(max(due - installation.now(), _SHORTEST_PAUSE))
        again = upgrade(installation, names, request)
        result = msgspec.structs.replace(again, events=(*result.events, *again.events))


def foresee(
    installation: Installation,
    names: Iterable[str] | None = None,
    request: Request = _NOTHING_ASKED,
    policy: Policy | None = None,
) -> tuple[Outlook, ...]:
    """What `upgrade` would come to, as far as channels, policies and each other say; nothing is changed.

    Args:
        installation: the installation.
        names: the packages; all where None.
        request: what a person asks for besides.
        policy: a policy to try in place of theirs.

    Raises:
        RefusedError: a name is not installed.
    """
    packages = _chosen(installation, names)
    outlooks = {each.name: look_at(installation, each, request, policy) for each in packages}
    goals = [_goal(each, outlooks[each.name]) for each in packages if each.pinned is None]
    goals += _helpers(installation, goals)
    selection = select(offers_of(installation, goals).values())
    found = []
    for name, outlook in outlooks.items():
        why = dict.fromkeys(str(each) for each in selection.conflicts.get(name, ()))
        plan = weighed(outlook.plan, selection.chosen.get(name), why)
        plan = with_resources(installation, installation.package(name), plan)
        found.append(msgspec.structs.replace(outlook, plan=plan))
    return tuple(found)


def _chosen(
    installation: Installation, names: Iterable[str] | None
) -> tuple[InstalledPackage, ...]:
    if names is None:
        return installation.packages()
    return tuple(installation.package(each) for each in dict.fromkeys(names))


def _helpers(installation: Installation, goals: Iterable[Goal]) -> list[Goal]:
    """The packages that were not named, and may have to go on because one that was named needs it."""
    known = {each.name for each in goals}
    waiting, helpers = list(goals), []
    while waiting:
        needed = {
            need.name for entry in waiting.pop().ready for need in to_install(entry.depends_on)
        }
        for name in sorted(needed - known):
            known.add(name)
            package = installation.memory.package(name)
            if package is not None and package.pinned is None:
                helper = _goal(package, look_at(installation, package), wanted=False)
                helpers.append(helper)
                waiting.append(helper)
    return helpers


def look_at(
    installation: Installation,
    package: InstalledPackage,
    request: Request = _NOTHING_ASKED,
    policy: Policy | None = None,
) -> Outlook:
    """Looks at the channel of an installed package, and at what is stored: what could not read that is blocked."""
    outlook = installation.look(package, request, policy)
    place = package.subscription.repository
    plan = with_readable(installation, place, package, outlook.plan)
    return msgspec.structs.replace(outlook, plan=plan)


def _goal(package: InstalledPackage, outlook: Outlook, *, wanted: bool = True) -> Goal:
    return Goal(
        wanted=wanted,
        name=package.name,
        subscription=package.subscription,
        ready=tuple(each.entry for each in outlook.plan.ready),
        before=package,
    )


def roll_back(
    installation: Installation,
    name: str,
    *,
    dry_run: bool = False,
    between: tuple[str, str] | None = None,
) -> PackageEvent:
    """Goes back to the version that was installed before, without any network.

    The version that is left is held, so that the policy does not take it again.

    Args:
        installation: the installation.
        name: the package.
        dry_run: whether nothing is changed.
        between: the digests of what is installed and of what was before it, as the caller saw them; None for any.

    Raises:
        RefusedError: there is none before, it is held, its content is damaged, another package needs the
            present one, or the package was changed since the caller saw it.
        StateBusyError: others were changing the installation all the time.
        StateError: the installation cannot be changed; it is as before. So for StorageError and OSError.
    """
    with installation.alone():
        (event,) = _go_back(installation, [_back(installation, name, between)], dry_run=dry_run)
        return event


def roll_back_together(
    installation: Installation, names: Iterable[str], *, dry_run: bool = False
) -> tuple[PackageEvent, ...]:
    """Goes back with several packages at once, each to its version before, as `roll_back` does: with all of them or none.

    Raises:
        RefusedError: as `roll_back`; of the requirements among these packages, those of the versions before count.
        StateBusyError: others were changing the installation all the time.
        StateError: the installation cannot be changed; it is as before. So for StorageError and OSError.
    """
    with installation.alone():
        ways = [_back(installation, each) for each in dict.fromkeys(names)]
        return _go_back(installation, ways, dry_run=dry_run)


class _Back(NamedTuple):
    """The way back of a package.

    Attributes:
        before: the package as it is installed.
        after: the package as it was before that.
        event: what is noted.
    """

    before: InstalledPackage
    after: InstalledPackage
    event: PackageEvent


def _back(installation: Installation, name: str, between: tuple[str, str] | None = None) -> _Back:
    """The way back of a package, which is not held, and whose content is here. Called while `alone`."""
    package = installation.package(name)
    earlier = _earlier(installation, package)
    if between not in {None, (package.digest, earlier.before_digest)}:
        found = f"from {package.version} to {earlier.before}"
        code, advice = RefusalCode.CONCURRENT_CHANGE, "look again at what it comes to now"
        expected = "going back as it was seen"
        raise RefusedError(refusal(code, package.name, expected, found, advice))
    where = f"{package.name} {earlier.before}"
    artifact = installation.content.look(None, earlier.before_digest, where)
    now = installation.now()
    after = msgspec.structs.replace(
        package,
        version=SemVer.parse(earlier.before),
        digest=artifact.digest,
        since=now,
        manifest=artifact.package,
    )
    held = check_holds(installation.memory.state(package), after.version, now)
    if held:
        raise RefusedError(*held)
    event = PackageEvent(
        package=package.name,
        at=now,
        action="rollback",
        before=str(package.version),
        before_digest=package.digest,
        after=earlier.before,
        after_digest=artifact.digest,
        note="; ".join(_notes_about(installation, package, SemVer.parse(earlier.before))),
    )
    return _Back(package, after, event)


def _go_back(
    installation: Installation, ways: Sequence[_Back], *, dry_run: bool
) -> tuple[PackageEvent, ...]:
    """Goes back on all ways, or on none. Called while `alone`."""
    where = ", ".join(f"{each.after.name} {each.after.version}" for each in ways)
    advice = (
        "name all packages that have to go back to `trundle rollback`, or change what is installed"
    )
    check_fits(installation, where, put=[each.after.release for each in ways], advice=advice)
    for each in ways:
        place = f"{each.after.name} {each.after.version}"
        check_readable(installation, each.before, each.after.manifest, place)
    events = tuple(each.event for each in ways)

    def hold() -> None:
        for each in ways:
            held = Hold(f"rolled back to {each.after.version}", each.event.at, each.before.version)
            installation.memory.hold(each.before.name, held)

    if not dry_run:
        install_unpacked(installation, [each.after for each in ways], events, also=hold)
    return events


@contextlib.contextmanager
def unpacked_before(installation: Installation, name: str) -> Iterator[Path]:
    """A folder with the version that `roll_back` goes back to, as long as the block lasts.

    Raises:
        RefusedError: there is none before, its content is damaged, or is not here.
    """
    package = installation.package(name)
    earlier = _earlier(installation, package)
    where = f"{package.name} {earlier.before}"
    with installation.content.unpacked_aside(earlier.before_digest, where) as folder:
        yield folder


def _notes_about(
    installation: Installation, package: InstalledPackage, version: SemVer
) -> Iterator[str]:
    """What one should know of a rollback."""
    why = installation.memory.unpublished(package.name, version)
    if why is not None:
        yield f"{version} was unpublished: {why}"
    yield f"{package.version} is held from now on, so that it is not taken again"


def _earlier(installation: Installation, package: InstalledPackage) -> PackageEvent:
    """The event that brought what is installed, and replaced something.

    Raises:
        RefusedError: nothing was replaced, or the package is pinned.
    """
    if package.pinned is not None or package.version is None:
        expected, advice = "an installation that follows a channel", "install the other tag"
        code, found = RefusalCode.PINNED, f"one that is pinned to {package.pinned}"
        raise RefusedError(refusal(code, package.name, expected, found, advice))
    event = next(way_back(installation.history(package.name), package.digest), None)
    if event is not None:
        return event
    expected = f"a version that was installed before {package.version}"
    code, advice = RefusalCode.NOT_INSTALLED, "look at the history"
    raise RefusedError(refusal(code, package.name, expected, "none", advice))


def way_back(history: Iterable[PackageEvent], digest: str) -> Iterator[PackageEvent]:
    """The events that brought what is installed, what was installed before it, and so on.

    Args:
        history: what happened to a package, the newest first.
        digest: the digest of what is installed.
    """
    for event in history:
        if event.action == "uninstall":
            return
        if event.action in _CAME and event.after_digest == digest:
            if not event.before:
                return
            yield event
            digest = event.before_digest


def uninstall(installation: Installation, name: str, *, dry_run: bool = False) -> PackageEvent:
    """Removes a package. What was seen of its channel is kept, and its content stays in the local store.

    Raises:
        RefusedError: it is not installed, or another package needs it.
        StateBusyError: others were changing the installation all the time.
        StateError: the installation cannot be changed; it is as before. So for OSError.
    """
    (event,) = uninstall_together(installation, [name], dry_run=dry_run)
    return event


def uninstall_together(
    installation: Installation, names: Iterable[str], *, dry_run: bool = False
) -> tuple[PackageEvent, ...]:
    """Removes several packages at once, as `uninstall` does: all of them or none. They may need each other.

    Raises:
        RefusedError: one is not installed, or a package that stays needs one.
        StateBusyError: others were changing the installation all the time.
        StateError: the installation cannot be changed; it is as before. So for OSError.
    """
    with installation.alone():
        packages = {each.name: each for each in map(installation.package, names)}
        advice = "uninstall what needs it first, or together with it"
        check_fits(installation, f"without {', '.join(packages)}", drop=packages, advice=advice)
        events = tuple(
            PackageEvent(
                package=each.name,
                at=installation.now(),
                action="uninstall",
                before=str(each.release.version),
                before_digest=each.digest,
            )
            for each in packages.values()
        )
        if not dry_run:
            installation.commit((), events, removed=packages)
        return events
