import pytest
from channel_data import DAY, HOUR, START, change, channel, digest, entry, state, v

from trundle.channels import (
    Approval,
    Hold,
    Installed,
    Policy,
    Tombstone,
    Window,
    decide,
    format_time,
    status_of,
)

POLICY = Policy(windows=(Window(start="0 2 * * SUN", duration=4 * HOUR),))
GONE = (Tombstone(entry("1.0.0"), START, "a hole"),)


def status(made, installed, now=START, previous=()):
    plan = decide(made, installed, POLICY, now)
    return status_of(plan, installed, made, now, previous)


def test_approvals_of_what_is_above_the_installed_version():
    approvals = tuple(Approval(v(each), "x", START, "ann") for each in ("1.0.0", "2.0.0"))
    for installed, shown in (("1.0.0", ["2.0.0"]), ("2.0.0", []), (None, ["1.0.0", "2.0.0"])):
        found = status(channel("2.0.0"), state(*filter(None, [installed]), approvals=approvals))
        assert [each["version"] for each in found.to_plain()["approvals"]] == shown


def facts(found):
    return {each.type: (each.status, each.reason) for each in found.conditions}


@pytest.mark.parametrize(
    ("made", "installed", "kind", "expected"),
    [
        (channel("1.0.0"), state("1.0.0"), "Installed", ("True", "Installed")),
        (channel("1.0.0"), state(), "Installed", ("False", "NothingInstalled")),
        (channel("1.0.0"), state("1.0.0"), "ChannelUsable", ("True", "Accepted")),
        (channel("1.0.0"), state("2.0.0"), "ChannelUsable", ("False", "ChannelBehind")),
        (channel("1.0.0"), state("2.0.0"), "UpToDate", ("Unknown", "ChannelRefused")),
        (channel("1.0.0"), state("1.0.0"), "UpToDate", ("True", "LatestInstalled")),
        (channel("1.0.1"), state("1.0.0"), "UpToDate", ("False", "UpdateReady")),
        (channel("1.1.0"), state("1.0.0"), "UpToDate", ("False", "UpdateScheduled")),
        (channel("2.0.0"), state("1.0.0"), "UpToDate", ("False", "UpdateBlocked")),
        (channel("1.0.0", latest=None), state("1.0.0"), "UpToDate", ("Unknown", "NoLatest")),
        (channel("1.0.0"), state("1.0.0"), "Published", ("True", "Listed")),
        (channel("1.0.1", unpublished=GONE), state("1.0.0"), "Published", ("False", "Unpublished")),
        (channel("1.0.1"), state("1.0.0"), "Published", ("False", "NotListed")),
        (
            channel(entry("1.0.0", deprecated="x")),
            state("1.0.0"),
            "Published",
            ("True", "Deprecated"),
        ),
        (channel("1.0.0"), state("1.0.0"), "Held", ("False", "NotHeld")),
        (
            channel("1.0.0"),
            state("1.0.0", holds=(Hold("audit", START),)),
            "Held",
            ("True", "Held"),
        ),
    ],
)
def test_each_condition(made, installed, kind, expected):
    found = status(made, installed)
    assert facts(found)[kind] == expected
    assert found.condition(kind).message


def test_what_is_scheduled_says_once_when():
    found = status(channel("1.1.0"), state("1.0.0")).condition("UpToDate").message
    when = format_time(status(channel("1.1.0"), state("1.0.0")).scheduled[0].not_before)
    assert found == f"1.1.0: no window with enough time left is open; not before {when}"


def test_a_reason_of_several_lines_is_one_line_of_a_message():
    held = state("1.0.0", holds=(Hold("audit\nerror: all is lost", START),))
    found = status(channel("1.0.1"), held)
    said = [*(each.message for each in found.conditions), *(each.message for each in found.blocked)]
    assert any("audit error: all is lost" in each for each in said)
    assert not any("\n" in each for each in said)


