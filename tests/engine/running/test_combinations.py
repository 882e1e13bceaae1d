"""What constructs do together: diamonds, owned objects, nested assignment, blocks in blocks, null."""

import pytest
from engines import package
from programs import HISTORIC, opened, refused, run

# Diamonds


DIAMOND = {
    "a.Base": "Methods: {f: {Body: [!yaql 'trace(base)', {Return: b}]}}",
    "a.L": "Extends: Base\nMethods: {f: {Body: [{Return: {l: !yaql 'super($, $.f())'}}]}}",
    "a.R": "Extends: Base\nMethods: {f: {Body: [{Return: {r: !yaql 'super($, $.f())'}}]}}",
    "a.Z": "Extends: [L, R]\nMethods: {f: {Body: [{Return: {z: !yaql 'super($, $.f())'}}]}}",
    "a.ZZ": "Extends: Z",
}


@pytest.mark.parametrize("kind", ["Z", "ZZ"])
def test_super_in_a_diamond_goes_each_way(kind):
    seen = []
    found = run(f"Return: new({kind}).f()", classes=DIAMOND, seen=seen)
    assert found == {"z": [{"l": ["b"]}, {"r": ["b"]}]}
    assert seen == ["base", "base"]


def test_a_property_of_the_base_of_a_diamond_has_one_value():
    writes = "Extends: Base\nMethods: {{set{0}: {{Body: [{{$.n: {0}}}]}}}}"
    classes = {
        "a.Base": "Properties: {n: {Contract: $, Usage: Out}}",
        "a.L": writes.format("l"),
        "a.R": writes.format("r"),
        "a.Z": "Extends: [L, R]",
    }
    body = "- $z: new(Z)\n- $z.setl()\n- $z.setr()\n- Return: [$z.n, $m.n]"
    body = body.replace("$m.n", "!yaql 'cast($z, L).n'")
    assert run(body, classes=classes) == ["r", "r"]


def test_a_private_name_of_the_base_of_a_diamond_has_one_value():
    classes = {
        "a.Base": "Methods: {set: {Body: [{$.x: 1}]}, get: {Body: [{Return: $.x}]}}",
        "a.L": "Extends: Base\nMethods: {go: {Body: [$.set()]}}",
        "a.R": "Extends: Base\nMethods: {got: {Body: [{Return: $.get()}]}}",
        "a.Z": "Extends: [L, R]",
    }
    assert run("- $z: new(Z)\n- $z.go()\n- Return: $z.got()", classes=classes) == 1


def test_properties_of_unrelated_parents_are_ambiguous_on_use():
    parent = "Properties: {n: {Contract: $, Default: 1}}"
    classes = {"a.Y1": parent, "a.Y2": parent, "a.Z": "Extends: [Y1, Y2]"}
    with refused(HISTORIC + "AmbiguousPropertyNameError"):
        run("- $z: new(Z)\n- Return: $z.n", classes=classes)


def test_an_ambiguous_method_is_called_by_a_cast():
    classes = {
        "a.Y1": "Methods: {f: {Body: [{Return: 1}]}}",
        "a.Y2": "Methods: {f: {Body: [{Return: 2}]}}",
        "a.Z": "Extends: [Y1, Y2]",
    }
    body = "- $z: new(Z)\n- Return: list(cast($z, Y1).f(), cast($z, Y2).f())"
    assert run(body, classes=classes) == [1, 2]


def test_an_override_without_scope_is_not_exposed():
    classes = {
        "a.P": "Methods: {f: {Scope: Public, Body: [{Return: 1}]}}",
        "a.A": "Extends: P\nMethods: {f: {Body: [{Return: 2}]}}",
    }
    with opened(classes) as (session, root), refused(HISTORIC + "MethodNotExposed"):
        session.call(root, "f")


# .init


TREE = """
Properties:
  n: {Contract: $.string()}
  first: {Contract: $.class(A)}
  kids: {Contract: [$.class(A)]}
  map: {Contract: {$.string(): $.class(A)}}
  other: {Contract: $.class(A)}
Methods:
  .init: {Body: [!yaql "trace($.n + str($.other?.n))"]}
"""


