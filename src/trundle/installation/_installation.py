"""An installation: its folder, opened; what is in it, and how it changes as a whole.

The order of the writes, so that a process that dies at any of them leaves the old or the new state:

1. the content goes into the local store, and each version into a folder of its own, which is not used yet;
2. a set of links to what is to be installed is made;
3. one transaction of the database records what is installed, and which set that is: from here on it is done;
4. the link `current` is switched to the set. Where this was missed, the next one to come does it.
"""

import contextlib
import datetime as dt
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from trundle._locking import LockBusyError, locked
from trundle.channels import RefusalCode, RefusedError, refusal, require_aware
from trundle.channels.decision import (
    Approval,
    Hold,
    InstallationStatus,
    Request,
    UpgradePlan,
    decide,
    status_of,
)
from trundle.channels.files import Channel
from trundle.channels.policy import Policy
from trundle.errors import Finding
from trundle.installation._content import ContentStore
from trundle.installation._errors import StateBusyError, StateError
from trundle.installation._folders import Folders, refuse_file
from trundle.installation._import import import_trust
from trundle.installation._outlook import Outlook, Reader, absolute, judge
from trundle.installation._records import InstalledPackage, PackageEvent
from trundle.installation._state import Memory
from trundle.packages import Manifest
from trundle.registry import HttpSettings, InvalidReferenceError, Progress, Reference
from trundle.version import SemVer

_WAIT = 60.0
_NOTHING_ASKED = Request()


