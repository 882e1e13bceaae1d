"""What Python gives to code and gets from it: functions, natives, values, limits."""

import asyncio

import pytest
from engines import package
from programs import HISTORIC, NO_MATCH, opened, refused, run

from trundle.engine import EngineError, Handle, Limits, Type, native

# Functions


def test_a_function_is_known_in_every_expression():
    head = "Properties: {n: {Contract: $, Default: double(4)}}"
    body = "Return: [double(2), $.n, !yaql 'list(1, 2).select(double($))']"
    assert run(body, head=head, functions={"double": lambda x: x * 2}) == [4, 8, [2, 4]]


def test_a_function_takes_arguments_by_name():
    def minus(left, right=1):
        return left - right

    assert run("Return: list(minus(5), minus(5, 2))", functions={"minus": minus}) == [4, 3]
    assert run("Return: minus(right => 3, left => 9)", functions={"minus": minus}) == 6


def test_lists_and_maps_that_are_keys_can_be_keys_of_python():
    seen = []
    text = "{[1, [$]] => 1, {a => [2]} => {b => [3]}}"
    body = f"[!yaql 'show({text})', {{Return: !yaql '{text}'}}]"
    found = run(body, functions={"show": seen.append})
    for each in (found, *seen):
        listed, mapped = each
        assert (listed[0], type(listed[1][0])) == (1, Handle)
        assert mapped == {"a": (2,)}
        assert [each[key] for key in (listed, mapped)] == [1, {"b": [3]}]


async def later(value):
    await asyncio.sleep(0.01)
    return value


def test_an_async_function_is_waited_for():
    body = """
    - $x: later(1)
    - If: later(true)
      Then: [{$y: later(2) + later(3)}]
    - Return: [$x, $y, later(4)]
    """
    assert run(body, functions={"later": later}) == [1, 5, 4]


def test_an_async_function_within_a_lambda():
    found = run(
        "Return: list(1, 2, 3).select(later($) + 1).where(later($) > 2)", functions={"later": later}
    )
    assert found == [3, 4]


def test_an_async_function_in_a_contract_and_in_a_default():
    head = """
    Properties:
      n: {Contract: $.int().check(later($) > 0), Default: later(4), Usage: InOut}
    """
    assert run("- $.n: later(7)\n- Return: $.n", head=head, functions={"later": later}) == 7
    with refused(HISTORIC + "ContractViolationException"):
        run("$.n: 0", head=head, functions={"later": later})


def test_functions_get_lists_maps_handles_and_types():
    got = []
    body = (
        "- $l: [1, {a: [2]}]\n- keep($l)\n- keep($)\n- keep(:A)\n- keep(null)\n- keep(dict($ => 1))"
    )
    run(body, functions={"keep": got.append})
    assert got[0] == [1, {"a": [2]}]
    assert isinstance(got[0], list)
    assert isinstance(got[0][1]["a"], list)
    assert isinstance(got[1], Handle)
    assert got[1].id == "root"
    assert isinstance(got[2], Type)
    assert got[3] is None
    (key,) = got[4]
    assert isinstance(key, Handle)


def test_what_a_function_gives_is_a_value_of_the_language():
    def give():
        return {"a": [1, {"b": 2}]}

    assert run("- $x: give()\n- $x.a[1].b: 5\n- Return: $x", functions={"give": give}) == {
        "a": [1, {"b": 5}]
    }


def test_a_function_gives_a_handle_back():
    head = "Properties: {n: {Contract: $, Default: 3}}"
    assert run("Return: same($).n", head=head, functions={"same": lambda x: x}) == 3
    assert run("Return: same($) = $", head=head, functions={"same": lambda x: x}) is True


def test_an_unknown_function():
    with refused("yaql.language.exceptions.NoFunctionRegisteredException", "unknown-function"):
        run("nothing(1)")


def test_arguments_of_a_function_that_do_not_fit():
    with pytest.raises(EngineError) as caught:
        run("one(1, 2)", functions={"one": lambda x: x})
    assert caught.value.code == "no-match"


# Values in and out


def test_values_go_in_and_out_as_they_are():
    value = {"a": [1, None, True, "x", 1.5, {"b": []}], "c": {}}
    found = run("Return: $x", value, arguments="[{x: {Contract: $}}]")
    assert found == value
    assert isinstance(found["a"], list)


def test_the_caller_keeps_what_it_gave():
    value = {"a": [1]}
    found = run("- $x.a[0]: 2\n- Return: $x", value, arguments="[{x: {Contract: $}}]")
    assert (value, found) == ({"a": [1]}, {"a": [2]})


