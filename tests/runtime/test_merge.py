import copy
import functools

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trundle.runtime import (
    ABSENT,
    BAG,
    Absent,
    BagEntry,
    BagError,
    Entry,
    PropertyBag,
    StorageObject,
    Wrapped,
    _list_merge,
    aligned,
)
from trundle.runtime._bag import NoEntry, digest
from trundle.runtime._entries import Stashing, made_entry
from trundle.runtime._matching import match
from trundle.runtime._merge import merge
from trundle.runtime._objects import Made

merge_lists = functools.partial(_list_merge.merge_lists, merge=merge)


class Port(StorageObject, kw_only=True):
    host: str | Absent = ABSENT
    number: int | Absent = ABSENT
    secret: str | Absent = ABSENT
    property_bag: PropertyBag | Absent = msgspec.field(default=ABSENT, name=BAG)


class Server(StorageObject, kw_only=True):
    ports: list[Port] | Absent = ABSENT
    labels: dict[str, str] | Absent = ABSENT
    note: str | Absent = ABSENT
    property_bag: PropertyBag | Absent = msgspec.field(default=ABSENT, name=BAG)

    __list_keys__ = {"ports": ("host", "number")}  # noqa: RUF012 - as generated code has it


def named(*names):
    return [{"name": name} for name in names]


def test_elements_match_by_declared_keys():
    ours = [Port(host="a", number=1, secret="new"), Port(host="a", number=2)]
    theirs = [Port(host="a", number=2), Port(host="a", number=1)]
    assert match(ours, theirs, ("host", "number")) == [1, 0]


def test_declared_keys_that_are_missing_or_not_unique_do_not_count():
    ours = [Port(host="a", number=1), Port(host="a", number=1, secret="x")]
    theirs = [Port(host="a", number=1, secret="x"), Port(host="a", number=1)]
    assert match(ours, theirs, ("host", "number")) == [1, 0]  # by equality
    assert match([Port(host="a")], [Port(host="a")], ("host", "number")) == [0]


@pytest.mark.parametrize("key", ["name", "id", "key"])
def test_elements_match_by_a_key_property_that_is_unique_on_both_sides(key):
    ours = [{key: "a", "x": 1}, {key: "b"}, {key: "new"}]
    theirs = [{key: "b"}, {key: "a", "x": 2}]
    assert match(ours, theirs) == [1, 0, None]


def test_numbers_as_keys_are_distinguished_from_texts():
    assert match([{"id": 1}], [{"id": "1"}]) == [None]


def test_elements_without_a_key_match_by_equality():
    assert match(["a", "b", "c"], ["c", "a"]) == [1, None, 0]


def test_equal_elements_match_each_other_once_and_in_order():
    assert match(["a", "a", "a"], ["a", "a"]) == [0, 1, None]


def test_an_element_alone_between_matched_neighbours_is_an_edit():
    assert match(["a", "X", "c"], ["a", "b", "c"]) == [0, 1, 2]
    assert match(["X"], ["b"]) == [0]
    assert match(["X", "c"], ["b", "c"]) == [0, 1]
    assert match(["a", "X"], ["a", "b"]) == [0, 1]


def test_two_elements_between_matched_neighbours_are_not_guessed():
    assert match(["a", "X", "Y", "d"], ["a", "b", "c", "d"]) == [0, None, None, 3]


def test_an_insertion_edits_no_other_element():
    assert match(["a", "X", "b"], ["a", "b"]) == [0, None, 1]


def test_merging_keeps_what_the_writer_did_not_change():
    stored = Server(note="kept", labels={"a": "1"})
    result = merge(stored, Server(labels={"a": "1"}), Server(labels={"a": "2"}))
    assert (result.note, result.labels) == ("kept", {"a": "2"})


def test_a_property_that_the_writer_removes_is_gone():
    result = merge(Server(note="x"), Server(note="x"), Server())
    assert result.note is ABSENT


def test_a_map_takes_the_writers_members_and_order():
    result = merge({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 2, "c": 3}, {"c": 3, "a": 9, "d": 4})
    assert list(result.items()) == [("c", 3), ("a", 9), ("d", 4)]


def test_a_number_that_the_writer_spells_another_way_is_an_edit():
    assert str(merge([1, "hidden"], [1], [1.0])[0]) == "1.0"


