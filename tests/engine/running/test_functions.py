"""The functions of the engine and the operators on objects."""

import pytest
from engines import package
from programs import HISTORIC, refused, run

from trundle.engine import EngineError

KINDS = {
    "a.P": "Properties: {n: {Contract: $.int(), Default: 1}, m: {Contract: $, Usage: Out}}",
    "a.C": "Extends: P\nProperties: {p: {Contract: $.class(P)}}",
    "a.U": "",
}


def gives(expression, result, **options):
    options.setdefault("classes", KINDS)
    assert run(f"- $p: new(P)\n- $c: new(C, n => 2)\n- Return: {expression}", **options) == result


# new


@pytest.mark.parametrize(
    ("made", "result"),
    [
        ("new(P, n => '5').n", 5),
        ("new(P, dict(n => 5)).n", 5),
        ("new(P).n", 1),
        ("new(:P).n", 1),
        ("new('a.P', n => 3).n", 3),
        ("new($m).n", 4),
        ("new($i).n", 6),
        ("name(new(P, objectName => foo))", "foo"),
        ("name(new(P, null, foo))", "foo"),
        ("name(new(P, {}, null, foo))", "foo"),
        ("name(new($i))", "inline"),
    ],
)
def test_new_makes_objects(made, result):
    body = f"""
- $m: {{'?': {{type: a.P}}, n: 4}}
- $i: {{a.P: {{n: 6}}, name: inline}}
- Return: {made}
"""
    assert run(body, classes=KINDS) == result


def test_new_of_an_inline_model_with_a_type():
    assert (
        run("- $m:\n    ':P': {n: 6}\n- Return: new($m).n".replace("':P'", ":P"), classes=KINDS)
        == 6
    )


def test_new_takes_an_owner():
    gives("new(P, $c).find(C) = $c", True)
    gives("new(P, dict(n => 1), $c).find(C) = $c", True)
    body = "- $c: new(C)\n- $m: {'?': {type: a.P}}\n- Return: new($m, $c).find(C) = $c"
    assert run(body, classes=KINDS) is True


OWNED = KINDS | {
    "a.O": "Properties: {owner: {Contract: $.class(io.murano.Object)}, objectName: {Contract: $.string()}}",
    "a.I": "Properties: {seen: {Contract: $, Usage: Out}}\nMethods: {.init: {Arguments: {extra: {Contract: $}}, Body: {$.seen: $extra}}}",
}


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("new(P, owner => $c).find(C) = $c", True),
        ("new(P, n => 1, owner => $c).find(C) = $c", True),
        ("new(P, {n => 1}, owner => $c).find(C) = $c", True),
        ("new({'?' => {type => 'a.P'}}, owner => $c).find(C) = $c", True),
        ("new(O, owner => $c).owner = $c", True),
        ("new(O, owner => $c).find(C)", None),
        ("new(O, $c, owner => $p).find(C) = $c", True),
        ("new(O, {}, owner => $c).owner", None),
        ("new(O, {owner => $p}, owner => $c).find(C) = $c", True),
        ("name(new(O, objectName => x))", None),
        ("name(new(O, $c, y, objectName => x))", "y"),
        ("new(I, extra => 3).seen", 3),
    ],
)
def test_a_name_in_new_is_a_property_where_the_class_takes_it_and_else_what_stands_behind(
    expression, result
):
    gives(expression, result, classes=OWNED)


@pytest.mark.parametrize(
    "call",
    [
        "new(P, {n => 1}, n => 2)",
        "new(P, {n => 1}, null, owner => $c)",
        "new(P, $c, owner => $c)",
        "new(P, null, foo, {}, 4)",
        "new({'?' => {type => 'a.P'}}, null, foo)",
        "new({'?' => {type => 'a.P'}}, n => 1)",
    ],
)
def test_what_new_does_not_take(call):
    with refused("yaql.language.exceptions.NoMatchingFunctionException", code="no-match"):
        run(f"- $c: new(C)\n- {call}", classes=KINDS)


def test_header_keys_of_extra_are_kept():
    body = "- $p: new(P, dict(n => 1), null, foo, dict(_kept => 1))\n- Return: dump($p)"
    assert run(body, classes=KINDS)["?"]["_kept"] == 1