def node(name, **keys):
    return {"?": {"type": "a.A", "id": name}, "n": name, **keys}


def test_init_runs_over_owned_objects_wherever_they_are():
    seen = []
    model = node(
        "root",
        first=node("f", first=node("ff")),
        kids=[node("k0", kids=[node("k00")]), node("k1")],
        map={"x": node("m", other="k1")},
    )
    with opened({"a.A": TREE}, model, functions={"trace": seen.append}):
        pass
    names = [each.replace("null", "") for each in seen]
    assert sorted(names) == sorted(["ff", "f", "k00", "k0", "k1", "mk1", "root"])
    for inner, outer in (
        ("ff", "f"),
        ("k00", "k0"),
        ("f", "root"),
        ("k0", "root"),
        ("mk1", "root"),
    ):
        assert names.index(inner) < names.index(outer)
    assert names[-1] == "root"


def test_init_of_an_object_that_is_made_with_owned_models():
    seen = []
    body = """
    - $m: {'?': {type: a.N}, n: out, o: {'?': {type: a.N}, n: in}}
    - new($m)
    - trace(done)
    """
    text = """
    Properties: {n: {Contract: $}, o: {Contract: $.class(N)}}
    Methods: {.init: {Body: [trace($.n)]}}
    """
    run(body, classes={"a.N": text}, seen=seen)
    assert seen == ["in", "out", "done"]


def test_each_class_takes_its_arguments_of_init_from_the_model():
    seen = []
    init = "Methods: {{.init: {{Arguments: [{{x: {{Contract: {}}}}}], Body: [{{Do: !yaql 'trace($x)'}}]}}}}"
    classes = {"a.P": init.format("$.int()"), "a.A": "Extends: P\n" + init.format("$.string()")}
    model = {"?": {"type": "a.A", "id": "root"}, "x": "5"}
    with opened(classes, model, functions={"trace": seen.append}):
        assert seen == [5, "5"]


def test_init_makes_objects_and_writes_what_is_in():
    text = """
    Properties: {kid: {Contract: $.class(K)}, n: {Contract: $.int(), Default: 1}}
    Methods:
      .init: {Body: [{$.kid: !yaql 'new(K, $)'}, {$.n: $.n + 1}]}
    """
    with opened({"a.A": text, "a.K": ""}) as (session, root):
        assert root.get("kid").owner.id == "root"
        assert root.get("n") == 2
        session.finish()
        assert len(session.objects) == 2


def test_an_object_whose_init_fails_is_gone():
    classes = {"a.S": "Methods: {.init: {Body: [{Throw: Oops}]}}"}
    text = (
        "Methods: {f: {Scope: Public, Body: [{Try: [new(S)], Catch: [{With: Oops}]}, {Return: 1}]}}"
    )
    with opened({"a.A": text, **classes}) as (session, root):
        assert session.call(root, "f") == 1
        session.finish()
        assert list(session.objects) == ["root"]


# Assignment into what is nested


INNER = "Properties: {n: {Contract: $.int(), Usage: Out}, d: {Contract: {}, Usage: Out}, k: {Contract: $.class(K), Usage: Out}}"


def nested(target, value, result):
    """Code of `a.P`, of which `a.K` is a child, so that it may write."""
    text = f"""
Methods:
  go:
    Arguments: [{{o: {{Contract: $}}}}]
    Body:
      - $l: [$o, {{a: $o}}]
      - $m: {{a: [$o]}}
      - {target}: {value}
      - Return: {result}
"""
    classes = {"a.P": text, "a.K": "Extends: P\n" + INNER}
    return run("- $k: new(K)\n- Return: $k.go($k)", classes=classes)


@pytest.mark.parametrize(
    ("target", "result", "value"),
    [
        ("$o.n", "$o.n", 5),
        ("$l[0].n", "$o.n", 5),
        ("$l[1].a.n", "$o.n", 5),
        ("$m.a[0].n", "$o.n", 5),
        ("$m.a[0].d.x.y", "$o.d", {"x": {"y": 5}}),
        ("$o.d[x]", "$o.d", {"x": 5}),
    ],
)
def test_a_property_of_an_object_within_lists_and_maps_is_assigned(target, result, value):
    assert nested(target, 5, result) == value


