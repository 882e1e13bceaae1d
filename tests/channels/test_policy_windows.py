import datetime as dt

import pytest
from amounts import amount
from channel_data import DAY, HOUR, MINUTE, SECOND, START, time
from hypothesis import example, given, settings
from hypothesis import strategies as st

from trundle.channels import Exclusion, Policy, Wait, Window, gates_for
from trundle.channels.policy.windows import closes_at, end_at, is_open, opens_at

BERLIN = Window(start="0 2 * * SUN", duration=4 * HOUR, timezone="Europe/Berlin")


@pytest.mark.parametrize(
    ("moment", "inside"),
    [
        ("2026-06-07T01:59:59+02:00", False),
        ("2026-06-07T02:00:00+02:00", True),
        ("2026-06-07T05:59:59+02:00", True),
        ("2026-06-07T06:00:00+02:00", False),
        ("2026-06-08T02:00:00+02:00", False),
        # Spring: two o'clock is skipped, the window opens at three and lasts four hours.
        ("2026-03-29T01:59:59+01:00", False),
        ("2026-03-29T03:00:00+02:00", True),
        ("2026-03-29T06:59:59+02:00", True),
        ("2026-03-29T07:00:00+02:00", False),
        # Autumn: it opens in the first pass of two o'clock, and lasts four hours, not five.
        ("2026-10-25T02:00:00+02:00", True),
        ("2026-10-25T02:00:00+01:00", True),
        ("2026-10-25T04:59:59+01:00", True),
        ("2026-10-25T05:00:00+01:00", False),
    ],
)
def test_a_window_on_sunday_night(moment, inside):
    assert is_open([BERLIN], time(moment)) is inside


def test_a_window_over_midnight():
    late = Window(start="0 22 * * SAT", duration=4 * HOUR)
    assert is_open([late], time("2026-06-06T23:59:59Z"))
    assert is_open([late], time("2026-06-07T01:59:59Z"))
    assert not is_open([late], time("2026-06-07T02:00:00Z"))
    assert not is_open([late], time("2026-06-06T21:59:59Z"))


def test_a_window_longer_than_its_period_never_closes():
    always = Window(start="0 0 * * *", duration=26 * HOUR)
    for hour in range(48):
        assert is_open([always], START + hour * HOUR)
    assert closes_at([always], START, 30 * DAY) >= START + 30 * DAY


def test_windows_that_overlap_or_touch_are_one():
    two, four = (Window(start=f"0 {hour} * * *", duration=2 * HOUR) for hour in (2, 4))
    five = Window(start="30 5 * * *", duration=HOUR)
    moment = time("2026-06-07T03:00Z")
    assert closes_at([two], moment, DAY) == time("2026-06-07T04:00Z")
    assert closes_at([five, two, four], moment, DAY) == time("2026-06-07T06:30Z")
    assert closes_at([five, two], moment, DAY) == time("2026-06-07T04:00Z")
    assert opens_at([five, two], moment) == time("2026-06-07T05:30Z")
    assert end_at(five, moment) is None


def test_no_window_is_never_open():
    assert not is_open([], START)
    assert opens_at([], START) is None
    assert closes_at([], START, DAY) is None


def minor(**fields):
    return gates_for(Policy(**fields), "minor")


def exclusion(start, end, **fields):
    return Exclusion(start=time(start), end=time(end), **fields)


def test_enough_of_the_window_has_to_be_left():
    gates = minor(windows=(BERLIN,), min_remaining=15 * MINUTE)
    assert gates.admits(time("2026-06-07T05:45:00+02:00"))
    assert not gates.admits(time("2026-06-07T05:45:01+02:00"))
    assert gates.next_start(time("2026-06-07T05:45:01+02:00")) == time("2026-06-14T02:00+02:00")


def test_an_exclusion_beats_a_window_and_ends_what_is_left_of_it():
    freeze = exclusion("2026-06-07T03:00+02:00", "2026-06-07T05:00+02:00")
    gates = minor(windows=(BERLIN,), exclusions=(freeze,))
    assert gates.admits(time("2026-06-07T02:45+02:00"))
    assert not gates.admits(time("2026-06-07T02:45:01+02:00"))
    assert gates.waits_for(time("2026-06-07T04:00+02:00")) == (Wait.EXCLUSION,)
    assert gates.next_start(time("2026-06-07T02:50+02:00")) == freeze.end
    assert gates.next_start(time("2026-06-07T04:00+02:00")) == freeze.end


def test_overlapping_exclusions_are_waited_for_together():
    freezes = (
        exclusion("2026-06-01T00:00Z", "2026-06-10T00:00Z"),
        exclusion("2026-06-05T00:00Z", "2026-06-20T00:00Z"),
    )
    gates = gates_for(Policy(exclusions=freezes), "patch")
    assert gates.next_start(time("2026-06-02T00:00Z")) == time("2026-06-20T00:00Z")
    assert gates.next_start(time("2026-05-02T00:00Z")) == time("2026-05-02T00:00Z")


