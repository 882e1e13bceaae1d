"""No watcher misses or repeats a change, while 16 clients write, the server is killed and started again, and watchers reconnect."""

import json
import random
import threading
import time

import pytest
import trundle_servers
import urllib3
import widgets
from projects import Installer

SPACE = "default"
WRITERS, WATCHERS, SECONDS, KILLS = 16, 6, 12, 3
LEAST, PATIENCE = 100, 120
OBJECTS = 40
ANSWERED = 300


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("watched")
    return Installer(folder)({"crd.json": widgets.CRD}, config=widgets.project()).project.folder


@pytest.fixture
def served(project, url, tmp_path):
    with trundle_servers.running(project, "--store", url) as server:
        yield server


def path(version, name=""):
    return f"/apis/{widgets.GROUP}/{version}/namespaces/{SPACE}/widgets" + (name and f"/{name}")


class Client(threading.Thread):
    """A thread with connections of its own, and what went wrong in it."""

    def __init__(self, server, seed):
        super().__init__(daemon=True)
        self.server, self.random = server, random.Random(seed)
        self.pool = urllib3.PoolManager(retries=False, timeout=urllib3.Timeout(60, read=60))
        self.version = widgets.VERSIONS[seed % len(widgets.VERSIONS)]
        self.stopping = threading.Event()
        self.error = None

    def run(self):
        try:
            self.work()
        except BaseException as error:
            self.error = error
            raise

    def call(self, method, where, body=None, **options):
        return self.pool.request(
            method, self.server.url + where, body=body and json.dumps(body), **options
        )


class Writer(Client):
    """Creates, changes and deletes objects; keeps what was acknowledged.

    Attributes:
        acknowledged: resource version and kind of each change that was answered.
    """

    def __init__(self, server, seed):
        super().__init__(server, seed)
        self.acknowledged = {}

    def work(self):
        number = 0
        while not self.stopping.is_set():
            number += 1
            try:
                self.write(f"w{self.random.randrange(OBJECTS)}", number)
            except urllib3.exceptions.HTTPError:
                time.sleep(0.05)  # It is being killed, or started again.

    def write(self, name, number):
        kind = self.random.choice(["create", "change", "change", "change", "delete"])
        if kind == "create":
            body = {
                "apiVersion": f"{widgets.GROUP}/{self.version}",
                "kind": "Widget",
                "metadata": {"name": name},
                "spec": {"title": "Ann", "size": number % 100},
            }
            answer = self.call("POST", path(self.version), body)
            event = "ADDED"
        elif kind == "change":
            body = {"metadata": {"annotations": {"by": f"{self.name}-{number}"}}}
            headers = {"Content-Type": "application/merge-patch+json"}
            answer = self.call("PATCH", path(self.version, name), body, headers=headers)
            event = "MODIFIED"
        else:
            self.call("DELETE", path(self.version, name))
            return
        assert answer.status in {200, 201, 404, 409}, answer.data
        if answer.status < ANSWERED:
            found = json.loads(answer.data)["metadata"]
            self.acknowledged[int(found["resourceVersion"])] = event, name


class Watcher(Client):
    """Follows all changes from a resource version on; connects again, where it was, as often as it is cut off.

    Attributes:
        events: resource version, kind and name of each change, as they came.
    """

    def __init__(self, server, seed, since):
        super().__init__(server, seed)
        self.events, self.since = [], since

    def work(self):
        while not self.stopping.is_set():
            try:
                self.watch()
            except urllib3.exceptions.HTTPError:
                time.sleep(0.05)

    def watch(self):
        where = f"{path(self.version)}?watch=true&resourceVersion={self.since}&timeoutSeconds=3"
        answer = self.call("GET", where, preload_content=False)
        rest = b""
        patience = self.random.randrange(5, 400)
        for part in answer.stream(4096):
            *lines, rest = (rest + part).split(b"\n")
            for line in lines:
                self.see(json.loads(line))
                patience -= 1
                if not patience:  # It leaves by itself, in the middle of everything.
                    answer.close()
                    return

    def see(self, event):
        assert event["type"] in {"ADDED", "MODIFIED", "DELETED"}, event
        metadata = event["object"]["metadata"]
        self.since = int(metadata["resourceVersion"])
        self.events.append((self.since, event["type"], metadata["name"]))


def newest(server):
    return int(server.request("GET", path("v2"))[1]["metadata"]["resourceVersion"])


@pytest.mark.full
def test_no_watcher_misses_or_repeats_a_change(served):
    since = newest(served)
    watchers = [Watcher(served, each, since) for each in range(WATCHERS)]
    writers = [Writer(served, each) for each in range(WRITERS)]
    for each in watchers + writers:
        each.start()
    for _ in range(KILLS):
        time.sleep(SECONDS / (KILLS + 1))
        served.end()
        served.start()
    time.sleep(SECONDS / (KILLS + 1))
    deadline = time.monotonic() + PATIENCE
    while sum(len(each.acknowledged) for each in writers) <= LEAST:
        assert time.monotonic() < deadline, "nothing is written"
        time.sleep(0.5)
    stop(writers)
    last = newest(served)
    deadline = time.monotonic() + PATIENCE
    while any(each.since < last for each in watchers) and time.monotonic() < deadline:
        time.sleep(0.1)
    stop(watchers)
    seen = watchers[0].events
    versions = [each for each, _, _ in seen]
    assert versions == sorted(set(versions)), "each change once, in order"
    for each in watchers[1:]:
        assert each.events == seen
    assert versions[-1] == last
    acknowledged = {key: each for writer in writers for key, each in writer.acknowledged.items()}
    assert len(acknowledged) > LEAST
    told = {version: (kind, name) for version, kind, name in seen}
    assert {key: told.get(key) for key in acknowledged} == acknowledged
    listed = served.request("GET", path("v1"))[1]["items"]
    assert {each["metadata"]["name"] for each in listed} == alive(seen)


def stop(clients):
    for each in clients:
        each.stopping.set()
    for each in clients:
        each.join(90)
        assert not each.is_alive()
        assert each.error is None


def alive(events):
    """The names of what is there after some changes."""
    found = set()
    for _, kind, name in events:
        if kind == "DELETED":
            found.remove(name)
        else:
            assert (name in found) is (kind == "MODIFIED")
            found.add(name)
    return found
