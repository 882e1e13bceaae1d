"""Stores of either database are rolled and checked on a Dask cluster, of which a worker is killed: each object once."""

import contextlib
import json
import subprocess

import dask_clusters
import pytest
import warm
from database_fixtures import in_file, on_server, server, template, url  # noqa: F401 - fixtures

from trundle.project import generated_scheme, load_config
from trundle.store import Key, Store

OBJECTS = 700
SCHEMA = "title: Person\ntype: object\nproperties:\n  id: {type: string}\n  %s: {type: string}\nrequired: [id]\n"
FIRST, SECOND = "2018-08-08", "2019-09-09"
CONFIG = "package: people\nsources: [schemas]\n"
RENAME = f"{CONFIG}changes:\n  {FIRST}:\n    Person:\n      rename: {{team: group}}\n"


@contextlib.contextmanager
def opened(line, place):
    with (
        generated_scheme(load_config(line.folder / "trundle.yaml")) as scheme,
        Store(place, scheme) as store,
    ):
        yield store


def release(line, version, name, config):
    line.write(f"schemas/{version}.yaml", SCHEMA % name)
    line.write("trundle.yaml", config)
    for command in ("generate", "lock"):
        assert line.run(command).exit_code == 0


@pytest.fixture
def line(empty, url):  # noqa: F811 - the fixture
    """A project whose store has more objects of its first version than a part of a roll."""
    release(empty, FIRST, "team", CONFIG)
    with opened(empty, url) as store:
        for at in range(OBJECTS):
            text = f'{{"apiVersion":"{FIRST}","kind":"Person","id":"{at}","team":"t{at}"}}'
            store.create(Key("Person", "default", f"n{at}"), text.encode())
    release(empty, SECOND, "group", RENAME)
    return empty


def shown(line, place):
    """The storage version, the resource version, and what the second version shows, of each object."""
    with opened(line, place) as store:
        return {
            each.key.name: (
                each.storage_version,
                each.resource_version,
                json.loads(store.shown(each, SECOND))["group"],
            )
            for each in store.stream("Person")
        }


@pytest.mark.full
def test_a_cluster_rolls_and_checks_every_object_once(line, url, tmp_path):  # noqa: F811 - the fixture
    before = shown(line, url)
    assert {name: group for name, (_, _, group) in before.items()} == {
        f"n{at}": f"t{at}" for at in range(OBJECTS)
    }
    with dask_clusters.running(tmp_path) as cluster:
        on_it = ("--store", url, "--scheduler", cluster.address)
        assert line.run("store", "roll", "--dry-run", *on_it).exit_code == 0
        assert shown(line, url) == before
        command = [warm.TRUNDLE, "store", "roll", "--rate", "300", *on_it]
        running = subprocess.Popen(command, cwd=line.folder, stderr=subprocess.PIPE, text=True)
        while {version for version, _, _ in shown(line, url).values()} == {FIRST}:
            assert running.poll() in {None, 0}
        cluster.workers[0].kill()
        error = running.communicate(timeout=600)[1]
        assert running.returncode == 0, error
        assert "rolled" in error
        assert "no findings" in line.run("store", "check", *on_it).output
    assert shown(line, url) == {
        name: (SECOND, number, group) for name, (_, number, group) in before.items()
    }


def test_what_is_installed_here_is_not_rolled_on_a_cluster(empty):
    refused = empty.run("store", "check", "--installed", "--scheduler", "tcp://127.0.0.1:1")
    assert (refused.exit_code, "the store of a project" in refused.output) == (2, True)
