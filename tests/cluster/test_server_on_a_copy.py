"""A server on a database that was put back from a copy: no client takes what is written now for what it has seen, and nobody has to say so."""

import json
import shutil
import signal
import subprocess

import postgres
import psycopg
import pytest
import trundle_servers
import widgets
from acknowledged import path
from projects import Installer

MERGE = "application/merge-patch+json"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("put_back")
    return Installer(folder)({"crd.json": widgets.CRD}, config=widgets.project()).project.folder


class File:
    """A SQLite database that is copied with `cp`."""

    def __init__(self, folder):
        self.path, self.copy = folder / "store.db", folder / "backup.db"
        self.url = f"sqlite:///{self.path}"

    def back_up(self):
        shutil.copyfile(self.path, self.copy)

    def put_back(self):
        shutil.copyfile(self.copy, self.path)


class Dumped:
    """A database on PostgreSQL that is dumped, and put back with the programs of PostgreSQL.

    Args:
        options: those of `pg_restore`.
        anew: whether the database is made anew for that.
    """

    def __init__(self, url, folder, *options, anew):
        self.url, self.dump, self.options, self.anew = url, folder / "dump", options, anew

    def run(self, program, *arguments):
        command = [postgres.binaries() / program, "--format=custom", *arguments]
        subprocess.run(command, check=True, capture_output=True)

    def back_up(self):
        self.run("pg_dump", "--file", self.dump, self.url)

    def put_back(self):
        if self.anew:
            server, _, name = self.url.rpartition("/")
            with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
                connection.execute(f"DROP DATABASE {name}")
                connection.execute(f"CREATE DATABASE {name}")
        self.run("pg_restore", *self.options, "--dbname", self.url, self.dump)


@pytest.fixture(params=["file", "cleaned", "anew"])
def database(request, tmp_path):
    if request.param == "file":
        return File(tmp_path)
    url = request.getfixturevalue("on_server")
    if request.param == "cleaned":
        return Dumped(url, tmp_path, "--clean", "--if-exists", anew=False)
    return Dumped(url, tmp_path, anew=True)


def put(served, title, **metadata):
    body = {
        "apiVersion": f"{widgets.GROUP}/v1", "kind": "Widget", "metadata": {"name": "one", **metadata},
        "spec": {"title": title, "size": 1},
    }  # fmt: skip
    if not metadata:
        return served.request("POST", path("v1"), body)
    return served.request("PUT", path("v1", "one"), body)


def patched(served, number):
    body = {"metadata": {"annotations": {"number": str(number)}}}
    status, found = served.request("PATCH", path("v1", "one"), body, kind=MERGE)
    assert status == 200, found
    return found["metadata"]["resourceVersion"]


def watched(served, since):
    where = f"{served.url}{path('v1')}?watch=true&resourceVersion={since}&timeoutSeconds=1"
    answer = served.pool.request("GET", where)
    return answer.status, [json.loads(each) for each in answer.data.splitlines()]


def messages(served):
    return (served.folder / f"serve-{served.port}.txt").read_text()


@pytest.mark.full
def test_no_client_takes_a_new_state_for_one_that_it_has_seen(project, database):
    with trundle_servers.running(project, "--store", database.url) as served:
        assert put(served, "Ann")[0] == 201
        served.end(signal.SIGTERM)
        database.back_up()
        served.start()
        assert "copy" not in messages(served)
        seen = [patched(served, each) for each in range(5)][-1]
        served.end(signal.SIGTERM)
        database.put_back()
        served.start()
        assert "was put back from a copy" in messages(served)
        # As many writes as were lost, so that the numbers would be those that clients have.
        again = [patched(served, f"other {each}") for each in range(5)]
        assert int(again[0]) > int(seen)
        assert put(served, "Bob", resourceVersion=seen)[0] == 409
        status, events = watched(served, seen)
        assert status == 410 or [each["object"]["code"] for each in events] == [410], events
        served.end(signal.SIGTERM)
        served.start()
        assert "copy" not in messages(served)
        assert watched(served, again[0])[0] == 200
