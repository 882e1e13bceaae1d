"""Dictionaries come to what their JSON comes to, to the last detail, without a detour over text."""

import enum
import json
import re

import pytest
from amounts import amount
from evolving import evolve, forget, thing
from hypothesis import given, settings
from hypothesis import strategies as st

from trundle.runtime import ConversionError, Lenience
from trundle.runtime._plain import from_plain
from trundle.verify import examples

VERSIONS = {
    "v1": {
        "Thing": {
            "a!": "string",
            "n": "integer",
            "f": "number",
            "b": "boolean",
            "in": "In",
            "many": "[In]",
            "by": "{In}",
            "deep": "[{[In]}]",
            "texts": "[string]",
            "numbers": "{number}",
            "either": "string|integer|[string]",
            "shape": "Circle|Square",
            "maybe": "In?",
            "free": "any",
            "frees": "[any]",
            "old": "any",
        },
        "In": {"x": "string", "y": "number", "self": "In", "z": "any"},
        "Circle": {"kind!": "C", "r": "number"},
        "Square": {"kind!": "S", "side": "[integer]"},
        "C": ["circle"],
        "S": ["square"],
    },
    "v2": {
        "Thing": {
            "a!": "string",
            "f": "integer",
            "in": "In",
            "many": "[In]",
            "new": "[string]",
            "free": "In",
            "old": "[In]",
            "more": "Open",
        },
        "In": {"x": "integer", "w": "string"},
        "Open": {"p": "string", "*": "any"},
    },
}


@pytest.fixture(scope="module")
def scheme():
    made = evolve(VERSIONS)
    yield made
    forget(made)


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(10**30), 10**30)
    | st.floats()
    | st.sampled_from(["", "x", "5", "circle", "é", "\U0001f600", "\ud800", "$unknown", 1e16, -0.0])
    | st.text(max_size=3)
)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["x", "y", "z", "$unknown", "é"]), inner, max_size=3)
        | st.tuples(inner)
    ),
    max_leaves=5,
)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(0, 10**25)
inner = st.deferred(
    lambda: st.fixed_dictionaries(
        {}, optional={"x": st.text(max_size=3), "y": numbers, "self": inner, "z": anything}
    )
)
shapes = st.fixed_dictionaries(
    {"kind": st.just("circle")}, optional={"r": numbers}
) | st.fixed_dictionaries(
    {"kind": st.sampled_from(["square", "Square"])},
    optional={"side": st.lists(st.integers(), max_size=2)},
)
right = {
    "n": st.integers(),
    "f": numbers,
    "b": st.booleans(),
    "in": inner,
    "many": st.lists(inner, max_size=3),
    "by": st.dictionaries(st.text(max_size=2), inner, max_size=2),
    "deep": st.lists(
        st.dictionaries(st.just("k"), st.lists(inner, max_size=2), max_size=1), max_size=2
    ),
    "texts": st.lists(st.text(max_size=2), max_size=2),
    "numbers": st.dictionaries(st.text(max_size=2), numbers, max_size=2),
    "either": st.text(max_size=2) | st.integers() | st.lists(st.just("x"), max_size=1),
    "shape": shapes,
    "maybe": st.none() | inner,
    "free": anything,
    "frees": st.lists(anything, max_size=2),
    "old": anything,
}
documents = st.builds(
    lambda members, odd: {**thing("v1", a="x"), **members, **odd},
    st.fixed_dictionaries({}, optional=right),
    st.dictionaries(
        st.sampled_from([*right, "a", "zzz", "$unknown", "$additional", "$propertyBag", "kind"]),
        anything,
        max_size=1,
    )
    | st.just({}),
)


def attempted(convert):
    try:
        return convert(), None
    except (ConversionError, ValueError) as error:
        return None, (type(error), str(error))


def exactly(value):
    """A value with all that equality overlooks: types, the sign of zero, the order of members."""
    return repr(value)


def over_json(scheme, document, to, base=None, **options):
    text = json.dumps(document, allow_nan=False, separators=(",", ":")).encode()
    under = None if base is None else json.dumps(base, separators=(",", ":")).encode()
    return json.loads(scheme.convert_json(text, to, under, strict=True, **options))


def is_json(document):
    try:
        json.dumps(document, allow_nan=False)
    except ValueError:
        return False
    return True


@given(document=documents, to=st.sampled_from(["v1", "v2", None]), lenient=st.booleans())
@settings(examples, max_examples=amount(300))
def test_a_dictionary_comes_to_what_its_json_comes_to(scheme, document, to, lenient):
    options = {"lenience": Lenience(missing=True, nulls=True, unknown="keep")} if lenient else {}
    kept = repr(document)
    found, failed = attempted(lambda: scheme.convert(document, to, **options))
    assert repr(document) == kept
    if not is_json(document):
        assert failed is not None
        assert "Expected a finite number" in failed[1]
        return
    expected, expected_error = attempted(lambda: over_json(scheme, document, to, **options))
    assert failed == expected_error
    assert exactly(found) == exactly(expected)


