"""Extension methods and arguments in nastier places, and null."""

import pytest
from engines import package
from programs import HISTORIC, NO_MATCH, refused, run

from trundle.engine import EngineError

# Extension methods


EXT = "Methods: {{{0}: {{Usage: Extension, Arguments: [{{x: {{Contract: {1}}}}}, {{by: {{Contract: $.int(), Default: 2}}}}], Body: [{{Return: {2}}}]}}}}"


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ("5.times()", 10),
        ("5.times(3)", 15),
        ("5.times(by => 4)", 20),
        ("list(1, 2).select($.times())", [2, 4]),
        ("5.times().times()", 20),
        ("null?.times()", None),
        ("5?.times()", 10),
        (":E.times(5, by => 3)", 15),
    ],
)
def test_an_imported_extension(call, result):
    classes = {"a.E": EXT.format("times", "$.int().notNull()", "$x * $by")}
    assert run(f"Return: {call}", head="Import: E", classes=classes) == result


def test_an_extension_of_lists_and_of_maps():
    classes = {
        "a.E": EXT.format("f", "[$.int()]", "list"),
        "a.F": EXT.format("f", "{}", "map"),
    }
    body = "Return: [!yaql 'list(1).f()', !yaql 'dict(a => 1).f()']"
    assert run(body, head="Import: [E, F]", classes=classes) == ["list", "map"]


@pytest.mark.parametrize("call", ["5.times()", "$.times()", "times(5)"])
def test_the_error_for_an_extension_that_is_not_imported_names_the_class(call):
    lib = package("lib", classes={"lib.E": EXT.format("times", "$.int()", "$x * $by")})
    other = package("other", classes={"other.E": EXT.format("times", "$.int()", "$x * $by")})
    with pytest.raises(EngineError) as caught:
        run(f"Return: {call}", packages=[lib, other], requires={"lib": 1})
    assert "`Import: lib.E`" in caught.value.advice
    assert "`value.times(..)`" in caught.value.advice


@pytest.mark.parametrize("call", ["ab.times()", "times(5)"])
def test_the_error_for_an_imported_extension_says_what_it_takes(call):
    classes = {"a.E": EXT.format("times", "$.int().notNull()", "$x * $by")}
    with pytest.raises(EngineError) as caught:
        run(f"Return: {call}", head="Import: E", classes=classes)
    assert "the first argument of a.E.times" in caught.value.advice
    assert "Import:" not in caught.value.advice


def test_imports_of_a_parent_count_for_its_code_alone():
    classes = {
        "a.E": EXT.format("times", "$.int()", "$x * $by"),
        "a.P": "Import: E\nMethods: {p: {Body: [{Return: 5.times()}]}}",
        "a.C": "Extends: P\nMethods: {c: {Body: [{Return: 5.times()}]}}",
    }
    assert run("Return: new(C).p()", classes=classes) == 10
    with refused(NO_MATCH):
        run("Return: new(C).c()", classes=classes)


def test_an_extension_of_another_package_runs_with_its_names():
    lib = package(
        "lib",
        Format="1.0",
        classes={
            "lib.E": "Namespaces: {=: lib}\n" + EXT.format("kind", "$", "new(Here).who()"),
            "lib.Here": "Methods: {who: {Body: [{Return: lib}]}}",
        },
    )
    options = {"packages": [lib], "requires": {"lib": 1}, "head": "Import: lib.E"}
    assert run("Return: 5.kind()", classes={"a.Here": ""}, **options) == "lib"


# Arguments


def test_defaults_of_arguments_are_expressions_over_the_object():
    methods = """
    f:
      Arguments:
        - a: {Contract: $.int(), Default: $.n + 1}
        - b: {Contract: [$.int()], Default: [$.n, 2]}
        - rest: {Contract: $.int(), Usage: VarArgs}
        - more: {Contract: $.int(), Usage: KwArgs}
      Body: [{Return: [$a, $b, $rest, $more]}]
    """
    head = "Properties: {n: {Contract: $, Default: 5}}"
    assert run("Return: $.f()", head=head, methods=methods) == [6, [5, 2], [], {}]
    assert run("Return: $.f(x => '1', b => 3)", head=head, methods=methods) == [
        6,
        [3],
        [],
        {"x": 1},
    ]


