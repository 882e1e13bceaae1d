"""Installs packages: by channel, or pinned to a tag or a digest."""

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from trundle.channels import RefusalCode, RefusedError, refusal
from trundle.channels.artifacts import Artifact
from trundle.channels.decision import Request, check_holds
from trundle.channels.files import STABLE, is_channel_word
from trundle.channels.policy import Policy
from trundle.channels.reading import Subscription, refusal_of_trust
from trundle.errors import Finding
from trundle.installation._applying import (
    ATTEMPTS,
    Change,
    ChangeResult,
    Goal,
    basis_of,
    carry_out,
    changed_all_the_time,
    check_fits,
    install_unpacked,
)
from trundle.installation._content import mismatch
from trundle.installation._installation import Installation
from trundle.installation._outlook import Outlook, Reader, absolute, judge
from trundle.installation._records import InstalledPackage, PackageEvent
from trundle.installation._stored import check_readable, with_readable
from trundle.packages import Release, to_install
from trundle.registry import Reference, open_repository, version_of
from trundle.version import SemVer, VersionError

if TYPE_CHECKING:
    from trundle.installation._trust import TrialTrust


class Install(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be installed, and how it is followed.

    Attributes:
        reference: the package's repository; with a tag or a digest, the installation is pinned to that.
        channel: the channel name, or its URL or folder; `stable` where None. Of no use where it is pinned.
        root: the root by which the channel is verified; not needed where it is trusted already.
        unsigned: whether to accept an unsigned channel.
        to: this version in place of the latest.
        policy: the package's own upgrade policy.
        needs: the repositories of packages that it may need; they are installed from the same channel where it does.
        upgrade: whether a package that is installed from there already is upgraded; else that is refused.
    """

    reference: str
    channel: str | None = None
    root: bytes | None = None
    unsigned: bool = False
    to: SemVer | None = None
    policy: Policy | None = None
    needs: tuple[str, ...] = ()
    upgrade: bool = False


def install(installation: Installation, wanted: Install, *, dry_run: bool = False) -> ChangeResult:
    """Installs a package with what it needs, or lets an installed one follow another channel.

    Raises:
        RefusedError: a rule refuses it; nothing was changed.
        InvalidReferenceError: the reference is none.
        StateBusyError: others were changing the installation all the time.
        StateError: the installation cannot be changed; it is as before. So for StorageError and OSError.
    """
    reference = absolute(Reference.parse(wanted.reference))
    if reference.tag is not None or reference.digest is not None:
        return _install_pinned(installation, wanted, reference, dry_run=dry_run)
    return _Following(installation, wanted, str(reference)).run(dry_run=dry_run)


def absolute_channel(channel: str) -> str:
    """A channel that means the same in every folder."""
    if is_channel_word(channel) or channel.startswith(("http://", "https://")):
        return channel
    return str(Path(channel).absolute()) if "/" in channel or Path(channel).is_dir() else channel


class _Following:
    """One installation by channel."""

    def __init__(self, installation: Installation, wanted: Install, repository: str) -> None:
        self._installation = installation
        self._wanted = wanted
        self._repository = repository
        self._channel = absolute_channel(wanted.channel or STABLE)
        self._outlooks: dict[str, Outlook] = {}
        self._main: Goal | None = None
        self._trial: TrialTrust | None = None
        self._reader = installation.reader
        self._notes: tuple[str, ...] = ()

    def run(self, *, dry_run: bool) -> ChangeResult:
        result = carry_out(
            self._installation,
            self._look,
            dry_run=dry_run,
            complete=self._complete,
            also=self._remember,
        )
        notes = (*result.notes, *self._notes)
        return msgspec.structs.replace(result, outlooks=self._outlooks, notes=notes)

    def _look(self) -> list[Goal]:
        places = [self._repository]
        places += [str(absolute(Reference.parse(each))) for each in self._wanted.needs]
        if len(places) > 1 and not is_channel_word(self._channel):
            expected = "a channel name, as other packages are named that it may need"
            advice = "use one, or install those packages first, each with its own channel and root"
            code = RefusalCode.INVALID_CHANNEL_WORD
            raise RefusedError(refusal(code, "the channel", expected, self._channel, advice))
        places = list(dict.fromkeys(places))
        self._outlooks = {}
        self._trust(places)
        self._main = self._goal(places[0], main=True)
        goals = [self._main]
        for place in places[1:]:
            goal = self._goal(place, main=False)
            if goal.name not in {each.name for each in goals}:
                goals.append(goal)
        return goals

    def _complete(self, change: Change) -> Change:
        """Refuses a change without the package itself; one that is installed already follows the channel in any case."""
        main, result = self._main, change.result
        assert main is not None
        if main.name in result.refusals:
            raise RefusedError(*result.all_refusals)
        after = self._followed(main)
        if after in {None, main.before} or main.name in {each.package for each in result.events}:
            return change
        assert after is not None
        follows = main.subscription
        if main.before is not None and _is_same(main.before, follows.repository, follows.channel):
            return Change(packages=(*change.packages, after), result=result)
        event = self._follow_event(after, main)
        result = msgspec.structs.replace(result, events=(*result.events, event))
        return Change(packages=(*change.packages, after), result=result)

    def _goal(self, place: str, *, main: bool) -> Goal:
        """Decides about one package.

        Raises:
            RefusedError: its channel is not accepted, or has nothing to install.
        """
        installation, wanted = self._installation, self._wanted
        signed = not wanted.unsigned
        word = self._channel if is_channel_word(self._channel) else ""
        follow = Subscription(repository=place, channel=self._channel, name=word, signed=signed)
        read = self._reader.read(follow)
        channel = read.channel
        name, memory = channel.package, installation.memory
        before = memory.package(name)
        state = memory.state_before(name, channel.name)
        if channel.serial < state.seen_serial:
            # Another client may have seen a newer state after this one was read: it is there to be read by now.
            read = self._reader.read(follow, name)
            channel = read.channel
        same = before is not None and _is_same(before, place, self._channel)
        if main and before is not None and same and not wanted.upgrade:
            raise RefusedError(_already(before))
        state = msgspec.structs.replace(state, installed=before.installed if before else None)
        request = Request(to=wanted.to) if main else Request()
        policy = wanted.policy or (before.effective_policy if before else Policy())
        now = installation.now()
        plan = judge(channel, memory.seen(name, channel.name), state, policy, now, request)
        installed = {each.code for each in plan.refusals} == {RefusalCode.ALREADY_INSTALLED}
        if installed and main and wanted.upgrade:
            plan = msgspec.structs.replace(plan, refusals=())
        if plan.refusals:
            raise RefusedError(*plan.refusals)
        if main and not signed and self._reader.has_signatures(follow):
            note = "has signatures, which are not verified; give the publisher's root with --root"
            self._notes = (f"{read.location} {note}",)
        plan = with_readable(installation, place, before, plan)
        self._outlooks[name] = Outlook(plan, state, channel, read.location, read.warnings)
        return Goal(
            name=name,
            subscription=msgspec.structs.replace(
                follow,
                name=channel.name,
                policy=wanted.policy or (before.subscription.policy if before else None),
            ),
            ready=tuple(each.entry for each in plan.ready),
            wanted=main,
            before=before,
        )

    def _followed(self, goal: Goal) -> InstalledPackage | None:
        """What is installed, as it follows the channel from now on."""
        return goal.before and msgspec.structs.replace(
            goal.before, subscription=goal.subscription, pinned=None
        )

    def _follow_event(self, before: InstalledPackage, goal: Goal) -> PackageEvent:
        version = str(before.version or "")
        return PackageEvent(
            package=goal.name,
            at=self._installation.now(),
            action="follow",
            before=version,
            before_digest=before.digest,
            after=version,
            after_digest=before.digest,
            note=f"follows {goal.subscription.channel} in {goal.subscription.repository}",
        )

    def _remember(self) -> None:
        """Records what was seen of channels, in the transaction that records what is installed."""
        memory = self._installation.memory
        if self._trial is not None:
            self._trial.save()
        for each in self._outlooks.values():
            if each.channel is not None:
                memory.remember(each.channel, each.state.known, self._installation.now())

    def _trust(self, places: Iterable[str]) -> None:
        """Trusts the root that was given on trial, for the channels that are not followed and trusted already.

        Raises:
            RefusedError: it is no root, or a channel is not there.
        """
        wanted, installation = self._wanted, self._installation
        if wanted.unsigned or wanted.root is None:
            return
        from trundle.channels.reading.signatures import TrustError, trust  # noqa: PLC0415 - needs an extra
        from trundle.installation._trust import TrialTrust  # noqa: PLC0415 - the same

        try:
            state = trust(wanted.root)
        except TrustError as error:
            code, advice = (
                RefusalCode.BAD_SIGNATURE,
                "give the root.json of the channel's publisher",
            )
            why = refusal(code, "the given root", error.expected, error.found, advice)
            raise RefusedError(why) from error
        store, roots = installation.reader.trust_store(), {}
        for place in places:
            location = installation.reader.location(self._channel, place)
            used = any(_is_same(each, place, self._channel) for each in installation.packages())
            try:
                if not used or store.state(location) is None:
                    roots[location] = state
            except TrustError as error:
                raise RefusedError(refusal_of_trust(error, location)) from error
        self._trial = TrialTrust(installation.memory, roots)
        self._reader = Reader(
            installation.memory, installation.now, self._trial, installation.settings
        )


def _install_pinned(
    installation: Installation, wanted: Install, reference: Reference, *, dry_run: bool
) -> ChangeResult:
    repository = msgspec.structs.replace(reference, tag=None, digest=None)
    source = open_repository(repository, settings=installation.settings)
    pin = _Pin(installation, wanted, reference, str(repository))
    text = reference.digest or reference.tag
    assert text is not None
    with contextlib.nullcontext() if dry_run else installation.fetching():
        artifact = installation.content.look(source, text, str(reference))
    if wanted.upgrade and pin.is_installed(artifact):
        return ChangeResult(notes=(f"{reference} is installed already",))
    if dry_run:
        pin.check(artifact)
        return ChangeResult(events=(pin.event(artifact),), notes=pin.notes)
    for _ in range(ATTEMPTS):
        basis = basis_of(installation, dry_run=False)
        pin.check(artifact)
        with installation.fetching():
            installation.content.fetch(source, artifact, str(reference), installation.progress)
            with installation.alone():
                if installation.memory.basis() == basis:
                    event = pin.event(artifact)
                    install_unpacked(installation, [pin.package(artifact)], [event])
                    return ChangeResult(events=(event,), notes=pin.notes)
    raise changed_all_the_time(installation)


class _Pin:
    """One installation of a tag or a digest."""

    def __init__(
        self,
        installation: Installation,
        wanted: Install,
        reference: Reference,
        repository: str,
    ) -> None:
        self._installation = installation
        self._wanted = wanted
        self._reference = reference
        self._repository = repository

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know about an installation."""
        notes = [f"pinned to {self._reference}: no updates are looked for"]
        if self._wanted.channel is not None:
            notes.append(f"the channel {self._wanted.channel} is ignored")
        return tuple(notes)

    def is_installed(self, artifact: Artifact) -> bool:
        """Whether just that is installed, and pinned to the same."""
        before = self._installation.memory.package(artifact.package.name)
        found = before and (before.pinned, before.digest)
        return found == (str(self._reference), artifact.digest)

    def check(self, artifact: Artifact) -> None:
        """Refuses what must not be installed.

        Raises:
            RefusedError: a rule refuses it.
        """
        name, version = artifact.package.name, self._version()
        where = str(self._reference)
        if version is not None and version.release != artifact.package.version:
            raise mismatch(where, f"version {version.release}", str(artifact.package.version))
        before = self._installation.memory.package(name)
        if before is not None and self.is_installed(artifact):
            raise RefusedError(_already(before))
        state = self._installation.memory.state_before(name, "")
        if version is not None and state.known.get(version, artifact.digest) != artifact.digest:
            code, advice = RefusalCode.DIGEST_CHANGED, "do not install it; ask the publisher"
            expected = f"{state.known[version]}, as known here"
            raise RefusedError(refusal(code, where, expected, artifact.digest, advice))
        release = Release(
            name,
            version or artifact.package.version,
            artifact.digest,
            to_install(artifact.package.requirements),
        )
        held = check_holds(state, version, self._installation.now())
        if held:
            raise RefusedError(*held)
        check_fits(self._installation, where, put=(release,))
        check_readable(self._installation, before, artifact.package, where)

    def package(self, artifact: Artifact) -> InstalledPackage:
        """What is installed from now on."""
        before = self._installation.memory.package(artifact.package.name)
        follows = Subscription(repository=self._repository, channel="")
        policy = self._wanted.policy
        if before is not None:
            policy = policy or before.subscription.policy
            if before.subscription.repository == self._repository:
                follows = before.subscription  # Its channel knows what is unpublished.
        return InstalledPackage(
            name=artifact.package.name,
            subscription=msgspec.structs.replace(follows, policy=policy),
            pinned=str(self._reference),
            version=self._version(),
            digest=artifact.digest,
            since=self._installation.now(),
            manifest=artifact.package,
        )

    def event(self, artifact: Artifact) -> PackageEvent:
        """What happens."""
        before = self._installation.memory.package(artifact.package.name)
        return PackageEvent(
            package=artifact.package.name,
            at=self._installation.now(),
            action="install",
            before=str(before.release.version) if before else "",
            before_digest=before.digest if before else "",
            after=str(self._version() or artifact.package.version),
            after_digest=artifact.digest,
            note=f"pinned to {self._reference}",
        )

    def _version(self) -> SemVer | None:
        if self._reference.tag is None:
            return None
        try:
            return SemVer.parse(version_of(self._reference.tag))
        except VersionError:
            return None


def _is_same(package: InstalledPackage, repository: str, channel: str) -> bool:
    """Whether a package follows a channel."""
    follows = package.subscription
    followed = (follows.repository, follows.channel) == (repository, channel)
    return package.pinned is None and followed


def _already(package: InstalledPackage) -> Finding:
    version = package.version or package.digest
    follows = package.subscription
    place = package.pinned or f"the channel {follows.channel} in {follows.repository}"
    found, advice = f"{version} from {place}", "use --upgrade, or `trundle upgrade`"
    code = RefusalCode.ALREADY_INSTALLED
    return refusal(code, package.name, "a package that is not installed", found, advice)
