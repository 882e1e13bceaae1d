# ruff: noqa: PT017 - a result is as good as an error of the engine
"""Code under strain: deep and wide calls, threads, loops of events, errors between branches."""

import asyncio
import threading
import time
from textwrap import dedent

import pytest
from amounts import full, some_of
from engines import package
from programs import opened, refused, run

from trundle.engine import Engine, EngineError, Limits

NEST = "f: {Arguments: [{n: {Contract: $.int()}}], Body: [{If: $n > 0, Then: [{Return: $.f($n - 1) + 1}]}, {Return: 0}]}"


def test_as_many_calls_as_the_limits_allow():
    assert run("Return: $.f(95)", methods=NEST) == 95
    assert run("Return: $.f(15)", methods=NEST, limits=Limits(calls=20)) == 15


@pytest.mark.parametrize("depth", [500, 2000, 20000])
def test_a_higher_limit_of_calls_gives_a_result_or_an_error_of_the_engine(depth):
    try:
        assert run(f"Return: $.f({depth})", methods=NEST, limits=Limits(calls=10**6)) == depth
    except EngineError as error:
        assert error.code == "limit"
        assert len(error.format()) < 100_000


@pytest.mark.parametrize("step", ["If: true\nThen:", "Do:", "Try:"])
def test_blocks_nested_deeply_are_a_result_or_an_error_of_the_engine(step):
    word = (
        step.replace("\n", ", ")
        .replace("Then:", "Then: ")
        .replace("Do:", "Do: ")
        .replace("Try:", "Try: ")
    )
    closing = ", Finally: []}" if step == "Try:" else "}"
    body = "{Return: 1}"
    for _ in range(300):
        body = "{" + word + "[" + body + "]" + closing
    try:
        assert run(body) == 1
    except EngineError as error:
        assert error.code in ("limit", "syntax")


def test_brackets_nested_deeply_are_a_result_or_an_error_of_the_engine():
    try:
        assert run(f"Return: {'(' * 900}1{')' * 900}") == 1
    except EngineError as error:
        assert error.code in ("limit", "syntax")


@pytest.mark.full
@pytest.mark.parametrize(
    "expression",
    [
        "generate(0, true, $ + 1).len()",
        "range(0, 10000000000).len()",
        "generate(0, true, $ + 1).last()",
    ],
)
def test_an_endless_sequence_is_an_error_of_the_engine(expression):
    with pytest.raises(EngineError):
        run(f"Return: {expression}")


@pytest.mark.full
def test_a_thousand_branches():
    seen = []
    run(
        "list(1).selectMany(range(1000)).pselect($this.f($))",
        seen=seen,
        methods="""
f:
  Arguments: [{x: {Contract: $}}]
  Body: [sleep(0), trace($x)]
""",
    )
    assert sorted(seen) == list(range(1000))


async def fails(seconds, text):
    await asyncio.sleep(seconds)
    raise RuntimeError(text)


def test_errors_of_waiting_functions_leave_the_other_branches():
    seen = []
    body = """
    - Parallel:
        - fails(0.01, one)
        - fails(0.03, two)
        - Do: [sleep(0.05), trace(end)]
    """
    with refused("RuntimeError") as caught:
        run(body, seen=seen, functions={"fails": fails})
    assert "one" in caught.value.message
    assert seen == ["end"]


def test_a_call_after_a_failed_parallel_waits_as_before():
    text = """
    Methods:
      bad: {Scope: Public, Body: [{Parallel: [{Throw: Oops}, sleep(0.01), {Throw: Two}]}]}
      good: {Scope: Public, Body: [{Parallel: [sleep(0.01), {$x: 5}]}, {Return: $x}]}
    """
    with opened({"a.A": text}) as (session, root):
        for _ in range(3):
            with refused("a.Oops"):
                session.call(root, "bad")
            assert session.call(root, "good") == 5


def test_a_session_is_called_where_a_loop_of_events_runs():
    async def main():
        return run("- sleep(0.001)\n- Return: 5")

    assert asyncio.run(main()) == 5


