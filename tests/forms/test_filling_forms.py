"""Answers become an object model: defaults, types, rules, and the functions of forms."""

import time

import pytest
from amounts import full
from asked_forms import answered, counted, form_with

from trundle.engine import Engine
from trundle.forms import FormError, fill, form_of, parameters_of
from trundle.packages import Package

HOST = "com.example.Host"
NODE = "Templates:\n  node: {'?': {type: a.Node}, name: !yaql \"generateHostname($.main.p, $index)\"}\n"


def value(field, *given, version="2.4"):
    """What a form with one field makes of a value."""
    form = form_with(f"{{name: f, {field}}}", version=version)
    return answered(form, **({"f": given[0]} if given else {})).answers["main"]["f"]


def refusal(field, *given):
    with pytest.raises(FormError) as caught:
        value(field, *given)
    (finding,) = caught.value.findings
    assert finding.place.path == "$.main.f"
    return finding


@pytest.mark.parametrize(
    ("field", "given", "kept"),
    [
        ("type: string", "x", "x"),
        ("type: text", "a\nb", "a\nb"),
        ("type: integer", 7, 7),
        ("type: integer", 7.0, 7),
        ("type: boolean", True, True),
        ("type: password", "Secret-1", "Secret-1"),
        ("type: choice, choices: [[a, A], [1, One]]", 1, 1),
        ("type: choice, choices: {a: A}", "a", "a"),
        ("type: clusterip", "10.0.0.1", "10.0.0.1"),
        ("type: databaselist", "a, _b$", ["a", "_b$"]),
        ("type: databaselist", ["a"], ["a"]),
        ("type: network", ["net", None], ["net", None]),
        ("type: flavor", "m1.small", "m1.small"),
        ("type: image", "ubuntu", "ubuntu"),
        ("type: keypair", "mine", "mine"),
        ("type: azone", "nova", "nova"),
        ("type: zone", "example.org", "example.org"),
        ("type: securitygroup", "web", "web"),
        ("type: volume", "v1", "v1"),
        ("type: floatingip", True, True),
        ("type: domain", "id1", "id1"),
        (f"type: {HOST}", "id1", "id1"),
        (f"type: [{HOST}, com.example.Other]", "id1", "id1"),
    ],
)
def test_each_type_keeps_its_values(field, given, kept):
    found = value(field, given)
    assert found == kept
    assert type(found) is type(kept)


@pytest.mark.parametrize(
    ("field", "empty"),
    [
        ("type: string", ""),
        ("type: integer", None),
        ("type: boolean", False),
        ("type: password", ""),
        ("type: choice, choices: []", ""),
        ("type: databaselist", []),
        ("type: network", [None, None]),
        ("type: image", ""),
        (f"type: {HOST}", None),
    ],
)
def test_what_has_no_value_is_empty(field, empty):
    assert value(f"required: false, {field}") == empty
    assert value(f"required: false, {field}", None) == empty
    assert value(f"required: false, {field}", "") == empty


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("type: string", 5),
        ("type: integer", "5"),
        ("type: integer", True),
        ("type: integer", 5.5),
        ("type: integer, minValue: 3", 2),
        ("type: integer, maxValue: 3", 4),
        ("type: string, minLength: 3", "ab"),
        ("type: string, maxLength: 3", "abcd"),
        ("type: boolean", "yes"),
        ("type: choice, choices: [[1, One]]", True),
        ("type: choice, choices: [[a, A]]", "A"),
        ("type: clusterip", "10.0.0"),
        ("type: clusterip", "::1"),
        ("type: databaselist", "a, 1b"),
        ("type: network", "net"),
        ("type: network, allow_auto: false", [None, None]),
        ("type: string, regexpValidator: '^a$'", "b"),
        ("type: string, regexpValidator: '/^a$/'", "A"),
        ('type: string, validators: [{expr: !yaql "$ = a", message: no}]', "b"),
        ("type: password", "secretsecret"),
        ("type: image", ["x"]),
    ],
)
def test_other_values_are_refused(field, given):
    assert refusal(field, given).code == "wrong-answer"