def test_nested_maps_keep_what_only_the_stored_ones_have():
    stored = {"a": Server(note="kept", labels={"x": "1"})}
    result = merge(stored, {"a": Server(labels={"x": "1"})}, {"a": Server(labels={"x": "2"})})
    assert (result["a"].note, result["a"].labels) == ("kept", {"x": "2"})


def test_elements_take_their_secrets_along_when_they_move():
    stored = [Port(host="a", number=1, secret="s1"), Port(host="b", number=2, secret="s2")]
    before = [Port(host="a", number=1), Port(host="b", number=2)]
    after = [Port(host="b", number=2), Port(host="new", number=3), Port(host="a", number=1)]
    result = merge(Server(ports=stored), Server(ports=before), Server(ports=after)).ports
    assert [(each.host, each.secret) for each in result] == [
        ("b", "s2"),
        ("new", ABSENT),
        ("a", "s1"),
    ]


def test_an_element_that_the_writer_removes_takes_its_secrets_with_it():
    stored = [Port(host="a", number=1, secret="s1"), Port(host="b", number=2, secret="s2")]
    before = [Port(host="a", number=1), Port(host="b", number=2)]
    result = merge_lists(stored, before, before[1:], ("host", "number"))
    assert [(each.host, each.secret) for each in result] == [("b", "s2")]


def test_elements_that_the_writer_cannot_see_stay_behind_their_neighbours():
    stored = ["H0", "a", "H1", "b", "H2", "H3"]
    assert merge_lists(stored, ["a", "b"], ["b", "a"], ()) == ["H0", "b", "H2", "H3", "a", "H1"]
    assert merge_lists(stored, ["a", "b"], ["a", "x", "b"], ()) == [
        "H0",
        "a",
        "H1",
        "x",
        "b",
        "H2",
        "H3",
    ]
    assert merge_lists(stored, ["a", "b"], [], ()) == ["H0", "H1", "H2", "H3"]


def test_new_elements_come_before_unseen_ones_and_those_of_their_key_give_way():
    stored = [Port(host="a", number=1), Port(host="b", number=2), Port(host="c")]
    added = [Port(host="b", number=2, secret="new"), Port(number=3)]
    add = _list_merge.add_to_unseen
    assert add(stored, added, ("host", "number")) == [*added, stored[0], stored[2]]
    assert add(stored, added, ()) == [*added, *stored]
    assert add(stored, [Port(number=3)], ("host", "number")) == [Port(number=3), *stored]


class Rule(StorageObject, kw_only=True):
    host: str | Absent = ABSENT
    note: str | Absent = ABSENT
    secret: str | Absent = ABSENT
    property_bag: PropertyBag | Absent = msgspec.field(default=ABSENT, name=BAG)


@pytest.mark.parametrize(
    ("note", "said", "secret"),
    [(ABSENT, "new", "s"), ("old", "new", ABSENT), ("same", "same", ABSENT)],
)
def test_a_new_element_takes_what_an_unseen_one_of_its_key_has_beside_it(note, said, secret):
    stored = [Rule(host="a", note=note, secret="s"), Rule(host="b")]
    found = merge_lists(stored, stored[1:], [stored[1], Rule(host="a", note=said)], ("host",))
    assert sorted(found, key=lambda each: each.host) == [
        Rule(host="a", note=said, secret=secret),
        stored[1],
    ]


def test_entries_of_an_unseen_element_stay_beside_those_of_the_new_one_that_takes_its_place():
    def rule(**entries):
        bag = {name: {"v1": made_entry(each, ABSENT, Stashing())} for name, each in entries.items()}
        return Rule(host="a", property_bag=bag)

    stored = [rule(x="1"), Rule(host="b")]
    found = merge_lists(stored, stored[1:], [stored[1], rule(y="2")], ("host",))
    assert [each for each in found if each.host == "a"] == [rule(x="1", y="2")]


def test_an_element_that_the_writer_sees_and_nothing_stored_is_stays_as_it_is_written():
    assert merge_lists(["H0", "H1"], ["a"], ["a"], ()) == ["H0", "H1", "a"]


def test_a_wrapped_value_edits_the_first_element_of_a_stored_list():
    stored = ["one", "two", "three"]
    assert merge(stored, Wrapped(["one"]), Wrapped(["ONE"])) == ["ONE", "two", "three"]


