import datetime as dt

import pytest
import yaml
from channel_data import HOUR, MINUTE, time
from hypothesis import given
from hypothesis import strategies as st

from trundle.channels import (
    LEVELS,
    Exclusion,
    Policy,
    PolicyError,
    UpgradeAction,
    Window,
    policy_to_plain,
    read_policy,
)

EXAMPLE = """
upgrade:
  patch: immediate          # immediate | window | approval | never
  minor: window
  major: never
  prerelease: immediate
  zeroMajor: caret          # 0.4 -> 0.5 counts as major
  minAge: PT0S              # cooldown
  minRemaining: PT15M       # do not start when less of the window is left
  windows:
    - {start: "0 2 * * SUN", duration: PT4H, timezone: Europe/Berlin, levels: [minor, patch]}
  exclusions:
    - {start: 2026-12-20T00:00:00+01:00, end: 2027-01-04T00:00:00+01:00, scope: all, allowCritical: true, reason: year end}
"""
POLICY = Policy(
    windows=(
        Window(
            start="0 2 * * SUN",
            duration=4 * HOUR,
            timezone="Europe/Berlin",
            levels=("patch", "minor"),
        ),
    ),
    exclusions=(
        Exclusion(
            start=time("2026-12-19T23:00Z"),
            end=time("2027-01-03T23:00Z"),
            allow_critical=True,
            reason="year end",
        ),
    ),
)


def test_the_example_is_read_and_has_the_defaults():
    assert read_policy(yaml.safe_load(EXAMPLE)["upgrade"]) == POLICY
    assert POLICY.min_remaining == 15 * MINUTE


def test_times_may_be_text_or_values_of_a_yaml_reader():
    base = {"end": "2027-01-04T00:00:00+01:00"}
    text = {"exclusions": [{"start": "2026-12-20T00:00:00+01:00", **base}]}
    value = {
        "exclusions": [{"start": dt.datetime.fromisoformat("2026-12-20T00:00:00+01:00"), **base}]
    }
    assert read_policy(text) == read_policy(value)


@pytest.mark.parametrize("nothing", [None, {}, {"windows": None, "exclusions": []}])
def test_no_policy_is_the_default_one(nothing):
    assert read_policy(nothing) == Policy()
    assert [Policy().action(level) for level in LEVELS] == [
        "immediate",
        "immediate",
        "window",
        "never",
    ]


ACTIONS = st.sampled_from(UpgradeAction)
DURATIONS = st.integers(1, 10**6).map(lambda seconds: dt.timedelta(seconds=seconds))
SOME_LEVELS = st.sets(st.sampled_from(LEVELS), min_size=1).map(
    lambda some: tuple(each for each in LEVELS if each in some)
)
POLICIES = st.builds(
    Policy,
    patch=ACTIONS,
    minor=ACTIONS,
    major=ACTIONS,
    prerelease=ACTIONS,
    zero_major=st.sampled_from(["caret", "plain"]),
    min_age=DURATIONS,
    min_remaining=DURATIONS,
    windows=st.lists(
        st.builds(
            Window,
            start=st.sampled_from(["0 2 * * SUN", "*/5 * * * *"]),
            duration=DURATIONS,
            timezone=st.sampled_from(["UTC", "Europe/Berlin"]),
            levels=SOME_LEVELS,
        ),
        max_size=2,
    ).map(tuple),
    exclusions=st.lists(
        st.builds(
            lambda start, length, scope, allowed, reason: Exclusion(
                start=start, end=start + length, scope=scope, allow_critical=allowed, reason=reason
            ),
            st.datetimes(dt.datetime(2020, 1, 1), timezones=st.just(dt.UTC)).filter(  # noqa: DTZ001
                lambda moment: moment.year < 9000
            ),
            DURATIONS,
            st.just("all") | SOME_LEVELS,
            st.booleans(),
            st.text(max_size=5),
        ),
        max_size=2,
    ).map(tuple),
)


@given(POLICIES)
def test_policies_are_read_as_they_are_written(policy):
    assert read_policy(policy_to_plain(policy)) == policy


