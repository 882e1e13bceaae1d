"""Typed objects that become free-form data: what older versions have beside it, and what a client takes away."""

import json
from typing import Any

import pytest
from cases import CASES
from evolving import Store, evolve, forget, rules, thing

from trundle.verify import LawBroken
from trundle.verify._hop_laws import law_hops

V1, V2, V3 = "2020-01-01", "2021-01-01", "2022-01-01"


@pytest.fixture(scope="module")
def scheme():
    case = CASES["changing objects to free-form"]
    found = evolve(case.versions, *case.more)
    yield found
    forget(found)


@pytest.mark.parametrize("wrap", ["o", "l", "m"])
def test_what_a_client_takes_out_of_an_object_does_not_come_back(scheme, wrap: str) -> None:
    def inside(value: Any) -> dict[str, Any]:
        return {wrap: {"o": value, "l": [value], "m": {"k": value}}[wrap]}

    store = Store(scheme).put(V2, **inside({"name": "a", "z": 1, "y": "kept"}))
    store = store.edit(V1, **inside({"name": "a", "x": "mine"}))
    assert store.read(V2) == inside({"name": "a", "z": 1, "y": "kept"})
    store = store.edit(V2, **inside({"name": "a", "y": "kept"}))
    assert store.read(V2) == inside({"name": "a", "y": "kept"})
    assert store.read(V1) == inside({"name": "a", "x": "mine"})


@pytest.mark.parametrize("wrap", ["o", "m"])
def test_the_newest_version_keeps_what_an_older_client_cannot_see(scheme, wrap: str) -> None:
    def inside(**value: Any) -> dict[str, Any]:
        return {wrap: {"o": value, "m": {"k": value}}[wrap]}

    store = Store(scheme).put(V2, **inside(name="a", y="kept", z=1))
    store = store.edit(V1, **inside(name="b", x="mine"))
    expected = inside(name="b", y="kept", z=1)
    assert store.read(V3) == store.read(V2) == expected
    assert store.read(V1) == inside(name="b", x="mine")


def test_the_newest_version_keeps_what_an_older_client_cannot_see_in_a_list(scheme) -> None:
    store = Store(scheme).put(V2, l=[{"name": "a", "y": "1"}, {"name": "b", "y": "2"}])
    store = store.edit(V1, l=[{"name": "c"}, {"name": "b"}])
    assert store.read(V3) == store.read(V2) == {"l": [{"name": "c"}, {"name": "b", "y": "2"}]}


@pytest.fixture(scope="module")
def switch():
    older = {"Thing": {"o!": "O"}, "O": {"enabled!": "boolean"}}
    found = evolve({V1: older, V2: {"Thing": {"o!": "any"}}})
    yield found
    forget(found)


def test_a_client_that_sees_nothing_of_free_form_data_reads_what_it_writes(switch) -> None:
    store = Store(switch).put(V2, o={"value": 0})
    assert store.read(V1) == {"o": {"enabled": False}}
    store = store.edit(V1, o={"enabled": True})
    assert store.read(V1) == {"o": {"enabled": True}}
    assert store.read(V2) == {"o": {"enabled": True, "value": 0}}
    store = store.edit(V1, o={"enabled": False})
    assert store.read(V1) == {"o": {"enabled": False}}
    store = store.edit(V2, o={"enabled": True, "other": 1})
    assert store.read(V1) == {"o": {"enabled": False}}


def test_what_does_not_fit_a_type_stays_where_a_newer_client_edits_what_does(forgetting) -> None:
    newer = {"Thing": {"o": "O"}, "O": {"a": "string", "q": "Q"}, "Q": {"c": "string"}}
    store = Store(forgetting(evolve({V1: {"Thing": {"o": "any"}}, V2: newer})))
    store.put(V1, o={"b": [1], "a": "x", "q": {"c": "1", "d": 2}})
    assert store.read(V2) == {}
    store.edit(V2, o={"a": "y", "q": {"c": "3"}})
    assert store.read(V1) == {"o": {"b": [1], "a": "y", "q": {"c": "3", "d": 2}}}
    store.edit(V2, o={"q": {"c": "3"}})
    assert store.read(V1) == {"o": {"b": [1], "q": {"c": "3", "d": 2}}}
    store.edit(V1, o={"b": [4], "q": {"c": "3"}})
    assert store.read(V1) == {"o": {"b": [4], "q": {"c": "3"}}}
    assert store.read(V2) == {"o": {"q": {"c": "3"}}}
    store.edit(V2, o=None)
    assert (store.read(V1), store.read(V2)) == ({}, {})


def walking(**results: dict[str, Any]) -> Any:
    """A reference that makes what the test says of a document, by the year of the version."""

    def convert(_data: bytes, _one: str, other: str) -> bytes:
        made = results[f"v{other[:4]}"]
        return json.dumps({"apiVersion": other, "kind": "Thing", **made}).encode()

    return convert


