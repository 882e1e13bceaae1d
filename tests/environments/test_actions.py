"""What is known of runs that go on in the background: while they run, when their server dies, and later."""

import contextlib
import time

import psycopg
import pytest
from kept import TENANT, Kept

from trundle.environments import (
    ActionLine,
    Actions,
    NoSuchActionError,
    NoSuchEnvironmentError,
    delete,
)
from trundle.environments import _actions as module

SHOP = {"tenant": TENANT, "by": "ann"}


@pytest.fixture
def actions(shop):
    return Actions(shop.environments)


@pytest.fixture
def seat(actions):
    """The seat of a server that lives."""
    with actions.seated() as found:
        yield found


def states(actions):
    return {x.number: x.state for x in actions.list("shop", tenant=TENANT)}


def test_an_action_is_found_again_with_what_it_said(shop, actions, seat):
    begun = actions.begin("shop", "deploy", **SHOP, seat=seat, dry_run=True)
    assert (begun.number, begun.state, begun.dry_run, begun.by) == (1, "waiting", True, "ann")
    actions.start(begun)
    actions.note(
        begun, [ActionLine(1, "now", "one"), ActionLine(2, "now", "two")], "a.App.deploy", 1
    )
    found = actions.get("shop", 1, tenant=TENANT)
    assert (found.state, found.doing, found.effects) == ("running", "a.App.deploy", 1)
    actions.end(begun, "succeeded", result={"deployment": None})
    later = Kept(shop.url, shop.folder, packages=())
    other = Actions(later.environments)
    ended = other.get("shop", 1, tenant=TENANT)
    assert (ended.state, ended.result, ended.doing) == ("succeeded", {"deployment": None}, "")
    assert [x.line for x in other.lines(ended)] == ["one", "two"]
    assert [x.line for x in other.lines(ended, after=1)] == ["two"]
    assert [x.line for x in other.lines(ended, most=1)] == ["one"]
    later.close()
    with pytest.raises(NoSuchActionError):
        actions.get("shop", 2, tenant=TENANT)
    with pytest.raises(NoSuchEnvironmentError):
        actions.get("shop", 1, tenant="other")


def test_actions_of_a_dead_server_are_interrupted_and_those_of_others_go_on(shop, actions):
    with contextlib.ExitStack() as living, contextlib.ExitStack() as dying:
        first, second = (
            dying.enter_context(actions.seated()),
            living.enter_context(actions.seated()),
        )
        assert first.number != second.number
        ended = actions.begin("shop", "deploy", **SHOP, seat=first)
        actions.end(ended, "succeeded")
        for seat in (first, first, second):
            actions.begin("shop", "deploy", **SHOP, seat=seat)
        actions.start(actions.get("shop", 2, tenant=TENANT))
        assert states(actions) == {4: "waiting", 3: "waiting", 2: "running", 1: "succeeded"}
        dying.close()
        other = Kept(shop.url, shop.folder, packages=())
        after = {4: "waiting", 3: "interrupted", 2: "interrupted", 1: "succeeded"}
        assert states(Actions(other.environments)) == after
        with Actions(other.environments).seated() as third:
            assert third.number != second.number
        other.close()
    with actions.seated():
        assert states(actions)[4] == "interrupted"


@pytest.fixture
def on_postgresql(on_server, tmp_path):
    found = Kept(on_server, tmp_path / "deployed")
    found.create()
    yield found
    found.close()


def cut(url):
    """Ends all connections of a database that have locks, as a server does that is restarted."""
    with psycopg.connect(url, autocommit=True) as connection:
        ending = (
            "SELECT pid, pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        ended = [pid for pid, _ in connection.execute(ending).fetchall()]
        assert ended
        there = "SELECT count(*) FROM pg_stat_activity WHERE pid = ANY(%s)"
        while connection.execute(there, (ended,)).fetchone() != (0,):
            time.sleep(0.02)


@pytest.mark.full
@pytest.mark.parametrize("look", ["settle", "begin"])
def test_a_server_that_lost_the_connection_of_its_seat_takes_it_again(on_postgresql, look):
    actions = Actions(on_postgresql.environments)
    other = Kept(on_postgresql.url, on_postgresql.folder, packages=())
    with actions.seated() as seat:
        begun = actions.begin("shop", "deploy", **SHOP, seat=seat)
        actions.start(begun)
        for _ in range(2):
            cut(on_postgresql.url)
            if look == "settle":
                assert states(actions)[1] == "running"
            else:
                actions.begin("shop", "deploy", **SHOP, seat=seat)
            assert states(Actions(other.environments))[1] == "running"
    assert states(Actions(other.environments))[1] == "interrupted"
    other.close()


@pytest.mark.full
def test_another_server_takes_no_seat_whose_connection_was_lost(on_postgresql):
    actions = Actions(on_postgresql.environments)
    other = Kept(on_postgresql.url, on_postgresql.folder, packages=())
    with actions.seated() as seat:
        cut(on_postgresql.url)
        with Actions(other.environments).seated() as another:
            assert another.number != seat.number
            begun = actions.begin("shop", "deploy", **SHOP, seat=seat)
            assert states(Actions(other.environments))[begun.number] == "waiting"
        assert states(Actions(other.environments))[begun.number] == "waiting"
    other.close()


def test_old_actions_are_forgotten_and_all_of_them_with_their_environment(
    shop, actions, monkeypatch
):
    monkeypatch.setattr(module, "_KEPT", 3)
    for _ in range(5):
        made = actions.begin("shop", "deploy", **SHOP)
        actions.note(made, [ActionLine(1, "now", "said")], "", 0)
        actions.end(made, "succeeded")
    assert [*states(actions)] == [5, 4, 3]
    lines = actions.lines(actions.get("shop", 3, tenant=TENANT))
    assert [x.line for x in lines] == ["said"]
    shop.run(delete)
    shop.environments.purge("shop", tenant=TENANT)
    shop.create()
    assert states(actions) == {}
    assert actions.begin("shop", "deploy", **SHOP).number == 1


@pytest.mark.full
def test_neither_dry_runs_nor_many_others_make_an_action_vanish_that_runs(
    shop, actions, monkeypatch, seat
):
    monkeypatch.setattr(module, "_KEPT", 3)
    running = actions.begin("shop", "deploy", **SHOP, seat=seat)
    actions.start(running)
    done = actions.begin("shop", "upgrade", **SHOP, seat=seat)
    actions.end(done, "succeeded")
    for _ in range(5):
        tried = actions.begin("shop", "delete", **SHOP, seat=seat, dry_run=True)
        actions.end(tried, "succeeded")
    assert [*states(actions)] == [7, 6, 5, 2, 1]
    for _ in range(5):
        actions.end(actions.begin("shop", "deploy", **SHOP, seat=seat), "failed")
    assert [*states(actions)] == [12, 11, 10, 7, 6, 5, 1]
    actions.end(running, "succeeded", result={"deployment": 1})
    assert actions.get("shop", 1, tenant=TENANT).result == {"deployment": 1}
