"""What an earlier release kept in the bag in an older shape is merged like what is kept there now.

The property has a gap. The earlier release stores the second version, and keeps the property in the shape of the first; the
later one stores the fourth, and keeps it in the shape of the third.
"""

import itertools

import pytest
from amounts import some_of
from evolving import evolve, thing

V1, V2, V3, V4 = "2020-01-01", "2021-01-01", "2022-01-01", "2023-01-01"
ONE = {"Item": {"name": "string", "x": "string"}}
THREE = {"Item": {"name": "string", "y": "string"}}
HELD = {
    "object": ("Item", lambda items: items[-1]),
    "list": ("[Item]", list),
    "map": ("{Item}", lambda items: {f"k{place}": each for place, each in enumerate(items)}),
    "objects deeper down": ("Holder", lambda items: {"l": items}),
}
ITEMS = [[{"x": ""}], [{}, {"x": ""}], [{"name": "n", "x": "1"}, {"name": "m", "x": "2"}]]


@pytest.fixture(params=list(HELD))
def releases(request, forgetting):
    """Two releases, and what holds items in them."""
    kind, hold = HELD[request.param]
    holder = {"Holder": {"l": "[Item]"}} if kind == "Holder" else {}
    versions = {
        V1: {"Thing": {"a": kind}, **holder, **ONE},
        V2: {"Thing": {"b": "string"}},
        V3: {"Thing": {"a": kind}, **holder, **THREE},
        V4: {"Thing": {"b": "string"}},
    }
    old = evolve({each: versions[each] for each in (V1, V2, V3)}, hub=V2)
    return forgetting(old), forgetting(evolve(versions)), hold


@pytest.mark.parametrize(
    ("before", "document"), some_of(itertools.product(ITEMS, ITEMS), 2), ids=str
)
def test_what_a_client_writes_over_it_is_read(releases, before, document):
    old, new, hold = releases
    stored = old.put(V1, thing(V1, a=hold(before)))
    assert V1 in stored["$propertyBag"]["a"]
    written = new.put(V1, thing(V1, a=hold(document)), stored)
    assert new.read(V1, written) == thing(V1, a=hold(document))
    assert (written["$propertyBag"] == stored["$propertyBag"]) == (hold(before) == hold(document))


def test_what_another_version_has_in_it_stays(releases):
    old, new, hold = releases
    stored = old.put(V1, thing(V1, a=hold([{"name": "n", "x": "1"}])))
    stored = old.put(V3, thing(V3, a=hold([{"name": "n", "y": "2"}])), stored)
    assert new.read(V1, stored) == thing(V1, a=hold([{"name": "n", "x": "1"}]))
    assert new.read(V3, stored) == thing(V3, a=hold([{"name": "n", "y": "2"}]))
    for version, name, other, left in ((V1, "x", V3, {"y": "2"}), (V3, "y", V1, {"x": "1"})):
        written = new.put(version, thing(version, a=hold([{"name": "n", name: "3"}])), stored)
        assert new.read(version, written) == thing(version, a=hold([{"name": "n", name: "3"}]))
        assert new.read(other, written) == thing(other, a=hold([{"name": "n", **left}]))