def test_the_id_given_in_a_model_only_links_references():
    body = """
    - $m: {'?': {type: a.C, id: given}, p: {'?': {type: a.P, id: other}}}
    - $o: new($m)
    - $q: new($m)
    - Return: [id($o), id($q), id($o.p)]
    """
    ids = run(body, classes=KINDS)
    assert len({*ids, "given", "other"}) == 5


def test_references_within_a_model_are_linked():
    classes = {
        **KINDS,
        "a.Two": "Properties: {l: {Contract: $.class(P)}, r: {Contract: $.class(P)}}",
    }
    body = """
    - $m: {'?': {type: a.Two}, l: {'?': {type: a.P, id: x}, n: 7}, r: x}
    - $o: new($m)
    - Return: [$o.l = $o.r, $o.r.n]
    """
    assert run(body, classes=classes) == [True, 7]


def lib(version, text):
    return package("lib", version, classes={"lib.L": text}, Format="1.4")


LIBS = [
    lib(v, f"Methods: {{v: {{Body: [{{Return: '{v}'}}]}}}}") for v in ("1.0.0", "1.4.0", "2.0.0")
]


@pytest.mark.parametrize(("spec", "result"), [("1", "1.4.0"), ("2", "2.0.0"), ("1.0", "1.0.0")])
def test_new_takes_the_newest_version_that_the_package_of_the_class_allows(spec, result):
    options = {"packages": LIBS, "requires": {"lib": spec}}
    assert run("Return: new('lib.L').v()", **options) == result
    assert run("- $m: {'?': {type: lib.L}}\n- Return: new($m).v()", **options) == result


def test_a_model_of_new_is_bound_by_the_requirement():
    with refused(HISTORIC + "NoClassFound"):
        run("new($m)".replace("$m", "dict('?' => dict(type => 'lib.L'))"), packages=LIBS)


def test_unknown_properties_in_new_are_ignored():
    gives("new(P, other => 1).n", 1)


# cast, super, psuper, is


PARENTS = {
    "a.G": "Methods: {f: {Body: [{Return: G}]}}",
    "a.L": "Extends: G\nMethods: {f: {Body: [{Return: L}]}}",
    "a.R": "Extends: G\nMethods: {f: {Body: [{Return: R}]}}",
    "a.Z": """
        Extends: [L, R]
        Methods:
          f: {Body: [{Return: Z}]}
          each: {Body: [{Return: "super($, $.f())"}]}
          listed: {Body: [{Return: "super($).select($.f())"}]}
          p: {Body: [{Return: "psuper($, $.f())"}]}
          pl: {Body: [{Return: "psuper($).select($.f())"}]}
        """.replace('"super', '!yaql "super').replace('"psuper', '!yaql "psuper'),
    "a.ZZ": "Extends: Z\nMethods: {f: {Body: [{Return: ZZ}]}}",
}


@pytest.mark.parametrize("method", ["each", "listed", "p", "pl"])
@pytest.mark.parametrize("kind", ["Z", "ZZ"])
def test_super_is_each_direct_parent_of_the_current_class(method, kind):
    assert run(f"Return: new({kind}).{method}()", classes=PARENTS) == ["L", "R"]


@pytest.mark.parametrize(("to", "result"), [("G", "G"), ("L", "L"), ("R", "R"), ("Z", "Z")])
def test_a_cast_starts_the_lookup_at_a_class(to, result):
    assert run(f"Return: cast(new(ZZ), {to}).f()", classes=PARENTS) == result


def test_a_cast_of_a_cast_may_go_down_again():
    assert run("Return: cast(cast(new(ZZ), G), Z).f()", classes=PARENTS) == "Z"


def test_code_of_a_casted_method_sees_the_whole_object():
    classes = {
        "a.P": "Methods: {f: {Body: [{Return: P}]}, g: {Body: [{Return: $.f()}]}}",
        "a.C": "Extends: P\nMethods: {f: {Body: [{Return: C}]}}",
    }
    assert run("Return: cast(new(C), P).g()", classes=classes) == "C"


