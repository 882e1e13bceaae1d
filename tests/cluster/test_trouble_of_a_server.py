"""A server that is killed, whose disk is full, whose database is away, and that shares its database: no acknowledged write is lost."""

import contextlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import time

import acknowledged
import postgres
import psycopg
import pytest
import trundle_servers
import widgets
from acknowledged import path
from clusters import until
from projects import Installer

pytestmark = pytest.mark.full
KILLS = 5


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("troubled")
    return Installer(folder)({"crd.json": widgets.CRD}, config=widgets.project()).project.folder


def test_what_was_acknowledged_survives_kills_at_any_moment(project, url):
    moments = random.Random(12)
    with trundle_servers.running(project, "--store", url) as served:
        writers = acknowledged.start([served.url])
        for _ in range(KILLS):
            time.sleep(moments.uniform(0.2, 1.5))
            served.end()
            served.start()
        until(lambda: acknowledged.count(writers) > 20)
        acknowledged.stop(writers)
        assert acknowledged.require_all(writers) > 20
        served.end()  # Once more while nothing is written: what the last server had in memory is gone.
        served.start()
        acknowledged.require_all(writers)
        assert [each for writer in writers for each in writer.refused] == []


@contextlib.contextmanager
def limited_files(served):
    """The server's files may not grow."""
    pid = served.process.pid
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    largest = max(each.stat().st_size for each in served.store.parent.iterdir())
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (largest, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


@contextlib.contextmanager
def filled_disk(served):
    """There is no room on the server's disk."""
    ballast = served.store.parent / "ballast"
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))
    try:
        yield
    finally:
        ballast.unlink()


@pytest.fixture(params=["limit", "disk"])
def scarce(request, tmp_path):
    """A folder for a store, and how room in it becomes scarce."""
    folder = tmp_path / "scarce"
    folder.mkdir()
    if request.param == "limit":
        yield folder, limited_files
        return
    mount = shutil.which("mount")
    command = [mount or "mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", folder]
    if os.geteuid() != 0 or subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("needs the right to mount a small disk")
    yield folder, filled_disk
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_refuses_writes_and_keeps_what_was_there(project, scarce):
    folder, scarcity = scarce
    with trundle_servers.running(project, "--store", f"sqlite:///{folder}/store.db") as served:
        served.store = folder / "store.db"
        writers = acknowledged.start([served.url], 2)
        until(lambda: acknowledged.count(writers) > 5)
        with scarcity(served):
            deadline = time.monotonic() + 120
            while not all(each.refused for each in writers):
                assert time.monotonic() < deadline
                time.sleep(0.05)
            for each in widgets.VERSIONS:  # Readers notice nothing.
                assert served.request("GET", path(each))[0] == 200
            time.sleep(11)  # The lease cannot be renewed meanwhile.
            refused = {answer.status for each in writers for answer in each.refused}
        assert refused == {500}
        message = json.loads(writers[0].refused[0].data)
        assert (message["kind"], message["reason"]) == ("Status", "InternalError")
        assert "make room on the disk" in message["message"]
        require_recovery(writers)
        acknowledged.stop(writers)
        assert acknowledged.require_all(writers) > 5
        served.end(signal.SIGTERM)
        assert served.process.returncode == 0
        served.start()
        acknowledged.require_all(writers)


def require_recovery(writers):
    """Waits until each writer has new acknowledged writes."""
    done = [sum(known.touched for known in each.known.values()) for each in writers]
    deadline = time.monotonic() + 120
    for each, before in zip(writers, done, strict=True):
        while sum(known.touched for known in each.known.values()) <= before:
            assert each.error is None, each.error
            assert time.monotonic() < deadline
            time.sleep(0.05)


@pytest.fixture
def database():
    with postgres.restartable() as found:
        with psycopg.connect(f"{found.url}/postgres", autocommit=True) as connection:
            connection.execute("CREATE DATABASE troubled")
        yield found