def test_assignment_through_an_object_leaves_the_list_as_it_is():
    assert nested("$l[0].n", "'5'", "$l[0].n = 5 and $l[0] = $o and len($l) = 2") is True


def test_a_value_assigned_within_an_object_in_a_list_passes_the_contract():
    with refused(HISTORIC + "ContractViolationException"):
        nested("$l[0].n", "foo", "1")


def test_code_of_another_class_may_not_write_through_a_list():
    with refused(HISTORIC + "NoWriteAccessError"):
        run("- $l: !yaql 'list(new(K))'\n- $l[0].n: 5", classes={"a.K": INNER})


def test_an_object_may_be_a_key():
    assert run("- $d: {$: 1}\n- $d[$]: 2\n- Return: list($d[$], len($d.keys()))") == [2, 1]


def test_keys_of_other_types_stay_apart():
    assert run("- $d: {1: a}\n- $d['1']: b\n- Return: list($d, $d[1], $d['1'])") == [
        {1: "a", "1": "b"},
        "a",
        "b",
    ]


def test_a_failed_assignment_leaves_the_property():
    head = "Properties: {d: {Contract: {a: $.int()}, Usage: Out, Default: {a: 1}}}"
    body = """
    - Try: [{$.d.a: foo}]
      Catch: [{With: 'dsl:ContractViolationException'}]
    - Return: $.d
    """
    assert run(body, head=head) == {"a": 1}


def test_a_sequence_is_evaluated_where_it_is_assigned():
    body = "- $x: 1\n- $l: list(1, 2).select($ + $x)\n- $x: 100\n- Return: [$l, $l]"
    assert run(body) == [[2, 3], [2, 3]]


# Blocks in blocks


def test_an_error_in_finally_takes_the_place_of_the_first():
    with refused("a.Second"):
        run("- Try: [{Throw: First}]\n  Finally: [{Throw: Second}]")


def test_an_error_in_finally_after_a_return_is_raised():
    with refused("a.Second"):
        run("- Try: [{Return: 1}]\n  Finally: [{Throw: Second}]")


def test_finally_changes_not_what_was_returned():
    assert run("- $x: 1\n- Try: [{Return: $x}]\n  Finally: [{$x: 2}]") == 1


def test_rethrow_in_finally_is_outside_of_the_catch():
    with refused("TypeError"):
        run("- Try: [{Throw: First}]\n  Catch: [{With: First}]\n  Finally: [{Rethrow: }]")


def test_rethrow_after_the_catch_is_outside():
    with refused("TypeError"):
        run("- Try: [{Throw: First}]\n  Catch: [{With: First}]\n- Rethrow:")


def test_finally_blocks_run_from_within():
    seen = []
    body = """
    - For: x
      In: [1, 2, 3]
      Do:
        - Try:
            - Try:
                - If: $x = 2
                  Then: [{Break: }]
              Finally: [trace(inner)]
          Finally: [trace(outer)]
    - Return: $x
    """
    assert run(body, seen=seen) == 2
    assert seen == ["inner", "outer"] * 2


def test_the_variable_of_catch_belongs_to_the_method():
    body = "- Try: [{Throw: Oops}]\n  Catch: [{As: e}]\n- Return: $e.name"
    assert run(body) == "a.Oops"


@pytest.mark.parametrize("block", ["Catch: [{Do: [{Return: c}]}]", "Catch: [{Do: [{$x: c}]}]"])
def test_a_return_in_catch(block):
    expected = "c" if "Return" in block else "end"
    assert run(f"- Try: [{{Throw: Oops}}]\n  {block}\n- Return: end") == expected


def test_each_branch_rethrows_its_own_error():
    seen = []
    branch = """
        - Try:
            - Try: [{{Throw: {0}}}]
              Catch:
                - Do:
                    - sleep({1})
                    - Rethrow:
          Catch:
            - As: e{0}
              Do: [!yaql 'trace($e{0}.name)']
"""
    body = "- Parallel:" + branch.format("One", 0.03) + branch.format("Two", 0.01)
    run(body, seen=seen)
    assert seen == ["a.Two", "a.One"]


