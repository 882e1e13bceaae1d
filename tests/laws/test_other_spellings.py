"""Clients that write JSON in their own way: what says the same is no edit, in any version."""

import json

import pytest
from evolving import evolve, forget, thing

from trundle import verify
from trundle.runtime import Lenience

V1, V2 = "2020-01-01", "2021-01-01"
LOOSE = {"known": "<é>", "bb": {"d": [1e22, 0], "c": None, "e": True}, "zz": 1.10}
MAP = {"a": "2", "b": "1"}


@pytest.fixture(scope="module", params=["generated for all", "with what it keeps apart"])
def scheme(request):
    properties = {"a": "string", "map": "{string}", "list": "[any]"}
    more = {"*": "any"} if request.param.startswith("with") else {}
    found = evolve(
        {
            V1: {
                "Thing": {**properties, "loose": "Open", **more},
                "Open": {"known": "string", "*": "any"},
            },
            V2: {"Thing": {**properties, "loose": "any", **more}},
        }
    )
    yield found
    forget(found)


@pytest.fixture
def stored(scheme):
    document = thing(V1, a="x", loose=LOOSE, map=MAP, list=[{"b": 1, "a": [2.50]}, "é"])
    text = json.dumps(document, separators=(",", ":")).replace("1.1", "1.10")
    return scheme.put(None, text.encode())


def sorted_by(value):
    return json.dumps(json.loads(value), sort_keys=True).encode()


SPELLINGS = {
    "spaces": lambda text: json.dumps(json.loads(text), indent=1).encode(),
    "letters": lambda text: json.dumps(json.loads(text), ensure_ascii=False).encode(),
    "order": sorted_by,
    "digits": lambda text: sorted_by(text).replace(b"1e+22", b"10000000000000000000000.0"),
}


@pytest.mark.parametrize("lenience", [None, Lenience(nulls=True, unknown="prune")])
@pytest.mark.parametrize("version", [V1, V2])
@pytest.mark.parametrize("spelt", SPELLINGS.values(), ids=SPELLINGS)
def test_what_says_the_same_changes_nothing(scheme, stored, version, spelt, lenience):
    document = spelt(scheme.read(version, stored))
    assert scheme.put(None, document, stored, lenience=lenience) == stored
    as_object = scheme.to_storage(scheme.decode(document), scheme.decode(stored))
    assert scheme.encode(as_object) == stored


@pytest.mark.parametrize("spelt", SPELLINGS.values(), ids=SPELLINGS)
def test_an_edit_beside_it_hides_nothing_from_other_versions(scheme, stored, spelt):
    seen = json.loads(scheme.read(V2, stored))
    document = spelt(json.dumps({**seen, "a": "y"}))
    found = scheme.put(None, document, stored)
    assert json.loads(scheme.read(V1, found)) == thing(
        V1, **{**json.loads(scheme.read(V1, stored)), "a": "y"}
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"zz":1.10', '"zz":1.11'),
        ('"e":true', '"e":1'),
        ('"c":null', '"c":0'),
        ("[1e+22,0]", "[0,1e+22]"),
        ("[1e+22,0]", "[1e+22,-0.0]"),
        ('"d":', '"dd":'),
    ],
)
def test_what_says_something_else_is_an_edit(scheme, stored, old, new):
    document = scheme.read(V2, stored)
    assert old.encode() in document
    changed = document.replace(old.encode(), new.encode())
    assert scheme.read(V2, scheme.put(None, changed, stored)) == changed


@pytest.mark.parametrize("version", [V1, V2])
@pytest.mark.parametrize("spelt", SPELLINGS.values(), ids=SPELLINGS)
def test_the_first_law_takes_another_spelling_for_the_same(scheme, stored, version, spelt):
    document = spelt(scheme.read(version, stored))
    verify.law1(scheme, scheme.decode(stored), scheme.decode(document))


def test_the_first_law_sees_another_value_in_free_form_data(scheme):
    stored = scheme.to_storage(scheme.decode(thing(V2, loose={"a": 1.5, "b": [0]})))

    class Wrong:
        def __getattr__(self, name):
            return getattr(scheme, name)

        def to_storage(self, document, base):
            return base

    for loose in ({"a": 1.25, "b": [0]}, {"a": 1.5, "b": [-0.0]}, {"a": 1.5, "b": []}):
        with pytest.raises(verify.LawBroken, match="what a client writes, it reads"):
            verify.law1(Wrong(), stored, scheme.decode(thing(V2, loose=loose)))


@pytest.mark.parametrize(("one", "other"), [("0", "-0"), ("-0", "0"), ("0.0", "-0.0")])
def test_a_zero_below_zero_is_another_value(scheme, one, other):
    text = json.dumps(thing(V2, loose="number"), separators=(",", ":"))
    first = text.replace('"number"', one).encode()
    stored = scheme.put(None, first)
    written = first.replace(f":{one}".encode(), f":{other}".encode())
    assert written != first
    assert scheme.read(V2, scheme.put(None, written, stored)) == written