def test_a_required_field_has_a_value():
    field = "type: string, errorMessages: {required: say it}"
    for given in ((), (None,), ("",)):
        finding = refusal(field, *given)
        assert (finding.code, finding.advice) == ("unanswered-field", "say it")
    assert value("type: string, initial: x") == "x"
    assert value("type: integer, initial: '5'") == 5


def test_messages_are_those_of_the_form():
    patterned = (
        "type: string, regexpValidator: '/^[a-c]+$/i', errorMessages: {invalid: only a to c}"
    )
    assert value(patterned, "ABC") == "ABC"
    assert refusal(patterned, "x").advice == "only a to c"
    field = "type: string, validators: [{expr: {regexpValidator: '^a'}, message: begin with a}]"
    assert refusal(field, "b").advice == "begin with a"


def test_a_password_is_never_shown():
    finding = refusal("type: password", "hunter2hunter2")
    assert "hunter2" not in str(finding)


def test_a_pattern_that_takes_long_ends():
    start = time.perf_counter()
    finding = refusal("type: string, regexpValidator: '^(a+)+$'", "a" * 60 + "!")
    assert finding.code in ("form-limit", "wrong-answer")
    assert time.perf_counter() - start < 60


def test_all_wrong_answers_are_listed():
    form = form_with("{name: a, type: integer}", "{name: b, type: string}")
    with pytest.raises(FormError) as caught:
        fill(form, {"main": {"a": "x", "c": 1}, "mian": {}, "oth": 3}, counted(), where="v.yaml")
    assert [each.place.path for each in caught.value.findings] == [
        "$.main.c",
        "$.mian",
        "$.oth",
        "$.main.a",
        "$.main.b",
    ]


def test_a_step_is_checked_as_a_whole():
    text = """\
Version: 2.1
Application: {'?': {type: a.App}, sum: !yaql "$.main.a + $.main.b"}
Forms:
  - main:
      fields: [{name: a, type: integer}, {name: b, type: integer}]
      validators:
        - {expr: $.main.a < $.main.b, message: a is less}
"""
    form = form_of(text, "ui.yaml")
    assert answered(form, a=1, b=2).model["sum"] == 3
    with pytest.raises(FormError) as caught:
        answered(form, a=2, b=1)
    (finding,) = caught.value.findings
    assert (finding.place.path, finding.advice) == ("$.main", "a is less")


def test_attributes_follow_from_earlier_answers():
    form = form_with(
        "{name: a, type: integer}",
        "{name: b, type: integer, initial: $.main.a * 2, maxValue: $.main.a * 3}",
    )
    assert answered(form, a=2).answers["main"]["b"] == 4
    with pytest.raises(FormError):
        answered(form, a=2, b=7)


def test_what_follows_from_a_wrong_answer_is_not_said():
    form = form_with("{name: a, type: integer}", "{name: b, type: integer, initial: $.main.a * 2}")
    with pytest.raises(FormError) as caught:
        answered(form, a="x")
    assert [each.place.path for each in caught.value.findings] == ["$.main.a"]


def test_templates_are_computed_at_each_use():
    application = '  nodes: !yaql "repeat($node, $.main.n)"\n  one: $node\n'
    form = form_with(
        "{name: n, type: integer}",
        "{name: p, type: string, required: false}",
        extra=NODE,
        application=application,
    )
    model = answered(form, n=3, p="web-#").model
    assert [each["name"] for each in model["nodes"]] == ["web-1", "web-2", "web-3"]
    names = [each["name"] for each in answered(form, n=3).model["nodes"]]
    assert len(set(names)) == 3
    ids = [each["?"]["id"] for each in (model, *model["nodes"], model["one"])]
    assert len(set(ids)) == 5


