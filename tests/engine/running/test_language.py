"""Methods, their arguments and usages, which declaration counts, and who may read and write properties."""

import pytest
from programs import HISTORIC, NO_MATCH, ROOT, opened, refused, run

EMPTY = "Properties: {}"


# Arguments


ADD = """
add:
  Arguments:
    - a: {Contract: $.int().notNull()}
    - b: {Contract: $.int(), Default: '5'}
  Body: [{Return: $a + $b}]
"""


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ("$.add(1, 2)", 3),
        ("$.add(a => 1, b => 2)", 3),
        ("$.add(b => 2, a => 1)", 3),
        ("$.add(1, b => 2)", 3),
        ("$.add(1)", 6),
        ("$.add('1')", 6),
    ],
)
def test_arguments_are_given_by_position_or_name_and_contracted(call, result):
    assert run(f"Return: {call}", methods=ADD) == result


@pytest.mark.parametrize("call", ["$.add(1, 2, 3)", "$.add(1, c => 2)", "$.add(1, a => 1)"])
def test_surplus_and_unknown_arguments_match_no_method(call):
    with refused(NO_MATCH):
        run(f"Return: {call}", methods=ADD)


def test_a_missing_argument_is_null_and_passes_its_contract():
    methods = """
    a: {Arguments: [{x: {Contract: $.int()}}], Body: [{Return: $x = null}]}
    b: {Arguments: [{x: {Contract: [$.int()]}}], Body: [{Return: $x}]}
    """
    assert run("Return: [$.a(), $.b()]", methods=methods) == [True, []]


def test_a_missing_argument_that_may_not_be_null_violates_its_contract():
    with refused(HISTORIC + "ContractViolationException") as caught:
        run("Return: $.add()", methods=ADD)
    assert caught.value.message.startswith("[a.A::add(a)]")


def test_arguments_may_be_a_map():
    methods = "sub: {Arguments: {a: {Contract: $.int()}, b: {Contract: $.int()}}, Body: [{Return: $a - $b}]}"
    assert run("Return: $.sub(5, 3)", methods=methods) == 2


def test_a_default_of_an_argument_is_used_when_it_is_absent_and_not_when_it_is_null():
    methods = "f: {Arguments: [{x: {Contract: $.int(), Default: 3}}], Body: [{Return: $x}]}"
    assert run("Return: [$.f(), $.f(null)]", methods=methods) == [3, None]


VARIADIC = """
f:
  Arguments:
    - first: {Contract: $.int()}
    - rest: {Contract: $.int(), Usage: VarArgs}
    - named: {Contract: $.string(), Usage: KwArgs}
  Body: [{Return: [$first, $rest, $named]}]
"""


def test_varargs_are_a_list_and_kwargs_a_map_each_item_contracted():
    assert run("Return: $.f('1', '2', 3, x => 4, y => z)", methods=VARIADIC) == [
        1,
        [2, 3],
        {"x": "4", "y": "z"},
    ]


def test_varargs_and_kwargs_may_be_absent():
    assert run("Return: $.f(1)", methods=VARIADIC) == [1, [], {}]


def test_an_item_of_varargs_that_does_not_fit_violates_the_contract():
    with refused(HISTORIC + "ContractViolationException"):
        run("Return: $.f(1, x)", methods=VARIADIC)


@pytest.mark.parametrize(
    "order", [("VarArgs", "Standard"), ("KwArgs", "VarArgs"), ("KwArgs", "Standard")]
)
def test_usages_of_arguments_have_an_order(order):
    each = ", ".join(f"{{x{at}: {{Contract: $, Usage: {use}}}}}" for at, use in enumerate(order))
    with refused(HISTORIC + "DslSyntaxError"):
        run("Return: $.f(1, 2)", methods=f"f: {{Arguments: [{each}], Body: [{{Return: 1}}]}}")


@pytest.mark.parametrize("method", ["{}", "{Body: []}", "{Body: [$.g()]}", "{Arguments: []}"])
def test_a_method_without_body_or_return_gives_null(method):
    assert run("Return: [$.f()]", methods=f"f: {method}\ng: {{Body: [{{Return: 5}}]}}") == [None]


