"""What one call in the code may mean each time it runs: by the class of the receiver, its version, and what is given."""

from textwrap import dedent

import pytest
from engines import package
from programs import HISTORIC, method, opened, refused, run

from trundle.engine import Engine, EngineError, Limits

# Which method it is


KINDS = {
    "a.P": "Methods: {f: {Body: [{Return: p}]}, me: {Body: [{Return: $.f()}]}}",
    "a.C": "Extends: P\nMethods: {f: {Body: [{Return: c}]}}",
    "a.D": "Extends: C",
    "a.Other": "Methods: {f: {Body: [{Return: other}]}}",
}


def test_each_class_has_its_method_whatever_was_called_before():
    body = "Return: list(new(P), new(C), new(Other), new(D), new(P), new(C)).select([$.f(), $this.g($)])"
    methods = "g: {Arguments: [{o: {Contract: $}}], Body: [{Return: $o.f()}]}"
    names = ["p", "c", "other", "c", "p", "c"]
    assert run(body, methods=methods, classes=KINDS) == [[each, each] for each in names]


def test_code_of_a_parent_calls_what_each_child_overrides():
    body = "Return: list(new(P), new(C), new(P), new(D)).select($.me())"
    assert run(body, classes=KINDS) == ["p", "c", "p", "c"]


def test_an_object_and_the_same_object_cast_meet_in_one_call():
    body = """
    - $c: new(C)
    - $seen: []
    - For: o
      In: [$c, !yaql 'cast($c, P)', $c, !yaql 'new(P)', !yaql 'cast($c, P)', $c]
      Do:
        - $seen: $seen + list($o.f())
    - Return: $seen
    """
    assert run(body, classes=KINDS) == ["c", "p", "c", "p", "p", "c"]


def test_two_versions_of_a_class_meet_in_one_call():
    text = "Properties: {n: {Contract: $.int(), Default: %s}}\nMethods: {f: {Arguments: [{x: {Contract: %s}}], Body: [{Return: [%s, $x, $.n]}]}}"
    libs = [
        package("lib", "1.0.0", Format="1.4", classes={"lib.L": text % (10, "$.int()", "old")}),
        package("lib", "2.0.0", Format="1.4", classes={"lib.L": text % (20, "$.string()", "new")}),
    ]
    both = [
        package(
            name,
            Format="1.4",
            requires={"lib": spec},
            classes={
                f"{name}.Make": "Methods: {make: {Usage: Static, Body: [{Return: new('lib.L')}]}}"
            },
        )
        for name, spec in (("one", 1), ("two", 2))
    ]
    body = """
    - $one: new('one.Make').make()
    - $two: new('two.Make').make()
    - Return: list($one, $two, $one, $two).select($.f(7))
    """
    found = run(body, packages=[*libs, *both], requires={"one": 1, "two": 1})
    assert found == [["old", 7, 10], ["new", "7", 20], ["old", 7, 10], ["new", "7", 20]]


def test_a_method_an_extension_and_one_of_the_language_meet_in_one_call():
    classes = {
        "a.Own": "Methods: {len: {Body: [{Return: own}]}}",
        "a.None": "",
        "a.E": "Methods: {len: {Usage: Extension, Arguments: [{x: {Contract: $.class(None).notNull()}}], Body: [{Return: extension}]}}",
    }
    body = "Return: list(new(Own), new(None), text, new(Own), [1, 2], new(None)).select($.len())"
    found = run(body, head="Import: E", classes=classes)
    assert found == ["own", "extension", 4, "own", 2, "extension"]


def test_a_static_method_is_called_on_types_and_objects_in_one_call():
    classes = {
        "a.S": "Methods: {f: {Usage: Static, Body: [{Return: $}]}}",
        "a.T": "Extends: S",
    }
    body = "Return: list(:S, new(T), :T, new(S)).select(typeinfo($.f()).name)"
    assert run(body, classes=classes) == ["a.S", "a.T", "a.T", "a.S"]


def test_a_mock_stands_in_where_the_call_has_run_before():
    text = """
    Extends: io.murano.test.TestFixture
    Methods:
      f: {Body: [{Return: real}]}
      call: {Body: [{Return: $.f()}]}
      run:
        Scope: Public
        Body:
          - $before: $.call()
          - inject($, f, mocked)
          - Return: [$before, !yaql '$.call()', !yaql 'new(Child).call()']
    """
    classes = {"a.A": text, "a.Child": "Extends: A"}
    texts = {name: f"Namespaces: {{=: a}}\n{dedent(each)}" for name, each in classes.items()}
    engine = Engine([package("a", Format="1.4", classes=texts)])
    for _ in range(2):  # The next session knows nothing of it
        with engine.session(mocks=True) as session:
            root = session.load({"?": {"type": "a.A"}})
            assert session.call(root, "run") == ["real", "mocked", "mocked"]


