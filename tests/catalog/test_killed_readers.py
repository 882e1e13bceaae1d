"""Readers of followed channels that are killed at each of their steps: nothing half is there, and the next one reads."""

import datetime as dt
import itertools
import os
import signal
import sys

import msgspec
import pytest
from children import ended, in_child
from followed_channels import PACKAGE, Publisher, check_from_outside
from publishing_support import WORD, now
from sqlalchemy import event, select
from sqlalchemy.engine import Engine

from trundle.catalog import Catalog, ChannelKey
from trundle.catalog._channel_rows import ChannelRows
from trundle.catalog._tables import CHANNEL_FILES
from trundle.channels import read_latest
from trundle.channels.reading.signatures import TrustState

KEY = ChannelKey("acme", PACKAGE, WORD)
WAYS = {
    "follow": lambda channels, publisher: channels.follow(
        publisher.subscription, publisher.root, tenant="acme"
    ),
    "refresh": lambda channels, _: channels.refresh(KEY),
    "refresh_due": lambda channels, _: channels.refresh_due(KEY, now() + dt.timedelta(days=1)),
}


class Death:
    """Kills this process before its n-th step: a file of the channel that is opened, a statement that writes, a commit.

    Args:
        at: n, counted from 0.
        folder: the files of the channel.
    """

    def __init__(self, at, folder):
        self.left = at
        self.folder = str(folder)
        sys.addaudithook(self.see)
        event.listen(Engine, "before_cursor_execute", self.see_statement)
        event.listen(Engine, "commit", self.step)

    def see(self, name, arguments):
        if name == "open" and str(arguments[0]).startswith(self.folder):
            self.step()

    def see_statement(self, _connection, _cursor, statement, *_):
        if statement.startswith(("INSERT", "UPDATE", "DELETE")):
            self.step()

    def step(self, *_):
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self.left -= 1


def dying(url, way, at, publisher):
    """Reads the channel in a process that dies before its n-th step; whether it did."""

    def work():
        with Catalog(url) as catalog:
            Death(at, publisher.files)
            WAYS[way](catalog.channels, publisher)
        return 0

    code = ended(in_child(work))
    assert code in {0, -signal.SIGKILL}
    return code != 0


def kept(url):
    """All that is kept of the channel, but for when it was last tried to read; None where there is nothing. It is whole."""
    with Catalog(url) as catalog, catalog.database.reading() as connection:
        row = ChannelRows(connection).one(KEY)
        found = connection.execute(select(CHANNEL_FILES.c.name, CHANNEL_FILES.c.content))
        files = {each.name: each.content for each in found}
    if row is None:
        assert files == {}
        return None
    assert row.trouble == b""
    check_from_outside(files["1.root.json"], files.__getitem__)
    seen = msgspec.json.decode(row.seen, type=TrustState)
    assert {name: files[name] for name in seen.metadata} == seen.metadata
    return row._replace(checked=""), files


def latest(what):
    return read_latest(what[1]["latest"]).latest.latest.version


@pytest.mark.full
@pytest.mark.parametrize(
    ("way", "least"),
    [
        pytest.param("follow", 5 + 3, id="follow: the row, its files, the commit"),
        pytest.param("refresh", 5 + 4, id="refresh: the row, files out and in, the commit"),
        pytest.param("refresh_due", 5 + 6, id="refresh_due: the claim, then as refresh"),
    ],
)
def test_who_is_killed_while_reading_has_kept_nothing_and_the_next_one_reads(
    url, tmp_path, way, least
):
    publisher = Publisher(tmp_path / "publisher")
    publisher.publish("1.0.0")
    if way != "follow":
        with Catalog(url) as catalog:
            WAYS["follow"](catalog.channels, publisher)
    before = kept(url)
    for step in itertools.count():
        publisher.publish(f"1.{step + 1}.0")
        has_died = dying(url, way, step, publisher)
        after = kept(url)
        if not has_died:
            break
        assert after == before
        with Catalog(url) as catalog:
            WAYS["refresh" if way == "refresh_due" else way](catalog.channels, publisher)
            assert str(latest(kept(url))) == f"1.{step + 1}.0"
            if way == "follow":
                catalog.channels.unfollow(PACKAGE, WORD, tenant="acme")
        before = kept(url)
    assert str(latest(after)) == f"1.{step + 1}.0"
    assert step >= least
