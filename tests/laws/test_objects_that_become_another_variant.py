"""An object that one version does not show, because to it that is another variant."""

import pytest
from evolving import Store, evolve, rules, thing

V1, V2, V3 = "2020-01-01", "2021-01-01", "2022-01-01"
A = {"A": {"kind!": "KA", "x": "string", "q": "string"}, "KA": ["a"]}
NEWER = {
    "A": {"kind!": "KA", "x": "string", "z": "string"},
    "KA": ["a"],
    "C": {"kind!": "KC"},
    "KC": ["c"],
}


@pytest.fixture(params=[V1, V2], ids=["stored as the older", "stored as the newer"])
def scheme(request, forgetting):
    """Only the newer version distinguishes variants, by something else; so its object has always that text."""
    versions = {
        V1: {"Thing": {"w": "A", "h": "Holder"}, "Holder": {"w": "A"}, **A},
        V2: {"Thing": {"w": "A", "u": "A|C", "h": "Holder"}, "Holder": {"w": "A"}, **NEWER},
    }
    return forgetting(evolve(versions, hub=request.param))


@pytest.fixture(params=["w", "h.w"])
def hold(request):
    """Puts an object into its place."""
    return (lambda w: {"w": w}) if request.param == "w" else (lambda w: {"h": {"w": w}})


def seen(document):
    """The object, where it is there."""
    return document.get("h", document).get("w")


OTHERS = [{"kind": "", "x": "1"}, {"kind": "b", "x": "1", "q": "2"}]


@pytest.mark.parametrize("stored", OTHERS, ids=str)
@pytest.mark.parametrize("written", [{"kind": "a"}, {"kind": "a", "z": "3"}], ids=str)
def test_a_client_that_does_not_see_it_reads_just_what_it_writes(scheme, hold, stored, written):
    before = scheme.put(V1, thing(V1, **hold(stored)))
    assert seen(scheme.read(V2, before)) is None
    after = scheme.put(V2, thing(V2, **hold(written)), before)
    assert scheme.read(V2, after) == thing(V2, **hold(written))
    assert seen(scheme.read(V1, after)) == {"kind": "a"}


@pytest.mark.parametrize("other", OTHERS, ids=str)
def test_what_was_hidden_in_another_variant_is_not_in_a_new_one(scheme, hold, other):
    stored = scheme.put(V2, thing(V2, **hold({"kind": "a", "x": "1", "z": "3"})))
    changed = scheme.put(V1, thing(V1, **hold(other)), stored)
    assert seen(scheme.read(V2, changed)) is None
    anew = scheme.put(V2, thing(V2, **hold({"kind": "a", "x": "4"})), changed)
    assert seen(scheme.read(V2, anew)) == {"kind": "a", "x": "4"}


@pytest.mark.parametrize("other", OTHERS, ids=str)
def test_what_is_hidden_comes_back_with_the_variant_where_the_older_object_is_stored(
    scheme, hold, other
):
    """Where the newer one is, it stays in the entry of the older, which `trundle check --strict` notes."""
    stored = scheme.put(V2, thing(V2, **hold({"kind": "a", "x": "1", "z": "3"})))
    changed = scheme.put(V1, thing(V1, **hold(other)), stored)
    back = scheme.put(V1, thing(V1, **hold({"kind": "a", "x": "1"})), changed)
    assert seen(scheme.read(V1, back)) == {"kind": "a", "x": "1"}
    shown = seen(scheme.read(V2, back))
    if scheme.resources["Thing"].hub == V1:
        assert shown == {"kind": "a", "x": "1", "z": "3"}
    else:
        assert shown == {"kind": "a", "x": "1"}
        (entry,) = (back | back.get("h", {}))["$propertyBag"]["w"].values()
        assert entry["value"]["$propertyBag"] == {"z": {V2: {"value": "3"}}}


def test_texts_that_a_rule_renames_distinguish_variants_as_they_are_stored(forgetting):
    scheme = forgetting(
        evolve(
            {
                V1: {"Thing": {"w": "A"}, "A": {"kind!": "string", "x": "string"}},
                V2: {
                    "Thing": {"w": "A", "u": "A|C"},
                    "A": {"kind!": "KA", "x": "string"},
                    "KA": ["alpha"],
                    "C": NEWER["C"],
                    "KC": ["c"],
                },
            },
            rules(V1, "A", values={"kind": {"a": "alpha"}}),
            hub=V1,
        )
    )
    for kind in ("a", "b"):
        before = scheme.put(V1, thing(V1, w={"kind": kind, "x": "1"}))
        assert ("w" in scheme.read(V2, before)) == (kind == "a")
        after = scheme.put(V2, thing(V2, w={"kind": "alpha"}), before)
        assert scheme.read(V2, after) == thing(V2, w={"kind": "alpha"})
        assert scheme.read(V1, after) == thing(V1, w={"kind": "a"})


@pytest.mark.parametrize("hub", [V1, V2, V3])
def test_an_object_of_the_same_shape_elsewhere_changes_nothing(forgetting, hub):
    """The older versions have one shape at both places, and only one of them is a union in the newest."""
    versions = {
        V1: {"Thing": {"w": "A", "v": "A"}, "A": {"kind!": "KA", "x": "string"}, "KA": ["a"]},
        V2: {"Thing": {"w": "A", "v": "A"}, **NEWER},
        V3: {"Thing": {"w": "A|C"}, **NEWER},
    }
    store = Store(forgetting(evolve(versions, hub=hub)))
    store.put(V2, w={"kind": "b", "x": "X", "z": "Z"})
    assert store.read(V3) == {}
    store.put(V3, w={"kind": "a"})
    assert [store.read(each) for each in versions] == [{"w": {"kind": "a"}}] * 3
