import itertools

import pytest
from evolving import parse_schema, parse_type

from trundle.evolution._discriminating import discriminators
from trundle.evolution.conversions import ByVariant, relate
from trundle.schema import Ref, Scalar, Union

CONSTANTS = {
    "Auditing": ["auditing"],
    "Assessments": ["assessments"],
    "Default": ["default"],
    "Special": ["special"],
}
VARIANTS = {
    "E": {"name!": "Default", "type!": "Auditing"},
    "V": {"name!": "Default", "type!": "Assessments"},
}


def union(*names):
    return Union(tuple(map(Ref, names)))


def schema(version="v1", **variants):
    return parse_schema(version, {"Thing": {}, **variants, **CONSTANTS})


def same_name(one, other):
    return one.name == other.name


def met(older, newer, one, other, meets=same_name):
    """Which variants of two unions meet, by their keys; None where none do."""
    found = relate(one, other, (older, newer), meets)
    if found is None:
        return None
    assert isinstance(found, ByVariant)
    pairs = [(found.older[each.older], found.newer[each.newer]) for each in found.variants]
    return {(ours.key, theirs.key) for ours, theirs in pairs}


def test_a_constant_that_several_variants_share_discriminates_nothing():
    found = discriminators((*union("E", "V").variants, Scalar("string")), schema(**VARIANTS))
    assert found == ({"type": "auditing"}, {"type": "assessments"}, {})
    assert discriminators((Ref("E"),), schema(**VARIANTS)) == (
        {"name": "default", "type": "auditing"},
    )


@pytest.mark.parametrize("order", [*itertools.permutations(["E", "V"])])
def test_variants_that_share_a_constant_meet_by_the_others_whatever_their_order(order):
    found = met(schema(**VARIANTS), schema("v2", **VARIANTS), union("E", "V"), union(*order))
    assert found == {("E", "E"), ("V", "V")}


def test_one_object_meets_the_variant_that_its_constants_agree_with():
    for name in ("E", "V"):
        for order in (("E", "V"), ("V", "E")):
            found = met(schema(**VARIANTS), schema("v2", **VARIANTS), Ref(name), union(*order))
            assert found == {(name, name)}


def test_an_object_meets_no_variant_that_has_another_text():
    newer = schema("v2", E={"type!": "Special"}, V={"type!": "Assessments"})
    assert met(schema(**VARIANTS), newer, Ref("E"), union("E", "V")) is None


def test_all_discriminators_that_both_have_must_agree():
    audits, assesses = {"type!": "Auditing"}, {"type!": "Assessments"}
    default, special = {"name!": "Default"}, {"name!": "Special"}
    older = schema(E={**default, **audits}, V={**special, **assesses})
    newer = schema("v2", E={**special, **audits}, V={**default, **assesses})
    assert met(older, newer, union("E", "V"), union("E", "V")) is None


def test_a_constant_that_only_a_newer_version_has_is_no_contradiction():
    old = schema(E={"type!": "Auditing"}, V={"type!": "Assessments"})
    assert met(old, schema("v2", **VARIANTS), union("E", "V"), union("V", "E")) == {
        ("E", "E"),
        ("V", "V"),
    }


def test_variants_meet_by_name_where_nothing_discriminates():
    old = schema(E={"kind!": "Auditing"}, V={"kind!": "Assessments"})
    new = schema("v2", V={"type!": "Auditing"}, E={"type!": "Assessments"})
    assert met(old, new, union("E", "V"), union("V", "E")) == {("E", "E"), ("V", "V")}


@pytest.mark.parametrize("order", [*itertools.permutations(["P", "Q"])])
def test_of_several_that_may_meet_the_most_alike_do(order):
    """As for unnamed objects, which all have the name of their place."""
    old = schema(Y={"kind!": "Auditing"}, Z={"kind!": "Assessments"})
    new = schema("v2", P={"type!": "Assessments"}, Q={"type!": "Auditing"})

    def always(one, other):
        return True

    found = met(old, new, union("Y", "Z"), union(*order), always)
    assert found == {("Y", "Q"), ("Z", "P")}
    wide = schema("v1", Y={"side": "string"})
    shapes = schema("v2", P={"radius": "string"}, Q={"side": "string"})
    assert met(wide, shapes, Ref("Y"), union(*order), always) == {("Y", "Q")}


def test_letter_case_does_not_matter():
    older = parse_schema("v1", {"Thing": {}, "A": {"kind!": "K"}, "K": ["CIRCLE"]})
    newer = parse_schema("v2", {"Thing": {}, "B": {"kind!": "K"}, "K": ["circle"]})
    assert met(older, newer, Ref("A"), parse_type("B|string")) == {("A", "B")}
