"""Code that would exhaust the machine: each ends in `limit`, soon, with the place where it stands."""

import re
import time
from textwrap import indent

import pytest
from amounts import full, some_of
from programs import opened, run

from trundle.engine import EngineError, Limits
from trundle.engine.expressions._patterns import Pattern

LONG = '"' + "a" * 42 + 'b"'
GROW = '$s: aaaaaaaaaa\n- Repeat: 100\n  Do:\n    - $s: !yaql "{}"\n- Return: $s'
LARGE = "$s: !yaql '\"a\" * 4000000'\n- "
TWICE = "$d: [1]\n- $e: [1]\n- Repeat: 60\n  Do: [{$d: [$d, $d]}, {$e: [$e, $e]}]\n- "
DEEP = "$d: [1]\n- Repeat: 9500\n  Do: [{$d: [$d]}]\n- "


def value(expression):
    return f"Return: !yaql '{expression.replace(chr(39), chr(39) * 2)}'"


HOSTILE = {
    "a sequence without end": value("generate(0,true,$+1).len()"),
    "its last item": value("generate(0, true, $ + 1).last()"),
    "a sequence without end that is returned": value("generate(0, true, $ + 1)"),
    "one within a list": value("[[generate(0, true, $ + 1)]]"),
    "a round that never ends": value("[1].cycle()"),
    "the same value for ever": value("1.repeat()"),
    "a search without end": value("generate(0, true, 0).where($ = 1)"),
    "a tree without end": value("generateMany(0, [$, $ + 1])"),
    "a long range": value("range(0,10000000000).len()"),
    "a long list": value("[0]*100000000"),
    "a long list, the other way round": value("100000000*[0]"),
    "a list in a list": value("[0]*1000*1000*1000"),
    "a long text": value('"abc"*1000000000'),
    "a long text, the other way round": value('1000000000*"abc"'),
    "a slow pattern": value(f'{LONG} =~ "(a|aa)+$"'),
    "a slow pattern that does not match": value(f'{LONG} !~ "(a|aa)+$"'),
    "a slow pattern, searched": value(f'regex("(a|aa)+$").searchAll({LONG})'),
    "a slow pattern that splits": value(f'regex("(a|aa)+$").split({LONG})'),
    "a slow pattern that replaces": value(f'{LONG}.replace(regex("(a|aa)+$"), x)'),
    "repetitions of repetitions": value("regex('(?:' * 60 + a + '{1,9})' * 60)"),
    "counts of counts": value("regex('(?:' * 9 + a + '{9})' * 9)"),
    "ranges in either case": value("regex('[\\U00000001-\\U0010ffff]' * 1400, true)"),
    "ranges in either case, the other way": value(
        "regex('(?i)' + '[\\U00000001-\\U0010ffff]' * 1400)"
    ),
    "a long pattern": value('regex("a" * 1000000)'),
    "brackets": value("(" * 900 + "1" + ")" * 900),
    "minus signs": value("-" * 900 + "1"),
    "lists in lists": value("[" * 900 + "]" * 900),
    "a large power": value("pow(10, pow(10, 10))"),
    "a large power of a remainder": "$n: !yaql 'shiftBitsLeft(1, 99990) + 12345'\n- "
    + value("pow($n, $n, $n - 2)"),
    "a large shift": value("shiftBitsLeft(1, 100000000000)"),
    "products": "$i: 2\n- Repeat: 60\n  Do: [{$i: $i * $i}]",
    "text that is replaced by more": GROW.format("$s.replace(a, aaaaaaaaaa)"),
    "nothing that is replaced": GROW.format("$s.replace('', $s)"),
    "text that a map replaces": GROW.format("$s.replace({a => aaaaaaaaaa})"),
    "a map of many": GROW.format("$s.replace({a => bb, b => cc, c => dd, d => aaaaaa})"),
    "joined text": GROW.format("[$s, $s, $s].join($s)"),
    "text that joins": GROW.format("$s.join([$s, $s, $s])"),
    "concatenated text": GROW.format("concat($s, $s)"),
    "added text": GROW.format("$s + $s"),
    "formatted text": GROW.format("'{0}{0}{0}'.format($s)"),
    "text of lists": GROW.format("str([$s, $s, $s])"),
    "many concatenated texts": LARGE + value(f"concat({', '.join(['$s'] * 400)})"),
    "large lists in a format": "$s: !yaql '[0] * 300000'\n- $f: !yaql '\"{0}\" * 1000000'\n- "
    + value("format($f, $s)"),
    "widths in a format": "$f: !yaql '\"{0:999}\" * 500000'\n- " + value("format($f, 1)"),
    "matches that are replaced": LARGE + value("regex(a).replace($s, $s)"),
    "a list that doubles": "$s: [1]\n- Repeat: 60\n  Do: [{$s: $s + $s}]",
    "lists of themselves": "$s: [1]\n- Repeat: 60\n  Do: [{$s: 'list'}, {$s: !yaql '$s + $s'}]"
    "\n- $s: [1]\n- Repeat: 60\n  Do: [{$s: !yaql 'list($s, $s)'}]",
    "shared parts as text": TWICE + value("str($d)"),
    "shared parts in a format": TWICE + value("'{}'.format($d)"),
    "shared parts, compared": TWICE + value("$d = $e"),
    "shared parts, told apart": TWICE + value("$d != $e"),
    "shared parts, looked for": TWICE + value("$d in [$e]"),
    "shared parts, contained": TWICE + value("[$e].contains($d)"),
    "shared parts, returned": TWICE + "Return: $d",
    "shared parts for a function": TWICE + "trace($d)",
    "shared parts, changed": TWICE + value("[$d].select([$])"),
    "shared parts as a key": TWICE + value("{$d => 1}.len()"),
    "shared parts as a key that is set": TWICE + value("{a => 1}.set($d, 2).len()"),
    "shared parts as the key of a group": TWICE + value("[1].groupBy($d).len()"),
    "shared parts as the key of each": TWICE + value("[1].toDict($d).len()"),
    "shared parts as a key in a statement": TWICE + "$m:\n    $d: 1",
    "shared parts, looked for in a map": TWICE + value("{a => 1}.get($d)"),
    "shared parts in a set": TWICE + value("set($d).len()"),
    "shared parts that come again": TWICE + value("generateMany($d, [], $, true).len()"),
    "deep parts, returned": DEEP + "Return: $d",
    "deep parts for a function": DEEP + "trace($d)",
    "deep parts as text": DEEP + value("str($d)"),
    "deep parts, compared": DEEP + value("$d = [$d]"),
    "deep parts as a key": DEEP + value("{$d => 1}.len()"),
    "deep parts in a set": DEEP + value("set($d).len()"),
    "deep parts that come once": DEEP + value("[$d].distinct().len()"),
    "deep parts as the key of a group": DEEP + value("[1].groupBy($d).len()"),
    "calls in calls": "$.f(1)",
    "calls of each other": "$.g(1)",
    "rounds": "While: 1 > 0\n  Do: [{$i: 1}]",
    "rounds of nothing": "While: 1 > 0\n  Do: []",
    "rounds that are counted": "Repeat: 100000000000\n  Do: []",
    "rounds in a branch": "Parallel:\n    - While: 1 > 0\n      Do: []\n    - $x: 1",
    "branches in branches": value(
        "range(2000).toList().pselect(range(2000).toList().pselect(range(2000).toList().pselect($)))"
    ),
    "branches of branches": "$.p()",
    "causes of causes": "$e: null\n- Repeat: 9000\n  Do: [{Try: [{Throw: X, Cause: $e}], Catch: {As: e, Do: []}}]",
    "lambdas": value("range(2000).select(range(2000).select(range(2000).select($)))"),
    "lambdas of yaql": value("range(2000).join(range(2000), true, [$1, $2]).len()"),
    "lambdas that find nothing": value(
        "range(2000).where(range(2000).any(range(2000).any($ = -1)))"
    ),
    "orders": value("range(2000).orderBy(range(2000).select($ + 1).sum()).toList()"),
}
METHODS = """
f: {Arguments: [{n: {Contract: $}}], Body: [{Return: $.f($n)}]}
g: {Arguments: [{n: {Contract: $}}], Body: [{Return: $.h($n)}]}
h: {Arguments: [{n: {Contract: $}}], Body: [{Return: $.g($n)}]}
p: {Body: [{Parallel: [$.p(), $.p(), $.p(), $.p()]}]}
"""
FEW = Limits(steps=20_000)


