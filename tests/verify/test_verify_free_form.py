"""Free-form data that its writer makes unfit for a typed version shows that version nothing, and breaks no law by that."""

import json
from collections.abc import Iterator
from typing import Any, cast

import pytest
from evolving import Store, evolution, evolve, forget, load, thing

from trundle import verify
from trundle.runtime import Scheme
from trundle.verify._oracle_laws import law8_of_edits
from trundle.verify._parts import part_of, world_of

V1, V2 = "2020-01-01", "2021-01-01"
VERSIONS = {
    V1: {"Thing": {"p!": "Switch", "n": "integer"}, "Switch": {"on!": "boolean"}},
    V2: {"Thing": {"p!": "any", "n": "integer"}},
}


@pytest.fixture(scope="module")
def scheme() -> Iterator[Scheme]:
    found = evolve(VERSIONS, hub=V2)
    yield found
    forget(found)


def hidden(scheme: Scheme) -> Store:
    """What V1 reads stands in its bag: the stored object has a member for which its type has no property."""
    store = Store(scheme).put(V2, p={"x": ""}, n=1).put(V1, p={"on": True}, n=1)
    assert store.read(V1) == {"p": {"on": True}, "n": 1}
    assert store.read(V2) == {"p": {"on": True, "x": ""}, "n": 1}
    return store


def law(scheme: Any, store: Store, **edited: Any) -> None:
    verify.law_of_edits(scheme, scheme.decode(store.stored), scheme.decode(thing(V2, **edited)))


def test_what_no_longer_fits_is_not_shown(scheme: Scheme) -> None:
    store = hidden(scheme)
    law(scheme, store, p={"on": True, "x": "a"}, n=1)
    assert store.put(V2, p={"on": True, "x": "a"}, n=1).read(V1)["p"] == {"on": False}


class Forgetting:
    """A scheme that loses the bag of what it stores over something."""

    def __init__(self, scheme: Scheme) -> None:
        self._scheme = scheme

    def __getattr__(self, name: str) -> Any:
        return getattr(self._scheme, name)

    def to_storage(self, value: Any, base: Any = None) -> Any:
        tree = json.loads(self._scheme.encode(self._scheme.to_storage(value, base)))
        tree.pop("$propertyBag", None)
        return self._scheme.decode(json.dumps(tree).encode())


def test_a_loss_with_an_edit_beside_free_form_data_is_reported(scheme: Scheme) -> None:
    store = hidden(scheme)
    law(scheme, store, p={"on": True, "x": ""}, n=2)
    with pytest.raises(verify.LawBroken, match=r"law 3.* at \$\.p\.on"):
        law(Forgetting(scheme), store, p={"on": True, "x": ""}, n=2)


def holders(elements: str) -> Any:
    """A version with an object of two variants, each with a list."""
    return {
        "Thing": {"p": "A|B"},
        "A": {"kind!": "KindA", "l": f"[{elements}]"},
        "B": {"kind!": "KindB", "l": f"[{elements}]"},
        "KindA": ["a"],
        "KindB": ["b"],
    }


class Emptying(Forgetting):
    """A scheme that empties the list of what it stores over something."""

    def to_storage(self, value: Any, base: Any = None) -> Any:
        tree = json.loads(self._scheme.encode(self._scheme.to_storage(value, base)))
        if base is not None:
            tree["p"]["l"] = []
        return self._scheme.decode(json.dumps(tree).encode())


def test_elements_that_fit_no_type_go_with_the_object_that_holds_them() -> None:
    versions = {V1: {**holders("Switch"), "Switch": {"on!": "boolean"}}, V2: holders("any")}
    made = evolution(versions, hub=V2)
    world = world_of(part_of(made, made.resources[0]), V2)
    scheme = load(made)
    try:
        store = Store(scheme).put(V2, p={"kind": "a", "l": [{"x": 1}]})
        assert store.read(V1) == {"p": {"kind": "a", "l": []}}
        stored = scheme.decode(store.stored)
        other = scheme.decode(thing(V1, p={"kind": "b", "l": []}))
        law8_of_edits(scheme, world, stored, other)
        same = scheme.decode(thing(V1, p={"kind": "a", "l": []}))
        law8_of_edits(scheme, world, stored, same)
        with pytest.raises(verify.LawBroken, match=r"laws 3 and 4.* at \$\.p\.l"):
            law8_of_edits(cast("Any", Emptying(scheme)), world, stored, same)
    finally:
        forget(scheme)
