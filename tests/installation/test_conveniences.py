"""Installing what is installed, waiting for what is scheduled, notifying others, and data from every command."""

import datetime as dt
import http.server
import json
import shlex
import sys
import threading

import pytest
import serving
import typer
from sites import MONDAY, Site

from trundle.channels import Policy, RefusalCode, RefusedError, Request, Window
from trundle.cli._app import app
from trundle.installation import LogLine, NotificationError, notifier, upgrade_waiting
from trundle.version import SemVer

CRM = "acme/crm"
LINE = LogLine(MONDAY, "upgrade", "from 1.0.0", CRM, "1.0.1")


@pytest.fixture
def site(tmp_path):
    site = Site(tmp_path)
    site.publish("1.0.0")
    site.install()
    return site


class TestInstallingWhatIsInstalled:
    def test_it_is_an_error_that_names_the_option(self, site):
        with pytest.raises(RefusedError, match="--upgrade") as raised:
            site.install()
        assert raised.value.code == RefusalCode.ALREADY_INSTALLED

    def test_with_upgrade_it_is_brought_up_to_date(self, site):
        assert site.install(upgrade=True).events == ()
        site.publish("1.0.1")
        assert [each.action for each in site.install(upgrade=True).events] == ["upgrade"]
        assert site.text() == "acme/crm 1.0.1"

    def test_with_upgrade_the_version_that_is_installed_is_no_error(self, site):
        site.publish("1.0.1")
        assert site.install(upgrade=True, to=SemVer.parse("1.0.0")).events == ()
        assert site.text() == "acme/crm 1.0.0"

    def test_with_upgrade_the_policy_that_was_given_holds(self, site):
        policy = Policy(min_remaining=dt.timedelta(minutes=1))
        site.install(upgrade=True, policy=policy)
        with site.installation() as installation:
            assert installation.package(CRM).subscription.policy == policy

    def test_with_upgrade_the_same_pin_is_no_error(self, site):
        site.install(pin=":1.0.0")
        for dry_run in (False, True):
            result = site.install(pin=":1.0.0", upgrade=True, dry_run=dry_run)
            assert result.events == ()
            assert "is installed already" in result.notes[0]
        with pytest.raises(RefusedError):
            site.install(pin=":1.0.0")


class TestWaiting:
    WINDOW = Window(start="0 14 * * *", duration=dt.timedelta(hours=2), timezone="UTC")

    def wait(self, site, wait):
        pauses = []

        def pause(duration):
            pauses.append(duration)
            site.clock.now += duration

        with site.installation() as installation:
            installation.set_policy(CRM, Policy(windows=(self.WINDOW,)))
            result = upgrade_waiting(installation, None, Request(), wait, pause)
        return [each.after for each in result.events], pauses

    def test_it_waits_for_a_window(self, site):
        site.publish("1.0.1")
        site.publish("1.1.0")
        events, pauses = self.wait(site, dt.timedelta(hours=3))
        assert events == ["1.0.1", "1.1.0"]
        assert pauses == [dt.timedelta(hours=2)]

    def test_it_does_not_wait_for_one_that_is_too_late(self, site):
        site.publish("1.0.1")
        site.publish("1.1.0")
        assert self.wait(site, dt.timedelta(hours=1)) == (["1.0.1"], [])

    def test_it_does_not_wait_for_nothing(self, site):
        assert self.wait(site, dt.timedelta(hours=3)) == ([], [])


class TestNotifying:
    def test_a_command_reads_the_line(self, tmp_path):
        place = tmp_path / "line.json"
        program = f"import sys; open({str(place)!r}, 'w').write(sys.stdin.read())"
        notifier(shlex.join([sys.executable, "-c", program]))(LINE)
        assert json.loads(place.read_text()) == {
            "at": "2026-03-02T12:00:00Z",
            "event": "upgrade",
            "message": "from 1.0.0",
            "package": CRM,
            "version": "1.0.1",
        }

    @pytest.mark.parametrize(("status", "arrives"), [(204, True), (500, False)])
    def test_a_webhook_gets_the_line(self, status, arrives):
        got = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(status)
                self.end_headers()

            def log_message(self, *_):
                pass

        with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
            thread = threading.Thread(target=server.handle_request)
            thread.start()
            notify = notifier(f"http://127.0.0.1:{server.server_port}/hook")
            if arrives:
                notify(LINE)
            else:
                with pytest.raises(NotificationError, match="500"):
                    notify(LINE)
            thread.join()
        assert got[0]["version"] == "1.0.1"

    @pytest.mark.parametrize(
        ("target", "seconds", "found"),
        [
            ("false", 60, "found 1"),
            (f"{sys.executable} -c 'import time; time.sleep(60)'", 0.5, "within 0.5 s"),
        ],
        ids=["failing", "slow"],
    )
    def test_what_does_not_arrive_is_an_error(self, target, seconds, found):
        with pytest.raises(NotificationError, match=found):
            notifier(target, seconds=seconds)(LINE)

    @pytest.mark.full
    def test_a_server_that_is_not_there_is_an_error(self):
        with (
            serving.refusing() as address,
            pytest.raises(NotificationError, match="refused"),
        ):
            notifier(f"http://{address}/", seconds=60)(LINE)

    def test_a_command_that_goes_away_is_an_error(self, tmp_path):
        command = tmp_path / "hook"
        command.write_text("#!/bin/sh\n")
        command.chmod(0o700)
        notify = notifier(str(command))
        command.unlink()
        with pytest.raises(NotificationError, match="No such file"):
            notify(LINE)

    @pytest.mark.parametrize(
        ("target", "found"),
        [
            ("/no/such/command --fast", "no such command"),
            ("no-such-command", "no such command"),
            ("http://", "without a host"),
            ("https:///hook", "without a host"),
            ("http://example.com:99999/", "whose port is not a number"),
            ("http://[::1/", "whose host is not a name"),
        ],
    )
    def test_what_can_never_be_notified_is_refused_at_once(self, target, found):
        with pytest.raises(NotificationError, match=found):
            notifier(target)

    @pytest.mark.parametrize("target", ["", "'"])
    def test_what_is_neither_a_command_nor_a_url(self, target):
        with pytest.raises(NotificationError, match="a command or a URL"):
            notifier(target)


def commands_of(group):
    for command in group.commands.values():
        if hasattr(command, "commands"):
            yield from commands_of(command)
        else:
            yield command


def test_every_command_prints_data():
    commands = list(commands_of(typer.main.get_command(app)))
    assert len(commands) > 60
    for command in commands:
        assert any("-o" in each.opts for each in command.params), command.name