def test_a_status_shows_what_is_installed_and_what_comes():
    found = status(channel("1.0.1", "1.1.0", "2.0.0"), state("1.0.0"))
    assert (found.installed_version, found.installed_digest) == ("1.0.0", digest("1.0.0"))
    assert (found.latest, found.target, found.target_digest) == ("2.0.0", "1.0.1", digest("1.0.1"))
    assert [str(each.entry.version) for each in found.scheduled] == ["1.1.0"]
    assert [str(each.entry.version) for each in found.blocked] == ["2.0.0"]
    assert found.announced == "2.0.0"
    assert found.next_change == found.scheduled[0].not_before


def test_a_pinned_installation():
    pinned = change(state(pinned="acme/crm:nightly"), installed=Installed(None, digest("x")))
    found = status_of(decide(None, pinned, POLICY, START), pinned, None, START)
    assert (found.pinned, found.channel, found.installed_version) == ("acme/crm:nightly", "", "")
    assert facts(found)["UpToDate"] == facts(found)["ChannelUsable"] == ("Unknown", "Pinned")


@pytest.mark.parametrize("pin", ["acme/crm:1.0.0", "acme/crm:blessed", "acme/crm@sha256:x"])
@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (channel("1.0.1", unpublished=GONE), ("False", "Unpublished")),
        (channel("1.0.0"), ("True", "Listed")),
        (channel("1.0.1"), ("Unknown", "NotFollowed")),
        (None, ("Unknown", "ChannelRefused")),
    ],
    ids=["unpublished", "listed", "another", "away"],
)
def test_a_pinned_installation_is_looked_up_by_its_content(pin, made, expected):
    version = v("1.0.0") if pin.endswith("1.0.0") else None
    pinned = change(state(pinned=pin), installed=Installed(version, digest("1.0.0")))
    plan = decide(made, pinned, POLICY, START)
    found = status_of(plan, pinned, made, START)
    assert facts(found)["Published"] == expected
    gone = "the installed version 1.0.0 was unpublished: a hole"
    assert (gone in found.notes) is (expected[1] == "Unpublished")


def test_a_version_that_was_pinned_from_the_start_says_why_nothing_is_known():
    made = change(state(pinned="acme/crm:1.0.0"), channel="")
    pinned = change(made, installed=Installed(v("1.0.0"), digest("1.0.0")))
    found = status_of(decide(None, pinned, POLICY, START), pinned, None, START)
    assert facts(found)["Published"] == ("Unknown", "NotFollowed")
    message = found.condition("Published").message
    assert message.startswith("pinned before any channel was followed")
    assert "follow a channel once and then pin" in message


def test_the_transition_time_is_that_of_the_last_change_of_status():
    made = channel("1.0.1")
    first = status(made, state("1.0.0"))
    assert {each.last_transition_time for each in first.conditions} == {START}
    second = status(made, state("1.0.1"), START + DAY, first.conditions)
    times = {each.type: each.last_transition_time for each in second.conditions}
    assert times["UpToDate"] == START + DAY
    assert times["Installed"] == times["ChannelUsable"] == START
    third = status(channel("1.0.1", "1.1.0"), state("1.0.0"), START + 2 * DAY, first.conditions)
    assert third.condition("UpToDate").last_transition_time == START
    assert str(v("1.0.1")) in third.condition("UpToDate").message


def test_texts_of_others_add_no_lines_to_messages():
    """A publisher could otherwise write reasons that look like Trundle's own messages."""
    gone = (Tombstone(entry("1.0.0"), START, "old\nerror: run this"),)
    spoken = entry("1.0.1", deprecated="old\r\n\twarning: run this")
    made = channel(spoken, unpublished=gone)
    for installed in (state("1.0.0"), state("1.0.1")):
        plan = decide(made, installed, POLICY, START)
        found = status(made, installed)
        texts = [*plan.notes, *(each.message for each in found.conditions)]
        assert any("run this" in each for each in texts)
        assert not any("\n" in each or "\r" in each for each in texts)
