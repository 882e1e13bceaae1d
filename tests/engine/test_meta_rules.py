"""What may be attached to classes and members, as it is found when a class is built."""

import pytest
from engines import package

from trundle.engine import Engine, EngineError, check

METAS = {
    "app.One": "Usage: Meta\nInherited: true",
    "app.Many": "Usage: Meta\nInherited: true\nCardinality: Many",
    "app.Own": "Usage: Meta",
    "app.OfTypes": "Usage: Meta\nApplies: Type",
    "app.Plain": "",
}


def packages(**classes):
    named = {f"app.{name}": text for name, text in classes.items()}
    return [package("app", classes={**METAS, **named})]


def engine(**classes):
    return Engine(packages(**classes))


def refusals(call, *args):
    with pytest.raises(EngineError) as caught:
        call(*args)
    return [(str(each.code), each.class_name, each.member) for each in caught.value.errors]


@pytest.mark.parametrize(
    ("classes", "refused"),
    [
        ({"A": "Meta: app.Plain"}, [("meta", "app.A", "")]),
        ({"A": "Meta: app.None"}, [("no-class", "app.A", "")]),
        ({"A": "Meta: [app.One, app.One]"}, [("meta", "app.A", "")]),
        ({"A": "Meta: [app.Many, app.Many, app.Own]"}, []),
        (
            {"A": "Properties: {p: {Contract: $, Meta: app.OfTypes}}"},
            [("meta", "app.A", "p")],
        ),
        (
            {"A": "Meta: [app.Plain, app.None]\nMethods: {m: {Meta: app.OfTypes}}"},
            [("meta", "app.A", ""), ("no-class", "app.A", ""), ("meta", "app.A", "m")],
        ),
        (
            {"A": "Extends: [app.B, app.C]", "B": "Meta: app.One", "C": "Meta: app.One"},
            [("meta", "app.A", "")],
        ),
        (
            {"A": "Extends: [app.B, app.C]", "B": "Meta: app.Many", "C": "Meta: app.Many"},
            [],
        ),
        (
            {"A": "Extends: [app.B, app.C]", "B": "Meta: app.Own", "C": "Meta: app.Own"},
            [],
        ),
        (
            {
                "A": "Extends: [app.B, app.C]\nMeta: app.One",
                "B": "Meta: app.One",
                "C": "Meta: app.One",
            },
            [],
        ),
        (  # One attachment, reached by two paths
            {
                "A": "Extends: [app.B, app.C]",
                "B": "Extends: app.D",
                "C": "Extends: app.D",
                "D": "Meta: app.One",
            },
            [],
        ),
        (  # A class cannot be in order when its parent is not
            {
                "A": "Extends: app.D",
                "D": "Extends: [app.B, app.C]",
                "B": "Meta: app.One",
                "C": "Meta: app.One",
            },
            [("meta", "app.D", "")],
        ),
        (
            {
                "A": "Extends: [app.B, app.C]\nMethods: {m: {Arguments: [a: {Contract: $}]}}",
                "B": "Methods: {m: {Arguments: [a: {Contract: $, Meta: app.One}]}}",
                "C": "Methods: {m: {Arguments: [a: {Contract: $, Meta: app.One}]}}",
            },
            [("meta", "app.A", "m")],
        ),
        (
            {
                "A": "Extends: [app.B, app.C]\nProperties: {p: {Contract: $}}",
                "B": "Properties: {p: {Contract: $, Meta: app.One}}",
                "C": "Properties: {p: {Contract: $, Meta: app.One}}",
            },
            [("meta", "app.A", "p")],
        ),
    ],
)
def test_a_class_is_not_built_with_what_may_not_be_attached_to_it(classes, refused):
    with engine(**classes).session() as session:
        if not refused:
            assert session.type("app.A").name == "app.A"
            return
        assert refusals(session.type, "app.A") == refused
        assert refusals(session.type, "app.A") == refused  # Each time the same
        assert refusals(session.load, {"?": {"type": "app.A"}}) == refused
        assert session.type("app.One").is_meta  # Others are built as before


def test_a_conflict_names_both_parents_and_what_to_do():
    with (
        engine(
            A="Extends: [app.B, app.C]", B="Meta: app.One", C="Meta: app.One"
        ).session() as session,
        pytest.raises(EngineError) as caught,
    ):
        session.type("app.A")
    error = caught.value
    assert error.message == (
        "expected app.One from one parent, found it from app.B/1.0.0@app, app.C/1.0.0@app"
    )
    assert error.advice == "attach app.One in app.A itself"
    assert (error.package, str(error.version), error.file) == (
        "app",
        "1.0.0",
        "Classes/class5.yaml",
    )