@pytest.mark.parametrize("to", ["U", "C"])
def test_a_cast_to_a_class_that_is_no_ancestor(to):
    with refused(HISTORIC + "NoClassFound"):
        run(f"cast(new(P), {to})", classes=KINDS)


def test_objects_are_compared_by_identity_whatever_their_cast():
    gives("cast($c, P) = $c", True)
    gives("$c = cast($c, P)", True)
    gives("$c != cast($c, P)", False)
    gives("cast($c, P) in list($c)", True)
    gives("new(P) = new(P)", False)


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("$p is P", True),
        ("$c is P", True),
        ("$p is C", False),
        ("$p is U", False),
        ("(null is P)", False),
        ("(5 is P)", False),
        ("$c is :P", True),
        ("$c is 'a.P'", True),
        ("cast($c, P) is P", True),
    ],
)
def test_is(expression, result):
    gives(expression, result)


def test_is_takes_every_version_that_the_requirement_allows():
    classes = {"a.H": "Properties: {o: {Contract: $}}"}
    options = {"packages": LIBS, "requires": {"lib": "1"}, "classes": classes}
    assert run("Return: new('lib.L') is 'lib.L'", **options) is True
    other = package(
        "b",
        Format="1.4",
        requires={"lib": "2"},
        classes={"b.M": "Methods: {m: {Body: [{Return: new('lib.L')}]}}"},
    )
    options["packages"] = [*LIBS, other]
    options["requires"] = {"lib": "1", "b": "1"}
    assert run("Return: new('b.M').m() is 'lib.L'", **options) is False
    options["requires"] = {"lib": "1.0", "b": "1"}
    options["packages"] = [
        *LIBS,
        package(
            "b",
            requires={"lib": "1.4"},
            Format="1.4",
            classes={"b.M": "Methods: {m: {Body: [{Return: new('lib.L')}]}}"},
        ),
    ]
    assert run("Return: new('b.M').m() is 'lib.L'", **options) is False


# Members


def test_a_member_of_a_list_maps_over_its_items():
    gives("list($p, $c).n", [1, 2])
    gives("list(dict(a => 1), dict(a => 2)).a", [1, 2])


def test_the_question_mark_stops_at_null_alone():
    gives("null?.foo", None)
    gives("null?.foo()", None)
    gives("$p?.n", 1)
    gives("dict(a => 0)?.a", 0)
    with refused(HISTORIC + "PropertyReadError"):
        run("Return: $?.nothing")


@pytest.mark.parametrize("form", ["1.2", "1.3", "1.4"])
def test_a_missing_key_in_later_formats(form):
    with refused("KeyError"):
        run("Return: dict(a => 1).b", form=form)


@pytest.mark.parametrize("form", ["1.0", "1.1"])
def test_a_missing_key_in_early_formats(form):
    assert run(
        "Return: [$.f(dict(a => 1).b)]",
        form=form,
        methods="f: {Arguments: [{x: {Contract: $}}], Body: [{Return: $x}]}",
    ) == [None]


def test_a_property_of_null():
    with refused(HISTORIC + "PropertyReadError"):
        run("Return: $x.foo")


def test_in_a_lambda_the_dollar_is_the_argument_and_this_the_object():
    assert run(
        "Return: list(1, 2).select($ + $this.n)", head="Properties: {n: {Contract: $, Default: 5}}"
    ) == [6, 7]


def test_integers_floor_and_operators_yield_operands():
    assert run("Return: list(7 / 2, -7 / 2, 7 mod 3, null or 5, 0 and 5, 1 = 1)") == [
        3,
        -4,
        1,
        5,
        0,
        True,
    ]


# Headers, types


def test_the_header_fields():
    model = {"?": {"type": "a.A", "id": "root", "name": "my app", "metadata": {"k": [1]}}}
    assert run("Return: list(id($), name($), metadata($))", model=model) == [
        "root",
        "my app",
        {"k": [1]},
    ]


def test_the_id_of_null_is_null():
    assert run("Return: list(id(null), name(null))") == [None, None]


def test_type_is_a_reference_in_the_newest_format():
    found = run("Return: list(type($c), type('a.P'), :P)".replace("$c", "new(C)"), classes=KINDS)
    assert [each.name for each in found] == ["a.C", "a.P", "a.P"]
    gives("type($p) = :P", True)
    gives("type($c) = :P", False)
    gives("new(type($c)).n", 1)


