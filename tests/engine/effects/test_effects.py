"""What a run does to the world, with a world in memory."""

import pickle

import pytest
from acting import PACKAGE, Room, actions, run
from engines import package

from trundle.engine import Engine, EngineError
from trundle.engine.effects import MemoryJournal, Record

OWNING = """
Namespaces: {=: b, t: io.trundle}
Methods:
  deploy:
    Scope: Public
    Body:
      - new(t:Document, name => d, content => 1).deploy()
  .destroy:
    Body:
      - new(t:Document, name => d).delete()
"""


@pytest.fixture
def room():
    return Room()


@pytest.fixture
def engine(room):
    return Engine([PACKAGE], providers={"room": room})


@pytest.fixture
def journal():
    return MemoryJournal()


def refusal(engine, journal, wanted, **options):
    with pytest.raises(EngineError) as caught:
        run(engine, journal, wanted, **options)
    assert caught.value.code == "effect"
    assert caught.value.names[0] == "io.trundle.EffectError"
    return caught.value


def test_a_second_run_that_wants_the_same_does_nothing(engine, room, journal):
    first, changes = run(engine, journal, {"b": {"x": 1}, "a": [1.5, None]})
    assert actions(changes) == [("create", "room/b"), ("create", "room/a")]
    acts, records = list(room.acts), journal.records()
    again, changes = run(engine, journal, {"a": [1.5, None], "b": {"x": 1}})
    assert actions(changes) == [("unchanged", "room/a"), ("unchanged", "room/b")]
    assert again == first[::-1]
    assert (room.acts, journal.records()) == (acts, records)


@pytest.mark.parametrize(
    ("before", "after"), [(1, True), (1, 1.0), (0, False), ("1", 1), (None, ""), ({}, [])]
)
def test_values_that_python_takes_for_equal_or_empty_are_changes(
    engine, room, journal, before, after
):
    run(engine, journal, {"a": {"x": before}})
    assert actions(run(engine, journal, {"a": {"x": after}})[1]) == [("change", "room/a")]
    assert repr(room.there) == repr({"a": {"x": after}})


def test_the_order_of_keys_is_no_change(engine, journal):
    run(engine, journal, {"a": {"x": 1, "y": 2}})
    assert actions(run(engine, journal, {"a": {"y": 2, "x": 1}})[1]) == [("unchanged", "room/a")]


def test_what_is_no_longer_wanted_goes_in_the_reverse_order_of_its_first_act(engine, room, journal):
    run(engine, journal, {"a": 1, "b": 1})
    run(engine, journal, {"c": 1, "b": 2, "a": 1})  # b keeps its place
    room.acts.clear()
    _, changes = run(engine, journal, {})
    assert actions(changes) == [("remove", "room/c"), ("remove", "room/b"), ("remove", "room/a")]
    assert [each[1] for each in room.acts] == ["c", "b", "a"]
    assert (room.there, journal.records()) == ({}, ())


def test_what_was_removed_and_comes_again_is_the_last_in_order(engine, room, journal):
    run(engine, journal, {"a": 1, "b": 1})
    run(engine, journal, {"b": 1})
    run(engine, journal, {"a": 1, "b": 1})
    room.acts.clear()
    run(engine, journal, {})
    assert [each[1] for each in room.acts] == ["a", "b"]


def test_a_run_without_settling_removes_nothing(engine, room, journal):
    run(engine, journal, {"a": 1})
    with engine.session(journal=journal) as session:
        session.call(session.load({"?": {"type": "a.Wanting"}, "wanted": []}), "deploy")
    assert room.there == {"a": 1}


def test_a_dry_run_says_what_would_be_done_and_does_nothing(engine, room, journal):
    run(engine, journal, {"same": 1, "other": {"x": 1}, "gone": 1})
    acts, records = list(room.acts), journal.records()
    answers, changes = run(
        engine, journal, {"same": 1, "other": {"x": 2}, "new": [True]}, dry_run=True
    )
    assert actions(changes) == [
        ("unchanged", "room/same"),
        ("change", "room/other"),
        ("create", "room/new"),
        ("remove", "room/gone"),
    ]
    assert answers == [{"made": "same", "from": 1}, None, {"made": "new"}]
    assert changes[0].diff == ""
    assert '-    "x": 1' in changes[1].diff
    assert '+    "x": 2' in changes[1].diff
    assert {line[0] for line in changes[2].diff.splitlines()[3:]} == {"+"}
    assert {line[0] for line in changes[3].diff.splitlines()[3:]} == {"-"}
    assert (room.acts, journal.records()) == (acts, records)
    _, done = run(engine, journal, {"same": 1, "other": {"x": 2}, "new": [True]})
    assert done == changes


