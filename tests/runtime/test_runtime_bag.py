import hashlib

import msgspec
import pytest

from trundle.runtime import (
    ABSENT,
    BAG,
    MISSING,
    Absent,
    ApiObject,
    BagEntry,
    BagError,
    Entry,
    PropertyBag,
    StorageObject,
    StoredEntry,
    Widened,
    carry,
    free_form,
    keep_places,
    recall,
    stash,
    unstash,
)
from trundle.runtime._bag import (
    STALE,
    Carried,
    NoEntry,
    current,
    digest,
    entries_of,
    put_entry,
    tidy,
)
from trundle.runtime._entries import Stashing
from trundle.runtime._hidden_content import note_hidden
from trundle.runtime._json import same
from trundle.runtime._marks import THERE, written_over


class Stored(StorageObject, kw_only=True):
    a: str | Absent | None = ABSENT
    b: str | Absent = ABSENT
    property_bag: PropertyBag | Absent = msgspec.field(default=ABSENT, name=BAG)


OLD_A = ("a", "v1")


def beside_b(stored):
    return (stored.b,)


def b_in_capitals(stored):
    return ABSENT if stored.b is ABSENT else stored.b.upper()


def bag(stored):
    """The entries, as they are persisted."""
    return msgspec.json.decode(msgspec.json.encode(stored)).get(BAG)


def reloaded(stored):
    return msgspec.json.decode(msgspec.json.encode(stored), type=Stored)


def test_a_value_is_stashed_under_its_property_and_version_as_plain_json():
    stored = Stored()
    stash(stored, OLD_A, {"x": [1, None]})
    assert bag(stored) == {"a": {"v1": {"value": {"x": [1, None]}}}}


def test_an_absent_value_leaves_no_entry_and_null_is_a_value():
    stored = Stored()
    stash(stored, OLD_A, ABSENT)
    assert stored.property_bag is ABSENT
    stash(stored, OLD_A, None)
    assert bag(stored) == {"a": {"v1": {"value": None}}}


def test_what_the_object_shows_without_an_entry_needs_none():
    stored = Stored(b="x")
    stash(stored, OLD_A, "X", derived=b_in_capitals)
    assert stored.property_bag is ABSENT
    stash(stored, OLD_A, "other", derived=b_in_capitals)
    assert bag(stored) == {"a": {"v1": {"value": "other"}}}


def test_absence_is_noted_where_the_object_would_show_something():
    stored = Stored(b="x")
    stash(stored, OLD_A, ABSENT, witness=beside_b, derived=b_in_capitals)
    entry = bag(stored)["a"]["v1"]
    assert set(entry) == {"beside"}
    assert unstash(reloaded(stored), (BagEntry("a", "v1", str),), beside_b) is ABSENT


def test_absence_is_noted_for_a_hook_that_was_asked_and_only_while_it_has_inputs():
    stored = Stored(b="x")
    stash(stored, OLD_A, ABSENT, witness=beside_b, hooked=True)
    assert stored.property_bag is not ABSENT
    stored = Stored()
    stash(stored, OLD_A, ABSENT, witness=beside_b, hooked=True)
    assert stored.property_bag is ABSENT


def test_an_entry_comes_back_with_its_type_and_through_its_conversion():
    stored = Stored()
    stash(stored, OLD_A, "7")
    assert unstash(stored, (BagEntry("a", "v1", str),)) == "7"
    assert unstash(reloaded(stored), (BagEntry("a", "v1", str),)) == "7"
    assert unstash(reloaded(stored), (BagEntry("a", "v1", str, int),)) == 7


def test_without_an_entry_nothing_is_there_which_is_not_the_same_as_absent():
    stored = Stored()
    assert unstash(stored, (BagEntry("a", "v1", str),)) is MISSING
    assert recall(stored, (BagEntry("a", "v1", str),)) is ABSENT


def test_the_first_entry_that_is_there_wins():
    stored = Stored()
    stash(stored, ("a", "v2"), "second")
    entries = (BagEntry("a", "v1", str), BagEntry("a", "v2", str))
    assert unstash(stored, entries) == "second"
    stash(stored, OLD_A, "first")
    assert unstash(stored, entries) == "first"