def test_workflow_is_an_old_name_of_methods():
    text = "Workflow:\n  f: {Usage: Action, Body: [{Return: 7}]}"
    with opened({"a.A": text}) as (session, root):
        assert session.call(root, "f") == 7


def test_a_method_calls_itself():
    fact = """
    fact:
      Arguments: [{n: {Contract: $.int()}}]
      Body:
        - If: $n < 2
          Then: [{Return: 1}]
        - Return: $n * $.fact($n - 1)
    """
    assert run("Return: $.fact(20)", methods=fact) == 2432902008176640000


def test_locals_of_a_caller_are_not_seen():
    assert run("- $x: 1\n- Return: $.f()", methods="f: {Body: [{Return: $x}]}") is None


# Scope


SCOPES = """
Methods:
  none: {Body: [{Return: 1}]}
  session: {Scope: Session, Body: [{Return: 1}]}
  public: {Scope: Public, Body: [{Return: 1}]}
  action: {Usage: Action, Body: [{Return: 1}]}
  shared: {Usage: Static, Scope: Public, Body: [{Return: 1}]}
"""


@pytest.mark.parametrize("name", ["public", "action"])
def test_public_methods_and_actions_are_called_from_outside(name):
    with opened({"a.A": SCOPES}) as (session, root):
        assert session.call(root, name) == session.call("root", name) == 1


@pytest.mark.parametrize("name", ["none", "session"])
def test_other_methods_are_not_exposed(name):
    with opened({"a.A": SCOPES}) as (session, root):
        with refused(HISTORIC + "MethodNotExposed", "not-public"):
            session.call(root, name)
        assert session.call(root, name, internal=True) == 1


def test_a_public_static_method_is_called_on_its_class_from_outside():
    with opened({"a.A": SCOPES}) as (session, _):
        assert session.call(session.type("a.A"), "shared") == 1


# Static methods


STATICS = """
Properties:
  n: {Usage: Static, Contract: $.int(), Default: 3}
Methods:
  who: {Usage: Static, Body: [{Return: [$, $this]}]}
  twice: {Usage: Static, Arguments: [{x: {Contract: $.int()}}], Body: [{Return: $x * 2}]}
  own: {Usage: Static, Body: [{Return: $.n}]}
  through: {Usage: Static, Body: [{Return: $.twice($this.n)}]}
"""


def test_a_static_method_is_called_on_the_type_or_an_instance():
    body = "Return: list(:S.twice(2), new(S).twice(3), $.s.twice(4), type('a.S').twice(5))"
    head = "Properties: {s: {Contract: $.class(S), Usage: Runtime, Default: {}}}"
    assert run(body, head=head, classes={"a.S": STATICS}) == [4, 6, 8, 10]


def test_in_a_static_method_this_is_the_type():
    found = run("Return: new(S).who()", classes={"a.S": STATICS})
    assert [each.name for each in found] == ["a.S", "a.S"]
    assert run("Return: list(:S.own(), new(S).through())", classes={"a.S": STATICS}) == [3, 6]


def test_a_runtime_method_is_not_called_on_a_type():
    with refused(NO_MATCH):
        run("Return: :S.f()", classes={"a.S": "Methods: {f: {Body: [{Return: 1}]}}"})


def test_a_static_method_is_inherited():
    classes = {"a.S": STATICS, "a.T": "Extends: S"}
    assert run("Return: list(:T.twice(2), new(T).twice(4))", classes=classes) == [4, 8]


# Extension methods


DOUBLES = """
Methods:
  dbl:
    Usage: Extension
    Arguments: [{x: {Contract: $.int().notNull()}}]
    Body: [{Return: $x * 2}]
"""


def test_an_extension_method_is_called_on_its_first_argument_or_on_the_type():
    found = run("Return: list(5.dbl(), :D.dbl(6))", head="Import: D", classes={"a.D": DOUBLES})
    assert found == [10, 12]


def test_the_contract_of_the_first_argument_selects_receivers():
    words = DOUBLES.replace("$.int()", "$.string()").replace("$x * 2", "$x + $x")
    classes = {"a.D": DOUBLES, "a.W": words}
    assert run("Return: [5.dbl(), ab.dbl()]", head="Import: [D, W]", classes=classes) == [
        10,
        "abab",
    ]


