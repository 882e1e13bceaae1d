"""Secrets in effects: providers get them, and nothing else has them."""

import json

import pytest
from acting import PACKAGE, Room, actions, run

from trundle.engine import Engine, EngineError
from trundle.engine.effects import MemoryJournal, hidden, secret_marker, secrets_in

SECRETS = {"pw": "hush-hush", "user": "root{{secret:pw}}"}
WANTED = {"a": {"url": "db://{{secret:user}}:{{secret:pw}}@x", "also": ["{{secret:pw}}"]}}


@pytest.fixture
def room():
    return Room()


@pytest.fixture
def engine(room):
    return Engine([PACKAGE], providers={"room": room})


def test_providers_get_secrets_and_nothing_else_has_them(engine, room):
    journal = MemoryJournal()
    answers, changes = run(engine, journal, WANTED, secrets=SECRETS)
    assert room.there == {"a": {"url": "db://root{{secret:pw}}:hush-hush@x", "also": ["hush-hush"]}}
    assert answers == [{"made": "a", "from": WANTED["a"]}]
    assert "hush-hush" not in repr(
        (answers, changes, journal.records(), journal.records()[0].to_plain())
    )
    assert "{{secret:pw}}" in changes[0].diff


@pytest.mark.full
def test_a_secret_that_changed_is_a_change(engine, room):
    journal = MemoryJournal()
    run(engine, journal, WANTED, secrets=SECRETS)
    assert actions(run(engine, journal, WANTED, secrets=SECRETS)[1]) == [("unchanged", "room/a")]
    other = SECRETS | {"pw": "psst", "unused": "x"}
    (change,) = run(engine, journal, WANTED, secrets=other)[1]
    assert (change.action, change.diff) == ("change", "")
    assert room.there["a"]["also"] == ["psst"]


def test_a_failure_does_not_show_secrets(engine, room):
    room.failing = {"a"}
    with pytest.raises(EngineError) as caught:
        run(engine, MemoryJournal(), WANTED, secrets=SECRETS)
    assert "{{secret:pw}}" in str(caught.value)
    assert "hush-hush" not in caught.value.format()
    assert caught.value.original is None


def test_a_removal_has_its_secrets_as_far_as_they_are_known(engine, room):
    journal = MemoryJournal()
    run(engine, journal, WANTED, secrets=SECRETS)
    run(engine, journal, {}, secrets={})
    assert room.there == {}


def test_a_secret_that_is_not_known_is_refused(engine):
    with pytest.raises(EngineError, match="room/a: expected the secret pw, found none; keep"):
        run(engine, MemoryJournal(), {"a": "{{secret:pw}}"})
    with pytest.raises(EngineError, match="correct the name: pwd"):
        run(engine, MemoryJournal(), {"a": "{{secret:pw}}"}, secrets={"pwd": "x"})


def test_markers():
    assert secrets_in({"a": ["x{{secret:b}}y{{secret:c d}}", 1, None]}) == {"b", "c d"}
    assert secrets_in({"{{secret:b}}": {"in {{secret:c}}": 1}}) == {"b", "c"}
    assert secrets_in(secret_marker("x")) == {"x"}
    for name in ("", "a{b", "a}}"):
        with pytest.raises(ValueError, match="without braces"):
            secret_marker(name)


@pytest.mark.parametrize("text", ['a"b', "a\\b", "a\nb", "a<b&c", "ä\tö", 'it\'s "x"', "tea-4-two"])
def test_a_secret_is_hidden_also_as_it_stands_within_quotes(text):
    go = json.dumps(text, ensure_ascii=False)
    for each in "<>&":
        go = go.replace(each, f"\\u{ord(each):04x}")
    for quoted in (text, json.dumps(text), json.dumps(text, ensure_ascii=False), go, repr(text)):
        inner = quoted if quoted == text else quoted[1:-1]
        assert hidden(f"found {inner}.", {"pw": text}) == "found {{secret:pw}}."
        again = json.dumps({"password": inner})
        assert hidden(again, {"pw": text}) == '{"password": "{{secret:pw}}"}'


def test_of_two_secrets_each_has_its_marker():
    secrets = {"a": 'x"y', "b": 'x\\"y'}  # The second is the first within quotes.
    assert hidden('x"y x\\"y', secrets) == "{{secret:a}} {{secret:b}}"


@pytest.mark.parametrize("is_dry", [True, False])
def test_keys_that_are_the_same_with_their_secrets_are_refused(engine, room, is_dry):
    journal = MemoryJournal()
    secrets = {"pw": "hush-hush", "also": "hush-hush"}
    wanted = {"a": {"in": [{"{{secret:pw}}": 1, "{{secret:also}}": 2}]}}
    match = "room/a: expected keys that differ with their secrets, found '{{secret:pw}}' and '{{secret:also}}'"
    with pytest.raises(EngineError, match=match):
        run(engine, journal, wanted, secrets=secrets, dry_run=is_dry)
    assert (room.there, list(journal.records())) == ({}, [])
