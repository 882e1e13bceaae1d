"""When a cron expression fires in a time zone, daylight saving included.

The expression is matched against the clock on the wall, and each time on the wall is then looked for in the time
zone. That goes by the rules of Debian's cron. Where minute or hour begin with `*`, the expression goes by elapsed
time: it fires in both passes of an hour that is repeated, and not in one that is skipped. Every other expression
fires once a day: in the first pass of an hour that is repeated, and in place of a time that is skipped at the
moment when the clock is put forward.
"""

import datetime as dt
import functools
import zoneinfo
from collections.abc import Iterator

import msgspec
from cronsim import CronSim, CronSimError

from trundle.errors import TrundleError

HORIZON = dt.timedelta(days=50 * 366)
"""How far a search goes; what does not fire by then never fires."""

_FIELDS = 5
_LAST = dt.datetime.max  # noqa: DTZ901 - a time on the wall
_SECOND = dt.timedelta(seconds=1)
_DAY = dt.timedelta(days=1)


class CronError(TrundleError, ValueError):
    """A text that is not a cron expression of five fields."""


class Schedule(msgspec.Struct, frozen=True):
    """The moments at which a cron expression fires in a time zone.

    Attributes:
        cron: the expression.
        timezone: the name of the zone.
    """

    cron: str
    timezone: str

    @property
    def zone(self) -> zoneinfo.ZoneInfo:
        """The time zone."""
        return zoneinfo.ZoneInfo(self.timezone)

    @property
    def by_elapsed_time(self) -> bool:
        """Whether the expression fires every so often, not at a fixed time of the day."""
        return any(field.startswith("*") for field in self.cron.split()[:2])

    def first_from(self, moment: dt.datetime) -> dt.datetime | None:
        """The first time at or after a moment; None if there is none within `HORIZON`."""
        best: dt.datetime | None = None
        try:
            local, slack = self._local(moment)
            last = min(local, _LAST - HORIZON) + HORIZON
            for wall in CronSim(self.cron, local - slack - _SECOND):
                if wall > last or (best and self._bound(wall, first=True) >= best):
                    break
                later = (each for each in self.instants(wall) if each >= moment)
                best = min((each for each in (best, *later) if each), default=None)
                if best and not self.by_elapsed_time:
                    break
        except OverflowError:
            return best
        return best

    def last_until(self, moment: dt.datetime, not_before: dt.datetime) -> dt.datetime | None:
        """The last time at or before a moment; None if there is none since `not_before`."""
        best: dt.datetime | None = None
        try:
            local, slack = self._local(moment)
            earliest, early_slack = self._local(not_before)
            first = earliest - early_slack
            start = local.replace(microsecond=0) + slack + _SECOND
            for wall in CronSim(self.cron, start, reverse=True):
                if wall < first or (best and self._bound(wall, first=False) <= best):
                    break
                earlier = (each for each in self.instants(wall) if each <= moment)
                best = max((each for each in (best, *earlier) if each), default=None)
                if best and not self.by_elapsed_time:
                    break
        except OverflowError:
            pass
        return best if best and best >= not_before else None

    def between(self, start: dt.datetime, end: dt.datetime) -> Iterator[dt.datetime]:
        """The times from a moment to before another one, in ascending order."""
        (first, early), (last, late) = self._local(start), self._local(end)
        found = {
            each
            for wall in walls(self.cron, first - early, last + late + _SECOND)
            for each in self.instants(wall)
            if start <= each < end
        }
        yield from sorted(found)

    def instants(self, wall: dt.datetime) -> tuple[dt.datetime, ...]:
        """The moments at which the expression fires for one time on the wall."""
        first, second = (_instant(wall, self.zone, fold) for fold in (0, 1))
        if first == second:
            return (first,)
        if first < second:
            return (first, second) if self.by_elapsed_time else (first,)
        return () if self.by_elapsed_time else (_change(second, first, self.zone),)

    def _bound(self, wall: dt.datetime, *, first: bool) -> dt.datetime:
        """A moment before which (after which) no later (earlier) time on the wall can be."""
        early, late = sorted(_instant(wall, self.zone, fold) for fold in (0, 1))
        return early if first else late

    def _local(self, moment: dt.datetime) -> tuple[dt.datetime, dt.timedelta]:
        """The time on the wall, and how far it may be put forward or back within a day."""
        near = [moment.astimezone(self.zone)]
        near += [(moment + days).astimezone(self.zone) for days in (-_DAY, _DAY)]
        offsets = [each.utcoffset() or dt.timedelta(0) for each in near]
        return near[0].replace(tzinfo=None), max(offsets) - min(offsets)


def walls(cron: str, start: dt.datetime, end: dt.datetime) -> Iterator[dt.datetime]:
    """The times on the wall at which an expression fires, from a start to before an end."""
    for wall in CronSim(cron, start - _SECOND):
        if wall >= end:
            return
        yield wall


@functools.lru_cache(maxsize=1024)
def check_cron(cron: str) -> None:
    """Refuses what is not a cron expression.

    Raises:
        CronError: it does not have five fields, or one of them cannot be.
    """
    if len(cron.split()) != _FIELDS:
        raise CronError(f"{len(cron.split())} fields")
    try:
        CronSim(cron, dt.datetime(2000, 1, 1))  # noqa: DTZ001 - a time on the wall
    except CronSimError as error:
        raise CronError(f"a {str(error).removeprefix('Bad ')} that cannot be") from None


def _instant(wall: dt.datetime, zone: zoneinfo.ZoneInfo, fold: int) -> dt.datetime:
    return wall.replace(tzinfo=zone, fold=fold).astimezone(dt.UTC)


def _change(before: dt.datetime, after: dt.datetime, zone: zoneinfo.ZoneInfo) -> dt.datetime:
    """The first moment after the clock was changed, which happened once between two moments."""
    old = before.astimezone(zone).utcoffset()
    while after - before > _SECOND:
        middle = before + (after - before) // 2
        middle = middle.replace(microsecond=0)
        if middle.astimezone(zone).utcoffset() == old:
            before = middle
        else:
            after = middle
    return after
