"""Schedules against a clock that is looked at minute by minute."""

import datetime as dt
import itertools
import zoneinfo

import pytest
from amounts import ALL, some_of
from channel_data import DAY, HOUR, MINUTE, SECOND, time
from hypothesis import given
from hypothesis import strategies as st

from trundle.channels import CronError, Schedule
from trundle.channels.policy._schedule import HORIZON, check_cron

CHANGES = {
    "Europe/Berlin spring": ("Europe/Berlin", "2026-03-29T01:00Z"),
    "Europe/Berlin autumn": ("Europe/Berlin", "2026-10-25T01:00Z"),
    "America/New_York spring": ("America/New_York", "2026-03-08T07:00Z"),
    "America/New_York autumn": ("America/New_York", "2026-11-01T06:00Z"),
    "half an hour forward": ("Australia/Lord_Howe", "2026-10-03T15:30Z"),
    "half an hour back": ("Australia/Lord_Howe", "2026-04-04T15:00Z"),
    "midnight skipped": ("America/Santiago", "2026-09-06T04:00Z"),
    "midnight repeated": ("America/Santiago", "2026-04-05T03:00Z"),
    "a day skipped": ("Pacific/Apia", "2011-12-30T10:00Z"),
    "none": ("UTC", "2026-06-01T00:00Z"),
}
FIXED = [
    "30 2 * * *",
    "0,15,45 0-3 * * *",
    "0 0 * * *",
    "59 23 * * *",
    "5 1,2,3 * * SUN",
    "0 12 30 * *",
]
EACH = 5 if ALL else 15
ELAPSED = [
    "*/30 * * * *",
    "0 * * * *",
    "*/20 2 * * *",
    "*/45 23,0 * * *",
    "10 */2 * * *",
    "* 0 * * SUN",
]


def fires(cron, zone, begin, end):
    """When an expression fires, by the documented rules, found by looking at the clock each minute."""
    minutes, hours, days, _, weekdays = (_numbers(field) for field in cron.split())
    elapsed = any(field.startswith("*") for field in cron.split()[:2])

    def matches(wall):
        weekday = (wall.weekday() + 1) % 7
        return (
            wall.minute in minutes
            and wall.hour in hours
            and wall.day in days
            and weekday in weekdays
        )

    found, seen = [], set()
    moment = begin - 2 * DAY
    last = moment.astimezone(zone).replace(tzinfo=None) - MINUTE
    while moment < end:
        wall = moment.astimezone(zone).replace(tzinfo=None)
        skipped = [last + n * MINUTE for n in range(1, (wall - last) // MINUTE)]
        if elapsed:
            hit = matches(wall)
        else:
            due = [each for each in (*skipped, wall) if matches(each) and each not in seen]
            seen.update(due)
            hit = bool(due)
        if hit and moment >= begin:
            found.append(moment)
        moment, last = moment + MINUTE, wall
    return found


def _numbers(field):
    field = field.replace("SUN", "0")
    step = 1
    if "/" in field:
        field, text = field.split("/")
        step = int(text)
    if field == "*":
        return set(range(0, 60, step))
    found = set()
    for part in field.split(","):
        low, _, high = part.partition("-")
        found |= set(range(int(low), int(high or low) + 1))
    return found


@pytest.mark.parametrize(
    ("change", "cron"), some_of(itertools.product(CHANGES, [*FIXED, *ELAPSED]), 5)
)
def test_schedules_agree_with_the_clock_around_changes(change, cron):
    name, at = CHANGES[change]
    at = time(at)
    schedule = Schedule(cron, name)
    begin, end = at - 30 * HOUR, at + 30 * HOUR
    expected = fires(cron, zoneinfo.ZoneInfo(name), begin, end)
    moment = begin
    for number in range(60 * 60):
        moment = begin + number * MINUTE
        if number % 17 and moment not in expected and abs(moment - at) > 2 * HOUR:
            continue  # Close to the change more minutes count than elsewhere.
        if number % EACH and moment not in expected:
            continue
        after = next((each for each in expected if each >= moment), None)
        found = schedule.first_from(moment)
        assert found == after or (after is None and found >= end), moment
        before = next((each for each in reversed(expected) if each <= moment), None)
        assert schedule.last_until(moment, begin) == before, moment
    for each in expected:
        assert schedule.first_from(each - SECOND) == each
        assert schedule.last_until(each, begin) == each
        assert schedule.first_from(each + SECOND) != each
        assert schedule.last_until(each - SECOND, begin) != each


@given(
    st.sampled_from([*FIXED, *ELAPSED]),
    st.sampled_from(sorted({name for name, _ in CHANGES.values()})),
    st.integers(946684800, 2114380800),
)
def test_the_next_time_and_the_last_one_agree(cron, name, seconds):
    moment = dt.datetime.fromtimestamp(seconds, dt.UTC)
    schedule = Schedule(cron, name)
    following = schedule.first_from(moment)
    assert following >= moment
    assert schedule.last_until(following, moment) == following
    assert schedule.first_from(following) == following
    before = schedule.last_until(moment, moment - 40 * DAY)
    if before and before != moment:
        assert schedule.first_from(before + SECOND) == following


def test_a_fixed_time_fires_once_in_autumn_and_once_in_spring():
    night = Schedule("30 2 * * *", "Europe/Berlin")
    autumn = night.first_from(time("2026-10-24T22:00Z"))
    assert autumn == time("2026-10-25T00:30Z")
    assert night.first_from(autumn + SECOND) == time("2026-10-26T01:30Z")
    spring = night.first_from(time("2026-03-28T23:00Z"))
    assert spring == time("2026-03-29T01:00Z")
    assert night.first_from(spring + SECOND) == time("2026-03-30T00:30Z")


def test_what_never_fires_is_not_looked_for_forever():
    never = Schedule("*/10 2 * 3 0L", "Europe/Berlin")  # always the hour that is skipped
    assert never.first_from(time("2026-01-01T00:00Z")) is None
    rare = Schedule("0 0 29 2 *", "UTC")
    assert rare.first_from(time("2096-03-01T00:00Z")) == time("2104-02-29T00:00Z")
    assert HORIZON > 40 * 365 * DAY


def test_the_ends_of_the_calendar_are_no_error():
    daily = Schedule("0 0 * * *", "Europe/Berlin")
    assert daily.first_from(dt.datetime.max.replace(tzinfo=dt.UTC)) is None
    early = dt.datetime.min.replace(tzinfo=dt.UTC)
    assert daily.last_until(early, early) is None


@pytest.mark.parametrize(
    "cron",
    ["", "* * * *", "0 0 0 2 * SUN", "@daily", "60 0 * * *", "0 0 30 2 *", "0 0 31 4,6 *", "a b c d e", "0 0 * * 8"],
)  # fmt: skip
def test_what_is_no_cron_expression(cron):
    with pytest.raises(CronError):
        check_cron(cron)
