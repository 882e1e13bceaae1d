"""Ids in maps that code makes objects of, references that stand before what they mean, and which maps become which objects."""

import pytest
from programs import HISTORIC, ROOT, opened, refused, run

from trundle.engine import EngineCode, EngineError

NODE = """
Properties:
  nodes: {Contract: [$.class(N)], Usage: InOut}
  named: {Contract: {$.string(): $.class(N)}}
  value: {Contract: $}
"""
CLASSES = {"a.N": NODE}
HEAD = """
Properties:
  n: {Contract: $.class(N), Usage: InOut}
  many: {Contract: [$.class(N)], Usage: InOut}
  t: {Contract: $.template(N)}
"""
TAKE = "take: {Arguments: [{o: {Contract: $.class(N)}}], Body: [{Return: $o}]}"


def node(identifier, **properties):
    return {"?": {"type": "a.N", "id": identifier}, **properties}


@pytest.mark.parametrize(
    "properties",
    [
        {"nodes": ["late", node("late", value=1)]},
        {"nodes": ["late", node("other", nodes=["late", node("late", value=1)])]},
        {"named": {"first": "late", "second": node("late", value=1)}},
    ],
)
def test_a_reference_may_stand_before_its_object_in_one_value(properties):
    with opened({**CLASSES, "a.A": HEAD}, {**ROOT, "n": node("top", **properties)}) as (session, _):
        top = session.objects["top"]
        first = [*top.get("nodes"), *top.get("named").values()][0]
        assert (first.id, first.get("value")) == ("late", 1)


def test_a_reference_to_nothing_beside_objects_is_an_error():
    model = {**ROOT, "n": node("top", nodes=["nobody", node("late")])}
    with refused(HISTORIC + "NoObjectFoundError") as caught:
        run("[]", classes=CLASSES, head=HEAD, model=model)
    assert "nodes[0]" in caught.value.path


def test_ids_in_a_model_of_code_link_its_objects():
    body = """
    - $m: {'?': {type: a.N, id: top}, value: top, nodes: [kid, {'?': {type: a.N, id: kid}, value: kid, nodes: [top, kid]}]}
    - $o: new($m)
    - $kid: $o.nodes.first()
    - Return: [$o.value, $kid.value, $kid = $o.nodes.last(), $kid.nodes.first() = $o, $kid.nodes.last() = $kid, id($o) = top]
    """
    assert run(body, classes=CLASSES) == ["top", "kid", True, True, True, False]


def test_an_id_in_a_model_of_code_means_no_other_object_of_the_session():
    body = """
    - $m: {'?': {type: a.N}, nodes: [old, {'?': {type: a.N, id: old}, value: new}]}
    - Return: new($m).nodes.value
    """
    model = {**ROOT, "n": node("old", value="old")}
    assert run(body, classes=CLASSES, head=HEAD, model=model) == ["new", "new"]


def test_one_id_is_one_object_and_not_two():
    same = "- $m: {'?': {type: a.N, id: x}, value: 1}\n- $o: new(N, nodes => [$m, $m])\n"
    assert run(same + "- Return: $o.nodes.first() = $o.nodes.last()", classes=CLASSES) is True
    other = "- $m: {'?': {type: a.N, id: x}, value: 1}\n- $n: {'?': {type: a.N, id: x}, value: 2}\n"
    with pytest.raises(EngineError) as caught:
        run(other + "- new(N, nodes => [$m, $n])", classes=CLASSES)
    assert caught.value.code is EngineCode.CONFLICT


@pytest.mark.parametrize("use", ["$this.take($m)", "new($m)"])
def test_a_map_with_an_id_makes_an_object_each_time(use):
    body = f"""
    - $m: {{'?': {{type: a.N, id: x}}, value: x}}
    - $one: {use}
    - $two: {use}
    - Return: [$one = $two, $one.value, id($one) = x]
    """
    assert run(body, classes=CLASSES, methods=TAKE) == [False, "x", False]