def test_sessions_that_share_a_call_have_their_own_methods():
    old = package(
        "lib", "1.0.0", Format="1.4", classes={"lib.L": "Methods: {f: {Body: [{Return: old}]}}"}
    )
    new = package(
        "lib", "1.1.0", Format="1.4", classes={"lib.L": "Methods: {f: {Body: [{Return: new}]}}"}
    )
    text = "Methods: {run: {Scope: Public, Body: [{Return: new('lib.L').f()}]}}"
    main = package("a", Format="1.4", requires={"lib": 1}, classes={"a.A": text})
    for libs, result in (([old], "old"), ([old, new], "new"), ([old], "old")):
        engine = Engine([main, *libs])
        with engine.session() as one, engine.session() as two:
            roots = [each.load({"?": {"type": "a.A"}}) for each in (one, two)]
            assert one.call(roots[0], "run") == two.call(roots[1], "run") == result


# When it is found


AMBIGUOUS = {
    "a.Y1": "Methods: {f: {Arguments: [{x: {Contract: $}}], Body: [{Return: 1}]}}",
    "a.Y2": "Methods: {f: {Arguments: [{x: {Contract: $}}], Body: [{Return: 2}]}}",
    "a.Z": "Extends: [Y1, Y2]",
}


@pytest.mark.parametrize("given", ["trace(1)", "1", "x => trace(1)"])
def test_an_ambiguous_method_is_refused_before_what_is_given_is_evaluated(given):
    seen = []
    with refused(HISTORIC + "AmbiguousMethodName"):
        run(f"new(Z).f({given})", classes=AMBIGUOUS, seen=seen)
    assert seen == []


def test_null_without_question_has_extensions_and_with_it_is_left_alone():
    text = "Methods: {f: {Usage: Extension, Arguments: [{x: {Contract: $}}, {y: {Contract: $}}], Body: [{Return: [$x, $y]}]}}"
    seen = []
    body = "Return: list($nothing.f(1), $nothing?.f(trace(2)), $nothing?.f(2), 5?.f(3))"
    found = run(body, head="Import: E", classes={"a.E": text}, seen=seen)
    assert found == [[None, 1], None, None, [5, 3]]
    assert seen == []


def test_a_destroyed_receiver_is_refused_after_what_is_given_is_evaluated():
    text = "Methods: {f: {Arguments: [{x: {Contract: $}}], Body: [{Return: $x}]}}"
    main = """
    Methods:
      run:
        Scope: Public
        Arguments: [{id: {Contract: $}}]
        Body:
          - $o: new(O)
          - $seen: $o.f(1)
          - $.o: $o
          - Return: $seen
      again: {Scope: Public, Body: [{Return: $.o.f(trace(2))}]}
    """
    seen = []
    with opened({"a.A": main, "a.O": text}, functions={"trace": seen.append}) as (session, root):
        assert session.call(root, "run", ["x"]) == 1
        held = session._world.objects[next(each for each in session.objects if each != "root")]
        held.is_destroyed = True
        with refused(HISTORIC + "ObjectDestroyedError", "destroyed"):
            session.call(root, "again")
    assert seen == [2]


# What it is given


def test_a_contract_changes_constants_and_values_each_time():
    methods = """
    f:
      Arguments: [{x: {Contract: $.int()}}, {y: {Contract: $.string()}}]
      Body: [{$x: $x + 1}, {Return: [$x, $y]}]
    """
    body = "Return: list(1, '2', null, true).select(list($this.f('41', 5), $this.f($ or 0, $)))"
    constant = [42, "5"]
    assert run(body, methods=methods) == [
        [constant, [2, "1"]],
        [constant, [3, "2"]],
        [constant, [1, None]],
        [constant, [2, "True"]],
    ]


def test_a_constant_that_violates_a_contract_does_so_each_time():
    methods = "f: {Arguments: [{x: {Contract: $.int().check($ > 2)}}], Body: [{Return: $x}]}"
    body = """
    - $caught: []
    - For: i
      In: [1, 2, 3]
      Do:
        - Try: [$.f(2)]
          Catch: {As: e, Do: [{$caught: $caught + list($i)}]}
    - Return: [$caught, !yaql '$.f(3)']
    """
    assert run(body, methods=methods) == [[1, 2, 3], 3]


