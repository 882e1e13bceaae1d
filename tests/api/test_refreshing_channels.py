"""Followed channels are read again beside a server, and what is wrong with them is said once."""

import datetime as dt
import tempfile
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
    publisher.export()
    refresh.turn()
    assert len(said) == 1
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


def test_a_fault_in_one_channel_holds_up_no_other_and_is_said(
    catalog, publisher, refresh, said, monkeypatch
):
    catalog.channels.follow(publisher.subscription, publisher.root, tenant="zoo")
    publisher.publish("1.1.0")
    read = catalog.channels._read_again

    def failing(row):
        if row.tenant == "acme":
            raise OSError(28, "No space left on device")
        return read(row)

    monkeypatch.setattr(catalog.channels, "_read_again", failing)
    refresh.turn()
    refresh.turn()
    assert latest(catalog) == "1.0.0"
    assert catalog.channels.channel(PACKAGE, WORD, tenant="zoo").latest.version == "1.1.0"
    assert said == [
        "channel acme/db stable of acme cannot be read again: OSError: [Errno 28] No space left on device"
    ]
    monkeypatch.undo()
    refresh.turn()
    assert latest(catalog) == "1.1.0"


def test_reading_goes_on_where_nothing_can_be_said(catalog, publisher):
    catalog.channels.follow(publisher.subscription, publisher.root, tenant="zoo")
    timestamp = publisher.files / "timestamp.json"
    timestamp.rename(timestamp.with_name("kept"))

    def complain(line):
        raise BrokenPipeError(line)

    refresh = ChannelRefresh(catalog, EVERY, complain, clock=lambda: now() + dt.timedelta(hours=1))
    refresh.turn()
    for tenant in ("acme", "zoo"):
        assert catalog.channels.channel(PACKAGE, WORD, tenant=tenant).state == "refused"


def test_the_thread_outlives_a_folder_for_temporary_files_that_is_gone(
    catalog, publisher, said, monkeypatch, tmp_path
):
    publisher.publish("1.1.0")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    turns = []
    done = threading.Event()

    class Waiting:
        """After the first turn, the folder is there again; after the second, the test goes on."""

        def wait(self, event, seconds):
            turns.append(latest(catalog))
            monkeypatch.undo()
            if len(turns) == 2:
                done.set()
                event.wait()

    hours = iter(range(1, 1000))
    refresh = ChannelRefresh(
        catalog,
        EVERY,
        said.append,
        clock=lambda: now() + dt.timedelta(hours=next(hours)),
        timer=Waiting(),
    )
    with refresh:
        assert done.wait(60)
    assert turns == ["1.0.0", "1.1.0"]
    (only,) = said
    assert "cannot be read again: FileNotFoundError: " in only


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