def test_an_assigned_map_makes_objects_of_its_own():
    body = """
    - $m: {'?': {type: a.N, id: root}, value: x}
    - $.n: $m
    - $first: $.n
    - $.n: $m
    - $p: {'?': {type: a.N}}
    - $.many: [$p, $p]
    - Return: [$.n = $first, $.n.value, id($.n) = root, $.many.first() = $.many.last()]
    """
    assert run(body, classes=CLASSES, head=HEAD) == [False, "x", False, False]


def test_an_object_that_a_program_assigns_keeps_its_id():
    with opened({**CLASSES, "a.A": HEAD}) as (session, root):
        root.set("n", node("mine"))
        assert session.objects["mine"] == root.get("n")


def test_a_map_from_a_program_is_an_argument_like_any_other():
    with opened({**CLASSES, "a.A": f"Methods:\n  {TAKE}"}) as (session, root):
        given = node("mine", nodes=["inner", node("inner")])
        one, two = (session.call(root, "take", [given], internal=True) for _ in range(2))
        assert len({one, two}) == 2
        assert one.get("nodes")[0] == one.get("nodes")[1]


@pytest.mark.parametrize("default", ["{}", "{'?': {type: a.N}}", "[{}]"])
def test_a_default_is_an_object_for_each_owner(default):
    contract = "[$.class(N)]" if default.startswith("[") else "$.class(N)"
    owner = f"Properties: {{o: {{Contract: {contract}, Default: {default}}}}}"
    body = "- $x: new(O)\n- $y: new(O)\n- $z: new(Two, x => {}, y => {})\n"
    body = body.replace("{}", "dict()") + "- Return: [$x.o = $y.o, $z.x.o = $z.y.o]"
    two = "Properties: {x: {Contract: $.class(O)}, y: {Contract: $.class(O)}}"
    assert run(body, classes={**CLASSES, "a.O": owner, "a.Two": two}) == [False, False]


# What others own


def test_a_dump_in_code_has_what_others_own_by_its_id():
    body = """
    - $free: new(N, value => free)
    - $o: new(N, nodes => [$.n, $free])
    - $d: dump($o)
    - Return: [$d.nodes.first(), $d.nodes.last().value, new($d).nodes.first() = $.n]
    """
    model = {**ROOT, "n": node("mine", nodes=[node("inner")])}
    assert run(body, classes=CLASSES, head=HEAD, model=model) == ["mine", "free", True]


def test_a_template_refers_to_what_the_model_has_elsewhere():
    model = {**ROOT, "t": {"nodes": ["later"]}, "n": node("mine", nodes=[node("later")])}
    body = "Return: [$.t.nodes, new($.t).nodes.first() = $.n.nodes.first()]"
    assert run(body, classes=CLASSES, head=HEAD, model=model) == [["later"], True]


def test_what_a_template_leaves_out_is_missing_in_no_inherited_contract():
    classes = {
        "a.T": "Properties: {must: {Contract: $.int().notNull()}, n: {Contract: $.int()}}",
        "a.P": "Properties: {t: {Contract: $.template(io:Object)}}",
    }
    contract = "$.template(T, excludeProperties => list(must))"
    head = f"Extends: P\nProperties:\n  t:\n    Contract: {contract}"
    model = {**ROOT, "t": {"n": "3"}}
    assert run("Return: $.t.n", classes=classes, head=head, model=model) == 3
    classes["a.P"] = "Properties: {t: {Contract: $.template(A)}}"
    with refused(HISTORIC + "ContractViolationException"):
        run("Return: $.t.n", classes=classes, head=head, model=model)


@pytest.mark.parametrize("body", ["$this.keep(dict(nodes => [nobody]))", "$.t: {nodes: [nobody]}"])
def test_a_template_in_code_refers_to_what_there_is(body):
    keep = "keep: {Arguments: [{t: {Contract: $.template(N)}}], Body: [{Return: $t.nodes}]}"
    head = HEAD.replace("$.template(N)}", "$.template(N), Usage: Out}")
    steps = f"- {body.replace('[nobody]', 'list(nobody)') if 'keep' in body else body}"
    options = {"classes": CLASSES, "head": head, "methods": keep}
    with refused(HISTORIC + "NoObjectFoundError"):
        run(steps, **options)
    known = steps.replace("nobody", "mine")
    run(known, model={**ROOT, "n": node("mine")}, **options)
