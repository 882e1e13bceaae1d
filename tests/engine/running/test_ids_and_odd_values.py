"""Objects that code names by their ids, and values and errors that are out of the ordinary."""

import pytest
from engines import package
from programs import HISTORIC, ROOT, opened, refused, run

from trundle.engine import EngineError

NO_OBJECT = HISTORIC + "NoObjectFoundError"
TAKES = "takes: {Arguments: [{x: {Contract: $.class(A)}}], Body: [{Return: $x}]}"


def test_an_unknown_id_as_an_argument():
    with refused(NO_OBJECT):
        run("$.takes(nobody)", methods=TAKES)


def test_an_unknown_id_as_an_argument_from_outside():
    text = "Methods:\n  " + TAKES.replace("{Arguments", "{Scope: Public, Arguments")
    with opened({"a.A": text}) as (session, root), refused(NO_OBJECT):
        session.call(root, "takes", ["nobody"])


def test_an_unknown_id_that_is_assigned():
    with refused(NO_OBJECT):
        run("$.o: nobody", head="Properties: {o: {Contract: $.class(A), Usage: Out}}")


def test_finally_runs_where_an_unknown_id_is_given():
    seen = []
    with refused(NO_OBJECT):
        run("- Try: [$.takes(nobody)]\n  Finally: [trace(1)]", methods=TAKES, seen=seen)
    assert seen == [1]


def test_an_unknown_id_while_a_model_loads():
    text = f"Methods:\n  .init: {{Body: [$.takes(nobody)]}}\n  {TAKES}"
    with refused(NO_OBJECT), opened({"a.A": text}):
        pass


@pytest.mark.parametrize("made", ["new(K, o => nobody)", "new(K, dict(o => nobody))"])
def test_an_unknown_id_in_new(made):
    classes = {"a.K": "Properties: {o: {Contract: $.class(K)}}"}
    with refused(NO_OBJECT):
        run(made, classes=classes)


KIDS = """
Properties:
  k: {Contract: $.class(K)}
  z: {Contract: $.class(K)}
"""
KID = """
Properties:
  n: {Contract: $, Default: $.f()}
Methods:
  g: {Arguments: [{x: {Contract: $.class(K)}}], Body: [{Return: $x}]}
  f: {Body: [trace(f), {Return: $.g(zz).n}]}
"""


def test_a_default_that_needs_an_object_that_comes_later():
    seen = []
    kids = {"k": {"?": {"type": "a.K"}}, "z": {"?": {"type": "a.K", "id": "zz"}, "n": 6}}
    classes = {"a.A": KIDS, "a.K": KID}
    with opened(classes, {**ROOT, **kids}, functions={"trace": seen.append}) as (_, root):
        assert root.get("k").get("n") == 6
    assert seen == ["f"]


@pytest.mark.xfail(strict=True, reason="`f` runs again each time the default is tried")
def test_a_default_that_needs_an_object_that_never_comes():
    seen = []
    model = {**ROOT, "k": {"?": {"type": "a.K"}}}
    with (
        refused(NO_OBJECT),
        opened({"a.A": KIDS, "a.K": KID}, model, functions={"trace": seen.append}),
    ):
        pass
    assert seen == ["f"]


# Sequences that end by an error


def ended():
    return next(iter(()))


@pytest.mark.parametrize("form", ["1.0", "1.4"])
@pytest.mark.parametrize("call", ["select(g())", "where(g())", "selectMany(g())"])
def test_an_error_that_python_ends_sequences_with_is_an_error(call, form):
    with refused("StopIteration"):
        run(f"Return: list(1, 2).{call}", functions={"g": ended}, form=form)


@pytest.mark.parametrize("call", ["pselect(g())", "select($this.f())", "toDict($, g())"])
def test_the_same_error_in_other_places(call):
    methods = "f: {Body: [{Return: g()}]}"
    with refused("StopIteration"):
        run(f"Return: list(1, 2).{call}", functions={"g": ended}, methods=methods)


# Odd values


