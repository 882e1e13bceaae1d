"""The JSON Schema of a form against the form itself: where both can say it, they say the same."""

import jsonschema
import pytest
from amounts import amount
from asked_forms import answered, counted, form_with
from hypothesis import given, settings
from hypothesis import strategies as st

from trundle.forms import FormError, fill, json_schema

TEXT = st.text(st.sampled_from("abcABZ019-_.# ä\n"), max_size=12)
SMALL = st.integers(-3, 12)
VALUE = st.one_of(
    st.none(),
    st.booleans(),
    SMALL,
    st.sampled_from([1.0, 1.5, 4.0]),
    TEXT,
    st.sampled_from(["Secret-1", "10.0.0.1", "10.0.0.256", "1.2.3.4.", "a1", "x", "1", "y z"]),
    st.lists(st.one_of(st.none(), TEXT, SMALL), max_size=3),
    st.just({}),
)
SAID_BY_BOTH = [
    "type: string",
    "type: text, minLength: 2, maxLength: 5",
    "type: string, regexpValidator: '^[a-c]+[0-9]?'",
    "type: string, validators: [{expr: {regexpValidator: '^a'}}, {expr: {regexpValidator: '[019]'}}]",
    "type: integer",
    "type: integer, minValue: 1, maxValue: 9",
    "type: boolean",
    "type: password",
    "type: password, minLength: 3, validators: [{expr: {regexpValidator: '^[a-z]'}}]",
    "type: choice, choices: [[x, X], [1, One], ['1', Text], [true, Yes]]",
    "type: choice, choices: []",
    "type: choice, choices: {x: X, y z: Y}",
    "type: clusterip",
    "type: network",
    "type: network, allow_auto: false",
    "type: image",
    "type: com.example.Host",
]
SAID_BY_THE_FORM = [
    "type: string, regexpValidator: '^\\w+$'",
    "type: string, regexpValidator: '/^[a-c]+$/i'",
    "type: string, validators: [{expr: $.len() > 2}]",
    "type: integer, maxValue: $.main.other",
    'type: choice, choices: !yaql "[[$.main.other, x]]"',
    "type: databaselist",
]
MORE = ["", "required: false, ", "initial: x, ", "required: false, initial: 5, "]


def verdicts(form, values):
    """What the schema says, and what the form says."""
    schema = json_schema(form)
    jsonschema.Draft202012Validator.check_schema(schema)
    by_schema = jsonschema.Draft202012Validator(schema).is_valid({"main": values})
    try:
        answered(form, **values)
    except FormError:
        return by_schema, False
    return by_schema, True


@pytest.mark.full
@pytest.mark.parametrize("more", MORE)
@pytest.mark.parametrize("field", SAID_BY_BOTH)
@settings(max_examples=amount(60), deadline=None)
@given(value=VALUE)
def test_schema_and_form_agree(field, more, value):
    form = (
        form_with(f"{{name: f, {more}{field}}}")
        if "{x" not in field
        else form_with(f"{{name: f, {more}{field}}}", version="2.4")
    )
    by_schema, by_form = verdicts(form, {"f": value})
    assert by_schema == by_form


@pytest.mark.parametrize("field", SAID_BY_BOTH)
def test_schema_and_form_agree_on_no_value(field):
    version = "2.4" if "{x" in field else "2.1"
    by_schema, by_form = verdicts(form_with(f"{{name: f, {field}}}", version=version), {})
    assert by_schema == by_form


@pytest.mark.full
@pytest.mark.parametrize("more", MORE)
@pytest.mark.parametrize("field", SAID_BY_THE_FORM)
@settings(max_examples=amount(40), deadline=None)
@given(value=VALUE)
def test_the_schema_refuses_nothing_that_the_form_takes(field, more, value):
    other = "{name: other, type: integer, required: false, initial: 3}"
    by_schema, by_form = verdicts(form_with(other, f"{{name: f, {more}{field}}}"), {"f": value})
    assert by_schema or not by_form


def test_what_a_page_shows():
    form = form_with(
        "{name: n, type: integer, label: Number, description: How many, helpText: 1 to 9, initial: 2, maxValue: 9}",
        "{name: s, type: choice, choices: [[a, Small]], hidden: true}",
        "{name: p, type: password, initial: 'Secret-1'}",
        version="2.4",
    )
    schema = json_schema(form)
    main = schema["properties"]["main"]
    assert main["required"] == ["s"]
    assert schema["required"] == ["main"]
    assert main["properties"] == {
        "n": {
            "title": "Number",
            "description": "How many\n1 to 9",
            "default": 2,
            "x-trundle-type": "integer",
            "type": "integer",
            "maximum": 9,
        },
        "s": {
            "title": "s",
            "x-trundle-type": "choice",
            "x-trundle-hidden": True,
            "oneOf": [{"const": "a", "title": "Small"}],
        },
        "p": main["properties"]["p"],
    }
    assert "default" not in main["properties"]["p"]
    assert (
        schema["properties"]["workflowManagement"]["properties"]["application_name"]["default"]
        == "App"
    )


def test_what_is_not_asked_is_refused_by_both():
    form = form_with("{name: f, type: string, required: false}")
    schema = jsonschema.Draft202012Validator(json_schema(form))
    for answers in ({"main": {"g": 1}}, {"other": {}}, {"main": []}):
        assert not schema.is_valid(answers)
        with pytest.raises(FormError):
            fill(form, answers, counted())


@pytest.mark.parametrize(
    ("pattern", "is_said"),
    [
        (r"^[a-z\-]{1,3}\.(?:b|c)$", True),
        (r"^(?=.*[0-9])(?!x).*$", True),
        # JavaScript, which reads patterns of schemas with its flag u, knows none of these
        (r"^a\-b$", False),
        ("^{x}$", False),
        ("^a{,3}$", False),
        ("^a]$", False),
        ("^[]a]$", False),
        ("^[^]a[b]$", False),
        ("^(?=x)?x$", False),
        (r"^\w+$", False),
        ("^(?P<n>a)$", False),
    ],
)
def test_the_schema_has_the_patterns_that_mean_the_same_in_javascript(pattern, is_said):
    schema = json_schema(form_with(f"{{name: f, type: string, regexpValidator: '{pattern}'}}"))
    assert schema["properties"]["main"]["properties"]["f"].get("pattern") == (
        pattern if is_said else None
    )
