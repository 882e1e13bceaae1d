"""Static methods as pure functions: nothing of the session is seen, nothing stays, and each call comes to the same."""

import pytest
from engines import package

from trundle.engine import Engine, EngineError

TEXT = """
Namespaces: {=: p, t: io.trundle}
Name: A
Properties:
  seen: {Contract: $.int(), Usage: Static, Default: 0}
  name: {Contract: $.string()}
Methods:
  count:
    Usage: Static
    Scope: Public
    Arguments: [{by: {Contract: $.int(), Default: 1}}]
    Body:
      - :A.seen: :A.seen + $by
      - Return: :A.seen
  made:
    Usage: Static
    Scope: Public
    Body:
      - $one: new(A, name => first)
      - Return: [id($one), id(new(A)), $one.name]
  look:
    Usage: Static
    Scope: Public
    Body:
      Return: operator()
  hidden: {Usage: Static}
  ofObjects: {Scope: Public}
"""


@pytest.fixture
def session():
    engine = Engine([package("p", classes={"p.A": TEXT})], functions={"operator": lambda: 1})
    with engine.session() as opened:
        yield opened


def test_values_of_static_properties_are_those_of_the_call_alone(session):
    type_ = session.type("p.A")
    assert [session.compute(type_, "count", {"by": 2}) for _ in range(3)] == [2, 2, 2]
    assert [session.call(type_, "count") for _ in range(3)] == [1, 2, 3]
    assert session.compute(type_, "count", {}) == 1
    assert session.call(type_, "count") == 4


def test_objects_are_gone_after_the_call_and_have_the_same_ids_in_each(session):
    type_ = session.type("p.A")
    root = session.load({"?": {"type": "p.A", "id": "root"}})
    first, second, name = session.compute(type_, "made", {})
    assert first != second
    assert name == "first"
    assert session.compute(type_, "made", {}) == [first, second, name]
    assert list(session.objects) == ["root"]
    assert session.dump(root, whole=False)["?"]["id"] == "root"
    assert session.call(type_, "made") != session.call(type_, "made")


@pytest.mark.parametrize(
    ("method", "code"),
    [
        ("look", "unknown-function"),
        ("hidden", "not-public"),
        ("ofObjects", "no-method"),
        ("nothing", "no-method"),
    ],
)
def test_what_is_no_pure_function_is_refused(session, method, code):
    with pytest.raises(EngineError) as caught:
        session.compute(session.type("p.A"), method, {})
    assert caught.value.code == code
    assert session.call(session.type("p.A"), "count") == 1


def test_a_closed_session_computes_nothing():
    with Engine([package("p", classes={"p.A": "Properties: {}"})]).session() as session:
        type_ = session.type("p.A")
    with pytest.raises(EngineError, match="the session is closed"):
        session.compute(type_, "count", {})


def test_objects_are_none_of_the_values_of_a_pure_call():
    text = "Methods: {f: {Usage: Static, Scope: Public, Arguments: [{x: {Contract: $}}], Body: [{Return: $x}]}}"
    with Engine([package("p", classes={"p.A": text})]).session() as session:
        root = session.load({"?": {"type": "p.A", "id": "root"}})
        with pytest.raises(
            EngineError, match="plain values where code only computes, found root"
        ) as caught:
            session.compute(session.type("p.A"), "f", {"x": root})
        assert caught.value.code == "invalid-target"