def test_a_map_with_a_header_is_loaded_by_the_contract():
    model = {"?": {"type": "a.P"}, "n": "7"}
    classes = {"a.P": "Properties: {n: {Contract: $.int()}}"}
    arguments = "[{x: {Contract: $.class(P)}}]"
    assert run("Return: $x.n", model, arguments=arguments, classes=classes) == 7
    kept = run("Return: $x", model, arguments="[{x: {Contract: $}}]", classes=classes)
    assert kept == model
    made = run(
        "Return: new($x).n", model, arguments="[{x: {Contract: $.template(P)}}]", classes=classes
    )
    assert made == 7


def test_an_object_comes_out_as_a_handle_and_goes_in_again():
    text = """
    Properties: {n: {Contract: $, Default: 5}}
    Methods:
      me: {Scope: Public, Body: [{Return: [$, {$: 1}]}]}
      n: {Scope: Public, Arguments: [{o: {Contract: $.class(A)}}], Body: [{Return: $o.n}]}
    """
    with opened({"a.A": text}) as (session, root):
        (one, keyed) = session.call(root, "me")
        assert isinstance(one, Handle)
        assert one.id == "root"
        assert list(keyed) == [root] or [each.id for each in keyed] == ["root"]
        assert session.call(one, "n", [one]) == 5
        assert session.call(one, "n", kwargs={"o": "root"}) == 5


def test_a_method_that_is_not_there_or_whose_arguments_do_not_fit():
    text = "Methods: {f: {Scope: Public, Arguments: [{x: {Contract: $}}]}}"
    with opened({"a.A": text}) as (session, root):
        with refused(NO_MATCH):
            session.call(root, "nothing")
        with refused(NO_MATCH, "no-match"):
            session.call(root, "f", [1, 2])
        with refused(NO_MATCH, "no-match"):
            session.call(root, "f", kwargs={"y": 1})


def test_a_failed_call_leaves_the_session_usable():
    text = """
    Methods:
      fail: {Scope: Public, Body: [{Throw: Oops}]}
      fine: {Scope: Public, Body: [{Return: 1}]}
    """
    with opened({"a.A": text}) as (session, root):
        with refused("a.Oops"):
            session.call(root, "fail")
        assert session.call(root, "fine") == 1


# Natives


class Native:
    """Behind `a.N`."""

    def add_up(self, left, right=2):
        return left + right

    async def wait_for(self, value):
        await asyncio.sleep(0.01)
        return value

    @staticmethod
    def twice(value):
        return value * 2

    @staticmethod
    @native("shout", usage="Extension")
    def louder(text: str):
        return text.upper()

    @native("other")
    def named(self):
        return "named"

    def _hidden(self):
        return 1


def native(body, text="", **options):
    return run(body, classes={"a.N": text}, natives={"a.N": Native}, **options)


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ("new(N).addUp(1)", 3),
        ("new(N).addUp(1, 5)", 6),
        ("new(N).addUp(left => 1, right => 3)", 4),
        ("new(N).waitFor(4)", 4),
        (":N.twice(4)", 8),
        ("new(N).twice(4)", 8),
        (":N.shout(ab)", "AB"),
        ("ab.shout()", "AB"),
        ("new(N).other()", "named"),
        ("list(1, 2).select($this.go($))", [2, 4]),
    ],
)
def test_natives_are_methods(call, result):
    methods = "go: {Arguments: [{x: {Contract: $}}], Body: [{Return: !yaql ':N.twice($x)'}]}"
    assert native(f"Return: {call}", head="Import: N", methods=methods) == result


@pytest.mark.parametrize(
    "call", ["new(N).hidden()", "new(N)._hidden()", "new(N).named()", "new(N).addUp(1, 2, 3)"]
)
def test_what_is_no_native_method(call):
    with refused(NO_MATCH):
        native(call)


def test_declared_arguments_of_a_native_are_contracted():
    text = """
    Methods:
      addUp:
        Arguments: [{left: {Contract: $.int().notNull()}}, {right: {Contract: $.int(), Default: 10}}]
    """
    assert native("Return: list(new(N).addUp('1'), new(N).addUp('1', '2'))", text) == [11, 3]
    with refused(HISTORIC + "ContractViolationException"):
        native("new(N).addUp(x)", text)


def test_a_native_is_inherited_and_overridden():
    classes = {
        "a.N": "",
        "a.M": "Extends: N",
        "a.O": "Extends: N\nMethods: {addUp: {Arguments: [{x: {Contract: $}}], Body: [{Return: over}]}}",
    }
    body = "Return: list(new(M).addUp(1), new(O).addUp(1), cast(new(O), N).addUp(1))"
    assert run(body, classes=classes, natives={"a.N": Native}) == [3, "over", 3]


def test_natives_differ_by_version():
    class New:
        def v(self):
            return "new"

    class Old:
        def v(self):
            return "old"

    libs = [package("lib", v, classes={"lib.L": ""}, Format="1.4") for v in ("1.0.0", "2.0.0")]
    options = {"packages": libs, "natives": {"lib.L/1": Old, "lib.L/2": New}}
    assert run("Return: new('lib.L').v()", requires={"lib": 1}, **options) == "old"
    assert run("Return: new('lib.L').v()", requires={"lib": 2}, **options) == "new"