def test_an_act_that_fails_is_tried_again(engine, room, journal):
    run(engine, journal, {"a": 1})
    room.failing = {"b"}
    error = refusal(engine, journal, {"a": 2, "b": 1, "c": 1})
    assert "room/b: " in str(error)
    assert [each.method for each in error.frames] == ["deploy", "deploy"]
    assert [(each.key, each.state) for each in journal.records()] == [
        ("room/a", "done"),
        ("room/b", "intended"),
    ]
    room.failing.clear()
    room.acts.clear()
    run(engine, journal, {"a": 2, "b": 1, "c": 1})
    assert room.acts == [("apply", "b", "intended"), ("apply", "c", None)]


def test_a_failure_crosses_to_another_process(engine, room, journal):
    room.failing = {"a"}
    error = refusal(engine, journal, {"a": 1})
    again = pickle.loads(pickle.dumps(error))
    assert (again.code, again.names, again.frames) == (error.code, error.names, error.frames)
    assert again.format() == error.format()


def test_what_an_object_deletes_when_it_is_destroyed_is_not_removed_twice(room, journal):
    owning = package("b", "1.0.0", {"io.trundle": "1"}, {"b.Owning": OWNING})
    engine = Engine([owning], providers={"room": room})
    with engine.session(journal=journal) as session:
        root = session.load({"?": {"type": "b.Owning", "id": "x"}})
        session.call(root, "deploy")
        session.settle()
        kept = session.dump(root)["Objects"]
    with engine.session(journal=journal) as session:
        session.load({"Objects": None, "ObjectsCopy": kept})
        session.finish()
        session.settle()
        assert actions(session.changes) == [("remove", "room/d")]
    assert (room.there, journal.records()) == ({}, ())


def test_a_change_that_failed_shows_what_was_there_before(engine, room, journal):
    run(engine, journal, {"a": "first"})
    room.failing = {"a"}
    refusal(engine, journal, {"a": "second"})
    refusal(engine, journal, {"a": "third"})
    room.failing.clear()
    (change,) = run(engine, journal, {"a": "fourth"})[1]
    assert change.action == "change"
    assert [each for each in change.diff.splitlines() if each[0] in "+-"][2:] == [
        '-  "content": "first",',
        '+  "content": "fourth",',
    ]


def test_a_removal_that_fails_stops_those_before_it_and_is_tried_again(engine, room, journal):
    run(engine, journal, {"a": 1, "b": 1, "c": 1})
    room.failing = {"b"}
    refusal(engine, journal, {})
    assert [(each.key, each.state) for each in journal.records()] == [
        ("room/a", "done"),
        ("room/b", "removing"),
    ]
    room.failing.clear()
    run(engine, journal, {})
    assert (room.there, journal.records()) == ({}, ())


def test_what_is_wanted_again_after_a_removal_that_failed_is_made_again(engine, room, journal):
    run(engine, journal, {"a": 1})
    room.failing = {"a"}
    refusal(engine, journal, {})
    room.failing.clear()
    assert actions(run(engine, journal, {"a": 1})[1]) == [("create", "room/a")]
    assert room.there == {"a": 1}


def test_what_is_refused_is_not_written_down_and_what_was_there_stays(engine, room, journal):
    run(engine, journal, {"a": 1})
    records = journal.records()
    room.refused = {"a", "b"}
    refusal(engine, journal, {"b": 1})
    refusal(engine, journal, {"b": 1}, dry_run=True)
    catching = package(
        "b",
        "1.0.0",
        {"io.trundle": "1"},
        {
            "b.Catching": """
Namespaces: {=: b, t: io.trundle}
Methods:
  deploy:
    Scope: Public
    Body:
      Try:
        - new(t:Document, name => a, content => 2).deploy()
      Catch:
        With: t:EffectError
        As: error
        Do: {Return: $error.message}
"""
        },
    )
    with Engine([catching], providers={"room": room}).session(journal=journal) as session:
        message = session.call(session.load({"?": {"type": "b.Catching"}}), "deploy")
        session.settle()
    assert message == "room/a: a is refused"
    assert journal.records() == records


