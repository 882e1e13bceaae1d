"""What is found in packages before they are offered."""

import weakref

import pytest
from engines import package
from garbage import collected

from trundle.engine import Engine, _check, check, check_alone, core_packages
from trundle.engine.expressions import _expression
from trundle.engine.expressions._expression import is_expression

BAD = """
Namespaces: {=: app, lib: lib, far: far, py: ''}
Name: App
Extends: {parent}
Properties:
  p:
    Contract: {contract}
    Default: {default}
Methods:
  run:
    Arguments:
      - a: {{Contract: "{argument}"}}
    Body:
      - Try:
          - {body}
        Catch:
          With: py:StopIteration
"""
GOOD = {
    "parent": "lib:Base",
    "contract": "$.int()",
    "default": "1",
    "argument": "",
    "body": "$.run()",
}
LIB = package("lib", classes={"lib.Base": "", "lib.Db": ""})
FAR = package("far", classes={"far.Db": ""})


def app(**parts):
    text = BAD.replace(
        "{=: app, lib: lib, far: far, py: ''}", "{{=: app, lib: lib, far: far, py: ''}}"
    )
    return package("app", "1.0.0", {"lib": 1}, {"app.App": text.format(**GOOD | parts)})


def test_a_good_package_has_no_findings():
    assert (
        check([app(contract="$.class(lib:Db)", default="null", body="new(lib:Db, $)")], [LIB, FAR])
        == ()
    )
    assert check(core_packages()) == ()


@pytest.mark.parametrize(
    ("parts", "code", "line", "severity"),
    [
        ({"parent": "far:Db"}, "no-class", 4, "error"),
        ({"contract": "$.class(far:Db)"}, "no-class", 7, "error"),
        ({"contract": "$.class(lib:Nothing)"}, "no-class", 7, "error"),
        ({"contract": "$.class('far.Db')"}, "no-class", 7, "error"),
        ({"contract": "$.class(far.Db)"}, "no-class", 7, "error"),
        ({"contract": "[$.template(:Other)]"}, "no-class", 7, "error"),
        ({"contract": "$.check()"}, "syntax", 6, "error"),
        ({"default": "new(far:Db)"}, "no-class", 8, "error"),
        ({"body": "new(far:Db).x"}, "no-class", 15, "error"),
        ({"body": "$x.select($ is far:Db)"}, "no-class", 15, "error"),
        ({"body": "new(lib:Nothing)"}, "no-class", 15, "warning"),
        ({"body": "new(none:Nothing)"}, "no-class", 15, "warning"),
    ],
)
def test_what_is_wrong_is_found_where_it_is(parts, code, line, severity):
    (found,) = check([app(**parts)], [LIB, FAR])
    assert (found.code, found.severity) == (code, severity)
    assert found.place.file == "Classes/class0.yaml"
    assert found.place.line == line
    assert "app/1.0.0 app.App" in str(found)


def test_a_requirement_that_nothing_meets_is_found_once_for_all_classes():
    (found,) = check([package("app", "1.0.0", {"lib": "2"}, {"app.A": "", "app.B": ""})], [LIB])
    assert found.code == "no-package"


def test_packages_may_need_each_other():
    one = package("one", requires={"two": 1}, classes={"one.A": "Extends: two.B"})
    two = package("two", requires={"one": 1}, classes={"two.B": "", "two.C": "Extends: one.A"})
    assert check([one, two]) == ()
    assert {each.code for each in check([one])} == {"no-package"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Meta: app.Label", "meta"),
        ("Meta: {io.murano.metadata.ModelBuilder: {enabled: true}}", "meta"),
        ("Meta: app.None", "no-class"),
        ("Meta: {io.murano.metadata.Title: {text: x}}", None),
    ],
)
def test_what_is_attached_has_to_fit(text, code):
    found = check([package("app", classes={"app.Label": "", "app.A": text})])
    assert [each.code for each in found] == [code] * bool(code)


