"""What runs concurrently: branches, their order, their errors, and what is synchronized."""

import asyncio

import pytest
from programs import refused, run

from trundle.engine import EngineError


class Waiting:
    """A record of steps, and a function that waits a turn of the loop for each thousandth of a second."""

    def __init__(self):
        self.seen = []

    async def pause(self, seconds):
        for _ in range(round(seconds * 1000)):
            await asyncio.sleep(0)

    def run(self, body, *args, **options):
        functions = {"pause": self.pause, **options.pop("functions", {})}
        return run(body, *args, seen=self.seen, functions=functions, **options)


STEP = """
step:
  Arguments: [{name: {Contract: $}}, {seconds: {Contract: $, Default: 0.01}}]
  Body:
    - trace(concat($name, '1'))
    - pause($seconds)
    - trace(concat($name, '2'))
    - Return: $name
fail:
  Arguments: [{name: {Contract: $}}, {seconds: {Contract: $, Default: 0.01}}]
  Body:
    - pause($seconds)
    - trace(concat($name, x))
    - Throw: $name
"""
STEP = STEP.replace("- Throw: $name", "- Throw: Oops\n      Message: $name")


def test_branches_start_in_order_and_change_over_where_something_waits():
    waiting = Waiting()
    waiting.run("- Parallel: [$.step(a), $.step(b)]\n- trace(end)", methods=STEP)
    assert waiting.seen == ["a1", "b1", "a2", "b2", "end"]


@pytest.mark.full
def test_what_waits_less_goes_on_earlier():
    waiting = Waiting()
    body = """
    - Parallel:
        - $.step(a, 0.06)
        - $.step(b, 0.01)
    - trace(end)
    """
    waiting.run(body, methods=STEP)
    assert waiting.seen == ["a1", "b1", "b2", "a2", "end"]


def test_branches_that_do_not_wait_run_one_after_the_other():
    waiting = Waiting()
    body = """
    - Parallel:
        - Do: [trace(a1), trace(a2), trace(a3)]
        - Do: [trace(b1), trace(b2)]
    """
    waiting.run(body)
    assert waiting.seen == ["a1", "a2", "a3", "b1", "b2"]


def test_functions_that_are_async_wait():
    waiting = Waiting()
    body = """
    - Parallel:
        - Do: [trace(a1), pause(0.03), trace(a2)]
        - Do: [trace(b1), pause(0.01), trace(b2)]
    """
    waiting.run(body)
    assert waiting.seen == ["a1", "b1", "b2", "a2"]


@pytest.mark.full
def test_a_run_repeats():
    records = []
    for _ in range(5):
        waiting = Waiting()
        body = """
        - Parallel:
            - Do: [trace(a), sleep(0), trace(b), sleep(0), trace(c)]
            - Do: [trace(d), sleep(0), trace(e), sleep(0), trace(f)]
            - Do: [trace(g), trace(h)]
        """
        waiting.run(body)
        records.append(waiting.seen)
    assert records == [records[0]] * 5


@pytest.mark.full
def test_a_run_with_async_functions_repeats():
    async def turns(count):
        for _ in range(count):
            await asyncio.sleep(0)

    body = """
    - Parallel:
        - Do: [trace(a1), turns(60), trace(a2)]
        - Do: [trace(b1), turns(10), trace(b2)]
    """
    records = set()
    for _ in range(150):
        seen = []
        run(body, seen=seen, functions={"turns": turns})
        records.add(tuple(seen))
    assert len(records) == 1


def test_a_limit_bounds_how_many_run():
    waiting = Waiting()
    body = """
    - Parallel:
        - $.step(a, 0.03)
        - $.step(b, 0.01)
        - $.step(c, 0.01)
      Limit: 2
    """
    waiting.run(body, methods=STEP)
    assert waiting.seen[:3] == ["a1", "b1", "b2"]
    assert waiting.seen.index("c1") > waiting.seen.index("b2")


def test_a_limit_of_one_runs_one_after_the_other():
    waiting = Waiting()
    waiting.run("- $n: 1\n- Parallel: [$.step(a), $.step(b)]\n  Limit: $n", methods=STEP)
    assert waiting.seen == ["a1", "a2", "b1", "b2"]


def test_variables_of_the_method_are_shared():
    body = """
    - $n: 1
    - Parallel:
        - Do: [sleep(0.01), {$a: $n}]
        - $n: 2
    - Return: [$n, $a]
    """
    assert run(body) == [2, 2]