def test_a_default_is_evaluated_at_each_call():
    methods = "f: {Arguments: [{a: {Contract: $, Default: $.n}}], Body: [{Return: $a}]}"
    head = "Properties: {n: {Contract: $, Usage: Out, Default: 1}}"
    body = "- $x: $.f()\n- $.n: 2\n- Return: [$x, $.f()]"
    assert run(body, head=head, methods=methods) == [1, 2]


def test_call_gives_varargs_and_kwargs():
    methods = "f: {Arguments: [{r: {Contract: $, Usage: VarArgs}}, {k: {Contract: $, Usage: KwArgs}}], Body: [{Return: [$r, $k]}]}"
    body = "Return: call(f, list(1, 2), dict(x => 3), $)"
    assert run(body, methods=methods) == [[1, 2], {"x": 3}]


def test_an_object_is_given_by_its_id_or_as_a_model():
    methods = "f: {Arguments: [{o: {Contract: $.class(A)}}], Body: [{Return: id($o) = root}]}"
    assert run("Return: $.f($)", methods=methods) is True
    assert run("Return: $.f(root)", methods=methods) is True


def test_a_map_given_to_a_class_contract_makes_an_object_without_owner():
    classes = {"a.K": "Properties: {n: {Contract: $, Default: 3}}"}
    methods = "f: {Arguments: [{o: {Contract: $.class(K)}}], Body: [{Return: [$o.n, !yaql '$o.find(A)']}]}"
    assert run("Return: $.f({})", methods=methods, classes=classes) == [3, None]


# Null


@pytest.mark.parametrize("expression", ["null + 1", "null.len()", "len(null)"])
def test_null_has_no_such_operation(expression):
    with refused("yaql.language.exceptions.NoMatchingFunctionException") as caught:
        run(f"Return: list({expression})")
    assert caught.value.code


def test_null_has_no_methods():
    with refused(NO_MATCH):
        run("$x.run()")


def test_null_equals_itself_alone():
    assert run("Return: list(null = null, null = 0, null = false, null != '')") == [
        True,
        False,
        False,
        True,
    ]


def test_null_in_a_list_contract_and_a_map_contract():
    methods = "f: {Arguments: [{l: {Contract: [$.int()]}}, {m: {Contract: {a: $.int()}}}], Body: [{Return: [$l, $m]}]}"
    assert run("Return: $.f(null, null)", methods=methods) == [[], {"a": None}]
    assert run("Return: $.f(5, {})", methods=methods) == [[5], {"a": None}]


def test_a_null_object_property():
    head = "Properties: {o: {Contract: $.class(A)}}"
    assert run("Return: list($.o = null, $.o?.o, $.o?.run())", head=head) == [True, None, None]
    with refused(HISTORIC + "PropertyReadError"):
        run("Return: $.o.o", head=head)


def test_a_property_may_be_set_to_null_and_the_default_stays_away():
    head = "Properties: {n: {Contract: $.int(), Default: 5, Usage: InOut}}"
    assert run("- $.n: null\n- Return: $.n", head=head) is None
    model = {"?": {"type": "a.A", "id": "root"}, "n": None}
    assert run("Return: $.n", head=head, model=model) is None


def test_a_name_that_no_argument_has_is_refused_before_contracts():
    methods = """
    f: {Arguments: [{x: {Contract: $.int().notNull()}}], Body: [{Return: $x}]}
    """
    for call, found in (
        ("$.f(y => 1)", "the argument y"),
        ("$.f(x => null, y => 1, z => 2)", "the argument y, z"),
        ("$.f(null, 2)", "2 values"),
    ):
        body = f"- Parallel:\n    - {call}\n    - $a: 1"
        with refused(NO_MATCH, "no-match") as caught:
            run(body, methods=methods)
        assert f"expected the arguments x for a.A.f, found {found}" in str(caught.value)


def test_errors_of_models_and_effects_have_names():
    twice = "- Try:\n    - new({'?' => {type => 'a.P', id => x}, p => {'?' => {type => 'a.P', id => x}}})\n"
    body = twice + "  Catch:\n    - With: py:ValueError\n      As: e\n      Do: [{Return: $e.name}]"
    classes = {"a.P": "Properties: {p: {Contract: $.class(P)}}"}
    assert run(body, classes=classes) == "ValueError"
