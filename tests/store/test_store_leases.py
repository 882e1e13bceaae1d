"""Servers of two releases over one store: what is stored moves up when all can read it, and not before."""

import pytest
from storing import V1, V2, document, kept, key, people_before, seen
from test_store_trouble import Clock

from trundle.store import (
    NewerShapeError,
    ServerLease,
    Store,
    compact,
    move_storage_versions,
    roll,
    status,
)


@pytest.fixture(scope="module")
def before():
    return people_before()


def test_a_new_release_stores_what_the_one_before_can_read(url, scheme, before):
    with Store(url, before) as old, Store(url, scheme) as new:
        with ServerLease(old, "old") as first, ServerLease(new, "new") as second:
            (held,) = second.moves
            assert (held.resource, held.before, held.after, held.held_by) == (
                "Thing", V1, V2, ("old",),
            )  # fmt: skip
            new.create(key(), document(V2, group="x", note="n"))
            assert kept(new.get(key()))["apiVersion"] == V1
            assert seen(old, old.get(key()), V1)["team"] == "x"
            old.replace(key(), document(V1, team="y", age=3))
            assert seen(new, new.get(key()), V2)["note"] == "n"
            assert seen(new, new.get(key()), V1)["age"] == 3
            assert first.renew() == ()
        # Both are gone; the new one comes back alone.
        with ServerLease(new, "new") as again:
            (moved,) = again.moves
            assert moved.held_by == ()
            new.replace(key(), document(V2, group="z", note="n"))
            assert kept(new.get(key()))["apiVersion"] == V2
            with pytest.raises(NewerShapeError, match="expected Thing to be stored in one of"):
                ServerLease(old, "old")


def test_it_moves_when_the_last_server_of_the_release_before_is_gone(in_file, scheme, before):
    with Store(in_file, before) as old, Store(in_file, scheme) as new:
        leases = [ServerLease(old, name) for name in ("one", "two")]
        lease = ServerLease(new, "new")
        leases[0].end()
        assert lease.renew()[0].held_by == ("two",)
        leases[1].end()
        assert lease.renew()[0].held_by == ()
        assert lease.renew() == ()


def test_a_server_that_is_silent_counts_until_its_lease_ends(in_file, scheme, before):
    clock = Clock()
    with Store(in_file, before, clock=clock) as old, Store(in_file, scheme, clock=clock) as new:
        old.create(key(), document(V1, team="x"))
        silent = ServerLease(old, "silent")
        lease = ServerLease(new, "new")
        clock.go(seconds=29)
        assert lease.renew()[0].held_by == ("silent",)
        clock.go(seconds=1)
        assert lease.renew()[0].held_by == ()
        assert [each.name for each in status(new).holders] == ["new"]
        new.replace(key(), document(V2, group="z", note="n"))
        stored = new.get(key())
        # It wakes up, and can neither go on nor do any harm.
        with pytest.raises(NewerShapeError):
            silent.renew()
        with pytest.raises(NewerShapeError):
            old.replace(key(), document(V1, team="harm"))
        assert new.get(key()) == stored


def test_a_server_that_does_not_know_a_resource_type_does_not_hold_it_back(in_file, scheme, before):
    from evolving import evolve

    other = evolve({V1: {"Thing": {"a": "string"}}})
    with Store(in_file, before) as old, Store(in_file, scheme) as new:
        old.create(key(), document(V1, team="x"))
        with ServerLease(new, "new"):
            assert kept(new.get(key()))["apiVersion"] == V1
            assert new.create(key("b"), document()).storage_version == V2
    assert set(other.resources) == {"Thing"}


def test_a_release_with_an_earlier_hub_does_not_move_it_down(in_file, scheme):
    from evolving import evolve, rules
    from storing import FIRST, SECOND

    held = evolve({V1: FIRST, V2: SECOND}, rules(V1, rename={"team": "group"}), hub=V1, kept=(V2,))
    with Store(in_file, scheme) as new, Store(in_file, held) as back:
        new.create(key(), document(V2, group="x"))
        with ServerLease(new, "new") as lease, ServerLease(back, "back") as other:
            assert lease.renew() == other.renew() == ()
            back.replace(key(), document(V2, group="y"))
            assert kept(new.get(key()))["apiVersion"] == V2


def test_rolling_waits_for_servers_too(in_file, scheme, before):
    with Store(in_file, before) as old, Store(in_file, scheme) as new:
        old.create(key(), document(V1, team="x"))
        lease = ServerLease(old, "old")
        done = roll(new)
        assert (done.moves[0].held_by, done.resources[0].rolled) == (("old",), {})
        assert move_storage_versions(new, dry_run=True)[0].held_by == ("old",)
        assert [each.name for each in status(new).holders] == ["old"]
        lease.end()
        assert roll(new, dry_run=True).resources[0].rolled == {V1: 1}
        assert status(new).resources[0].storage_version == V1
        assert roll(new).resources[0].rolled == {V1: 1}
        assert kept(new.get(key()))["apiVersion"] == V2