def test_an_entry_is_stale_once_what_it_accompanied_has_changed():
    stored = Stored(b="x")
    stash(stored, OLD_A, "value", witness=beside_b)
    entries = (BagEntry("a", "v1", str),)
    assert unstash(stored, entries, beside_b) == "value"
    stored.b = "y"
    assert unstash(stored, entries, beside_b) is MISSING
    stored.b = ABSENT
    assert unstash(stored, entries, beside_b) is MISSING
    stored.b = "x"
    assert unstash(stored, entries, beside_b) == "value"


def test_an_entry_beside_nothing_is_stale_once_something_is_there():
    stored = Stored()
    stash(stored, OLD_A, "value", witness=beside_b)
    assert bag(stored)["a"]["v1"] == {"value": "value", "beside": None}
    stored = reloaded(stored)
    assert unstash(stored, (BagEntry("a", "v1", str),), beside_b) == "value"
    stored.b = "x"
    assert unstash(stored, (BagEntry("a", "v1", str),), beside_b) is MISSING


def test_an_entry_that_cannot_be_read_is_an_error_that_names_it_and_leaves_it():
    stored = Stored()
    put_entry(stored, OLD_A, StoredEntry(free_form({"x": [1, "two"]})))
    with pytest.raises(BagError) as raised:
        unstash(stored, (BagEntry("a", "v1", dict[str, list[int]]),))
    assert str(raised.value) == (
        "the entry 'a' of version v1 in the property bag cannot be read: "
        "Expected `int`, got `str` - in the entry at .x[1]"
    )
    assert raised.value.holder is stored
    assert bag(stored) == {"a": {"v1": {"value": {"x": [1, "two"]}}}}


def test_entries_travel_on_but_those_that_were_taken():
    source = Stored()
    for name, version in (("b", "v1"), ("a", "v2"), ("a", "v1")):
        stash(source, (name, version), f"{name}{version}")
    target = Stored()
    carry(target, source, (("a", "v1"),))
    assert bag(target) == {"a": {"v2": {"value": "av2"}}, "b": {"v1": {"value": "bv1"}}}


def test_an_entry_that_the_target_has_already_wins():
    source, target = Stored(), Stored()
    stash(source, OLD_A, "older")
    stash(target, OLD_A, "newer")
    carry(target, source, ())
    assert bag(target) == {"a": {"v1": {"value": "newer"}}}


def test_carrying_leaves_the_source_as_it_was():
    source, target = Stored(), Stored()
    stash(source, ("b", "v1"), "b")
    stash(source, OLD_A, "a")
    before = msgspec.json.encode(source)
    carry(target, source, ())
    put_entry(target, ("c", "v1"), Entry("c"))
    put_entry(target, ("a", "v9"), Entry("c"))
    assert msgspec.json.encode(source) == before


def test_entries_of_an_edit_that_travel_on_forget_how_they_came_about_in_their_former_shape():
    """A merge would ask the object in its new shape."""
    source, target = Stored(a="a", b="now"), Stored(a="target", b="now")
    with written_over():
        put_entry(source, ("a", "v0"), Entry("read from a store", "then"))
        stash(source, OLD_A, "x", witness=beside_b, derived=b_in_capitals, aliases=(("a", "v2"),))
        stash(source, ("b", "v1"), "NOW", derived=b_in_capitals, aliases=(("b", "v2"),))
        stash(source, ("b", "v0"), THERE, hooked=True)
        put_entry(target, ("b", "v0"), Entry("its own"))
        carry(target, source, ())
    read, made, unsaid = (entries_of(target)[place] for place in (("a", "v0"), OLD_A, ("b", "v1")))
    assert (read.value, read.beside) == ("read from a store", "then")
    assert (made.value, made.beside) == ("x", digest(("now",)))
    assert made.stashing == Stashing(aliases=(("a", "v2"),))
    assert type(unsaid) is NoEntry
    assert (unsaid.value, unsaid.there) == ("NOW", False)
    assert unsaid.stashing == Stashing(aliases=(("b", "v2"),))
    assert entries_of(target)["b", "v0"] == Entry("its own")
    assert entries_of(source)[OLD_A].stashing.witness is beside_b


def test_an_object_of_which_there_is_nothing_to_be_said_travels_on_in_an_edit():
    source, target = Stored(), Stored()
    with written_over():
        stash(source, OLD_A, THERE, witness=beside_b, derived=lambda _: ABSENT)
        carry(target, source, ())
    assert entries_of(target)[OLD_A].there is True


