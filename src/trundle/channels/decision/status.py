"""The status of an installation, with conditions in the style of Kubernetes."""

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from trundle.channels._times import format_time
from trundle.channels.decision._model import (
    Approval,
    Blocked,
    Installed,
    Scheduled,
    State,
    UpgradePlan,
)
from trundle.channels.files import Channel, ListedVersion
from trundle.version import SemVer

ConditionStatus: TypeAlias = Literal["True", "False", "Unknown"]


class Condition(msgspec.Struct, frozen=True, rename="camel"):
    """One thing that holds of an installation, or does not.

    Attributes:
        type: what it is about.
        status: whether it holds.
        reason: why, in one word for programs.
        message: why, for people.
        last_transition_time: since when the status is what it is.
    """

    type: str
    status: ConditionStatus
    reason: str
    message: str
    last_transition_time: dt.datetime


class InstallationStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The status of an installation.

    Attributes:
        package: the package.
        channel: the channel that it follows; empty where it is pinned.
        pinned: the reference that it is pinned to.
        installed_version: what is installed, of a pinned tag that is no version what the manifest says; empty for nothing.
        installed_digest: the digest of that; empty for nothing.
        latest: the latest version of the channel.
        resources: the resource types that what is installed brings, with their API versions.
        target: the version to be installed now.
        target_digest: the digest of that.
        scheduled: what waits, and until when.
        blocked: what is blocked, and why.
        approvals: what is approved of versions above the installed one.
        announced: a newer major version.
        next_change: when to look again at the latest.
        conditions: what holds, in a fixed order of types.
        notes: what else one should know.
    """

    package: str
    channel: str = ""
    pinned: str | None = None
    installed_version: str = ""
    installed_digest: str = ""
    latest: str = ""
    resources: Mapping[str, Sequence[str]] = {}
    target: str = ""
    target_digest: str = ""
    scheduled: tuple[Scheduled, ...] = ()
    blocked: tuple[Blocked, ...] = ()
    approvals: tuple[Approval, ...] = ()
    announced: str = ""
    next_change: dt.datetime | None = None
    conditions: tuple[Condition, ...] = ()
    notes: tuple[str, ...] = ()

    def condition(self, kind: str) -> Condition | None:
        """The condition of a type."""
        return next((each for each in self.conditions if each.type == kind), None)

    def to_plain(self) -> dict[str, Any]:
        """The status as plain values, for programs."""
        return {
            "package": self.package,
            "channel": self.channel,
            "pinned": self.pinned,
            "installed": {"version": self.installed_version, "digest": self.installed_digest},
            "latest": self.latest,
            "resourceTypes": {name: list(each) for name, each in self.resources.items()},
            "target": {"version": self.target, "digest": self.target_digest},
            "scheduled": [
                {
                    "version": str(each.entry.version),
                    "digest": each.entry.identity,
                    "notBefore": format_time(each.not_before),
                    "message": each.message,
                }
                for each in self.scheduled
            ],
            "blocked": [
                {
                    "version": str(each.entry.version),
                    "reason": str(each.reason),
                    "message": each.message,
                }
                for each in self.blocked
            ],
            "approvals": [
                {
                    "version": str(each.version),
                    "digest": each.digest,
                    "at": format_time(each.at),
                    "by": each.by,
                }
                for each in self.approvals
            ],
            "announced": self.announced,
            "nextChange": format_time(self.next_change) if self.next_change else None,
            "conditions": [
                {
                    "type": each.type,
                    "status": each.status,
                    "reason": each.reason,
                    "message": each.message,
                    "lastTransitionTime": format_time(each.last_transition_time),
                }
                for each in self.conditions
            ],
            "notes": list(self.notes),
        }


def status_of(
    plan: UpgradePlan,
    state: State,
    channel: Channel | None,
    now: dt.datetime,
    previous: Iterable[Condition] = (),
) -> InstallationStatus:
    """The status of an installation after a decision.

    Args:
        plan: what was decided.
        state: what it was decided from.
        channel: the channel; None where it could not be read, or is not followed.
        now: the time, which becomes the transition time of conditions that have changed.
        previous: the conditions of the last status; those whose status stays keep their time.
    """
    before = {each.type: each for each in previous}
    conditions = []
    for kind, status, reason, message in _conditions(plan, state, channel):
        old = before.get(kind)
        since = old.last_transition_time if old and old.status == status else now
        conditions.append(Condition(kind, status, reason, message, since))
    installed, target = state.installed, plan.target
    return InstallationStatus(
        package=state.package,
        channel="" if state.pinned else state.channel,
        pinned=state.pinned,
        installed_version=installed.shown_version if installed else "",
        installed_digest=installed.digest if installed else "",
        latest=_version(plan.latest),
        target=_version(target),
        target_digest=target.identity if target else "",
        scheduled=plan.scheduled,
        blocked=plan.blocked,
        approvals=tuple(each for each in state.approvals if _is_above(each.version, installed)),
        announced=_version(plan.announced),
        next_change=plan.next_change,
        conditions=tuple(conditions),
        notes=plan.notes,
    )


def _is_above(version: SemVer, installed: Installed | None) -> bool:
    return installed is None or installed.version is None or version > installed.version


def _version(entry: ListedVersion | None) -> str:
    return str(entry.version) if entry else ""


_Fact: TypeAlias = tuple[str, ConditionStatus, str, str]
"""Type, status, reason, message."""


def _conditions(plan: UpgradePlan, state: State, channel: Channel | None) -> Iterator[_Fact]:
    yield _installed(state)
    yield _channel_usable(plan, state)
    yield _up_to_date(plan, state)
    yield _published(plan, state, channel)
    yield _held(plan, state)


def _installed(state: State) -> _Fact:
    installed = state.installed
    if installed is None:
        return ("Installed", "False", "NothingInstalled", "nothing is installed yet")
    name = str(installed.version or state.pinned or "content")
    return ("Installed", "True", "Installed", f"{name} with {installed.digest} is installed")


def _channel_usable(plan: UpgradePlan, state: State) -> _Fact:
    kind = "ChannelUsable"
    if state.pinned is not None:
        return (kind, "Unknown", "Pinned", f"pinned to {state.pinned}; no channel is followed")
    if plan.refusals:
        message = "\n".join(each.coded for each in plan.refusals)
        return (kind, "False", condition_reason(plan.refusals[0].code), message)
    return (kind, "True", "Accepted", f"the channel {state.channel} is valid")


def _up_to_date(plan: UpgradePlan, state: State) -> _Fact:
    kind = "UpToDate"
    if state.pinned is not None:
        return (kind, "Unknown", "Pinned", "no updates are looked for")
    if plan.refusals:
        return (kind, "Unknown", "ChannelRefused", "the channel cannot be used")
    target = plan.target
    if target is not None:
        return (kind, "False", "UpdateReady", f"{target.version} may be installed now")
    if plan.scheduled:
        soonest = min(
            plan.scheduled, key=lambda each: (each.not_before, -plan.scheduled.index(each))
        )
        return (kind, "False", "UpdateScheduled", f"{soonest.entry.version}: {soonest.message}")
    if plan.blocked:
        first = plan.blocked[0]
        return (kind, "False", "UpdateBlocked", f"{first.entry.version}: {first.message}")
    if plan.latest is None:
        return (kind, "Unknown", "NoLatest", "the channel has no latest version")
    return (kind, "True", "LatestInstalled", f"{plan.latest.version} is the latest version")


def _published(plan: UpgradePlan, state: State, channel: Channel | None) -> _Fact:
    kind, installed = "Published", state.installed
    version = installed.version if installed else None
    if channel is None and plan.refusals and state.pinned is None:
        return (kind, "Unknown", "ChannelRefused", "the channel cannot be used")
    if channel is None and state.pinned is not None:
        return _published_without_channel(state)
    if channel is None or installed is None or (version is None and state.pinned is None):
        return (kind, "Unknown", "NotFollowed", "no channel is followed for what is installed")
    if state.pinned is not None:  # By content: a tag may be no version, and a digest is none.
        tombstone = channel.tombstone_with(installed.digest)
        entry = channel.entry_with(installed.digest)
        if tombstone is None and entry is None:
            return (kind, "Unknown", "NotFollowed", "what is installed was never in the channel")
    else:
        tombstone = None if version is None else channel.tombstone(version)
        entry = channel.entry(version)
    if tombstone:
        at = format_time(tombstone.unpublish_time)
        return (kind, "False", "Unpublished", f"unpublished at {at}: {tombstone.why}")
    if entry is None:
        return (kind, "False", "NotListed", f"{version} was never in the channel")
    if entry.deprecated:
        return (kind, "True", "Deprecated", f"deprecated: {entry.deprecation}")
    return (kind, "True", "Listed", f"{entry.version} is listed in the channel")


def _published_without_channel(state: State) -> _Fact:
    """Why nothing says whether a pinned version is still listed."""
    if state.channel:
        reason = "ChannelRefused"
        why = f"the channel {state.channel}, which was followed before the pin, cannot be used now"
    else:
        reason = "NotFollowed"
        why = "pinned before any channel was followed, so no channel and no root say whether it was unpublished; follow a channel once and then pin, to be warned"
    return ("Published", "Unknown", reason, why)


def _held(plan: UpgradePlan, state: State) -> _Fact:
    holds = [each for each in state.holds if each.until is None or each.until > plan.at]
    if not holds:
        return ("Held", "False", "NotHeld", "nothing is held")
    texts = (f"{each.version or 'everything'}: {each.why}" for each in holds)
    return ("Held", "True", "Held", "; ".join(texts))


def condition_reason(code: str) -> str:
    """A code of a refusal or a finding as the reason of a condition."""
    return "".join(word.capitalize() for word in code.split("-"))