@pytest.mark.parametrize("form", ["1.0", "1.3"])
def test_type_is_a_name_in_earlier_formats(form):
    assert run("Return: type($)", form=form) == "a.A"


def test_find_is_the_nearest_owner_of_a_type():
    body = """
    - $o: new(C, n => 1)
    - $m: new(C, $o, n => 2)
    - $i: new(P, $m)
    - Return: [$i.find(C).n, $m.find(C).n, $o.find(C), $i.find(P).n, $i.find(U)]
    """
    assert run(body, classes=KINDS) == [2, 1, None, 2, None]


def test_require():
    gives("5.require()", 5)
    gives("$p.require() = $p", True)
    with refused("ValueError"):
        run("null.require()")
    with refused("ValueError"):
        run("$.find(A).require()")


def test_is_object():
    gives(
        "list(isObject($p), isObject(:P), isObject(null), isObject(5), isObject({}))",
        [True, True, False, False, False],
    )


# dump


DUMPED = {
    "a.K": "Properties: {k: {Contract: $, Default: 1}, o: {Contract: $.class(K)}}",
}


def dumped(call):
    return run(f"- $k: new(K, o => new(K, k => 2))\n- Return: {call}", classes=DUMPED)


def test_dump_as_serializable():
    found = dumped("dump($k)")
    assert found["?"]["type"] == "a.K/1.0.0@a"
    assert found["k"] == 1
    assert found["o"]["?"]["type"] == "a.K/1.0.0@a"
    assert dumped("dump($k, Serializable)")["?"]["type"] == "a.K/1.0.0@a"


def test_dump_as_mixed():
    for named in ("serializationType => Mixed, ignoreUpcasts => true", "type => Mixed"):
        assert dumped(f"dump($k, {named})")["?"]["type"].name == "a.K"
    found = dumped("dump($k, Mixed)")
    assert found["?"]["type"].name == "a.K"


def test_dump_as_inline():
    found = dumped("dump($k, Inline)")
    (kind,) = [key for key in found if key not in ("id", "name", "metadata")]
    assert kind.name == "a.K"  # As in `Mixed`, so that code asks which class it is
    assert found[kind]["k"] == 1
    assert "id" in found
    is_type = "dump($k, Inline).keys().any(not $ in [id, name, metadata] and $ = :K)"
    assert dumped(is_type) is True


def test_a_dump_without_upcasts_has_the_part_alone():
    classes = {**KINDS, "a.C": "Extends: P\nProperties: {own: {Contract: $, Default: 3}}"}
    body = "- $c: new(C)\n- Return: list(dump(cast($c, P)), dump(cast($c, P), Serializable, false))"
    whole, part = run(body, classes=classes)
    assert whole["own"] == 3
    assert whole["?"]["type"].startswith("a.C/")
    assert "own" not in part


@pytest.mark.parametrize("call", ["encryptData(abc)", "decryptData(abc)", "config(abc)"])
def test_optional_functions_that_are_not_there_say_what_to_do(call):
    name = "yaql.language.exceptions.NoFunctionRegisteredException"
    with refused(name, "unknown-function") as caught:
        run(f"Return: {call}")
    assert "did you mean" not in str(caught.value)
    assert ("a secret" in str(caught.value)) != ("Usage: Config" in str(caught.value))


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        ("dict(a => 1).mergeWith(5)", "`mergeWith(another, listMerger=, itemMerger=, maxLevels=)`"),
        ("dict(a => 1).mergeWith()", "`mergeWith(another, listMerger=, itemMerger=, maxLevels=)`"),
        ("dict(a => 1).get()", "`get(key, default=)`"),
        ("int()", "`int(value)`"),
        ("mergeWith(dict(), dict())", "with a dot: `value.mergeWith(..)`"),
        ("5.range()", "without a dot: `range(..)`"),
    ],
)
def test_the_error_for_a_call_that_does_not_fit_says_how_it_is_called(call, advice):
    with pytest.raises(EngineError) as caught:
        run(f"Return: {call}")
    assert advice in caught.value.advice