def test_a_limit_ends_all_branches():
    body = """
    - Parallel:
        - While: 1 > 0
          Do: [sleep(0)]
        - While: 1 > 0
          Do: [sleep(0)]
    """
    with pytest.raises(EngineError) as caught:
        run(body, limits=Limits(steps=300))
    assert caught.value.code == "limit"


def test_threads_have_sessions_of_one_engine():
    text = """
    Properties: {n: {Contract: $, Usage: Static, Default: 0}}
    Methods:
      f:
        Scope: Public
        Arguments: [{k: {Contract: $}}]
        Body:
          - Repeat: 50
            Do:
              - $.n: $.n + $k
              - sleep(0)
          - Return: $.n
    """
    engine = Engine([package("a", classes={"a.A": dedent(text)}, Format="1.4")])
    results = {}

    def work(k):
        with engine.session() as session:
            root = session.load({"?": {"type": "a.A", "id": "root"}})
            results[k] = session.call(root, "f", [k])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert results == {k: 50 * k for k in range(6)}


def test_a_function_calls_the_session_again():
    text = """
    Methods:
      outer: {Scope: Public, Body: [{Return: back()}]}
      inner: {Scope: Public, Body: [sleep(0.001), {Return: 3}]}
    """
    found = []

    def back():
        session, root = found
        return session.call(root, "inner")

    with opened({"a.A": text}, functions={"back": back}) as (session, root):
        found[:] = [session, root]
        try:
            assert session.call(root, "outer") == 3
        except EngineError as error:
            assert error.message
        assert session.call(root, "inner") == 3


@pytest.mark.parametrize("limit", ["0", "-1", "null", "text"])
def test_an_odd_limit_of_branches_is_no_endless_wait(limit):
    seen = []
    try:
        run(f"- Parallel: [trace(1), trace(2)]\n  Limit: {limit}", seen=seen)
        assert seen == [1, 2]
    except EngineError:
        assert seen == []


def test_two_objects_wait_for_a_lock_in_the_order_of_their_calls():
    text = """
    Methods:
      f:
        Meta: io.murano.metadata.engine.Synchronize
        Arguments: [{x: {Contract: $}}]
        Body: [sleep(0.01), trace($x)]
    """
    seen = []
    run("- $s: new(S)\n- Parallel: [$s.f(1), $s.f(2), $s.f(3)]", classes={"a.S": text}, seen=seen)
    assert seen == [1, 2, 3]


@pytest.mark.full
def test_synchronized_calls_of_one_branch_nest_and_let_go():
    text = """
    Methods:
      f:
        Meta: io.murano.metadata.engine.Synchronize
        Arguments: [{n: {Contract: $}}]
        Body:
          - trace($n)
          - If: $n > 0
            Then:
              - Parallel: [$.f($n - 1), trace(side)]
          - trace($n)
    """
    seen = []
    try:
        run("- $s: new(S)\n- $s.f(1)\n- $s.f(0)", classes={"a.S": text}, seen=seen)
        assert sorted(map(str, seen)) == ["0", "0", "0", "0", "1", "1", "side"]
    except EngineError as error:
        assert error.code != "limit"


def test_a_contract_that_waits_while_a_model_loads():
    async def later(value):
        await asyncio.sleep(0.001)
        return value

    text = "Properties: {n: {Contract: $.int().check(later($) > 0), Default: later(3)}}"
    with opened({"a.A": text}, functions={"later": later}) as (_, root):
        assert root.get("n") == 3


def test_a_catch_in_a_branch_keeps_its_error_while_another_one_waits():
    seen = []
    body = """
    - Parallel:
        - Try: fails(0.01, one)
          Catch:
            - As: e
              Do:
                - sleep(0.02)
                - trace($e.message)
        - Try: fails(0.02, two)
          Catch:
            - As: f
              Do: [trace($f.message)]
    """
    run(body, seen=seen, functions={"fails": fails})
    assert len(seen) == 2
    assert "two" in seen[0]
    assert "one" in seen[1]


def test_a_value_that_shares_its_parts_is_passed_on_as_it_is():
    assert run("- $d: [1]\n- Repeat: 200\n  Do: [{$d: [$d, $d]}]\n- Return: $d.len()") == 2


