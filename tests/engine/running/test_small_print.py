"""What the sentences say at their edges."""

import pytest
from engines import package
from programs import HISTORIC, NO_MATCH, ROOT, opened, refused, run

from trundle.engine import EngineError

# Who may do what


def test_a_property_in_is_written_by_what_init_calls():
    text = """
    Properties: {n: {Contract: $, Default: 1}}
    Methods:
      .init: {Body: [$.set(5)]}
      set: {Arguments: [{v: {Contract: $}}], Body: [{$.n: $v}]}
    """
    assert run("Return: new(S).n", classes={"a.S": text}) == 5


def test_init_of_a_parent_writes_what_the_child_declares_as_in():
    classes = {
        "a.P": "Methods: {.init: {Body: [{$.n: 5}]}}",
        "a.C": "Extends: P\nProperties: {n: {Contract: $, Default: 1}}",
    }
    assert run("Return: new(C).n", classes=classes) == 5


def test_init_of_one_object_writes_not_what_another_one_has_as_in():
    classes = {
        "a.S": "Properties: {n: {Contract: $, Default: 1}, o: {Contract: $.class(S)}}\n"
        "Methods: {.init: {Body: [{If: $.o, Then: [{$.o.n: 7}]}]}}",
    }
    body = "- $a: new(S)\n- new(S, o => $a)\n- Return: $a.n"
    with refused(HISTORIC + "NoWriteAccessError"):
        run(body, classes=classes)


def test_an_extension_method_may_write_where_its_class_may():
    classes = {
        "a.E": "Methods: {put: {Usage: Extension, Arguments: [{o: {Contract: $.class(S)}}], Body: [{$o.n: 5}]}}",
        "a.S": "Properties: {n: {Contract: $, Usage: Out}}",
    }
    with refused(HISTORIC + "NoWriteAccessError"):
        run("- $s: new(S)\n- $s.put()", classes=classes, head="Import: E")
    classes["a.S"] = "Extends: E\n" + classes["a.S"]
    assert run("- $s: new(S)\n- :E.put($s)\n- Return: $s.n", classes=classes) == 5


def test_a_static_method_of_the_class_writes_its_objects():
    text = """
    Properties: {n: {Contract: $, Usage: Out}}
    Methods: {put: {Usage: Static, Arguments: [{o: {Contract: $.class(S)}}], Body: [{$o.n: 5}]}}
    """
    assert run("- $s: new(S)\n- :S.put($s)\n- Return: $s.n", classes={"a.S": text}) == 5


def test_a_lambda_has_the_rights_of_the_code_it_stands_in():
    head = "Properties: {n: {Contract: $, Usage: Out, Default: 2}}"
    methods = "hid: {Body: [{$.x: 4}]}\nget: {Body: [{Return: !yaql 'list(1).select($this.x)'}]}"
    assert run("- $.hid()\n- Return: $.get()", head=head, methods=methods) == [4]


def test_private_names_of_an_object_are_read_by_its_class_alone():
    classes = {
        "a.P": "Methods: {set: {Body: [{$.x: 1}]}}",
        "a.C": "Extends: P\nMethods: {get: {Body: [{Return: $.x}]}}",
    }
    with refused(HISTORIC + "PropertyReadError"):
        run("- $c: new(C)\n- $c.set()\n- $c.get()", classes=classes)


def test_a_session_method_is_called_by_other_code():
    classes = {"a.S": "Methods: {f: {Scope: Session, Body: [{Return: 1}]}}"}
    assert run("Return: new(S).f()", classes=classes) == 1


# Names


def test_a_catch_of_a_parent_class_names_its_own_errors():
    thrower = package(
        "b",
        Format="1.4",
        requires={"a": 1},
        classes={
            "b.B": "Namespaces: {=: b}\nExtends: a.P\nMethods: {f: {Body: [{Throw: Oops}]}, "
            "go: {Scope: Public, Body: [$.run()]}}",
        },
    )
    parent = """
    Methods:
      f: {}
      run:
        Body:
          - Try: [$.f()]
            Catch:
              - With: Oops
                Do: [{Return: a}]
              - With: b.Oops
                Do: [{Return: b}]
    """
    with opened({"a.P": parent}, {"?": {"type": "b.B"}}, packages=[thrower]) as (session, root):
        assert session.call(root, "run", internal=True) == "b"


def test_the_empty_prefix_is_the_default_namespace():
    classes = {"a.S": "Methods: {f: {Usage: Static, Body: [{Return: 2}]}}"}
    assert run("Return: :S.f()", classes=classes) == 2


# Exceptions


def test_an_unevaluated_message_of_words_is_text():
    with refused("a.Oops") as caught:
        run("Throw: Oops\nMessage: some words")
    assert caught.value.message == "some words"


def test_extra_keeps_objects():
    body = """
    - Try:
        - Throw: Oops
          Extra: {o: $}
      Catch:
        As: e
        Do: [{Return: !yaql '$e.extra.o = $this'}]
    """
    assert run(body) is True