class Named(StorageObject, kw_only=True):
    name: str | Absent = ABSENT
    secret: str | Absent = ABSENT
    property_bag: PropertyBag | Absent = msgspec.field(default=ABSENT, name=BAG)


def test_a_wrapped_value_edits_the_first_element_whatever_its_key():
    stored = [Named(name="a", secret="s"), Named(name="b")]
    result = merge(stored, Wrapped([Named(name="a")]), Wrapped([Named(name="c")]))
    assert result == [Named(name="c", secret="s"), Named(name="b")]


def test_elements_are_found_among_those_of_other_classes_by_their_class():
    """Nothing identifies these elements, and all of them have something that the writer cannot see."""
    stored = [Port(number=1, secret="x"), Named(name="hidden"), Port(number=2, secret="y")]
    before = [Port(number=1), Port(number=2)]
    result = merge_lists(stored, before, [Port(number=3), Port(number=2)], ())
    assert result == [Port(number=3, secret="x"), *stored[1:]]


def test_elements_are_not_found_by_classes_that_come_in_another_order():
    stored = [Port(number=1), Named(secret="x"), Server(note="hidden")]
    before = [Named(secret="x"), Port(number=1)]
    result = merge_lists(stored, before, [Named(secret="y"), Port(number=1)], ())
    assert result == [Named(secret="y"), Server(note="hidden"), Port(number=1)]


def test_an_object_that_is_made_for_what_is_in_it_takes_the_place_of_one_of_another_class():
    made = Port(number=1)
    made.unknown = Made()
    result = merge(Named(name="a"), ABSENT, made)
    assert result == Port(number=1)
    assert type(result.unknown) is not Made


class Variant(Named, kw_only=True):
    kind: str | Absent = ABSENT

    __discriminators__ = ("kind",)


@pytest.mark.parametrize(("kind", "secret"), [("a", "s"), ("A", "s"), ("b", ABSENT)])
def test_an_object_in_place_of_an_unseen_one_keeps_what_is_hidden_in_the_same_variant(kind, secret):
    stored = Variant(kind="a", secret="s")
    found = merge(stored, ABSENT, Variant(kind=kind, name="n"))
    assert (found.name, found.secret) == ("n", secret)


def test_an_empty_object_that_its_own_side_wrote_stays_where_another_makes_one_for_nothing():
    made = Named()
    made.unknown = Made()
    assert merge(Named(), ABSENT, made) == Named()


class Outer(StorageObject, kw_only=True):
    inner: Named | Absent = ABSENT
    property_bag: PropertyBag | Absent = msgspec.field(default=ABSENT, name=BAG)


class Holder(StorageObject, kw_only=True):
    outer: Outer | Absent = ABSENT
    note: str | Absent = ABSENT
    property_bag: PropertyBag | Absent = msgspec.field(default=ABSENT, name=BAG)

    __entries_within__ = ((("outer", "inner"), (("x", "v1"),)),)


def test_entries_of_what_is_within_an_object_go_with_it():
    stored = Holder(
        outer=Outer(inner=Named(name="a")), property_bag={"x": {"v1": Entry("of the object")}}
    )
    before = Holder(outer=Outer(inner=Named(name="a")))
    changed = Holder(outer=Outer(inner=Named(name="b")))
    made = Holder(outer=Outer(inner=Named(secret="s")))
    made.outer.inner.unknown = Made()
    assert merge(stored, before, changed).property_bag == stored.property_bag
    for after in (Holder(note="n"), Holder(outer=Outer()), made):
        assert merge(stored, before, after).property_bag is ABSENT


@pytest.mark.parametrize(
    ("hooked", "inputs", "noted"), [(True, "y", True), (True, ABSENT, False), (False, "y", False)]
)
def test_absence_is_noted_where_a_hook_would_derive_something_of_what_the_writer_cannot_see(
    hooked, inputs, noted
):
    def beside_secret(stored):
        return (stored.secret,)

    def bag(value):
        entry = NoEntry(value)
        entry.stashing = Stashing(beside_secret, None, hooked, ())
        return {"x": {"v1": entry}}

    stored = Named(name="a", secret=inputs)
    before, after = (
        Named(name="a", property_bag=bag("had")),
        Named(name="b", property_bag=bag(ABSENT)),
    )
    found = merge(stored, before, after).property_bag
    assert found == ({"x": {"v1": Entry(ABSENT, digest(("y",)))}} if noted else ABSENT)


