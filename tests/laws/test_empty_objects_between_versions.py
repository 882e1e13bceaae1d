"""Whether an object is there, between versions of which each has something else outside of it."""

from typing import Any

from cases import V1, V2, V3
from evolving import Store, evolve, rules, thing


def test_what_is_hidden_in_an_object_goes_when_a_client_removes_that(forgetting: Any) -> None:
    versions = {
        V1: {"Thing": {"a": "string", "o": "O"}, "O": {"z": "string"}},
        V2: {"Thing": {"a": "string", "o": "O"}, "O": {"y": "string"}},
        V3: {"Thing": {"o": "O"}, "O": {"a": "string", "y": "string"}},
    }
    store = Store(forgetting(evolve(versions, rules(V2, move={"a": "o.a"}))))
    store.put(V3, o={"a": "1", "y": "2"}).put(V1, a="1")
    assert store.put(V2, o={}).read(V2) == {"o": {}}


def test_what_is_hidden_in_an_object_goes_where_that_itself_is_stored(forgetting: Any) -> None:
    """So it does with the first or the second version stored."""
    versions = {
        V1: {"Thing": {"a": "string", "o": "O"}, "O": {"z": "string"}},
        V2: {"Thing": {"a": "string", "o": "O"}, "O": {"y": "string"}},
        V3: {"Thing": {"o": "O"}, "O": {"a": "string", "y": "string"}},
    }
    for hub in (V1, V2):
        store = Store(forgetting(evolve(versions, rules(V2, move={"a": "o.a"}), hub=hub)))
        store.put(V3, o={"a": "1", "y": "2"}).put(V1, a="1")
        assert [store.read(each) for each in versions] == [
            {"a": "1"},
            {"a": "1"},
            {"o": {"a": "1"}},
        ]
        assert store.put(V2, o={}).read(V2) == {"o": {}}


def test_an_empty_object_is_there_to_all_that_have_something_else_in_it(forgetting: Any) -> None:
    """A client that removes the object does so for all; one that removes what moves into the stored one does not."""
    versions = {
        V1: {"Thing": {"c": "string", "o": "O"}, "O": {"x": "string"}},
        V2: {"Thing": {"c": "string", "x": "string", "o": "O"}, "O": {"y": "string"}},
        V3: {"Thing": {"o": "O"}, "O": {"x": "string", "c": "string"}},
    }
    moves = (rules(V1, move={"o.x": "x"}), rules(V2, move={"x": "o.x", "c": "o.c"}))
    store = Store(forgetting(evolve(versions, *moves))).put(V2, c="1", o={})
    assert store.read(V1) == {"c": "1", "o": {}}
    assert store.scheme.convert(thing(V2, c="1", o={}), to=V1) == thing(V1, c="1", o={})
    seen = store.stored
    assert [store.put(V1, o={}).read(each) for each in versions] == [{"o": {}}] * 3
    store.stored = seen
    assert [store.put(V1).read(each) for each in versions] == [{}] * 3


def test_an_empty_object_stays_when_a_client_that_has_none_fills_in_what_moves(
    forgetting: Any,
) -> None:
    versions = {
        V1: {"Thing": {"o": "O"}, "O": {"x": "string"}},
        V2: {"Thing": {"x": "string", "o": "O"}, "O": {"z": "string"}},
        V3: {"Thing": {"x": "string", "z": "string"}},
    }
    moves = (rules(V1, move={"o.x": "x"}), rules(V2, move={"o.z": "z"}))
    store = Store(forgetting(evolve(versions, *moves, hub=V1))).put(V1, o={})
    assert store.read(V2) == {"o": {}}
    assert store.put(V3, x="1").read(V2) == {"x": "1", "o": {}}


def test_an_empty_object_is_seen_through_a_store_as_on_the_straight_way(forgetting: Any) -> None:
    versions = {
        V1: {"Thing": {"a": "string", "p": "P"}, "P": {"y": "string"}},
        V2: {"Thing": {"y": "string", "p": "P"}, "P": {"a": "string"}},
        V3: {"Thing": {"a": "string", "y": "string", "p": "P"}, "P": {"w": "string"}},
    }
    moves = (rules(V1, move={"p.y": "y", "a": "p.a"}), rules(V2, move={"p.a": "a"}))
    scheme = forgetting(evolve(versions, *moves, hub=V2))
    first = {"apiVersion": V1, "kind": "Thing", "a": "1", "p": {}}
    assert scheme.convert(first, to=V3) == {**first, "apiVersion": V3}
    assert Store(scheme).put(V1, a="1", p={}).read(V3) == {"a": "1", "p": {}}


def test_an_object_that_a_client_empties_is_seen_beside_a_null_that_it_cannot_see(
    forgetting: Any,
) -> None:
    versions = {
        V1: {"Thing": {"a": "string?", "o": "O"}, "O": {"b": "string"}},
        V2: {"Thing": {"o": "O"}, "O": {"a": "string", "b": "string"}},
    }
    store = Store(forgetting(evolve(versions, rules(V1, move={"a": "o.a"}))))
    store.put(V1, a=None, o={"b": "1"})
    assert store.read(V2) == {"o": {"b": "1"}}
    assert store.put(V2, o={}).read(V1) == {"a": None, "o": {}}