@pytest.mark.parametrize(
    ("number", "seconds"),
    [(signal.SIGINT, 1), (signal.SIGQUIT, 12)],  # A lease is renewed within the latter.
    ids=["ended", "crashed"],
)
def test_a_server_goes_on_by_itself_when_its_database_was_away(project, database, number, seconds):
    with trundle_servers.running(project, "--store", f"{database.url}/troubled") as served:
        writers = acknowledged.start([served.url], 6)
        until(lambda: acknowledged.count(writers) > 10)
        since = served.request("GET", path("v2"))[1]["metadata"]["resourceVersion"]
        for away in (0, seconds):
            database.end(number)
            if away:
                answer = served.pool.request("GET", served.url + path("v2"))
                assert (answer.status, answer.headers["retry-after"]) == (503, "1")
                status = json.loads(answer.data)
                assert (status["reason"], status["details"]) == (
                    "ServiceUnavailable",
                    {"retryAfterSeconds": 1},
                )
                assert served.request("GET", "/readyz")[0] == 500
                assert served.request("GET", "/livez") == (200, "ok")
                time.sleep(away)
            assert database.start()
            require_recovery(writers)
        assert served.request("GET", "/readyz") == (200, "ok")
        assert served.process.poll() is None
        answers = [each for writer in writers for each in writer.refused]
        refused = {(each.status, each.headers.get("retry-after")) for each in answers}
        assert refused == {(503, "1")}
        acknowledged.stop(writers)
        assert acknowledged.require_all(writers) > 10
        assert watched(served, since) == listed(served), "watchers go on where they were"


def listed(served):
    """The state of each object that is there."""
    items = served.request("GET", path("v1"))[1]["items"]
    return {each["metadata"]["name"]: acknowledged.state_of(200, each) for each in items}


def watched(served, since):
    """The state of each object after all changes since a resource version, as a watcher sees it."""
    newest = served.request("GET", path("v1"))[1]["metadata"]["resourceVersion"]
    where = f"{served.url}{path('v1')}?watch=true&resourceVersion={since}&timeoutSeconds=120"
    before = served.request("GET", path("v1") + f"?resourceVersion={since}&resourceVersionMatch=Exact")[1]  # fmt: skip
    found = {each["metadata"]["name"]: acknowledged.state_of(200, each) for each in before["items"]}
    watch = served.pool.request("GET", where, preload_content=False)
    for line in watch if newest != since else ():
        event = json.loads(line)
        name = event["object"]["metadata"]["name"]
        if event["type"] == "DELETED":
            del found[name]
        else:
            assert (event["type"] == "MODIFIED") is (name in found), event
            found[name] = acknowledged.state_of(200, event["object"])
        if event["object"]["metadata"]["resourceVersion"] == newest:
            break
    watch.close()
    return found


def test_two_servers_of_one_database_work_together(project, on_server):
    with (
        trundle_servers.running(project, "--store", on_server) as one,
        trundle_servers.running(project, "--store", on_server) as other,
    ):
        since = one.request("GET", path("v2"))[1]["metadata"]["resourceVersion"]
        writers = acknowledged.start([one.url, other.url], 6)
        until(lambda: acknowledged.count(writers) > 10)
        one.end()  # The one that is left goes on.
        before = acknowledged.count(writers)
        until(lambda: acknowledged.count(writers) > before + 10)
        one.start()
        require_recovery(writers)
        acknowledged.stop(writers)
        assert acknowledged.require_all(writers) > 10
        assert watched(one, since) == watched(other, since) == listed(one) == listed(other)


def test_a_watcher_at_one_server_sees_a_write_at_another_at_once(project, on_server):
    with (
        trundle_servers.running(project, "--store", on_server) as one,
        trundle_servers.running(project, "--store", on_server) as other,
    ):
        since = one.request("GET", path("v2"))[1]["metadata"]["resourceVersion"]
        where = f"{other.url}{path('v1')}?watch=true&resourceVersion={since}&timeoutSeconds=120"
        watch = other.pool.request("GET", where, preload_content=False)
        body = {"metadata": {"name": "new"}, "spec": {"title": "Ann"}}
        code, made = one.request("POST", path("v2"), body)
        assert code == 201
        event = json.loads(next(iter(watch.stream(65536))))
        watch.close()
        assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "new")
        assert event["object"]["apiVersion"] == f"{widgets.GROUP}/v1"
        stale = made | {"spec": {"title": "Ben"}}
        change = {"spec": {"title": "Cleo"}}
        kind = "application/merge-patch+json"
        assert other.request("PATCH", path("v1", "new"), change, kind=kind)[0] == 200
        assert one.request("PUT", path("v2", "new"), stale)[0] == 409