@pytest.mark.parametrize("form", ["1.0", full("1.4")])
@pytest.mark.parametrize("name", some_of(HOSTILE, 5))
def test_code_without_measure_ends_in_limit_with_its_place(name, form):
    with pytest.raises(EngineError) as caught:
        run(f"- {HOSTILE[name]}", methods=METHODS, limits=FEW, form=form)
    error = caught.value
    assert error.code == "limit"
    assert error.file == "Classes/class0.yaml"
    assert error.line
    assert len(str(error)) < 1000


def test_the_same_code_with_measure_is_no_error():
    """Or the cases above fail for a reason of their own."""
    few = value("generate(0, $ < 5, $ + 1).len()")
    assert run(few) == 5
    assert run(value("range(0, 1000).len()")) == 1000
    assert run(value("[0] * 100")) == [0] * 100
    assert run(value('"aaab" =~ "(a|aa)+b$"')) is True
    assert run(value("(" * 100 + "1" + ")" * 100)) == 1
    assert run("- $s: aa\n- Return: !yaql \"$s.replace('', '-')\"") == "-a-a-"
    assert run('- $s: aa\n- Return: !yaql "$s.replace(a, bb, 1)"') == "bba"
    assert run('- $s: a\n- Return: !yaql "$s.join([1, 2, 3])"') == "1a2a3"
    assert run("- $d: [1]\n- $e: [1]\n- Return: !yaql '[[$d, $d] = [$e, $e], $d != $e]'") == [
        True,
        False,
    ]
    assert run("- $d: [1]\n- Return: !yaql 'str([$d, {a => $d}])'")


