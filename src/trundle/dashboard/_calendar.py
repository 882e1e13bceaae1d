"""A calendar of upgrades: when windows are open, when exclusions hold upgrades back, what was installed and what will be."""

import datetime as dt
import zoneinfo
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple, TypeAlias

from trundle.channels.decision import UpgradePlan
from trundle.channels.policy import LEVELS, Exclusion, Policy, Window, openings
from trundle.installation import PackageEvent

WEEKS = 5
"""How many weeks are shown."""

_DAY = dt.timedelta(days=1)
_MOST_TIMES = 3
"""How many times a window is named on a day; with more, the first and the last."""

OccurrenceKind: TypeAlias = Literal["window", "exclusion", "planned", "done"]


class Occurrence(NamedTuple):
    """Something on a day.

    Attributes:
        kind: what it is.
        time: when, on the clock of the calendar; empty for the whole day.
        text: what.
    """

    kind: OccurrenceKind
    time: str
    text: str


class Day(NamedTuple):
    """A day.

    Attributes:
        date: which.
        is_today: whether it is the day on which the calendar is looked at.
        occurrences: what is on it.
    """

    date: dt.date
    is_today: bool
    occurrences: tuple[Occurrence, ...]


class Calendar(NamedTuple):
    """Some weeks.

    Attributes:
        zone: the time zone of its days.
        weeks: the weeks, each from Monday to Sunday.
    """

    zone: str
    weeks: tuple[tuple[Day, ...], ...]

    @property
    def start(self) -> dt.date:
        """The first day."""
        return self.weeks[0][0].date


def calendar_of(
    policy: Policy, plan: UpgradePlan, events: Iterable[PackageEvent], start: dt.date | None = None
) -> Calendar:
    """What a policy allows and what is planned, day by day.

    The days are those of the time zone of the windows, or of UTC where these have none in common.

    Args:
        policy: the policy.
        plan: what is to be done, as of the time of the plan.
        events: what happened.
        start: a day of the first week; by default that of the plan.
    """
    zones = {each.timezone for each in policy.windows}
    zone = zoneinfo.ZoneInfo(zones.pop() if len(zones) == 1 else "UTC")
    today = plan.at.astimezone(zone).date()
    first = _monday(start or today)
    days = [first + at * _DAY for at in range(7 * WEEKS)]
    found: dict[dt.date, list[Occurrence]] = {each: [] for each in days}
    span = _midnight(days[0], zone), _midnight(days[-1] + _DAY, zone)
    for date, occurrence in _occurrences(policy, plan, events, span, zone):
        if date in found:
            found[date].append(occurrence)
    every = [Day(each, each == today, tuple(found[each])) for each in days]
    weeks = tuple(tuple(every[at : at + 7]) for at in range(0, len(every), 7))
    return Calendar(zone.key, weeks)


def _occurrences(
    policy: Policy,
    plan: UpgradePlan,
    events: Iterable[PackageEvent],
    span: tuple[dt.datetime, dt.datetime],
    zone: zoneinfo.ZoneInfo,
) -> Iterator[tuple[dt.date, Occurrence]]:
    for event in reversed(tuple(events)):
        at = event.at.astimezone(zone)
        yield at.date(), Occurrence("done", _clock(at), f"{event.action} {event.after}".strip())
    for ready in plan.ready[:1]:
        at = plan.at.astimezone(zone)
        yield at.date(), Occurrence("planned", "now", str(ready.entry.version))
    for waiting in reversed(plan.scheduled):
        at = waiting.not_before.astimezone(zone)
        yield at.date(), Occurrence("planned", _clock(at), str(waiting.entry.version))
    for exclusion in policy.exclusions:
        yield from _held_back(exclusion, span, zone)
    for window in policy.windows:
        yield from _open(window, span, zone)


def _held_back(
    exclusion: Exclusion, span: tuple[dt.datetime, dt.datetime], zone: zoneinfo.ZoneInfo
) -> Iterator[tuple[dt.date, Occurrence]]:
    of = "no upgrades" if exclusion.scope == "all" else f"no {_named(exclusion.scope)}"
    text = f"{of} but critical ones" if exclusion.allow_critical else of
    if exclusion.reason:
        text += f": {exclusion.reason}"
    for date, time in _days(exclusion.start, exclusion.end, span, zone):
        yield date, Occurrence("exclusion", time, text)


def _open(
    window: Window, span: tuple[dt.datetime, dt.datetime], zone: zoneinfo.ZoneInfo
) -> Iterator[tuple[dt.date, Occurrence]]:
    text = "window" if set(window.levels) == set(LEVELS) else f"window for {_named(window.levels)}"
    times: dict[dt.date, list[str]] = {}
    for opened, closed in openings(window, *span):
        for date, time in _days(opened, closed, span, zone):
            times.setdefault(date, []).append(time)
    for date, named in times.items():
        if len(named) > _MOST_TIMES:
            yield (
                date,
                Occurrence("window", f"{named[0]} … {named[-1]}", f"{text}, {len(named)} times"),
            )
        else:
            yield from ((date, Occurrence("window", each, text)) for each in named)


def _days(
    start: dt.datetime,
    end: dt.datetime,
    span: tuple[dt.datetime, dt.datetime],
    zone: zoneinfo.ZoneInfo,
) -> Iterator[tuple[dt.date, str]]:
    """The days on which something lasts within a span, with its times on each."""
    start, end = max(start, span[0]), min(end, span[1])
    if start >= end:
        return
    date = start.astimezone(zone).date()
    while (midnight := _midnight(date, zone)) < end:
        following = _midnight(date + _DAY, zone)
        begins = "" if start <= midnight else _clock(start.astimezone(zone))
        ends = "" if end >= following else _clock(end.astimezone(zone))
        time = f"{begins or '00:00'}-{ends or '24:00'}" if begins or ends else ""
        yield date, time
        date += _DAY


def _named(levels: Iterable[str]) -> str:
    return ", ".join(levels)


def _clock(moment: dt.datetime) -> str:
    return moment.strftime("%H:%M")


def _midnight(date: dt.date, zone: zoneinfo.ZoneInfo) -> dt.datetime:
    return dt.datetime.combine(date, dt.time(), zone).astimezone(dt.UTC)


def _monday(date: dt.date) -> dt.date:
    return date - date.weekday() * _DAY
