"""Installs packages: by channel, or pinned to a tag or a digest."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from trundle.channels._refusals import Refusal, RefusalCode, RefusedError
from trundle.channels.decision import Request, check_holds
from trundle.channels.files import STABLE, is_channel_word
from trundle.channels.installing._carrying import (
    Goal,
    Result,
    carry_out,
    check_fits,
    install_unpacked,
)
from trundle.channels.installing._content import Artifact, mismatch
from trundle.channels.installing._installation import Installation
from trundle.channels.installing._looking import Follow, Outlook, absolute, judge
from trundle.channels.installing._records import Event, Package
from trundle.channels.policy import Policy
from trundle.channels.serving import refusal_of_trust
from trundle.packages import Release
from trundle.registry import Reference, open_repository, version_of
from trundle.version import SemVer, VersionError


class Install(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be installed, and how it is followed.

    Attributes:
        reference: the package's repository; with a tag or a digest, the installation is pinned to that.
        channel: the channel's word, URL or folder; `stable` where None. Of no use where it is pinned.
        root: the root by which the channel is verified; not needed where it is trusted already.
        unsigned: whether the channel is believed without signatures.
        to: this version in place of the latest.
        policy: the package's own upgrade policy.
        needs: the repositories of packages that it may need; they are installed from the same channel where it does.
    """

    reference: str
    channel: str | None = None
    root: bytes | None = None
    unsigned: bool = False
    to: SemVer | None = None
    policy: Policy | None = None
    needs: tuple[str, ...] = ()


def install(installation: Installation, wanted: Install, *, dry_run: bool = False) -> Result:
    """Installs a package with what it needs, or lets an installed one follow another channel.

    Raises:
        RefusedError: a rule refuses it; nothing was changed.
        InvalidReferenceError: the reference is none.
        StateBusyError: others were changing the installation all the time.
        StateError: the installation cannot be changed; it is as before. So for StorageError and OSError.
    """
    reference = absolute(Reference.parse(wanted.reference))
    with installation.alone():
        if reference.tag is not None or reference.digest is not None:
            return _install_pinned(installation, wanted, reference, dry_run=dry_run)
        following = _Following(installation, wanted, str(reference), dry_run=dry_run)
        try:
            return following.run()
        except _DryRun as done:
            return done.result


def absolute_channel(channel: str) -> str:
    """A channel that means the same in every folder."""
    if is_channel_word(channel) or channel.startswith(("http://", "https://")):
        return channel
    return str(Path(channel).absolute()) if "/" in channel or Path(channel).is_dir() else channel


