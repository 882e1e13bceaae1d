"""An installation: its folder, opened; what stands in it, and how it changes as a whole.

The order of the writes, so that whoever dies at any of them leaves the old or the new:

1. the content goes into the local store, and each version into a folder of its own: nobody looks there yet;
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
from trundle.channels._refusals import Refusal, RefusalCode, RefusedError
from trundle.channels._times import require_aware
from trundle.channels.decision import Approval, Hold, Plan, Request, Status, decide, status_of
from trundle.channels.installing._content import ContentStore
from trundle.channels.installing._errors import StateBusyError, StateError
from trundle.channels.installing._folders import Folders
from trundle.channels.installing._looking import Follow, Outlook, Reader, absolute, judge
from trundle.channels.installing._memory import Memory
from trundle.channels.installing._records import Event, Package
from trundle.channels.policy import Policy
from trundle.registry import HttpSettings, InvalidReferenceError, Progress, Reference
from trundle.version import SemVer

_WAIT = 60.0
_NOTHING_ASKED = Request()


class Installation:
    """The packages of one machine or project. Used as a context manager, or closed by `close`.

    Args:
        folder: where everything is kept; it is made where it does not exist.
        clock: tells the time, with its time zone.
        wait: seconds to wait for others who change the same installation.
        progress: called with the number of bytes after each piece of content that is fetched.
        settings: times and sizes for registries over HTTP.

    Raises:
        StateError: the folder or the database in it cannot be used.
    """

    def __init__(
        self,
        folder: Path,
        *,
        clock: Callable[[], dt.datetime],
        wait: float = _WAIT,
        progress: Progress | None = None,
        settings: HttpSettings | None = None,
    ) -> None:
        self.folders = Folders(folder.absolute())
        self._clock = clock
        self._wait = wait
        self.progress = progress
        self.settings = settings
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            advice = "choose a folder that can be written with --state"
            found = error.strerror or str(error)
            raise StateError(str(folder), "a folder", found, advice) from error
        self.memory = Memory(self.folders.database)
        self.content = ContentStore(self.folders.content)
        self.reader = Reader(self.folders.trust, self.now)

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

    def packages(self) -> tuple[Package, ...]:
        """What is installed, in alphabetical order."""
        return self.memory.packages()

    def package(self, name: str) -> Package:
        """What is installed of a package, by its name or the reference of its repository.

        Raises:
            RefusedError: nothing is.
        """
        found = self.memory.package(name)
        if found is None:
            place = name
            with contextlib.suppress(InvalidReferenceError):
                place = str(absolute(Reference.parse(name)))
            named = [each for each in self.packages() if each.repository == place]
            found = named[0] if len(named) == 1 else None
        if found is None:
            names = ", ".join(each.name for each in self.packages()) or "nothing"
            code, advice = RefusalCode.NOT_INSTALLED, "install it first, or correct the name"
            raise RefusedError(Refusal(code, name, "an installed package", names, advice))
        return found

    def folder(self, package: Package) -> Path:
        """The folder of what is installed of a package, by way of the link `current`."""
        return self.folders.link(package.name)

    def history(self, name: str | None = None) -> tuple[Event, ...]:
        """What happened to a package, or to all of them, the newest first."""
        return self.memory.history(name)

    # Looking

    def look(
        self, package: Package, request: Request = _NOTHING_ASKED, policy: Policy | None = None
    ) -> Outlook:
        """Looks at the channel of an installed package, and decides what is to be done.

        Whatever is wrong with the channel stands among the plan's refusals. An accepted channel is remembered, so that
        nobody can lead back behind it.

        Args:
            package: the package.
            request: what a person asks for besides.
            policy: the policy; the package's own where None.
        """
        state, now = self.memory.state(package), self.now()
        policy = policy or package.effective_policy
        if package.pinned is not None:
            return Outlook(decide(None, state, policy, now, request), state)
        follow = Follow(
            package.repository, package.channel, package.name, package.word, package.signed
        )
        try:
            read = self.reader.read(follow)
        except RefusedError as error:
            plan = Plan(
                package=package.name, at=now, installed=package.installed, refusals=error.refusals
            )
            return Outlook(plan, state)
        now = self.now()
        seen = self.memory.seen(package.name, package.word)
        plan = judge(read.channel, seen, state, policy, now, request)
        if not plan.refusals:
            plan = msgspec.structs.replace(plan, notes=(*plan.notes, *read.notes(now)))
        outlook = Outlook(plan, state, read.channel, read.location, read.warnings)
        if outlook.accepted:
            with self.memory.changing():
                self.memory.remember(read.channel, state.known, now)
        return outlook

    def status(self, package: Package, outlook: Outlook | None = None) -> Status:
        """How a package stands, after a look at its channel.

        Args:
            package: the package.
            outlook: what came of that look; it is taken where None.
        """
        outlook = outlook or self.look(package)
        before = self.memory.conditions(package.name)
        status = status_of(outlook.plan, outlook.state, outlook.channel, self.now(), before)
        with self.memory.changing():
            if self.memory.package(package.name):
                self.memory.keep_conditions(package.name, status.conditions)
        return status

    # Words of people

    def approve(
        self, name: str, version: SemVer, *, by: str = "", dry_run: bool = False
    ) -> Approval:
        """Approves a version with the content that the channel lists.

        Raises:
            RefusedError: the channel cannot be believed, or does not list the version.
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
            code, found = RefusalCode.VERSION_UNPUBLISHED, f"unpublished: {tombstone.reason}"
            raise RefusedError(Refusal(code, where, "a listed version", found, "choose another"))
        if entry is None:
            code, advice = RefusalCode.VERSION_NOT_FOUND, "look at the channel for its versions"
            raise RefusedError(Refusal(code, where, "a listed version", "none", advice))
        approval = Approval(version, entry.identity, self.now(), by)
        if not dry_run:
            with self.memory.changing():
                self.memory.approve(package.name, approval)
        return approval

    def holds(self, name: str) -> tuple[Hold, ...]:
        """What is held of a package.

        Raises:
            RefusedError: it is not installed.
        """
        return self.memory.holds(self.package(name).name)

    def hold(self, name: str, hold: Hold, *, dry_run: bool = False) -> None:
        """Keeps a package from being changed.

        Raises:
            RefusedError: it is not installed.
            StateBusyError: others were changing the installation all the time.
        """
        with self.alone():  # An upgrade that has begun would not see it.
            package = self.package(name)
            if not dry_run:
                with self.memory.changing():
                    self.memory.hold(package.name, hold)

    def unhold(self, name: str, version: SemVer | None = None, *, dry_run: bool = False) -> bool:
        """Ends the hold on a version, or the one on everything; whether there was one.

        Raises:
            RefusedError: the package is not installed.
        """
        package = self.package(name)
        if dry_run:
            return version in {each.version for each in self.memory.holds(package.name)}
        with self.memory.changing():
            return self.memory.unhold(package.name, version)

    def set_policy(self, name: str, policy: Policy | None, *, dry_run: bool = False) -> None:
        """Gives a package a policy of its own, or takes that away.

        Raises:
            RefusedError: it is not installed.
        """
        with self.alone():
            package = self.package(name)
            if not dry_run:
                with self.memory.changing():
                    self.memory.put(msgspec.structs.replace(package, policy=policy))

    # Forgetting what guards against being led back; for the rare case in which it was wrong

    def forget_clock(self, *, dry_run: bool = False) -> dt.datetime | None:
        """Forgets the latest time that was seen, as when this machine's clock once stood in the future.

        Returns:
            That time; None where there is none.

        Raises:
            StateBusyError: others were changing the installation all the time.
            TrustError: what was seen of a channel cannot be read.
        """
        with self.alone():
            times = [self.memory.clock_floor()]
            store = self.reader.trust_store() if self.folders.trust.is_dir() else None
            if store is not None:
                times.append(store.clock())
            if not dry_run:
                if store is not None:
                    store.forget_clock()
                with self.memory.changing():
                    self.memory.forget_clock()
            return max((each for each in times if each), default=None)

    def forget_channels(self, name: str, *, dry_run: bool = False) -> int:
        """Forgets how new the channels of a package were, as when its publisher had to begin anew.

        Digests that are known stay known, and the publisher's root stays trusted.

        Returns:
            The highest serial that was seen; 0 for none.

        Raises:
            RefusedError: the channel that the package follows is not there.
            StateBusyError: others were changing the installation all the time.
            TrustError: what was seen of it cannot be read.
        """
        with self.alone():
            package = self.memory.package(name)
            serial = self.memory.highest_serial(name)
            if dry_run:
                return serial
            if package is not None and package.pinned is None and package.signed:
                location = self.reader.location(package.channel, package.repository)
                self.reader.trust_store().forget_seen(location)
            with self.memory.changing():
                self.memory.forget_channels(name)
            return serial

    def forget_digest(self, name: str, version: SemVer, *, dry_run: bool = False) -> str:
        """Forgets the digest of a version that is not installed; of a package that need not be, either.

        Returns:
            The digest.

        Raises:
            RefusedError: none is known, or just that version is installed.
            StateBusyError: others were changing the installation all the time.
        """
        with self.alone():
            package = self.memory.package(name)
            where = f"{name} {version}"
            if package is not None and package.version == version:
                expected, advice = "a version that is not installed", "uninstall the package first"
                code = RefusalCode.ALREADY_INSTALLED
                raise RefusedError(Refusal(code, where, expected, "the installed one", advice))
            digest = self.memory.state_before(name, "").known.get(version)
            if digest is None:
                code, advice = RefusalCode.VERSION_NOT_FOUND, "correct the name or the version"
                raise RefusedError(Refusal(code, where, "a known digest", "none", advice))
            if not dry_run:
                with self.memory.changing():
                    self.memory.forget_digest(name, version)
            return digest

    # Changing

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keeps others from changing the installation, and finishes what a dead process left.

        Raises:
            StateBusyError: others were changing it all the time.
        """
        try:
            with locked(self.folders.lock, self._wait):
                self._settle()
                yield
        except LockBusyError as error:
            where, advice = str(error.path), "try again when it is done"
            raise StateBusyError(where, "to change it alone", "somebody at it", advice) from None

    def commit(
        self,
        changed: Iterable[Package],
        events: Iterable[Event],
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
        self._settle()

    def _settle(self) -> None:
        number = self.memory.generation()
        if not self.folders.is_current(number):
            if number and not self.folders.has_set(number):
                self.folders.make_set(number, self.packages())
            if number:
                self.folders.switch(number)
        self.folders.tidy(number)


def _pinned(package: Package, verb: str) -> Refusal:
    expected = "an installation that follows a channel"
    found = f"one that is pinned to {package.pinned}"
    advice = f"there is nothing to {verb}; install another tag, or install by channel"
    return Refusal(RefusalCode.PINNED, package.name, expected, found, advice)