def test_variables_of_for_are_local_to_each_branch():
    waiting = Waiting()
    body = """
    - Parallel:
        - For: x
          In: [1, 2]
          Do: [sleep(0.01), trace($x)]
        - For: x
          In: [3, 4]
          Do: [sleep(0.01), trace($x)]
    """
    waiting.run(body)
    assert waiting.seen == [1, 3, 2, 4]


@pytest.mark.full
def test_all_branches_end_before_the_first_error_is_raised():
    waiting = Waiting()
    body = """
    - Parallel:
        - $.step(a, 0.05)
        - $.fail(early, 0.01)
        - $.fail(late, 0.03)
    - trace(never)
    """
    with refused("a.Oops") as caught:
        waiting.run(body, methods=STEP)
    assert waiting.seen == ["a1", "earlyx", "latex", "a2"]
    assert caught.value.message == "early"


def test_an_error_of_a_branch_is_caught_around_the_parallel():
    waiting = Waiting()
    body = """
    - Try:
        - Parallel:
            - $.fail(x)
            - $.step(a)
      Catch:
        With: Oops
        As: e
        Do: [{Return: $e.message}]
    """
    assert waiting.run(body, methods=STEP) == "x"
    assert waiting.seen == ["a1", "xx", "a2"]


def test_an_error_of_a_branch_has_the_frames_of_the_method():
    with refused("a.Oops") as caught:
        Waiting().run("Parallel: [$.fail(x)]", methods=STEP)
    assert [each.method for each in caught.value.frames] == ["fail", "run"]


def test_an_error_is_caught_within_its_branch():
    waiting = Waiting()
    body = """
    - Parallel:
        - Try: [$.fail(a)]
          Catch: [{Do: [trace(caught)]}]
        - $.step(b)
    - Return: 1
    """
    assert waiting.run(body, methods=STEP) == 1
    assert waiting.seen == ["b1", "ax", "caught", "b2"]


def test_a_return_in_a_branch_waits_for_all_and_returns():
    waiting = Waiting()
    body = """
    - Parallel:
        - Return: 5
        - $.step(a)
    - trace(never)
    """
    assert waiting.run(body, methods=STEP) == 5
    assert waiting.seen == ["a1", "a2"]


def test_of_branches_that_return_the_first_in_their_order_counts():
    body = """
    - Parallel:
        - $.step(a)
        - Return: $.step(b, 0.06)
        - Return: $.step(c, 0.01)
    """
    assert Waiting().run(body, methods=STEP) == "b"


@pytest.mark.full
def test_parallel_within_parallel():
    waiting = Waiting()
    body = """
    - Parallel:
        - Do:
            - Parallel:
                - $.step(a, 0.01)
                - $.step(b, 0.04)
            - trace(inner)
        - $.step(c, 0.06)
    """
    waiting.run(body, methods=STEP)
    assert sorted(waiting.seen[:3]) == ["a1", "b1", "c1"]
    assert waiting.seen[3:] == ["a2", "b2", "inner", "c2"]


@pytest.mark.full
def test_pselect_runs_concurrently_and_gives_results_in_order():
    waiting = Waiting()
    times = [0.05, 0.01, 0.03]
    body = "Return: $x.pselect($this.step(str($), $))"
    found = waiting.run(body, times, methods=STEP, arguments="[{x: {Contract: []}}]")
    assert found == ["0.05", "0.01", "0.03"]
    assert waiting.seen == ["0.051", "0.011", "0.031", "0.012", "0.032", "0.052"]


def test_psuper_runs_concurrently():
    seen = []
    parent = (
        "Methods: {{f: {{Body: [!yaql 'trace({0}1)', !yaql 'sleep(0.01)', !yaql 'trace({0}2)']}}}}"
    )
    classes = {
        "a.L": parent.format("l"),
        "a.R": parent.format("r"),
        "a.Z": "Extends: [L, R]\nMethods: {f: {Body: [!yaql 'psuper($, $.f())']}}",
    }
    run("new(Z).f()", classes=classes, seen=seen)
    assert seen == ["l1", "r1", "l2", "r2"]


# Synchronize


def synchronized(meta):
    return f"""
Properties: {{k: {{Contract: $, Default: 1}}}}
Methods:
  f:
    Meta: {meta}
    Arguments: [{{x: {{Contract: $}}}}, {{y: {{Contract: $}}}}]
    Body:
      - trace(concat($x, '1'))
      - sleep(0.01)
      - trace(concat($x, '2'))
  again:
    Meta: {meta}
    Arguments: [{{n: {{Contract: $}}}}, {{y: {{Contract: $, Default: 1}}}}]
    Body:
      - If: $n > 0
        Then: [$.again($n - 1)]
      - Return: done
"""


