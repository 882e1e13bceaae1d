"""What a session is after it was closed, and what one refuses to do twice."""

import sys

import pytest
from engines import package

from trundle.engine import Engine, EngineError
from trundle.engine._class_file import read_class_file

A = "Properties: {n: {Contract: $.int()}}"


def engine():
    return Engine([package("a", "1.0.0", classes={"a.A": A})])


MODEL = {"?": {"type": "a.A", "id": "x"}, "n": 1}


@pytest.mark.parametrize(
    "use",
    [
        lambda session, _: session.load(MODEL),
        lambda session, root: session.dump(root),
        lambda session, _: session.type("a.A"),
        lambda session, _: session.objects,
        lambda session, _: session.finish(),
        lambda _, root: root.get("n"),
        lambda _, root: root.set("n", 2),
        lambda _, root: root.owner,
        lambda _, root: root.cast("a.A"),
        lambda _, root: root.find_owner("a.A"),
    ],
)
def test_a_closed_session_says_so(use):
    with engine().session() as session:
        root = session.load(MODEL)
    with pytest.raises(EngineError, match="the session is closed") as caught:
        use(session, root)
    assert caught.value.code == "access"
    assert caught.value.advice


def test_a_closed_session_still_has_its_lock_and_others_go_on():
    shared = engine()
    with shared.session() as other:
        root = other.load(MODEL)
        with shared.session() as session:
            session.load(MODEL)
        assert isinstance(session.lock, dict)
        assert root.get("n") == 1


def test_a_dump_is_loaded_once_in_a_session_and_again_in_another():
    with engine().session() as session:
        root = session.load(MODEL)
        dumped = session.dump(root)
        with pytest.raises(EngineError, match="the session has it already") as caught:
            session.load(dumped)
        assert caught.value.code == "conflict"
        assert "another session" in caught.value.advice
        assert list(session.objects) == ["x"]
        assert session.dump(root) == dumped
    with engine().session() as another:
        assert another.dump(another.load(dumped)) == dumped


@pytest.mark.parametrize("text", ["$.string(", "$.int() +", "$.check($ > )"])
def test_a_contract_that_is_nearly_an_expression_is_an_error_and_no_constant(text):
    classes = {"a.A": f"Properties:\n  n:\n    Contract: {text}"}
    with (
        Engine([package("a", "1.0.0", classes=classes)]).session() as session,
        pytest.raises(EngineError, match="is no expression") as caught,
    ):
        session.load(MODEL)
    assert caught.value.code == "syntax"
    assert caught.value.line == 4  # The helper writes the name before
    quoted = {"a.A": f"Properties:\n  n:\n    Contract: '{text}'"}
    with Engine([package("a", "1.0.0", classes=quoted)]).session() as session:
        assert session.load({**MODEL, "n": text}).get("n") == text


def test_a_method_that_contracts_do_not_have_is_an_error_of_the_class():
    classes = {"a.A": "Properties:\n  n: {Contract: $.strin().notNull()}"}
    with (
        Engine([package("a", "1.0.0", classes=classes)]).session() as session,
        pytest.raises(EngineError, match="expected a method of contracts") as caught,
    ):
        session.load({"?": {"type": "a.A"}, "n": "text"})
    assert caught.value.code == "unknown-function"
    assert "string" in caught.value.advice


def test_a_cast_goes_on_from_what_the_object_is_cast_to():
    """An object of two versions of D: which one is meant depends on the side that it was cast to."""
    packages = [
        package("z", "1.0.0", classes={"z.D": ""}),
        package("z", "2.0.0", classes={"z.D": ""}),
        package("x", "1.0.0", {"z": "1"}, {"x.B": "Extends: z.D"}),
        package("y", "1.0.0", {"z": "2"}, {"y.C": "Extends: z.D"}),
        package("app", "1.0.0", {"x": "1", "y": "1"}, {"app.A": "Extends: [x.B, y.C]"}),
    ]
    with Engine(packages).session() as session:
        root = session.load({"?": {"type": "app.A"}})
        with pytest.raises(EngineError) as caught:
            root.cast("z.D")
        assert caught.value.code == "ambiguous"
        assert str(root.cast("x.B").cast("z.D").type.version) == "1.0.0"
        assert str(root.cast("y.C").cast("z.D").type.version) == "2.0.0"
        assert root.cast("x.B").cast("y.C").type.name == "y.C"
        assert root.cast("x.B").cast("app.A") == root


CALLED = """
Properties: {n: {Contract: $, Usage: InOut}}
Methods:
  f: {Scope: Public, Arguments: [{x: {Contract: $}}], Body: [{Return: $x}]}
"""