def test_an_extension_method_of_a_class_that_is_not_imported_is_not_there():
    with refused(NO_MATCH):
        run("Return: 5.dbl()", classes={"a.D": DOUBLES})


def test_an_extension_method_with_a_receiver_that_does_not_fit_matches_not():
    with refused(NO_MATCH):
        run("Return: foo.dbl()", head="Import: D", classes={"a.D": DOUBLES})


def test_an_extension_method_is_not_called_on_an_instance_of_its_own_class():
    with refused(NO_MATCH):
        run("Return: new(D).dbl(5)", head="Import: D", classes={"a.D": DOUBLES})


def extension(result, contract="$.class(O).notNull()"):
    return f"""
Methods:
  f: {{Usage: Extension, Arguments: [{{o: {{Contract: {contract}}}}}], Body: [{{Return: {result}}}]}}
"""


def test_methods_of_the_object_come_before_extensions():
    classes = {"a.O": "Methods: {f: {Body: [{Return: own}]}}", "a.E": extension("one")}
    assert run("Return: new(O).f()", head="Import: E", classes=classes) == "own"


def test_extensions_of_the_current_class_come_before_imported_ones():
    classes = {"a.O": EMPTY, "a.E": extension("imported")}
    own = extension("current").partition("Methods:")[2].replace("\n  ", "\n")
    assert run("Return: new(O).f()", head="Import: E", methods=own, classes=classes) == "current"


@pytest.mark.parametrize("order", [("E", "F"), ("F", "E")])
def test_imported_extensions_are_tried_in_the_order_of_imports(order):
    classes = {"a.O": EMPTY, "a.E": extension("E"), "a.F": extension("F")}
    head = f"Import: [{', '.join(order)}]"
    assert run("Return: new(O).f()", head=head, classes=classes) == order[0]


# .init and .destroy


def noting(name, parents="", word=".init"):
    extends = f"Extends: [{parents}]\n" if parents else ""
    return f"{extends}Methods: {{{word}: {{Body: [!yaql 'trace({name})']}}}}"


def test_init_runs_once_per_class_bases_first_from_left_to_right():
    seen = []
    classes = {
        "a.Base": noting("Base"),
        "a.L": noting("L", "Base"),
        "a.R": noting("R", "Base"),
        "a.Z": noting("Z", "L, R"),
    }
    run("new(Z)", classes=classes, seen=seen)
    assert seen == ["Base", "L", "R", "Z"]


def test_initialize_is_another_name_of_init():
    seen = []
    run("new(Z)", classes={"a.Z": noting("Z", word="initialize")}, seen=seen)
    assert seen == ["Z"]


@pytest.mark.parametrize("word", [".destroy", "destroy"])
def test_destroy_runs_for_every_class_that_has_one_derived_first(word):
    seen = []
    classes = {
        "a.Base": noting("Base", word=word),
        "a.L": noting("L", "Base", word=word),
        "a.M": "Extends: Base",
        "a.A": noting("A", "L, M", word=word),
    }
    model = {"Objects": None, "ObjectsCopy": ROOT}
    with opened(classes, model, functions={"trace": seen.append}) as (session, _):
        session.finish()
    assert seen[0] == "A"
    assert sorted(seen) == ["A", "Base", "L"]
    assert seen[-1] == "Base"


def test_an_error_in_destroy_is_logged_and_not_raised(caplog):
    failing = "Methods: {.destroy: {Body: [{Throw: oops, Message: went wrong}]}}"
    model = {"Objects": None, "ObjectsCopy": {"?": {"type": "a.A", "id": "root"}}}
    with opened({"a.A": failing}, model) as (session, _):
        session.finish()
        assert not session.objects
    assert "went wrong" in caplog.text


OWNED = """
Properties:
  kids: {Contract: [$.class(Kid)], Default: []}
  n: {Contract: $.int(), Default: 1}
Methods:
  .init: {Body: [trace(owner)]}
"""
KID = """
Properties:
  k: {Contract: $.string()}
Methods:
  .init: {Body: [!yaql "trace($.k + str($.find(A).n))"]}
"""


