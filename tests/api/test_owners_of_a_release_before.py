"""Owners of fields that a release before kept in its own words are known to the next release, and after a way back."""

import json
from contextlib import contextmanager

import pytest
from apis import CONFIG, GROUP, NEW, OLD, SCHEMAS, Client
from projects import installer

from trundle.api import Api, served_kinds
from trundle.store import Key, ServerLease, Store

APPLY = "application/apply-patch+yaml"
FIRST = {"kubernetes": CONFIG["kubernetes"]}


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    with installer(tmp_path_factory.mktemp("releases")) as install:
        first = install({"v1.yaml": SCHEMAS["v1.yaml"]}, config=FIRST)
        held = install(SCHEMAS, config=CONFIG | {"hub": {"Member": "v1"}}, released=first)
        yield first, held, install(SCHEMAS, config=CONFIG, released=held)


@pytest.fixture
def serving(tmp_path):
    """A client of the server of a release; all servers have one store."""

    @contextmanager
    def serve(installed):
        with Store(tmp_path / "store.db", installed.scheme) as store, ServerLease(store):
            client = Client(
                Api(store, served_kinds([installed.project], installed.scheme), "0.0.0")
            )
            key = Key("Member", "default", "ada")
            client.kept = lambda: json.loads(store.get(key).data)["metadata"]["managedFields"]
            yield client

    return serve


def applied(client, version, manager, **properties):
    document = {"apiVersion": f"{GROUP}/{version}", "kind": "Member", "metadata": {"name": "ada"}}
    return client.call(
        "PATCH", client.at(version, "ada"), document | properties, media_type=APPLY, fieldManager=manager
    )  # fmt: skip


def owned(client, version):
    """What each manager owns, as a version shows it."""
    metadata = client.get(version, "ada")["metadata"]
    return {each["manager"]: set(each["fieldsV1"]) for each in metadata["managedFields"]}


@pytest.mark.full
def test_a_later_hub_knows_the_owners_that_an_earlier_one_kept(releases, serving):
    first, _, last = releases
    with serving(first) as client:
        assert applied(client, OLD, "one", team="red", age=36, labels={"a": "b"})[0] == 201
    with serving(last) as client:
        assert owned(client, OLD) == {"one": {"f:team", "f:age", "f:labels"}}
        assert owned(client, NEW) == {"one": {"f:group", "f:labels"}}
        code, found = applied(client, NEW, "two", group="blue", note="n")
        assert code == 409
        assert found["details"]["causes"][0]["field"] == ".group"
        assert applied(client, NEW, "two", group="red", note="n")[0] == 200
        assert applied(client, OLD, "one", team="red")[0] == 200
        assert "age" not in client.get(OLD, "ada"), "what its applier no longer states goes"
        assert owned(client, NEW) == {"one": {"f:group"}, "two": {"f:group", "f:note"}}


def test_a_release_that_is_rolled_back_to_keeps_the_owners_of_the_later_one(releases, serving):
    first, held, last = releases
    with serving(first) as client:
        assert applied(client, OLD, "one", team="red", age=36)[0] == 201
    with serving(held) as client:
        assert applied(client, NEW, "two", group="red", note="n")[0] == 200
    with serving(first) as client:
        assert owned(client, OLD) == {"one": {"f:team", "f:age"}, "two": {"f:team"}}
        assert applied(client, OLD, "one", team="red", age=37)[0] == 200
    for each in (held, last):
        with serving(each) as client:
            assert owned(client, NEW) == {"one": {"f:group"}, "two": {"f:group", "f:note"}}
            assert owned(client, OLD) == {"one": {"f:team", "f:age"}, "two": {"f:team"}}


def test_releases_side_by_side_keep_the_owners_of_each_other(releases, serving):
    first, _, last = releases
    with serving(first) as older, serving(last) as newer:
        assert applied(older, OLD, "one", team="red", age=36)[0] == 201
        assert applied(newer, NEW, "two", group="red", note="n")[0] == 200
        assert applied(older, OLD, "one", team="red", age=37)[0] == 200
        assert owned(older, OLD)["one"] == {"f:team", "f:age"}
        assert owned(newer, NEW) == {"one": {"f:group"}, "two": {"f:group", "f:note"}}
        assert newer.get(NEW, "ada")["note"] == "n"


def test_owners_in_words_of_an_earlier_hub_stay_as_they_are_written(releases, serving):
    first, _, last = releases
    with serving(first) as client:
        assert applied(client, OLD, "one", team="red", age=36)[0] == 201
    with serving(last) as client:
        before = client.get(OLD, "ada")["metadata"]["managedFields"]
        kept = client.kept()
        assert kept[0]["trundle.dev/hub"] == "v1"
        assert applied(client, OLD, "one", team="red", age=36)[0] == 200
        assert client.patch(NEW, "ada", {"metadata": {"finalizers": []}})[0] == 200
        assert client.kept() == kept
        assert client.get(OLD, "ada")["metadata"]["managedFields"] == before
        assert not any("trundle.dev/hub" in each for each in before)
        assert applied(client, OLD, "one", team="red")[0] == 200
        assert client.kept()[0]["trundle.dev/hub"] == "v2"
