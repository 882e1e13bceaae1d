"""Free-form data that its writer makes unfit for a typed version shows that version nothing, and breaks no law by that."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from evolving import Store, evolve, forget, thing

from trundle import verify
from trundle.runtime import Scheme

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