def test_a_meta_class_may_describe_itself():
    app = package("app", classes={"app.M": "Usage: Meta\nInherited: true\nMeta: app.M"})
    with Engine([app]).session() as session:
        assert session.type("app.M").is_meta


def test_the_versions_of_a_parent_decide_what_is_inherited():
    lib = [
        package(
            "lib", "1.0.0", classes={"lib.M": METAS["app.One"], "lib.B": "", "lib.C": "Meta: lib.M"}
        ),
        package(
            "lib",
            "2.0.0",
            classes={"lib.M": METAS["app.One"], "lib.B": "Meta: lib.M", "lib.C": "Meta: lib.M"},
        ),
    ]
    app = [
        package("app", f"{each}.0.0", {"lib": each}, {"app.A": "Extends: [lib.B, lib.C]"})
        for each in (1, 2)
    ]
    with Engine([*lib, *app]).session() as session:
        assert session.type("app.A", "1").version.major == 1
        assert refusals(session.type, "app.A", "2") == [("meta", "app.A", "")]


SYNCHRONIZE = "io.murano.metadata.engine.Synchronize"


def waiting(on_args, arguments="[{x: {Contract: $}}, {name: {Contract: $}}]"):
    return f"""
Methods:
  before: {{}}
  f:
    Meta:
      - {SYNCHRONIZE}: {{onThis: false, onArgs: {on_args}}}
    Arguments: {arguments}
"""


@pytest.mark.parametrize("names", ["x", "[x]", "[name, x]", "[]"])
def test_synchronize_may_name_arguments(names):
    with engine(A=waiting(names)).session() as session:
        session.type("app.A")


@pytest.mark.parametrize(
    ("names", "arguments", "message"),
    [
        ("", "[{x: {Contract: $}}]", "f, which has x, as `onArgs` of SYNC, found nothing; correct"),
        ("''", "[{x: {Contract: $}}]", "f, which has x, as `onArgs` of SYNC, found ''"),
        ("7", "[]", "f, which has none, as `onArgs` of SYNC, found 7"),
    ],
)  # fmt: skip
def test_synchronize_by_what_is_no_name_is_refused(names, arguments, message):
    found = engine(A=waiting(names, arguments))
    with found.session() as session, pytest.raises(EngineError) as caught:
        session.type("app.A")
    assert f"expected arguments of {message.replace('SYNC', SYNCHRONIZE)}" in str(caught.value)
    assert (caught.value.code, caught.value.class_name, caught.value.member) == (
        "meta",
        "app.A",
        "f",
    )
    assert caught.value.line == 7


def synchronize_warnings(*names, **classes):
    """Member, line and message of each finding about `onArgs`, of which the class is loaded all the same."""
    with engine(**classes).session() as session:
        for name in names:
            session.type(f"app.{name}")
    return [
        (each.place.object.split()[-1], each.place.line, each.severity, str(each))
        for each in check(packages(**classes))
        if "onArgs" in str(each)
    ]


@pytest.mark.parametrize(
    ("names", "arguments", "message"),
    [
        ("[x, nmae]", "[{x: {Contract: $}}, {name: {Contract: $}}]", "f, which has name, x, as `onArgs` of SYNC, found 'nmae'; did you mean name?"),
        ("x", "[]", "f, which has none, as `onArgs` of SYNC, found 'x'; correct it, or leave"),
    ],
)  # fmt: skip
def test_check_warns_of_synchronize_by_arguments_that_a_method_does_not_have(
    names, arguments, message
):
    ((_, line, severity, text),) = synchronize_warnings("A", A=waiting(names, arguments))
    assert f"expected arguments of {message.replace('SYNC', SYNCHRONIZE)}" in text
    assert (line, severity) == (7, "warning")


def test_an_override_has_the_arguments_by_which_its_calls_are_distinguished():
    override = "Extends: app.A\nMethods:\n  f:\n    Arguments: [{y: {Contract: $}}]\n"
    own = override.replace("Arguments", f"Meta: {{{SYNCHRONIZE}: {{onArgs: y}}}}\n    Arguments")
    classes = {"Wrong": override, "Right": own, "Without": "Extends: app.A"}
    ((owner, line, _, text),) = synchronize_warnings(*classes, A=waiting("x"), **classes)
    assert "f, which has y, as `onArgs` of" in text
    assert (owner, line) == ("app.Wrong", 4)