SINGLE = "Usage: Meta\nInherited: true"
MANY = f"{SINGLE}\nCardinality: Many"


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        ({"app.A": "Meta: [app.One, app.One]"}, ["app.A"]),
        ({"app.A": "Meta: [app.Many, app.Many]"}, []),
        ({"app.A": "Properties: {p: {Contract: $, Meta: [app.One, app.One]}}"}, ["app.A.p"]),
        ({"app.A": "Meta: app.One", "app.B": "Extends: app.A\nMeta: app.One"}, []),
        (
            {
                "app.A": "Meta: app.One",
                "app.B": "Meta: app.One",
                "app.C": "Extends: [app.A, app.B]",
                "app.D": "Extends: app.C",
                "app.E": "Extends: [app.A, app.B]\nMeta: app.One",
            },
            ["app.C"],
        ),
        (
            {
                "app.A": "Meta: app.One",
                "app.B": "Extends: app.A",
                "app.C": "Extends: app.A",
                "app.D": "Extends: [app.B, app.C]",
            },
            [],
        ),
        (
            {
                "app.A": "Meta: [app.Many, app.Own]",
                "app.B": "Meta: [app.Many, app.Own]",
                "app.C": "Extends: [app.A, app.B]",
            },
            [],
        ),
        (
            {
                "app.A": "Methods: {m: {Meta: app.One}, n: {Meta: app.One}}",
                "app.B": "Methods: {m: {Meta: app.One}, n: {Meta: app.One}}",
                "app.C": "Extends: [app.A, app.B]\nMethods: {m: {}, n: {Meta: app.One}}",
            },
            ["app.C.m"],
        ),
    ],
)
def test_what_may_be_attached_once_is_there_once_with_what_is_inherited(parts, found):
    metas = {"app.One": SINGLE, "app.Many": MANY, "app.Own": "Usage: Meta"}
    findings = check([package("app", classes={**metas, **parts})])
    assert {each.code for each in findings} <= {"meta"}
    assert len(findings) == len(found)
    for finding, place in zip(findings, found, strict=True):
        class_name = place[:5]
        assert f"app/1.0.0 {class_name}" in str(finding)
        assert place.removeprefix(class_name).lstrip(".") in str(finding)


def test_every_finding_of_all_packages_is_listed():
    bad = [package(f"p{at}", classes={f"p{at}.A": "Extend: x", f"p{at}.B": "["}) for at in range(3)]
    assert len(check(bad)) == 6


def test_classes_are_checked_as_far_as_that_needs_no_other_package():
    named = app(contract="$.class(lib:Db)", default="new(lib:Db)", body="new(far:Db)")
    assert check_alone(named) == ()
    assert [each.code for each in check([named])] != []
    attached = {"app.A": "Meta: [lib.Tag]\nProperties: {p: {Contract: $.int(), Meta: [lib.Tag]}}"}
    meta = [{"lib.Tag": {"text": "x"}}]
    assert check_alone(package("app", "1.0.0", {"lib": 1}, attached, Meta=meta)) == ()


def test_what_only_ancestors_show_is_found_without_what_is_required():
    classes = {
        "app.Tag": "Usage: Meta\nInherited: true",
        "app.A": "Meta: [app.Tag]",
        "app.B": "Meta: [app.Tag]",
        "app.Both": "Extends: [app.A, app.B]",
        "app.Circle": "Extends: app.Circle",
        "app.Lost": "Extends: [lib.Base, app.Nothing]",
    }
    found = check_alone(package("app", "1.0.0", {"lib": 1}, classes))
    assert [str(each.code) for each in found] == ["meta", "circular"]
    found = check_alone(package("app", "1.0.0", {}, classes))
    assert [str(each.code) for each in found] == ["meta", "circular", "no-class"]