def test_owned_objects_are_initialized_before_owners_when_all_properties_are_set():
    seen = []
    kids = [{"?": {"type": "a.Kid"}, "k": each} for each in "uv"]
    model = {"?": {"type": "a.A", "id": "root"}, "kids": kids, "n": 5}
    with opened({"a.A": OWNED, "a.Kid": KID}, model, functions={"trace": seen.append}):
        assert seen == ["u5", "v5", "owner"]


def test_arguments_of_init_come_from_the_model_by_name_and_are_no_properties():
    text = """
    Properties:
      size: {Contract: $.int(), Usage: Out}
      sum: {Contract: $.int(), Usage: Out}
    Methods:
      .init:
        Arguments: [{size: {Contract: $.int()}}, {by: {Contract: $.int(), Default: 2}}]
        Body: [{$.sum: $size * $by}]
    """
    model = {"?": {"type": "a.A", "id": "root"}, "size": "21"}
    with opened({"a.A": text}, model) as (_, root):
        assert root.get("sum") == 42
        with refused(HISTORIC + "UninitializedPropertyAccessError"):
            root.get("size")


def test_arguments_of_init_come_from_new_by_name():
    text = """
    Properties: {sum: {Contract: $.int(), Usage: Out}}
    Methods:
      .init: {Arguments: [{a: {Contract: $.int()}}, {b: {Contract: $.int()}}], Body: [{$.sum: $a + $b}]}
    """
    assert run("Return: new(S, a => 1, b => 2).sum", classes={"a.S": text}) == 3


def test_a_missing_argument_of_init_that_may_not_be_null_is_a_violation():
    text = "Methods: {.init: {Arguments: [{a: {Contract: $.int().notNull()}}]}}"
    with refused(HISTORIC + "ContractViolationException"):
        run("new(S)", classes={"a.S": text})


# Which declaration counts


def giving(result, *parents, name="f"):
    extends = f"Extends: [{', '.join(parents)}]\n" if parents else ""
    return f"{extends}Methods: {{{name}: {{Body: [{{Return: {result}}}]}}}}"


def test_two_unrelated_declarations_are_ambiguous_on_use_alone():
    classes = {
        "a.Y1": giving("one"),
        "a.Y2": giving("two"),
        "a.Z": giving("g", "Y1", "Y2", name="g"),
    }
    assert run("Return: new(Z).g()", classes=classes) == "g"
    with refused(HISTORIC + "AmbiguousMethodName"):
        run("Return: new(Z).f()", classes=classes)


def test_the_ambiguity_counts_within_the_class_too():
    classes = {
        "a.Y1": giving("one"),
        "a.Y2": giving("two"),
        "a.Z": "Extends: [Y1, Y2]\nMethods: {g: {Body: [{Return: $.f()}]}}",
    }
    with refused(HISTORIC + "AmbiguousMethodName") as caught:
        run("Return: new(Z).g()", classes=classes)
    assert "Y1" in caught.value.message
    assert "Y2" in caught.value.message


@pytest.mark.parametrize("parents", [("X", "Y2"), ("Y2", "X")])
def test_the_declaration_of_the_child_counts(parents):
    classes = {
        "a.X": giving("x"),
        "a.Y2": giving("y", "X"),
        "a.Z": f"Extends: [{', '.join(parents)}]",
    }
    assert run("Return: new(Z).f()", classes=classes) == "y"


def test_an_own_declaration_ends_an_ambiguity():
    classes = {
        "a.Y1": giving("one"),
        "a.Y2": giving("two"),
        "a.Z": giving("own", "Y1", "Y2"),
    }
    assert run("Return: new(Z).f()", classes=classes) == "own"


def test_code_of_a_parent_calls_the_method_of_the_child():
    parent = "Methods: {f: {Body: [{Return: parent}]}, g: {Body: [{Return: $.f()}]}}"
    assert (
        run("Return: new(C).g()", classes={"a.P": parent, "a.C": giving("child", "P")}) == "child"
    )
