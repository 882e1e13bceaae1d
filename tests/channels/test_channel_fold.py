import datetime as dt
import random

from channel_data import HOUR, PACKAGE, START, codes, entry, v
from hypothesis import given
from hypothesis import strategies as st

from trundle.channels import (
    Channel,
    Deprecate,
    Promote,
    Publish,
    Refresh,
    Restore,
    Unpublish,
    check_channel,
    fold,
    id_of_operation,
)

EMPTY = Channel(name="stable", package=PACKAGE)
VERSIONS = ["1.0.0", "1.0.1", "1.1.0", "2.0.0"]
STAMPS = {
    "at": st.integers(0, 5).map(lambda hours: START + hours * HOUR),
    "seen": st.integers(0, 3),
    "by": st.sampled_from(["ann", "bob"]),
}
SOME = st.sampled_from(VERSIONS).map(v)
OPERATIONS = st.one_of(
    st.builds(
        Publish,
        entry=st.builds(
            lambda version, content: entry(version, content=content),
            st.sampled_from([*VERSIONS, "1.0.0-beta"]),
            st.sampled_from("ab"),
        ),
        **STAMPS,
    ),
    st.builds(Unpublish, version=SOME, reason=st.sampled_from(["why", ""]), **STAMPS),
    st.builds(Restore, version=SOME, **STAMPS),
    st.builds(Promote, version=SOME, **STAMPS),
    st.builds(Deprecate, version=SOME, message=st.sampled_from(["old", None]), **STAMPS),
    st.builds(Refresh, expires=st.sampled_from([None, START + HOUR]), **STAMPS),
)


@given(st.lists(OPERATIONS, max_size=10), st.randoms(use_true_random=False))
def test_the_order_and_number_of_copies_do_not_matter(operations, random_order):
    folded = fold(EMPTY, operations)
    others = [*operations, *operations[:3]]
    random_order.shuffle(others)
    assert fold(EMPTY, others) == folded
    assert check_channel(folded.channel) == ()


@given(st.lists(OPERATIONS, max_size=8), st.lists(OPERATIONS, max_size=3))
def test_more_operations_give_a_higher_serial(operations, more):
    names = {id_of_operation(each) for each in operations}
    new = {id_of_operation(each) for each in more} - names
    fewer, all_of_them = fold(EMPTY, operations), fold(EMPTY, [*operations, *more])
    assert all_of_them.channel.serial == fewer.channel.serial + len(new)


@given(st.lists(OPERATIONS, max_size=10))
def test_nothing_is_lost_without_a_refusal(operations):
    folded = fold(EMPTY, operations)
    for operation in operations:
        outcome = folded.outcome(operation)
        if isinstance(operation, Publish) and not outcome.refusals:
            published = operation.entry
            found = folded.channel.entry(published.version)
            gone = folded.channel.tombstone(published.version)
            assert (found or gone.entry).digest == published.digest


def test_ten_publishers_of_different_versions_all_end_in_it():
    operations = [
        Publish(entry=entry(f"1.{minor}.0"), at=START, by=f"p{minor}") for minor in range(10)
    ]
    random.Random(1).shuffle(operations)
    folded = fold(EMPTY, operations)
    assert [each.version.minor for each in folded.channel.versions] == list(range(9, -1, -1))
    assert folded.channel.latest == v("1.9.0")
    assert folded.channel.serial == 10
    assert not any(each.refusals for each in folded.outcomes)


def test_of_two_publishers_of_one_version_the_same_one_always_wins():
    first = Publish(entry=entry("1.0.0", content="a"), at=START)
    second = Publish(entry=entry("1.0.0", content="b"), at=START + HOUR)
    for operations in ([first, second], [second, first]):
        folded = fold(EMPTY, operations)
        assert folded.channel.entry(v("1.0.0")).digest == first.entry.digest
        assert folded.outcome(first).refusals == ()
        assert codes(folded.outcome(second).refusals) == ["version-taken"]


def test_what_its_author_had_seen_comes_before_the_clock():
    publish = Publish(entry=entry("1.0.0"), at=START + HOUR, seen=0)
    slow_clock = Unpublish(version=v("1.0.0"), reason="a hole", at=START, seen=1)
    folded = fold(EMPTY, [slow_clock, publish])
    assert folded.channel.tombstone(v("1.0.0"))
    assert folded.channel.update_time == START + HOUR


def test_a_fold_may_begin_at_a_checkpoint():
    operations = [Publish(entry=entry(f"1.{minor}.0"), at=START, seen=minor) for minor in range(6)]
    whole = fold(EMPTY, operations)
    half = fold(EMPTY, operations[:3]).channel
    assert fold(half, operations[3:]).channel == whole.channel


def test_thousands_of_operations_fold_in_one_go():
    operations = [
        Publish(entry=entry(f"1.{number}.0"), at=START + dt.timedelta(seconds=number), seen=number)
        for number in range(3000)
    ]
    folded = fold(EMPTY, operations)
    assert len(folded.channel.versions) == folded.channel.serial == 3000