SYNC = "io.murano.metadata.engine.Synchronize"
ALONE = ["a1", "a2", "b1", "b2"]
TOGETHER = ["a1", "b1", "a2", "b2"]


@pytest.mark.parametrize(
    ("meta", "objects", "calls", "result"),
    [
        ("[]", "$s, $s", "f(a, 1), f(b, 1)", TOGETHER),
        (f"{{{SYNC}: {{}}}}", "$s, $s", "f(a, 1), f(b, 2)", ALONE),
        (SYNC, "$s, $s", "f(a, 1), f(b, 2)", ALONE),
        (f"{{{SYNC}: {{}}}}", "$s, $t", "f(a, 1), f(b, 2)", TOGETHER),
        (f"{{{SYNC}: {{onThis: false}}}}", "$s, $s", "f(a, 1), f(b, 1)", TOGETHER),
        (f"{{{SYNC}: {{onArgs: []}}}}", "$s, $s", "f(a, 1), f(b, 2)", ALONE),
        (f"{{{SYNC}: {{onArgs: []}}}}", "$s, $t", "f(a, 1), f(b, 2)", TOGETHER),
        (f"{{{SYNC}: {{onArgs: [], onThis: false}}}}", "$s, $s", "f(a, 1), f(b, 1)", TOGETHER),
        (f"{{{SYNC}: {{onArgs: y, onThis: false}}}}", "$s, $t", "f(a, null), f(b, null)", TOGETHER),
        (f"{{{SYNC}: {{onArgs: y}}}}", "$s, $s", "f(a, {'?' => {}}), f(b, {'?' => {}})", ALONE),
        (f"{{{SYNC}: {{onArgs: y}}}}", "$s, $s", "f(a, 1), f(b, 1)", ALONE),
        (f"{{{SYNC}: {{onArgs: [y]}}}}", "$s, $s", "f(a, 1), f(b, 2)", TOGETHER),
        (f"{{{SYNC}: {{onArgs: y, onThis: false}}}}", "$s, $t", "f(a, 1), f(b, 1)", ALONE),
        (f"{{{SYNC}: {{onArgs: y, onThis: false}}}}", "$s, $t", "f(a, 1), f(b, 2)", TOGETHER),
        (f"{{{SYNC}: {{onArgs: y}}}}", "$s, $t", "f(a, 1), f(b, 1)", TOGETHER),
    ],
)
def test_synchronize_runs_equal_calls_one_at_a_time(meta, objects, calls, result):
    left, right = zip(objects.split(", "), calls.split(", f"), strict=True)
    body = f"""
- $s: new(S)
- $t: new(S)
- Parallel:
    - {left[0]}.{left[1]}
    - {right[0]}.f{right[1]}
"""
    seen = []
    run(body, classes={"a.S": synchronized(meta)}, seen=seen)
    assert seen == result


def test_synchronize_is_re_entrant():
    classes = {"a.S": synchronized(SYNC)}
    assert run("Return: new(S).again(3)", classes=classes) == "done"


def test_synchronize_lets_go_after_an_error():
    text = f"Methods: {{f: {{Meta: {SYNC}, Body: [{{Throw: Oops}}]}}}}"
    body = """
    - $s: new(S)
    - Try: [$s.f()]
      Catch: [{With: Oops}]
    - $s.f()
    """
    with refused("a.Oops"):
        run(body, classes={"a.S": text})


def test_branches_that_wait_for_each_other_are_an_error():
    text = f"""
    Properties: {{o: {{Contract: $.class(S), Usage: Out}}}}
    Methods:
      pair: {{Arguments: [{{x: {{Contract: $.class(S)}}}}], Body: [{{$.o: $x}}]}}
      f:
        Meta: {SYNC}
        Arguments: [{{n: {{Contract: $.int()}}}}]
        Body:
          - sleep(0.01)
          - If: $n > 0
            Then: [$.o.f($n - 1)]
    """
    body = """
    - $s: new(S)
    - $t: new(S)
    - $s.pair($t)
    - $t.pair($s)
    - Parallel: [$s.f(1), $t.f(1)]
    """
    with pytest.raises(EngineError):
        run(body, classes={"a.S": text})
