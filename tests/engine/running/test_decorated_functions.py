"""Functions and natives that carry yaql's decorators; what these mean is yaql's to say."""

import asyncio
import functools
import weakref

import pytest
import yaql
from garbage import collected
from programs import opened, refused, run
from yaql.language import specs, utils, yaqltypes
from yaql.language.exceptions import YaqlException

from trundle.engine import EngineError, Handle, native
from trundle.engine.expressions import decorated


@specs.parameter("count", yaqltypes.Integer())
@specs.parameter("text", yaqltypes.String(nullable=True), alias="of")
def times(count, text="x"):
    return None if text is None else text * count


@specs.method
@specs.parameter("items", yaqltypes.Iterable())
@specs.parameter("function", yaqltypes.Lambda())
def each_of(items, function):
    return [function(each) for each in items]


@specs.extension_method
@specs.parameter("text", yaqltypes.String())
def loud(text):
    return text.upper()


@specs.name("ignored")
@specs.no_kwargs
def pair(left, right):
    return [left, right]


@specs.inject("context", yaqltypes.Context())
@specs.parameter("values", utils.MappingType)
def keys_of(context, values):
    assert context is not None
    return sorted(values)


@specs.parameter("values", yaqltypes.Number())
@specs.parameter("named", yaqltypes.Integer())
def total(*values, **named):
    return sum(values) + sum(named.values())


@specs.parameter("functions", yaqltypes.Lambda())
def chain(value, *functions):
    for each in functions:
        value = each(value)
    return value


FUNCTIONS = {
    "chain": chain,
    "times": times,
    "eachOf": each_of,
    "loud": loud,
    "pair": pair,
    "keysOf": keys_of,
    "total": total,
}
FITTING = [
    "times(3)",
    "times(3, ab)",
    "times(count => 2, of => ab)",
    "times(2, of => ab)",
    "times(2, null)",
    "list(1, 2).eachOf($ + 1)",
    "range(3).eachOf($ * 2)",
    "list(1, 2).eachOf(7)",
    "list(ab).eachOf(loud($))",
    "loud(ab)",
    "ab.loud()",
    "pair(1, 2)",
    "keysOf(dict(b => 1, a => 2))",
    "total()",
    "total(1, 2.5)",
    "total(1, a => 2, b => 3)",
    "chain(1)",
    "chain(1, $ + 1, $ * 5)",
    "chain(1, 7)",
]
UNFIT = [
    "times()",
    "times(ab)",
    "times(null)",
    "times(true)",
    "times(2, 3)",
    "times(2, text => ab)",
    "times(2, ab, of => ab)",
    "times(1, a, 2)",
    "eachOf(list(1), $)",
    "5.eachOf($)",
    "loud(5)",
    "5.loud()",
    "null.loud()",
    "keysOf(5)",
    "keysOf(null)",
    "total(ab)",
    "total(1, a => 2.5)",
]


PARSER = functools.cache(lambda: yaql.YaqlFactory().create())


def by_yaql(text):
    context = yaql.create_context()
    for name, function in FUNCTIONS.items():
        context.register_function(function, name=name)
    return PARSER()(text).evaluate(context=context)


@pytest.mark.parametrize("text", FITTING)
def test_functions_are_called_as_yaql_calls_them(text):
    assert run(f"Return: {text}", functions=FUNCTIONS) == by_yaql(text)


@pytest.mark.parametrize("text", UNFIT)
def test_what_does_not_fit_a_function(text):
    with pytest.raises(YaqlException):
        by_yaql(text)
    with pytest.raises(EngineError) as caught:
        run(f"Return: {text}", functions=FUNCTIONS)
    assert caught.value.code in ("no-match", "unknown-function", "no-method")


def test_the_codes_of_what_does_not_fit():
    for text in ("times(ab)", "times(null)", "5.loud()", "total(ab)"):
        with pytest.raises(EngineError) as caught:
            run(f"Return: {text}", functions=FUNCTIONS)
        assert caught.value.code == "no-match"