@pytest.mark.full
@given(first=documents, second=documents)
@settings(examples, max_examples=amount(150))
def test_writing_over_a_dictionary_comes_to_the_same(scheme, first, second):
    stored, failed = attempted(lambda: scheme.convert(first))
    if failed is not None or not is_json(second):
        return
    seen = scheme.convert(stored, "v2")
    assert exactly(scheme.convert(seen, base=stored)) == exactly(stored)
    found = attempted(lambda: scheme.convert(second, base=stored))
    expected = attempted(lambda: over_json(scheme, second, None, stored))
    assert exactly(found) == exactly(expected)


def test_most_documents_make_no_detour(scheme):
    document = thing("v1", a="x", many=[{"y": 1.5, "z": {"f": None}}], maybe=None, free={"g": [1]})
    stored = scheme.convert(document)
    for each in (document, stored):
        class_ = type(scheme.decode(json.dumps(each).encode()))
        assert from_plain(each, class_) is not None


class Text(str):
    __slots__ = ()


class Named(enum.StrEnum):
    X = "x"


class Count(int):
    pass


@pytest.mark.parametrize(
    "members",
    [
        {"a": Text("x")},
        {"a": Named.X},
        {"n": Count(3)},
        {"texts": ("x", "y")},
        {"many": ({"x": "1"},)},
        {"by": {Named.X: {"x": "1"}}},
        {"numbers": {"1": 2}},
        {"in": {"z": {"1": (2, None)}}},
    ],
)
@pytest.mark.parametrize("to", ["v1", "v2", None])
def test_what_json_writes_is_taken_and_comes_out_plain(scheme, members, to):
    document = {**thing("v1", a="x"), **members}
    found = scheme.convert(document, to)
    assert exactly(found) == exactly(over_json(scheme, document, to))


@pytest.mark.parametrize(
    ("members", "found"),
    [
        ({"texts": {"x"}}, "plain JSON, got an object of the class `set` - at $.texts"),
        ({"many": frozenset()}, "plain JSON, got an object of the class `frozenset` - at $.many"),
        ({"a": b"x"}, "plain JSON, got an object of the class `bytes` - at $.a"),
        ({"free": {"x": {1}}}, "plain JSON, got an object of the class `set` - at $.free.x"),
        ({"f": float("nan")}, "a finite number, got `nan` - at $.f"),
        ({"numbers": {"x": float("inf")}}, "a finite number, got `inf` - at $.numbers.x"),
        ({"free": [float("nan")]}, "a finite number, got `nan` - at $.free[0]"),
        ({"numbers": {1: 2}}, "text as the name of each property, got `1` - at $.numbers"),
        ({"in": {"z": [{True: 1}]}}, "name of each property, got `True` - at $.in.z[0]"),
        ({"free": {None: 1}}, "text as the name of each property, got `None` - at $.free"),
        ({"by": {1.5: {}}}, "text as the name of each property, got `1.5` - at $.by"),
        ({2: 1}, "text as the name of each property, got `2` - at $"),
        ({"in": object()}, "plain JSON, got an object of the class `object` - at $.in"),
    ],
)
def test_what_json_does_not_have_is_refused(scheme, members, found):
    for to in ("v1", "v2", None):
        with pytest.raises(ConversionError, match=re.escape(found)):
            scheme.convert({**thing("v1", a="x"), **members}, to)
        (outcome,) = scheme.convert_many([{**thing("v1", a="x"), **members}], to)
        assert found in str(outcome.error)


def test_an_object_within_a_dictionary_is_refused(scheme):
    value = scheme.decode(json.dumps(thing("v1", a="x", **{"in": {"x": "1"}})).encode())
    nested = next(
        getattr(value, name)
        for name, encoded in zip(
            value.__struct_fields__, value.__struct_encode_fields__, strict=True
        )
        if encoded == "in"
    )
    with pytest.raises(ConversionError, match="Expected plain JSON"):
        scheme.convert({**thing("v1", a="x"), "in": nested}, "v1")


def test_a_result_shares_nothing_with_its_document(scheme):
    document = thing("v1", a="x", texts=["t"], free={"f": [1]}, many=[{"z": [1]}])
    found = scheme.convert(document, "v1")
    assert found == document
    found["texts"].append("u")
    found["free"]["f"].append(2)
    found["many"][0]["z"].append(2)
    assert document == thing("v1", a="x", texts=["t"], free={"f": [1]}, many=[{"z": [1]}])