def test_a_caught_engine_error_is_a_cause():
    body = """
    Try: [$.nothing()]
    Catch:
      As: e
      Do:
        - Throw: Outer
          Message: outer
          Cause: $e
    """
    with refused("a.Outer") as caught:
        run(body)
    assert NO_MATCH in caught.value.cause.names
    assert "nothing" in caught.value.format()


def test_a_native_exception_is_there_for_errors_of_python():
    def fail():
        raise RuntimeError("bad")

    body = "Try: [fail()]\nCatch:\n  As: e\n  Do: [{Return: [$e.name, $e.message]}]"
    name, message = run(body, functions={"fail": fail})
    assert name == "RuntimeError"
    assert "bad" in message


def test_an_exception_object_may_leave_the_method():
    body = "Try: [{Throw: Oops, Message: hi}]\nCatch:\n  As: e\n  Do: [{Return: $e}]"
    methods = "f: {{Body: [{}]}}".format(
        "{Try: [{Throw: Oops, Message: hi}], Catch: [{As: e, Do: [{Return: $e}]}]}"
    )
    assert run("Return: $.f().message", methods=methods) == "hi"
    assert body


def test_else_after_a_return_runs_not():
    seen = []
    assert run("- Try: [{Return: 1}]\n  Else: [trace(else)]", seen=seen) == 1
    assert seen == []


def test_else_may_return():
    assert run("- Try: [{$x: 1}]\n  Else: [{Return: 5}]\n- Return: 6") == 5


def test_an_error_thrown_by_a_with_of_no_name_is_not_matched():
    with refused("a.Oops"):
        run("- Try: [{Throw: Oops}]\n  Catch: [{With: []}]")


def test_an_error_in_a_condition_is_caught():
    body = "- Try:\n    - If: $.nothing()\n      Then: []\n  Catch: [{Do: [{Return: 1}]}]"
    assert run(body) == 1


def test_the_line_of_an_error_in_an_expression_of_several_lines():
    body = """
    - $x: 1
    - $y:
        a: 1
        b: $.nothing()
    """
    with refused(NO_MATCH) as caught:
        run(body)
    # The statement is at line 9 or its value at line 11, after `Name`, `Namespaces` and four lines
    assert caught.value.frames[0].line in (9, 10, 11)


def test_frames_of_static_extension_and_init():
    classes = {
        "a.S": "Methods: {.init: {Body: [!yaql ':E.f(1)']}}",
        "a.E": "Methods: {f: {Usage: Extension, Arguments: [{x: {Contract: $}}], Body: [{Throw: Oops}]}}",
    }
    with refused("a.Oops") as caught:
        run("new(S)", classes=classes)
    assert [(f.class_name, f.method) for f in caught.value.frames] == [
        ("a.E", "f"),
        ("a.S", ".init"),
        ("a.A", "run"),
    ]


def test_frames_of_a_parallel_within_a_lambda():
    methods = "f: {Arguments: [{x: {Contract: $}}], Body: [{Parallel: [$.g($x), sleep(0)]}]}\ng: {Arguments: [{x: {Contract: $}}], Body: [{Throw: Oops}]}"
    with refused("a.Oops") as caught:
        run("list(1, 2).pselect($this.f($))", methods=methods)
    assert [f.method for f in caught.value.frames] == ["g", "f", "run"]


# Destroying and garbage


def test_an_error_that_ends_a_call_keeps_what_was_done():
    text = "Properties: {n: {Contract: $, Usage: Out}}\nMethods: {f: {Scope: Public, Body: [{$.n: 1}, {Throw: Oops}]}}"
    with opened({"a.A": text}) as (session, root):
        with refused("a.Oops"):
            session.call(root, "f")
        assert root.get("n") == 1


def test_a_null_owner_and_an_own_cycle_are_collected():
    text = """
    Properties: {o: {Contract: $.class(A), Usage: Out}}
    Methods:
      set: {Arguments: [{x: {Contract: $.class(A)}}], Body: [{$.o: $x}]}
      loop:
        Scope: Public
        Body:
          - $a: new(A)
          - $b: new(A)
          - $a.set($b)
          - $b.set($a)
    """
    with opened({"a.A": text}) as (session, root):
        session.call(root, "loop")
        session.finish()
        assert list(session.objects) == ["root"]


def test_what_a_static_property_holds_is_kept():
    text = """
    Properties: {s: {Contract: $.class(A), Usage: Static}}
    Methods:
      hold: {Scope: Public, Body: [{$.s: new(A)}]}
      held: {Scope: Public, Body: [{Return: id($.s)}]}
    """
    with opened({"a.A": text}) as (session, root):
        session.call(root, "hold")
        before = session.call(root, "held")
        assert session.call(root, "held") == before
        assert isinstance(before, str)