@pytest.mark.parametrize(
    ("beside", "mine", "edited", "is_renewed"),
    [
        ("now", ["mine"], True, False),
        ("then", ["mine"], True, True),
        ("then", ["mine"], False, False),
        ("then", "mine", True, False),
    ],
)
def test_what_a_hook_made_is_its_writers_own_once_a_stale_entry_has_it_elsewhere(
    beside, mine, edited, is_renewed
):
    """It may follow from another entry of a hook that the edit changes, if it has parts."""

    def named(name):
        stashing = Stashing(lambda stored: (stored.secret,), hooked=True, aliases=(("x", "v2"),))
        made = made_entry(mine, ABSENT, stashing)
        other = made_entry(name, ABSENT, Stashing(hooked=edited))
        return Named(property_bag={"x": {"v1": made}, "y": {"v1": other}})

    known = Entry("theirs", digest((beside,)))
    stored = Named(secret="now", property_bag={"x": {"v2": known}})
    found = merge(stored, named("a"), named("b")).property_bag
    renewed = {"v1": Entry(mine, digest(("now",)))}
    assert found["x"] == (renewed if is_renewed else {"v2": known})


def test_a_stale_entry_that_its_writer_leaves_stays_as_it_is_where_no_hook_made_it():
    def named(name):
        stashing = Stashing(lambda stored: (stored.secret,))
        made, other = made_entry("mine", ABSENT, stashing), made_entry(name, ABSENT, Stashing())
        return Named(property_bag={"x": {"v1": made}, "y": {"v1": other}})

    known = Entry("theirs", digest(("then",)))
    stored = Named(secret="now", property_bag={"x": {"v1": known}})
    found = merge(stored, named("a"), named("b")).property_bag
    assert found == {"x": {"v1": known}, "y": {"v1": Entry("b")}}


class Counted(msgspec.Struct):
    """How an earlier version has a port in its entry."""

    count: int
    secret: str | Absent = ABSENT


def ported(value):
    return Port(number=value.count, secret=value.secret)


ELSEWHERE = (BagEntry("x", "v1", Counted, ported), ("x", "v2"), BagEntry("x", "v4", Port))


def seen(number, note, witness=None):
    """What a writer has in an entry that may be elsewhere."""
    value = ABSENT if number is None else Port(number=number)
    made = made_entry(value, ABSENT, Stashing(witness, aliases=ELSEWHERE))
    other = made_entry(note, ABSENT, Stashing())
    return Named(property_bag={"x": {"v3": made}, "y": {"v3": other}})


def raw(value):
    return msgspec.Raw(msgspec.json.encode(value))


@pytest.mark.parametrize(
    ("known", "secret"),
    [
        ({"v1": raw(Counted(1, "s"))}, "s"),
        ({"v1": Counted(1, "s")}, "s"),
        ({"v2": Port(number=1, secret="s")}, "s"),
        ({"v4": raw(Port(number=1, secret="s"))}, "s"),
        ({"v1": raw(Counted(1, "s")), "v2": Port(number=1, secret="t")}, "s"),
        ({"v2": Port(number=1, secret="s"), "v4": Port(number=1, secret="t")}, "s"),
        ({"v3": Port(number=1, secret="s"), "v1": raw(Counted(1, "t"))}, "s"),
        ({"v3": Port(number=1), "v2": Port(number=1, secret="t")}, ABSENT),
    ],
)
def test_an_edit_takes_an_entry_from_wherever_it_is(known, secret):
    """The first place that has it counts; what the writer cannot see of it stays, and it is at one place from then on."""
    stored = Named(property_bag={"x": {version: Entry(each) for version, each in known.items()}})
    found = merge(stored, seen(1, "a"), seen(2, "b")).property_bag
    assert found == {"x": {"v3": Entry(Port(number=2, secret=secret))}, "y": {"v3": Entry("b")}}


