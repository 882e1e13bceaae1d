import json

import pytest
from evolving import Store, evolve, thing

from trundle.runtime import DocumentError

VERSIONS = {
    "v1": {
        "Thing": {"n": "number", "i": "integer", "in": "In", "many": "{[In]}", "null": "any"},
        "In": {"n": "number", "i": "integer", "in": "In", "old": "number"},
    },
    "v2": {
        "Thing": {"n": "number", "i": "integer", "in": "In", "many": "{[In]}", "null": "any"},
        "In": {"n": "number", "i": "integer", "in": "In"},
    },
}
INFINITE = float("inf")


@pytest.fixture(scope="module")
def scheme():
    return evolve(VERSIONS)


def read(scheme):
    inner = {"n": 1.5, "i": 1, "in": {"n": 2}}
    document = thing("v1", n=0, i=2, many={"a": [inner, inner]}, **{"in": inner, "null": None})
    return scheme.decode(json.dumps(document).encode())


def deepest(value):
    value.many["a"][1].in_.n = INFINITE


@pytest.mark.parametrize(
    ("spoil", "path"),
    [
        (lambda value: setattr(value, "n", INFINITE), r"\$\.n"),
        (lambda value: setattr(value.in_.in_, "n", INFINITE), r"\$\.in\.in\.n"),
        (deepest, r"\$\.many\.a\[1\]\.in\.n"),
    ],
)
def test_a_number_that_is_not_finite_is_found_wherever_it_is(scheme, spoil, path):
    value = read(scheme)
    assert b'"null":null' in scheme.encode(value)
    spoil(value)
    with pytest.raises(DocumentError, match=f"got `inf` - at {path}$"):
        scheme.encode(value)


def test_a_number_in_the_bag_of_a_nested_object_is_looked_at(scheme):
    value = read(scheme)
    value.in_.old = INFINITE
    kept = scheme.to_storage(value)
    with pytest.raises(DocumentError, match=r"at \$\.in\.\$propertyBag\.old\.v1\.value$"):
        scheme.encode(kept)


@pytest.mark.parametrize(("one", "other"), [(0.0, -0.0), (1, 1.0), (-0.0, 0), (0.1, 0.10000001)])
def test_numbers_that_are_equal_and_written_differently_are_an_edit(scheme, one, other):
    store = Store(scheme).put("v1", n=one, **{"in": {"n": one, "old": one}})
    store.edit("v1", n=other, **{"in": {"n": other, "old": other}})
    found = store.read("v1")
    marked = [found["n"], found["in"]["n"], found["in"]["old"]]
    assert list(map(repr, marked)) == [repr(other)] * 3