def beside_a(stored):
    return (stored.a,)


def sides(*, both=False):
    """What entries of two versions accompany: `b` in the older shape, `a` in the newer one; or `b` in both."""
    places = (OLD_A, ("a", "v2"))
    return (Carried(places, beside_b, beside_b if both else beside_a, same=both),)


def carrying(*stashed, b="now", both=False):
    """What becomes of entries by version, each with what it accompanied, where the source has a `b`."""
    source = Stored(b="now")
    for version, value, beside in stashed:
        put_entry(source, ("a", version), Entry(value, digest((beside,))))
    target = Stored(a="target", b=b)
    carry(target, source, (), sides(both=both))
    return bag(target)["a"]


AFTERWARDS = digest(("target",))


def test_an_entry_that_travels_on_accompanies_what_makes_it_stale_from_now_on():
    assert carrying(("v1", "x", "now")) == {"v1": {"value": "x", "beside": AFTERWARDS}}
    assert carrying(("v2", "x", "now")) == {"v2": {"value": "x", "beside": AFTERWARDS}}


def test_an_entry_that_was_stale_stays_so_whatever_it_accompanies():
    assert carrying(("v1", "x", "before")) == {"v1": {"value": "x", "beside": STALE}}


def test_a_stale_entry_that_accompanies_the_same_may_become_current_again():
    stale = {"value": "x", "beside": digest(("before",))}
    assert carrying(("v1", "x", "before"), both=True) == {"v1": stale}
    moved = {"value": "y", "beside": digest(("then",))}
    current = carrying(("v1", "x", "before"), ("v2", "y", "now"), b="then", both=True)
    assert current == {"v1": stale, "v2": moved}


def test_of_several_entries_for_one_value_the_first_that_is_current_counts():
    one, two = ({"value": each, "beside": AFTERWARDS} for each in "xy")
    stale = [{"value": each, "beside": STALE} for each in "xy"]
    assert carrying(("v1", "x", "now"), ("v2", "y", "now")) == {"v1": one, "v2": stale[1]}
    assert carrying(("v1", "x", "before"), ("v2", "y", "now")) == {"v1": stale[0], "v2": two}


def test_an_entry_of_the_target_accompanies_what_it_did():
    source, target = Stored(b="now"), Stored(a="target")
    put_entry(source, OLD_A, Entry("x", digest(("now",))))
    put_entry(target, OLD_A, Entry("y", "its own"))
    carry(target, source, (), sides())
    assert bag(target) == {"a": {"v1": {"value": "y", "beside": "its own"}}}


def test_an_entry_that_nothing_makes_stale_from_now_on_is_just_there():
    source, target = Stored(b="now"), Stored()
    put_entry(source, OLD_A, Entry("x", digest(("now",))))
    elsewhere = ("former name of a", "v0")
    carry(target, source, (), (Carried((elsewhere, OLD_A), beside_b, None, same=False),))
    assert bag(target) == {"a": {"v1": {"value": "x"}}}


def test_a_tidy_bag_is_in_alphabetical_order_and_an_empty_one_is_dropped():
    stored = Stored(property_bag={"b": {"v2": Entry(1), "v1": Entry(2)}, "a": {}, "c": {}})
    tidy(stored)
    assert list(stored.property_bag) == ["b"]
    assert list(stored.property_bag["b"]) == ["v1", "v2"]
    for empty in ({}, {"a": {}}, {"a": {}, "b": {}}):
        stored = Stored(property_bag=dict(empty))
        tidy(stored)
        assert stored.property_bag is ABSENT


def test_a_digest_distinguishes_absent_from_null_and_is_none_where_all_is_absent():
    assert digest((ABSENT, ABSENT)) is None
    texts = [digest(each) for each in ((None,), ("",), (ABSENT, ""), ("", ABSENT), ([],), (0,))]
    assert len(set(texts)) == len(texts)
    assert None not in texts
    assert digest(("a", 1)) == digest(("a", 1))


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (1, 1, True),
        (1, 1.0, False),
        (True, 1, False),
        ("", None, False),
        (ABSENT, None, False),
        (ABSENT, ABSENT, True),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, False),
        ([1], [1], True),
        (free_form(1), 1, True),
        (msgspec.Raw(b"1.10"), msgspec.Raw(b"1.1"), False),
    ],
)
def test_values_are_the_same_only_to_the_byte(one, other, alike):
    assert same(one, other) is alike