@pytest.mark.parametrize(
    "use",
    [
        lambda session, _, foreign: session.call(foreign, "f", [1]),
        lambda session, root, foreign: session.call(root, "f", [foreign]),
        lambda session, root, foreign: session.call(root, "f", [[{"a": foreign}]]),
        lambda session, root, foreign: session.call(root, "f", kwargs={"x": foreign}),
        lambda _, root, foreign: root.set("n", foreign),
        lambda _, root, foreign: root.set("n", [foreign]),
    ],
)
def test_objects_of_another_session_are_refused(use):
    shared = Engine([package("a", "1.0.0", classes={"a.A": CALLED})])
    with shared.session() as session, shared.session() as other:
        root, foreign = session.load(MODEL), other.load(MODEL)
        with pytest.raises(EngineError, match="x, which is one of another session") as caught:
            use(session, root, foreign)
        assert caught.value.code == "invalid-target"
        assert "load it in this session" in caught.value.advice
        assert other.call(foreign, "f", [1]) == session.call(root, "f", [1]) == 1


def test_a_function_that_gives_an_object_of_another_session():
    kept = []
    text = "Methods: {f: {Scope: Public, Body: [{Return: kept()}]}}"
    shared = Engine([package("a", "1.0.0", classes={"a.A": text})], functions={"kept": kept.pop})
    with shared.session() as session, shared.session() as other:
        root = session.load(MODEL)
        kept.append(other.load(MODEL))
        with pytest.raises(EngineError, match="another session") as caught:
            session.call(root, "f")
        assert caught.value.code == "invalid-target"


@pytest.mark.parametrize("target", [5, None, ["x"], {"?": {"type": "a.A"}}])
def test_what_is_nothing_to_call(target):
    with Engine([package("a", "1.0.0", classes={"a.A": CALLED})]).session() as session:
        session.load(MODEL)
        with pytest.raises(EngineError, match="expected an object, its id or a class") as caught:
            session.call(target, "f", [1])
        assert caught.value.code == "invalid-target"
        assert caught.value.advice


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"args": 5}, "expected a list of values by position for f, found 5"),
        ({"args": "ab"}, "found 'ab'"),
        ({"args": {"x": 1}}, "found a map"),
        ({"args": None}, "by position for f, found nothing"),
        ({"kwargs": [1]}, "expected a map of values by name for f, found a list"),
        ({"kwargs": 5}, "found 5"),
        ({"kwargs": {1: 2}}, "expected a text as the name of each value for f, found 1"),
    ],
)
def test_values_that_are_no_list_or_map(given, words):
    with Engine([package("a", "1.0.0", classes={"a.A": CALLED})]).session() as session:
        root = session.load(MODEL)
        with pytest.raises(EngineError) as caught:
            session.call(root, "f", **given)
        assert caught.value.code == "no-match"
        assert words in str(caught.value)


COUNTING = """
Properties: {n: {Contract: $.int(), Default: 0, Usage: InOut}}
Methods:
  add: {Scope: Public, Arguments: [{by: {Contract: $.int()}}], Body: [{$.n: $.n + $by}, {Return: $.n}]}
"""


def among(others):
    """A package with one class that is used and one that is not, among others that nothing requires."""
    used = package("a", classes={"a.A": COUNTING, "a.B": COUNTING})
    return [used, *(package(f"p{at}", classes={f"p{at}.A": COUNTING}) for at in range(others))]


def test_a_class_is_read_when_it_is_first_used(monkeypatch):
    read = []

    def noting(data, path):
        read.append(path)
        return read_class_file(data, path)

    monkeypatch.setattr("trundle.engine._sources.read_class_file", noting)
    with Engine(among(20)).session() as session:
        assert read == []
        root = session.load({"?": {"type": "a.A"}})
        assert read == ["Classes/class0.yaml"]
        session.call(root, "add", [1])
        assert read == ["Classes/class0.yaml"]
        session.load({"?": {"type": "a.B"}})
        assert read == ["Classes/class0.yaml", "Classes/class1.yaml"]


def test_more_packages_in_a_catalog_take_no_more_steps_of_a_call():
    def steps(others):
        with Engine(among(others)).session() as session:
            root = session.load({"?": {"type": "a.A"}})
            session.call(root, "add", [1])  # What is compiled and found once is not counted
            count = 0

            def note(_frame, event, _argument):
                nonlocal count
                count += event == "call"

            sys.setprofile(note)
            try:
                session.call(root, "add", [1])
            finally:
                sys.setprofile(None)
            return count

    assert 0 < steps(20) == steps(40)