@pytest.mark.parametrize(("beside", "secret"), [("now", "s"), ("then", ABSENT)])
@pytest.mark.parametrize("place", ["v1", "v2"])
def test_an_entry_that_is_elsewhere_is_built_on_where_it_is_current(place, beside, secret):
    value = Counted(1, "s") if place == "v1" else Port(number=1, secret="s")
    known = Entry(value, digest((beside,)))
    stored = Named(secret="now", property_bag={"x": {place: known}})
    one, other = (seen(number, "a", lambda stored: (stored.secret,)) for number in (1, 2))
    entry = Entry(Port(number=2, secret=secret), digest(("now",)))
    assert merge(stored, one, other).property_bag["x"] == {"v3": entry}


def test_what_an_entry_elsewhere_has_absent_is_absent_in_any_shape():
    stored = Named(property_bag={"x": {"v1": Entry(ABSENT)}})
    found = merge(stored, seen(None, "a"), seen(2, "a")).property_bag
    assert found["x"] == {"v3": Entry(Port(number=2))}


def test_an_entry_elsewhere_that_cannot_be_read_is_an_error_about_the_stored_object():
    stored = Named(property_bag={"x": {"v1": Entry(msgspec.Raw(b'"text"'))}})
    with pytest.raises(BagError, match="the entry 'x' of version v1") as caught:
        merge(stored, seen(1, "a"), seen(2, "a"))
    assert caught.value.holder is stored


def test_elements_of_a_derived_list_give_way_to_new_ones_with_their_declared_keys():
    """The writer needs no entry by itself, and is not shown the element that the list is derived with."""
    shown, hidden = Port(host="a", number=1), Port(host="b", number=2, secret="s")
    added = Port(host="b", number=2)

    def derived(stored):
        return {"one": [shown, hidden], "both": [added]}.get(stored.note, [])

    def server(note, ports):
        mark = NoEntry(ports)
        mark.stashing = Stashing(None, derived)
        return Server(note=note, property_bag={"ports": {"v1": mark}})

    found = merge(Server(note="one"), server("one", [shown]), server("two", [shown, added]))
    assert found.property_bag == {"ports": {"v1": Entry([shown, hidden])}}


def test_free_form_data_in_an_entry_keeps_what_its_writer_cannot_see():
    def named(text):
        value = msgspec.Raw(text)
        return Named(property_bag={"x": {"v1": made_entry(value, ABSENT, Stashing())}})

    found = merge(named(b'{"a":1,"h":1.10}'), named(b'{"a":1}'), named(b'{"a":2}')).property_bag
    assert bytes(found["x"]["v1"].value) == b'{"a":2,"h":1.10}'


def in_entry(value, **noted):
    return Server(property_bag={"ports": {"v1": made_entry(value, ABSENT, Stashing(**noted))}})


@pytest.mark.parametrize("read", [False, True])
def test_a_list_that_its_writer_left_out_of_an_entry_is_added_to_what_the_entry_has(read):
    had, added = Port(host="a", number=1), Port(host="b", number=2)
    known = msgspec.Raw(msgspec.json.encode([had])) if read else [had]
    found = merge(in_entry(known), in_entry(ABSENT), in_entry([added])).property_bag
    assert found == {"ports": {"v1": Entry([added, had])}}
    same_key = Port(host="a", number=1, secret="new")
    found = merge(in_entry(known), in_entry(ABSENT), in_entry([same_key])).property_bag
    assert found == {"ports": {"v1": Entry([same_key])}}


def test_elements_of_an_entry_are_found_by_the_declared_keys_of_its_property():
    one, other = {"host": "a", "number": 1}, {"host": "b", "number": 2}
    stored = [{**one, "hidden": "1"}, {**other, "hidden": "2"}]
    after = [{**other, "note": "new"}, {**one, "note": "new"}]
    found = merge(in_entry(stored), in_entry([one, other]), in_entry(after)).property_bag
    expected = [{**after[0], "hidden": "2"}, {**after[1], "hidden": "1"}]
    assert msgspec.json.decode(found["ports"]["v1"].value) == expected


def test_an_element_that_is_removed_from_an_entry_is_found_by_its_class():
    stored = msgspec.Raw(b'[{"number":1,"secret":"s"},"text"]')
    found = merge(in_entry(stored), in_entry([Port(number=1)]), in_entry([])).property_bag
    assert found == {"ports": {"v1": Entry(["text"])}}


