"""What clients see of objects is remembered for a while; no write of any kind makes that wrong."""

import json

import pytest
from apis import NEW, OLD, Client, serving_clubs

from trundle.api._recent import Recent
from trundle.store import Key, Store


@pytest.fixture
def served(installed, tmp_path):
    with serving_clubs(installed, tmp_path / "store.db") as (api, store):
        yield Client(api), store


@pytest.mark.full
def test_a_write_through_one_version_is_seen_at_all_that_were_read_before(served):
    client, _ = served
    client.create(OLD, "ada", team="red", age=36)
    assert [client.get(each, "ada").get("level") for each in (OLD, NEW)] == ["low", "low"]
    assert client.patch(NEW, "ada", {"level": "high", "note": "n"})[0] == 200
    assert [client.get(each, "ada")["level"] for each in (OLD, NEW)] == ["high", "high"]
    assert (client.get(NEW, "ada")["note"], client.get(OLD, "ada")["age"]) == ("n", 36)


def test_a_dry_run_is_not_remembered(served):
    client, _ = served
    client.create(NEW, "ada", group="red")
    before = client.get(NEW, "ada")
    tried = client.patch(NEW, "ada", {"note": "never stored"}, dryRun="All")[1]
    assert tried["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]
    assert client.get(NEW, "ada") == before


@pytest.mark.full
def test_what_another_process_wrote_is_seen(served, installed, tmp_path):
    client, _ = served
    client.create(OLD, "ada", team="red")
    client.get(OLD, "ada")
    key = Key("Member", "default", "ada")
    with Store(tmp_path / "store.db", installed.scheme) as other:
        other.update(key, lambda found: other.shown(found, OLD).replace(b'"red"', b'"blue"'))
    assert client.get(OLD, "ada")["team"] == "blue"


@pytest.mark.full
def test_a_mark_of_deletion_is_seen_and_so_is_a_new_object_of_the_same_name(served):
    client, _ = served
    client.create(OLD, "ada", team="red")
    client.patch(OLD, "ada", {"metadata": {"finalizers": ["example.com/wait"]}})
    first = client.get(OLD, "ada")["metadata"]
    client.call("DELETE", client.at(OLD, "ada"))
    assert client.get(OLD, "ada")["metadata"]["deletionTimestamp"]
    client.patch(OLD, "ada", {"metadata": {"finalizers": None}})
    client.create(OLD, "ada", team="blue")
    second = client.get(OLD, "ada")
    assert (second["team"], second["metadata"]["uid"] == first["uid"]) == ("blue", False)


@pytest.mark.full
def test_what_is_stored_in_another_shape_is_shown_as_it_is_stored_now(served):
    client, store = served
    client.create(OLD, "ada", team="red")
    before = client.get(OLD, "ada")
    with (
        store.database.writing() as connection
    ):  # As rolling does it: the same revision, other bytes.
        (data,) = connection.exec_driver_sql(
            "SELECT data FROM store_revisions WHERE name = 'ada'"
        ).one()
        changed = data.replace(b'"red"', b'"blue"')
        connection.exec_driver_sql(
            "UPDATE store_revisions SET data = ? WHERE name = 'ada'", (changed,)
        )
    assert client.get(OLD, "ada") == json.loads(json.dumps(before).replace("red", "blue"))


def test_what_is_remembered_has_a_bound_and_keeps_what_is_asked_for():
    recent = Recent(1_000)
    recent.keep("asked for", b"x" * 100, 100)
    for number in range(200):
        assert recent.get("asked for") == b"x" * 100
        recent.keep(number, b"y" * 100, 100)
    held = [number for number in range(200) if recent.get(number) is not None]
    assert 0 < len(held) <= 10
    assert 199 in held


def test_little_that_was_made_of_much_takes_the_room_of_both():
    recent = Recent(1_000)
    for number in range(200):
        recent.keep(number, b"y", 300)
    assert len([number for number in range(200) if recent.get(number)]) < 4
