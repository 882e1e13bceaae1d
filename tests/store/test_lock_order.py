"""Writers and leases that take the same resource types: none waits for one that waits for it."""

import threading
import time
from types import SimpleNamespace

import psycopg
import pytest

from trundle.errors import TrundleError
from trundle.runtime import ResourceType
from trundle.store import Key, ServerLease, Store, begin_anew
from trundle.store._decisions import WriteDecision
from trundle.store._records import StoredObject
from trundle.store._writer import Write

# What they are called has another order than their groups, in which a project with groups has them.
GROUPS = {"Zebra": "alpha.example", "Cherry": "mid.example", "Apple": "zeta.example"}
WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted"


def scheme(*versions):
    """A scheme of resource types that are stored in the last of some versions; it converts nothing."""
    found = SimpleNamespace(
        resources={
            called: ResourceType(called, versions[-1], "kind", {}, dict.fromkeys(versions, ""), group)
            for called, group in GROUPS.items()
        }
    )  # fmt: skip
    found.storing = lambda _: found
    return found


def object_of(key):
    return StoredObject(
        key=key, uid=str(key), resource_version=0, generation=1, created="", deleted=None, written="", labels={},
        finalizers=(), owners=(), storage_version="v1", written_with="v1", data=b"{}",
    )  # fmt: skip


def until_waiting(server, number, seconds=10):
    with psycopg.connect(server, autocommit=True) as connection:
        deadline = time.monotonic() + seconds
        while connection.execute(WAITING).fetchone()[0] < number and time.monotonic() < deadline:
            time.sleep(0.01)


@pytest.mark.parametrize("first", sorted(GROUPS))
def test_a_lease_that_moves_what_is_written_waits_for_the_writer(on_server, first):
    renewed, errors = [], []

    def renew():
        try:
            renewed.append(ServerLease(store, "new"))
        except TrundleError as error:
            errors.append(error)

    with Store(on_server, scheme("v1")) as before, Store(on_server, scheme("v1", "v2")) as store:
        with ServerLease(before, "old"):
            pass
        other = threading.Thread(target=renew)

        def decide(key):
            def decided(_current, _moment):
                if key.resource == first:
                    other.start()
                    until_waiting(on_server, 1)
                return WriteDecision("added", object_of(key))

            return decided

        keys = [Key(each, "default", "one") for each in GROUPS]
        writes = [Write(each, decide(each)) for each in keys]
        before.commit(writes)
        other.join(60)
        assert [each.outcome().kind for each in writes] == ["added"] * len(GROUPS)
        assert errors == []
        assert [each.held_by for each in renewed[0].moves] == [()] * len(GROUPS)


def test_a_lease_that_notes_where_a_database_is_waits_for_numbers_that_go_on(on_server):
    """A database of a release before has no such note, so that both write it."""
    errors = []

    def tried(do, *arguments):
        def trying():
            try:
                do(*arguments)
            except TrundleError as error:
                errors.append(error)

        return threading.Thread(target=trying)

    with Store(on_server, scheme("v1")) as before, Store(on_server, scheme("v1", "v2")) as store:
        with ServerLease(before, "old"):
            pass
        going_on, renewing = tried(begin_anew, before), tried(ServerLease, store, "new")
        with psycopg.connect(on_server) as connection:
            connection.execute("DELETE FROM store_origin")
            connection.commit()
            connection.execute("SELECT 1 FROM store_resources WHERE name = 'Apple' FOR UPDATE")
            going_on.start()
            until_waiting(on_server, 1)
            renewing.start()
            until_waiting(on_server, 2)
        going_on.join(60)
        renewing.join(60)
    assert errors == []