def test_a_reference_is_the_object_once_and_its_id_afterwards():
    application = "".join(
        f"  {name}: {code}\n"
        for name, code in {
            "a": "ref(node)",
            "b": "ref(node)",
            "c": "ref(node, other)",
            "d": "ref(node, other, false)",
            "e": "ref(node, idOnly => true)",
            "f": "ref(missing)",
        }.items()
    )
    form = form_with(version="2.4", extra=NODE, application=application)
    model = fill(form, {}, counted()).model
    assert model["b"] == model["e"] == model["a"]["?"]["id"]
    assert model["d"] == model["c"]
    assert model["c"]["?"]["id"] != model["b"]
    assert model["f"] is None


@pytest.mark.parametrize(
    ("call", "made"),
    [
        ("generateHostname('a#', n => 3)", "a3"),
        ("generateHostname(pattern => 'a#', number => 3)", "a3"),
        ("repeat(template => $node, n => 1).select($.name)", ["x1"]),
        ("repeat($node, times => 1).select($.name)", ["x1"]),
        ("ref(node, parameter => other, idOnly => true)", "id-1"),
        ("ref(templateName => node, parameterName => other, idOnly => true)", "id-1"),
    ],
)
def test_functions_take_their_arguments_by_name_also_by_those_of_published_forms(call, made):
    form = form_with(
        "{name: p, type: string, initial: 'x#'}", extra=NODE, application=f'  a: !yaql "{call}"\n'
    )
    assert answered(form).model["a"] == made


@pytest.mark.parametrize(
    "call",
    [
        "ref(node, idOlny => true)",
        "generateHostname('a#', m => 1)",
        "generateHostname('a#', n => 1, number => 2)",
    ],
)
def test_functions_refuse_other_names(call):
    form = form_with(extra=NODE, application=f'  a: !yaql "{call}"\n')
    with pytest.raises(FormError, match="does not take such arguments"):
        answered(form)


def test_a_rule_of_a_field_may_use_the_answers_before_it():
    form = form_with(
        "{name: a, type: integer}",
        "{name: b, type: integer, validators: [{expr: $ > $forms.main.a, message: more}]}",
    )
    assert answered(form, a=1, b=2).answers["main"] == {"a": 1, "b": 2}
    with pytest.raises(FormError, match="more"):
        answered(form, a=2, b=2)


def test_parameters_may_use_those_that_a_method_gives():
    form = form_with(
        version="2.4", extra="Parameters: {x: 1, y: $x + $z}\n", application="  a: [$x, $y, $z]\n"
    )
    assert answered(form, {"x": 2, "z": 3}).model["a"] == [2, 5, 3]


def test_the_name_of_the_application_is_asked_from_2_2_on():
    application = '  title: !yaql "name()"\n'
    form = form_with(version="2.2", application=application)
    assert fill(form, {}, counted()).model["?"]["name"] == "App"
    model = fill(form, {"workflowManagement": {"application_name": "my-shop"}}, counted()).model
    assert (model["?"]["name"], model["title"]) == ("my-shop", "my-shop")
    with pytest.raises(FormError):
        fill(form, {"workflowManagement": {"application_name": "my shop"}}, counted())
    assert "name" not in fill(form_with(version="2.1"), {}, counted()).model["?"]


def test_parameters_are_computed_once():
    form = form_with(
        "{name: s, type: choice, choices: $sizes, initial: $first}",
        version="2.4",
        extra="Parameters: {first: s, sizes: [[s, Small]], x: !yaql \"generateHostname('', 1)\"}\n",
        application="  a: $x\n  b: $x\n",
    )
    found = answered(form)
    assert found.answers["main"]["s"] == "s"
    assert found.model["a"] == found.model["b"]
    assert answered(form, {"sizes": [["l", "Large"]]}, s="l").answers["main"]["s"] == "l"


@pytest.mark.parametrize(
    "extra",
    [
        "Templates: {a: $b, b: $a}\n",
        "Templates: {a: [$b, $b], b: [$c, $c], c: [$a]}\n",
        'Templates: {a: !yaql "repeat(1, 10001)"}\n',
        full('Templates: {a: !yaql "repeat($b, 9000)", b: !yaql "repeat(1, 9000)"}\n'),
        'Templates: {a: !yaql "nothing(1)"}\n',
    ],
)
def test_what_does_not_end_is_an_error(extra):
    form = form_with(version="2.1", extra=extra, application="  x: $a\n")
    with pytest.raises(FormError):
        fill(form, {}, counted())


