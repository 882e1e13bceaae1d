"""Gates: whether an upgrade may start at a moment, what it waits for, and when it may start.

- The cooldown ends when the version is old enough.
- Where the policy says so, a window has to be open, with enough of it left. An exclusion that begins within a
  window ends what is left of it.
- No exclusion may hold the level back.

Only the start is gated: a started upgrade continues when the window closes.
"""

import datetime as dt
from enum import StrEnum

import msgspec

from trundle.channels._times import add
from trundle.channels.policy._model import Exclusion, Policy, UpgradeAction, Window, is_spared
from trundle.channels.policy.windows import closes_at, opens_at
from trundle.version import Level

MOST_SHORT = 200
"""How many windows that are each too short are tried, in case several together are long enough."""


class Wait(StrEnum):
    """What an upgrade waits for."""

    HOLD = "hold"
    COOLDOWN = "cooldown"
    WINDOW = "window"
    EXCLUSION = "exclusion"


class Gates(msgspec.Struct, frozen=True):
    """What delays upgrades of one kind.

    Attributes:
        needs_window: whether a window has to be open.
        windows: the windows that count.
        exclusions: the exclusions that hold back.
        min_remaining: how much of a window has to be left.
    """

    needs_window: bool
    windows: tuple[Window, ...]
    exclusions: tuple[Exclusion, ...]
    min_remaining: dt.timedelta

    def exclusion_at(self, moment: dt.datetime) -> Exclusion | None:
        """The exclusion that holds back at a moment; of several the one that ends last."""
        now = (each for each in self.exclusions if each.start <= moment < each.end)
        return max(now, key=lambda each: each.end, default=None)

    def next_exclusion(self, moment: dt.datetime) -> dt.datetime | None:
        """When the next exclusion after a moment begins."""
        return min((each.start for each in self.exclusions if each.start > moment), default=None)

    def waits_for(self, moment: dt.datetime) -> tuple[Wait, ...]:
        """What is in the way at a moment; nothing if an upgrade may start."""
        waits = [Wait.EXCLUSION] if self.exclusion_at(moment) else []
        if self.needs_window and not self._has_window(moment):
            waits.append(Wait.WINDOW)
        return tuple(waits)

    def admits(self, moment: dt.datetime) -> bool:
        """Whether an upgrade may start at a moment."""
        return not self.waits_for(moment)

    def next_start(self, moment: dt.datetime) -> dt.datetime | None:
        """The first moment, from the given one on, at which an upgrade may start; None if there is none.

        The search is bounded: it looks fifty years ahead, and tries some hundred windows that are shorter than
        what has to be left of them.
        """
        long = tuple(each for each in self.windows if each.duration >= self.min_remaining)
        short_left = MOST_SHORT
        at: dt.datetime | None = moment
        while at is not None:
            exclusion = self.exclusion_at(at)
            if exclusion:
                at = exclusion.end
                continue
            if not self.needs_window:
                return at
            end = closes_at(self.windows, at, self.min_remaining)
            if end and end - at >= self.min_remaining:
                cut = self.next_exclusion(at)
                if cut is None or cut - at >= self.min_remaining:
                    return at
                at = cut  # Up to there even less is left.
                continue
            short_left -= 1
            # Whatever begins before the end has just as much left as there is now, or less.
            at = opens_at(self.windows if short_left > 0 else long, end or at)
        return None

    def _has_window(self, moment: dt.datetime) -> bool:
        end = closes_at(self.windows, moment, self.min_remaining)
        cut = self.next_exclusion(moment)
        left = min((each for each in (end, cut) if each), default=None)
        return end is not None and left is not None and left - moment >= self.min_remaining


def gates_for(
    policy: Policy, level: Level, *, critical: bool = False, without_window: bool = False
) -> Gates:
    """The gates before an upgrade.

    Args:
        policy: the policy.
        level: how far the upgrade goes.
        critical: whether the version is a critical one.
        without_window: do not wait for a window.
    """
    spared = is_spared(level, critical=critical)
    exclusions = tuple(
        each
        for each in policy.exclusions
        if each.holds_back(level) and not (each.allow_critical and spared)
    )
    windowed = policy.action(level) == UpgradeAction.WINDOW and not spared and not without_window
    return Gates(windowed, policy.windows_of(level), exclusions, policy.min_remaining)


def cooldown_end(
    policy: Policy, level: Level, published: dt.datetime, *, critical: bool
) -> dt.datetime | None:
    """When a version is old enough; None where it need not be."""
    if not policy.min_age or is_spared(level, critical=critical):
        return None
    return add(published, policy.min_age)