class _Following:
    """One installation by channel."""

    def __init__(
        self, installation: Installation, wanted: Install, repository: str, *, dry_run: bool
    ) -> None:
        self._installation = installation
        self._wanted = wanted
        self._repository = repository
        self._channel = absolute_channel(wanted.channel or STABLE)
        self._dry_run = dry_run
        self._outlooks: dict[str, Outlook] = {}

    def run(self) -> Result:
        places = [self._repository]
        places += [str(absolute(Reference.parse(each))) for each in self._wanted.needs]
        if len(places) > 1 and not is_channel_word(self._channel):
            expected = "a channel's word where packages are named that it may need"
            advice = "use one, or install those packages first, each with its own channel and root"
            code = RefusalCode.INVALID_CHANNEL_WORD
            raise RefusedError(Refusal(code, "the channel", expected, self._channel, advice))
        with contextlib.ExitStack() as trusting:
            for place in dict.fromkeys(places):
                trusting.enter_context(self._trusting(place))
            main, installation = self._goal(places[0], main=True), self._installation
            goals = [main]
            for place in dict.fromkeys(places[1:]):
                goal = self._goal(place, main=False)
                if goal.name not in {each.name for each in goals}:
                    goals.append(goal)
            after = self._followed(main)
            result = carry_out(
                installation, goals, dry_run=self._dry_run, before_commit=self._remember
            )
            if main.name in result.refusals:
                raise RefusedError(*result.all_refusals)
            if main.before is not None and main.name not in {e.package for e in result.events}:
                event = self._follow_event(main.before, main)
                if not self._dry_run:
                    self._remember()
                    installation.commit([after or main.before], [event])
                result = msgspec.structs.replace(result, events=(*result.events, event))
            result = msgspec.structs.replace(result, outlooks=self._outlooks)
            if self._dry_run:
                raise _DryRun(result)
        return result

    def _goal(self, place: str, *, main: bool) -> Goal:
        """Decides about one package.

        Raises:
            RefusedError: its channel cannot be believed, or has nothing to install.
        """
        installation, wanted = self._installation, self._wanted
        signed = not wanted.unsigned
        word = self._channel if is_channel_word(self._channel) else None
        follow = Follow(place, self._channel, None, word, signed)
        read = installation.reader.read(follow)
        channel = read.channel
        name, memory = channel.package, installation.memory
        before = memory.package(name)
        if main and before is not None and _is_same(before, place, self._channel):
            raise RefusedError(_already(before))
        state = memory.state_before(name, channel.name)
        state = msgspec.structs.replace(state, installed=before.installed if before else None)
        request = Request(to=wanted.to) if main else Request()
        policy = wanted.policy or (before.effective_policy if before else Policy())
        now = installation.now()
        plan = judge(channel, memory.seen(name, channel.name), state, policy, now, request)
        if plan.refusals:
            raise RefusedError(*plan.refusals)
        self._outlooks[name] = Outlook(plan, state, channel, read.location, read.warnings)
        return Goal(
            name=name,
            repository=place,
            channel=self._channel,
            word=channel.name,
            signed=signed,
            policy=wanted.policy or (before.policy if before else None),
            ready=tuple(each.entry for each in plan.ready),
            wanted=main,
            before=before,
        )

    def _followed(self, goal: Goal) -> Package | None:
        """What is installed, as it follows the channel from now on."""
        return goal.before and msgspec.structs.replace(
            goal.before,
            repository=goal.repository,
            channel=goal.channel,
            word=goal.word,
            pinned=None,
            signed=goal.signed,
            policy=goal.policy,
        )

    def _follow_event(self, before: Package, goal: Goal) -> Event:
        version = str(before.version or "")
        return Event(
            package=goal.name,
            at=self._installation.now(),
            action="follow",
            before=version,
            before_digest=before.digest,
            after=version,
            after_digest=before.digest,
            note=f"follows {goal.channel} in {goal.repository}",
        )

    def _remember(self) -> None:
        memory = self._installation.memory
        with memory.changing():
            for each in self._outlooks.values():
                if each.channel is not None:
                    memory.remember(each.channel, each.state.known, self._installation.now())

    @contextlib.contextmanager
    def _trusting(self, place: str) -> Iterator[None]:
        """Trusts the channel's root, unless that is done already; no longer if nothing comes of it."""
        wanted, installation = self._wanted, self._installation
        if wanted.unsigned or wanted.root is None:
            yield
            return
        from trundle.channels.trust import TrustError, trust  # noqa: PLC0415 - needs an extra

        location = installation.reader.location(self._channel, place)
        store = installation.reader.trust_store()
        used = any(_is_same(each, place, self._channel) for each in installation.packages())
        try:
            state = trust(wanted.root)
        except TrustError as error:
            code, advice = (
                RefusalCode.BAD_SIGNATURE,
                "give the root.json of the channel's publisher",
            )
            refusal = Refusal(code, "the given root", error.expected, error.found, advice)
            raise RefusedError(refusal) from error
        try:
            if used and store.state(location) is not None:
                yield
                return
            store.forget(location)
            store.trust(location, state)
        except TrustError as error:
            raise RefusedError(refusal_of_trust(error, location)) from error
        try:
            yield
        except BaseException:
            store.forget(location)
            raise


class _DryRun(Exception):  # noqa: N818 - ends what was only tried
    def __init__(self, result: Result) -> None:
        self.result = result
        super().__init__()


