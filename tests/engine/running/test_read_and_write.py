"""Who may read and write properties, and whose names count."""

import pytest
from engines import package
from programs import HEAD, HISTORIC, opened, refused, run

from trundle.engine import Engine, EngineError


def prop(usage, default=", Default: 1"):
    return f"Properties: {{n: {{Contract: $.int(), Usage: {usage}{default}}}}}\n"


@pytest.mark.parametrize("usage", ["In", "Const"])
def test_in_and_const_are_written_during_init_alone(usage):
    text = prop(usage) + "Methods: {.init: {Body: [{$.n: 5}]}, w: {Body: [{$.n: 6}]}}"
    assert run("Return: new(S).n", classes={"a.S": text}) == 5
    with refused(HISTORIC + "NoWriteAccessError"):
        run("new(S).w()", classes={"a.S": text})


@pytest.mark.parametrize("usage", ["Out", "InOut", "Runtime", "Static", "Config"])
def test_other_properties_are_written_by_code_of_the_class(usage):
    text = prop(usage) + "Methods: {w: {Body: [{$.n: '6'}, {Return: $.n}]}}"
    assert run("Return: new(S).w()", classes={"a.S": text}) == 6


@pytest.mark.parametrize("usage", ["In", "Const", "Out", "InOut", "Runtime", "Config"])
def test_code_of_another_class_may_not_write(usage):
    with refused(HISTORIC + "NoWriteAccessError"):
        run("- $s: new(S)\n- $s.n: 5", classes={"a.S": prop(usage)})


def test_code_of_an_ancestor_may_write_what_the_child_declares():
    parent = "Methods: {w: {Body: [{$.n: 5}]}}"
    classes = {"a.P": parent, "a.C": "Extends: P\n" + prop("Out")}
    assert run("- $c: new(C)\n- $c.w()\n- Return: $c.n", classes=classes) == 5


def test_code_of_a_child_may_write_what_the_parent_declares():
    child = "Extends: P\nMethods: {w: {Body: [{$.n: 5}]}}"
    classes = {"a.P": prop("Out"), "a.C": child}
    assert run("- $c: new(C)\n- $c.w()\n- Return: $c.n", classes=classes) == 5


@pytest.mark.parametrize(
    ("usage", "dumped"),
    [
        *((each, True) for each in ("In", "Const", "Out", "InOut")),
        *((each, False) for each in ("Runtime", "Static", "Config")),
    ],
)
def test_what_of_the_properties_is_dumped_and_taken_from_the_model(usage, dumped):
    model = {"?": {"type": "a.A", "id": "root"}, "n": 7}
    with opened({"a.A": prop(usage)}, model) as (session, root):
        assert ("n" in session.dump(root)["Objects"]) is dumped
        assert root.get("n") == (7 if dumped else 1)


def test_a_runtime_property_without_a_valid_default_has_no_value():
    for contract in ("$.int().notNull()", "$.string().check($ != null)"):
        head = f"Properties: {{n: {{Contract: {contract}, Usage: Runtime}}}}"
        with refused(HISTORIC + "UninitializedPropertyAccessError"):
            run("Return: $.n", head=head)


def test_a_static_property_has_one_value_and_anyone_writes_it_through_the_type():
    body = """
    - $a: new(S)
    - :S.n: 9
    - Return: list($a.n, :S.n, new(S).n, type($a).n)
    """
    assert run(body, classes={"a.S": prop("Static")}) == [9, 9, 9, 9]


def test_a_value_of_a_static_property_passes_its_contract():
    with refused(HISTORIC + "ContractViolationException"):
        run(":S.n: foo", classes={"a.S": prop("Static")})


def test_a_static_property_has_a_value_per_session():
    with opened({"a.A": prop("Static") + "Methods: {w: {Body: [{$.n: 8}]}}"}) as (session, root):
        session.call(root, "w", internal=True)
        assert root.get("n") == 8
    with opened({"a.A": prop("Static")}) as (_, root):
        assert root.get("n") == 1


def test_any_code_reads_a_declared_property_and_no_other():
    classes = {"a.S": prop("Out") + "Methods: {.init: {Body: [{$.secret: 1}]}}"}
    assert run("Return: new(S).n", classes=classes) == 1
    with refused(HISTORIC + "PropertyReadError"):
        run("Return: new(S).secret", classes=classes)
    with refused(HISTORIC + "PropertyReadError"):
        run("Return: $.nothing")