def test_hops_say_nothing_of_objects_that_free_form_data_lacks_something_for(scheme) -> None:
    document = scheme.decode(b'{"apiVersion": "2022-01-01", "kind": "Thing", "o": {}}')
    law_hops(scheme, document, [V3, V2], walking(v2022={"o": {}}, v2021={"o": {}}))
    other = walking(v2022={"o": {"name": "x"}}, v2021={"o": {"name": "y"}})
    with pytest.raises(LawBroken, match="hop by hop"):
        law_hops(scheme, document, [V3, V2], other)


def test_hops_say_nothing_of_what_stands_for_something_required(switch) -> None:
    document = switch.decode(b'{"apiVersion": "2021-01-01", "kind": "Thing", "o": {}}')
    law_hops(switch, document, [V2, V1], walking(v2021={"o": {}}, v2020={"o": {}}))
    other = walking(v2021={"o": {}}, v2020={"o": {"enabled": True}})
    with pytest.raises(LawBroken, match="hop by hop"):
        law_hops(switch, document, [V2, V1], other)


def test_hops_hold_the_straight_way_to_an_incomplete_object_that_it_shows(scheme) -> None:
    document = scheme.decode(b'{"apiVersion": "2022-01-01", "kind": "Thing", "o": {}}')
    walk = walking(v2022={"o": {"name": "x"}}, v2021={"o": {}})
    with pytest.raises(LawBroken, match="hop by hop"):
        law_hops(scheme, document, [V3, V2], walk)


@pytest.mark.parametrize("listed", [[{}], [{"name": "x"}, {}]])
def test_hops_hold_lists_to_all_elements_that_lack_nothing(scheme, listed: Any) -> None:
    document = scheme.decode(b'{"apiVersion": "2022-01-01", "kind": "Thing"}')
    known = walking(v2022={"l": listed}, v2021={"l": listed})
    law_hops(scheme, document, [V3, V2], known)
    more = walking(v2022={"l": listed}, v2021={"l": [*listed, {"name": "y"}]})
    with pytest.raises(LawBroken, match="hop by hop"):
        law_hops(scheme, document, [V3, V2], more)


def test_hops_are_silent_only_about_the_names_that_hooks_beyond_the_way_give(scheme) -> None:
    document = scheme.decode(b'{"apiVersion": "2022-01-01", "kind": "Thing", "o": {}}')
    walk = walking(v2022={"o": {"name": "x"}}, v2021={"o": {"name": "y"}})
    law_hops(scheme, document, [V3, V2], walk, frozenset({"name"}))
    with pytest.raises(LawBroken, match="hop by hop"):
        law_hops(scheme, document, [V3, V2], walk, frozenset({"z"}))


def test_what_moves_out_of_an_object_that_becomes_free_form_data_is_not_in_it_any_more(forgetting):
    scheme = forgetting(
        evolve(
            {
                V1: {"Thing": {"o": "O"}, "O": {"a": "string", "b": "string"}},
                V2: {"Thing": {"o": "any", "x": "string"}},
            },
            rules(V1, move={"o.a": "x"}),
        )
    )
    shown = scheme.convert(thing(V1, o={"a": "1", "b": "2"}), to=V2)
    assert shown == thing(V2, o={"b": "2"}, x="1")


@pytest.mark.parametrize("hub", [V1, V2])
def test_a_client_edits_what_is_left_of_an_object_out_of_which_something_required_moved(
    forgetting, hub
) -> None:
    """The free-form data has no `a`, which the type requires; and one that it has of its own is another property."""
    older = {"Thing": {"o": "O"}, "O": {"a!": "string", "b": "string"}}
    newer = {"Thing": {"o": "any", "x": "string"}}
    store = Store(forgetting(evolve({V1: older, V2: newer}, rules(V1, move={"o.a": "x"}), hub=hub)))
    store.put(V1, o={"a": "1", "b": "2"})
    store.edit(V2, o={"b": "3"}, x="1")
    assert store.read(V1) == {"o": {"a": "1", "b": "3"}}
    store.edit(V2, o={"a": "own", "b": "3"}, x="1")
    assert store.read(V1) == {"o": {"a": "1", "b": "3"}}
    store.edit(V1, o={"a": "4", "b": "5"})
    assert store.read(V2) == {"o": {"a": "own", "b": "5"}, "x": "4"}
    store.edit(V2, o={"b": 5}, x="4")
    assert store.read(V1) == {"o": {"a": "4"}}


def test_an_object_whose_members_all_stand_elsewhere_is_no_free_form_data(forgetting) -> None:
    older = {"Thing": {"o": "O"}, "O": {"a": "string", "b": "string"}}
    newer = {"Thing": {"o": "any", "x": "string"}}
    scheme = forgetting(evolve({V1: older, V2: newer}, rules(V1, move={"o.a": "x"})))
    store = Store(scheme).put(V2).edit(V1, o={"a": "1"})
    assert (store.read(V1), store.read(V2)) == ({"o": {"a": "1"}}, {"x": "1"})
    store = Store(scheme).put(V1, o={"a": "1", "b": "2"}).edit(V1, o={"a": "1"})
    assert (store.read(V1), store.read(V2)) == ({"o": {"a": "1"}}, {"x": "1"})
