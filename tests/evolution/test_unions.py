import msgspec
import pytest
from evolving import parse_schema, parse_type

from trundle.evolution._unions import settle
from trundle.schema import EnumType, Scalar

DEFINITIONS = {
    "Circle": {"kind!": "CircleKind", "size": "integer"},
    "Square": {"kind!": "SquareKind", "size": "integer"},
    "Blob": {"size": "integer"},
    "Shouting": {"kind!": "ShoutingKind"},
    "CircleKind": ["circle"],
    "SquareKind": ["square"],
    "ShoutingKind": ["CIRCLE"],
    "Colour": ["red", "green"],
    "Level": [1, 2],
}


def settled(type_):
    return alone({"Thing": {"a": type_}, **DEFINITIONS})


def alone(definitions):
    (schema,) = settle([parse_schema("v1", definitions)])
    return schema


def type_of(type_):
    return settled(type_).object("Thing").property("a").type


@pytest.mark.parametrize(
    "type_",
    [
        "integer|string",
        "[string]|string",
        "Blob|string",
        "boolean|number|string",
        "Circle|Square",
        "Circle|Square|string",
    ],
)
def test_variants_of_different_json_kinds_are_distinguished_by_these(type_):
    assert type_of(type_) == parse_type(type_)


@pytest.mark.parametrize(
    ("type_", "becomes"),
    [
        ("string|string", "string"),
        ("Colour|string", "string"),
        ("integer|number", "number"),
        ("Level|integer", "integer"),
        ("integer|number|string", "number|string"),
        ("string?|integer", "(integer|string)?"),
    ],
)
def test_variants_of_one_kind_become_the_widest(type_, becomes):
    assert type_of(type_) == parse_type(becomes)


@pytest.mark.parametrize(
    "type_",
    [
        "any|string",
        "[string]|[integer]",
        "Blob|Circle",
        "Blob|{string}",
        "Circle|Shouting",
        "any?|string",
    ],
)
def test_what_cannot_be_distinguished_is_free_form(type_):
    assert type_of(type_) == parse_type("any")


def test_the_constant_that_distinguishes_objects_becomes_their_tag():
    schema = settled("Circle|Square")
    assert {key: schema.object(key).tag for key in ("Circle", "Square", "Blob")} == {
        "Circle": "kind",
        "Square": "kind",
        "Blob": None,
    }


def test_an_object_alone_needs_no_tag():
    assert settled("Circle|string").object("Circle").tag is None


def test_unions_within_lists_maps_and_additional_properties_are_settled():
    assert type_of("[any|string]") == parse_type("[any]")
    assert type_of("{integer|number}") == parse_type("{number}")
    schema = alone({"Thing": {"*": "any|string"}})
    assert schema.object("Thing").additional == parse_type("any")


def test_objects_that_two_unions_would_tag_differently_keep_the_first_and_the_other_is_free_form():
    definitions = {
        "Thing": {"one": "A|B", "two": "B|C"},
        "A": {"first!": "A1"},
        "B": {"first!": "B1", "second!": "B2"},
        "C": {"second!": "C2"},
        "A1": ["a"],
        "B1": ["b"],
        "B2": ["b"],
        "C2": ["c"],
    }
    schema = alone(definitions)
    assert schema.object("B").tag == "first"
    assert schema.object("Thing").property("two").type == parse_type("any")


@pytest.mark.parametrize("other", ["integer", "Level", "Third"])
def test_an_enum_of_fractions_and_integers_becomes_a_number(other):
    plain = parse_schema("v1", {"Thing": {"a": f"Half|{other}"}, "Level": [1, 2]})
    fractions = {
        name: EnumType(name, named=True, kind="number", values=(value,))
        for name, value in (("Half", 0.5), ("Third", 0.3))
    }
    given = msgspec.structs.replace(plain, definitions={**plain.definitions, **fractions})
    (schema,) = settle([given])
    assert schema.object("Thing").property("a").type == Scalar("number")


def test_the_order_of_variants_is_that_of_their_names_whatever_the_schema_says():
    assert type_of("Square|Circle|string|integer") == parse_type("integer|Circle|Square|string")
    assert type_of("integer|string|Circle|Square") == type_of("Square|string|Circle|integer")


def tags_of(*versions):
    found = settle([parse_schema(f"v{n}", each) for n, each in enumerate(versions, start=1)])
    return [schema.object("A").tag for schema in found]


KINDS = {"A1": ["a"], "B1": ["b"], "Both": ["default"]}


def test_what_several_variants_share_is_no_tag():
    variants = {"A": {"all!": "Both", "kind!": "A1"}, "B": {"all!": "Both", "kind!": "B1"}}
    assert tags_of({"Thing": {"it": "A|B"}, **variants, **KINDS}) == ["kind"]


def test_a_tag_is_what_documents_must_have():
    variants = {"A": {"first": "A1", "kind!": "A1"}, "B": {"first": "B1", "kind!": "B1"}}
    assert tags_of({"Thing": {"it": "A|B"}, **variants, **KINDS}) == ["kind"]


def test_all_versions_choose_the_same_tag_where_they_can():
    one = {"A": {"first!": "A1", "kind!": "A1"}, "B": {"first!": "B1", "kind!": "B1"}}
    other = {"A": {"first!": "string", "kind!": "A1"}, "B": {"first!": "string", "kind!": "B1"}}
    old, new = ({"Thing": {"it": "A|B"}, **each, **KINDS} for each in (one, other))
    assert tags_of(old) == ["first"]
    assert tags_of(old, new) == ["kind", "kind"]
    assert tags_of(new, old) == ["kind", "kind"]
