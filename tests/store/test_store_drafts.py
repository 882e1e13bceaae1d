"""Drafts: what a document makes of an object before it is stored, and what may happen to the object meanwhile."""

import pytest
from storing import V1, V2, document, kept, key, people_before, seen

from trundle.store import ConflictError, ObjectExistsError, Store, roll


@pytest.fixture
def rolling(url, scheme):
    """A store whose objects are of an earlier release."""
    with Store(url, people_before()) as old:
        old.create(key(), document(V1, team="red", age=1))
    with Store(url, scheme) as store:
        yield store


def committed(store, write):
    store.commit([write])
    return write.outcome().object


def test_a_draft_is_put_once(store, monkeypatch):
    made = store.create(key(), document(group="red", note="n"))
    puts = []
    put = type(store.scheme).put
    monkeypatch.setattr(
        type(store.scheme), "put", lambda *args, **named: puts.append(1) or put(*args, **named)
    )
    draft = store.draft(key(), document(V1, team="blue"), made)
    found = committed(store, store.replacement(draft, made))
    assert len(puts) == 1
    assert (seen(store, found)["group"], seen(store, found)["note"]) == ("blue", "n")
    assert (found.generation, found.resource_version) == (2, made.resource_version + 1)


def test_what_is_rolled_meanwhile_is_written_over_in_its_new_shape(rolling):
    current = rolling.get(key())
    draft = rolling.draft(key(), document(V1, team="blue", age=2), current)
    roll(rolling)
    found = committed(rolling, rolling.replacement(draft, current))
    assert kept(found)["apiVersion"] == V2
    assert seen(rolling, found)["group"] == "blue"
    assert seen(rolling, found, V1)["age"] == 2


def test_a_draft_is_stored_in_the_shape_that_is_agreed_on(rolling):
    made = committed(rolling, rolling.creation(rolling.draft(key("new"), document(group="red"))))
    assert kept(made)["apiVersion"] == V1
    current = rolling.get(key())
    found = committed(
        rolling, rolling.replacement(rolling.draft(key(), document(group="x"), current), current)
    )
    assert kept(found)["apiVersion"] == V1
    assert seen(rolling, found)["group"] == "x"


def test_a_draft_is_not_written_over_what_another_writer_wrote(either):
    current = either.create(key(), document(group="red"))
    draft = either.draft(key(), document(group="blue"), current)
    either.replace(key(), document(group="green"))
    with pytest.raises(ConflictError):
        committed(either, either.replacement(draft, current))
    new = either.draft(key("new"), document(group="blue"))
    either.create(key("new"), document(group="green"))
    with pytest.raises(ObjectExistsError):
        committed(either, either.creation(new))
