"""Decides what to install: a pure function of channel, state, policy, request and clock."""

import datetime as dt
from collections.abc import Iterable, Mapping

import msgspec

from trundle.channels._refusals import RefusalCode, refusal
from trundle.channels._times import require_aware
from trundle.channels.decision._model import (
    Block,
    Blocked,
    PlanAction,
    Ready,
    Request,
    Scheduled,
    State,
    UpgradePlan,
    Verdict,
)
from trundle.channels.decision._trust import check_trust
from trundle.channels.decision._version_decision import Judge, hold_text
from trundle.channels.files import Channel, ListedVersion
from trundle.channels.policy import Policy
from trundle.errors import Finding, expectation
from trundle.version import SemVer

_NOTHING_ASKED = Request()


def candidates(
    channel: Channel, state: State, request: Request = _NOTHING_ASKED
) -> tuple[ListedVersion, ...]:
    """The versions that may be installed, sooner or later, newest first.

    These are the listed versions above what is installed and at most the latest; none where there is no latest.
    With `request.to` it is that version alone, if it is listed. Whether one is old enough, reachable and allowed is
    judged by `decide`.
    """
    if request.to is not None:
        entry = channel.entry(request.to)
        return (entry,) if entry else ()
    latest, installed = channel.latest, state.installed
    if latest is None:
        return ()
    if installed is None or installed.version is None:
        return tuple(each for each in channel.versions if each.version == latest)
    version = installed.version
    if latest < version and request.allow_downgrade:
        return tuple(each for each in channel.versions if each.version == latest)
    return tuple(each for each in channel.versions if version < each.version <= latest)


def decide(
    channel: Channel | None,
    state: State,
    policy: Policy,
    now: dt.datetime,
    request: Request = _NOTHING_ASKED,
) -> UpgradePlan:
    """Decides what is to be done now, what later, and what not.

    The highest candidate whose level may act now is the target. Those above it wait for a computed time, or are
    blocked for a reason. From scratch, the latest version is the target, whatever the policy says. With any
    refusal nothing is done at all.

    Args:
        channel: the channel as it was read and verified. An installation that is pinned needs none; where there is one, it says whether the
            installed version was unpublished.
        state: what the installation knows.
        policy: when it may be upgraded.
        now: the time.
        request: what a person asks for besides.

    Raises:
        ValueError: a time has no time zone, or there is no channel to follow.
    """
    now = require_aware(now)
    at = now if request.at is None else require_aware(request.at)
    empty = UpgradePlan(package=state.package, at=at, installed=state.installed)
    if state.pinned is not None:
        return _pinned(empty, state.pinned, channel, request)
    if channel is None:
        raise ValueError(expectation(f"the channel that {state.package} follows", "none"))
    refusals = check_trust(channel, state, now, request)
    if not refusals and request.to is not None:
        refusals = _check_request(channel, state, request.to, request)
        refusals = refusals or check_holds(state, request.to, at, ending=False)
    if refusals:
        return msgspec.structs.replace(empty, refusals=refusals)
    judge = Judge(state, policy, request, at)
    verdicts = [judge.judge(each, state.installed) for each in candidates(channel, state, request)]
    return _plan(empty, channel, verdicts)


def check_holds(
    state: State, version: SemVer | None, at: dt.datetime, *, ending: bool = True
) -> tuple[Finding, ...]:
    """Why a version that a person asks for is not installed: it is held, or everything is.

    Args:
        state: what the installation knows.
        version: the version; None for content without one.
        at: the time.
        ending: whether holds count that end by themselves.
    """
    refusals = []
    for hold in state.holds:
        lasts = hold.until is None or (ending and hold.until > at)
        if lasts and hold.version in (None, version):
            where = f"{state.package} {version or ''}".strip()
            advice = "release it with `trundle unhold`"
            refusals.append(
                refusal(RefusalCode.HELD, where, "what is not held", hold_text(hold), advice)
            )
    return tuple(refusals)


def weighed(plan: UpgradePlan, chosen: ListedVersion | None, why: Iterable[str]) -> UpgradePlan:
    """A plan after a resolver has looked at it: what else is installed may not admit its target.

    Args:
        plan: the plan.
        chosen: the version that the resolver takes; None for none.
        why: why it does not take the target.
    """
    if not plan.ready or plan.target == chosen:
        return plan
    best = plan.ready[0]
    message = "; ".join(why) or "what else is installed does not admit it"
    blocked = Blocked(best.entry, best.level, Block.DEPENDENCY, message)
    left = tuple(each for each in plan.ready if chosen and each.entry.version <= chosen.version)
    return _without(plan, [blocked], left, chosen)


def withheld(plan: UpgradePlan, unreadable: Mapping[SemVer, str]) -> UpgradePlan:
    """A plan after a look at what is stored: versions that could not read it are blocked.

    Args:
        plan: the plan.
        unreadable: why not, by version.
    """
    gone = tuple(each for each in plan.ready if each.entry.version in unreadable)
    if not gone:
        return plan
    left = tuple(each for each in plan.ready if each.entry.version not in unreadable)
    target = left[0].entry if left else None
    blocked = [
        Blocked(each.entry, each.level, Block.STORED, unreadable[each.entry.version])
        for each in gone
    ]
    return _without(plan, blocked, left, target)


