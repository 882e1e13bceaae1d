import pytest
from evolving import parse_schema, parse_type

from trundle.evolution.conversions import (
    ByVariant,
    CallHook,
    ConvertObject,
    ConvertScalar,
    EachItem,
    EachValue,
    EnumText,
    MapValues,
    Narrow,
    NullFits,
    Same,
    Unwrap,
    Variant,
    Wrap,
    exact,
    lossless,
    relate,
)
from trundle.schema import FreeForm, Ref, Scalar

DEFINITIONS = {
    "Thing": {},
    "Place": {"street": "string"},
    "Other": {"street": "string"},
    "Colour": ["red", "green"],
    "Shade": ["dark", "light"],
    "Level": [1, 2],
    "Circle": {"kind!": "CircleKind"},
    "Square": {"kind!": "SquareKind"},
    "CircleKind": ["circle"],
    "SquareKind": ["square"],
}
SCHEMA = parse_schema("v1", DEFINITIONS)


def same_name(one, other):
    return one.name == other.name


def related(older, newer):
    return relate(parse_type(older), parse_type(newer), (SCHEMA, SCHEMA), same_name)


SAME = [
    ("string", "string"),
    ("integer", "integer"),
    ("any", "any"),
    ("[string]", "[string]"),
    ("[string]", "[string;name]"),
    ("{integer}", "{integer}"),
    ("string?", "string"),
    ("string", "string?"),
    ("Colour", "Colour"),
    ("Level", "integer"),
    ("string|integer", "integer|string"),
]
CHANGED = [
    ("string", "integer"),
    ("integer", "boolean"),
    ("string", "[string]"),
    ("[string]", "{string}"),
    ("[string]", "[integer]"),
    ("Place", "Other"),
    ("Place", "string"),
    ("Place", "{string}"),
    ("Colour", "Shade"),
    ("Colour", "integer"),
    ("Level", "string"),
    ("[Place]", "[Other]"),
    ("string|integer", "boolean"),
]
OTHERWISE = [
    ("integer", "number", Narrow(Scalar("integer"), Scalar("number")), (True, False)),
    ("number", "integer", Narrow(Scalar("number"), Scalar("integer")), (False, True)),
    ("string", "any", Narrow(Scalar("string"), FreeForm()), (True, False)),
    ("any", "Place", Narrow(FreeForm(), Ref("Place")), (False, True)),
    ("Colour", "string", EnumText(("red", "green"), None), (False, False)),
    ("string", "Colour", EnumText(None, ("red", "green")), (False, False)),
    ("Place", "Place", ConvertObject("Place", "Place"), (True, True)),
    ("[Place]", "[Place]", EachItem(ConvertObject("Place", "Place")), (True, True)),
    ("{Place}", "{Place}", EachValue(ConvertObject("Place", "Place")), (True, True)),
    ("[[Place]]", "[[Place]]", EachItem(EachItem(ConvertObject("Place", "Place"))), (True, True)),
    (
        "[integer]",
        "[number]",
        EachItem(Narrow(Scalar("integer"), Scalar("number"))),
        (True, False),
    ),
    (
        "[string]",
        "[string?]",
        EachItem(NullFits(Same(), older=False, newer=True)),
        (True, False),
    ),
    (
        "{string?}",
        "{string}",
        EachValue(NullFits(Same(), older=True, newer=False)),
        (False, True),
    ),
    (
        "string",
        "string|integer",
        ByVariant(
            (Scalar("string"),),
            (Scalar("string"), Scalar("integer")),
            (Variant(0, 0, Same()),),
        ),
        (True, False),
    ),
    (
        "Colour|boolean",
        "string|boolean",
        ByVariant(
            (Ref("Colour"), Scalar("boolean")),
            (Scalar("string"), Scalar("boolean")),
            (Variant(0, 0, EnumText(("red", "green"), None)), Variant(1, 1, Same())),
        ),
        (False, False),
    ),
    (
        "integer|string",
        "number|string",
        ByVariant(
            (Scalar("integer"), Scalar("string")),
            (Scalar("number"), Scalar("string")),
            (Variant(0, 0, Narrow(Scalar("integer"), Scalar("number"))), Variant(1, 1, Same())),
        ),
        (True, False),
    ),
    (
        "Circle|Square",
        "Circle",
        ByVariant(
            (Ref("Circle"), Ref("Square")),
            (Ref("Circle"),),
            (Variant(0, 0, ConvertObject("Circle", "Circle")),),
        ),
        (False, True),
    ),
    (
        "Circle|Square",
        "Square|Circle",
        ByVariant(
            (Ref("Circle"), Ref("Square")),
            (Ref("Square"), Ref("Circle")),
            (
                Variant(0, 1, ConvertObject("Circle", "Circle")),
                Variant(1, 0, ConvertObject("Square", "Square")),
            ),
        ),
        (True, True),
    ),
]


@pytest.mark.parametrize(("older", "newer"), SAME)
def test_the_value_itself_will_do(older, newer):
    assert related(older, newer) == Same()


@pytest.mark.parametrize(("older", "newer"), CHANGED)
def test_a_change_of_type_needs_a_rule_or_a_hook(older, newer):
    assert related(older, newer) is None
    assert related(newer, older) is None


@pytest.mark.parametrize(("older", "newer", "conversion", "exactness"), OTHERWISE)
def test_a_conversion_knows_which_way_it_is_exact(older, newer, conversion, exactness):
    found = related(older, newer)
    assert found == conversion
    assert (exact(found, up=True), exact(found, up=False)) == exactness
    assert lossless(found) is all(exactness)


@pytest.mark.parametrize(
    ("conversion", "exactness"),
    [
        (Same(), (True, True)),
        (Wrap(Same()), (True, False)),
        (Unwrap(Same()), (False, True)),
        (Wrap(Narrow(Scalar("number"), Scalar("integer"))), (False, False)),
        (MapValues((("a", "b"),)), (False, False)),
        (ConvertScalar("string-to-integer"), (False, False)),
        (CallHook("hooks:Hook", "convert_a_to_b", None), (False, False)),
    ],
)
def test_configured_changes_know_which_way_they_are_exact(conversion, exactness):
    assert (exact(conversion, up=True), exact(conversion, up=False)) == exactness


def test_types_that_were_renamed_meet_where_the_caller_says_so():
    found = relate(Ref("Place"), Ref("Other"), (SCHEMA, SCHEMA), lambda one, other: True)
    assert found == ConvertObject("Place", "Other")


def test_variants_meet_by_their_constants_whatever_their_names():
    older = parse_schema(
        "v1", {"Thing": {}, "A": {"kind!": "AKind"}, "AKind": ["Circle"], "B": {"kind!": "string"}}
    )
    union = parse_type("Circle|Square")
    found = relate(Ref("A"), union, (older, SCHEMA), same_name)
    assert found == ByVariant(
        (Ref("A"),), union.variants, (Variant(0, 0, ConvertObject("A", "Circle")),)
    )
    assert relate(Ref("B"), union, (older, SCHEMA), same_name) is None
