"""Whatever happens while something is installed: the old is there, or the new."""

import datetime as dt
import itertools
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sites
import warm
from sites import Site

from trundle.channels import Hold, Policy, RefusedError, Request
from trundle.database import UnwritableError
from trundle.installation import (
    Installation,
    StateBusyError,
    StateError,
    tidy,
    upgrade,
)

SUPPORT = Path(sites.__file__).parent
CRM = "acme/crm"


def python(*arguments, **further):
    paths = [str(SUPPORT), *(each for each in sys.path if each)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.Popen(
        [sys.executable, *map(str, arguments)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **further,
    )


@pytest.mark.full
def test_a_client_that_is_killed_at_any_write_leaves_the_old_or_the_new(tmp_path):
    output, errors = python(SUPPORT / "dying.py", tmp_path).communicate(timeout=600)
    assert not errors
    outcomes = [json.loads(line) for line in output.splitlines()]
    assert len(outcomes) > 40
    old, new = ["1.0.0", "1.0.0"], ["1.0.1", "1.0.1"]
    assert all(each["left"] in (old, new) for each in outcomes)
    assert all(each["known"] in (old, new) for each in outcomes)
    assert all(each["after"] == new and each["rest"] == [] for each in outcomes)
    assert {str(each["left"]) for each in outcomes} == {str(old), str(new)}


UPGRADE = """
import datetime as dt, sys
from pathlib import Path
from trundle.installation import Installation, upgrade
with Installation(Path(sys.argv[1]), clock=lambda: dt.datetime.fromisoformat(sys.argv[2])) as it:
    print(len(upgrade(it).events))
"""


@pytest.mark.full
@pytest.mark.parametrize("signed", [False, True], ids=["unsigned", "signed"])
def test_several_clients_on_one_installation_upgrade_it_once(tmp_path, signed):
    site = Site(tmp_path, signed=signed)
    site.publish("1.0.0")
    site.install()
    site.publish("1.0.1")
    script = tmp_path / "upgrading.py"
    script.write_text(UPGRADE)
    command = [*warm.script(script), site.state, site.clock().isoformat()]
    clients = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    ends = [each.communicate(timeout=120) for each in clients]
    assert [errors for _, errors in ends] == [""] * 4
    assert sorted(output.strip() for output, _ in ends) == ["0", "0", "0", "1"]
    with site.installation() as installation:
        assert [each.action for each in installation.history()] == ["upgrade", "install"]


@pytest.mark.full
def test_threads_with_installations_of_their_own_do_the_same(tmp_path):
    site = Site(tmp_path)
    site.publish("1.0.0")
    site.install()
    site.publish("1.0.1")

    def run(_):
        with site.installation() as installation:
            return len(upgrade(installation).events)

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(run, range(4))) == [0, 0, 0, 1]


def test_waiting_too_long_is_an_error(tmp_path):
    site = Site(tmp_path)
    refused = pytest.raises(StateBusyError, match="expected to change it alone")
    with site.installation() as one, site.installation(wait=0.1) as other, one.alone(), refused:
        upgrade(other)


def test_a_database_on_a_full_disk_changes_nothing(tmp_path, monkeypatch):
    site = Site(tmp_path)
    site.publish("1.0.0")
    site.install()
    site.publish("1.0.1")
    before = site.snapshot()
    with site.installation() as installation:
        memory = installation.memory
        with memory.changing():
            pages = memory._connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            memory._connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
        put = memory.put

        def growing(package):
            put(package)
            memory._set_fact("filler", "x" * 1_000_000)

        monkeypatch.setattr(memory, "put", growing)
        with pytest.raises(UnwritableError, match=r"disk is full; make room on the disk"):
            upgrade(installation)
    assert site.snapshot() == before
    assert site.text() == "acme/crm 1.0.0"


def test_a_disk_that_is_full_when_the_set_is_made(tmp_path, monkeypatch):
    site = Site(tmp_path)
    site.publish("1.0.0")
    site.install()
    site.publish("1.0.1")
    before = site.snapshot()

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("trundle.installation._folders.lock_of", full)
        with site.installation() as installation, pytest.raises(OSError, match="No space left"):
            upgrade(installation)
    assert site.snapshot() == before
    with site.installation() as installation:
        assert len(upgrade(installation).events) == 1
    assert site.text() == "acme/crm 1.0.1"


def test_a_database_that_is_not_written_is_as_before(tmp_path, monkeypatch):
    site = Site(tmp_path)
    site.publish("1.0.0")
    site.install()
    site.publish("1.0.1")
    before = site.snapshot()
    with site.installation() as installation:

        def failing(*_):
            raise RuntimeError("a bug")

        monkeypatch.setattr(installation.memory, "set_generation", failing)
        with pytest.raises(RuntimeError):
            upgrade(installation)
    assert site.snapshot() == before


def test_a_lost_link_is_set_again(tmp_path):
    site = Site(tmp_path)
    site.publish("1.0.0")
    site.install()
    (site.state / "current").unlink()
    with site.installation() as installation, installation.alone():
        pass
    assert site.text() == "acme/crm 1.0.0"


def test_a_folder_that_cannot_be_made_is_one_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StateError, match="choose a folder"):
        Installation(tmp_path / "file" / "state", clock=sites.Clock())