def test_a_store_of_a_later_release_is_refused(in_file, scheme, before):
    with Store(in_file, scheme) as new:
        new.create(key(), document(V2, group="x"))
    with Store(in_file, before) as old:
        for attempt in (
            lambda: ServerLease(old),
            lambda: roll(old),
            lambda: move_storage_versions(old),
            lambda: old.create(key("b"), document(V1, team="x")),
        ):
            with pytest.raises(NewerShapeError, match=V2):
                attempt()
        assert [each.key.name for each in old.stream("Thing")] == ["ada"]


def test_a_release_is_rolled_back_as_long_as_nothing_is_stored_in_the_new_shape(
    url, scheme, before
):
    """One look of the new release was enough that no server of the one before could start again, whatever was stored."""
    with Store(url, before) as old, Store(url, scheme) as new:
        with ServerLease(old, "old"):
            old.create(key(), document(V1, team="x", age=3))
        with ServerLease(new, "new") as lease:
            assert [each.held_by for each in lease.moves] == [()]
            assert status(new).resources[0].storage_version == V2
            # The new server may still be there: from now on it stores what the one before can read.
            with ServerLease(old, "old"):
                assert status(new).resources[0].storage_version == V1
                assert lease.renew()[0].held_by == ("old",)
                new.replace(key(), document(V2, group="y", note="n"))
                assert kept(new.get(key()))["apiVersion"] == V1
                old.replace(key(), document(V1, team="z", age=4))
                assert seen(new, new.get(key()), V2)["note"] == "n"
            assert lease.renew()[0].held_by == ()
            new.create(key("b"), document(V2, group="b"))
            new.delete(key("b"))
            with pytest.raises(NewerShapeError, match="expected Thing to be stored in one of"):
                ServerLease(old, "old")
            compact(new, most=0)  # Nothing of it is left now.
            with ServerLease(old, "old"):
                assert old.create(key("c"), document(V1, team="c")).storage_version == V1


def test_a_roll_says_that_it_took_back_what_was_agreed_on(url, scheme, before):
    """It did so without a word."""
    with Store(url, before) as old, Store(url, scheme) as new:
        old.create(key(), document(V1, team="x", age=3))
        ServerLease(new).end()
        for dry_run in (True, False):
            (moved,) = roll(old, dry_run=dry_run).moves
            assert (moved.before, moved.after, moved.held_by) == (V2, V1, ())
        assert status(new).resources[0].storage_version == V1
        assert roll(old).moves == ()
        ServerLease(new).end()
        with ServerLease(old) as lease:
            assert [(each.before, each.after) for each in lease.moves] == [(V2, V1)]


def test_what_is_only_agreed_on_stops_no_release_that_does_not_have_it(in_file, scheme, before):
    """Nor one that comes later: no object was ever stored in the version that it dropped."""
    from evolving import evolve
    from storing import SECOND

    later = evolve({V2: SECOND})
    with Store(in_file, before) as old, Store(in_file, later) as new:
        with ServerLease(old, "old"):
            for attempt in (
                lambda: ServerLease(new, "new"),
                lambda: roll(new),
                lambda: roll(new, dry_run=True),
            ):
                with pytest.raises(NewerShapeError, match=f"cannot read {V2}: old"):
                    attempt()
        assert roll(new, dry_run=True).resources[0].rolled == {}
        assert status(new).resources[0].storage_version == V1
        with ServerLease(new, "new"):
            assert new.create(key(), document(V2, group="x")).storage_version == V2


@pytest.mark.parametrize("ahead", [{"days": 2}, {"minutes": 5}])
def test_a_server_that_died_with_its_clock_ahead_stands_in_no_way(in_file, scheme, before, ahead):
    clock = Clock()
    with Store(in_file, before, clock=clock) as old, Store(in_file, scheme, clock=clock) as new:
        clock.go(**ahead)
        live, _dead = ServerLease(old, "live"), ServerLease(old, "dead")
        clock.go(**{unit: -number for unit, number in ahead.items()})
        with ServerLease(new, "new") as lease:
            assert lease.moves[0].held_by == ()
        live.renew()  # It reads what was agreed on meanwhile, as nothing is stored in it.
        assert [each.name for each in status(old).holders] == ["live"]
        assert ServerLease(new, "new").moves[0].held_by == ("live",)


def test_leases_of_servers_on_a_database_end_by_the_clock_of_the_database(
    on_server, scheme, before
):
    """A server whose clock is an hour ahead took all others for gone, and moved on without them."""
    clocks = [Clock(), Clock()]
    clocks[1].go(hours=1)
    with (
        Store(on_server, before, clock=clocks[0]) as old,
        Store(on_server, scheme, clock=clocks[1]) as new,
    ):
        with ServerLease(old, "old") as lease, ServerLease(new, "new") as other:
            assert other.moves[0].held_by == ("old",)
            assert [each.name for each in status(old).holders] == ["new", "old"]
            assert [each.name for each in status(new).holders] == ["new", "old"]
            assert lease.renew() == ()
        assert status(old).holders == ()
