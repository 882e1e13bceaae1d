"""Many documents: results, errors, what was lost, what was tolerated; and the protocol that schemes keep."""

import inspect
import json
import pickle

import pytest
from evolving import evolve, forget, hooked, rules, thing

from trundle.runtime import (
    WEBHOOK,
    AnyScheme,
    ConversionError,
    DocumentError,
    JoinedScheme,
    Lost,
    Scheme,
    UnknownVersionError,
)

VERSIONS = {
    "v1": {
        "Thing": {"a": "string", "old": "string", "many": "[In]", "size": "string", "free": "any"},
        "In": {"name": "string", "x": "string"},
    },
    "v2": {
        "Thing": {"a": "string", "new": "string", "many": "[In]", "size": "integer", "free": "any"},
        "In": {"name": "string", "y": "string"},
    },
}


@pytest.fixture(scope="module")
def scheme():
    made = evolve(VERSIONS)
    yield made
    forget(made)


def test_schemes_keep_the_protocol(scheme):
    assert isinstance(scheme, AnyScheme)
    contract = {
        name: inspect.signature(method)
        for name, method in inspect.getmembers(AnyScheme, inspect.isfunction)
        if not name.startswith("_")
    }
    assert {"read", "put", "convert", "convert_many"} <= set(contract)
    for class_ in (Scheme, JoinedScheme):
        assert {name: inspect.signature(getattr(class_, name)) for name in contract} == contract
        members = [*contract, "resources", "served", "unknown"]
        inherited = [name for name in members if getattr(class_, name) is getattr(AnyScheme, name)]
        assert not inherited  # those of the protocol do nothing


@pytest.mark.parametrize("name", ["resources", "served", "unknown"])
def test_what_a_scheme_says_of_itself_cannot_be_replaced(scheme, name):
    with pytest.raises(AttributeError):
        setattr(scheme, name, getattr(scheme, name))


@pytest.mark.parametrize("form", [dict, bytes, object])
def test_read_and_put_keep_the_form_of_what_they_are_given(scheme, form):
    def formed(document):
        data = json.dumps(document).encode()
        return {dict: document, bytes: data}.get(form) or scheme.decode(data)

    def plain(value):
        if isinstance(value, dict):
            return value
        return json.loads(value if isinstance(value, bytes) else scheme.encode(value))

    document = formed(thing("v1", a="x", old="o"))
    stored = scheme.put("v1", document)
    assert isinstance(stored, dict if form is dict else bytes if form is bytes else object)
    assert plain(stored)["$writtenWith"] == "v1"
    assert plain(scheme.read("v1", stored)) == thing("v1", a="x", old="o")
    assert type(scheme.read("v1", stored)) is type(document)
    edited = scheme.put("v2", formed(thing("v2", a="y", new="n")), stored)
    assert plain(scheme.read("v1", edited)) == thing("v1", a="y", old="o")
    assert plain(scheme.put("v1", scheme.read("v1", edited), edited)) == plain(edited)


def test_reading_what_is_not_stored_is_an_error(scheme):
    document = thing("v1", a="x")
    data = json.dumps(document).encode()
    for each in (document, data, scheme.decode(data)):
        with pytest.raises(ConversionError, match="expected a stored document"):
            scheme.read("v2", each)


def test_an_object_of_another_version_than_was_said_is_an_error(scheme):
    value = scheme.decode(json.dumps(thing("v1")).encode())
    with pytest.raises(UnknownVersionError, match="of version 'v1', but 'v2' was asked for"):
        scheme.put("v2", value)


def test_one_bad_document_blocks_no_other(scheme):
    documents = [
        thing("v1", a="x"),
        thing("v1", a=5),
        5,
        thing("v9"),
        b"{",
        object(),
        {"apiVersion": "v1", "kind": "Thing", 5: {1}},
        json.dumps(thing("v1", a="y")).encode(),
        scheme.decode(json.dumps(thing("v1", a="z")).encode()),
    ]
    outcomes = list(scheme.convert_many(documents, "v2"))
    errors = [None if each.error is None else type(each.error) for each in outcomes]
    assert errors == [
        None,
        DocumentError,
        DocumentError,
        UnknownVersionError,
        DocumentError,
        DocumentError,
        DocumentError,
        None,
        None,
    ]
    assert outcomes[0].unwrap() == thing("v2", a="x")
    assert json.loads(outcomes[-2].result) == thing("v2", a="y")
    assert outcomes[-1].result.a == "z"
    with pytest.raises(DocumentError):
        outcomes[1].unwrap()


def test_an_error_that_is_not_foreseen_is_the_document_s_alone(scheme):
    class Odd(dict):
        def items(self):
            raise KeyError("odd")

    outcomes = list(scheme.convert_many([Odd(thing("v1", a="x")), thing("v1", a="y")], "v2"))
    assert str(outcomes[0].error) == "unexpected KeyError: 'odd'"
    assert outcomes[1].result == thing("v2", a="y")