@pytest.mark.parametrize(
    "made",
    [
        "{a: $m}",
        "!yaql '{a => $m}'",
        "!yaql '{b => 1}.set(a, $m)'",
        "[{a: $m}]",
        "!yaql '{a => [$m]}'",
    ],
)
def test_maps_within_maps_take_time_by_their_levels(made):
    began = time.monotonic()
    levels = 8000
    body = f"- $m: {{}}\n- Repeat: {levels}\n  Do: [{{$m: {made}}}]\n- Return: $m.len()"
    assert run(body) == (2 if "set" in made else 1)
    assert time.monotonic() - began < 90  # Minutes, if each level were gone through again


@pytest.mark.parametrize(
    "made",
    ["[$m]", full("[1, $m, 2]"), full("list($m)"), full("[] + [$m]"), full("[$m].select($)")],
)
def test_lists_within_lists_have_so_many_levels(made):
    def nested(levels):
        return f"- $m: []\n- Repeat: {levels}\n  Do: [{{$m: !yaql '{made}'}}]\n- Return: $m.len()"

    assert run(nested(499)) == (3 if "1" in made else 1)
    with pytest.raises(EngineError, match="lists are nested more than 500 levels deep") as caught:
        run(nested(8000))
    assert caught.value.code == "limit"


@pytest.mark.parametrize(
    "target",
    [
        "$m: {a: $m}",
        "$m.a: $m",
        "$m.b.a: $m",
        "$m: !yaql '{a => $m}'",
        "$m: !yaql '$m.set(a, $m)'",
        "$m: !yaql '{a => [1, $m]}'",
        "$.m.a: $.m",
    ],
)
def test_maps_have_so_many_levels_that_a_loop_ends_soon(target):
    rounds = []
    body = f"- While: true and trace(1) = null\n  Do: [{{{target}}}]"
    body = f"- $m: {{}}\n- $.m: {{}}\n{body}"
    with pytest.raises(EngineError, match="maps are nested more than 10000 levels") as caught:
        run(body, seen=rounds, head="Properties: {m: {Contract: $, Usage: InOut}}")
    assert caught.value.code == "limit"
    assert len(rounds) <= 10_001


def test_maps_that_are_known_count_with_all_that_is_in_them():
    body = "- $m: {a: 1}\n- Repeat: 60\n  Do: [{$m: {a: $m, b: $m}}]"
    with pytest.raises(EngineError, match="more than 1000000 values") as caught:
        run(body)
    assert caught.value.code == "limit"


@pytest.mark.parametrize(
    "expression",
    some_of(
        [
            "str($m)",
            "{$m => 1}.len()",
            "$m = $n",
            "$m.mergeWith($n).len()",
            "$m.bind({})",
            "$m.patch([])",
            "$this.setAttr(a, $m)",
            "new(A, {}, $this).nothing($m)",
            "new($m)",
            "$m",
            "trace($m)",
            "typeinfo($m)",
        ],
        4,
    ),
)
def test_deep_maps_are_a_result_or_an_error_of_the_engine(expression):
    body = "- $m: {}\n- $n: {}\n- Repeat: 20000\n  Do: [{$m: {a: $m}}, {$n: {a: $n}}]\n"
    try:
        run(f"{body}- Return: !yaql '{expression}'")
    except EngineError as error:
        assert len(str(error)) < 1000


def test_a_property_that_shares_its_parts_is_looked_through_once_and_not_dumped():
    text = """
    Properties: {p: {Contract: $, Usage: InOut}}
    Methods:
      f:
        Scope: Public
        Body:
          - $d: [$this]
          - Repeat: 60
            Do: [{$d: [$d, $d]}]
          - $.p: $d
          - sys:GC.collect()
    """
    with opened({"a.A": text}, limits=Limits(values=100_000)) as (session, root):
        session.call(root, "f")
        session.finish()
        assert "root" in session.objects
        with pytest.raises(EngineError, match="more than 100000 values") as caught:
            session.dump(root)
    assert caught.value.code == "limit"
