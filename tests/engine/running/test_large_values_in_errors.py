"""Errors show the values that they are about soon and in few words, however large these are."""

import signal
from contextlib import contextmanager

import pytest
from amounts import some_of
from programs import run

from trundle.engine import EngineError
from trundle.errors import shown

VALUES = {
    "a list that doubles": "- $v: [1]\n- Repeat: 60\n  Do: [{$v: [$v, $v]}]\n",
    "a map with many entries": "- $v: !yaql '{a => 1}'\n- Repeat: 12\n  Do: [{$v: !yaql '{a => $v, b => $v}'}]\n",
    "a long text": "- $v: abcdefgh\n- Repeat: 17\n  Do: [{$v: $v + $v}]\n",
    "a large number": "- $v: 7\n- Repeat: 15\n  Do: [{$v: $v * $v}]\n",
}
"""Statements that make `$v`."""

EXPRESSIONS = (
    "$v.nothing()",
    "$v.nothing($v)",
    "$v.toUpper().nothing()",
    "$v.substring($v)",
    "$v.join($v)",
    "[$v].join($v)",
    "$v.matches(1)",
    "regex(a).search($v, 5)",
    "$v.run()",
    "$this.run($v)",
    "$this.nothing($v)",
    "$this.f($v)",
    "$this.g($v)",
    "$this.h($v)",
    "call(run, [], {foo => $v}, $this)",
    "call($v, [])",
    "call(nothing, [], {}, $v)",
    "let($v) -> $1.nothing()",
    "toUpper($v)",
    "-$v",
    "$v + null",
    "null < $v.nothing",
    "$v.missing",
    "$v.missing.missing",
    "[1][$v]",
    "{a => 1}.get(b).nothing($v)",
    "{a => 1}[str($v)]",
    "$v[missing]",
    "$this.missing",
    "str($v).nothing()",
    "'{}'.format($v).nothing()",
    "'{:5}'.format($v).nothing()",
    "int($v).nothing()",
    "float($v).nothing()",
    "new($v)",
    "new(A, {}, $v)",
    "cast($this, $v)",
    "cast($v, A)",
    "type($v)",
    "typeinfo($v)",
    "$this.find($v)",
    "$this is $v",
    "id($v)",
    "dump($v)",
    "dump($this, $v)",
    "$v.pselect()",
    "{a => 1}.pselect($v)",
    "$v.bind({})",
    "{a => 1}.patch({op => $v})",
    "{a => 1}.patch({op => test, path => '/a', value => $v})",
    "{a => 1}.patch({op => remove, path => concat('/', str($v))})",
    "new(sys:Resources).string($v)",
    "logger($v).nothing()",
    "logger(a).info('{', $v)",
    "super($v)",
    "super($this, $v.nothing())",
    "sleep([$v])",
    "base64encode([$v])",
    "base64decode($v)",
    "$v.assert(false, str($v))",
    "[1].groupBy($v = [$v]).nothing()",
    "[1].aggregate($v != [$v]).nothing($v)",
    "[1].takeWhile($v in [[$v]]).nothing()",
    "[1].takeWhile([[$v]].contains($v)).nothing()",
    "[1].takeWhile([[$v]].indexOf($v) = 0).nothing()",
    "[$v].toSet().nothing()",
    "[$v, $v].distinct().len().nothing()",
    "{a => $v}.mergeWith({a => [$v]}).nothing()",
    "$v.require().nothing()",
    "datetime([$v])",
    "range([$v])",
    "[1, 2].orderBy($v.nothing())",
    "[$v, null].max().nothing()",
    "[$v].sum().nothing()",
    "fails($v)",
    "takes(v => $v)",
    ":A.missing($v)",
    "$t.assertEqual(1, $v)",
    "$t.assertEqual($v, 1)",
    "$t.assertTrue(null, str($v))",
    "$t.assertFalse([$v])",
    "$t.assertIn(1, [$v])",
    "$t.assertNotIn(1, [1, $v])",
)
STATEMENTS = (
    "- Throw: Oops\n  Message: hello\n  Extra: $v\n",
    "- Throw: Oops\n  Cause: $v",
    "- $w: [$v]\n- Repeat: $w\n  Do: []",
    "- For: x\n  In: 5\n  Do: []\n- Throw: Oops",
    "- $w: [$v]\n- Parallel: [{$x: 1}]\n  Limit: $w",
    "- $x: 1\n- $x[str($v)]: 2",
    "- $.n: $v",
    "- $.m: $v",
    "- $v.nothing: 1\n- Throw: Oops",
    "- Try: [$v.nothing()]\n  Catch:\n    - As: e\n      Do: [{Return: [$e.message, $e.nativeException, $e.toString()]}]",
)
HEAD = """
Properties:
  n: {Contract: [$.int(), 1, 1], Usage: InOut, Default: [1]}
  m: {Contract: {$.int(): {$.int(): $.int()}}, Usage: InOut}
"""
METHODS = """
f: {Arguments: [{n: {Contract: $.class(A)}}], Body: []}
g: {Arguments: [{n: {Contract: $.check($ = nothing)}}], Body: [{Throw: Oops}]}
h: {Arguments: [{n: {Contract: !yaql "$.check($ = nothing, $)"}}], Body: [{Throw: Oops}]}
"""
SECONDS = 60


def fails(value):
    raise RuntimeError(value)


def takes(value):
    return value


class TooLateError(BaseException):
    """No program can handle it."""


@contextmanager
def soon():
    """What is inside ends soon, also where Python writes a value out."""

    def end(*_):
        raise TooLateError

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def ending(make, body):
    """The error of a program, or what it gives."""
    start = "- $t: new('io.murano.test.TestFixture')\n"
    try:
        return run(
            start + make + body,
            head=HEAD,
            methods=METHODS,
            functions={"fails": fails, "takes": takes},
        )
    except EngineError as error:
        return error


def check_words(error):
    assert len(str(error)) < 2500
    assert len(error.format()) < 4000
    assert "Exceeds the limit" not in str(error)
    assert "FrozenDict" not in str(error)
    assert " object at 0x" not in str(error)
    assert error.line
    assert error.frames[-1].method == "run"


@pytest.mark.full
@pytest.mark.parametrize("expression", some_of(EXPRESSIONS, 8))
def test_an_expression_fails_soon_and_in_few_words(expression):
    quoted = expression.replace("'", "''")
    errors = []
    for make in VALUES.values():
        with soon():
            found = ending(make, f"- Return: !yaql '{quoted}'")
        if isinstance(found, EngineError):
            check_words(found)
            errors.append(found)
    assert errors


@pytest.mark.parametrize("statement", some_of(STATEMENTS, 4))
def test_a_statement_fails_soon_and_in_few_words(statement):
    for make in VALUES.values():
        with soon():
            found = ending(make, statement)
        if isinstance(found, EngineError):
            check_words(found)
        else:
            assert all(len(each or "") < 4000 for each in found or ())


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"a": 1}.items(), "a list"),
        ({1}, "a list"),
        (10**5000, "a large number"),
        (-(10**5000), "a large number"),
        (10**50, "1" + "0" * 50),
    ],
    ids=["entries", "set", "large", "negative", "digits"],
)
def test_odd_values_of_data_have_words(value, words):
    assert shown(value) == words
