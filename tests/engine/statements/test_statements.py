"""What statements are read as, and what each mistake is called."""

import pytest

from trundle.engine import EngineError, check
from trundle.engine.expressions import Expression, Scalar, read_code
from trundle.engine.statements import (
    Assign,
    Break,
    Catch,
    Continue,
    Do,
    Evaluate,
    For,
    If,
    Match,
    Parallel,
    Repeat,
    Rethrow,
    Return,
    Switch,
    Throw,
    Try,
    While,
    read_body,
)
from trundle.packages import Package


def read(text):
    (code,) = read_code(text, "Classes/a.yaml")
    return read_body(code, "Classes/a.yaml")


def one(text):
    (statement,) = read(text)
    return statement


def mistakes(text):
    with pytest.raises(EngineError) as caught:
        read(text)
    return caught.value.errors


def test_a_body_is_a_statement_or_a_list_of_them():
    assert read("$.deploy()") == (Evaluate(Expression("$.deploy()"), 1),)
    assert [type(each) for each in read("- $.a()\n- $x: 1\n- Return: $x")] == [
        Evaluate,
        Assign,
        Return,
    ]
    assert read_body(None, "a") == ()


def test_every_construct_is_its_record():
    assert one("Return:") == Return(Scalar(None, 1), 1)
    assert one("Do: [$.a()]") == Do((Evaluate(Expression("$.a()"), 1),), 1)
    assert one("If: $.a\nThen: $.b()\nElse: []") == If(
        Expression("$.a"), (Evaluate(Expression("$.b()"), 2),), (), 1
    )
    assert one("While: $.a\nDo: {Break: }") == While(Expression("$.a"), (Break(2),), 1)
    assert one("For: x\nIn: $.a\nDo:\n  - Continue:") == For(
        "x", Expression("$.a"), (Continue(4),), 1
    )
    assert one("{Repeat: 3, Do: }") == Repeat(Scalar(3, 1), (), 1)
    assert one("{Repeat: $.n + 1, Do: }") == Repeat(Expression("$.n + 1"), (), 1)
    assert one("Match: {1: , a: $.b()}\nValue: $.x\nDefault: $.c()") == Match(
        Expression("$.x"),
        ((1, ()), ("a", (Evaluate(Expression("$.b()"), 1),))),
        (Evaluate(Expression("$.c()"), 3),),
        1,
    )
    assert one("Switch:\n  $.a > 1: $.b()\n  true: []") == Switch(
        (
            (Expression("$.a > 1"), (Evaluate(Expression("$.b()"), 2),)),
            (Scalar(value=True, line=3), ()),
        ),
        (),
        1,
    )
    assert one("Parallel: [$.a()]\nLimit: 2") == Parallel(
        (Evaluate(Expression("$.a()"), 1),), Scalar(2, 2), 1
    )
    assert one("Throw: [a.B, py:C]\nMessage: $.m\nExtra: {a: 1}").names == ("a.B", "py:C")
    assert one("Throw: Failed") == Throw(("Failed",), None, None, None, 1)
    assert one("Rethrow:") == Rethrow(1)


def test_a_try_has_its_handlers():
    found = one(
        "Try: $.a()\n"
        "Catch:\n"
        "  - {With: py:StopIteration, As: e, Do: $.b()}\n"
        "  - With: [a.B, c:D]\n"
        "  -\n"
        "Else: $.c()\n"
        "Finally: $.d()\n"
    )
    assert isinstance(found, Try)
    assert found.catches == (
        Catch(("py:StopIteration",), "e", (Evaluate(Expression("$.b()"), 3),), 3),
        Catch(("a.B", "c:D"), "", (), 4),
        Catch(None, "", (), 5),
    )
    assert (len(found.otherwise), len(found.finally_)) == (1, 1)
    assert one("{Try: $.a(), Catch: {As: e}}").catches == (Catch(None, "e", (), 1),)


@pytest.mark.parametrize(
    ("target", "steps"),
    [
        ("$v", []),
        ("$.p", ["p"]),
        ("$this.p", ["p"]),
        ("$o.p.q[0].r", ["p", "q", 0, "r"]),
        ("$o[$.i]['k']", ["$1", "k"]),
        (":T.p", ["p"]),
        ("x:T.p.q", ["p", "q"]),
        ("type($x).p[0]", ["p", 0]),
    ],
)
def test_a_target_is_a_root_and_the_way_from_there(target, steps):
    found = one(f"{target}: {{a: [1, $.b]}}")
    assert isinstance(found, Assign)
    written = [
        each.name or getattr(each.index, "value", None) or getattr(each.index, "text", 0)
        for each in found.target.steps
    ]
    assert len(written) == len(steps)
    assert [each for each in written if isinstance(each, str)] == [
        each for each in steps if isinstance(each, str) and each != "$1"
    ]


