"""Forms are read with everything that is wrong with them, each with its line."""

import os
from pathlib import Path

import pytest
from asked_forms import counted

from trundle.forms import FieldType, FormError, FormVersion, converted, fill, form_of, read_form

APP = "Application: {'?': {type: a.App}}\n"


def found(text):
    return [
        (each.code, each.place.line, each.severity) for each in read_form(text, "ui.yaml").findings
    ]


@pytest.mark.parametrize(
    ("stated", "version"),
    [
        ("Version: 2", (2, 0)),
        ("Version: 2.0", (2, 0)),
        ("Version: '2.1'", (2, 1)),
        ("Version: 2.2", (2, 2)),
        ("Format: 2.3", (2, 3)),
        ("Version: 2.4.0", (2, 4)),
        ("Format: 2.4\nVersion: 2.4", (2, 4)),
        ("", (2, 4)),
    ],
)
def test_each_version_is_read(stated, version):
    reading = read_form(f"{stated}\n{APP}", "ui.yaml", "a.App")
    assert reading.findings == ()
    assert reading.form.version == FormVersion(*version)
    assert [each.name for each in reading.form.steps] == (
        ["workflowManagement"] if version >= (2, 2) else []
    )


@pytest.mark.parametrize(
    "stated",
    ["Version: 1.0", "Version: 2.5", "Version: 3", "Version: x", "Version: true", "Version: []"],
)
def test_other_versions_are_refused(stated):
    assert found(f"{APP}{stated}\n") == [("form-version", 2, "error")]


def test_two_versions_are_refused():
    assert found(f"{APP}Version: 2.3\nFormat: 2.4\n") == [("form-version", 3, "error")]


def test_all_that_is_wrong_is_found_at_once():
    text = """\
Version: 2.4
Applicatoin: {}
Templates: [x]
Forms:
  - main:
      fields:
        - {name: a, type: strin}
        - {name: b, type: integer, minValue: many}
        - {type: string}
        - {name: c, type: string, regexpValidator: '(', lable: C}
        - {name: c, type: string}
        - {name: d, type: string, validators: [{expr: 'text'}]}
  - [x]
  - main: {fields: []}
"""
    assert found(text) == [
        ("form-unknown-key", 2, "note"),
        ("form-structure", 7, "error"),
        ("form-attribute", 8, "error"),
        ("form-structure", 9, "error"),
        ("form-attribute", 10, "error"),
        ("form-unknown-key", 10, "note"),
        ("form-structure", 11, "error"),
        ("form-attribute", 12, "error"),
        ("form-structure", 13, "error"),
        ("form-structure", 14, "error"),
        ("form-structure", 1, "error"),
        ("form-structure", 3, "error"),
    ]


@pytest.mark.parametrize(
    ("version", "field", "is_early"),
    [
        ("2.0", "{name: n, type: network}", True),
        ("2.1", "{name: n, type: network}", False),
        ("2.2", "{name: n, type: password, confirmInput: false}", True),
        ("2.3", "{name: n, type: password, confirmInput: false}", False),
        ("2.3", "{name: n, type: choice, choices: {a: A}}", True),
        ("2.4", "{name: n, type: choice, choices: {a: A}}", False),
        ("2.0", "{name: n, type: choice, choices: [[a, A]]}", False),
    ],
)
def test_what_a_later_version_brought_is_a_warning_before(version, field, is_early):
    text = f"Version: {version}\n{APP}Forms: [{{main: {{fields: [{field}]}}}}]\n"
    assert found(text) == ([("form-version", 3, "warning")] if is_early else [])
    assert form_of(text, "ui.yaml").steps[0].fields[0].name == "n"


def test_parameters_came_with_2_4():
    text = f"Version: 2.3\n{APP}Parameters: {{a: 1}}\nParametersSource: m\n"
    assert found(text) == [("form-version", 3, "warning"), ("form-version", 4, "warning")]
    form = converted(text, "ui.yaml").form
    assert (str(form.version), list(form.parameters), form.parameters_source) == ("2.4", ["a"], "m")


