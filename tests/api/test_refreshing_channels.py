"""Followed channels are read again beside a server, and what is wrong with them is said once."""

import datetime as dt
import threading
from pathlib import Path

import pytest
from followed_channels import PACKAGE, Publisher
from publishing_support import WORD, now

from trundle.api.catalogs import ChannelRefresh
from trundle.catalog import Catalog

EVERY = 60


@pytest.fixture
def publisher(tmp_path):
    found = Publisher(tmp_path / "publisher")
    found.publish("1.0.0")
    return found


@pytest.fixture
def catalog(tmp_path, publisher):
    with Catalog(tmp_path / "catalog.db", wait=0.1) as opened:
        opened.channels.follow(publisher.subscription, publisher.root, tenant="acme")
        yield opened


@pytest.fixture
def said():
    return []


@pytest.fixture
def refresh(catalog, said):
    """Each look at the clock is an hour after the one before, so that each turn finds all channels due."""
    looks = iter(range(1, 1000))
    return ChannelRefresh(
        catalog, EVERY, said.append, clock=lambda: now() + dt.timedelta(hours=next(looks))
    )


def latest(catalog):
    return catalog.channels.channel(PACKAGE, WORD, tenant="acme").latest.version


def test_a_turn_reads_what_is_due(catalog, publisher, refresh, said):
    publisher.publish("1.1.0")
    ChannelRefresh(catalog, EVERY, said.append).turn()
    assert latest(catalog) == "1.0.0"  # It was read a moment ago.
    refresh.turn()
    assert latest(catalog) == "1.1.0"
    assert said == []


def test_what_is_wrong_is_said_once_and_again_when_it_is_something_else(
    catalog, publisher, refresh, said
):
    timestamp = publisher.files / "timestamp.json"
    timestamp.rename(timestamp.with_name("kept"))
    refresh.turn()
    refresh.turn()
    assert [each.split(":")[0] for each in said] == ["channel acme/db stable of acme is refused"]
    assert said[0].endswith("[unsigned-channel]")
    publisher.files.rename(publisher.files.with_name("away"))
    refresh.turn()
    assert len(said) == 2
    assert said[1].endswith("[channel-not-found]")
    publisher.export()
    refresh.turn()
    assert len(said) == 2
    (publisher.files / "timestamp.json").unlink()
    refresh.turn()
    assert [each.rpartition(" ")[2] for each in said[1:]] == [
        "[channel-not-found]",
        "[unsigned-channel]",
    ]


def test_a_database_that_cannot_be_written_ends_nothing(catalog, refresh, said):
    with (
        Catalog(Path(catalog.where)) as other,
        other.changing(),
    ):  # Which leaves no other writer in.
        refresh.turn()
        refresh.turn()
    refresh.turn()
    assert len(said) == 1
    assert said[0].startswith("the channels of the catalog cannot be read again: ")


def test_the_thread_reads_until_it_is_stopped(catalog, publisher, said):
    turns = []

    class Waiting:
        """Waits for the stop alone; lets the test go on once a turn is over."""

        def wait(self, event, seconds):
            turns.append((seconds, latest(catalog)))
            reached.set()
            return event.wait()

    reached = threading.Event()
    publisher.publish("1.1.0")
    later = dt.timedelta(hours=1)
    refresh = ChannelRefresh(
        catalog, EVERY, said.append, clock=lambda: now() + later, timer=Waiting()
    )
    with refresh:
        reached.wait(60)
    assert turns == [(EVERY, "1.1.0")]
    assert not refresh._thread.is_alive()
