"""Each statement, and each form of assignment."""

import pytest
from programs import HEAD, HISTORIC, method, opened, refused, run

from trundle.engine import EngineError

OUT = "Properties: {n: {Contract: $, Usage: Out}}"


@pytest.mark.parametrize(
    ("value", "result"),
    [
        ("1", 1),
        ("$x + 1", 3),
        ("word", "word"),
        ("'$x'", "$x"),
        ("[1, $x, [$x]]", [1, 2, [2]]),
        ("{a: $x, b: {c: [$x]}}", {"a": 2, "b": {"c": [2]}}),
        ("{$x: 1}", {2: 1}),
        ("null", None),
        ("!yaql '$x'", 2),
    ],
)
def test_any_structure_is_returned_with_expressions_anywhere(value, result):
    assert run(f"- $x: 2\n- Return: {value}") == result


def test_return_ends_the_method_from_any_block():
    body = """
    - For: x
      In: [1, 2, 3]
      Do:
        - While: 1 > 0
          Do:
            - Try: [{If: $x = 2, Then: [{Return: $x}], Else: [{Break: }]}]
              Finally: [trace($x)]
    - trace(end)
    """
    seen = []
    assert run(body, seen=seen) == 2
    assert seen == [1, 2]


def test_do_is_a_plain_block():
    assert run("- Do: [{$x: 1}, {$y: $x + 1}]\n- Return: $y") == 2


def test_a_body_may_be_a_single_statement():
    assert run("Return: 5") == 5
    seen = []
    assert run("trace(1)", seen=seen) is None
    assert seen == [1]


def test_variables_belong_to_the_method_and_unset_ones_are_null():
    body = """
    - $before: $x
    - If: true
      Then: [{$x: 1}]
    - Return: [$before, $x, $y]
    """
    assert run(body) == [None, 1, None]


@pytest.mark.parametrize(
    ("condition", "result"),
    [
        ("true", "then"),
        ("false", "else"),
        ("null", "else"),
        ("0", "else"),
        ("''", "else"),
        ("list()", "else"),
        ("1 > 0", "then"),
        ("$.get(5)", "then"),
    ],
)
def test_if_takes_then_or_else(condition, result):
    methods = "get: {Arguments: [{x: {Contract: $}}], Body: [{Return: $x}]}"
    body = f"If: {condition}\nThen: [{{Return: then}}]\nElse: [{{Return: else}}]"
    assert run(body, methods=methods) == result


def test_if_without_else_goes_on():
    assert run("- If: false\n  Then: [{Return: 1}]\n- Return: 2") == 2


def test_blocks_may_be_single_statements():
    assert run("- If: true\n  Then:\n    $x: 1\n- Return: $x") == 1


def test_while_runs_as_long_as_its_condition_holds():
    body = """
    - $n: 0
    - While: $n < 5
      Do: [{$n: $n + 2}]
    - Return: $n
    """
    assert run(body) == 6


def test_for_gives_each_item_and_the_variable_keeps_its_last_value():
    seen = []
    body = "- For: x\n  In: [3, 1, 2]\n  Do: [trace($x)]\n- Return: $x"
    assert run(body, seen=seen) == 2
    assert seen == [3, 1, 2]


@pytest.mark.parametrize("form", ["1.0", "1.4"])
def test_for_over_a_map_gives_keys(form):
    seen = []
    run("- $d: {b: 1, a: 2}\n- For: x\n  In: $d\n  Do: [trace($x)]", seen=seen, form=form)
    assert sorted(seen) == ["a", "b"]


def test_for_over_nothing_leaves_the_variable():
    assert run("- $x: 7\n- For: x\n  In: []\n  Do: [{$x: 1}]\n- Return: $x") == 7


def test_for_over_null_has_no_item():
    assert run("- $x: 7\n- For: x\n  In: $none\n  Do: [{Return: 1}]\n- Return: $x") == 7


@pytest.mark.parametrize("collection", ["5", "abc", "$.run"])
def test_for_over_what_is_no_collection_is_an_error(collection):
    with pytest.raises(EngineError):
        run(f"For: x\nIn: {collection}\nDo: []")


def test_for_over_a_lazy_sequence():
    body = "- $s: 0\n- For: x\n  In: range(5).where($ > 1)\n  Do: [{$s: $s + $x}]\n- Return: $s"
    assert run(body) == 9


def test_assigning_a_list_while_it_is_iterated_changes_not_the_iteration():
    seen = []
    body = """
    - $l: [1, 2]
    - For: x
      In: $l
      Do: [trace($x), {$l: $l + list(9)}]
    - Return: $l
    """
    assert run(body, seen=seen) == [1, 2, 9, 9]
    assert seen == [1, 2]