def test_parallel_without_statements():
    assert run("- Parallel: []\n- Return: 1") == 1


@pytest.mark.parametrize("body", ["Repeat: 3\nDo: []", "For: x\nIn: [1]\nDo: []", "Do: []"])
def test_other_blocks_without_statements(body):
    assert run(body) is None


def test_an_argument_that_has_itself_in_it():
    value = []
    value.append(value)
    text = "Methods: {f: {Scope: Public, Arguments: [{x: {Contract: $}}]}}"
    with opened({"a.A": text}) as (session, root), pytest.raises(EngineError):
        session.call(root, "f", [value])


def test_text_that_is_no_base64():
    with pytest.raises(EngineError):
        run("Return: base64decode('!!!')")


def test_throw_takes_one_name_at_least():
    with pytest.raises(EngineError) as caught:
        run("Throw: []")
    assert caught.value.code == "syntax"


@pytest.mark.parametrize("body", ["range(101).pselect($this.f())", "Parallel"])
def test_more_branches_wait_than_calls_may_nest(body):
    if body == "Parallel":
        body = "Parallel:" + "\n  - $.f()" * 101
    run(body, methods="f: {Body: [sleep(0.001)]}")


def test_results_have_types_and_objects_as_keys():
    found = run("- $d: dict(:A => 1, $ => 2)\n- Return: $d")
    assert sorted(found.values()) == [1, 2]
    assert {type(each).__name__ for each in found} == {"Handle", "Type"}


# Objects made from models again


NESTED = "Properties: {k: {Contract: $, Default: 1}, o: {Contract: $.class(K)}, r: {Contract: $.class(K)}}"


@pytest.mark.parametrize("form", ["Serializable", "Mixed", "Inline"])
def test_a_dump_is_a_model_for_a_copy(form):
    body = f"""
    - $k: new(K, k => 5, o => new(K, k => 2))
    - $d: dump($k, {form})
    - $n: new($d)
    - Return: [$n.k, $n.o.k, $n = $k, $n.o = $k.o]
    """
    assert run(body, classes={"a.K": NESTED}) == [5, 2, False, False]


def test_a_template_makes_many_objects():
    methods = """
f:
  Arguments: [{t: {Contract: $.template(K)}}]
  Body:
    - $a: new($t, $)
    - $t.k: 7
    - $b: new($t, $)
    - Return: [$a.k, $b.k, $a.o.k, $b.o.k]
"""
    body = """
    - $m: {'?': {type: a.K}, k: 6, o: {'?': {type: a.K}, k: 4}}
    - Return: $.f($m)
    """
    assert run(body, methods=methods, classes={"a.K": NESTED}) == [6, 7, 4, 4]


def test_a_flat_template_makes_many_objects():
    methods = """
f:
  Arguments: [{t: {Contract: $.template(K)}}]
  Body:
    - $a: new($t, $)
    - $t.k: 7
    - $b: new($t, $)
    - Return: [$a.k, $b.k, !yaql '$b.find(A) = $this']
"""
    assert run("Return: $.f({})", methods=methods, classes={"a.K": NESTED}) == [1, 7, True]


def test_objects_of_versions_are_taken_by_the_callee_alone():
    text = "Methods: {f: {Arguments: [{x: {Contract: $.class('lib.L')}}], Body: [{Return: ok}]}}"
    libs = [package("lib", v, Format="1.4", classes={"lib.L": text}) for v in ("1.0.0", "2.0.0")]
    made = "Methods: {m: {Body: [{Return: new('lib.L')}]}}"
    user = package("b", requires={"lib": 2}, Format="1.4", classes={"b.B": made})
    options = {"packages": [*libs, user], "requires": {"lib": 1, "b": 1}}
    body = "- $o: new('b.B').m()\n- Return: "
    assert run(body + "$o.f($o)", **options) == "ok"
    with refused(HISTORIC + "ContractViolationException") as caught:
        run(body + "new('lib.L').f($o)", **options)
    assert "2.0.0" in caught.value.message
