"""Finds what is suspicious about a policy: what can never act, hardly ever, or has no effect."""

import datetime as dt
from collections.abc import Iterator

from trundle.channels._times import format_duration, format_time
from trundle.channels.policy._model import LEVELS, Policy, UpgradeAction, Window
from trundle.channels.policy._reading import PolicyCode
from trundle.channels.policy._schedule import walls
from trundle.channels.policy.gates import gates_for
from trundle.channels.policy.windows import closes_at, is_open, opens_at
from trundle.errors import Finding, Place
from trundle.version import Level

RARE = dt.timedelta(days=366)
"""What does not happen for longer than this hardly ever happens."""

LONG_COOLDOWN = dt.timedelta(days=90)
"""A cooldown longer than this outlasts what most channels take to their next release."""

_SECOND = dt.timedelta(seconds=1)
_YEARS = dt.timedelta(days=5 * 366)


def lint(policy: Policy, now: dt.datetime, where: str = "upgrade") -> tuple[Finding, ...]:
    """Everything about a policy that its author hardly meant; all findings are warnings.

    Args:
        policy: the policy.
        now: from when on to look ahead.
        where: names the policy in messages.
    """
    findings = [
        *_levels(policy, now),
        *_windows(policy, now),
        *_exclusions(policy, now),
        *_cooldown(policy),
    ]
    return tuple(
        Finding(PolicyCode.ODD, _place(where, key), expected, found, advice, "warning")
        for key, expected, found, advice in findings
    )


def _place(where: str, key: str) -> Place:
    return Place(path=f"{where}.{key}" if key else where)


_Text = tuple[str, str, str, str]
"""Key, what was expected, what was found, advice."""


def _levels(policy: Policy, now: dt.datetime) -> Iterator[_Text]:
    if all(policy.action(level) == UpgradeAction.NEVER for level in LEVELS):
        advice = "set `immediate`, `window` or `approval` for at least one level"
        yield "", "a level that is upgraded", "never for all", advice
    for level in LEVELS:
        action = policy.action(level)
        if action == UpgradeAction.NEVER:
            continue
        if action == UpgradeAction.WINDOW and not policy.windows_of(level):
            advice = "add a window, or set `immediate`"
            found = "none, so that it never acts"
            yield level, f"a window with the level {level}", found, advice
            continue
        start = gates_for(policy, level).next_start(now)
        if start is None:
            yield level, "a time at which it acts", "none at all", _why_never(policy, level)
        elif start - now > RARE:
            advice = "look at the windows and exclusions"
            expected = "a time within a year at which it acts"
            yield level, expected, f"none before {format_time(start)}", advice


def _why_never(policy: Policy, level: Level) -> str:
    if policy.all_too_short(level):
        need = format_duration(policy.min_remaining)
        return f"make its windows longer than minRemaining, {need}, or lower that"
    return "look at the windows and exclusions"


def _windows(policy: Policy, now: dt.datetime) -> Iterator[_Text]:
    acting = {level for level in LEVELS if policy.action(level) == UpgradeAction.WINDOW}
    for index, window in enumerate(policy.windows):
        key = f"windows[{index}]"
        if not acting & set(window.levels):
            listed = ", ".join(window.levels)
            advice = "set `window` for one of them, or remove this window"
            yield f"{key}.levels", f"a level with `window` among {listed}", "none", advice
        if window in policy.windows[:index]:
            yield key, "each window once", "this one twice", "remove one of them"
            continue
        start = opens_at([window], now)
        if start is None:
            yield f"{key}.start", "a time at which it opens", _no_opening(window, now), _CORRECT
        elif start - now > RARE:
            expected = "a time within a year at which it opens"
            yield f"{key}.start", expected, f"none before {format_time(start)}", _CORRECT
        if start is not None and _too_short(policy, window, start):
            need = format_duration(policy.min_remaining)
            expected = f"at least {need}, which has to be left of it by minRemaining"
            found = format_duration(window.duration)
            yield f"{key}.duration", expected, found, "make it longer, or lower minRemaining"


_CORRECT = "correct the expression"


def _no_opening(window: Window, now: dt.datetime) -> str:
    """Why a window never opens."""
    start = now.replace(tzinfo=None)
    if next(walls(window.start, start, start + _YEARS), None):
        return f"only times that are skipped in {window.timezone} when the clock is put forward"
    return "none in fifty years"


def _too_short(policy: Policy, window: Window, start: dt.datetime) -> bool:
    """Whether too little is left of a window from its first moment on, also with those that it touches."""
    for level in window.levels:
        windows = policy.windows_of(level)
        end = closes_at(windows, start, policy.min_remaining)
        if is_open(windows, start - _SECOND) or (end and end - start >= policy.min_remaining):
            return False
    return True


def _exclusions(policy: Policy, now: dt.datetime) -> Iterator[_Text]:
    for index, exclusion in enumerate(policy.exclusions):
        key = f"exclusions[{index}]"
        if exclusion.end <= now:
            found = f"one that ended at {format_time(exclusion.end)}"
            yield key, "an exclusion that is still to come", found, "remove it"
        elif exclusion.end - max(now, exclusion.start) > RARE:
            days = (exclusion.end - exclusion.start).days
            advice = "set `never` for its levels if that is intended"
            yield key, "an exclusion of less than a year", f"one of {days} days", advice


def _cooldown(policy: Policy) -> Iterator[_Text]:
    if policy.min_age > LONG_COOLDOWN:
        expected = f"a cooldown of at most {LONG_COOLDOWN.days} days"
        advice = "shorten it; fixes wait as long, unless they are critical"
        yield "minAge", expected, format_duration(policy.min_age), advice
