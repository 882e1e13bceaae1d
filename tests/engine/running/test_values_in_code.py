"""The functions of the engine on values, and on methods by name."""

import re
from time import monotonic

import pytest
from programs import NO_MATCH, ROOT, opened, refused, run

from trundle.engine import EngineError


def test_call_by_name():
    methods = "f: {Arguments: [{a: {Contract: $}}, {b: {Contract: $}}], Body: [{Return: [$a, $b]}]}"
    assert run("Return: call(f, list(1), dict(b => 2), $)", methods=methods) == [1, 2]
    assert run("Return: call(f, list(1, 2), {}, $this)", methods=methods) == [1, 2]


def test_call_without_a_receiver_calls_a_function():
    assert run("Return: call(list, list(1, 2), {})") == [1, 2]
    assert run("Return: call(double, list(4), {})", functions={"double": lambda x: 2 * x}) == 8


def test_call_of_a_static_method_by_type():
    classes = {
        "a.S": "Methods: {f: {Usage: Static, Arguments: [{x: {Contract: $}}], Body: [{Return: $x}]}}"
    }
    assert run("Return: call(f, list(3), {}, :S)", classes=classes) == 3


def test_a_method_is_no_function():
    with refused("yaql.language.exceptions.NoFunctionRegisteredException", "unknown-function"):
        run("f()", methods="f: {}")


def test_base64():
    text = "häuser"
    assert run("Return: base64encode(häuser)") == "aMOkdXNlcg=="
    assert (
        run("Return: $s.base64encode()", text, arguments="[{s: {Contract: $}}]") == "aMOkdXNlcg=="
    )
    assert run("Return: base64decode('aMOkdXNlcg==')") == text
    assert run("Return: base64encode(ab).base64decode()") == "ab"


BIND = "[{x: {Contract: $}}, {m: {Contract: $}}]"


@pytest.mark.parametrize(
    ("value", "result"),
    [
        ("$k", 5),
        ("$ab-{k}", "ab-5"),
        ("$ab-{k}-{l}", "ab-5-L"),
        ({"a": ["$k", {"b": "$l"}]}, {"a": [5, {"b": "L"}]}),
        ({"$l": 1}, {"L": 1}),
        ("k", "k"),
        (7, 7),
        (None, None),
        ("$n", None),
    ],
)
def test_bind(value, result):
    replacements = {"k": 5, "l": "L", "n": None}
    assert run("Return: $x.bind($m)", value, replacements, arguments=BIND) == result


@pytest.mark.parametrize("text", ["$unknown", "$a-{unknown}"])
def test_bind_of_an_unknown_key(text):
    with refused("KeyError"):
        run("Return: $x.bind($m)", text, {"k": 5}, arguments=BIND)


def test_bind_changes_a_copy():
    assert run("- $t: {a: '$k'}\n- $u: $t.bind(dict(k => 1))\n- Return: [$t, $u]") == [
        {"a": "$k"},
        {"a": 1},
    ]


@pytest.mark.parametrize(
    ("ops", "result"),
    [
        ({"op": "replace", "path": "/a", "value": 2}, {"a": 2, "b": [1, 2]}),
        ([{"op": "remove", "path": "/a"}], {"b": [1, 2]}),
        (
            [{"op": "add", "path": "/b/-", "value": 3}, {"op": "add", "path": "/c", "value": {}}],
            {"a": 1, "b": [1, 2, 3], "c": {}},
        ),
    ],
)
def test_patch_takes_one_operation_or_a_list(ops, result):
    document = {"a": 1, "b": [1, 2]}
    assert run("- $y: $x.patch($m)\n- Return: [$x, $y]", document, ops, arguments=BIND) == [
        document,
        result,
    ]


def test_a_patch_with_a_bad_path_is_an_error():
    with pytest.raises(EngineError):
        run("Return: $x.patch($m)", {"a": 1}, {"op": "remove", "path": "/z/y"}, arguments=BIND)


def test_random_names_differ():
    first, second = run("Return: list(randomName(), randomName())")
    assert first != second
    assert re.match(r"[a-z]{5}", first)
    assert re.fullmatch(r"[a-z0-9]+", first)


def test_sleep_gives_null_and_waits():
    start = monotonic()
    assert run("Return: sleep(0.05)") is None
    assert monotonic() - start >= 0.05


def test_pselect_gives_results_in_order():
    assert run("Return: list(3, 1, 2).pselect($ * 2)") == [6, 2, 4]


def test_pselect_raises_the_first_error_at_the_end():
    seen = []
    methods = """
    f:
      Arguments: [{x: {Contract: $}}]
      Body:
        - If: $x < 3
          Then: [{Throw: Oops, Message: str($x)}]
        - trace($x)
    """
    with refused("a.Oops") as caught:
        run("list(1, 2, 3, 4).pselect($this.f($))", methods=methods, seen=seen)
    assert caught.value.message == "1"
    assert seen == [3, 4]


@pytest.mark.parametrize("call", ["config(a)", "config(a, b)", "decryptData(a)"])
def test_config_and_decrypt_data_are_not_there_for_packages(call):
    with refused("yaql.language.exceptions.NoFunctionRegisteredException"):
        run(call)


def test_setattr_and_getattr_keep_values_by_object_class_and_name():
    body = """
    - $c: new(U)
    - $c.setAttr(k, 5)
    - $c.setAttr(k, 6, 'a.U')
    - Return: list($c.getAttr(k), $c.getAttr(k, 0, 'a.U'), $c.getAttr(none, 7), $c.getAttr(x))
    """
    assert run(body, classes={"a.U": ""}) == [5, 6, 7, None]


def test_attributes_persist_and_null_deletes():
    text = "Methods: {set: {Arguments: [{v: {Contract: $}}], Body: [$.setAttr(k, $v)]}, get: {Body: [{Return: $.getAttr(k)}]}}".replace(
        "[$.setAttr(k, $v)]", "[!yaql '$.setAttr(k, $v)']"
    )
    with opened({"a.A": text}) as (session, root):
        session.call(root, "set", [5], internal=True)
        model = session.dump(root)
        assert [list(each) for each in model["Attributes"]] == [["root", "a.A", "k", 5]]
    with opened({"a.A": text}, model) as (session, root):
        assert session.call(root, "get", internal=True) == 5
        session.call(root, "set", [None], internal=True)
        assert session.dump(root)["Attributes"] == []
        session.call(root, "set", [root], internal=True)
        assert [list(e) for e in session.dump(root)["Attributes"]] == [["root", "a.A", "k", "root"]]
    assert ROOT["?"]["id"] == "root"


def test_a_method_that_is_not_there():
    with refused(NO_MATCH):
        run("$.nothing()")
    with refused(NO_MATCH):
        run("5.nothing()")
