import pytest
import yaml
from channel_data import DAY, HOUR, MINUTE, START, time
from test_policy_reading import EXAMPLE

from trundle.channels import Exclusion, Policy, Window, lint, read_policy

NIGHT = Window(start="0 2 * * *", duration=4 * HOUR)
SHORT = Window(start="0 2 * * *", duration=5 * MINUTE)


def freeze(start, end, **fields):
    return Exclusion(start=time(start), end=time(end), **fields)


def test_the_example_gives_nothing_to_complain_about():
    assert lint(read_policy(yaml.safe_load(EXAMPLE)["upgrade"]), START) == ()


@pytest.mark.parametrize(
    ("policy", "where", "words"),
    [
        (Policy(), "minor", "a window with the level minor"),
        (Policy(patch="never", minor="never", prerelease="never"), "", "never for all"),
        (Policy(windows=(SHORT,)), "minor", "minRemaining"),
        (Policy(windows=(SHORT,)), "windows[0].duration", "PT15M"),
        (
            Policy(windows=(Window(start="0 0 29 2 *", duration=HOUR),)),
            "minor",
            "within a year",
        ),
        (
            Policy(windows=(Window(start="0 0 29 2 *", duration=HOUR),)),
            "windows[0].start",
            "2028-02-29",
        ),
        (
            Policy(windows=(Window(start="*/10 2 * 3 0L", duration=HOUR, timezone="Europe/Berlin"),)),
            "windows[0].start",
            "skipped in Europe/Berlin",
        ),
        (
            Policy(windows=(Window(start="0 0 */40 2 0#5", duration=HOUR),)),
            "windows[0].start",
            "none in fifty years",
        ),
        (
            Policy(windows=(NIGHT, Window(start="0 3 * * *", duration=HOUR, levels=("major",)))),
            "windows[1].levels",
            "a level with `window`",
        ),
        (Policy(windows=(NIGHT, NIGHT)), "windows[1]", "twice"),
        (
            Policy(windows=(NIGHT,), exclusions=(freeze("2026-01-01T00:00Z", "2099-01-01T00:00Z"),)),
            "patch",
            "2099",
        ),
        (
            Policy(windows=(NIGHT,), exclusions=(freeze("2026-01-01T00:00Z", "2099-01-01T00:00Z"),)),
            "exclusions[0]",
            "less than a year",
        ),
        (
            Policy(windows=(NIGHT,), exclusions=(freeze("2025-01-01T00:00Z", "2025-02-01T00:00Z"),)),
            "exclusions[0]",
            "still to come",
        ),
        (Policy(windows=(NIGHT,), min_age=200 * DAY), "minAge", "P200D"),
    ],
)  # fmt: skip
def test_what_is_suspicious_is_a_warning(policy, where, words):
    findings = lint(policy, START)
    place = f"upgrade.{where}" if where else "upgrade"
    found = [each for each in findings if each.where == place]
    assert found, findings
    assert any(words in str(each) for each in found), found
    assert {each.severity for each in findings} == {"warning"}


def test_short_windows_that_touch_are_no_finding():
    touching = tuple(
        Window(start=f"{minute} 2 * * *", duration=5 * MINUTE) for minute in (0, 5, 10)
    )
    assert lint(Policy(windows=touching), START) == ()


def test_exclusions_one_after_another_may_cover_everything():
    years = tuple(
        freeze(f"{year}-01-01T00:00Z", f"{year + 1}-01-01T00:00Z") for year in range(2026, 2036)
    )
    findings = lint(Policy(windows=(NIGHT,), exclusions=years), START)
    assert [each.where for each in findings] == [
        "upgrade.prerelease",
        "upgrade.patch",
        "upgrade.minor",
    ]
