"""Each method runs with the format of its package."""

import pytest
from engines import package
from programs import opened, refused, run

from trundle.engine import Engine, EngineError


def tree(lower, upper):
    """A class of one format under a class of the other, and what both say."""
    body = """
Methods:
  {0}Type: {{Scope: Public, Body: [{{Return: type($)}}]}}
  {0}Missing: {{Scope: Public, Body: [{{$d: {{a: 1}}}}, {{Return: $d.nothing}}]}}
  {0}Over: {{Scope: Public, Body: [{{$d: {{a: 1}}}}, {{Return: $d.select(\"$\")}}]}}
"""
    body = body.replace('select("$")', "select($)")
    base = package("base", Format=lower, classes={"base.B": body.format("base")})
    top = package(
        "top",
        Format=upper,
        requires={"base": 1},
        classes={"top.T": "Extends: base.B\n" + body.format("top")},
    )
    return Engine([base, top])


@pytest.mark.parametrize(("lower", "upper"), [("1.0", "1.4"), ("1.4", "1.0"), ("1.1", "1.2")])
def test_each_method_of_a_class_tree_has_the_format_of_its_package(lower, upper):
    with tree(lower, upper).session() as session:
        root = session.load({"?": {"type": "top.T"}})
        for prefix, form in (("base", lower), ("top", upper)):
            kind = session.call(root, prefix + "Type")
            if form == "1.4":
                assert kind.name == "top.T"
            else:
                assert kind == "top.T"
            if form in ("1.0", "1.1"):
                assert session.call(root, prefix + "Missing") is None
                assert session.call(root, prefix + "Over") == ["a"]
            else:
                with refused("KeyError"):
                    session.call(root, prefix + "Missing")
                with pytest.raises(EngineError):
                    session.call(root, prefix + "Over")


LEGACY = [
    ("dict(a => 1).select($)", ["a"]),
    ("switch(5, $ > 3 => big, true => small)", "big"),
    ("tuple(1, 2)", [1, 2]),
    ("list(1, 2, 3)[$ > 1]", [2, 3]),
    ("get(dict(a => 1), a)", 1),
    ("dict(a => 1).get(a)", 1),
    ("list(1, 2).select($).list()", [1, 2]),
    ("str(5).int()", 5),
    ("5.bool()", True),
    ("where(list(1, 2), $ > 1)", [2]),
    ("select(list(1, 2), $ + 1)", [2, 3]),
    ("sum(list(1, 2))", 3),
    ("takeWhile(list(1, 2, 3), $ < 3)", [1, 2]),
    ("toLower(AB)", "ab"),
    ("toUpper(ab)", "AB"),
    ("trim(' a ')", "a"),
    ("split('a,b', ',')", ["a", "b"]),
    ("join(list(a, b), '-')", "a-b"),
    ("startsWith(abc, a)", True),
    ("endsWith(abc, c)", True),
    ("matches(abc, 'a.c')", True),
    ("replace(abc, b, x)", "axc"),
    ("flatten(list(list(1), 2))", [1, 2]),
    ("substr(hello, 1)", "ello"),
    ("substr(hello, 1, 3)", "ell"),
    ("hello.substr(1, 3)", "ell"),
    ("list().firstOrDefault()", None),
    ("list(4).firstOrDefault()", 4),
    ("$.id()", "root"),
    ("$.type()", "a.A"),
    ("$.cast(A).id()", "root"),
]


@pytest.mark.parametrize(("text", "result"), LEGACY, ids=[each for each, _ in LEGACY])
@pytest.mark.parametrize("form", ["1.0", "1.1"])
def test_early_formats_have_functions_of_their_own(text, result, form):
    assert run(f"- $x: {text}\n- Return: $x", form=form) == result


@pytest.mark.parametrize(
    "text",
    [
        "dict(a => 1).select($)",
        "tuple(1, 2)",
        "substr(hello, 1)",
        "list(4).firstOrDefault()",
        "$.id()",
        "$.type()",
        "$.cast(A)",
        "toLower(AB)",
        "select(list(1, 2), $ + 1)",
        "get(dict(a => 1), a)",
    ],
)
@pytest.mark.parametrize("form", ["1.2", "1.4"])
def test_later_formats_have_none_of_these(text, form):
    with pytest.raises(EngineError):
        run(f"- $x: {text}\n- Return: $x", form=form)


def test_an_action_is_logged_as_deprecated_in_the_newest_format(caplog):
    text = "Methods: {f: {Usage: Action}}"
    with opened({"a.A": text}, form="1.3") as (session, root):
        session.call(root, "f")
    assert "Action" not in caplog.text
    with opened({"a.A": text}) as (session, root):
        session.call(root, "f")
    assert "Action" in caplog.text


def test_values_between_versions_pass_the_contracts_of_the_callee():
    lib = package(
        "lib",
        Format="1.0",
        classes={
            "lib.L": "Methods: {f: {Arguments: [{x: {Contract: $.int()}}], Body: [{Return: $x}]}}"
        },
    )
    options = {"packages": [lib], "requires": {"lib": 1}}
    assert run("Return: new('lib.L').f('5')", **options) == 5


def test_two_versions_of_the_core_library_run_side_by_side():
    core = package(
        "io.murano",
        Format="1.4",
        classes={
            "io.murano.Object": "",
            "io.murano.Application": "Methods: {release: {Body: [{Return: newer}]}}",
        },
    )
    body = """
Extends: io.murano.Application
Methods:
  cores:
    Scope: Public
    Body:
      Return: list(str(typeinfo(new('io.murano.Application')).version), %s)
"""
    older = package("older", Format="1.4", classes={"older.A": body % "$.deploy()"})
    newer = package(
        "newer",
        Format="1.4",
        requires={"io.murano": 1, "older": 1},
        classes={
            "newer.A": "Properties: {older: {Contract: $.class(older.A)}}"
            + body % "$.release(), $.older.cores()"
        },
    )
    with Engine([core, older, newer]).session() as session:
        root = session.load({"?": {"type": "newer.A"}, "older": {"?": {"type": "older.A"}}})
        assert session.call(root, "cores") == ["1.0.0", "newer", ["0.1.0", None]]
