"""Compiled expressions and yaql's own evaluator agree: on values, on errors, and on what is evaluated in which order."""

import warnings
from collections.abc import Iterator

import pytest
from amounts import amount, full, some_of
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scenes import Thing, Type, World

from trundle.engine import EngineError
from trundle.engine.expressions import Expression, Scope, freeze, language_for
from trundle.engine.expressions._compile import Compiler
from trundle.engine.expressions._rows import FUNCTIONS, METHODS, OPERATORS
from trundle.engine.expressions._scope import context_of
from trundle.engine.expressions._yaql import unwrapped

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-4, 4)
    | st.sampled_from([0.5, -2.0, 1e308])
    | st.sampled_from(["", "a", "b", "ab a", "{}", "{0}b", "12", "a+"])
)
DATA = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=6,
)
LEAVES = (
    st.sampled_from(["$", "$", "$a", "$b", "$missing", "null", "true", "false", "a", "b", "$this"])
    | st.integers(0, 5).map(str)
    | st.sampled_from(["0.5", "2.0", "'a'", "'ab a'", "''", "'{0}-{}'", "'a+'", "`b`", "'('"])
)
NOT_COMPILED = [
    "thenBy",
    "thenByDescending",
    "aggregate",
    "flatten",
    "mergeWith",
    "distinct",
    "concat",
    "reverse",
]


