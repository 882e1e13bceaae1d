"""The story of the document that defines channels, without files, network and clock."""

from channel_data import DAY, HOUR, PACKAGE, entry, state, time, v

from trundle.channels import (
    Channel,
    Policy,
    Window,
    decide,
    publish,
    read_all,
    status_of,
    unpublish,
    write_all,
)

POLICY = Policy(
    patch="immediate",
    minor="window",
    windows=(
        Window(
            start="0 2 * * SUN",
            duration=4 * HOUR,
            timezone="Europe/Berlin",
            levels=("minor", "patch"),
        ),
    ),
)
MONDAY = time("2019-09-09T12:00Z")


def test_a_vulnerable_version_is_left_at_once_and_the_minor_version_waits_for_its_window():
    made = Channel(name="stable", package=PACKAGE)
    for version in ("1.0.3", "1.1.2", "1.2.3"):
        made = publish(made, entry(version, at=MONDAY), MONDAY).channel
    installed = state("1.1.2")

    reason = "CVE-2019-0001: anybody may read everything"
    made = unpublish(made, v("1.1.2"), reason, MONDAY + DAY).channel
    now = MONDAY + 2 * DAY
    made = publish(made, entry("1.1.3", at=now), now).channel
    assert [str(each.version) for each in made.versions] == ["1.2.3", "1.1.3", "1.0.3"]
    assert made.latest == v("1.2.3")
    made = read_all(write_all(made)).channel

    plan = decide(made, installed, POLICY, now)
    assert plan.target.version == v("1.1.3")
    assert [str(each.entry.version) for each in plan.scheduled] == ["1.2.3"]
    opening = time("2019-09-15T02:00+02:00")
    assert plan.next_change == opening
    assert plan.notes == (f"the installed version 1.1.2 was unpublished: {reason}",)
    status = status_of(plan, installed, made, now)
    assert status.condition("Published").status == "False"

    upgraded = state("1.1.3", seen_serial=made.serial, clock_floor=now)
    waiting = decide(made, upgraded, POLICY, now)
    assert waiting.target is None
    assert waiting.next_change == opening
    done = decide(made, upgraded, POLICY, opening)
    assert done.target.version == v("1.2.3")
    assert not decide(made, state("1.2.3"), POLICY, opening).update_available
