"""What an upgrade policy says: which changes act when, and when nothing does."""

import datetime as dt
from enum import StrEnum
from typing import Literal, TypeAlias

import msgspec

from trundle.version import Level, ZeroMajor

LEVELS: tuple[Level, ...] = ("prerelease", "patch", "minor", "major")
"""How far an upgrade goes, from the smallest."""


class UpgradeAction(StrEnum):
    """What a policy does with an upgrade of some level."""

    IMMEDIATE = "immediate"
    WINDOW = "window"
    APPROVAL = "approval"
    NEVER = "never"


class Window(msgspec.Struct, frozen=True, kw_only=True):
    """A time that comes again and again, in which upgrades may start.

    Attributes:
        start: when it opens: a cron expression of five fields.
        duration: how long it is open, by a stop watch: four hours are four hours on every night.
        timezone: where the expression's clock hangs: a name such as `Europe/Berlin`.
        levels: the levels that may start in it.
    """

    start: str
    duration: dt.timedelta
    timezone: str = "UTC"
    levels: tuple[Level, ...] = LEVELS


Scope: TypeAlias = Literal["all"] | tuple[Level, ...]
"""The levels that an exclusion holds back."""


class Exclusion(msgspec.Struct, frozen=True, kw_only=True):
    """A time in which upgrades do not start, whatever windows there are.

    Attributes:
        start: its first moment.
        end: the first moment after it.
        scope: the levels that it holds back.
        allow_critical: whether critical releases may start nevertheless, major ones excepted.
        reason: why; shown to users who wait.
    """

    start: dt.datetime
    end: dt.datetime
    scope: Scope = "all"
    allow_critical: bool = False
    reason: str = ""

    def holds_back(self, level: Level) -> bool:
        """Whether this exclusion is about upgrades of a level."""
        return self.scope == "all" or level in self.scope


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """When an installation may be upgraded; the defaults are those of an installation without a policy.

    Attributes:
        patch: what happens with patches.
        minor: what happens with minor versions.
        major: what happens with major versions.
        prerelease: what happens with changes from one pre-release of a version to the next, or to its release.
        zero_major: `caret` lets 0.4 to 0.5 count as major, `plain` as minor.
        min_age: how long a version has to be published before it is taken.
        min_remaining: how much of a window has to be left when an upgrade starts.
        windows: when upgrades of the levels with `window` may start.
        exclusions: when upgrades may not start.
    """

    patch: UpgradeAction = UpgradeAction.IMMEDIATE
    minor: UpgradeAction = UpgradeAction.WINDOW
    major: UpgradeAction = UpgradeAction.NEVER
    prerelease: UpgradeAction = UpgradeAction.IMMEDIATE
    zero_major: ZeroMajor = "caret"
    min_age: dt.timedelta = dt.timedelta(0)
    min_remaining: dt.timedelta = dt.timedelta(minutes=15)
    windows: tuple[Window, ...] = ()
    exclusions: tuple[Exclusion, ...] = ()

    def action(self, level: Level) -> UpgradeAction:
        """What happens with upgrades of a level."""
        return {
            "patch": self.patch,
            "minor": self.minor,
            "major": self.major,
            "prerelease": self.prerelease,
        }[level]

    def windows_of(self, level: Level) -> tuple[Window, ...]:
        """The windows in which upgrades of a level may start."""
        return tuple(each for each in self.windows if level in each.levels)

    def all_too_short(self, level: Level) -> bool:
        """Whether each window of a level is shorter than what has to be left of it."""
        return all(each.duration < self.min_remaining for each in self.windows_of(level))


def is_spared(level: Level, *, critical: bool) -> bool:
    """Whether an upgrade need not wait for its cooldown or a window: a critical one, unless it is major."""
    return critical and level != "major"
