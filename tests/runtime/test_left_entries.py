"""Entries of a bag that a writer leaves as they were, while it changes what they accompany: who reads them still does."""

import msgspec
import pytest

from trundle.runtime import ABSENT, BAG, Absent, Entry, PropertyBag, StorageObject
from trundle.runtime._bag import current, digest
from trundle.runtime._entries import Stashing, made_entry
from trundle.runtime._merge import merge


class Named(StorageObject, kw_only=True):
    name: str | Absent = ABSENT
    place: str | Absent = ABSENT
    property_bag: PropertyBag | Absent = msgspec.field(default=ABSENT, name=BAG)


def by_name(stored):
    return (stored.name,)


def by_place(stored):
    return (stored.place,)


def made(value="mine", witness=by_name, aliases=()):
    return made_entry(value, ABSENT, Stashing(witness, aliases=aliases))


def seen(name, **entries):
    """What a version makes of an object: its entries, each under the same property in its own shape."""
    bag = {each: {"v1": entry} for each, entry in entries.items()}
    return Named(name=name, property_bag=bag or ABSENT)


def beside(text):
    return digest((text,))


def renamed(stored, **entries):
    """The bag after a writer with these entries has renamed an object from `a` to `b`, and where they are read."""
    found = merge(stored, seen("a", **entries), seen("b", **entries))
    assert found.name == "b"
    return {} if found.property_bag is ABSENT else found.property_bag


THEIRS = (("x", "v2"),)


def test_a_current_entry_stays_current_in_the_shape_that_it_has():
    stored = Named(name="a", property_bag={"x": {"v2": Entry("theirs", beside("a"))}})
    assert renamed(stored, x=made(aliases=THEIRS)) == {"x": {"v2": Entry("theirs", beside("b"))}}


def test_what_a_writer_was_shown_for_a_value_that_it_changes_is_kept_for_it():
    stored = Named(name="a")
    assert renamed(stored, x=made()) == {"x": {"v1": Entry("mine", beside("b"))}}


def test_a_stale_entry_gives_way_to_what_its_writer_was_shown():
    stored = Named(name="a", property_bag={"x": {"v2": Entry("old", beside("z"))}})
    assert renamed(stored, x=made(aliases=THEIRS)) == {"x": {"v1": Entry("mine", beside("b"))}}


def test_of_a_stale_entry_and_a_current_one_the_current_one_stays():
    bag = {"x": {"v1": Entry("old", beside("z")), "v2": Entry("theirs", beside("a"))}}
    stored = Named(name="a", property_bag=bag)
    assert renamed(stored, x=made(aliases=THEIRS)) == {"x": {"v2": Entry("theirs", beside("b"))}}


@pytest.mark.parametrize("witness", [by_place, None])
def test_an_entry_beside_what_the_edit_leaves_is_as_before(witness):
    for bag in (ABSENT, {"x": {"v2": Entry("old", beside("z"))}}):
        stored = Named(name="a", place="here", property_bag=bag)
        found = renamed(stored, x=made(witness=witness, aliases=THEIRS))
        assert found == ({} if bag is ABSENT else bag)
    bag = {"x": {"v1": Entry("old", ABSENT)}}
    stored = Named(name="a", property_bag=bag)
    assert renamed(stored, x=made(witness=witness)) == bag


def test_an_entry_that_says_that_there_is_nothing_is_not_renewed():
    stored = Named(name="a", property_bag={"x": {"v2": Entry(ABSENT, beside("a"))}})
    assert renamed(stored, x=made(aliases=THEIRS)) == {"x": {"v2": Entry(ABSENT, beside("a"))}}
    assert renamed(Named(name="a"), x=made(ABSENT)) == {}


def test_an_entry_that_the_edit_adds_or_changes_is_what_the_writer_has():
    stored = Named(name="a", property_bag={"x": {"v1": Entry("mine", beside("a"))}})
    found = merge(stored, seen("a", x=made()), seen("b", x=made("new"), y=made("more")))
    assert found.property_bag == {
        "x": {"v1": Entry("new", beside("b"))},
        "y": {"v1": Entry("more", beside("b"))},
    }


SKIPPED = {
    "without what it accompanies": (made(witness=None), {"v1": Entry("kept", ABSENT)}),
    "beside what the edit leaves": (made(witness=by_place), {"v1": Entry("kept", beside("here"))}),
    "stale, beside what it leaves": (made(witness=by_place), {"v1": Entry("kept", beside("then"))}),
    "that says nothing": (made(aliases=(("{}", "v2"),)), {"v2": Entry(ABSENT, beside("a"))}),
    "that no writer has": (None, {"v3": Entry("kept", beside("then"))}),
}


@pytest.mark.parametrize("why", SKIPPED)
def test_all_entries_are_renewed_wherever_others_stand_between_them(why):
    entry, kept = SKIPPED[why]
    aliases = {each: ((each, "v2"),) for each in "bdf"}
    entries = {each: made(f"mine {each}", aliases=aliases[each]) for each in "bdf"}
    others = {}
    if entry is not None:
        for each in "aceg":
            theirs = tuple((each, version) for _, version in entry.stashing.aliases)
            stashing = Stashing(entry.stashing.witness, aliases=theirs)
            others[each] = made_entry(entry.value, ABSENT, stashing)
    bag = {each: dict(kept) for each in "aceg"}
    bag |= {"b": {"v2": Entry("theirs", beside("a"))}, "d": {"v2": Entry("old", beside("z"))}}
    stored = Named(name="a", place="here", property_bag=dict(sorted(bag.items())))
    found = renamed(stored, **dict(sorted((entries | others).items())))
    assert found == {
        **dict.fromkeys("aceg", kept),
        "b": {"v2": Entry("theirs", beside("b"))},
        "d": {"v1": Entry("mine d", beside("b"))},
        "f": {"v1": Entry("mine f", beside("b"))},
    }


def test_what_is_renewed_is_read_and_the_stored_object_is_as_it_was():
    stored = Named(name="a", property_bag={"x": {"v2": Entry("theirs", beside("a"))}})
    before = msgspec.json.encode(stored)
    entry = made(aliases=THEIRS)
    found = merge(stored, seen("a", x=entry), seen("b", x=entry))
    assert msgspec.json.encode(stored) == before
    assert current(found, found.property_bag["x"]["v2"], by_name)