def test_destroy_of_an_owner_finds_its_destroyed_child():
    text = """
    Properties: {p: {Contract: $.class(A)}, n: {Contract: $}}
    Methods:
      m: {Body: [{Return: 1}]}
      .destroy:
        Body:
          - Try: [$.p?.m()]
            Catch: [{With: 'dsl:ObjectDestroyedError', Do: [trace(refused)]}]
    """
    seen = []
    old = {**ROOT, "p": {"?": {"type": "a.A", "id": "p"}}}
    model = {"Objects": None, "ObjectsCopy": old}
    with opened({"a.A": text}, model, functions={"trace": seen.append}) as (session, _):
        session.finish()
    assert seen == ["refused"]


# Statements


def test_match_and_switch_of_lists_and_maps():
    body = "- Match:\n    a: [{Return: 1}]\n  Value: [a]\n  Default: [{Return: 2}]"
    assert run(body) == 2


def test_match_compares_types():
    body = (
        "- Match:\n    1: [{Return: one}]\n    '1': [{Return: text}]\n  Value: $x\n- Return: none"
    )
    arguments = "[{x: {Contract: $}}]"
    assert [run(body, x, arguments=arguments) for x in (1, "1", 2)] == ["one", "text", "none"]


def test_a_return_within_a_map_of_expressions_as_keys():
    assert run("- $k: a\n- Return: {$k: [$k, {$k: $k}]}") == {"a": ["a", {"a": "a"}]}


def test_continue_in_while_evaluates_the_condition_again():
    body = "- $n: 0\n- While: $n < 3\n  Do: [{$n: $n + 1}, {Continue: }, {$n: 100}]\n- Return: $n"
    assert run(body) == 3


def test_repeat_evaluates_its_count_once():
    body = "- $n: 3\n- $k: 0\n- Repeat: $n\n  Do: [{$n: 10}, {$k: $k + 1}]\n- Return: $k"
    assert run(body) == 3


def test_for_over_a_list_from_a_waiting_function():
    methods = "items: {Body: [sleep(0.001), {Return: [1, 2]}]}"
    seen = []
    run("For: x\nIn: $.items()\nDo: [trace($x)]", methods=methods, seen=seen)
    assert seen == [1, 2]


def test_assignment_to_a_member_of_a_list_maps_not():
    with pytest.raises(EngineError):
        run("- $x: [{a: 1}, {a: 2}]\n- $x.a: 5")


@pytest.mark.parametrize("target", ["$x?.a", "'$x'", "word", "list($x)", "$x.f().a"])
def test_more_that_is_no_target(target):
    with pytest.raises(EngineError) as caught:
        run(f"- $x: {{}}\n- {target}: 1", methods="f: {}")
    assert caught.value.code in ("invalid-target", "syntax")


def test_indexes_are_expressions_and_evaluated_once():
    seen = []
    body = "- $x: [[1, 2], [3, 4]]\n- $x[$.at(1)][$.at(0)]: 9\n- Return: $x"
    methods = "at: {Arguments: [{n: {Contract: $}}], Body: [trace($n), {Return: $n}]}"
    assert run(body, methods=methods, seen=seen) == [[1, 2], [9, 4]]
    assert sorted(seen) == [0, 1]


def test_an_index_that_is_text_on_a_list():
    with refused("TypeError"):
        run("- $x: [1]\n- $x[a]: 5")


def test_an_index_on_an_object():
    with refused("TypeError"):
        run("- $x: new(A)\n- $x[0]: 5")


def test_a_null_within_is_no_map():
    with refused("ValueError"):
        run("- $x: {a: null}\n- $x.a.b: 5")


# Names of errors


def test_a_name_of_its_own_without_a_value_is_uninitialized():
    body = "- Try: [$.nothing]\n  Catch: {With: 'dsl:UninitializedPropertyAccessError', Do: [{Return: caught}]}"
    assert run(body) == "caught"


def test_a_name_of_another_class_is_no_property():
    classes = {"a.S": "Methods: {f: {Body: [{$.x: 1}]}}"}
    with refused(HISTORIC + "PropertyReadError") as caught:
        run("- $s: new(S)\n- $s.f()\n- $s.x", classes=classes)
    assert HISTORIC + "UninitializedPropertyAccessError" not in caught.value.names


def test_what_is_attached_wrongly_is_an_error_of_a_value():
    classes = {"a.S": "Meta: [A]"}
    body = (
        "- Try: [!yaql 'new(S)']\n  Catch: {With: 'py:ValueError', As: e, Do: [{Return: $e.name}]}"
    )
    assert run(body, classes=classes) == "ValueError"


# Functions that few use


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("dict(a => 1).containsKey(a)", True),
        ("list(4, 5, 6).indexWhere($ > 4)", 1),
        ("dict(a => 1, b => 2, c => 3).deleteAll(list(a, c))", {"b": 2}),
        ("list(isObject($), isObject(:A), isObject(5))", [True, True, False]),
    ],
)
def test_what_a_function_gives(expression, expected):
    assert run(f"Return: {expression}") == expected