@pytest.mark.parametrize(
    ("level", "critical", "scope", "allowed", "held"),
    [
        ("patch", False, "all", True, True),
        ("patch", True, "all", True, False),
        ("patch", True, "all", False, True),
        ("minor", True, "all", True, False),
        ("major", True, "all", True, True),
        ("patch", False, ("minor", "major"), False, False),
        ("minor", False, ("minor", "major"), False, True),
    ],
)
def test_whom_an_exclusion_holds_back(level, critical, scope, allowed, held):
    freeze = exclusion(
        "2026-01-01T00:00Z", "2027-01-01T00:00Z", scope=scope, allow_critical=allowed
    )
    policy = Policy(patch="immediate", minor="immediate", major="immediate", exclusions=(freeze,))
    gates = gates_for(policy, level, critical=critical)
    assert bool(gates.exclusion_at(START)) is held


def test_a_critical_version_needs_no_window_unless_it_is_major():
    policy = Policy(patch="window", minor="window", major="window")
    assert gates_for(policy, "patch", critical=True).admits(START)
    assert gates_for(policy, "minor", critical=True).admits(START)
    assert not gates_for(policy, "major", critical=True).admits(START)
    assert not gates_for(policy, "minor").admits(START)
    assert gates_for(policy, "minor", without_window=True).admits(START)


def test_a_window_counts_for_its_levels_only():
    policy = Policy(
        patch="window",
        minor="window",
        windows=(Window(start="0 * * * *", duration=HOUR, levels=("patch",)),),
    )
    assert gates_for(policy, "patch").admits(START)
    assert gates_for(policy, "minor").next_start(START) is None


def test_short_windows_that_touch_are_long_enough_together():
    short = Window(start="*/5 3 * * *", duration=5 * MINUTE)
    gates = minor(windows=(short,), min_remaining=30 * MINUTE)
    assert gates.next_start(time("2026-06-07T03:31Z")) == time("2026-06-08T03:00Z")
    assert gates.next_start(time("2026-06-07T03:30Z")) == time("2026-06-07T03:30Z")


def test_windows_that_are_always_too_short_end_the_search():
    short = Window(start="0 * * * *", duration=5 * MINUTE)
    assert minor(windows=(short,)).next_start(START) is None
    yearly = Window(start="0 0 1 1 *", duration=DAY)
    assert minor(windows=(short, yearly)).next_start(START) == time("2027-01-01T00:00Z")


ZONES = st.sampled_from(
    ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago"]
)
WINDOWS = st.builds(
    Window,
    start=st.sampled_from(
        ["0 2 * * SUN", "30 23 * * *", "0 0 1 * *", "*/20 2 * * *", "0 */6 * * *", "15 1,2,3 * * *"]
    ),
    duration=st.sampled_from([5 * MINUTE, 20 * MINUTE, 4 * HOUR, 30 * HOUR]),
    timezone=ZONES,
)
NEAR_CHANGES = st.sampled_from(
    ["2026-03-08T07:00Z", "2026-03-29T01:00Z", "2026-04-04T15:00Z", "2026-04-05T03:00Z",
     "2026-09-06T04:00Z", "2026-10-03T15:30Z", "2026-10-25T01:00Z", "2026-11-01T06:00Z"]
).flatmap(lambda text: st.integers(-3 * 86400, 2 * 86400).map(lambda n: time(text) + n * SECOND))  # fmt: skip


@st.composite
def exclusions(draw, around):
    start = around + draw(st.integers(-50, 50)) * HOUR
    return Exclusion(start=start, end=start + draw(st.integers(1, 100)) * HOUR)


@settings(max_examples=amount(40), deadline=None)
@given(st.data(), NEAR_CHANGES, st.sampled_from([0, 15, 60, 300]))
@example(None, time("2026-10-25T00:30Z"), 15)
def test_the_next_start_admits_and_nothing_before_it_does(data, moment, minutes):
    windows = (
        (BERLIN,) if data is None else tuple(data.draw(st.lists(WINDOWS, min_size=1, max_size=3)))
    )
    freezes = () if data is None else tuple(data.draw(st.lists(exclusions(moment), max_size=2)))
    gates = minor(windows=windows, exclusions=freezes, min_remaining=minutes * MINUTE)
    start = gates.next_start(moment)
    if start is None:
        return
    assert start >= moment
    assert gates.admits(start)
    if start > moment:
        assert not gates.admits(start - SECOND)
        between = [moment, *(moment + (start - moment) * part / 12 for part in range(1, 12))]
        for each in between:
            assert not gates.admits(each)
    assert gates.next_start(start) == start


def test_searches_at_the_end_of_the_calendar_end():
    last = dt.datetime(9999, 12, 31, 12, tzinfo=dt.UTC)
    assert minor(windows=(BERLIN,)).next_start(last) is None