@pytest.mark.parametrize(
    ("derived", "old", "new", "expected"),
    [
        (b'[{"number":1,"secret":"s"},"text"]', [Port(number=1)], [], ["text"]),
        (
            b'[{"host":"a","number":1,"secret":"s"}]',
            [],
            [Port(host="a", number=1)],
            [Port(host="a", number=1, secret="s")],
        ),
    ],
)
def test_elements_of_a_list_that_is_derived_are_read_as_those_before_and_after_the_edit(
    derived, old, new, expected
):
    before, after = (in_entry(each, derived=lambda _: msgspec.Raw(derived)) for each in (old, new))
    found = merge(Server(), before, after).property_bag
    assert found == {"ports": {"v1": Entry(expected)}}


def beside_labels(value, beside, note=ABSENT, derived=None):
    stashing = Stashing(lambda stored: (stored.labels,), derived)
    return Server(note=note, property_bag={"x": {"v1": made_entry(value, beside, stashing)}})


def test_an_entry_of_another_kind_gives_way_to_what_its_writer_has():
    stored = beside_labels(msgspec.Raw(b'"text"'), None)
    before, after = beside_labels(["a"], "1", "one"), beside_labels(["a"], "2", "two")
    assert merge(stored, before, after).property_bag == {"x": {"v1": Entry(["a"], None)}}


def test_a_derived_value_of_another_kind_gives_way_to_what_the_writer_has():
    before, after = (beside_labels("text", each, each, lambda _: ["a"]) for each in "12")
    assert merge(Server(), before, after).property_bag == {"x": {"v1": Entry("text", None)}}


def test_free_form_data_that_is_derived_keeps_what_its_writer_cannot_see():
    def named(text):
        stashing = Stashing(derived=lambda stored: msgspec.Raw(b'{"a":1,"h":1.10}'))
        return Named(property_bag={"x": {"v1": made_entry(msgspec.Raw(text), ABSENT, stashing)}})

    found = merge(Named(), named(b'{"a":1}'), named(b'{"a":2}')).property_bag
    assert bytes(found["x"]["v1"].value) == b'{"a":2,"h":1.10}'


def test_a_key_that_is_in_the_bag_is_found_there():
    from trundle.runtime import stash

    one, other = Port(number=1), Port(number=2)
    stash(one, ("name", "v1"), "a")
    stash(other, ("name", "v1"), "b")
    assert match([one, other], [other, one]) == [1, 0]


def test_stored_elements_are_aligned_to_what_a_writer_sees_of_them():
    stored = [Port(host="a", number=1, secret="s1"), Port(host="b", number=2, secret="s2")]

    def view(each):
        return {"host": each.host, "number": each.number}

    values = [{"host": "b", "number": 2}, {"host": "c", "number": 3}]
    assert aligned(values, stored, view, ("host", "number")) == [stored[1], None]
    assert aligned(values, ABSENT, view) == [None, None]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["a", "b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner),
    max_leaves=8,
)


@given(JSON, JSON, JSON)
def test_merging_changes_none_of_its_inputs(stored, before, after):
    kept = copy.deepcopy((stored, before, after))
    merge(stored, before, after)
    assert (stored, before, after) == kept


@given(JSON, JSON)
def test_without_an_edit_the_stored_value_stays(stored, seen):
    assert merge(stored, seen, copy.deepcopy(seen)) is stored


@given(JSON, JSON)
def test_a_writer_who_sees_everything_gets_what_they_write(stored, after):
    result = merge(stored, stored, after)
    assert msgspec.json.encode(result) == msgspec.json.encode(after)


@given(st.lists(st.sampled_from("abc")), st.lists(st.sampled_from("abcd")))
def test_no_element_is_matched_twice(ours, theirs):
    found = match(ours, theirs)
    places = [place for place in found if place is not None]
    assert len(found) == len(ours)
    assert len(set(places)) == len(places)
    assert all(0 <= place < len(theirs) for place in places)


@given(st.lists(st.sampled_from("abcHIJ"), unique=True), st.permutations("abc"))
def test_hidden_elements_survive_any_edit_exactly_once(stored, after):
    before = [each for each in stored if each.islower()]
    result = merge_lists(stored, before, list(after), ())
    assert [each for each in result if each.islower()] == list(after)
    hidden = [each for each in stored if each.isupper()]
    assert sorted(each for each in result if each.isupper()) == sorted(hidden)
