"""What finding objects costs does not grow with where they are: counted in steps of SQLite's machine, not in seconds."""

import pytest
from storing import V1, V2, document, key

from trundle.database._sqlite import connected
from trundle.store import Key, counted, status
from trundle.store._statements import COUNTED

OBJECTS, PAGE = 2_000, 20


@pytest.fixture
def filled(store):
    """A store with many objects in each of two namespaces."""
    store.create(key(), document(V2, group="x"))
    columns = "change, previous, replaced, uid, generation, created, deleted, written, labels, finalizers, owners"
    columns += ", storage_version, written_with, data"
    with store.database.writing() as connection:
        for number, namespace in enumerate(("first", "second")):
            connection.exec_driver_sql(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
                f"INSERT INTO store_revisions (resource, resource_version, namespace, name, {columns}) "
                f"SELECT resource, i + ?, ?, printf('n%06d', i), {columns} FROM store_revisions, n "
                "WHERE resource_version = 2",
                (OBJECTS, 10 + number * OBJECTS, namespace),
            )
        connection.exec_driver_sql(
            "UPDATE store_resources SET resource_version = ?", (10 + 2 * OBJECTS,)
        )
    return store


@pytest.fixture
def steps(monkeypatch):
    """Counts tens of steps of SQLite's machine while a job runs, on connections that are opened from now on."""
    counted = 0

    def tick():
        nonlocal counted
        counted += 1

    def watched(*args, **options):
        connection = connected(*args, **options)
        connection.set_progress_handler(tick, 10)
        return connection

    def of(job):
        nonlocal counted
        counted = 0
        job()
        return counted

    monkeypatch.setattr("trundle.database._sqlite.connected", watched)
    return of


@pytest.mark.parametrize("namespace", [None, "second"])
def test_each_page_of_a_list_costs_the_same(filled, steps, namespace):
    filled.database._engine.dispose()  # Connections are opened anew, and counted.
    tokens = [""]
    while True:
        page = filled.list("Thing", namespace=namespace, limit=PAGE, token=tokens[-1])
        if not page.token:
            break
        tokens.append(page.token)
    costs = [
        steps(lambda at=each: filled.list("Thing", namespace=namespace, limit=PAGE, token=at))
        for each in (tokens[1], tokens[len(tokens) // 2], tokens[-2])
    ]
    assert 0 < max(costs) < 2 * min(costs)


def test_one_object_costs_the_same_among_many(filled, steps):
    filled.database._engine.dispose()
    filled.database._queries.close()
    costs = {
        steps(lambda at=each: filled.find_all([Key("Thing", "second", at), key()]))
        for each in ("n000001", f"n{OBJECTS:06}")
    }
    assert 0 < max(costs) < 2 * min(costs)


def test_objects_are_counted_without_being_read(filled):
    filled.replace(key(), document(V1, team="y"))
    filled.delete(Key("Thing", "second", "n000001"))
    (of_type,) = status(filled).resources
    (counts,) = counted(filled).resources
    assert (counts.name, counts.storage_version) == (of_type.name, of_type.storage_version)
    found = {each.version: each.objects for each in counts.versions}
    assert found == {each.version: each.objects for each in of_type.versions}
    assert sum(found.values()) == 2 * OBJECTS
    with filled.database.reading() as connection:
        query = str(COUNTED.compile(connection.engine))
        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {query}").all()
    assert [each[-1] for each in plan] == [
        "SCAN store_revisions USING COVERING INDEX store_revisions_stored"
    ]
