"""What a later release keeps within an entry of the bag stays where an earlier one merges the entry.

Both store the second version, and keep the first version's property in the bag. Only the later one knows the third version,
which has more in the objects of that property.
"""

import pytest
from evolving import evolve, thing

V1, V2, V3 = "2020-01-01", "2021-01-01", "2022-01-01"
HELD = {
    "object": ("Item", lambda item: item),
    "list": ("[Item]", lambda item: [item]),
    "map": ("{Item}", lambda item: {"k": item}),
    "objects deeper down": ("Holder", lambda item: {"o": item}),
    "variants of a union": ("[Item|Other]", lambda item: [item, {"kind": "other"}]),
}


@pytest.fixture(params=list(HELD))
def releases(request, forgetting):
    """An earlier and a later release, and what holds an item in them."""
    kind, hold = HELD[request.param]
    one = {"kind!": "K", "x": "string"}
    more = {"Holder": {"o": "Item"}, "K": ["item"], "Other": {"kind!": "O"}, "O": ["other"]}
    used = {name: each for name, each in more.items() if name != "Holder" or kind == "Holder"}
    if "|" not in kind:
        one = {"kind": "string", "x": "string"}
        used = {name: each for name, each in used.items() if name == "Holder"}
    versions = {
        V1: {"Thing": {"a": kind}, "Item": one, **used},
        V2: {"Thing": {"a": "string"}},
        V3: {"Thing": {"a": kind}, "Item": {**one, "y": "string"}, **used},
    }
    old = evolve({each: versions[each] for each in (V1, V2)})
    new = evolve(versions, kept=(V2,)).storing({"Thing": V2})
    return forgetting(old), forgetting(new), hold


@pytest.mark.parametrize("seen", [{}, {"x": "1"}], ids=str)
def test_what_an_earlier_release_does_not_know_stays(releases, seen):
    old, new, hold = releases
    kind = {"kind": "item"}
    stored = new.convert(thing(V3, a=hold({**kind, **seen, "y": "Y"})), base=None)
    assert V1 in stored["$propertyBag"]["a"]
    written = old.convert(thing(V1, a=hold({**kind, "x": "2"})), base=stored)
    for scheme in (old, new):
        assert scheme.convert(written, to=V1) == thing(V1, a=hold({**kind, "x": "2"}))
    assert new.convert(written, to=V3) == thing(V3, a=hold({**kind, "x": "2", "y": "Y"}))


def test_an_object_that_an_earlier_release_removes_goes(releases):
    old, new, hold = releases
    stored = new.convert(thing(V3, a=hold({"kind": "item", "y": "Y"})), base=None)
    written = old.convert(thing(V1), base=stored)
    assert new.convert(written, to=V3) == thing(V3)
