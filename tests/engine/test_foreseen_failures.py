"""What `check` says of code before it runs: what a run says, and nothing where a run says nothing."""

import pytest
from engines import package

from trundle.engine import Engine, EngineError, check
from trundle.packages import Package

CLASS = """
Namespaces: {{=: app, std: io.murano}}
Name: App
Properties:
  size: {{Contract: $.int(), Default: 1}}
  shared: {{Contract: $.int(), Default: 2, Usage: Static}}
Methods:
  run:
    Body:
      - $.made: 1
      - {line}
  grown:
    Arguments: [by: {{Contract: $}}, to: {{Contract: $}}]
  many:
    Arguments: [all: {{Contract: $, Usage: VarArgs}}, named: {{Contract: $, Usage: KwArgs}}]
  twice:
    Usage: Extension
    Arguments: [number: {{Contract: $.int().notNull()}}]
    Body: [{{Return: $number * 2}}]
  counted:
    Usage: Static
    Body: [{{Return: 3}}]
"""


def app(line, format_="1.4"):
    return package("app", classes={"app.App": CLASS.format(line=line)}, Format=format_)


def run(made):
    with Engine([made]).session() as session:
        return session.call(session.load({"?": {"type": "app.App"}}), "run", internal=True)


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("$x: lenn([1])", "unknown-function", "did you mean len?"),
        ("$x: grow(1)", "unknown-function", 'unknown function "grow"'),
        ("$x: list(1).select(lenn($))", "unknown-function", "lenn"),
        ("$x: {a: {b: lenn(1)}}", "unknown-function", "lenn"),
        ("Return: encryptData(secret)", "unknown-function", "kept as a secret"),
        ("$x: join(list(a), b)", "unknown-function", "call it with a dot: `value.join(..)`"),
        ("$x: range()", "no-match", "range(start, stop, step=), range(stop), found `range()`"),
        ("$x: len(1, 2)", "no-match", "found `len(1, 2)`"),
        ("$x: format()", "no-match", "format"),
        ("$x: type()", "no-match", "type"),
        ("$x: id()", "no-match", "the function id does not take such arguments"),
        ("$x: name($, object => $)", "no-match", "name"),
        ("$.grow()", "no-method", "found grow; did you mean grown?"),
        ("$this.grow()", "no-method", "found grow"),
        ("$x: list(1).select($this.grow())", "no-method", "found grow"),
        ("$x: $.sise", "no-property", "found sise; did you mean size?"),
        ("$x: $this.sise", "no-property", "found sise"),
        ("$.grown(1, 2, 3)", "no-match", "at most 2 arguments of app.App.grown, found 3"),
        ("$.grown(1, too => 2)", "no-match", "one of by, to of app.App.grown, found too"),
        (":App.grow()", "no-method", "found grow"),
        (":App.grown(1, 2)", "no-method", "a static method of app.App"),
        ("$x: :App.sise", "no-property", "found sise"),
        ("$x: :App.size", "no-property", "a static property of app.App"),
        ("$.super($.grown())", "no-method", "call it without a dot: `super(..)`"),
        ("$x: $.twice()", "no-method", "found twice"),
    ],
)
def test_what_fails_whenever_it_runs_is_found_before(line, code, words):
    made = app(line)
    (found,) = check([made])
    assert (found.code, found.severity) == (code, "warning")
    assert (found.place.file, found.place.line) == ("Classes/class0.yaml", 11)
    assert words in str(found)
    with pytest.raises(EngineError) as caught:
        run(made)
    assert caught.value.code == code


@pytest.mark.parametrize(
    "line",
    [
        "$x: $.made + $.size",
        "$x: 5.twice() + list(1).select($.twice()).sum()",
        "$x: :App.counted() + $.counted() + :App.shared + $.shared",
        "$.grown(1, to => 2)",
        "$.many(1, 2, 3, a => 4)",
        "$x: list({a => 1}).select($.a)",
        "$x: list(1).select($this.size)",
        "$x: let(a => 1) -> $a + 1",
        "$x: let({b => 2}) -> $.b",
        "$x: def(double, $ * 2) -> double(4)",
        "$.later.deep: 1",
        "$x: range(1, 3) + range(4) + range(0, 9, 3)",
        "$x: super($, $)",
        "$x: list(list(1, 2)).select($.unpack(a, b) -> $a + $b)",
        "$x: $.find(std:Environment)",
        "$x: dict(a => 1).set(b, 2).get(b)",
        "$x: typeinfo($).name",
        "Try: [Throw: nothing]\n        Catch: {With: nothing}",
    ],
)
def test_what_runs_has_no_finding(line):
    made = app(line)
    assert check([made]) == ()
    run(made)


def test_methods_differ_between_formats():
    assert [each.code for each in check([app("$x: $.id()")])] == ["no-method"]
    assert check([app("$x: $.id()", "1.0")]) == ()
    assert check([app("$x: list({a => 1})[$.a = 1]", "1.0")]) == ()
    run(app("$x: list({a => 1})[$.a = 1]", "1.0"))
    assert [each.code for each in check([app("$x: switch(1 > 2 => a)", "1.1")])] == ["no-match"]
    assert check([app("$x: switch(1 > 2 => a)", "1.2")]) == ()


BASE = """
Name: app.Base
Methods:
  run:
    Body: [$.step(1), {Return: $.speed}]
"""
BELOW = """
Name: app.Below
Extends: app.Base
Properties: {speed: {Contract: $.int(), Default: 3}}
Methods:
  step: {Arguments: [by: {Contract: $}]}
"""


def test_what_a_descendant_declares_may_be_there():
    assert check([package("app", classes={"app.Base": BASE, "app.Below": BELOW})]) == ()
    base = package("app", classes={"app.Base": BASE})
    assert [each.code for each in check([base])] == ["no-method", "no-property"]
    below = package("low", requires={"app": 1}, classes={"app.Below": BELOW})
    assert check([base], [below]) == ()


def test_contracts_and_defaults_are_looked_through_too():
    text = """
Name: app.App
Properties:
  a: {Contract: $.int().check($ > lenn($this.b))}
  c: {Contract: $.int(), Default: $.d}
"""
    found = check([package("app", classes={"app.App": text})])
    assert [(each.code, each.place.line) for each in found] == [
        ("unknown-function", 4),
        ("no-property", 4),
        ("no-property", 5),
    ]


def test_mocks_know_the_original_method():
    test = """
Name: app.AppTest
Extends: io.murano.test.TestFixture
Methods:
  testIt:
    Body:
      - $app: new(app.App)
      - inject($app, grown, originalMethod())
      - inject($app, many, withOriginal(a => $all) -> $a)
      - $.assertEqual(null, $app.grown())
"""
    files = {
        "manifest.yaml": "FullName: app\nType: Library\nFormat: 1.4\nClasses: {app.App: a.yaml, app.AppTest: b.yaml}",
        "Classes/a.yaml": CLASS.format(line="$x: 1"),
        "Classes/b.yaml": test,
    }
    assert check([Package.from_files(files)]) == ()
