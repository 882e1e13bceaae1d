"""Typed objects that become free-form data: what older versions have beside it, and what a client takes away."""

import json
from typing import Any

import pytest
from cases import CASES
from evolving import Store, evolve, forget

from trundle.verify._hop_laws import law_hops
from trundle.verify._laws import LawBroken

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


def test_a_client_that_sees_nothing_of_free_form_data_reads_what_it_writes() -> None:
    older = {"Thing": {"o!": "O"}, "O": {"enabled!": "boolean"}}
    scheme = evolve({V1: older, V2: {"Thing": {"o!": "any"}}})
    store = Store(scheme).put(V2, o={"value": 0})
    assert store.read(V1) == {"o": {"enabled": False}}
    store = store.edit(V1, o={"enabled": True})
    assert store.read(V1) == {"o": {"enabled": True}}
    forget(scheme)


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


def test_hops_are_silent_only_about_the_names_that_hooks_beyond_the_way_tell(scheme) -> None:
    document = scheme.decode(b'{"apiVersion": "2022-01-01", "kind": "Thing", "o": {}}')
    walk = walking(v2022={"o": {"name": "x"}}, v2021={"o": {"name": "y"}})
    law_hops(scheme, document, [V3, V2], walk, frozenset({"name"}))
    with pytest.raises(LawBroken, match="hop by hop"):
        law_hops(scheme, document, [V3, V2], walk, frozenset({"z"}))