def test_calls_by_name():
    calls = (
        "call(times, [2], {of => ab})",
        "call(loud, [], {}, ab)",
        "call(eachOf, [5], {}, [1, 2])",
    )
    body = f"Return: !yaql '[{', '.join(calls)}]'"
    assert run(body, functions=FUNCTIONS) == ["abab", "AB", [5, 5]]


def test_functions_get_and_give_values_of_python():
    seen = []

    @specs.parameter("owner", Handle)
    @specs.parameter("values", yaqltypes.Sequence())
    @specs.parameter("compute", yaqltypes.Lambda())
    def see(owner, values, compute):
        seen.extend([owner, values, compute(owner, values)])
        return owner

    head = "Properties: {n: {Contract: $, Default: 3}}"
    body = "Return: !yaql 'see($, [1, [2]], [$.n, $2]).n'"
    assert run(body, head=head, functions={"see": see}) == 3
    assert isinstance(seen[0], Handle)
    assert seen[1:] == [[1, [2]], [3, [1, [2]]]]
    with refused("yaql.language.exceptions.NoMatchingFunctionException", "no-match"):
        run("see(5, [], 1)", functions={"see": see})


def test_a_bound_method_and_one_that_waits():
    class Tools:
        @specs.parameter("value", yaqltypes.Integer())
        def plus(self, value):
            return value + 1

        @specs.parameter("value", yaqltypes.Integer())
        async def later(self, value):
            await asyncio.sleep(0)
            return value

    tools = Tools()
    functions = {"plus": tools.plus, "later": tools.later}
    assert run("Return: [plus(1), later(2)]", functions=functions) == [2, 2]
    with refused("yaql.language.exceptions.NoMatchingFunctionException", "no-match"):
        run("plus(ab)", functions=functions)


def test_functions_of_the_language_win():
    assert run("Return: [len(abc), abc.len()]", functions={"len": loud}) == [3, 3]


class Native:
    """Behind `a.N`."""

    @specs.name("count_up")
    @specs.parameter("start", yaqltypes.Integer(), alias="from")
    @specs.parameter("label", yaqltypes.String(nullable=True))
    def count(self, start, label=None):
        return [start + 1, label]

    @specs.parameter("step", yaqltypes.Integer())
    def go(self, step=2):
        return step

    @staticmethod
    @specs.extension_method
    @specs.parameter("text", yaqltypes.String())
    def louder(text):
        return text.upper()

    @classmethod
    @specs.meta("Usage", "Extension")
    @specs.parameter("number", yaqltypes.Integer())
    def dbl(cls, number):
        return number * 2

    @specs.inject("receiver", yaqltypes.Receiver())
    @specs.inject("engine", yaqltypes.Engine())
    def who(self, receiver, engine, value):
        assert isinstance(receiver, Handle)
        assert engine is not None
        return [receiver.type.name, value]

    @specs.meta("Scope", "Public")
    def public(self):
        return 1

    @specs.parameter("values", yaqltypes.Integer())
    @specs.parameter("named", yaqltypes.String())
    def all_of(self, *values, **named):
        return [values, named]

    @native("called")
    @specs.name("other")
    def named(self):
        return "named"

    @specs.parameter("function", yaqltypes.Lambda())
    def apply(self, function, items=()):
        return [function(each) for each in items]

    @staticmethod
    @specs.parameter("function", yaqltypes.Lambda())
    @native(usage="Extension")
    def every(items, function):
        return [function(each) for each in items]

    @specs.parameter("functions", yaqltypes.Lambda())
    def chain(self, value, *functions):
        for each in functions:
            value = each(value)
        return value

    @specs.parameter("functions", yaqltypes.Lambda())
    @specs.parameter("named", yaqltypes.Lambda())
    def results(self, *functions, **named):
        return [[each(5) for each in functions], {name: each(5) for name, each in named.items()}]

    @staticmethod
    @specs.parameter("functions", yaqltypes.Lambda())
    @native(usage="Extension")
    def through(value, *functions):
        return [each(value) for each in functions]