def test_an_undeclared_name_is_private_to_the_very_class():
    parent = "Methods: {set: {Body: [{$.x: parent}]}, get: {Body: [{Return: $.x}]}}"
    child = "Extends: P\nMethods: {setC: {Body: [{$.x: child}]}, getC: {Body: [{Return: $.x}]}}"
    body = """
    - $c: new(C)
    - $c.set()
    - $c.setC()
    - Return: [$c.get(), $c.getC()]
    """
    assert run(body, classes={"a.P": parent, "a.C": child}) == ["parent", "child"]


def test_an_undeclared_name_is_not_dumped():
    with opened({"a.A": "Methods: {w: {Body: [{$.x: 1}]}}"}) as (session, root):
        session.call(root, "w", internal=True)
        assert set(session.dump(root)["Objects"]) == {"?"}


def test_the_most_derived_declaration_transforms_and_all_others_validate():
    parent = "Properties: {n: {Contract: $.check($ < 10), Usage: Out}}"
    child = "Extends: P\nProperties: {n: {Contract: $.int(), Usage: Out}}\n"
    child += "Methods: {w: {Arguments: [{v: {Contract: $}}], Body: [{$.n: $v}, {Return: $.n}]}}"
    classes = {"a.P": parent, "a.C": child}
    assert run("Return: new(C).w('5')", classes=classes) == 5
    with refused(HISTORIC + "ContractViolationException"):
        run("Return: new(C).w('50')", classes=classes)


def test_a_violation_of_an_assignment_names_the_property():
    with refused(HISTORIC + "ContractViolationException") as caught:
        run("$.n: foo", head=prop("Out"))
    assert caught.value.message.startswith("[a.A.n]")


# Whose names count


def test_names_of_classes_and_functions_belong_to_the_class_whose_code_it_is():
    other = package(
        "b",
        Format="1.4",
        requires={"a": 1},
        classes={
            "b.Foo": "Methods: {who: {Body: [{Return: b}]}}",
            "b.B": HEAD.replace("=: a", "=: b") + "Extends: a.P\nMethods: {own: {Scope: Public, "
            "Body: [{Return: [$.make(), new(Foo).who()]}]}}",
        },
    )
    classes = {
        "a.Foo": "Methods: {who: {Body: [{Return: a}]}}",
        "a.P": "Methods: {make: {Body: [{Return: new(Foo).who()}]}}",
    }
    model = {"?": {"type": "b.B", "id": "root"}}
    with opened(classes, model, packages=[other]) as (session, root):
        assert session.call(root, "own") == ["a", "b"]


@pytest.mark.parametrize("name", ["S", "':S'", ":S", "'a.S'", "own:S", "'own:S'"])
def test_a_class_is_named_short_absolute_or_with_a_prefix(name):
    head = "Namespaces: {=: a, own: a}"
    text = "Methods: {f: {Body: [{Return: 1}]}}"
    main = package(
        "a",
        Format="1.4",
        classes={
            "a.S": text,
            "a.A": f'{head}\nMethods: {{run: {{Scope: Public, Body: [{{Return: !yaql "new({name}).f()"}}]}}}}',
        },
    )
    with Engine([main]).session() as session:
        root = session.load({"?": {"type": "a.A", "id": "root"}})
        assert session.call(root, "run") == 1


def test_an_unknown_prefix_is_a_key_error():
    with refused("KeyError"):
        run("Return: nope:S")


def test_a_refusal_is_placed_where_it_is_assigned():
    other = package("lib", classes={"lib.Other": prop("Out")})
    body = (
        "Properties:\n  o: {Contract: $.class(lib.Other)}\n  p: {Contract: $.int(), Default: 1}\n"
    )
    body += "Methods:\n  theirs:\n    Body:\n      - $x: 1\n      - $.o.n: 2\n  own:\n    Body:\n      - $.p: 2\n"
    main = package("app", requires={"lib": "1"}, classes={"app.Main": body})
    model = {"?": {"type": "app.Main", "id": "a"}, "o": {"?": {"type": "lib.Other", "id": "b"}}}
    with Engine([other, main]).session() as session:
        root = session.load(model)
        for method, member, line in (("theirs", "n", 9), ("own", "p", 12)):
            with pytest.raises(EngineError) as caught:
                session.call(root, method, internal=True)
            error = caught.value
            assert (error.code, error.member) == ("access", member)
            assert (error.package, error.class_name) == ("app", "app.Main")
            assert (error.file, error.line) == ("Classes/class0.yaml", line)
        with pytest.raises(EngineError) as caught:
            root.set("p", 3)
        assert (caught.value.file, caught.value.line) == ("Classes/class0.yaml", 4)
