"""An informer of client-go, as controllers use it, follows the server over kills, reconnects and compactions."""

import datetime as dt
import json
import os
import random
import signal
import subprocess
import threading
import time

import control_plane
import pytest
import trundle_servers
import widgets
from projects import Installer
from storing import people
from test_watchers_of_a_killed_server import SPACE, Writer, newest, path, stop

from trundle.store import Store, compact

WRITERS, KILLS, SECONDS = 8, 3, 8
PATIENCE = 120


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("informed")
    return Installer(folder)({"crd.json": widgets.CRD}, config=widgets.project()).project.folder


@pytest.fixture
def served(project, url, tmp_path):
    with trundle_servers.running(project, "--store", url) as server:
        server.place = url
        yield server


class Informer(threading.Thread):
    """An informer in a process of its own.

    Attributes:
        events: what its handlers were called with: event, name and resource version, in their order.
        known: resource versions by the names of what is there, as the handlers were told.
        lists: how many lists were answered.
    """

    def __init__(self, server, folder, version):
        super().__init__(daemon=True)
        config = folder / f"{version}.kubeconfig"
        config.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "it",
            "clusters": [{"name": "it", "cluster": {"server": server.url}}],
            "contexts": [{"name": "it", "context": {"cluster": "it", "user": ""}}],
        }))  # fmt: skip
        command = [control_plane.programs() / "informer", config]
        self.process = subprocess.Popen(
            [*command, widgets.GROUP, version, "widgets", SPACE],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self.events, self.known, self.cache, self.synced = [], {}, None, threading.Event()
        self.lists = 0
        self.start()
        assert self.synced.wait(PATIENCE)
        assert self.lists == 1

    def run(self):
        for line in self.process.stdout:
            found = json.loads(line)
            match found["event"]:
                case "synced":
                    self.synced.set()
                case "listed":
                    self.lists += 1
                case "cache":
                    self.cache = {name: int(each) for name, each in found["versions"].items()}
                case event:
                    name, version = found["name"], int(found["resourceVersion"])
                    self.events.append((event, name, version))
                    if event in {"deleted", "lost"}:
                        del self.known[name]
                    else:
                        assert (name in self.known) is (event == "updated")
                        self.known[name] = version

    def cached(self):
        """What is in the informer's cache."""
        self.cache = None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        while self.cache is None:
            time.sleep(0.01)
        return self.cache

    def end(self):
        self.process.kill()
        self.join()
        with self.process:  # Its pipes are closed.
            pass


@pytest.fixture
def informers(served, tmp_path, cluster):
    """An informer for each version."""
    started = [Informer(served, tmp_path, version) for version in widgets.VERSIONS]
    yield started
    for each in started:
        each.end()


def there(server, version):
    """Resource versions of what the server has, by name."""
    listed = server.request("GET", path(version))[1]["items"]
    return {each["metadata"]["name"]: int(each["metadata"]["resourceVersion"]) for each in listed}


def wait_until_same(server, informers):
    """Waits until the cache and the handlers of each informer know what the server has."""
    deadline = time.monotonic() + PATIENCE
    for informer, version in zip(informers, widgets.VERSIONS, strict=True):
        wanted = there(server, version)
        while informer.cached() != wanted or informer.known != wanted:
            assert time.monotonic() < deadline, (version, informer.cached(), wanted)
            time.sleep(0.2)


@pytest.mark.full
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["kill", "stop"])
def test_every_change_reaches_the_handlers_over_restarts(served, informers, number):
    since = newest(served)
    writers = [Writer(served, each) for each in range(WRITERS)]
    for each in writers:
        each.start()
    for _ in range(KILLS):
        time.sleep(SECONDS / (KILLS + 1))
        served.end(number)
        served.start()
    time.sleep(SECONDS / (KILLS + 1))
    stop(writers)
    wait_until_same(served, informers)
    acknowledged = {key for writer in writers for key in writer.acknowledged if key > since}
    assert len(acknowledged) > 100
    for each in informers:
        assert_no_object_goes_back(each)
        if each.lists > 1:
            continue  # As client-go does where a kill resets a connection: all that is there comes again, in any order.
        versions = [version for _, _, version in each.events]
        assert versions == sorted(set(versions)), "each change once, in order"
        assert acknowledged <= set(versions)


@pytest.mark.full
def test_nothing_is_missed_beside_compaction_without_end_and_kills(served, informers):
    draw, removed, ended = random.Random(12), [], threading.Event()

    def compacting():
        with Store(served.place, people()) as store:  # It has the rows of all resource types.
            while not ended.wait(draw.uniform(0.02, 0.2)):
                age, most = dt.timedelta(seconds=draw.uniform(0, 2)), draw.choice([None, 0, 5, 50])
                removed.extend(each.removed for each in compact(store, age=age, most=most))

    compaction = threading.Thread(target=compacting)
    writers = [Writer(served, each) for each in range(WRITERS)]
    for each in [*writers, compaction]:
        each.start()
    try:
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL):
            time.sleep(SECONDS / (KILLS + 1))
            served.end(number)
            served.start()
        time.sleep(SECONDS / (KILLS + 1))
    finally:
        stop(writers)
        ended.set()
        compaction.join()
    wait_until_same(served, informers)
    assert sum(removed) > 100
    for each in informers:
        assert_no_object_goes_back(each)
        told = [found for found in each.events if found[0] != "lost"]
        assert len(told) == len(set(told)), "nothing twice"
        if each.lists == 1:
            versions = [version for _, _, version in told]
            assert versions == sorted(set(versions))
            assert {key for one in writers for key in one.acknowledged} <= set(versions)


def assert_no_object_goes_back(informer):
    latest = {}
    for event, name, version in informer.events:
        if event in {"deleted", "lost"}:
            latest.pop(name)
            continue
        assert version >= latest.get(name, 0)
        latest[name] = version


def test_what_a_compaction_forgot_is_listed_again(served, informers):
    for number in range(10):
        body = {"metadata": {"name": f"w{number}"}, "spec": {"title": "Ann", "size": number}}
        assert served.request("POST", path("v2"), body)[0] == 201
    wait_until_same(served, informers)
    for each in informers:
        os.kill(each.process.pid, signal.SIGSTOP)
    served.end()  # Ends their watches: what follows does not wait for them in a connection.
    served.start()
    for number in range(10):
        if number % 2:
            assert served.request("DELETE", path("v1", f"w{number}"))[0] == 200
        else:
            patch = {"spec": {"title": "Ben"}}
            kind = "application/merge-patch+json"
            assert served.request("PATCH", path("v1", f"w{number}"), patch, kind=kind)[0] == 200
    served.end()
    command = [trundle_servers.TRUNDLE, "store", "compact", "--most", "0", "--store", served.place]
    subprocess.run(command, cwd=served.folder, check=True, capture_output=True)
    served.start()
    for each in informers:
        os.kill(each.process.pid, signal.SIGCONT)
    wait_until_same(served, informers)
    for each in informers:
        assert each.lists > 1
        gone = {name for event, name, _ in each.events if event in {"deleted", "lost"}}
        assert gone == {f"w{number}" for number in range(1, 10, 2)}
