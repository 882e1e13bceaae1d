"""A ledger loses nothing: under any order of steps, without any lease, and whichever process dies."""

import hashlib

import msgspec
import pytest
from amounts import amount, full
from artifacts import push
from hypothesis import given, settings
from hypothesis import strategies as st
from ledgers import ledger_of, shown, shows
from stepping import MemoryRepository, Schedule

from trundle.registry import (
    MARK_ANNOTATION,
    OCI_MANIFEST,
    InvalidManifestError,
    InvalidReferenceError,
    Ledger,
    PendingError,
    encode,
    mark_of,
)


def test_entries_come_in_the_order_of_commits_and_the_head_shows_them(repository):
    ledger = ledger_of(repository)
    assert ledger.entries() == ()
    assert ledger.is_settled()
    seen = []
    for name in ("one", "two", "three"):

        def decide(entries, name=name):
            seen.append([each.payload for each in entries])
            return name.encode()

        ledger.commit(decide, shows(repository))
    assert seen == [[], [b"one"], [b"one", b"two"]]
    assert [each.serial for each in ledger.entries()] == [1, 2, 3]
    assert shown(repository) == ["one", "two", "three"]
    assert ledger.is_settled()
    assert repository.tags() == ["stable"]
    assert [each.payload for each in ledger_of(repository).entries()] == [b"one", b"two", b"three"]


def test_a_refusal_changes_nothing(repository):
    ledger = ledger_of(repository)

    def refuse(_entries):
        raise ValueError("exists")

    with pytest.raises(ValueError, match="exists"):
        ledger.commit(refuse, shows(repository))
    assert repository.tags() == repository.tags(internal=True) == []


@pytest.mark.parametrize("repository", ["directory", full("http")], indirect=True)
def test_checkpoints_keep_all_entries_under_few_tags(repository):
    ledger = ledger_of(repository, compact_at=3)
    for number in range(7):
        ledger.commit(lambda _entries, number=number: b"%d" % number, shows(repository))
    tags = [
        tag.removeprefix("_trundle.ledger-stable.")[0] for tag in repository.tags(internal=True)
    ]
    assert sorted(tags) == ["c", "e"]
    fresh = ledger_of(repository)
    assert [each.payload for each in fresh.entries()] == [b"%d" % number for number in range(7)]
    with fresh.turn() as turn:
        assert turn.compact()
        assert not turn.compact()
    assert fresh.is_settled()
    assert (
        len(repository.tags(internal=True)) == 2
    )  # A large checkpoint is not written again for one entry.
    for number in range(7, 60):
        ledger.commit(lambda _entries, number=number: b"%d" % number, shows(repository))
    assert len(repository.tags(internal=True)) < 9
    assert [each.payload for each in ledger_of(repository).entries()] == [
        b"%d" % number for number in range(60)
    ]


def test_checkpoints_and_marks_of_earlier_releases_are_read(layout):
    """Such a checkpoint does not say what is in it, and such a mark is a digest over all names."""
    ledger = ledger_of(layout, compact_at=2)
    for payload in (b"one", b"two"):
        ledger.commit(lambda _entries, payload=payload: payload, shows(layout))
    (tag,) = layout.tags(internal=True)
    document = layout.get_manifest(tag).document
    kept = {"dev.trundle.tag": document.annotations["dev.trundle.tag"]}
    old = msgspec.structs.replace(document, annotations=kept)
    layout.put_manifest(encode(old), OCI_MANIFEST, tag=tag)
    names = "\n".join(each.id for each in ledger.entries())
    head = layout.get_manifest("stable").document
    mark = {MARK_ANNOTATION: hashlib.sha256(names.encode()).hexdigest()}
    old = msgspec.structs.replace(head, annotations=mark)
    layout.put_manifest(encode(old), OCI_MANIFEST, tag="stable")
    fresh = ledger_of(layout)
    assert [each.payload for each in fresh.entries()] == [b"one", b"two"]
    assert fresh.is_settled()
    fresh.commit(lambda _entries: b"three", shows(layout))
    assert shown(layout) == ["one", "two", "three"]