def test_elements_that_only_a_stale_list_has_keep_their_places():
    stored = Stored()
    stash(stored, OLD_A, ["one", 2, "three", 4])
    entries = (BagEntry("a", "v1", list),)
    found = keep_places(
        stored, entries, ["one", "new", "three"], lambda each: isinstance(each, int)
    )
    assert found == ["one", 2, "new", "three", 4]
    assert keep_places(stored, entries, [], lambda each: isinstance(each, int)) == [2, 4]
    assert keep_places(stored, entries, ABSENT, lambda each: True) is ABSENT
    assert keep_places(stored, entries, ["x"], lambda each: False) == ["x"]


def test_members_that_only_a_stale_map_has_stay():
    stored = Stored()
    stash(stored, OLD_A, {"x": "one", "y": 2, "z": 3})
    found = keep_places(
        stored,
        (BagEntry("a", "v1", dict),),
        {"x": "new", "z": "now text"},
        lambda each: isinstance(each, int),
    )
    assert found == {"x": "new", "z": "now text", "y": 2}


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (Entry("a"), Entry("a"), True),
        (Entry("a"), StoredEntry(msgspec.Raw(b'"a"')), True),
        (Entry("a"), StoredEntry(msgspec.Raw(b'"b"')), False),
        (Entry("a", "d"), Entry("a", "e"), False),
        (Entry("a", None), StoredEntry(msgspec.Raw(b'"a"')), False),
        (Entry(ABSENT, "d"), StoredEntry(ABSENT, "d"), True),
        (Entry(ABSENT, "d"), StoredEntry(msgspec.Raw(b"null"), "d"), False),
        (Entry({"a": 1, "b": [2]}), StoredEntry(msgspec.Raw(b'{"b": [2], "a": 1}')), True),
        (StoredEntry(msgspec.Raw(b'{"b": 2}')), StoredEntry(msgspec.Raw(b'{"b":2}')), True),
        (Entry(True), StoredEntry(msgspec.Raw(b"1")), False),
        (Entry("a"), NoEntry("a"), False),
        (StoredEntry(msgspec.Raw(b'"a"')), NoEntry("a"), False),
        (NoEntry("a"), NoEntry("a"), True),
        (Entry("a"), "a", False),
    ],
)
def test_entries_are_equal_where_their_content_is(one, other, equal):
    assert (one == other) is equal
    assert (other == one) is equal
    assert (one != other) is not equal


def test_entries_can_be_changed_and_have_no_hash():
    with pytest.raises(TypeError):
        hash(Entry("a"))


def test_a_bag_that_is_carried_along_in_an_object_makes_no_entry_stale():
    """The entry may have been made while it did, by an earlier version of the runtime."""

    class Item(ApiObject, kw_only=True):
        x: str | Absent = ABSENT

    note_hidden()
    plain = Item(x="1")
    carried = Item(x="1", unknown={"$propertyBag": msgspec.Raw(b'{"z":{"v3":{"value":1}}}')})
    unknown = Item(x="1", unknown={"y": msgspec.Raw(b"1")})
    assert digest((ABSENT, carried)) == digest((ABSENT, plain)) != digest((ABSENT, unknown))
    earlier = hashlib.blake2b(msgspec.json.encode([None, [carried]]), digest_size=9).hexdigest()
    stored = Stored()
    for beside in (earlier, digest((ABSENT, plain))):
        assert current(stored, Entry("x", beside), lambda _: (ABSENT, carried))
    assert not current(stored, Entry("x", earlier), lambda _: (ABSENT, Item(x="2")))


@pytest.mark.parametrize(
    ("beside", "now", "holds"),
    [
        (digest(("x",)), Widened(("x", True)), True),
        (digest(("x", True)), Widened(("x", True)), True),
        (None, Widened((ABSENT, ABSENT)), True),
        (None, Widened((ABSENT, True)), False),
        (digest(("x",)), ("x", True), False),
    ],
)
def test_an_entry_of_an_earlier_release_accompanies_all_but_the_last(beside, now, holds):
    """That all was absent says so of the last, too."""
    assert current(Stored(), Entry("v", beside), lambda _: now) is holds
