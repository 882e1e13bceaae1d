"""The calendar of upgrades, held against days that were counted by hand."""

import datetime as dt

import pytest
from amounts import full

from trundle.channels import Exclusion, ListedVersion, Policy, Scheduled, Window
from trundle.channels.decision import Ready, UpgradePlan
from trundle.dashboard._calendar import WEEKS, calendar_of
from trundle.installation import PackageEvent
from trundle.version import SemVer

WEDNESDAY = dt.datetime(2026, 3, 25, 12, 0, tzinfo=dt.UTC)
BERLIN = "Europe/Berlin"


def listed(version):
    return ListedVersion(version=SemVer.parse(version), id="0" * 12, create_time=WEDNESDAY)


def shown(policy=None, *, plan=None, events=(), start=None):
    """What is on each day, by its date."""
    plan = plan or UpgradePlan(package="acme/crm", at=WEDNESDAY)
    found = calendar_of(policy or Policy(), plan, events, start)
    days = [day for week in found.weeks for day in week]
    assert len(days) == 7 * WEEKS
    assert days[0].date.weekday() == 0
    assert [each.date for each in days if each.is_today] in ([], [plan.at.date()])
    return found.zone, {
        str(each.date): [(x.kind, x.time, x.text) for x in each.occurrences]
        for each in days
        if each.occurrences
    }


def window(start, hours, **further):
    return Window(start=start, duration=dt.timedelta(hours=hours), **further)


def test_a_window_over_midnight_is_on_both_days_by_its_own_clock():
    policy = Policy(windows=(window("0 22 * * 6", 4, timezone=BERLIN, levels=("minor",)),))
    zone, days = shown(policy)
    assert zone == BERLIN
    text = "window for minor"
    # Clocks go forward on Sunday, 29 March: four hours from Saturday, 22:00, end at 03:00 on the wall.
    assert days["2026-03-28"] == [("window", "22:00-24:00", text)]
    assert days["2026-03-29"] == [("window", "00:00-03:00", text)]
    assert days["2026-04-05"] == [("window", "00:00-02:00", text)]
    assert len(days) == 10


def test_windows_of_several_zones_are_shown_in_utc():
    policy = Policy(
        windows=(window("0 2 * * 1", 1, timezone=BERLIN), window("0 2 * * 1", 1, timezone="UTC"))
    )
    zone, days = shown(policy)
    assert zone == "UTC"
    assert days["2026-03-23"] == [
        ("window", "01:00-02:00", "window"),
        ("window", "02:00-03:00", "window"),
    ]
    assert days["2026-03-30"][0] == ("window", "00:00-01:00", "window")


@pytest.mark.parametrize(
    ("cron", "hours", "time", "text"),
    [
        ("0 * * * *", 1, "", "window"),
        ("0 */2 * * *", 1, "00:00-01:00 … 22:00-23:00", "window, 12 times"),
        full("* * * * *", 0.01, "00:00-00:00 … 23:59-23:59", "window, 1440 times"),
    ],
)
def test_many_windows_of_a_day_are_one_line(cron, hours, time, text):
    _, days = shown(Policy(windows=(window(cron, hours),)))
    assert len(days) == 7 * WEEKS
    assert days["2026-03-23"] == [("window", time, text)]
    assert days["2026-04-26"] == [("window", time, text)]


def test_an_exclusion_says_from_when_to_when_and_why():
    exclusion = Exclusion(
        start=dt.datetime(2026, 3, 27, 18, 0, tzinfo=dt.UTC),
        end=dt.datetime(2026, 3, 30, tzinfo=dt.UTC),
        scope=("major", "minor"),
        allow_critical=True,
        reason="quarter end",
    )
    _, days = shown(Policy(exclusions=(exclusion,)))
    text = "no major, minor but critical ones: quarter end"
    assert days == {
        "2026-03-27": [("exclusion", "18:00-24:00", text)],
        "2026-03-28": [("exclusion", "", text)],
        "2026-03-29": [("exclusion", "", text)],
    }


def test_what_is_due_now_what_waits_and_what_was_done():
    plan = UpgradePlan(
        package="acme/crm",
        at=WEDNESDAY,
        ready=(Ready(listed("1.0.1"), "patch"), Ready(listed("1.0.0"), "patch")),
        scheduled=(
            Scheduled(listed("1.2.0"), "minor", WEDNESDAY + dt.timedelta(days=60), (), ""),
            Scheduled(listed("1.1.0"), "minor", WEDNESDAY + dt.timedelta(days=3), (), ""),
        ),
    )
    events = [
        PackageEvent(
            package="acme/crm",
            at=WEDNESDAY - dt.timedelta(days=1),
            action="upgrade",
            before="0.9.0",
            after="1.0.0",
        ),
        PackageEvent(
            package="acme/crm",
            at=WEDNESDAY - dt.timedelta(days=90),
            action="install",
            after="0.9.0",
        ),
    ]
    _, days = shown(plan=plan, events=events)
    assert days == {
        "2026-03-24": [("done", "12:00", "upgrade 1.0.0")],
        "2026-03-25": [("planned", "now", "1.0.1")],
        "2026-03-28": [("planned", "12:00", "1.1.0")],
    }
    _, later = shown(plan=plan, events=events, start=dt.date(2026, 5, 21))
    assert later == {"2026-05-24": [("planned", "12:00", "1.2.0")]}


def test_a_window_that_never_opens_is_on_no_day():
    assert shown(Policy(windows=(window("0 0 29 2 *", 1),)))[1] == {}
