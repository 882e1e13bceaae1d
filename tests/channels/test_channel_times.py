import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trundle.channels import format_duration, format_time, parse_duration, parse_time

MOMENTS = st.datetimes(timezones=st.just(dt.UTC))


@given(MOMENTS)
def test_times_are_read_as_they_are_written(moment):
    assert parse_time(format_time(moment)) == (moment, True)


@pytest.mark.parametrize(
    ("text", "moment", "strict"),
    [
        ("2019-09-12T17:39:04Z", "2019-09-12T17:39:04+00:00", True),
        ("2019-09-12T17:39:04.5+02:00", "2019-09-12T15:39:04.5+00:00", True),
        ("2019-09-12T17:39:04.123456789Z", "2019-09-12T17:39:04.123456+00:00", True),
        ("2019-09-2T4:39:04Z", "2019-09-02T04:39:04+00:00", False),
        ("2019-09-1T23:39:04Z", "2019-09-01T23:39:04+00:00", False),
        ("2019-9-1 3:9:4z", "2019-09-01T03:09:04+00:00", False),
        ("2019-09-12T17:39:04-0330", "2019-09-12T21:09:04+00:00", False),
    ],
)
def test_strict_and_lax_times(text, moment, strict):
    assert parse_time(text) == (dt.datetime.fromisoformat(moment), strict)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2019-09-12",
        "2019-09-12T17:39:04",
        "2019-13-12T17:39:04Z",
        "2019-09-31T17:39:04Z",
        "2019-09-12T24:39:04Z",
        "2019-09-12T17:39:04+25:00",
        "0001-01-01T00:00:00+01:00",
        "\uff12019-09-12T17:39:04Z",
        "2019-09-12T17:39:04Z ",
    ],
)
def test_what_is_no_time(text):
    with pytest.raises(ValueError, match=r"time|offset|day|month|hour|range"):
        parse_time(text)


@given(st.timedeltas(dt.timedelta(0), dt.timedelta(days=10_000)))
def test_durations_are_read_as_they_are_written(duration):
    assert parse_duration(format_duration(duration)) == duration


@pytest.mark.parametrize(
    ("text", "hours"), [("PT15M", 0.25), ("P1DT2H", 26), ("P2W", 336), ("PT0S", 0), ("P1D", 24)]
)
def test_durations(text, hours):
    assert parse_duration(text) == dt.timedelta(hours=hours)


@pytest.mark.parametrize(
    "text", ["", "P", "PT", "P1M", "P1Y", "-PT1H", "pt1h", "15m", "PT1H ", "P1W2D"]
)
def test_what_is_no_duration(text):
    with pytest.raises(ValueError, match=r"[Dd]uration|Only units"):
        parse_duration(text)


@pytest.mark.parametrize("text", ["P99999W", "P999999999D", "P99999999999999D", "PT9999999999999H"])
def test_a_duration_has_an_end(text):
    with pytest.raises(ValueError, match=r"longer than P366000D|[Dd]uration"):
        parse_duration(text)