def test_maps_that_become_objects_are_new_each_time():
    methods = """
    f: {Arguments: [{x: {Contract: $.class(N)}}], Body: [$x.up(), {Return: $x}]}
    g: {Body: [{Return: !yaql "$.f({n => 1})"}]}
    """
    classes = {
        "a.N": "Properties: {n: {Contract: $.int(), Usage: InOut}}\nMethods: {.init: {Body: [trace($.n)]}, up: {Body: [{$.n: $.n + 1}]}}"
    }
    body = "- $a: $.g()\n- $b: $.g()\n- Return: [!yaql '$a = $b', $a.n, $b.n]"
    seen = []
    assert run(body, methods=methods, classes=classes, seen=seen) == [False, 2, 2]
    assert seen == [1, 1]


def test_arguments_that_are_left_out_have_their_defaults_each_time():
    head = "Properties: {n: {Contract: $.int(), Usage: InOut, Default: 1}}"
    methods = """
    f:
      Arguments:
        - a: {Contract: $.int(), Default: $.n}
        - b: {Contract: $.int(), Default: $.next()}
      Body: [{Return: [$a, $b]}]
    next: {Body: [{$.n: $.n + 10}, {Return: $.n}]}
    """
    body = (
        "Return: list($.f(), $.f(5), $.f(5, 6), $.f(b => 7), $.f(), $.f(null, null), $.f(a => 8))"
    )
    assert run(body, head=head, methods=methods) == [
        [1, 11],
        [5, 21],
        [5, 6],
        [21, 7],
        [21, 31],
        [None, None],
        [8, 41],
    ]


def test_what_is_given_is_evaluated_once_and_in_order_before_contracts_are_asked():
    methods = "f: {Arguments: [{a: {Contract: $.int().check($ > 5)}}, {b: {Contract: $}}], Body: [trace(body)]}"
    seen = []
    with refused(HISTORIC + "ContractViolationException"):
        run("$.f(trace(1) or 1, trace(2))", methods=methods, seen=seen)
    assert seen == [1, 2]


def test_lazy_sequences_are_computed_before_the_next_value_is():
    methods = "f: {Arguments: [{a: {Contract: $}}, {b: {Contract: $}}], Body: [{Return: [$a, $b]}]}"
    seen = []
    body = "Return: $.f([1, 2].select(trace($) or $), trace(3))"
    assert run(body, methods=methods, seen=seen) == [[1, 2], None]
    assert seen == [1, 2, 3]


@pytest.mark.parametrize("call", ["$.f(1, 2)", "$.f()", "$.f(1, x => 2)", "$.f(y => 1)"])
def test_too_much_and_too_little_is_refused_each_time(call):
    methods = "f: {Arguments: [{x: {Contract: $.notNull()}}], Body: [{Return: $x}]}"
    body = f"""
    - $failed: 0
    - Repeat: 3
      Do:
        - Try: [!yaql "{call}"]
          Catch: {{As: e, Do: [{{$failed: $failed + 1}}]}}
    - Return: $failed
    """
    assert run(body, methods=methods) == 3


# How a method ends


def test_what_stands_behind_a_return_does_not_run_and_must_be_right():
    assert run("- Return: 1\n- trace(2)\n- Return: 3", seen=(seen := [])) == 1
    assert seen == []
    text = "Methods:\n" + method("f", "- Return: 1\n- $x: $.f(,)\n- Nothing: 2")
    with opened({"a.A": text}) as (session, root), refused("SyntaxError"):
        session.call(root, "f", internal=True)


def test_statements_behind_a_return_count_as_before():
    methods = (
        "f: {Body: [{Return: 1}, $.a(), $.b(), $.c(), $.d(), $.e(), $.f(), $.g(), $.h(), $.i()]}"
    )
    body = "- Repeat: 100\n  Do: [$.f()]\n- Return: 1"
    with pytest.raises(EngineError) as caught:
        run(body, methods=methods, limits=Limits(steps=1100))
    assert caught.value.code == "limit"
    assert run(body, methods=methods, limits=Limits(steps=1300)) == 1


