"""What an element loses that its client may have made anew is no broken law; whatever else an edit of its list loses is one."""

import json
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import pytest
from evolving import Store, evolve, forget, thing

from trundle import verify
from trundle.runtime import Scheme

V1, V2 = "2020-01-01", "2021-01-01"
A, B, C = {"kind": "a"}, {"kind": "b"}, {"kind": "c"}
AZ = {"kind": "a", "z": "Z"}
VERSIONS = {
    V1: {
        "Thing": {"u": "[A|B]", "w": "[A|B]", "n": "integer"},
        "A": {"kind!": "KA", "x": "string"},
        "B": {"kind!": "KB"},
        "KA": ["a"],
        "KB": ["b"],
    },
    V2: {
        "Thing": {"u": "[A|C]", "w": "[A|C]", "n": "integer"},
        "A": {"kind!": "KA", "x": "string", "z": "string"},
        "C": {"kind!": "KC"},
        "KA": ["a"],
        "KC": ["c"],
    },
}
Tree: TypeAlias = dict[str, Any]


class Damaging:
    """A scheme that damages what it stores over something."""

    def __init__(self, scheme: Scheme, damage: Callable[[Tree], None]) -> None:
        self._scheme = scheme
        self._damage = damage

    def __getattr__(self, name: str) -> Any:
        return getattr(self._scheme, name)

    def to_storage(self, value: Any, base: Any = None) -> Any:
        stored = self._scheme.to_storage(value, base)
        if base is None:
            return stored
        tree = json.loads(self._scheme.encode(stored))
        self._damage(tree)
        return self._scheme.decode(json.dumps(tree).encode())


@pytest.fixture(scope="module")
def scheme() -> Iterator[Scheme]:
    found = evolve(VERSIONS, hub=V1)
    yield found
    forget(found)


def law(scheme: Any, store: Store, **edited: Any) -> None:
    verify.law_of_edits(scheme, scheme.decode(store.stored), scheme.decode(thing(V1, **edited)))


def kept(scheme: Scheme) -> Store:
    """The element that V2 knows more of has that in its own bag."""
    return Store(scheme).put(V1, u=[A, B], n=1).put(V2, u=[C, AZ], n=1)


def came_back(scheme: Scheme) -> Store:
    """The element was removed, and came back without a bag; V2 sees its list again, since it goes with the stored one."""
    store = kept(scheme).put(V1, n=1).put(V1, u=[A, B], n=1)
    assert store.read(V2)["u"] == [C, AZ]
    assert "$propertyBag" not in json.dumps(store.stored and store.stored["u"])
    return store


def nothing(_: Tree) -> None:
    """No damage."""


def without_bags(tree: Tree) -> None:
    for each in tree.get("u", []):
        each.pop("$propertyBag", None)


def without_entry(tree: Tree) -> None:
    tree.pop("$propertyBag", None)


def with_another_value(tree: Tree) -> None:
    entry = {"z": {V2: {"value": "other"}}}
    for each in tree.get("u", []):
        each.update({"$propertyBag": entry} if each["kind"] == "a" else {})


def test_an_element_that_came_back_may_be_a_new_one(scheme: Scheme) -> None:
    store = came_back(scheme)
    law(scheme, store, u=[B, A, B], n=1)
    assert store.put(V1, u=[B, A, B], n=1).read(V2)["u"] == [C, A]


@pytest.mark.parametrize(
    ("stored", "damage"),
    [(kept, without_bags), (kept, with_another_value), (came_back, with_another_value)],
)
def test_any_other_loss_with_an_edit_of_the_list_is_reported(
    scheme: Scheme, stored: Callable[[Scheme], Store], damage: Callable[[Tree], None]
) -> None:
    store = stored(scheme)
    law(Damaging(scheme, nothing), store, u=[B, A, B], n=1)
    with pytest.raises(verify.LawBroken, match="law 3"):
        law(Damaging(scheme, damage), store, u=[B, A, B], n=1)


def test_a_loss_with_an_edit_of_anything_else_is_reported(scheme: Scheme) -> None:
    store = came_back(scheme)
    law(Damaging(scheme, nothing), store, u=[A, B], n=2)
    with pytest.raises(verify.LawBroken, match="law 3"):
        law(Damaging(scheme, without_entry), store, u=[A, B], n=2)


def without_members_of_an_entry(tree: Tree) -> None:
    for entry in tree.get("$propertyBag", {}).get("w", {}).values():
        for each in entry["value"]:
            each.pop("z", None)


def test_a_loss_in_another_list_than_the_edited_one_is_reported(scheme: Scheme) -> None:
    store = Store(scheme).put(V1, u=[A], w=[A, B]).put(V2, u=[A], w=[C, AZ])
    store.put(V1, u=[A]).put(V1, u=[A], w=[A, B])
    assert store.read(V2) == {"u": [A], "w": [C, AZ]}
    law(Damaging(scheme, nothing), store, u=[A, A], w=[A, B])
    with pytest.raises(verify.LawBroken, match="law 3"):
        law(Damaging(scheme, without_members_of_an_entry), store, u=[A, A], w=[A, B])