class Installation:
    """The packages of one machine or project. Used as a context manager, or closed by `close`.

    Args:
        folder: where everything is kept; it is made where it does not exist.
        clock: returns the time, with its time zone.
        wait: seconds to wait for others who change the same installation.
        progress: called with the number of bytes after each piece of content that is fetched.
        settings: times and sizes for registries over HTTP.
        unreadable: says why a release cannot read what is stored elsewhere than in stores, given what is installed of the package and its manifest.
        content: where content is kept, for several installations; in the folder where None.
        looking: whether nothing that is installed is to be changed. Where the folder cannot be written, what is remembered is
            copied into memory then, and what is seen of channels is forgotten at the end.

    Raises:
        StateError: the folder cannot be used.
        DatabaseError: the database in it cannot be used.
    """

    def __init__(
        self,
        folder: Path,
        *,
        clock: Callable[[], dt.datetime],
        wait: float = _WAIT,
        progress: Progress | None = None,
        settings: HttpSettings | None = None,
        unreadable: Callable[[InstalledPackage | None, Manifest], Iterable[Finding]] | None = None,
        content: ContentStore | None = None,
        looking: bool = False,
    ) -> None:
        self.folders = Folders(folder.absolute())
        self._clock = clock
        self._wait = wait
        self.progress = progress
        self.settings = settings
        self.unreadable = unreadable
        self.folders.refuse_emptied()
        copy = looking and not self.folders.can_be_written()
        if not copy:
            _make(folder)
        self.memory = Memory(self.folders.database, copy=copy)
        try:
            import_trust(self.folders.trust, self.memory)
        except BaseException:
            self.memory.close()
            raise
        self.content = content or ContentStore(self.folders.content)
        self.reader = Reader(self.memory, self.now, settings=settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the database."""
        self.memory.close()

    def now(self) -> dt.datetime:
        """The time."""
        return require_aware(self._clock())

    # What is there

    def packages(self) -> tuple[InstalledPackage, ...]:
        """What is installed, in alphabetical order."""
        return self.memory.packages()

    def package(self, name: str) -> InstalledPackage:
        """What is installed of a package, by its name or the reference of its repository.

        Raises:
            RefusedError: nothing is.
        """
        found = self.memory.package(name)
        if found is None:
            place = name
            with contextlib.suppress(InvalidReferenceError):
                place = str(absolute(Reference.parse(name)))
            named = [each for each in self.packages() if each.subscription.repository == place]
            found = named[0] if len(named) == 1 else None
        if found is None:
            names = ", ".join(each.name for each in self.packages()) or "nothing"
            code, advice = RefusalCode.NOT_INSTALLED, "install it first, or correct the name"
            raise RefusedError(refusal(code, name, "an installed package", names, advice))
        return found

    def folder(self, package: InstalledPackage) -> Path:
        """The folder of what is installed of a package, by way of the link `current`."""
        return self.folders.link(package.name)

    def history(self, name: str | None = None) -> tuple[PackageEvent, ...]:
        """What happened to a package, or to all of them, the newest first."""
        return self.memory.history(name)

    # Looking

    def look(
        self,
        package: InstalledPackage,
        request: Request = _NOTHING_ASKED,
        policy: Policy | None = None,
    ) -> Outlook:
        """Looks at the channel of an installed package, and decides what is to be done.

        Whatever is wrong with the channel is among the plan's refusals. An accepted channel is remembered, so that
        an older one is refused.

        Args:
            package: the package.
            request: what a person asks for besides.
            policy: the policy; the package's own where None.
        """
        state, now = self.memory.state(package), self.now()
        policy = policy or package.effective_policy
        if package.pinned is not None:
            channel = self._channel_of_pinned(package)
            return Outlook(decide(channel, state, policy, now, request), state, channel)
        try:
            read = self.reader.read(package.subscription, package.name)
        except RefusedError as error:
            plan = UpgradePlan(
                package=package.name, at=now, installed=package.installed, refusals=error.refusals
            )
            return Outlook(plan, state)
        now = self.now()
        seen = self.memory.seen(package.name, package.subscription.name)
        plan = judge(read.channel, seen, state, policy, now, request)
        if not plan.refusals:
            plan = msgspec.structs.replace(plan, notes=(*plan.notes, *read.notes(now)))
        outlook = Outlook(plan, state, read.channel, read.location, read.warnings)
        if outlook.accepted:
            with self.memory.changing():
                self.memory.remember(read.channel, state.known, now)
        return outlook

    def _channel_of_pinned(self, package: InstalledPackage) -> Channel | None:
        """The channel that a package followed before it was pinned, as it is now; None where there was none, or it is not accepted."""
        if not package.subscription.channel:
            return None
        followed = msgspec.structs.replace(package, pinned=None)
        return self.look(followed).accepted

    def status(
        self, package: InstalledPackage, outlook: Outlook | None = None
    ) -> InstallationStatus:
        """How a package stands, after a look at its channel.

        Args:
            package: the package.
            outlook: what came of that look; it is taken where None.
        """
        outlook = outlook or self.look(package)
        before = self.memory.conditions(package.name)
        status = status_of(outlook.plan, outlook.state, outlook.channel, self.now(), before)
        status = msgspec.structs.replace(status, resources=package.manifest.resources)
        with self.memory.changing():
            if self.memory.package(package.name):
                self.memory.keep_conditions(package.name, status.conditions)
        return status

    # Words of people

    def approve(
        self,
        name: str,
        version: SemVer,
        *,
        by: str = "",
        digest: str | None = None,
        dry_run: bool = False,
    ) -> Approval:
        """Approves a version with the content that the channel lists.

        Args:
            name: the package.
            version: the version.
            by: who approves it.
            digest: the content that the user saw; what is listed now where None.
            dry_run: whether nothing is changed.

        Raises:
            RefusedError: the channel is not accepted, does not list the version, or lists other content than the user saw.
        """
        package = self.package(name)
        if package.pinned is not None:
            raise RefusedError(_pinned(package, "approve"))
        outlook = self.look(package)
        channel = outlook.accepted
        if channel is None:
            raise RefusedError(*outlook.plan.refusals)
        entry, tombstone = channel.entry(version), channel.tombstone(version)
        where = f"{package.name} {version} in the channel {channel.name}"
        if tombstone:
            code, found = RefusalCode.VERSION_UNPUBLISHED, f"unpublished: {tombstone.why}"
            raise RefusedError(refusal(code, where, "a listed version", found, "choose another"))
        if entry is None:
            code, advice = RefusalCode.VERSION_NOT_FOUND, "look at the channel for its versions"
            raise RefusedError(refusal(code, where, "a listed version", "none", advice))
        if digest is not None and digest != entry.identity:
            code, advice = RefusalCode.CONCURRENT_CHANGE, "look again at what it is now"
            raise RefusedError(refusal(code, where, digest or "a digest", entry.identity, advice))
        approval = Approval(version, entry.identity, self.now(), by)
        if not dry_run:
            with self.memory.changing():
                self.package(package.name)  # It may have been uninstalled meanwhile.
                self.memory.approve(package.name, approval)
        return approval

    def approvals(self, name: str) -> tuple[Approval, ...]:
        """What is approved of a package.

        Raises:
            RefusedError: it is not installed.
        """
        return self.memory.approvals(self.package(name).name)

    def unapprove(
        self, name: str, version: SemVer, *, digest: str | None = None, dry_run: bool = False
    ) -> bool:
        """Withdraws the approval of a version; whether there was one.

        Args:
            name: the package.
            version: the version.
            digest: the content whose approval the user saw; any where None.
            dry_run: whether nothing is changed.

        Raises:
            RefusedError: the package is not installed, or other content is approved than the user saw.
            StateBusyError: others were changing the installation all the time.
        """
        with self.alone():  # An upgrade that has begun would not see it.
            package = self.package(name)
            found = [
                each for each in self.memory.approvals(package.name) if each.version == version
            ]
            for each in found:
                if digest is not None and digest != each.digest:
                    where = f"{version} of {package.name}"
                    expected, advice = f"an approval of {digest}", "look again at what is approved"
                    code = RefusalCode.CONCURRENT_CHANGE
                    raise RefusedError(refusal(code, where, expected, each.digest, advice))
            if found and not dry_run:
                with self.memory.changing():
                    self.memory.unapprove(package.name, version)
            return bool(found)

    def holds(self, name: str) -> tuple[Hold, ...]:
        """What is held of a package.

        Raises:
            RefusedError: it is not installed.
        """
        return self.memory.holds(self.package(name).name)

    def hold(
        self,
        name: str,
        hold: Hold,
        *,
        shown: Callable[[Hold], bool] | None = None,
        dry_run: bool = False,
    ) -> None:
        """Keeps a package from being changed.

        Args:
            name: the package.
            hold: the hold; one on the same version is replaced.
            shown: whether the user was shown a hold, as far as that is known; one that was not is not replaced.
            dry_run: whether nothing is changed.

        Raises:
            RefusedError: it is not installed, or others hold the version since.
            StateBusyError: others were changing the installation all the time.
        """
        with self.alone():  # An upgrade that has begun would not see it.
            package = self.package(name)
            if not dry_run:
                with self.memory.changing():
                    self._require_shown(package.name, hold.version, shown)
                    self.memory.hold(package.name, hold)

    def unhold(
        self,
        name: str,
        version: SemVer | None = None,
        *,
        shown: Callable[[Hold], bool] | None = None,
        dry_run: bool = False,
    ) -> bool:
        """Ends the hold on a version, or the one on everything; whether there was one.

        Args:
            name: the package.
            version: the version; None for everything.
            shown: see `hold`; one that was not shown is not ended.
            dry_run: whether nothing is changed.

        Raises:
            RefusedError: the package is not installed, or others hold the version since.
        """
        package = self.package(name)
        if dry_run:
            return version in {each.version for each in self.memory.holds(package.name)}
        with self.memory.changing():
            self._require_shown(package.name, version, shown)
            return self.memory.unhold(package.name, version)

    def _require_shown(
        self, name: str, version: SemVer | None, shown: Callable[[Hold], bool] | None
    ) -> None:
        for each in self.holds(name):
            if shown is not None and each.version == version and not shown(each):
                what = f"{version or 'everything'} of {name}"
                found = f"one{f' by {each.by}' if each.by else ''}: {each.why}"
                code, advice = RefusalCode.CONCURRENT_CHANGE, "look again at what is held now"
                raise RefusedError(refusal(code, what, "the holds that were shown", found, advice))

    def set_policy(self, name: str, policy: Policy | None, *, dry_run: bool = False) -> None:
        """Gives a package a policy of its own, or takes that away.

        Raises:
            RefusedError: it is not installed.
        """
        with self.alone():
            package = self.package(name)
            if not dry_run:
                with self.memory.changing():
                    follows = msgspec.structs.replace(package.subscription, policy=policy)
                    self.memory.put(msgspec.structs.replace(package, subscription=follows))

    # Changing

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keeps others from changing the installation, and finishes what a dead process left.

        Nothing is fetched in it, so that no server delays others. Where the folder cannot be written, nothing is changed in it
        either: then neither is done.

        Raises:
            StateBusyError: others were changing it all the time.
        """
        with self._locked(self.folders.lock):
            if not self.memory.is_copy:
                self.folders.settle(self.memory.generation(), self.packages)
            yield

    def fetching(self) -> contextlib.AbstractContextManager[None]:
        """Keeps others from removing content from the local store; any number of processes may fetch at the same time.

        Taken before `alone`, never within it.

        Raises:
            StateBusyError: another process was removing content all the time.
        """
        return self._locked(self.folders.content_lock, shared=True)

    def removing(self) -> contextlib.AbstractContextManager[None]:
        """Keeps others from fetching content. Taken before `alone`, never within it.

        Raises:
            StateBusyError: others were fetching all the time.
        """
        return self._locked(self.folders.content_lock)

    @contextlib.contextmanager
    def _locked(self, path: Path, *, shared: bool = False) -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            try:
                if not self.memory.is_copy:
                    stack.enter_context(locked(path, self._wait, shared=shared))
            except LockBusyError as error:
                where, advice = str(error.path), "try again when it is done"
                expected, found = "to change it alone", "another process at it"
                raise StateBusyError(where, expected, found, advice) from None
            yield

    def commit(
        self,
        changed: Iterable[InstalledPackage],
        events: Iterable[PackageEvent],
        *,
        removed: Iterable[str] = (),
        also: Callable[[], None] | None = None,
    ) -> None:
        """Makes changes true, all together; their content is unpacked already. Called while `alone`.

        Args:
            changed: the packages as they are from now on.
            events: what happened.
            removed: the packages that are no longer installed.
            also: changes what else is remembered, in the same transaction.

        Raises:
            StateError: the database cannot be written; everything is as before.
            OSError: a folder cannot be written; the same.
        """
        packages = {each.name: each for each in self.packages()}
        changed, removed = tuple(changed), tuple(removed)
        packages.update({each.name: each for each in changed})
        for name in removed:
            packages.pop(name, None)
        number = self.folders.next_set(self.memory.generation())
        self.folders.make_set(number, packages.values())
        with self.memory.changing():
            for each in changed:
                self.memory.put(each)
            for name in removed:
                self.memory.remove(name)
            for event in events:
                self.memory.record(event)
            if also is not None:
                also()
            self.memory.set_generation(number)
        self.folders.settle(self.memory.generation(), self.packages)


def _make(folder: Path) -> None:
    try:
        refuse_file(folder)
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        advice = "choose a folder that can be written with --state"
        found = error.strerror or str(error)
        raise StateError(str(folder), "a folder", found, advice) from error


def _pinned(package: InstalledPackage, verb: str) -> Finding:
    expected = "an installation that follows a channel"
    found = f"one that is pinned to {package.pinned}"
    advice = f"there is nothing to {verb}; install another tag, or install by channel"
    return refusal(RefusalCode.PINNED, package.name, expected, found, advice)