def test_one_run_wants_one_thing_at_a_place(engine, room, journal):
    with engine.session(journal=journal) as session:
        items = [{"name": "a", "content": 1}, {"name": "a", "content": 1}]
        root = session.load({"?": {"type": "a.Wanting"}, "wanted": items})
        session.call(root, "deploy")
        assert actions(session.changes) == [("create", "room/a")]
        root.set("wanted", [{"name": "a", "content": 2}])
        with pytest.raises(EngineError, match="one thing that a run wants there"):
            session.call(root, "deploy")
        assert session.call(root, "forget", ["a"]) is True
        assert session.call(root, "forget", ["a"]) is False
        assert room.there == {}
        session.call(root, "deploy")
        session.settle()
    assert room.there == {"a": 2}


def test_two_providers(journal):
    one, two = Room(), Room()
    engine = Engine([PACKAGE], providers={"one": one, "two": two})
    items = [{"name": "a", "content": 1}, {"name": "a", "content": 2, "provider": "two"}]
    for wanted in (items, items[1:], []):
        with engine.session(journal=journal) as session:
            session.call(session.load({"?": {"type": "a.Wanting"}, "wanted": wanted}), "deploy")
            session.settle()
        assert one.there == ({"a": 1} if wanted == items else {})
        assert two.there == ({"a": 2} if wanted else {})


def test_a_provider_that_is_gone_is_named_and_nothing_is_removed(journal):
    one, two = Room(), Room()
    engine = Engine([PACKAGE], providers={"one": one, "two": two})
    with engine.session(journal=journal) as session:
        items = [{"name": "a", "content": 1, "provider": "two"}, {"name": "b", "content": 1}]
        session.call(session.load({"?": {"type": "a.Wanting"}, "wanted": items}), "deploy")
    error = refusal(Engine([PACKAGE], providers={"one": one}), journal, {})
    assert (
        str(error)
        == "expected the provider two, found only one; give the engine one; `trundle env deploy` takes --folder and --programs, an environment over HTTP a place, and tests replace methods with `inject`"
    )
    assert one.there == {"b": 1}


@pytest.mark.parametrize(
    ("providers", "provider", "message"),
    [
        (
            {},
            None,
            "expected a provider that takes effects of the kind document, found no provider",
        ),
        ({}, "x", "expected the provider x, found no provider at all"),
        ({"y": Room()}, "x", "expected the provider x, found only y"),
    ],
)
def test_providers_that_are_not_there(providers, provider, message):
    with Engine([PACKAGE], providers=providers).session() as session:
        items = [{"name": "a", "content": 1, "provider": provider}]
        root = session.load({"?": {"type": "a.Wanting"}, "wanted": items})
        with pytest.raises(EngineError, match=message):
            session.call(root, "deploy")


@pytest.mark.parametrize("name", ["", "a/b"])
def test_names_of_providers(name):
    with pytest.raises(ValueError, match="a name without a slash"):
        Engine([], providers={name: Room()})


def test_what_is_not_plain_data_is_refused(engine, journal):
    with engine.session(journal=journal) as session:
        root = session.load({"?": {"type": "a.Wanting"}, "wanted": []})
        for content, where in (
            ({"x": [root]}, r"\$.content.x\[0\]"),
            ({1: 2}, "a text as a key"),
            ("\ud800", "UTF-8"),
        ):
            root.set("wanted", [{"name": "a", "content": content}])
            with pytest.raises(EngineError, match=where):
                session.call(root, "deploy")
    assert journal.records() == ()


def test_a_provider_of_others_may_raise_and_return_anything(engine, room, journal):
    room.apply = lambda *_: {1: 2}
    assert "a text as a key" in str(refusal(engine, journal, {"a": 1}))
    room.apply = lambda *_: float("nan")
    assert "a finite number" in str(refusal(engine, journal, {"a": 1}))
    room.apply = lambda *_: 1 / 0
    assert isinstance(refusal(engine, journal, {"a": 1}).original, ZeroDivisionError)
    assert [each.state for each in journal.records()] == ["intended"]


def test_records_are_plain_data(engine, journal):
    run(engine, journal, {"a": {"x": [1]}})
    for each in journal.records():
        assert Record.from_plain(each.to_plain()) == each


def test_a_session_without_a_journal_remembers_nothing(engine):
    assert actions(run(engine, None, {"a": 1})[1]) == [("create", "room/a")]
    assert actions(run(engine, None, {"a": 1})[1]) == [("create", "room/a")]


def test_packages_may_bring_their_own_io_trundle():
    own = package("io.trundle", "1.7.0", None, {"io.trundle.Mine": "Methods: {}"})
    with Engine([own]).session() as session:
        assert session.type("io.trundle.Mine").version == own.version
    newer = package("io.trundle", "2.0.0", None, {"io.trundle.Mine": "Methods: {}"})
    engine = Engine([newer])
    assert str(engine.package("io.trundle", "1").version) == "1.0.0"