def test_what_cannot_be_compiled_is_found_in_arguments_as_well():
    text = "Properties:\n  p: {Contract: $.check()}\nMethods:\n  m:\n    Arguments: [a: {Contract: $.int(1)}]\n"
    bad = package(
        "app", classes={"app.A": "Name: app.A\n" + text, "app.B": "Name: app.B\nMethods: ["}
    )
    found = check_alone(bad)
    assert [(each.place.file, each.place.line, str(each.code)) for each in found] == [
        ("Classes/class0.yaml", 3, "syntax"),
        ("Classes/class0.yaml", 6, "syntax"),
        ("Classes/class1.yaml", 2, "syntax"),
    ]


TAGS = {
    "app.Tag": (
        "Usage: Meta\nApplies: [Package, Type]\n"
        "Properties: {text: {Contract: $.string().notNull()}, n: {Contract: $.int(), Default: 1}}"
    ),
    "app.Every": "Usage: Meta\nCardinality: Many",
    "app.Own": "Usage: Meta\nApplies: Type",
    "app.No": "",
}


@pytest.mark.parametrize(
    ("meta", "code", "said"),
    [
        ("{app.Tag: {text: x}}", None, ""),
        ("{io.murano.metadata.Title: {text: x}}", None, ""),
        ("[app.Every, {app.Every: {}}]", None, ""),
        ("app.Tag", "meta", "app.Tag: [app.Tag.text] expected a value, found nothing"),
        ("{app.Tag: {text: x, n: y}}", "meta", "[app.Tag.n] expected an integer"),
        ("[{app.Tag: {text: x}}, {app.Tag: {text: y}}]", "meta", "expected app.Tag once"),
        ("app.Own", "meta", "expected it at Type, found it at Package"),
        ("app.No", "meta", "expected a Meta class"),
        ("app.Nothing", "no-class", "app.Nothing"),
        ("far.Tag", "no-class", "far.Tag"),
    ],
)
def test_what_a_package_attaches_to_itself_has_to_fit(meta, code, said):
    found = check(
        [package("app", classes=TAGS, Meta=meta)],
        [package("far", classes={"far.Tag": "Usage: Meta"})],
    )
    assert [each.code for each in found] == [code] * bool(code)
    for each in found:
        assert said in each.found + each.expected + str(each)
        assert each.place.file == "manifest.yaml"


def test_an_engine_shows_what_a_package_attaches_to_itself():
    app = package("app", classes=TAGS, Meta="{app.Tag: {text: x}}")
    (found,) = Engine([app]).package("app", "1").meta
    assert (found.name, found.properties) == ("app.Tag", {"text": "x"})


def test_a_name_that_differs_a_little_is_asked_for():
    for text in ("Extends: app.foo", "Extends: app.Fooo", "Extends: lib.db"):
        (found,) = check(
            [package("app", "1.0.0", {"lib": 1}, {"app.Foo": "", "app.B": text})], [LIB]
        )
        assert "did you mean app.Foo?" in str(found) or "did you mean lib.Db?" in str(found)


CONSTANTS = """
Namespaces: {=: app}
Name: App
Properties:
  p:
    Contract: CONTRACT
    Usage: USAGE
    Default: DEFAULT
"""