def _without(
    plan: UpgradePlan,
    blocked: list[Blocked],
    ready: tuple[Ready, ...],
    target: ListedVersion | None,
) -> UpgradePlan:
    """A plan of which some versions are blocked after all.

    Args:
        plan: the plan.
        blocked: what is blocked besides, newest first.
        ready: what may act still.
        target: what is installed now; None for nothing.
    """
    together = sorted((*plan.blocked, *blocked), key=lambda each: each.entry.version, reverse=True)
    return msgspec.structs.replace(
        plan,
        action=_action(plan, target),
        ready=ready,
        blocked=tuple(together),
        announced=plan.announced or _announced(blocked, target),
    )


def _plan(empty: UpgradePlan, channel: Channel, verdicts: list[Verdict]) -> UpgradePlan:
    ready = tuple(each for each in verdicts if isinstance(each, Ready))
    target = ready[0].entry if ready else None
    above = [each for each in verdicts if target is None or each.entry.version > target.version]
    return msgspec.structs.replace(
        empty,
        action=_action(empty, target),
        latest=channel.latest_entry,
        ready=ready,
        scheduled=tuple(each for each in above if isinstance(each, Scheduled)),
        blocked=tuple(each for each in above if isinstance(each, Blocked)),
        announced=_announced(verdicts, target),
        news=_news(channel, empty, verdicts),
        notes=tuple(_notes(channel, empty, target)),
    )


def _news(
    channel: Channel, plan: UpgradePlan, verdicts: list[Verdict]
) -> tuple[ListedVersion, ...]:
    """The versions that an upgrade passes; none where nothing is installed."""
    before = plan.installed and plan.installed.version
    top = max((each.entry.version for each in verdicts), default=None)
    if before is None or top is None:
        return ()
    return tuple(each for each in channel.versions if before < each.version <= top)


def _action(plan: UpgradePlan, target: ListedVersion | None) -> PlanAction:
    if target is None:
        return "none"
    if plan.installed is None or plan.installed.version is None:
        return "install"
    return "upgrade" if target.version > plan.installed.version else "downgrade"


def _announced(verdicts: Iterable[Verdict], target: ListedVersion | None) -> ListedVersion | None:
    """The newest major upgrade, unless it is going to be installed now."""
    majors = (each.entry for each in verdicts if each.level == "major")
    newest = next(iter(majors), None)
    return newest if newest and (target is None or newest.version > target.version) else None


def _notes(channel: Channel, plan: UpgradePlan, target: ListedVersion | None) -> Iterable[str]:
    version = plan.installed.version if plan.installed else None
    if version is not None:
        entry, tombstone = channel.entry(version), channel.tombstone(version)
        if tombstone:
            yield f"the installed version {version} was unpublished: {tombstone.why}"
        elif entry is None:
            yield f"the installed version {version} was never in the channel {channel.name}"
        elif entry.deprecated:
            yield f"the installed version {version} is deprecated: {entry.deprecation}"
        if channel.latest is None:
            yield f"the channel {channel.name} has no latest version; nothing is upgraded until it has"
    if target and target.deprecated:
        yield f"version {target.version} is deprecated: {target.deprecation}"
    if target and target.digest is None:
        yield f"only 12 digits of the digest of {target.version} are known, from its id"


def _pinned(
    empty: UpgradePlan, pinned: str, channel: Channel | None, request: Request
) -> UpgradePlan:
    if request.to is not None:
        expected = "an installation that follows a channel"
        advice = "install another tag, or install by channel"
        found = f"one that is pinned to {pinned}"
        why = refusal(RefusalCode.PINNED, empty.package, expected, found, advice)
        return msgspec.structs.replace(empty, refusals=(why,))
    notes = [f"pinned to {pinned}: no updates are looked for"]
    installed = empty.installed
    tombstone = channel.tombstone_with(installed.digest) if channel and installed else None
    if tombstone is not None:
        notes.append(f"the installed version {tombstone.version} was unpublished: {tombstone.why}")
    return msgspec.structs.replace(empty, notes=tuple(notes))


def _check_request(
    channel: Channel, state: State, version: SemVer, request: Request
) -> tuple[Finding, ...]:
    """Why one version cannot be requested; the policy decides everything else."""
    where = f"{channel.package} {version} in the channel {channel.name}"
    entry = channel.entry(version)
    tombstone = channel.tombstone(version)
    installed = state.installed.version if state.installed else None
    if tombstone:
        expected, found = "a listed version", f"one that is unpublished: {tombstone.why}"
        advice = "choose another version"
        return (refusal(RefusalCode.VERSION_UNPUBLISHED, where, expected, found, advice),)
    if entry is None:
        expected, found = "a listed version", "one that was never published"
        advice = "look at the log of the channel for its versions"
        return (refusal(RefusalCode.VERSION_NOT_FOUND, where, expected, found, advice),)
    if installed == version:
        expected, found = "another version than the installed one", f"{version}"
        code = RefusalCode.ALREADY_INSTALLED
        return (refusal(code, where, expected, found, "nothing is to do"),)
    refusals = []
    if channel.latest is not None and version > channel.latest:
        expected = f"a version of at most {channel.latest}, the latest of the channel"
        advice = "ask the publisher to promote it"
        refusals.append(refusal(RefusalCode.ABOVE_LATEST, where, expected, f"{version}", advice))
    if installed is not None and version < installed and not request.allow_downgrade:
        expected = f"a version above {installed}, which is installed"
        advice = "use --allow-downgrade to confirm"
        refusals.append(refusal(RefusalCode.DOWNGRADE, where, expected, f"{version}", advice))
    lowest = entry.min_upgrade_from
    if installed is not None and lowest is not None and installed < lowest:
        expected = f"at least {lowest} installed"
        advice = f"upgrade to a version from {lowest} on first"
        refusals.append(refusal(RefusalCode.UPGRADE_PATH, where, expected, f"{installed}", advice))
    return tuple(refusals)