@pytest.mark.full
def test_a_commit_that_fails_before_its_head_is_pending_and_can_be_finished(repository):
    ledger = ledger_of(repository)
    ledger.commit(lambda _entries: b"one", shows(repository))

    def fail(_entries, _mark):
        raise OSError("disk full")

    with pytest.raises(PendingError, match="disk full") as caught:
        ledger.commit(lambda _entries: b"two", fail)
    assert caught.value.entry.payload == b"two"
    assert shown(repository) == ["one"]
    assert not ledger.is_settled()
    assert ledger.settle(shows(repository))
    assert shown(repository) == ["one", "two"]
    assert not ledger.settle(shows(repository))


def test_the_next_commit_finishes_what_was_pending(repository):
    ledger = ledger_of(repository)
    with ledger.turn() as turn:
        turn.append(b"one")
    ledger.commit(lambda _entries: b"two", shows(repository))
    assert shown(repository) == ["one", "two"]


@pytest.mark.full
def test_a_head_that_is_put_back_by_a_slow_publisher_is_noticed_and_repaired(repository):
    ledger = ledger_of(repository)
    ledger.commit(lambda _entries: b"one", shows(repository))
    old = repository.resolve("stable").digest
    ledger.commit(lambda _entries: b"two", shows(repository))
    repository.set_tag("stable", old)
    assert not ledger.is_settled()
    assert [each.payload for each in ledger.entries()] == [b"one", b"two"]
    ledger.commit(lambda _entries: b"three", shows(repository))
    assert shown(repository) == ["one", "two", "three"]


@pytest.mark.full
def test_a_head_without_its_mark_is_refused(repository):
    digest = push(repository, b"1").digest
    with pytest.raises(PendingError, match="mark"):
        ledger_of(repository).commit(lambda _entries: b"one", lambda _entries, _mark: digest)


def test_a_tag_that_is_no_entry_is_refused(repository):
    push(repository, b"1", tag="_trundle.ledger-stable.e-0000000001-0123456789abcdef")
    with pytest.raises(InvalidManifestError, match="entry or a checkpoint"):
        ledger_of(repository).entries()


@pytest.mark.full
def test_ledgers_of_one_repository_are_apart(repository):
    one, two = (Ledger(repository, name, head=name) for name in ("beta", "beta-2"))
    one.commit(lambda _entries: b"one", shows(repository))
    two.commit(lambda _entries: b"two", shows(repository))
    assert [each.payload for each in one.entries()] == [b"one"]
    assert [each.payload for each in two.entries()] == [b"two"]


def test_a_name_that_would_not_fit_into_tags_is_refused(layout):
    for name in ("", "Stable", "a.b", "a" * 33, "-a"):
        with pytest.raises(InvalidReferenceError):
            Ledger(layout, name, head="stable")


def test_the_mark_depends_on_the_entries_alone(layout):
    ledger = ledger_of(layout)
    with ledger.turn() as turn:
        entries = [turn.append(b"x"), turn.append(b"y")]
    assert mark_of(entries) == mark_of(entries[::-1]) == mark_of(ledger.entries())
    assert mark_of(entries) != mark_of(entries[:1])


@pytest.mark.full
@settings(deadline=None, max_examples=amount(150))
@given(
    publishers=st.integers(2, 4),
    order=st.lists(st.integers(0, 11), max_size=300),
    deaths=st.dictionaries(st.integers(0, 3), st.integers(1, 60), max_size=2),
)
def test_nothing_is_lost_in_any_order_of_steps_without_any_lease(publishers, order, deaths):
    memory = MemoryRepository()

    def publisher(number):
        def job(step):
            mine = memory.as_seen_by(step)
            for payload in (f"{number}.0".encode(), f"{number}.1".encode()):
                ledger_of(mine, compact_at=2).commit(
                    lambda _entries, payload=payload: payload, shows(mine)
                )

        return job

    schedule = Schedule(order, deaths)
    finished = schedule.run([publisher(number) for number in range(publishers)])
    assert schedule.errors == []
    done = {f"{number}.{turn}" for number in finished for turn in range(2)}
    ledger = ledger_of(memory)
    entries = [each.payload.decode() for each in ledger.entries()]
    assert done <= set(entries)
    assert len(entries) == len(set(entries))
    if len(finished) == publishers:
        assert sorted(shown(memory)) == sorted(done)
        assert ledger.is_settled()
    elif entries:
        ledger.settle(shows(memory))
        assert shown(memory) == entries
