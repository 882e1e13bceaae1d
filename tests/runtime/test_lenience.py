"""What is tolerated about documents, what becomes of it, and that it is reported."""

import json

import pytest
from evolving import evolve, forget, thing

from trundle.runtime import STRICT, WEBHOOK, DocumentError, Lenience

VERSIONS = {
    "v1": {
        "Thing": {
            "a!": "string",
            "n": ("integer", 3),
            "maybe": "string?",
            "kept": ("string?", "k"),
            "in!": "In",
            "more": ("In", {"x": "d"}),
            "many": "[In]",
            "by": "{In}",
            "texts": "{string}",
            "list": "[string]",
            "free": "any",
        },
        "In": {"x!": "string", "y": ("integer", 7)},
        "Open": {"*": "any"},
    },
    "v2": {
        "Thing": {"a!": "string", "n": "integer", "in": "In", "many": "[In]", "b": "integer"},
        "In": {"x!": "string", "y": "integer"},
    },
}


FILLS = Lenience(defaults=True)


@pytest.fixture(scope="module")
def scheme():
    made = evolve(VERSIONS)
    yield made
    forget(made)


def read(scheme, document, **lenience):
    """A document as it is read, and what was tolerated, as a pair of path and what was done."""
    noted = []
    lenient = Lenience(report=noted.append, **lenience)
    value = scheme.decode(json.dumps(document).encode(), lenience=lenient)
    assert scheme.convert(document, "v1", lenience=lenient) == json.loads(scheme.encode(value))
    assert noted[: len(noted) // 2] == noted[len(noted) // 2 :]
    return (
        json.loads(scheme.encode(value)),
        [(each.path, each.done) for each in noted[: len(noted) // 2]],
    )


def test_nothing_is_tolerated_unless_it_is_asked_for(scheme):
    wrong = thing("v1", n=None, zzz=1)
    expected = (
        "not a valid Thing v1:\n"
        "  Expected `int`, got `null` - at $.n\n"
        "  Expected a known property, got `zzz` - at $.zzz\n"
        "  Expected the required property `a`, got nothing - at $.a\n"
        "  Expected the required property `in`, got nothing - at $.in"
    )
    for lenience in (None, STRICT):
        for convert in (scheme.convert, scheme.to_storage):
            with pytest.raises(DocumentError) as raised:
                convert(wrong, lenience=lenience)
            assert str(raised.value) == expected


def test_partial_objects_stay_partial(scheme):
    found, noted = read(scheme, thing("v1", many=[{}]), missing=True)
    assert found == thing("v1", many=[{}])
    assert noted == [
        ("$.many[0].x", "left absent"),
        ("$.a", "left absent"),
        ("$.in", "left absent"),
    ]
    with pytest.raises(DocumentError, match="known property"):
        read(scheme, thing("v1", zzz=1), missing=True)


def test_null_is_dropped_where_it_cannot_be_and_kept_where_it_can(scheme):
    document = thing(
        "v1",
        a="x",
        maybe=None,
        n=None,
        by={"p": None, "q": {"x": "1", "y": None}},
        texts={"t": None, "u": "v"},
        free={"f": None},
        **{"in": {"x": "1"}},
    )
    found, noted = read(scheme, document, nulls=True)
    assert found == thing(
        "v1",
        a="x",
        maybe=None,
        by={"q": {"x": "1"}},
        texts={"u": "v"},
        free={"f": None},
        **{"in": {"x": "1"}},
    )
    assert noted == [
        ("$.n", "dropped"),
        ("$.by.p", "dropped"),
        ("$.by.q.y", "dropped"),
        ("$.texts.t", "dropped"),
    ]


def test_a_required_null_is_missing_once_it_is_dropped(scheme):
    document = thing("v1", a=None, **{"in": {"x": "1"}})
    with pytest.raises(DocumentError, match="the required property `a`, got nothing"):
        scheme.convert(document, lenience=Lenience(nulls=True))
    found, noted = read(scheme, document, nulls=True, missing=True)
    assert found == thing("v1", **{"in": {"x": "1"}})
    assert noted == [("$.a", "dropped"), ("$.a", "left absent")]


def test_a_null_element_of_a_list_stays_an_error(scheme):
    document = thing("v1", a="x", list=["a", None], **{"in": {"x": "1"}})
    with pytest.raises(DocumentError, match=r"Expected `str`, got `null` - at \$\.list\[1\]"):
        scheme.convert(document, lenience=WEBHOOK)


def test_defaults_are_filled_in_where_their_parent_is(scheme):
    document = thing("v1", a="x", many=[{"x": "1"}, {"x": "2", "y": 0}], **{"in": {"x": "1"}})
    found, noted = read(scheme, document, defaults=True)
    assert found == thing(
        "v1",
        a="x",
        n=3,
        kept="k",
        many=[{"x": "1", "y": 7}, {"x": "2", "y": 0}],
        more={"x": "d", "y": 7},
        **{"in": {"x": "1", "y": 7}},
    )
    assert sorted(noted) == [
        ("$.in.y", "filled in"),
        ("$.kept", "filled in"),
        ("$.many[0].y", "filled in"),
        ("$.more", "filled in"),
        ("$.more.y", "filled in"),
        ("$.n", "filled in"),
    ]
    assert read(scheme, found, defaults=True) == (found, [])


def kept_and_put(scheme, stored, version, change, lenience=FILLS):
    """What a client of a version changes in what it read, as the store keeps it by each of its ways."""
    seen = json.loads(scheme.read(version, stored))
    data = json.dumps(change(seen) or seen).encode()
    found = scheme.encode(scheme.to_storage(json.loads(data), stored, lenience=lenience))
    assert scheme.put(None, data, stored, lenience=lenience) == found
    storing = scheme.storing({"Thing": "v2"})
    assert storing.encode(storing.to_storage(data, stored, lenience=lenience)) == found
    return found


@pytest.mark.parametrize("unknown", [False, True], ids=["all known", "with what v1 does not know"])
def test_what_both_a_writer_and_what_it_was_shown_lack_gets_no_default(scheme, unknown):
    document = thing("v2", a="x", many=[{"x": "1"}, {"x": "2"}], **{"in": {"x": "1"}})
    if unknown:
        document["in"]["zzz"] = 1
    stored = scheme.encode(scheme.to_storage(document, lenience=Lenience(unknown="keep")))
    every = Lenience(defaults=True, unknown="keep")
    assert kept_and_put(scheme, stored, "v1", lambda seen: None, every) == stored
    changed = kept_and_put(scheme, stored, "v1", lambda seen: seen.update(a="y"), every)
    assert json.loads(changed) == {**json.loads(stored), "a": "y", "$writtenWith": "v1"}


def test_what_a_writer_was_shown_and_leaves_out_gets_its_default(scheme):
    document = thing("v1", a="x", n=4, kept="z", many=[{"x": "1", "y": 8}, {"x": "2"}])
    document["in"] = {"x": "1", "y": 8}
    stored = scheme.encode(scheme.to_storage(document))

    def change(seen):
        del seen["n"], seen["in"]["y"], seen["many"][0]["y"]
        seen["more"] = {"x": "new"}

    found = json.loads(scheme.read("v1", kept_and_put(scheme, stored, "v1", change)))
    assert (found["n"], found["in"], found["more"]) == (3, {"x": "1", "y": 7}, {"x": "new", "y": 7})
    assert found["many"] == [{"x": "1", "y": 7}, {"x": "2"}]
    longer = kept_and_put(scheme, stored, "v1", lambda seen: seen["many"].insert(0, {"x": "0"}))
    assert json.loads(scheme.read("v1", longer))["many"] == [
        {"x": "0", "y": 7},
        {"x": "1", "y": 8},
        {"x": "2"},
    ]


def test_null_becomes_the_default_where_it_cannot_be(scheme):
    document = thing("v1", a="x", n=None, kept=None, more={"y": 1}, **{"in": {"x": "1", "y": 1}})
    found, noted = read(scheme, document, nulls=True, defaults=True, missing=True)
    assert found == {**document, "n": 3}
    assert noted == [("$.n", "dropped"), ("$.more.x", "left absent"), ("$.n", "filled in")]


def test_defaults_of_a_caller_s_object_are_its_own(scheme):
    value = scheme.decode(json.dumps(thing("v1", a="x", **{"in": {"x": "1"}})).encode())
    kept = scheme.encode(value)
    scheme.convert(value, "v2", lenience=Lenience(defaults=True))
    assert scheme.encode(value) == kept


def test_unknown_properties_are_kept_through_a_store_or_pruned(scheme):
    document = thing("v1", a="x", zzz=[1], **{"in": {"x": "1", "b": {"c": None}}})
    found, noted = read(scheme, document, unknown="keep")
    assert found == document
    assert noted == [("$.in.b", "kept"), ("$.zzz", "kept")]
    stored = scheme.put(None, document, lenience=Lenience(unknown="keep"))
    assert scheme.read("v1", stored) == document

    found, noted = read(scheme, document, unknown="prune")
    assert found == thing("v1", a="x", **{"in": {"x": "1"}})
    assert noted == [("$.in.b", "dropped"), ("$.zzz", "dropped")]


def test_what_the_base_shows_is_kept_even_where_unknown_properties_are_pruned(scheme):
    document = thing("v1", a="x", zzz=[1], **{"in": {"x": "1", "b": 2}})
    stored = scheme.put("v1", document, lenience=Lenience(unknown="keep"))
    pruning = Lenience(unknown="prune")
    assert scheme.put("v1", scheme.read("v1", stored), stored, lenience=pruning) == stored
    edited = scheme.put("v1", {**document, "a": "y", "new": 1}, stored, lenience=pruning)
    assert scheme.read("v1", edited) == {**document, "a": "y"}


def test_what_a_schema_preserves_is_not_unknown():
    made = evolve({"v1": {"Thing": {"a": "string", "*": "any"}}, "v2": {"Thing": {"*": "any"}}})
    noted = []
    document = thing("v1", a="x", zzz=None)
    pruning = Lenience(unknown="prune", nulls=True, report=noted.append)
    assert made.convert(document, "v2", lenience=pruning) == {**document, "apiVersion": "v2"}
    assert noted == []
    forget(made)


def test_a_finding_says_what_was_expected_what_was_found_and_what_was_done(scheme):
    noted = []
    scheme.convert(
        thing("v1", a="x", n=None, nn=1, **{"in": {"x": "1"}}),
        "v2",
        lenience=Lenience(nulls=True, unknown="keep", report=noted.append),
    )
    assert list(map(str, noted)) == [
        "dropped: expected `int`, found `null` - at $.n",
        "kept: expected a known property, found `nn` - at $.nn",
    ]


def test_a_straight_way_tolerates_and_reports_the_same(scheme):
    data = json.dumps(thing("v1", a="x", free={"x": 1.5}, nn=1, **{"in": {"x": "1"}})).encode()
    for _ in range(2):
        noted = []
        keeping = Lenience(unknown="keep", report=noted.append)
        found = json.loads(scheme.convert_json(data, "v2", lenience=keeping))
        assert found == thing("v2", a="x", nn=1, **{"in": {"x": "1"}})
        assert [each.path for each in noted] == ["$.nn"]


def test_what_is_stored_is_taken_as_it_is(scheme):
    stored = {**thing("v2", zzz=1), "$writtenWith": "v2"}
    noted = []
    assert scheme.convert(
        stored, "v1", lenience=Lenience(report=noted.append, unknown="prune")
    ) == thing("v1", a="", zzz=1, **{"in": {"x": ""}})
    assert [(each.path, each.done) for each in noted] == [("$.zzz", "kept")]


def test_with_unknown_kept_by_configuration_missing_properties_are_still_errors():
    made = evolve(VERSIONS)
    made.__init__(made.package, tuple(made.resources.values()), served=made.served, unknown="keep")
    assert made.convert(thing("v1", a="x", zzz=1, **{"in": {"x": "1"}}), "v1")["zzz"] == 1
    with pytest.raises(DocumentError, match="the required property `a`"):
        made.convert(thing("v1", **{"in": {"x": "1"}}), "v1")
    forget(made)