def of_native(text):
    return run(
        f'- $k: 10\n- Return: !yaql "{text}"',
        head="Import: N",
        classes={"a.N": ""},
        natives={"a.N": Native},
    )


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("new(N).countUp(1)", [2, None]),
        ("new(N).countUp(from => 1, label => a)", [2, "a"]),
        ("new(N).go()", 2),
        ("new(N).go(3)", 3),
        ("ab.louder()", "AB"),
        ("5.dbl()", 10),
        ("new(N).who(3)", ["a.N", 3]),
        ("new(N).public()", 1),
        ("new(N).allOf(1, 2, a => b)", [[1, 2], {"a": "b"}]),
        ("new(N).called()", "named"),
        ("new(N).apply($ + $k, [1, 2])", [11, 12]),
        ("new(N).apply(items => [1, 2], function => $ + 1)", [2, 3]),
        ("new(N).apply(7, [1, 2])", [7, 7]),
        ("list(1, 2).every($ + $k)", [11, 12]),
        ("call(apply, [7, [1, 2]], {}, new(N))", [7, 7]),
        ("new(N).chain(1, $ + 1, $ * $k)", 20),
        ("new(N).chain(3)", 3),
        ("new(N).results($ + 1, 7, a => $ * 2)", [[6, 7], {"a": 10}]),
        ("new(N).results(a => $k)", [[], {"a": 10}]),
        ("4.through($ + 1, $ + $k)", [5, 14]),
        ("call(chain, [1, 7], {}, new(N))", 7),
    ],
)
def test_natives(text, result):
    assert of_native(text) == result


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "new(N).countUp(ab)",
            "expected a value of the type Integer for the argument from of a.N.countUp, found 'ab'",
        ),
        ("new(N).countUp(null)", "the argument from"),
        ("new(N).countUp(1, 2)", "String or null for the argument label"),
        ("new(N).countUp(start => 1)", "start"),
        ("new(N).go(ab)", "the argument step"),
        ("new(N).allOf(1, b)", "the argument values"),
        ("new(N).allOf(a => 1)", "the argument named"),
        (":N.louder(5)", "the argument text"),
    ],
)
def test_what_does_not_fit_a_native(text, words):
    with refused("yaql.language.exceptions.NoMatchingMethodException", "no-match") as caught:
        of_native(text)
    assert words in str(caught.value)


def test_a_public_native():
    with opened({"a.A": ""}, natives={"a.A": Native}) as (session, root):
        assert session.call(root, "public") == 1


def test_functions_that_wait_take_no_expressions():
    @specs.parameter("function", yaqltypes.Lambda())
    async def later(function):
        return function()

    with pytest.raises(ValueError, match="a function that waits gets no expressions"):
        run("later(1)", functions={"later": later})


def test_functions_and_natives_go_with_their_engines():
    def once():
        @specs.parameter("function", yaqltypes.Lambda())
        def twice(function):
            return [function(1), function(2)]

        class Own:
            @specs.parameter("function", yaqltypes.Lambda())
            def thrice(self, function):
                return [function(3)]

        body = "Return: !yaql 'twice($ + 1) + new(N).thrice($ + 1)'"
        found = run(body, functions={"twice": twice}, classes={"a.N": ""}, natives={"a.N": Own})
        assert found == [2, 3, 4]
        return [weakref.ref(each) for each in (twice, Own, Own.thrice)]

    with collected():
        first = once()
        once()  # What a language evaluated last it still has
    assert [each() for each in first] == [None, None, None]


def test_a_wrapper_is_not_taken_for_what_it_wraps():
    decorated(times)

    @functools.wraps(times)
    def wrapper(count, text="x"):
        return times(count, text)

    assert decorated(times).function is times
    assert decorated(wrapper).function is wrapper
    assert decorated(times) is decorated(times)