def test_outcomes_come_one_by_one(scheme):
    asked = []

    def documents():
        for name in "abc":
            asked.append(name)
            yield thing("v1", a=name)

    outcomes = scheme.convert_many(documents(), "v2")
    assert asked == []
    assert next(outcomes).result["a"] == "a"
    assert asked == ["a"]


def test_each_document_has_its_base(scheme):
    bases = [scheme.put("v2", thing("v2", new=name)) for name in "ab"]
    outcomes = scheme.convert_many([thing("v1", a="x"), thing("v1", a="y")], "v2", bases)
    assert [each.result for each in outcomes] == [
        thing("v2", a="x", new="a"),
        thing("v2", a="y", new="b"),
    ]
    with pytest.raises(ValueError, match="shorter"):
        list(scheme.convert_many([thing("v1"), thing("v1")], None, bases[:1]))


def test_what_was_tolerated_stands_in_the_outcome_and_goes_to_the_callers_report(scheme):
    asked = []
    lenience = type(WEBHOOK)(unknown="keep", nulls=True, report=asked.append)
    good, bad = scheme.convert_many(
        [thing("v1", a=None, zzz=1), thing("v1", a=5, zzz=1)], "v2", lenience=lenience
    )
    assert [each.path for each in good.tolerated] == ["$.a", "$.zzz"]
    assert bad.tolerated == ()
    assert isinstance(bad.error, DocumentError)
    assert asked == [*good.tolerated]


def test_what_cannot_be_read_back_is_lost(scheme):
    document = thing(
        "v1",
        a="x",
        old="o",
        size="big",
        free={"f": [1.50, None]},
        many=[{"name": "m", "x": "1"}, {"name": "n"}],
    )
    outcome = scheme.attempt(document, "v2", losses=True)
    assert outcome.lost == (
        Lost("$.many[0].x", "1"),
        Lost("$.old", "o"),
        Lost("$.size", "big"),
    )
    assert str(outcome.lost[1]) == 'lost: "o" - at $.old'
    assert scheme.attempt(document, "v2").lost == ()
    assert scheme.attempt(document, losses=True).lost == ()
    assert scheme.attempt(document, "v1", losses=True).lost == ()


def test_of_a_stored_document_that_is_lost_which_the_version_cannot_show(scheme):
    stored = scheme.put("v2", thing("v2", a="x", new="n"))
    stored = scheme.put("v1", thing("v1", a="x", old="o"), stored)
    assert scheme.attempt(stored, "v1", losses=True).lost == (Lost("$.new", "n"),)
    assert scheme.attempt(stored, "v2", losses=True).lost == (
        Lost('$["$propertyBag"]', {"old": {"v1": {"value": "o"}}}),
    )


def test_nothing_is_lost_that_a_base_keeps(scheme):
    base = scheme.put("v1", thing("v1", old="o"))
    assert scheme.attempt(thing("v1", old="p"), "v2", base, losses=True).lost == ()


def test_a_value_that_comes_back_otherwise_is_changed():
    made = evolve(
        {"v1": {"Thing": {"t": "string"}}, "v2": {"Thing": {"t": "integer"}}},
        rules("v1", convert={"t": "string-to-integer"}),
    )
    assert made.attempt(thing("v1", t="5"), "v2", losses=True).lost == ()
    assert made.attempt(thing("v1", t="soon"), "v2", losses=True).lost == (Lost("$.t", "soon"),)
    forget(made)


def test_a_way_back_that_fails_is_said():
    class Failing:
        def assign_to(self, source):
            return {"new": source.old}

        def assign_from(self, source):
            raise ValueError("no way back")

    made = evolve(
        {"v1": {"Thing": {"old": "string"}}, "v2": {"Thing": {"new": "string"}}},
        hooked("v1", "v2", Failing, to=(("old",), ("new",)), back=(("new",), ("old",))),
    )
    outcome = made.attempt(thing("v1", old="x"), "v2", losses=True)
    assert outcome.result == thing("v2", new="x")
    assert [each.path for each in outcome.lost] == ["$"]
    assert "no way back" in outcome.lost[0].value
    forget(made)


def test_outcomes_go_from_process_to_process(scheme):
    broken = scheme.put("v1", thing("v1", old="o"))
    broken["$propertyBag"]["old"]["v1"]["value"] = 5
    outcomes = [
        *scheme.convert_many(
            [thing("v1", a="x", old="o"), thing("v1", a=5), thing("v9"), broken], "v1"
        ),
        scheme.attempt(thing("v1", old="o", zzz=1), "v2", losses=True, lenience=WEBHOOK),
    ]
    assert [type(each.error).__name__ for each in outcomes[1:4]] == [
        "DocumentError",
        "UnknownVersionError",
        "BagError",
    ]
    for outcome in outcomes:
        copied = pickle.loads(pickle.dumps(outcome))
        assert (copied.result, copied.lost, copied.tolerated) == (
            outcome.result,
            outcome.lost,
            outcome.tolerated,
        )
        assert type(copied.error) is type(outcome.error)
        assert str(copied.error) == str(outcome.error)
    assert pickle.loads(pickle.dumps(outcomes[1])).error.findings == outcomes[1].error.findings
