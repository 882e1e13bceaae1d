"""Traces of documents that are written by hand, so that no conversion of ours is asked what is right."""

import copy

import pytest
from report_schemas import crm, thing, v
from report_schemas import schema as schema_of

from trundle.evolution import Evolution, Shape, TypeChanges
from trundle.report import Leg, trace, trace_data, trace_text

OLD, NEW, LAST = v("2013-03-03"), v("2014-04-04"), v("2019-09-09")
STORED = {
    "apiVersion": "2019-09-09",
    "kind": "Person",
    "id": "a",
    "familyName": "Duck",
    "knownAs": "Donald",
    "legalName": "Donald Duck",
    "$writtenWith": "2013-03-03",
    "$propertyBag": {"middleName": {"2013-03-03": {"value": "F", "beside": "digest"}}},
}
SEEN = {
    "apiVersion": "2013-03-03",
    "kind": "Person",
    "id": "a",
    "firstName": "Donald",
    "middleName": "F",
    "lastName": "Duck",
}


def unasked(_document):
    raise AssertionError("nothing is to be converted")


def root(evolution=None):
    return (evolution or crm()).resources[0].root


def by_path(found):
    return {each.path: each for each in found.values}


def leg(source, target, before, after, *, repeat=unasked, base=None, evolution=None):
    return Leg(root(evolution), source, target, before, after, repeat, base)


def reading(repeat):
    return leg(Shape("storage", LAST), Shape("api", OLD), STORED, SEEN, repeat=repeat)


def noticing(document):
    """A conversion that reads the entry, which it cannot when another value stands there."""
    value = document["$propertyBag"]["middleName"]["2013-03-03"]["value"]
    return {**SEEN, "middleName": value}


def test_an_entry_that_counts_is_named_with_its_version():
    value = by_path(trace("Person", [reading(noticing)]))["$.middleName"]
    assert value.cause == "property bag"
    assert value.sources == ('$["$propertyBag"].middleName["2013-03-03"].value',)
    assert value.how == ("taken from `middleName` in the shape of 2013-03-03",)


def test_a_stale_entry_gives_nothing_and_is_listed():
    before = copy.deepcopy(STORED)
    found = trace("Person", [reading(lambda _document: SEEN)])
    value = by_path(found)["$.middleName"]
    assert value.cause == "hook"
    assert value.sources == ("$.familyName", "$.knownAs", "$.legalName")
    assert "crm_hooks:Names.assign_from" in value.how[0]
    (left,) = found.left
    assert left.path == '$["$propertyBag"].middleName["2013-03-03"].value'
    assert "stale" in left.reason
    assert before == STORED


def test_a_rename_and_what_no_step_gives():
    before = {"apiVersion": "2014-04-04", "kind": "Person", "id": "a", "alphaKey": "k", "odd": 1}
    after = {"apiVersion": "2019-09-09", "kind": "Person", "id": "a", "sortKey": "k", "other": 2}
    found = by_path(
        trace("Person", [leg(Shape("api", NEW), Shape("storage", LAST), before, after)])
    )
    assert (found["$.sortKey"].cause, found["$.sortKey"].sources) == ("renamed", ("$.alphaKey",))
    assert found["$.id"].cause == "copied"
    assert found["$.other"].cause == "not in a plan"


def test_a_default_is_one_only_where_nothing_else_gives_the_value():
    before = {"id": "a", "mailingAddress": {"city": "x"}}
    after = {"id": "a", "mailingAddress": {"city": "x", "country": ""}}
    found = by_path(
        trace("Person", [leg(Shape("storage", LAST), Shape("api", LAST), before, after)])
    )
    assert found["$.mailingAddress.country"].cause == "default"
    assert found["$.mailingAddress.city"].cause == "copied"


def test_two_legs_are_one_way():
    first = {"apiVersion": "2014-04-04", "kind": "Person", "id": "a", "alphaKey": "k"}
    held = {"apiVersion": "2019-09-09", "kind": "Person", "id": "a", "sortKey": "k"}
    last = {"apiVersion": "2015-05-05", "kind": "Person", "id": "a", "sortKey": "k"}
    hub = Shape("storage", LAST)
    legs = [
        leg(Shape("api", NEW), hub, first, held),
        leg(hub, Shape("api", v("2015-05-05")), held, last),
    ]
    found = trace("Person", legs)
    assert by_path(found)["$.sortKey"].sources == ("$.alphaKey",)
    assert by_path(found)["$.sortKey"].cause == "renamed"
    assert found.left == ()
    assert "api 2014-04-04, then storage 2019-09-09, then api 2015-05-05" in trace_text(found)
    assert trace_data(found)["values"][0]["path"] == "$.apiVersion"


def test_stored_and_written_values_are_distinguished():
    evolution = Evolution(
        (
            schema_of("2014-04-04", thing("Person", id="string", age="string?")),
            schema_of("2015-05-05", thing("Person", id="string", level="string?")),
        )
    )
    before = {"apiVersion": "2014-04-04", "kind": "Person", "id": "new"}
    base = {"apiVersion": "2015-05-05", "kind": "Person", "id": "old", "level": "high"}
    after = {**base, "id": "new"}
    written = {"apiVersion": "2015-05-05", "kind": "Person", "id": "new"}
    one = leg(
        Shape("api", NEW),
        Shape("storage", v("2015-05-05")),
        before,
        after,
        repeat=lambda _document: written,
        base=base,
        evolution=evolution,
    )
    found = by_path(trace("Person", [one]))
    assert (found["$.level"].cause, found["$.level"].sources) == ("stored before", ())
    assert (found["$.id"].cause, found["$.id"].sources) == ("copied", ("$.id",))


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (
            TypeChanges(version=NEW, type="Person", values={"tier": {"basic": "free"}}),
            "mapped value",
        ),
        (TypeChanges(version=NEW, type="Person", wrap={"tier": "tiers"}), "converted"),
        (TypeChanges(version=NEW, type="Person", move={"tier": "plan.tier"}), "moved"),
    ],
)
def test_rules_are_named(change, cause):
    shapes = {
        "mapped value": ({"tier": "string?"}, (), {"tier": "free"}),
        "converted": ({"tiers": "string[]?"}, (), {"tiers": ["basic"]}),
        "moved": ({"plan": "Plan?"}, (thing("Plan", tier="string?"),), {"plan": {"tier": "basic"}}),
    }
    properties, others, after = shapes[cause]
    evolution = Evolution(
        (
            schema_of("2014-04-04", thing("Person", tier="string?")),
            schema_of("2015-05-05", thing("Person", **properties), *others),
        ),
        (change,),
    )
    one = leg(
        Shape("api", NEW),
        Shape("storage", v("2015-05-05")),
        {"tier": "basic"},
        after,
        evolution=evolution,
    )
    (value,) = trace("Person", [one]).values
    assert (value.cause, value.sources) == (cause, ("$.tier",))