@pytest.mark.parametrize(
    "target",
    [
        "$",
        "$this",
        "$.f()",
        "$.f().a",
        "f()",
        ":T",
        "x:T[0]",
        "a.b + 1",
        "$?.p",
        "-$x",
        "[1, 2]",
        "$x[]",
    ],
)
def test_nothing_is_assigned_to_what_is_no_place(target):
    (error,) = mistakes(f"- $.ok()\n- !yaql '{target}': 1")
    assert (error.code, error.file, error.line) == ("invalid-target", "Classes/a.yaml", 2)
    assert f"`{target}`" in error.message


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("'$.a()'", 1, ("expected a statement", "quotes")),
        ("- 5", 1, ("expected a statement, found 5",)),
        ("- - $.a()", 1, ("found a list", "Do:")),
        ("- foo: 1", 1, ("'foo'",)),
        ("- Retrun: 1", 1, ("'Retrun'", "did you mean Return?")),
        ("- $a: 1\n  $b: 2", 1, ("the keys `$a`, `$b`", "item of the list")),
        ("If: $.a\nThne: $.b()", 2, ("`If` has no key Thne", "did you mean Then?")),
        ("If: $.a", 1, ("`If` needs `Then`",)),
        ("If: [1]\nThen: []", 1, ("an expression for `If`",)),
        ("While: true\nDo: []", 1, ("an expression for `While`",)),
        ("For: $x\nIn: []\nDo: []", 1, ("the name of a variable for `For`", "without `$`")),
        ("For: x\nDo: []", 1, ("`For` needs `In`",)),
        ("Repeat: a\nDo: []", 1, ("an integer or an expression for `Repeat`, found 'a'",)),
        ("Break: 1", 1, ("no value for `Break`",)),
        ("Rethrow: x", 1, ("no value for `Rethrow`",)),
        ("Match: {$.a: []}\nValue: 1", 1, ("constants as keys", "Switch")),
        ("Match: []\nValue: 1", 1, ("a map of blocks for `Match`, found a list",)),
        ("Parallel: []\nLimit: x", 2, ("an expression for `Limit`, found 'x'",)),
        ("Try: []\nCatch: {When: x}", 2, ("`Catch` has no key When", "As, Do, With")),
        ("Try: []\nCatch: 5", 2, ("a list of maps, for `Catch`, found 5",)),
        ("Throw: {a: b}", 1, ("names of exceptions for `Throw`, found a map",)),
        ("Return: 1\nElse: 2", 2, ("expected `Return` alone, found Else",)),
        ("Do:\n  If: $.a\n  Then:\n    - '$.b()'", 4, ("expected a statement",)),
        ("!yaql '$.'", 1, ("no expression",)),
    ],
)
def test_a_mistake_has_construct_key_and_line(text, line, words):
    (error,) = mistakes(text)
    assert (error.code, error.file, error.line) == ("syntax", "Classes/a.yaml", line)
    for word in words:
        assert word in str(error)


def test_all_mistakes_of_a_body_are_reported():
    found = mistakes(
        "- foo: 1\n- If: $.a\n  Then:\n    - '$.b()'\n    - Break: 1\n- $: 1\n- $.ok()"
    )
    assert [(each.code, each.line) for each in found] == [
        ("syntax", 1),
        ("syntax", 4),
        ("syntax", 5),
        ("invalid-target", 6),
    ]


def test_a_package_is_checked_for_statements_that_cannot_be_read():
    files = {
        "manifest.yaml": "Format: 1.4\nType: Library\nFullName: a\nClasses: {a.App: App.yaml}\n",
        "Classes/App.yaml": "Name: a.App\nMethods:\n  f:\n    Body:\n      - If: $a\n        Thne: []\n",
    }
    (finding,) = check([Package.from_files(files)])
    assert (finding.code, finding.severity) == ("syntax", "warning")
    assert (finding.place.file, finding.place.line) == ("Classes/App.yaml", 6)
    assert "`If` has no key Thne" in finding.message
