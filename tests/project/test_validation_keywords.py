"""Notes about validation keywords and defaults."""

import pytest

KEYWORD = "keyword"


def notes(project, properties, **more):
    body = "".join(f", {key}: {value}" for key, value in more.items())
    project.schema("2011-01-01", f"{{{properties}}}{body}" if body else f"{{{properties}}}")
    return project.findings(KEYWORD)


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ("{type: string, patern: x}", "has `patern`, which is no validation keyword; did you mean"),
        ("{type: string, minLenght: 1}", "has `minLenght`, which is no validation keyword"),
        ("{type: string, pattern: '(['}", 'has "([" as pattern, where a regular expression'),
        ("{type: string, pattern: '*a'}", 'has "*a" as pattern'),
        ("{type: string, pattern: 5}", "has 5 as pattern"),
        ("{type: string, maxLength: '5'}", 'has "5" as maxLength, where a whole number'),
        ("{type: string, minLength: -1}", "has -1 as minLength"),
        ("{type: string, maxLength: 1.5}", "has 1.5 as maxLength"),
        ("{type: integer, minimum: low}", 'has "low" as minimum, where a number'),
        ("{type: array, items: {type: string}, uniqueItems: 1}", "has 1 as uniqueItems"),
        ("{type: array, items: {type: string, patern: x}}", "has `patern`"),
        ("{type: integer, minimum: 10, maximum: 5}", "has a minimum of 10 above its maximum of 5"),
        ("{type: string, default: 5}", "has the default 5, which its type does not admit"),
        ("{type: integer, default: 1.5}", "has the default 1.5"),
        ("{type: boolean, default: 'true'}", 'has the default "true"'),
        ("{enum: [a, b], default: c}", 'has the default "c"'),
        ("{type: array, items: {type: string}, default: [a, 1]}", 'has the default ["a", 1]'),
        ("{type: object, properties: {a: {type: integer}}, default: {a: x}}", "has the default"),
        (
            "{type: object, additionalProperties: {type: integer}, default: {a: x}}",
            "has the default",
        ),
    ],
)
def test_what_cannot_be_meant_is_a_note(project, schema, said):
    (found,) = notes(project, f"a: {schema}")
    assert f"Person.a in 2011-01-01 {said}" in found


RULES = "{{type: string, x-kubernetes-validations: [{}]}}"


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("{rule: 'self ==='}", "has a rule in CEL that `trundle serve` cannot read: self === ("),
        (
            "{rule: 'self.nonsense()'}",
            "reference to 'nonsense' (in container '')); correct it; the server does not hold objects",
        ),
        ("{rule: 'true', messageExpression: 'oops('}", "cannot read: true ("),
        ("{rule: 5}", 'has {"rule": 5} as x-kubernetes-validations, where an object with a `rule`'),
        ("true", "has true as x-kubernetes-validations"),
        ("{rule: 'true', messageExpression: 5}", "has 5 as messageExpression, where a text"),
    ],
)
def test_a_rule_that_cannot_be_read_is_a_note(project, rule, said):
    """Clients are warned of it at each write; its author is not among them."""
    (found,) = notes(project, f"a: {RULES.format(rule)}")
    assert "Person.a in 2011-01-01 has" in found
    assert said in found


def test_rules_that_are_no_list_are_a_note(project):
    (found,) = notes(project, "a: {type: string, x-kubernetes-validations: {rule: self == 'x'}}")
    assert (
        'has {"rule": "self == \'x\'"} as x-kubernetes-validations, where a list of rules' in found
    )


def test_a_rule_of_an_object_that_cannot_be_read_is_a_note(project):
    rules = "x-kubernetes-validations: [{rule: self.a.x ==}]"
    project.schema("2011-01-01", f"{{a: {{type: string}}}}\n{rules}")
    (found,) = project.findings(KEYWORD)
    assert "Person in 2011-01-01 has a rule in CEL" in found


@pytest.mark.parametrize(
    "schema",
    [
        RULES.format("{rule: self.startsWith('a') || oldSelf == 'b'}"),
        RULES.format("{rule: oldSelf.hasValue(), optionalOldSelf: true}, {rule: isQuantity(self)}"),
        r"{type: string, pattern: '^[\p{L}]+$', minLength: 1, format: uuid, default: ''}",
        "{type: string, pattern: '(?<year>[0-9]+)'}",
        "{type: string, maxLength: 5.0, x-patern: 1, owner: me, kinds: many}",
        "{type: [string, 'null'], default: null}",
        "{type: number, default: 1, minimum: 0, maximum: 0, exclusiveMaximum: true}",
        "{type: integer, default: 2.0}",
        "{anyOf: [{type: string}, {type: integer}], default: 5}",
        "{default: {any: thing}}",
        "{type: object, properties: {a: {type: integer}}, default: {}}",
        "{type: object, required: [a], properties: {a: {type: integer}}, default: {b: 1}}",
    ],
)
def test_what_may_be_meant_is_none(project, schema):
    assert notes(project, f"a: {schema}") == []


def test_one_note_for_all_versions_that_say_the_same(project):
    for version in ("2011-01-01", "2012-02-02", "2013-03-03"):
        project.schema(version, "{a: {type: string, patern: x}}")
    (found,) = project.findings(KEYWORD)
    assert "Person.a in 3 versions from 2011-01-01 has `patern`" in found