def test_async_natives_take_turns():
    seen = []
    body = """
    - Parallel:
        - Do: [trace(a1), new(N).waitFor(1), trace(a2)]
        - Do: [trace(b1), new(N).waitFor(1), trace(b2)]
    """
    native(body, seen=seen)
    assert seen == ["a1", "b1", "a2", "b2"]


# Limits


@pytest.mark.parametrize(
    "body",
    [
        "- While: 1 > 0\n  Do: []",
        "- While: 1 > 0\n  Do: [{$x: 1}]",
        "- Repeat: 100000\n  Do: [{$x: 1}]",
        "- For: x\n  In: range(2000)\n  Do: [{$y: $x}]",
        "- Parallel:\n    - While: 1 > 0\n      Do: [{$x: 1}]\n    - $y: 1",
        "- While: 1 > 0\n  Do:\n    - Try: [{Throw: Oops}]\n      Catch: [{With: Oops}]",
    ],
)
def test_a_run_has_at_most_so_many_steps(body):
    with pytest.raises(EngineError) as caught:
        run(body, limits=Limits(steps=500))
    assert caught.value.code == "limit"


def test_the_limit_of_steps_says_where_it_was_reached():
    with pytest.raises(EngineError) as caught:
        run("- While: 1 > 0\n  Do: [{$x: 1}]", limits=Limits(steps=500))
    assert [(each.method, each.line is None) for each in caught.value.frames] == [("run", False)]


def test_a_run_below_the_limit_of_steps():
    assert run("- Repeat: 10\n  Do: [{$x: 1}]\n- Return: 1", limits=Limits(steps=100)) == 1


def test_the_limit_of_steps_is_for_each_call():
    text = "Methods: {f: {Scope: Public, Body: [{Repeat: 50, Do: [{$x: 1}]}, {Return: 1}]}}"
    with opened({"a.A": text}, limits=Limits(steps=200)) as (session, root):
        assert [session.call(root, "f") for _ in range(10)] == [1] * 10


def test_a_limit_is_not_caught_by_the_code():
    body = "- Try:\n    - While: 1 > 0\n      Do: [{$x: 1}]\n  Catch: [{Do: [{Return: 1}]}]"
    with pytest.raises(EngineError) as caught:
        run(body, limits=Limits(steps=500))
    assert caught.value.code == "limit"


@pytest.mark.parametrize(
    "method_text",
    [
        "f: {Body: [$.f()]}",
        "f: {Body: [$.g()]}\ng: {Body: [$.f()]}",
        "f: {Body: [{Return: $.f() + 1}]}",
    ],
)
def test_calls_are_nested_at_most_so_deep(method_text):
    with pytest.raises(EngineError) as caught:
        run("$.f()", methods=method_text, limits=Limits(calls=20))
    assert caught.value.code == "limit"
    assert len(caught.value.frames) >= 19


def test_calls_are_nested_by_default_without_an_error_of_python():
    with pytest.raises(EngineError) as caught:
        run("$.f()", methods="f: {Body: [{Return: list(1).select($this.f())}]}")
    assert caught.value.code == "limit"


def test_init_has_as_much_room_for_nested_calls_as_any_method():
    deep = """
    .init:
      Body: [{$.depth: $.down(240)}]
    down:
      Arguments: [{n: {Contract: $.int()}}]
      Body:
        - If: $n > 0
          Then: [{For: i, In: [1], Do: [{If: true, Then: [{Return: $.down($n - 1) + 1}]}]}]
        - Return: 0
    """
    head = "Properties: {depth: {Contract: $, Usage: Runtime}}"
    assert run("Return: $.depth", head=head, methods=deep) == 240


def test_what_init_throws_has_plain_values():
    thrower = """
    .init:
      Body: [{Throw: odd, Message: odd, Extra: {made: !yaql "$this"}}]
    """
    with pytest.raises(EngineError) as caught:
        run("Return: 1", methods=thrower)
    assert isinstance(caught.value.extra["made"], Handle)


def test_too_little_memory_is_said_in_words():
    def large():
        raise MemoryError

    with pytest.raises(EngineError) as caught:
        run("Return: large()", functions={"large": large})
    assert caught.value.code == "limit"
    assert "`large()`: it takes more memory than it may; make smaller values" in str(caught.value)


def test_a_function_that_gets_no_memory_reached_a_limit():
    """So Python raises what OpenSSL says, which computes digests."""

    def digest():
        raise ValueError("[digital envelope routines] malloc failure")

    with pytest.raises(EngineError, match="more memory than it may") as caught:
        run("Return: digest()", functions={"digest": digest})
    assert caught.value.code == "limit"