def test_an_error_comes_before_a_return_of_another_branch():
    with refused("a.Oops"):
        run("- Parallel:\n    - Return: 1\n    - Do: [sleep(0.01), {Throw: Oops}]")


def test_a_return_within_blocks_of_a_branch():
    body = """
    - Parallel:
        - For: x
          In: [1, 2, 3]
          Do:
            - sleep(0.001)
            - If: $x = 2
              Then: [{Return: $x}]
        - sleep(0.02)
    - Return: never
    """
    assert run(body) == 2


def test_a_return_of_null_in_a_branch_ends_the_method():
    assert run("- Parallel: [{Return: null}]\n- Return: never") is None


def test_break_in_a_loop_of_a_branch_ends_that_loop():
    seen = []
    body = """
    - For: y
      In: [1, 2]
      Do:
        - Parallel:
            - For: x
              In: [1, 2, 3]
              Do:
                - sleep(0.001)
                - If: $x = 2
                  Then: [{Break: }]
                - trace($x)
            - For: x
              In: [7, 8]
              Do: [sleep(0.001), trace($x)]
        - trace(round)
    """
    run(body, seen=seen)
    assert [each for each in seen if each in (1, 7, 8, "round")] == seen
    assert seen.count(1) == seen.count(7) == seen.count(8) == seen.count("round") == 2
    assert seen[3] == seen[-1] == "round"


@pytest.mark.parametrize("word", ["Break", "Continue"])
def test_all_branches_end_where_one_has_a_break_of_no_loop(word):
    seen = []
    body = f"- Parallel:\n    - {word}:\n    - Do: [sleep(0.01), trace(other)]\n- trace(after)"
    with refused(HISTORIC + "DslInvalidOperationError"):
        run(body, seen=seen)
    assert seen == ["other"]


def test_loops_of_one_variable_in_each_other():
    seen = []
    body = """
    - For: x
      In: [1, 2]
      Do:
        - For: x
          In: [7, 8]
          Do: [trace($x)]
        - trace($x)
    """
    run(body, seen=seen)
    assert seen == [7, 8, 8, 7, 8, 8]


# Static properties


def test_a_static_property_is_written_through_a_subclass_and_its_objects():
    classes = {
        "a.S": "Properties: {n: {Contract: $, Usage: Static, Default: 0}}\nMethods: {set: {Arguments: [{v: {Contract: $}}], Body: [{$.n: $v}]}}",
        "a.T": "Extends: S\nMethods: {put: {Arguments: [{v: {Contract: $}}], Body: [{$.n: $v}]}}",
        "a.U": "Extends: S",
    }
    body = """
    - $t: new(T)
    - $t.put(1)
    - $a: list(:S.n, :T.n, :U.n)
    - :T.n: 2
    - $b: list(:S.n, :T.n, $t.n)
    - new(U).set(3)
    - Return: [$a, $b, !yaql 'list(:S.n, :T.n, $t.n)']
    """
    assert run(body, classes=classes) == [[1, 1, 1], [2, 2, 2], [3, 3, 3]]


def test_a_static_property_has_a_value_per_version():
    text = "Properties: {n: {Contract: $, Usage: Static, Default: 0}}\nMethods: {set: {Usage: Static, Arguments: [{v: {Contract: $}}], Body: [{$.n: $v}]}, get: {Usage: Static, Body: [{Return: $.n}]}}"
    libs = [package("lib", v, classes={"lib.L": text}, Format="1.4") for v in ("1.0.0", "2.0.0")]
    user = package(
        "b",
        Format="1.4",
        requires={"lib": 2},
        classes={
            "b.B": "Namespaces: {=: lib}\nMethods: {set: {Body: [!yaql ':L.set(2)']}, get: {Body: [{Return: !yaql ':L.get()'}]}}"
        },
    )
    body = """
    - $b: new('b.B')
    - $b.set()
    - type('lib.L').set(1)
    - Return: [$b.get(), !yaql "type('lib.L').get()"]
    """
    assert run(body, packages=[*libs, user], requires={"lib": 1, "b": 1}) == [2, 1]