@pytest.mark.parametrize(("times", "result"), [("3", 3), ("$k + 1", 3), ("0", 0), ("-1", 0)])
def test_repeat_takes_a_number_or_an_expression(times, result):
    assert (
        run(f"- $k: 2\n- $n: 0\n- Repeat: {times}\n  Do: [{{$n: $n + 1}}]\n- Return: $n") == result
    )


@pytest.mark.parametrize("loop", ["Repeat: 5", "For: x\n  In: [1, 2, 3, 4, 5]", "While: 1 > 0"])
def test_break_ends_and_continue_goes_on_with_the_innermost_loop(loop):
    body = f"""
- $n: 0
- $m: 0
- {loop}
  Do:
    - $n: $n + 1
    - If: $n < 3
      Then: [{{Continue: }}]
    - $m: $m + 1
    - If: $n = 4
      Then: [{{Break: }}]
- Return: [$n, $m]
"""
    assert run(body) == [4, 2]


@pytest.mark.parametrize("word", ["Break", "Continue"])
def test_break_and_continue_outside_a_loop(word):
    with refused(HISTORIC + "DslInvalidOperationError", "invalid-operation") as caught:
        run(
            f"- $x: 1\n- Repeat: 2\n  Do: [{{$x: 2}}]\n- If: $x = 2\n  Then:\n    - {word}:\n- Return: 1"
        )
    before = [*HEAD.splitlines(), "", "Methods:", "run:", "Arguments:", "Body:"]
    assert caught.value.line == len(before) + 7


@pytest.mark.parametrize("word", ["Break", "Continue"])
def test_break_does_not_leave_the_method_that_was_called_in_a_loop(word):
    with refused(HISTORIC + "DslInvalidOperationError"):
        run("- Repeat: 2\n  Do: [$.f()]", methods=f"f: {{Body: [{{{word}: }}]}}")


@pytest.mark.parametrize(
    ("value", "result"),
    [("a", "A"), ("$x", "two"), ("2", "two"), ("z", "other"), ("true", "yes"), ("null", "nil")],
)
def test_match_takes_the_equal_key(value, result):
    body = f"""
- $x: 2
- Match:
    a: [{{Return: A}}]
    2: [{{Return: two}}]
    true: [{{Return: yes}}]
    null: [{{Return: nil}}]
  Value: {value}
  Default: [{{Return: other}}]
"""
    body = body.replace("Return: yes", "Return: 'yes'")
    assert run(body) == result


def test_match_without_default_does_nothing():
    assert run("- Match: {a: [{Return: 1}]}\n  Value: b\n- Return: 2") == 2


def test_switch_runs_every_true_condition_in_written_order():
    seen = []
    body = """
    - $x: 5
    - Switch:
        $x > 3: [trace(three)]
        $x > 9: [trace(nine)]
        $x > 1: [trace(one)]
        $x > 2: [trace(two)]
      Default: [trace(none)]
    """
    run(body, seen=seen)
    assert seen == ["three", "one", "two"]


def test_switch_takes_its_default_where_nothing_is_true():
    seen = []
    run("Switch: {$x > 3: [trace(three)]}\nDefault: [trace(none)]".replace("$x", "1"), seen=seen)
    assert seen == ["none"]


WRONG = [
    "'trace(1)'",
    "'a string'",
    "{For: x, Do: []}",
    "{If: true}",
    "{Then: []}",
    "{Nothing: 1, Other: 2}",
    "{Break: 5}",
    "{While: [1], Do: []}",
    "{word: 5}",
    "5",
]


@pytest.mark.parametrize("body", WRONG)
def test_other_shapes_are_refused_when_the_method_is_called(body):
    with pytest.raises(EngineError) as caught:
        run("$.f()", methods=f"f: {{Body: [{body}]}}")
    assert caught.value.code == "syntax"


def test_other_shapes_are_caught_as_syntax_errors():
    with refused("SyntaxError"):
        run("$.f()", methods="f: {Body: [5]}")


def test_a_wrong_key_in_a_construct_is_named_with_its_line():
    text = "Methods:\n  f:\n    Body:\n      - If: true\n        Than: []\n"
    with opened({"a.A": text}) as (session, root), pytest.raises(EngineError) as caught:
        session.call(root, "f", internal=True)
    assert "If" in caught.value.message
    assert "Than" in caught.value.message
    assert caught.value.line in (6, 7)  # Two lines are before the text.


# Assignment


def test_assignment_to_a_variable_a_property_and_the_property_of_an_object():
    text = OUT + "\nMethods: {other: {Arguments: [{o: {Contract: $.class(A)}}], Body: [{$o.n: 7}]}}"
    body = "- $v: 1\n- $.n: 2\n- $this.m: 3\n- Return: [$v, $.n, $.m]"
    assert run(body, head=OUT) == [1, 2, 3]
    with opened({"a.A": text}) as (session, root):
        other = session.load({"?": {"type": "a.A", "id": "other"}})
        session.call(root, "other", [other], internal=True)
        assert other.get("n") == 7


