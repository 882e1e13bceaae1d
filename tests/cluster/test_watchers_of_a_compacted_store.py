"""A store is compacted by age and by count again and again, while watchers connect with old resource versions: 410 only where it is true."""

import datetime as dt
import json
import random
import time

import pytest
import trundle_servers
import urllib3
import widgets
from projects import Installer
from sqlalchemy import text
from storing import people
from test_watchers_of_a_killed_server import Client, Writer, newest, path, stop

from trundle.store import Store, compact

WRITERS, WATCHERS, SECONDS, BACK = 6, 16, 10, 400
OK, GONE = 200, 410
UNTIL = text("SELECT compacted FROM store_resources WHERE name = 'Widget'")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compacted")
    return Installer(folder)({"crd.json": widgets.CRD}, config=widgets.project()).project.folder


class Returning(Client):
    """Watches for a while, and again from somewhere before; lists where it has to.

    Attributes:
        sessions: the resource version that each watch began with, and those that it showed.
        gone: how often it was answered 410.
    """

    def __init__(self, server, seed, since, database):
        super().__init__(server, seed)
        self.since, self.database = since, database
        self.sessions, self.gone = [], 0

    def work(self):
        while not self.stopping.is_set():
            back = self.random.choice([0, 0, self.random.randrange(1, BACK)])
            try:
                self.watch(max(1, self.since - back))
            except urllib3.exceptions.HTTPError:
                time.sleep(0.05)  # The server is being started again.

    def watch(self, since):
        where = f"{path(self.version)}?watch=true&resourceVersion={since}&timeoutSeconds=2"
        answer = self.call("GET", where, preload_content=False)
        seen = []
        self.sessions.append((since, seen))
        if answer.status == GONE:
            answer.read()
            self.list_after(since)
            return
        assert answer.status == OK, answer.read()
        rest, patience = b"", self.random.randrange(5, 300)
        for part in answer.stream(4096):
            *lines, rest = (rest + part).split(b"\n")
            for event in map(json.loads, lines):
                if event["type"] == "ERROR":
                    assert event["object"]["code"] == GONE, event
                    self.list_after(seen[-1] if seen else since)
                    return
                seen.append(int(event["object"]["metadata"]["resourceVersion"]))
                self.since = max(self.since, seen[-1])
            if len(seen) > patience:  # It leaves in the middle of everything.
                answer.close()
                return

    def list_after(self, last):
        with self.database.reading() as connection:
            compacted = connection.execute(UNTIL).scalar()
        assert last < compacted, "it was told that what is there is gone"
        self.gone += 1
        found = json.loads(self.call("GET", path(self.version)).data)
        self.since = int(found["metadata"]["resourceVersion"])


@pytest.mark.full
def test_no_change_is_missed_or_repeated_and_nothing_is_gone_that_is_there(project, url):
    draw = random.Random(12)
    with (
        trundle_servers.running(project, "--store", url) as served,
        Store(url, people()) as store,  # It has the rows of all resource types.
    ):
        since = newest(served)
        watchers = [Returning(served, 50 + each, since, store.database) for each in range(WATCHERS)]
        writers = [Writer(served, each) for each in range(WRITERS)]
        for each in watchers + writers:
            each.start()
        removed, restart = 0, time.monotonic() + SECONDS / 2
        deadline = restart + SECONDS / 2
        while time.monotonic() < deadline or not removed:
            time.sleep(draw.uniform(0.05, 0.4))
            age, most = dt.timedelta(seconds=draw.uniform(0.2, 3)), draw.choice([None, 0, 20, 200])
            removed += sum(each.removed for each in compact(store, age=age, most=most))
            if time.monotonic() > restart:
                served.end()
                served.start()
                restart = deadline * 2
        stop(writers + watchers)
        sessions = [each for watcher in watchers for each in watcher.sessions]
        for begun, seen in sessions:
            assert seen == list(range(begun + 1, begun + 1 + len(seen)))
        assert sum(len(seen) for _, seen in sessions) > newest(served) - since
        assert sum(each.gone for each in watchers) > 0
