"""A run that meets another one of its environment: what it says of that, in two processes."""

import datetime as dt
import os
import re
import signal
import time

import pytest
from kept import TENANT, Kept

from trundle.environments import (
    EnvironmentBusyError,
    NoSuchEnvironmentError,
    call,
    delete,
    deploy,
    rollback,
)
from trundle.providers import FolderProvider

BEGUN = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)


class Waiting(FolderProvider):
    """Says that it acts, and waits as long as a file is there."""

    def __init__(self, root, hold):
        super().__init__(root)
        self.hold = hold

    def apply(self, effect, before):
        self.hold.with_name("acts").touch()
        wait(lambda: not self.hold.exists())
        return super().apply(effect, before)

    def remove(self, effect, outcome):
        self.hold.with_name("acts").touch()
        wait(lambda: not self.hold.exists())
        super().remove(effect, outcome)


def wait(question):
    until = time.monotonic() + 60
    while not question():
        assert time.monotonic() < until
        time.sleep(0.005)


@pytest.fixture
def shop(url, tmp_path):
    kept = Kept(url, tmp_path / "deployed")
    kept.create()
    kept.add("web", {"one": 1})
    kept.deploy()
    kept.add("more", {"two": 2})
    kept.catalog.close()
    return kept


def begun(kept, tmp_path, run):
    """A process that does something and is held up in it; its clock stands."""
    hold = tmp_path / "hold"
    hold.touch()
    child = os.fork()
    if child == 0:
        try:
            mine = Kept(kept.url, kept.folder, packages=())
            mine.environments.clock = lambda: BEGUN
            run(mine, mine.acting(folder=Waiting(kept.folder, hold)))
        except BaseException:  # noqa: BLE001 - the parent sees the exit code
            os._exit(1)
        os._exit(0)
    wait((tmp_path / "acts").exists)
    return child


def deploying(kept, acting):
    kept.deploy(by="ann", **acting)


def calling(kept, acting):
    kept.run(call, "web", "put", ["three", 3], **acting)


def refused(kept, after):
    """What is said to each kind of run that comes so long after the other one has begun."""
    kept.environments.clock = lambda: BEGUN + after
    texts = set()
    for act in (
        kept.deploy,
        lambda: kept.run(call, "web", "count"),
        lambda: kept.run(rollback, 1),
        lambda: kept.run(delete),
        lambda: kept.environments.configure("shop", {"folder": {}}, tenant=TENANT),
    ):
        with pytest.raises(EnvironmentBusyError) as caught:
            act()
        texts.add(str(caught.value))
    (text,) = texts
    return text


@pytest.mark.parametrize(
    ("run", "what"), [(deploying, "`deploy` by ann"), (calling, "`call web.put`")]
)
def test_a_run_that_meets_another_one_says_what_it_does_and_for_how_long(shop, tmp_path, run, what):
    child = begun(shop, tmp_path, run)
    kept = Kept(shop.url, shop.folder, packages=())
    text = refused(kept, dt.timedelta(hours=1, minutes=2, seconds=3))
    assert f"found {what}, which goes on since 2026-01-02T03:04:05+00:00 (1 h 2 min 3 s)" in text
    assert "try again when it has ended" in text
    assert "(0 s)" in refused(kept, -dt.timedelta(minutes=9))  # The clocks of two machines differ.
    (tmp_path / "hold").unlink()
    assert os.waitpid(child, 0)[1] == 0
    assert kept.deploy(draft="").number
    kept.close()


def test_what_the_next_holder_does_is_said_and_not_what_a_dead_one_did(shop, tmp_path):
    child = begun(shop, tmp_path, deploying)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    (tmp_path / "acts").unlink()
    child = begun(shop, tmp_path, lambda kept, acting: kept.run(delete, by="ben", **acting))
    kept = Kept(shop.url, shop.folder, packages=())
    assert re.search(r"found `delete` by ben, .*\(7 s\)", refused(kept, dt.timedelta(seconds=7)))
    (tmp_path / "hold").unlink()
    os.waitpid(child, 0)
    kept.environments.purge("shop", tenant=TENANT)
    kept.close()


def test_nothing_is_noted_of_what_is_no_environment(shop):
    """It stayed for ever: only what removes an environment removes that, too."""
    kept = Kept(shop.url, shop.folder, packages=())
    for act in (
        lambda: deploy(kept.environments, "none", tenant=TENANT, opening=kept.opening),
        lambda: kept.environments.configure("none", {"folder": {}}, tenant=TENANT),
    ):
        with pytest.raises(NoSuchEnvironmentError):
            act()
    with kept.environments.database.reading() as connection:
        found = connection.exec_driver_sql("SELECT environment FROM environment_holders").all()
    assert {each[0] for each in found} == {"shop"}
    kept.close()