@pytest.mark.parametrize("target", ["$.n.a.b", "$x.a.b", "$this.n.a.b"])
def test_missing_inner_maps_are_made(target):
    body = f"- $x: {{k: 1}}\n- $.n: {{k: 1}}\n- {target}: 5\n- Return: {target.split('.a')[0]}"
    assert run(body, head=OUT) == {"k": 1, "a": {"b": 5}}


def test_values_are_immutable_and_assignment_rebuilds_the_variable():
    body = """
    - $x: {a: {b: 1}}
    - $y: $x
    - $x.a.b: 2
    - Return: [$x, $y]
    """
    assert run(body) == [{"a": {"b": 2}}, {"a": {"b": 1}}]


def test_a_null_variable_has_no_part_to_assign():
    with refused("ValueError"):
        run("$x.a: 1")


def test_an_uninitialized_property_counts_as_an_empty_map():
    head = "Properties: {n: {Contract: $.notNull(), Usage: Runtime}}"
    assert run("- $.n.a: 1\n- Return: $.n", head=head) == {"a": 1}
    assert run("- $.undeclared.a: 1\n- Return: $.undeclared") == {"a": 1}


@pytest.mark.parametrize(
    ("steps", "result"),
    [
        ("- $x: [1, 2, 3]\n- $x[1]: 9", [1, 9, 3]),
        ("- $x: [1, 2, 3]\n- $x[-1]: 9", [1, 2, 9]),
        ("- $x: {a: 1}\n- $x[b]: 9", {"a": 1, "b": 9}),
        ("- $x: {a: 1}\n- $x['b c']: 9", {"a": 1, "b c": 9}),
        ("- $k: b\n- $x: {a: 1}\n- $x[$k]: 9", {"a": 1, "b": 9}),
        ("- $x: {a: [1, {b: 2}]}\n- $x.a[1].b: 9", {"a": [1, {"b": 9}]}),
        ("- $x: [[1], [2]]\n- $x[1][0]: 9", [[1], [9]]),
        ("- $x: {}\n- $x[1]: 9", {1: 9}),
        ("- $x: {}\n- $x: [{$x: 1}]", [{}]),
    ],
)
def test_an_index_replaces_an_item_of_a_list_or_is_a_key(steps, result):
    if "[{$x" in steps:
        steps, result = "- $x: 3\n- $x: [{$x: 1}]", [{3: 1}]
    assert run(f"{steps}\n- Return: $x") == result


@pytest.mark.parametrize("at", ["3", "-4"])
def test_an_index_past_the_end(at):
    with refused("IndexError"):
        run(f"- $x: [1, 2, 3]\n- $x[{at}]: 9")


@pytest.mark.parametrize("value", ["5", "text"])
def test_an_index_of_what_is_no_list_and_no_map(value):
    with refused("TypeError"):
        run(f"- $x: {value}\n- $x[0]: 9")


@pytest.mark.parametrize("target", ["$", "$this"])
def test_the_object_itself_is_not_assigned(target):
    with refused("ValueError"):
        run(f"{target}: 1")


@pytest.mark.parametrize("target", ["$x + 1", "$.f()", "len($x)", "new(A)"])
def test_other_expressions_are_no_targets(target):
    with refused(HISTORIC + "InvalidLhsTargetError", "invalid-target"):
        run(f"- $x: 1\n- {target}: 1", methods="f: {}")


def test_assignment_to_static_properties_by_type():
    classes = {"a.S": "Properties: {n: {Contract: $, Usage: Static, Default: {}}}"}
    body = """
    - :S.n: {a: 1}
    - type('a.S').n.b: 2
    - $s: new(S)
    - type($s).n.c: 3
    - Return: :S.n
    """
    assert run(body, classes=classes) == {"a": 1, "b": 2, "c": 3}


def test_an_assigned_value_is_any_structure():
    assert run("- $y: 2\n- $x: {a: [$y, {$y: $y}]}\n- Return: $x") == {"a": [2, {2: 2}]}


def test_an_assignment_into_a_property_passes_its_contract():
    head = "Properties: {n: {Contract: {a: $.int()}, Usage: Out}}"
    assert run("- $.n.a: '5'\n- Return: $.n", head=head) == {"a": 5}
    with refused(HISTORIC + "ContractViolationException"):
        run("$.n.a: foo", head=head)


def test_arguments_are_variables():
    methods = method("f", "- $x: $x + 1\n- Return: $x", Arguments="[{x: {Contract: $.int()}}]")
    methods = methods.replace("\n  ", "\n").strip()
    assert run("- $y: 1\n- Return: [$.f($y), $y]", methods=methods) == [2, 1]


def test_the_value_is_evaluated_before_the_target_changes():
    assert run("- $x: [1, 2]\n- $x[0]: $x\n- Return: $x") == [[1, 2], 2]
