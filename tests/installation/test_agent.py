"""The agent: follows, backs off, reports each change once, and ends on a signal."""

import datetime as dt
import signal
import subprocess
import threading
import time

import msgspec
import pytest
import serving
import warm
from channel_data import DAY, HOUR, MINUTE, SECOND
from sites import MONDAY, Site

from trundle.channels import Policy, UpgradeAction
from trundle.installation import Agent, LogLine, Round, pause_after, run_round
from trundle.registry import HttpSettings

QUICK = HttpSettings(retries=1, first_pause=0.01)


@pytest.fixture
def site(tmp_path):
    made = Site(tmp_path)
    made.publish("1.0.0")
    made.install()
    return made


def round_of(site):
    with site.installation() as installation:
        return run_round(installation)


def events(done):
    return [(each.event, each.version) for each in done.lines]


def test_it_waits_for_the_interval_or_for_the_next_change():
    assert pause_after(Round(()), 0, MONDAY, HOUR) == HOUR
    soon = Round((), next_change=MONDAY + MINUTE)
    assert pause_after(soon, 0, MONDAY, HOUR) == MINUTE
    late = Round((), next_change=MONDAY + DAY)
    assert pause_after(late, 0, MONDAY, HOUR) == HOUR
    past = Round((), next_change=MONDAY - DAY)
    assert pause_after(past, 0, MONDAY, HOUR) == SECOND


def test_it_waits_longer_and_longer_while_nothing_can_be_reached():
    failed = Round((), failed=True)
    pauses = [pause_after(failed, number, MONDAY, HOUR) for number in (1, 2, 3, 500)]
    assert pauses == [2 * HOUR, 4 * HOUR, 6 * HOUR, 6 * HOUR]
    assert pause_after(failed, 3, MONDAY, DAY) == DAY


@pytest.mark.full
def test_a_round_upgrades_what_the_policy_allows_and_reports(site):
    assert events(round_of(site)) == [("idle", "")]
    site.publish("2.0.0")
    site.publish("1.0.1")
    assert events(round_of(site)) == [("upgrade", "1.0.1"), ("blocked", "2.0.0")]
    with site.installation() as installation:
        installation.set_policy("acme/crm", Policy(major=UpgradeAction.IMMEDIATE, min_age=2 * HOUR))
    done = round_of(site)
    assert events(done) == [("scheduled", "2.0.0")]
    assert done.next_change == MONDAY + 2 * HOUR


def test_a_round_survives_a_registry_that_is_gone_and_goes_on_when_it_is_back(site):
    site.publish("1.0.1")
    (site.folder / "registry").rename(site.folder / "gone")
    done = round_of(site)
    assert [each.event for each in done.lines] == ["refused"]
    (site.folder / "gone").rename(site.folder / "registry")
    assert events(round_of(site)) == [("upgrade", "1.0.1")]


def test_a_registry_that_does_not_answer_counts_as_a_failure(site):
    with serving.refusing() as address, site.installation(settings=QUICK) as installation:
        with installation.memory.changing():
            package = installation.package("acme/crm")
            place = f"{address}/acme/crm"
            subscription = msgspec.structs.replace(package.subscription, repository=place)
            installation.memory.put(msgspec.structs.replace(package, subscription=subscription))
        status = installation.status(installation.package("acme/crm"))
        assert status.condition("ChannelUsable").reason == "Unreachable"
        assert run_round(installation).failed


def test_it_reports_what_stays_the_same_only_once(site):
    logged: list[LogLine] = []
    stopped = threading.Event()
    rounds = iter(range(3))

    def waiting(_seconds):
        if next(rounds, None) is None:
            stopped.set()
            return True
        return False

    with site.installation() as installation:
        agent = Agent(installation, logged.append, stopped=stopped)
        stopped.wait = waiting  # type: ignore[method-assign]
        agent.run()
    assert [each.event for each in logged] == ["idle", "stopped"]


def test_it_stops_in_the_middle_of_a_transfer(site):
    site.publish("1.0.1")
    logged: list[LogLine] = []
    before = site.snapshot()
    with site.installation() as installation:
        agent = Agent(installation, logged.append)
        installation.progress = lambda _size: agent.stopped.set()
        agent.run()
    assert [each.event for each in logged] == ["stopped"]
    assert site.snapshot() == before
    assert events(round_of(site)) == [("upgrade", "1.0.1")]


def test_it_goes_on_after_trouble_with_its_own_disk(site, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    site.publish("1.0.1")
    with monkeypatch.context() as patched:
        patched.setattr("trundle.installation._folders.lock_of", full)
        done = round_of(site)
    assert ([each.event for each in done.lines], done.failed) == (["error"], True)
    assert events(round_of(site)) == [("upgrade", "1.0.1")]


def test_a_line_is_for_people_too():
    line = LogLine(MONDAY, "upgrade", "from 1.0.0", "acme/crm", "1.0.1")
    assert str(line) == "2026-03-02T12:00:00Z upgrade acme/crm 1.0.1: from 1.0.0"


def start(site, *arguments, command=(warm.TRUNDLE,)):
    return subprocess.Popen(
        [*command, "agent", "--state", site.state, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.full
@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGINT])
def test_the_command_follows_until_a_signal_and_then_ends_well(tmp_path, kind):
    now = dt.datetime.now(dt.UTC)
    site = Site(tmp_path)
    site.clock.now = now
    site.publish("1.0.0")
    site.install()
    process = start(site, "--interval", "PT1S", "-o", "json")
    try:
        assert '"idle"' in process.stdout.readline()
        second = start(site, command=warm.script())
        assert second.wait(120) == 8
        assert "expected no other agent" in second.stderr.read()
        second.communicate()
        site.publish("1.0.1")
        assert '"upgrade"' in process.stdout.readline()
        time.sleep(0.1)
        process.send_signal(kind)
        output, errors = process.communicate(timeout=120)
    finally:
        process.kill()
    assert (process.returncode, errors) == (0, "")
    assert '"stopped"' in output.splitlines()[-1]
    assert site.text() == "acme/crm 1.0.1"


@pytest.mark.full
def test_the_command_can_look_just_once(tmp_path):
    site = Site(tmp_path)
    site.clock.now = dt.datetime.now(dt.UTC)
    site.publish("1.0.0")
    site.install()
    site.publish("1.0.1")
    output, errors = start(site, "--once", command=warm.script()).communicate(timeout=120)
    assert " upgrade acme/crm 1.0.1: from 1.0.0" in output
    assert errors == ""