@pytest.mark.parametrize(
    "field", ["{0.__class__}", "{0[a]}", "{a.b}", "{0!r}", "{:{0}}", "{:99999}"]
)
def test_a_format_reaches_neither_attributes_nor_items_nor_widths_without_end(field):
    with pytest.raises(EngineError) as caught:
        run(value(f'format("{field}", 1, a => 2)'))
    assert "expected {}, {0} or {name} in a format" in caught.value.message
    with pytest.raises(EngineError):
        run(f"- $l: new('io.murano.system.Logger', name => x)\n- $l.info('{field}', 1, a => 2)")


@pytest.mark.full
def test_shared_parts_are_counted_before_they_are_flattened():
    with pytest.raises(EngineError, match="more than 1000000 values") as caught:
        run(f"- {TWICE}Return: $d.flatten().len()")
    assert caught.value.code == "limit"


def test_a_limit_cannot_be_caught():
    seen = []
    body = """
    - Try:
        - While: 1 > 0
          Do: []
      Catch:
        - Do: [trace(caught)]
      Finally: [trace(finally)]
    """
    with pytest.raises(EngineError) as caught:
        run(body, seen=seen, limits=FEW)
    assert caught.value.code == "limit"
    assert seen == []


def test_the_steps_of_lambdas_count():
    few = Limits(steps=100)
    assert run(value("range(50).select($ + 1).len()"), limits=few) == 50
    for each in ("range(150).select($ + 1).toList()", "range(150).orderBy(0 - $).first()"):
        with pytest.raises(EngineError) as caught:
            run(value(each), limits=few)
        assert "more than 100 steps" in caught.value.message