@pytest.mark.parametrize(
    ("contract", "default", "usage", "said"),
    [
        (
            "$.int()",
            "x",
            "In",
            "the default x breaks the contract `$.int()`: [app.App.p] expected an integer, found 'x'",
        ),
        ("$.int()", "[1]", "Static", "found a list"),
        ("$.int()", "x", "Config", "found 'x'"),
        ("$.check($ > 3)", "1", "InOut", "[app.App.p] the check fails for 1"),
        (
            "$.check($ in [tcp, udp], 'tcp or udp')",
            "TCP",
            "In",
            "the default TCP breaks the contract",
        ),
        ("[$.int()]", "[1, x]", "In", "[app.App.p[1]] expected an integer, found 'x'"),
        ("[$, 2, 3]", "[1]", "In", "[app.App.p] expected at least 2 items, found 1"),
        (
            "{a: $.int().notNull()}",
            "{b: 1}",
            "In",
            "[app.App.p['a']] expected a value, found nothing",
        ),
        (
            "[[$.class(:App), $.int()]]",
            "[[some, x]]",
            "In",
            "[app.App.p[0][1]] expected an integer",
        ),
        ("$.class(io.murano.Object)", "3", "In", "expected an object of io.murano.Object, found 3"),
        (
            "$.template(io.murano.Object)",
            "x",
            "In",
            "expected an object of io.murano.Object or its",
        ),
    ],
)
def test_a_default_that_breaks_its_contract_is_found_where_it_stands(
    contract, default, usage, said
):
    text = CONSTANTS.replace("CONTRACT", contract).replace("DEFAULT", default)
    app = package("app", classes={"app.App": text.replace("USAGE", usage)})
    found = [each for each in check([app]) if str(each.code) == "contract"]
    (finding,) = found
    assert said in str(finding)
    assert "app/1.0.0 app.App" in str(finding)
    assert str(finding).endswith("; change the default or the contract")
    assert (finding.place.line, finding.severity) == (8, "error")


@pytest.mark.parametrize(
    ("contract", "default"),
    [
        ("$.int()", "'42'"),
        ("$.int()", "$.q"),
        ("$.check($ > $this.q)", "1"),
        ("$.check($ = id($this))", "1"),
        ("$.check($this.isGood($))", "1"),
        ("$.check(:App.isGood($))", "1"),
        ("$.class(io.murano.Object)", "idOfAnotherObject"),
        ("$.class(io.murano.Object)", "{}"),
        ("$.class(:App)", "{}"),
        ("$.template(:App)", "{p: x}"),
        ("$.check(generate(0, true, $ + 1).len() > 3)", "1"),
        ("$.check($.matches('(a+)+$'))", f"{'a' * 40}!"),
        ("$.check(([0] * 1000000000).len() = 3)", "1"),
    ],
)
def test_defaults_that_may_fit_are_left_to_the_run(contract, default):
    text = CONSTANTS.replace("CONTRACT", contract).replace("DEFAULT", default)
    app = package("app", classes={"app.App": text.replace("USAGE", "In")})
    assert [each for each in check([app]) if str(each.code) == "contract"] == []


def test_what_ancestors_demand_of_a_default_is_theirs():
    base = package("lib", classes={"lib.Base": "Properties: {p: {Contract: $.int()}}"})
    child = "Extends: lib.Base\nProperties: {p: {Contract: $, Default: x}}"
    app = package("app", "1.0.0", {"lib": 1}, {"app.App": child})
    (finding,) = check([app], [base])
    assert "the default x breaks the contract `$.int()` of lib.Base" in str(finding)
    assert str(finding).endswith("; change the default")
    with Engine([app, base]).session() as session, pytest.raises(Exception, match="an integer"):
        session.load({"?": {"type": "app.App"}})


def test_a_default_that_no_object_shows_is_a_warning():
    text = """
Properties:
  required: {Contract: $.string().notNull(), Default: null}
  unset: {Contract: $.int(), Usage: Runtime, Default: x}
"""
    found = check([package("app", classes={"app.App": text})])
    assert [(each.severity, each.place.line) for each in found] == [("warning", 4), ("warning", 5)]


