import pytest
from evolving import parse_schema, parse_type, rules
from lineages import place, root
from msgspec.structs import replace

from trundle.evolution import Evolution, default_of
from trundle.evolution._defaults import zero_value
from trundle.schema import ABSENT, Property


def default(declared, *changes):
    lineage = root({"v1": {"Thing": declared, "In": {}, "Colour": ["red"]}})
    return default_of(lineage, place("a@v1"), *(changes or (None,)))


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        ("string", ""),
        ("integer", 0),
        ("number", 0),
        ("boolean", False),
        ("[string]", []),
        ("{string}", {}),
        ("any", {}),
        ("string?", None),
        ("Colour", ABSENT),
        ("In", {}),
        ("string|integer", ABSENT),
    ],
)
def test_a_required_property_shows_the_zero_value_of_its_type(type_, expected):
    assert default({"a!": type_}) == expected


def test_an_optional_property_stays_absent_whatever_its_schema_says():
    assert default({"a": "string"}) is ABSENT
    assert default({"a": ("string", "x")}) is ABSENT


def test_the_configured_default_beats_the_schemas_and_that_the_zero_value():
    configured = rules("v1", default={"a": "configured"})
    assert default({"a!": ("string", "schema")}, configured) == "configured"
    assert default({"a!": ("string", "schema")}) == "schema"
    assert default({"a!": ("string", "schema")}, rules("v1", default={"b": 1})) == "schema"


def test_a_configured_default_may_be_null_or_false():
    assert default({"a!": "string?"}, rules("v1", default={"a": None})) is None
    assert default({"a!": ("boolean", True)}, rules("v1", default={"a": False})) is False


@pytest.mark.parametrize(
    ("type_", "limits", "expected"),
    [
        ("string", {"minLength": 1}, ABSENT),
        ("string", {"minLength": 0, "maxLength": 5}, ""),
        ("string", {"pattern": "a+"}, ABSENT),
        ("string", {"enum": ["a"]}, ABSENT),
        ("integer", {"minimum": 1}, ABSENT),
        ("integer", {"maximum": -1}, ABSENT),
        ("integer", {"minimum": -1, "maximum": 1}, 0),
        ("number", {"exclusiveMinimum": 0}, ABSENT),
        ("[string]", {"minItems": 1}, ABSENT),
        ("{string}", {"minProperties": 1}, ABSENT),
        ("boolean", {"const": True}, ABSENT),
    ],
)
def test_a_zero_value_that_validation_refuses_is_no_default(type_, limits, expected):
    declared = Property("a", parse_type(type_), True, constraints=tuple(limits.items()))
    assert zero_value(declared) == expected


def test_text_of_a_format_has_no_zero_value():
    from trundle.schema import Scalar

    assert zero_value(Property("a", Scalar("string", "date-time"), True)) is ABSENT


NESTED = {
    "Inner": {"count!": "integer", "note": "string", "tags!": "[string]"},
    "Outer": {"inner!": "Inner", "level!": ("integer", 3)},
    "Coloured": {"colour!": "Colour"},
    "Chain": {"next!": "Chain"},
    "Ring": {"links!": "[Ring]", "next": "Ring"},
    "Mixed": {"ring!": "Ring", "coloured!": "Coloured"},
    "Colour": ["red"],
}


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        ("Inner", {"count": 0, "tags": []}),
        ("Outer", {"inner": {"count": 0, "tags": []}, "level": 3}),
        ("Coloured", ABSENT),
        ("Chain", ABSENT),
        ("Ring", {"links": []}),
        ("Mixed", ABSENT),
    ],
)
def test_an_object_has_its_required_properties_at_theirs(type_, expected):
    lineage = root({"v1": {"Thing": {"a!": type_}, **NESTED}})
    assert default_of(lineage, place("a@v1"), None) == expected


def test_a_configured_default_of_a_member_counts():
    configured = rules("v1", "Coloured", default={"colour": "red"})
    lineage = root({"v1": {"Thing": {"a!": "Coloured"}, **NESTED}}, configured)
    assert default_of(lineage, place("a@v1"), None) == {"colour": "red"}


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"minProperties": 2}, {"count": 0, "tags": []}),
        ({"minProperties": 3}, ABSENT),
        ({"oneOf": [{"required": ["note"]}]}, ABSENT),
        ({"maxProperties": 5}, {"count": 0, "tags": []}),
    ],
)
@pytest.mark.parametrize("of_property", [True, False])
def test_an_object_that_validation_refuses_is_no_default(limits, expected, of_property):
    schema = parse_schema("v1", {"Thing": {"a!": "Inner"}, **NESTED})
    key = "Thing" if of_property else "Inner"
    found = schema.object(key)
    limits = tuple(limits.items())
    if of_property:
        (declared,) = found.properties
        found = replace(found, properties=(replace(declared, constraints=limits),))
    else:
        found = replace(found, constraints=limits)
    made = Evolution((replace(schema, definitions={**schema.definitions, key: found}),))
    assert default_of(made.resources[0].root, place("a@v1"), None) == expected