def test_a_return_keeps_its_value_through_finally_and_loops():
    body = """
    - For: i
      In: [1, 2, 3]
      Do:
        - While: 1 < 2
          Do:
            - Try:
                - If: $i = 2
                  Then: [{Return: $.f($i)}, {Return: never}]
                - Break:
              Finally:
                - $.f(9)
    - Return: late
    """
    methods = "f: {Arguments: [{x: {Contract: $}}], Body: [{Return: [$x]}]}"
    assert run(body, methods=methods) == [2]


# Where it was


PLACES = """
Methods:
  outer:
    Scope: Public
    Arguments: [{how: {Contract: $}}]
    Body:
      - $x: 1
      - If: $how = body
        Then:
          Return: $.inner(body)
      - If: $how = contract
        Then:
          - Return:
              - $.inner(1) + $.strict($how)
      - $x: $.inner($.fails(1))
      - Return: $x
  inner:
    Arguments: [{how: {Contract: $}}]
    Body:
      - If: $how = body
        Then:
          - $y: 2
          - Throw: Oops
      - Return: 1
  strict:
    Arguments: [{x: {Contract: $.int()}}]
    Body:
      - Return: $x
  fails:
    Arguments: [{x: {Contract: $}}]
    Body:
      - $y: 1
      - Return: $x + [$y]
"""


@pytest.mark.parametrize(
    ("how", "frames"),
    [
        ("body", [("inner", 25), ("outer", 12)]),
        ("contract", [("strict", 27), ("outer", 15)]),
        ("argument", [("fails", 35), ("outer", 17)]),
    ],
)
def test_frames_have_the_line_of_each_call(how, frames):
    with opened({"a.A": PLACES}) as (session, root):
        for _ in range(3):
            with pytest.raises(EngineError) as caught:
                session.call(root, "outer", [how])
            assert [(each.method, each.line) for each in caught.value.frames] == frames


@pytest.mark.parametrize("calls", [3, 20])
def test_calls_nest_as_deeply_as_the_limit_says_and_not_more(calls):
    text = """
    Methods:
      f:
        Scope: Public
        Arguments: [{n: {Contract: $.int()}}]
        Body:
          - If: $n = 1
            Then: [{Return: 1}]
          - Return: $.f($n - 1) + 1
      after: {Scope: Public, Arguments: [{n: {Contract: $}}], Body: [{Try: [{Throw: Nope}], Catch: [{Do: []}]}, {Return: $.f($n)}]}
      branch: {Scope: Public, Arguments: [{n: {Contract: $}}], Body: [{Parallel: [sleep(0), {$x: $.f($n)}]}, {Return: $x}]}
      branches: {Scope: Public, Arguments: [{n: {Contract: $}}], Body: [{Parallel: [sleep(0), $.f($n), $.f($n)]}, {Return: $.f($n)}]}
    """
    with opened({"a.A": text}, limits=Limits(calls=calls)) as (session, root):
        for _ in range(2):
            assert session.call(root, "f", [calls]) == calls
            assert session.call(root, "after", [calls - 1]) == calls - 1
            assert session.call(root, "branch", [calls - 1]) == calls - 1
            assert session.call(root, "branches", [calls - 1]) == calls - 1
            for name in ("f", "after", "branch", "branches"):
                with pytest.raises(EngineError) as caught:
                    session.call(root, name, [calls + 1 if name == "f" else calls])
                assert caught.value.code == "limit"
                assert caught.value.message == f"more than {calls} calls are nested"
                assert len(caught.value.frames) == calls + 1


# What lives meanwhile


def test_what_only_variables_of_waiting_branches_lead_to_is_not_destroyed():
    classes = {
        "a.O": "Properties: {n: {Contract: $}}\nMethods: {.destroy: {Body: [trace($.n)]}}",
        "a.B": """
Methods:
  keep:
    Arguments: [{o: {Contract: $}}, {long: {Contract: $}}]
    Body:
      - sleep($long)
      - Return: $o.n
  both:
    Arguments: [{n: {Contract: $}}, {long: {Contract: $}}]
    Body:
      - Return: $.keep(new(O, n => $n), $long)
""",
    }
    body = """
    - $b: new(B)
    - Parallel:
        - $x: $b.both(one, 0)
        - $y: $b.both(two, 0.05)
        - Do:
            - sleep(0.02)
            - new('sys:GC').collect()
            - trace(collected)
    - new('sys:GC').collect()
    - Return: [$x, $y]
    """
    seen = []
    assert run(body, classes=classes, seen=seen) == ["one", "two"]
    assert seen == ["one", "collected", "two"]