FILES = {
    "manifest.yaml": """\
Format: 1.4
FullName: com.example.Shop
Version: 1.2.0
Name: Shop
Type: Application
Classes: {com.example.Shop: Shop.yaml, com.example.Node: Node.yaml}
UI: ui.yaml
""",
    "Classes/Shop.yaml": """\
Namespaces: {=: com.example, std: io.murano}
Name: Shop
Extends: std:Application
Properties:
  nodes: {Contract: [$.class(Node).notNull()]}
  first: {Contract: $.class(Node).notNull()}
  size: {Contract: $.string()}
Methods:
  sizes:
    Usage: Static
    Scope: Public
    Body:
      Return: {sizes: [[s, Small], [l, Large]]}
""",
    "Classes/Node.yaml": """\
Namespaces: {=: com.example}
Name: Node
Properties:
  name: {Contract: $.string().notNull()}
""",
    "UI/ui.yaml": """\
Version: 2.4
ParametersSource: sizes
Templates:
  node:
    ?: {type: com.example.Node}
    name: generateHostname($.main.pattern, $index)
  one:
    ?: {type: com.example.Node}
    name: one
Application:
  ?: {type: com.example.Shop}
  first: ref(one)
  nodes: repeat($node, $.main.count).append(ref(one))
  size: $.main.size
Forms:
  - main:
      fields:
        - {name: count, type: integer, minValue: 1, maxValue: 9, initial: 2}
        - {name: pattern, type: string, initial: 'web-#'}
        - {name: size, type: choice, choices: $sizes, initial: s}
""",
}


def test_the_model_loads_in_the_engine():
    package = Package.from_files(FILES)
    form = form_of(FILES["UI/ui.yaml"], "UI/ui.yaml", package.name)
    with Engine([package]).session() as session:
        parameters = parameters_of(form, package, session)
    assert parameters == {"sizes": [["s", "Small"], ["l", "Large"]]}
    model = fill(form, {"main": {"size": "l"}}, counted(), parameters).model
    with Engine([package]).session() as session:
        shop = session.load(model)
        assert [each.get("name") for each in shop.get("nodes")] == ["web-1", "web-2", "one"]
        assert shop.get("first").id == shop.get("nodes")[2].id
        assert shop.get("size") == "l"


def test_keys_of_the_model_are_text_as_in_json():
    application = "  ports: {80: http, 1.5: half, true: yes, ~: nothing, a: {7: $.main}}\n"
    model = answered(form_with(version="2.4", application=application)).model
    assert model["ports"] == {
        "80": "http",
        "1.5": "half",
        "true": True,
        "null": "nothing",
        "a": {"7": {}},
    }


@pytest.mark.parametrize(
    ("value", "path", "found"),
    [
        ("now()", "$.v", "a datetime"),
        ('[1, {a: !yaql "timespan(days => 1)"}]', "$.v[1].a", "a timedelta"),
        ("regex(a)", "$.v", "a Pattern"),
        ("float('inf')", "$.v", "inf"),
        ("pow(10, 4300)", "$.v", "an integer of more than 4300 digits"),
        ('!yaql "{0 - pow(10, 4300) => 1}"', "$.v", "an integer of more than 4300 digits"),
    ],
)
def test_what_json_has_not_is_said_with_its_place_in_the_model(value, path, found):
    with pytest.raises(FormError) as caught:
        answered(form_with(version="2.4", application=f"  v: {value}\n"))
    (finding,) = caught.value.findings
    assert (finding.place.file, finding.place.path, finding.code) == ("ui.yaml", path, "form-model")
    assert found in finding.found


def test_keys_that_become_the_same_text_are_refused():
    with pytest.raises(FormError, match=r"\$\.v: expected each key once.* found '1' a second time"):
        answered(form_with(version="2.4", application="  v: {1: a, '1': b}\n"))