def test_steps_and_time_begin_anew_with_each_call():
    text = "Methods: {f: {Scope: Public, Body: [{Repeat: 80, Do: []}]}}"
    with opened({"a.A": text}, limits=Limits(steps=100)) as (session, root):
        for _ in range(5):
            session.call(root, "f")


def test_a_function_that_calls_the_session_again_gives_a_run_no_more_steps():
    text = """
    Methods:
      f: {Scope: Public, Body: [{While: true = true, Do: [back()]}]}
      g: {Scope: Public, Body: []}
    """
    found = []

    def back():
        session, root = found
        session.call(root, "g")

    limits = Limits(steps=300)
    with opened({"a.A": text}, functions={"back": back}, limits=limits) as (session, root):
        found[:] = [session, root]
        with pytest.raises(EngineError) as caught:
            session.call(root, "f")
        assert caught.value.code == "limit"


@pytest.mark.parametrize(
    "body",
    [
        "While: 1 > 0\n  Do: []",
        value("range(2000).select(range(2000).select(range(2000).select($)))"),
        "sleep(1000000)",
        "Parallel: [sleep(1000000), sleep(2000000)]",
    ],
)
def test_time_is_limited(body):
    began = time.monotonic()
    with pytest.raises(EngineError) as caught:
        run(f"- $x: 1\n- {body}", limits=Limits(steps=10**12, seconds=0.2))
    assert time.monotonic() - began < 60
    assert "more than 0.2 seconds" in caught.value.message
    assert caught.value.code == "limit"
    assert caught.value.line


@pytest.mark.parametrize(
    "expression",
    ['datetime("1 " * 500000)', 'datetime("2020", "%Y" * 500000)', 'datetime("May " * 250000)'],
)
def test_long_dates_are_refused_soon(expression):
    began = time.monotonic()
    with pytest.raises(EngineError, match="at most 1000 characters"):
        run(f"- {value(expression)}")
    assert time.monotonic() - began < 60  # It took minutes.


def test_time_is_looked_at_after_few_steps_that_take_long():
    """A thousand of these took minutes."""

    def slow():
        time.sleep(0.02)

    began = time.monotonic()
    with pytest.raises(EngineError, match=r"more than 0\.2 seconds"):
        run(
            "- While: 1 > 0\n  Do: [slow()]",
            functions={"slow": slow},
            limits=Limits(seconds=0.2),
        )
    assert time.monotonic() - began < 10


def test_a_destructor_without_end_is_no_success():
    """What comes after it, destructors of others too, would not run."""
    classes = {
        "a.S": "Methods: {.destroy: {Body: [trace(begun), {While: 1 > 0, Do: []}]}}",
        "a.T": "Methods: {.destroy: {Body: [$.f(1)]}, f: {Arguments: [{n: {Contract: $}}], Body: [$.f($n)]}}",
    }
    seen = []
    with pytest.raises(EngineError, match="more than 20000 steps") as caught:
        run("- new(S)\n- new(S)\n- sys:GC.collect()", classes=classes, seen=seen, limits=FEW)
    assert caught.value.code == "limit"
    assert caught.value.class_name == "a.S"
    assert seen == ["begun"]
    assert run("- new(T)\n- sys:GC.collect()\n- Return: 1", classes=classes, limits=FEW) == 1


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("(?:ab){e<=1}", "ax", False),
        ("(?:ab){e<=1}", "ab{e<=1}", True),
        ("a{s<=1:[xy]}", "a", False),
        ("[[:alpha:]]", "b", False),
        ("[[:alpha:]]", "a]", True),
        (r"\\{a{2}", "{aa", True),
        (r"\\N{DASH}|b", "b", None),
        (r"[\\]{]", "{", True),
        ("(?x)(ab) {e<=1}", "ax", False),
        ("(?x)(ab) {e<=1}", "ab{e<=1}", True),
        ("(?x: [[:alpha:]] )", "b", False),
        ("(?x)a(?-x: #{)b", "a #{b", True),
        ("(?x)a\u00a0b", "ab", False),
    ],
)
def test_patterns_mean_what_they_mean_in_python(pattern, text, found):
    """The library that ends them knows more: inexact matches, and classes in classes."""
    escaped = pattern.replace("\\\\", "\\")
    if found is None:
        with pytest.raises(EngineError):
            run(value(f"'{text}' =~ '{pattern}'"))
        with pytest.raises(re.error):
            re.compile(escaped)
        return
    assert (re.search(escaped, text) is not None) is found
    assert run(value(f"'{text}' =~ '{pattern}'")) is found