@pytest.mark.parametrize(
    ("data", "where", "advice"),
    [
        ([], "upgrade", "object"),
        ({"pach": "immediate"}, "upgrade.pach", "did you mean patch?"),
        ({"patch": "imediate"}, "upgrade.patch", "did you mean immediate?"),
        ({"patch": True}, "upgrade.patch", "write one of them"),
        ({"patch": None}, "upgrade.patch", "write one of them"),
        ({"zeroMajor": "tilde"}, "upgrade.zeroMajor", "write one of them"),
        ({"minAge": "1 day"}, "upgrade.minAge", "days"),
        ({"minAge": "P1M"}, "upgrade.minAge", "days"),
        ({"minAge": 5}, "upgrade.minAge", "days"),
        ({"minAge": "P9999W"}, "upgrade.minAge", "shorter"),
        ({"minRemaining": "-PT5M"}, "upgrade.minRemaining", "days"),
        ({"windows": {"start": "0 2 * * *"}}, "upgrade.windows", "hyphen"),
        ({"windows": ["0 2 * * *"]}, "upgrade.windows[0]", "object"),
    ],
)
def test_each_finding_says_where_and_what_to_do(data, where, advice):
    with pytest.raises(PolicyError) as caught:
        read_policy(data)
    assert where in [each.where for each in caught.value.findings]
    assert any(advice in each.advice for each in caught.value.findings)
    assert all(each.expected and each.found for each in caught.value.findings)


WINDOW = {"start": "0 2 * * *", "duration": "PT1H"}
FREEZE = {"start": "2026-12-20T00:00:00Z", "end": "2026-12-21T00:00:00Z"}


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("start", "61 2 * * *", "a minute that cannot be"),
        ("start", "0 2 * *", "4 fields"),
        ("start", "0 0 2 * * *", "6 fields"),
        ("start", None, "nothing"),
        ("start", 5, "found 5"),
        ("duration", "PT0S", "longer than nothing"),
        ("duration", "P0D", "longer than nothing, found P0D"),
        ("duration", "1h", "ISO 8601"),
        ("duration", None, "ISO 8601"),
        ("duration", "P400D", "at most 366 days"),
        ("timezone", "Europe/Berln", "did you mean Europe/Berlin?"),
        ("timezone", "../etc/passwd", "a time zone"),
        ("timezone", "Europe", "a time zone"),
        ("timezone", None, "a time zone"),
        ("levels", [], "at least one level"),
        ("levels", ["patches"], "did you mean patch?"),
        ("levels", "major-ish", "major"),
        ("level", ["patch"], "did you mean levels?"),
    ],
)
def test_findings_in_windows(key, value, words):
    with pytest.raises(PolicyError) as caught:
        read_policy({"windows": [WINDOW, WINDOW | {key: value}]}, "config.yaml: upgrade")
    assert words in str(caught.value)
    (finding,) = caught.value.findings
    assert "upgrade.windows[1]" in finding.where


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("start", "2026-12-20", "offset"),
        ("start", "2026-12-20T00:00:00", "offset"),
        ("start", dt.datetime(2026, 12, 20), "offset"),  # noqa: DTZ001
        ("start", dt.date(2026, 12, 20), "offset"),
        ("end", "2026-12-20T00:00:00Z", "after the start"),
        ("end", None, "offset"),
        ("scope", "everything", "one of"),
        ("scope", ["all"], "one of"),
        ("allowCritical", "yes", "true or false"),
        ("reason", 5, "text"),
        ("until", "x", "one of the keys"),
    ],
)
def test_findings_in_exclusions(key, value, words):
    with pytest.raises(PolicyError) as caught:
        read_policy({"exclusions": [FREEZE | {key: value}]})
    assert words in str(caught.value)


def test_all_findings_are_listed():
    with pytest.raises(PolicyError) as caught:
        read_policy({"patch": 1, "minor": 2, "windows": [{}], "exclusions": [{}]})
    assert len(caught.value.findings) == 6


def test_a_scope_may_name_levels():
    policy = read_policy({"exclusions": [FREEZE | {"scope": ["major", "minor"]}]})
    assert policy.exclusions[0].scope == ("minor", "major")
    assert policy.exclusions[0].holds_back("minor")
    assert not policy.exclusions[0].holds_back("patch")
