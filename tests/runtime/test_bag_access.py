"""Typed access to what a stored object carries for another version."""

import json

import pytest
from evolving import Store, evolve, rules

from trundle.runtime import ABSENT, BagError, ConversionError, Scheme

V1, V2, V3 = "2020-01-01", "2021-01-01", "2022-01-01"


@pytest.fixture(scope="module")
def scheme() -> Scheme:
    """Properties that later versions rename, remove, change in type, and that return after a gap."""
    return evolve(
        {
            V1: {
                "Thing": {"first!": "string", "size": "string", "bag": "string", "n": "Item"},
                "Item": {"x": "string", "deep": "Deep"},
                "Deep": {"a": "string", "b": "string"},
            },
            V2: {
                "Thing": {"given": "string", "size": "string", "n": "Item"},
                "Item": {"y": "string"},
            },
            V3: {"Thing": {"size": "integer", "n": "Item"}, "Item": {"y": "string"}},
        },
        rules(V1, rename={"first": "given"}),
    )


def api(scheme: Scheme, version: str, name: str = "Thing"):
    module = scheme.resources["Thing"].versions[version].partition(":")[0]
    __import__(f"{scheme.package}.{module}")
    import sys

    return getattr(sys.modules[f"{scheme.package}.{module}"], name)


def stored(scheme: Scheme, version: str, **properties: object):
    return scheme.to_storage({"apiVersion": version, "kind": "Thing", **properties})


@pytest.mark.full
def test_a_bag_is_read_as_the_class_of_a_version(scheme):
    kept = stored(scheme, V1, first="Ada", size="big", bag="b", n={"x": "1"})
    found = kept.bag(api(scheme, V1))
    assert type(found) is api(scheme, V1)
    assert (found.first, found.size, found.bag_, found.n) == ("Ada", "big", "b", ABSENT)


def test_an_entry_is_read_by_every_version_that_has_the_property(scheme):
    kept = stored(scheme, V1, first="", size="big")
    found = kept.bag(api(scheme, V2))
    assert (found.given, found.size) == ("", "big")
    found = kept.bag(api(scheme, V3))
    assert found.size is ABSENT


def test_stale_entries_are_given_where_they_are_asked_for(scheme):
    kept = stored(scheme, V1, first="Ada", size="big")
    seen = scheme.from_storage(kept, V3)
    seen.size = 10
    kept = scheme.to_storage(seen, kept)
    found, stale = kept.bag(api(scheme, V1)), kept.bag(api(scheme, V1), stale=True)
    assert (found.first, found.size) == ("Ada", ABSENT)
    assert (stale.first, stale.size) == (ABSENT, "big")


def test_nested_storage_objects_have_bags_of_their_own(scheme):
    kept = stored(scheme, V1, first="Ada", n={"x": "1", "deep": {"a": "2"}})
    for each in (kept, scheme.decode(scheme.encode(kept))):
        found = each.n.bag(api(scheme, V1, "Item"))
        assert (found.x, found.deep.a) == ("1", "2")
        found.deep.a = "changed"
        assert each.n.bag(api(scheme, V1, "Item")).deep.a == "2"


def test_an_object_of_an_earlier_storage_shape_is_rolled_forward(scheme):
    document = {"apiVersion": V1, "kind": "Thing", "$writtenWith": V1, "first": "Ada", "size": "x"}
    kept = scheme.decode(json.dumps(document).encode())
    assert kept.bag(api(scheme, V2)).given == "Ada"


def test_a_class_that_the_object_is_not_kept_for_is_an_error(scheme):
    kept = stored(scheme, V1, n={"x": "1"}, first="")
    with pytest.raises(ConversionError, match="nothing converts"):
        kept.n.bag(api(scheme, V1))


def test_an_entry_that_cannot_be_read_is_an_error(scheme):
    kept = Store(scheme).put(V1, first="Ada").stored
    kept["$propertyBag"]["given"][V2]["value"] = 5
    with pytest.raises(BagError, match="'given' of version 2021-01-01"):
        scheme.decode(json.dumps(kept).encode()).bag(api(scheme, V2))