@pytest.mark.parametrize(
    "pattern",
    [
        "((a{300}){300}){2}(?#()",
        "(?x)((a{300}){300}){2} # (",
        "(?:(?:a{300}){300})(?#c){2}",
        "(?x)(?:(?:a{300}){300}) # c\n {2}",
    ],
)
def test_comments_hide_no_counts_of_patterns(pattern):
    with pytest.raises(EngineError, match="repeats more than 100000 parts") as caught:
        Pattern(pattern, 0)
    assert caught.value.code == "limit"


def test_a_comment_in_a_pattern_has_no_groups():
    text = "(?x: a # {e<=1} (\n {2})b#{e<=1}"
    for each in ("aab#{e<=1}", "aab#", "abb#{e<=1}"):
        assert bool(Pattern(text, 0).search(each)) is bool(re.search(text, each))


def test_counts_of_patterns_with_measure_are_no_error():
    assert run(value("'ab.cd.' =~ '^([a-z]{1,63}[.]){2,100}$'")) is True
    assert run(value("regex('[a-z]', true).matches('X')")) is True


def test_results_are_limited():
    limits = Limits(results=10)
    assert run(value("range(9).toList()"), limits=limits) == list(range(9))
    for each in ("range(11).toList()", "[[1, 2, 3], [1, 2, 3], [1, 2, 3]]"):
        with pytest.raises(EngineError) as caught:
            run(value(each), limits=limits)
        assert "more than 10 values" in caught.value.message


@pytest.mark.parametrize("name", ["rounds of nothing", "lambdas", "shared parts, compared"])
@pytest.mark.parametrize("where", some_of(["init", "default", "contract"], 3))
def test_code_without_measure_in_a_model_that_loads_ends_in_limit(where, name):
    body = HOSTILE[name]
    text = {
        "init": "Methods:\n  .init: {Body: [$.f()]}\n",
        "default": "Properties: {n: {Contract: $, Default: $.f()}}\nMethods:\n",
        "contract": "Properties: {n: {Contract: $.check($this.f()), Default: 1}}\nMethods:\n",
    }[where]
    text += "  f:\n    Body:\n" + indent(f"- {body}", " " * 6)
    with pytest.raises(EngineError) as caught, opened({"a.A": text}, limits=FEW):
        pass
    assert caught.value.code == "limit"
    assert caught.value.file == "Classes/class0.yaml"


@pytest.mark.parametrize(
    "body",
    some_of(
        [
            GROW.format("base64encode($s)"),
            GROW.format("'$-{k}{k}'.bind({k => $s})"),
            TWICE + value("$d.bind({a => 1})"),
            TWICE + value('"$-{k}".bind({k => $d})'),
            "$m: {a: [1, 2]}\n- $o: !yaql \"[{op => copy, from => '/a', path => '/a/-'}] * 60\"\n- "
            + value("$m.patch($o)"),
            TWICE + value("{a => $d}.patch({op => remove, path => '/a'})"),
            TWICE + value("{a => 1}.patch({op => add, path => '/b', value => $d})"),
        ],
        2,
    ),
)
def test_functions_of_the_engine_make_no_values_without_measure(body):
    began = time.monotonic()
    with pytest.raises(EngineError) as caught:
        run(f"- {body}", limits=FEW)
    assert time.monotonic() - began < 60
    assert caught.value.code == "limit"
    assert "memory" not in caught.value.message
    assert caught.value.line