@pytest.mark.parametrize(
    "text", ["", "- a", "a: [", "a: 1\n---\nb: 2", "x" * 2_000_000, "a: " + "[" * 5000]
)
def test_what_is_no_form_is_refused(text):
    reading = read_form(text, "ui.yaml")
    assert reading.form is None
    assert reading.findings


def test_every_type_is_read():
    for each in FieldType:
        type_ = "com.example.Host" if each is FieldType.OBJECT else each.value
        text = f"{APP}Forms: [{{main: {{fields: [{{name: n, type: {type_}}}]}}}}]\n"
        reading = read_form(text, "ui.yaml")
        assert reading.findings == ()
        assert reading.form.steps[0].fields[0].type is each


ATTRIBUTES = {
    "integer": ["minValue: 1", "maxValue: 2"],
    "string": [
        "label: l",
        "description: d",
        "descriptionTitle: t",
        "helpText: h",
        "initial: i",
        "required: false",
        "hidden: true",
        "errorMessages: {required: r, invalid: i}",
        "regexpValidator: '^a'",
        "regexpValidator: '/^a/i'",
        "validators: [{expr: $ != x, message: m}]",
        "validators: [{expr: {regexpValidator: '^a'}, message: m}]",
        "minLength: 1",
        "maxLength: 2",
    ],
    "text": ["minLength: 1", "maxLength: 2"],
    "password": ["confirmInput: false", "minLength: 8"],
    "choice": ["choices: [[a, A]]", "choices: {a: A}"],
    "network": [
        "include_subnets: true",
        "filter: f",
        "murano_networks: exclude",
        "murano_networks: translate",
        "allow_auto: false",
    ],
    "flavor": ["requirements: {min_vcpus: 1, max_disk: 2, min_memory_mb: 3}"],
    "image": ["imageType: linux"],
    "volume": ["include_volumes: true", "include_snapshots: false"],
}
"""The attributes that section 15 of the language's reference names, by the types of fields that have them."""


@pytest.mark.parametrize(
    ("type_", "attribute"), [(each, one) for each, some in ATTRIBUTES.items() for one in some]
)
def test_a_field_has_the_attributes_of_its_type(type_, attribute):
    field = f"{{name: n, type: {type_}, {attribute}}}"
    text = f"{APP}Forms: [{{main: {{region: main, fields: [{field}]}}}}]\n"
    assert found(text) == []
    if type_ not in ("string", "text", "password"):
        other = text.replace(f"type: {type_}", "type: boolean")
        assert [each[2] for each in found(other)] == ["note"]


def refusals(form):
    """What is wrong with no answers at all: every attribute and every rule is computed."""
    try:
        fill(form, {}, counted())
    except FormError as error:
        return {each.code for each in error.findings}
    return set()


PUBLISHED = os.environ.get("TRUNDLE_PUBLISHED_PACKAGES")
REFUSED = {}
"""The published forms that are refused, with the reason; there is none."""


@pytest.mark.skipif(not PUBLISHED, reason="TRUNDLE_PUBLISHED_PACKAGES names no folder")
def test_published_forms_are_read():
    files = sorted(Path(PUBLISHED).rglob("UI/*.yaml"))
    assert files
    refused = {}
    for file in files:
        name = file.relative_to(PUBLISHED).as_posix()
        reading = read_form(file.read_text("utf-8"), name, "com.example.App")
        if reading.form is None:
            refused[name] = {each.code for each in reading.findings}
            continue
        assert refusals(reading.form) <= {"unanswered-field"}, name
    assert refused == REFUSED


@pytest.mark.parametrize(
    "model",
    [
        "Application: {?: {type: a.App}}",
        "Application: {'?': {type: a.App}, db: {?: {type: a.Db}}}",
        "Application: {'?': {type: a.App}, db: $db}\nTemplates: {db: {?: {type: a.Db}, size: 1}}",
    ],
)
def test_a_header_in_braces_needs_quotes_and_the_advice_has_them(model):
    text = f"Version: 2.4\nForms: []\n{model}\n"
    (found,) = map(str, read_form(text, "ui.yaml", "a.App").findings)
    advice = "write the key; in a map in braces `?` needs quotes: `'?': ..`"
    assert found == f"ui.yaml:{len(text.splitlines())}: expected a key, found none; {advice}"