def test_an_installation_that_failed_leaves_no_trust_behind(tmp_path):
    site = Site(tmp_path, signed=True)
    site.publish("1.0.0", dependsOn='{acme/core: "1"}')
    with pytest.raises(RefusedError):
        site.install()
    with site.installation() as installation:
        assert installation.memory.trusted() == ()


def test_names_with_any_number_of_parts_have_folders_of_their_own(tmp_path):
    site = Site(tmp_path)
    for name in ("acme", "acme/crm", "acme/crm/extra"):
        site.publish("1.0.0", name)
        site.install(name)
    assert [site.text(each) for each in ("acme", "acme/crm")] == ["acme 1.0.0", "acme/crm 1.0.0"]
    with site.installation() as installation:
        assert upgrade(installation, None, Request(now=True)).events == ()


def test_a_lost_database_is_replaced_by_installing_again(tmp_path):
    site = Site(tmp_path)
    site.publish("1.0.0")
    site.install()
    for path in site.state.glob("state.db*"):
        path.unlink()
    with site.installation() as installation, installation.alone():
        assert installation.packages() == ()
    assert site.text() == "acme/crm 1.0.0"
    site.publish("1.0.1")
    site.install()
    assert site.text() == "acme/crm 1.0.1"


def test_others_change_the_installation_while_content_is_fetched(tmp_path, monkeypatch):
    site = Site(tmp_path)
    site.publish("1.0.0")
    site.install()
    site.publish("1.0.1")
    with site.installation() as installation, site.installation(wait=0.1) as other:
        fetch, fetched = installation.content.fetch, []

        def fetching(source, *arguments, **further):
            if source is not None:
                fetched.append(arguments)
                other.hold(CRM, Hold("wait", sites.MONDAY))
            return fetch(source, *arguments, **further)

        monkeypatch.setattr(installation.content, "fetch", fetching)
        result = upgrade(installation)
    assert fetched  # The hold came after the decision, and before the change.
    assert result.events == ()
    assert site.text() == "acme/crm 1.0.0"


def test_content_is_not_removed_while_it_is_fetched(tmp_path):
    site = Site(tmp_path)
    site.publish("1.0.0")
    site.install()
    with site.installation() as one, site.installation(wait=0.1) as other:
        with one.fetching(), other.fetching(), pytest.raises(StateBusyError):
            tidy(other, 1)
        with one.removing(), pytest.raises(StateBusyError), other.fetching():
            pass
        assert tidy(other, 1).removed == ()


def test_an_installation_that_others_change_all_the_time_is_left_alone(tmp_path, monkeypatch):
    site = Site(tmp_path)
    site.publish("1.0.0")
    site.install()
    site.publish("1.0.1")
    numbers = itertools.count()
    with site.installation() as installation, site.installation() as other:
        look = installation.look

        def looking(*arguments):
            found = look(*arguments)
            other.set_policy(CRM, Policy(min_remaining=dt.timedelta(minutes=next(numbers))))
            return found

        monkeypatch.setattr(installation, "look", looking)
        with pytest.raises(StateBusyError, match="another change each time; try again"):
            upgrade(installation)
    assert site.text() == "acme/crm 1.0.0"