def _install_pinned(
    installation: Installation, wanted: Install, reference: Reference, *, dry_run: bool
) -> Result:
    repository = msgspec.structs.replace(reference, tag=None, digest=None)
    source = open_repository(repository, settings=installation.settings)
    pin = _Pin(installation, wanted, reference, str(repository), dry_run=dry_run)
    text = reference.digest or reference.tag
    assert text is not None
    try:
        artifact = installation.content.fetch(
            source, text, str(reference), check=pin.check, progress=installation.progress
        )
    except _DryRun as done:
        return done.result
    package, event = pin.package(artifact), pin.event(artifact)
    installation.content.unpack(artifact, installation.folders.of(package), str(reference))
    install_unpacked(installation, [package], [event])
    return Result(events=(event,), notes=pin.notes)


class _Pin:
    """One installation of a tag or a digest."""

    def __init__(
        self,
        installation: Installation,
        wanted: Install,
        reference: Reference,
        repository: str,
        *,
        dry_run: bool,
    ) -> None:
        self._installation = installation
        self._wanted = wanted
        self._reference = reference
        self._repository = repository
        self._dry_run = dry_run

    @property
    def notes(self) -> tuple[str, ...]:
        """What whoever installs should know."""
        notes = [f"pinned to {self._reference}: updates are not looked for"]
        if self._wanted.channel is not None:
            notes.append(f"the channel {self._wanted.channel} is ignored")
        return tuple(notes)

    def check(self, artifact: Artifact) -> None:
        """Refuses what must not be installed.

        Raises:
            RefusedError: a rule refuses it.
        """
        name, version = artifact.manifest.name, self._version()
        where = str(self._reference)
        if version is not None and version.release != artifact.manifest.version:
            raise mismatch(where, f"version {version.release}", str(artifact.manifest.version))
        before = self._installation.memory.package(name)
        same = before and (before.pinned, before.digest) == (where, artifact.digest)
        if before is not None and same:
            raise RefusedError(_already(before))
        state = self._installation.memory.state_before(name, "")
        if version is not None and state.known.get(version, artifact.digest) != artifact.digest:
            code, advice = RefusalCode.DIGEST_CHANGED, "do not install it; ask the publisher"
            expected = f"{state.known[version]}, as known here"
            raise RefusedError(Refusal(code, where, expected, artifact.digest, advice))
        release = Release(
            name,
            version or artifact.manifest.version,
            artifact.digest,
            artifact.manifest.requirements,
        )
        held = check_holds(state, version, self._installation.now())
        if held:
            raise RefusedError(*held)
        check_fits(self._installation, where, put=release)
        if self._dry_run:
            raise _DryRun(Result(events=(self.event(artifact),), notes=self.notes))

    def package(self, artifact: Artifact) -> Package:
        """What is installed from now on."""
        before = self._installation.memory.package(artifact.manifest.name)
        return Package(
            name=artifact.manifest.name,
            repository=self._repository,
            pinned=str(self._reference),
            policy=self._wanted.policy or (before.policy if before else None),
            version=self._version(),
            digest=artifact.digest,
            since=self._installation.now(),
            manifest=artifact.manifest,
        )

    def event(self, artifact: Artifact) -> Event:
        """What happens."""
        before = self._installation.memory.package(artifact.manifest.name)
        return Event(
            package=artifact.manifest.name,
            at=self._installation.now(),
            action="install",
            before=str(before.version or "") if before else "",
            before_digest=before.digest if before else "",
            after=str(self._version() or ""),
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


def _is_same(package: Package, repository: str, channel: str) -> bool:
    """Whether a package follows a channel."""
    followed = (package.repository, package.channel) == (repository, channel)
    return package.pinned is None and followed


def _already(package: Package) -> Refusal:
    version = package.version or package.digest
    place = package.pinned or f"the channel {package.channel} in {package.repository}"
    found, advice = f"{version} from {place}", "use `trundle upgrade`"
    code = RefusalCode.ALREADY_INSTALLED
    return Refusal(code, package.name, "a package that is not installed", found, advice)