def test_constants_for_arguments_meta_properties_and_new_are_held_to_their_contracts():
    text = """
Namespaces: {=: app}
Name: App
Properties:
  port: {Contract: $.int().check($ < 65536)}
Methods:
  .init:
    Arguments:
      - size: {Contract: $.int().notNull(), Default: 1}
  make:
    Arguments:
      - count: {Contract: $.int(), Default: many}
    Body:
      - new(:App, port => 70000)
      - new(:App, {port => web, size => 3}, $)
      - new('app.App', size => big, port => $count)
      - new(:Other, port => x)
"""
    meta = "Usage: Meta\nName: app.Tag\nProperties:\n  text: {Contract: $.string(), Default: [a]}\n"
    found = check([package("app", classes={"app.App": text, "app.Tag": meta})])
    shown = [
        (each.place.file[-11:-5], each.place.line, each.severity)
        for each in found
        if str(each.code) == "contract"
    ]
    assert shown == [
        ("class0", 12, "error"),
        ("class0", 14, "warning"),
        ("class0", 15, "warning"),
        ("class0", 16, "warning"),
        ("class1", 4, "error"),
    ]
    contracts = [str(each) for each in found if str(each.code) == "contract"]
    assert "[app.App::make(count)] expected an integer, found 'many'" in contracts[0]
    assert (
        "`new(:App, port => 70000)` breaks the contract `$.int().check($ < 65536)`" in contracts[1]
    )
    assert "[app.App.port] expected an integer, found 'web'" in contracts[2]
    assert "[app.App::.init(size)] expected an integer, found 'big'" in contracts[3]


def test_a_contract_in_quotes_is_the_text_in_them():
    text = "Properties:\n  p: {Contract: '$.int()'}\n  q: {Contract: !yaql '$.int()'}\n  r: {Contract: tcp}\n"
    (finding,) = check([package("app", classes={"app.App": text})])
    assert (finding.severity, finding.place.line) == ("warning", 3)
    assert "remove the quotes, or write `!yaql` before them" in str(finding)


def test_contracts_of_arguments_that_cannot_be_compiled_are_errors():
    text = "Methods:\n  m:\n    Arguments: [a: {Contract: $.strng()}]\n    Body: [$.m(1)]"
    (found,) = check([package("app", classes={"app.A": text})])
    assert (found.code, found.severity, found.place.line) == ("unknown-function", "error", 4)


def test_an_expression_is_parsed_once_however_many_readers_a_check_has(monkeypatch):
    parsed = []
    parse = _expression.parse
    monkeypatch.setattr(_expression, "parse", lambda text: (parsed.append(text), parse(text))[1])
    terms = f"$.p + {'1' * 1000}"
    body = [f"{{$x: !yaql '$.f({at}, {terms} * {at})'}}" for at in range(300)]
    body.append(f"'$.f()': {terms} * (")
    text = "Properties: {p: {Contract: $.int(), Default: 1}}\nMethods:\n  f:\n    Body:\n"
    text += "".join(f"      - {each}\n" for each in body)
    assert list(check([package("a", classes={"a.A": text})]))
    assert len(parsed) == len(set(parsed)) > 300


def test_a_package_has_so_much_code_and_no_more():
    line = f"      - $x: ${'y' * 1000} + 1\n"
    text = "Methods:\n  f:\n    Body:\n" + line * (_check.MOST_CODE // len(line) // 2 + 1)
    classes = {f"a.C{at}": text for at in range(4)}
    for find in (
        check_alone(package("a", classes=classes)),
        check([package("a", classes=classes)]),
    ):
        (found,) = find
        assert (found.code, found.place.object) == ("limit", "a/1.0.0 a.C2")
        assert "at most 1048576 characters of expressions" in found.message


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        (f"list({', '.join(['$y'] * 10_002)})", "more than 10000 commas"),
        (" + ".join(["$y"] * 60_000), "more than 250 levels"),
        (f"{' + '.join(['$y'] * 200_000)}", "more than 524288"),
    ],
)
def test_an_expression_that_is_too_large_is_one_finding(expression, words):
    text = f"Methods:\n  f:\n    Body:\n      - $x: {expression}\n"
    (found,) = check([package("a", classes={"a.A": text})])
    assert found.code == "limit"
    assert words in found.message


def test_what_is_remembered_of_a_text_that_is_no_expression_holds_no_data_of_callers():
    class Held:
        pass

    def ask():
        held = Held()
        seen.append(weakref.ref(held))
        return is_expression("this is no expression (")

    seen = []
    with collected():
        assert not ask()
    assert seen[0]() is None