def texts(inner):
    two = st.tuples(inner, inner)
    arguments = st.lists(inner, max_size=3).map(", ".join)
    names = st.sampled_from(sorted({*METHODS, *FUNCTIONS, *NOT_COMPILED, "nothing"}))
    operators = st.sampled_from([*OPERATORS, "and", "or", "is"])
    return st.one_of(
        st.tuples(inner, operators, inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(st.sampled_from(["-", "+", "not "]), inner).map("".join).map("({})".format),
        st.tuples(inner, st.sampled_from([".", "?."]), st.sampled_from("abc")).map("".join),
        two.map(lambda t: f"{t[0]}[{t[1]}]"),
        st.tuples(inner, names, arguments).map(lambda t: f"{t[0]}.{t[1]}({t[2]})"),
        st.tuples(inner, names, arguments).map(lambda t: f"{t[0]}?.{t[1]}({t[2]})"),
        st.tuples(names, arguments).map(lambda t: f"{t[0]}({t[1]})"),
        inner.map("trace({})".format),
        inner.map("trace({})".format),
        arguments.map("[{}]".format),
        st.lists(two, max_size=2).map(
            lambda pairs: "{" + ", ".join(f"{k} => {v}" for k, v in pairs) + "}"
        ),
        st.lists(two, min_size=1, max_size=3).map(
            lambda pairs: "switch(" + ", ".join(f"{k} => {v}" for k, v in pairs) + ")"
        ),
        arguments.map("coalesce({})".format),
        arguments.map("list({})".format),
        two.map(lambda t: f"(let(a => {t[0]}, {t[1]}) -> $a)"),
        st.tuples(inner, inner).map(lambda t: f"(let(a => {t[0]}) -> {t[1]})"),
        two.map(lambda t: f"({t[0]}.unpack(a, b) -> {t[1]})"),
        st.tuples(inner, inner).map(lambda t: f"first(default => {t[0]}, {t[1]})"),
    )


EXPRESSIONS = st.recursive(LEAVES, texts, max_leaves=8)


def typed(value):
    """A value in which 1, 1.0 and true differ."""
    if isinstance(value, tuple):
        return [typed(each) for each in value]
    if isinstance(value, frozenset):
        return {typed(each) if not isinstance(each, tuple) else each for each in value}
    if hasattr(value, "items"):
        return [(typed(key), typed(each)) for key, each in value.items()]
    shown = repr(value)
    return (type(value).__name__, shown if " at 0x" not in shown else "")


def outcome(evaluate):
    """What comes out, and what was traced on the way."""
    seen = []

    def trace(value):
        lazy = isinstance(value, Iterator)
        seen.append("a sequence" if lazy else repr(typed(freeze(value))))
        return value

    try:
        found = typed(freeze(evaluate(trace)))
    except EngineError as error:
        found = (type(error), error.code)
    except Exception as error:  # noqa: BLE001 - whatever yaql raises
        bare = unwrapped(error)
        found = (type(bare), str(bare)[:80] if "0x" not in str(bare) else "")
    return found, seen


def both(text, variables, is_legacy):
    return contestants(text, is_legacy)(variables)


def contestants(text, is_legacy):
    """What evaluates an expression, compiled once, in both ways."""
    language = language_for(is_legacy=is_legacy)
    tree = Expression(text).tree
    compiled = Compiler(language).closure(tree)
    return lambda variables: outcomes(language, tree, compiled, variables)


def outcomes(language, tree, compiled, variables):
    type_ = Type("a.T")
    this = Thing(type_, "this", a=1, b=[{"a": 1}, {"a": 2}])
    values = {"$1": variables[0], "$a": variables[1], "$b": variables[2], "$this": this}

    def scope(trace):
        return Scope(World(this, {"a": type_}, functions={"trace": trace}), freeze(values))

    def by_us(trace):
        return compiled(scope(trace))

    def by_yaql(trace):
        return language.evaluate(tree.native, context_of(scope(trace), language))

    return outcome(by_us), outcome(by_yaql)


@pytest.mark.parametrize("is_legacy", [False, True])
@settings(max_examples=amount(1000), suppress_health_check=list(HealthCheck), deadline=None)
@given(text=EXPRESSIONS, variables=st.tuples(DATA, DATA, DATA))
def test_generated_expressions_agree(text, variables, is_legacy):
    try:
        _ = Expression(text).tree
    except EngineError:
        assume(False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = both(text, variables, is_legacy)
    assert ours == theirs


VALUES = {
    "_Any": ["null", "true", "2", "'a'", "[1]", "{a => 1}", "[1].select($)"],
    "int": ["0", "2", "-1"],
    "float": ["0.5", "-2.0"],
    "str": ["''", "'a'", "'ab,a'", "'{0}{}'", "'12'"],
    "tuple": ["[]", "[1, 2]", "[[1], [2, 3]]", "['b', 'a']", "[null, 0]"],
    "list": ["'b,a'.split(',')"],
    "FrozenDict": ["{}", "{a => 1}"],
    "dict": ["[1, 2].toDict($)"],
    "_Lazy": ["$", "$ = 1", "[$, $]", "trace($) > 1", "$.missing", "1/0"],
    "map": ["[1, 2].select(trace($))"],
    "filter": ["[2, 1].where(trace($) > 0)"],
    "generator": ["[[1], 2].selectMany(trace($))"],
    "islice": ["[1, 2, 3].skip(1)"],
    "chain": ["[1].concat([2])"],
}


def calls():
    """For each row and each way to fill one of its arguments, a call."""
    for table, shape in ((METHODS, "({}).{}({})"), (FUNCTIONS, None), (OPERATORS, "")):
        for name, rows in sorted(table.items()):
            for row in rows:
                choices = [
                    [text for each in kind for text in VALUES[each.__name__]] for kind in row.kinds
                ]
                for filled in filled_in(choices):
                    if shape is None:
                        yield f"{name}({', '.join(filled)})"
                    elif shape:
                        yield shape.format(filled[0], name, ", ".join(filled[1:]))
                    else:
                        yield f"({filled[0]}) {name} ({filled[1]})"


def filled_in(choices):
    for at, each in enumerate(choices):
        for value in each:
            yield [value if place == at else some[-1] for place, some in enumerate(choices)]
            yield [value if place == at else some[0] for place, some in enumerate(choices)]


@pytest.mark.full
@pytest.mark.parametrize("is_legacy", [full(False), True])
def test_every_row_agrees_on_what_it_is_for(is_legacy):
    differing, valued = [], 0
    for text in sorted(set(calls())):
        ours, theirs = both(text, ([], None, None), is_legacy)
        differing += [(text, ours, theirs)] if ours != theirs else []
        valued += isinstance(ours[0], list) or isinstance(ours[0][0], str)
    assert differing == []
    assert valued > 300


@pytest.mark.parametrize("is_legacy", [False, full(True)])
def test_operators_agree_on_values_that_are_no_constants(is_legacy):
    values = ["null", "true", "1", "0.5", "'a'", "[1]", "{a => 1}"]
    texts = [
        f"let(p => {left}, q => {right}) -> $p {operator} $q"
        for operator in OPERATORS
        for left in values
        for right in values
    ]
    outcomes = {text: both(text, ([], None, None), is_legacy) for text in texts}
    assert [(text, *each) for text, each in outcomes.items() if each[0] != each[1]] == []


@pytest.mark.parametrize("is_legacy", [False, full(True)])
def test_an_operator_agrees_on_values_whatever_types_it_had_before(is_legacy):
    values = [1, "a", 0.5, None, True, [1], {"a": 1}, 2, "b", -0.5, False, [], {}, None, 3]
    differing = []
    for operator in OPERATORS:
        for right in ("2", "'a'", "0.5", "null", "$a", "$missing", "($a)", "a"):
            evaluate = contestants(f"$ {operator} {right}", is_legacy)
            for left, other in zip(values, reversed(values), strict=True):
                ours, theirs = evaluate((left, other, None))
                differing += [(operator, left, right, other)] if ours != theirs else []
    assert differing == []


ITEMS = [
    "[]",
    "[1]",
    "[3, 1, 2]",
    "[1, 1.0, true]",
    "[2, 1.5, 0.5, 2.0]",
    "['b', 'a', 'c', '']",
    "['b', 1]",
    "[1, null, 3]",
    "[null, null]",
    "[null, 'a']",
    "[[2], [1]]",
    "[{a => 2}, {a => 1}]",
    "[[1, 2], [3, 4], [1, 5], [3, 6]]",
    "[[a, 1], [b, 2], [a, 3, 4]]",
    "[true, false]",
    "range(5)",
    "[3, 1, 2].select(trace($))",
    "[3, x, 2].select(trace($))",
    "[[3, 1], [2]].selectMany(trace($))",
    "[3, 1, 2].where(trace($) > 1)",
    "[5, 4, 3].skip(1)",
    "[1].concat([2])",
    "[2, 1].toSet()",
    "[2, 1, 2].orderBy($)",
    "[1, 2, 1].groupBy($)",
    "{b => 1, a => 2}",
    "{b => 1, a => 2}.items()",
    "'ab'",
    "'b,a'.split(',')",
    "null",
    "5",
    "range(3000)",
    "[9, 8].select($ / 0)",
]
FOLDS = [
    "sum()",
    "sum(10)",
    "sum('x')",
    "sum(null)",
    "sum(0.5)",
    "sum(initial => 1)",
    "sum([])",
    "max()",
    "max(2)",
    "max(null)",
    "max('bb')",
    "max(initial => 2)",
    "min()",
    "min(2)",
    "min(null)",
    "min('bb')",
    "orderBy($)",
    "orderBy(trace($))",
    "orderBy(trace(-$))",
    "orderBy($[0])",
    "orderBy($.a)",
    "orderBy($.missing)",
    "orderBy($, $)",
    "orderBy(1)",
    "orderBy(selector => -$)",
    "orderBy($[0]).thenBy(trace($[1]))",
    "orderBy($[0]).thenByDescending($[1])",
    "orderBy($).select(trace($))",
    "orderBy(trace($)).first()",
    "orderBy($).len()",
    "orderByDescending(trace($))",
    "groupBy($)",
    "groupBy(trace($))",
    "groupBy($[0])",
    "groupBy($[0], trace($[1]))",
    "groupBy($ mod 2, $, trace($))",
    "groupBy($[0], $[1], $.sum())",
    "groupBy($[0], $[1], [$[0], $[1].sum()])",
    "groupBy($[0], $[1], trace($).len())",
    "groupBy($, $, $.missing())",
    "groupBy($, $, $[5])",
    "groupBy($, aggregator => $.len())",
    "groupBy(1, $, [1, 2])",
    "groupBy($.missing)",
]


@pytest.mark.parametrize("is_legacy", [False, full(True)])
@pytest.mark.parametrize("fold", some_of(FOLDS, 16))
def test_sums_orders_and_groups_agree_on_odd_items(fold, is_legacy):
    outcomes = {
        text: both(text, ([], None, None), is_legacy)
        for items in ITEMS
        for text in (f"{items}.{fold}", f"let(p => {items}) -> $p.{fold}")
    }
    assert [(text, *each) for text, each in outcomes.items() if each[0] != each[1]] == []


def test_sums_orders_and_groups_are_compiled():
    for text, value in {
        "[3, 1, 2].sum()": ("int", "6"),
        "[3, 1, 2].max()": ("int", "3"),
        "[b, a].min()": ("str", "'a'"),
        "[3, 1].orderBy($)": [("int", "1"), ("int", "3")],
        "[3].groupBy($)": [[("int", "3"), [("int", "3")]]],
    }.items():
        assert [each[0] for each in both(text, ([], None, None), is_legacy=False)] == [value, value]
        name = text.partition(".")[2].partition("(")[0]
        assert name in METHODS
