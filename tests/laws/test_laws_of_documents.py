"""What people expect of documents, case by case: the laws in examples that can be read."""

from collections.abc import Callable

import pytest
from cases import A2, ITEM, ITEM2, KEYS, LEVEL, P2, V1, V2, V3, V4, A, B, C, thing
from evolving import rules

from trundle.runtime import Scheme

Take = Callable[[Scheme], Scheme]


def with_items(one: dict[str, str], other: dict[str, str], keys: str = "") -> dict[str, object]:
    return {
        V1: thing(b=f"[Item{keys}]") | {"Item": {**one, "x": "string"}},
        V2: thing(b=f"[Item{keys}]") | {"Item": {**other, "y": "string"}},
    }


def test_elements_of_a_list_that_a_version_lacks_keep_their_places(store) -> None:
    x = store({V1: thing(u="[A|B]") | A | B, V2: thing(u="[A|C]") | A2 | C})
    x.put(V1, u=[{"kind": "b", "y": "1"}, {"kind": "a", "x": "1"}, {"kind": "b", "y": "2"}])
    assert x.read(V2) == {"u": [{"kind": "a", "x": "1"}]}
    x.edit(V2, u=[{"kind": "a", "x": "2"}])
    assert x.read(V1)["u"] == [
        {"kind": "b", "y": "1"},
        {"kind": "a", "x": "2"},
        {"kind": "b", "y": "2"},
    ]


@pytest.mark.full
def test_a_version_removes_what_it_sees_of_a_list_and_nothing_else(store) -> None:
    x = store({V1: thing(u="[A|B]") | A | B, V2: thing(u="[A|C]") | A2 | C})
    x.put(V2, u=[{"kind": "a", "z": "hidden"}, {"kind": "c"}]).put(V1, u=[])
    assert x.read(V1) == {"u": []}
    assert x.read(V2) == {"u": [{"kind": "c"}]}


@pytest.mark.full
def test_what_a_writer_adds_stands_beside_what_only_others_see_of_a_list(store) -> None:
    x = store(
        {
            V1: thing(u="[A]") | A,
            V2: thing(u="[A|B]") | A | B,
            V3: thing(u="[A|B|C]") | A | B | C,
        }
    )
    x.put(V3, u=[{"kind": "b", "y": "1"}]).edit(V1, u=[{"kind": "a", "x": "1"}])
    both = [{"kind": "b", "y": "1"}, {"kind": "a", "x": "1"}]
    assert [x.read(version)["u"] for version in (V2, V3)] == [both, both]


def test_an_element_that_storage_lacks_leaves_what_the_writer_cannot_see_of_the_others(
    store,
) -> None:
    more = {"A": {**A["A"], "more": "string"}}
    x = store(
        {
            V1: thing(u="[A|B]") | A | B,
            V2: thing(u="[A|B]") | A | more | B,
            V3: thing(u="[A]") | A | more,
        }
    )
    x.put(V3, u=[{"kind": "a", "more": "1"}])
    x.edit(V1, u=[{"kind": "b", "y": "1"}, {"kind": "a"}])
    assert x.read(V2)["u"] == [{"kind": "b", "y": "1"}, {"kind": "a", "more": "1"}]


@pytest.mark.full
def test_what_a_writer_changes_of_a_variant_leaves_what_only_others_see_of_it(store) -> None:
    more = {"A": {**A["A"], "more": "string"}}
    x = store(
        {
            V1: thing(u="A|B") | A | B,
            V2: thing(u="A|B|C") | A | more | B | C,
            V3: thing(u="A|C") | A | more | C,
        }
    )
    x.put(V3, u={"kind": "a", "more": "1"}).edit(V1, u={"kind": "a", "x": "1"})
    for version in (V2, V3):
        assert x.read(version)["u"] == {"kind": "a", "x": "1", "more": "1"}


def test_elements_that_do_not_fit_stay(store) -> None:
    x = store({V1: thing(u="[number]"), V2: thing(u="[integer]")}).put(V1, u=[1.5, 2, 3])
    assert x.read(V2) == {"u": [2, 3]}
    assert x.edit(V2, u=[2, 3, 4]).read(V1) == {"u": [1.5, 2, 3, 4]}


def test_members_that_do_not_fit_stay(store) -> None:
    x = store({V1: thing(m="{number}"), V2: thing(m="{integer}")}).put(V1, m={"a": 1.5, "b": 2})
    assert x.read(V2) == {"m": {"b": 2}}
    assert x.edit(V2, m={"b": 3}).read(V1) == {"m": {"b": 3, "a": 1.5}}


def test_null_is_shown_to_no_version_that_does_not_know_it(store) -> None:
    x = store({V1: thing(b="[string?]"), V2: thing(b="[string]")}).put(V1, b=[None, "a"])
    assert x.read(V2) == {"b": ["a"]}
    assert x.read(V1) == {"b": [None, "a"]}


@pytest.mark.parametrize("declared", [False, True])
def test_data_stays_with_the_element_of_its_key(store, declared: bool) -> None:
    one = KEYS if declared else {"name!": "string"}

    def key(number: int) -> dict[str, object]:
        return {"port": number, "proto": "tcp"} if declared else {"name": f"n{number}"}

    x = store(with_items(one, one, ";port,proto" if declared else ""))
    x.put(V1, b=[{**key(n), "x": str(n)} for n in (1, 2, 3)])
    x.edit(V2, b=[{**key(3), "y": "3"}, {**key(4), "y": "4"}, key(1)])
    assert x.read(V1) == {"b": [{**key(3), "x": "3"}, key(4), {**key(1), "x": "1"}]}
    assert x.read(V2) == {"b": [{**key(3), "y": "3"}, {**key(4), "y": "4"}, key(1)]}


@pytest.mark.parametrize(
    ("edited", "seen"),
    [
        (["1", "22", "3"], [("1", "1"), ("22", "2"), ("3", "3")]),
        (["3", "1", "2"], [("3", "3"), ("1", "1"), ("2", "2")]),
        (["new", "1", "2", "3"], [("new", None), ("1", "1"), ("2", "2"), ("3", "3")]),
        (["1", "new", "2", "3"], [("1", "1"), ("new", None), ("2", "2"), ("3", "3")]),
        (["1", "3"], [("1", "1"), ("3", "3")]),
        (["p", "q"], [("p", None), ("q", None)]),
    ],
)
def test_without_keys_data_stays_with_equal_elements_and_those_alone_between_them(
    store, edited: list[str], seen: list[tuple[str, str | None]]
) -> None:
    x = store(with_items({"v": "string"}, {"v": "string"}))
    x.put(V1, b=[{"v": n, "x": n} for n in ("1", "2", "3")])
    x.edit(V2, b=[{"v": value} for value in edited])
    assert x.read(V1)["b"] == [
        {"v": value} if hidden is None else {"v": value, "x": hidden} for value, hidden in seen
    ]


def test_a_key_that_the_writer_does_not_see_misleads_no_version(store) -> None:
    x = store(with_items({"name": "string", "v": "string"}, {"v": "string"}))
    x.put(V1, b=[{"name": "a", "v": "1", "x": "1"}, {"name": "b", "v": "2", "x": "2"}])
    x.edit(V2, b=[{"v": "2"}, {"v": "1"}])
    assert x.read(V1)["b"] == [
        {"name": "b", "v": "2", "x": "2"},
        {"name": "a", "v": "1", "x": "1"},
    ]


def test_recursion_keeps_data_with_its_element_on_every_level(store) -> None:
    node = {"name": "string", "kids": "[Node]"}
    x = store(
        {
            V1: thing(n="Node") | {"Node": {**node, "x": "string"}},
            V2: thing(n="Node") | {"Node": {**node, "y": "string"}},
        }
    )
    deep = {"name": "a", "x": "1", "kids": [{"name": "aa", "x": "2"}]}
    x.put(V1, n={"name": "r", "x": "0", "kids": [deep, {"name": "b", "x": "3"}]})
    kids = [{"name": "b", "y": "!"}, {"name": "a", "kids": [{"name": "aa"}]}]
    x.edit(V2, n={"name": "r", "kids": kids})
    assert x.read(V1)["n"] == {"name": "r", "x": "0", "kids": [{"name": "b", "x": "3"}, deep]}


def test_maps_keep_order_and_data_of_their_keys(store) -> None:
    x = store(
        {
            V1: thing(m="{Item}") | {"Item": {"x": "string"}},
            V2: thing(m="{Item}") | {"Item": {"y": "string"}},
        }
    )
    x.put(V1, m={"b": {"x": "1"}, "a": {"x": "2"}, "$unknown": {"x": "3"}})
    x.edit(V2, m={"a": {"y": "9"}, "c": {}, "b": {}})
    assert x.read(V1) == {"m": {"a": {"x": "2"}, "c": {}, "b": {"x": "1"}}}
    assert list(x.read(V1)["m"]) == ["a", "c", "b"]


def test_a_wrapped_object_is_the_first_element_whatever_it_holds(store) -> None:
    x = store(
        {
            V1: thing(a="Item") | {"Item": {"x": "string", "z": "string"}},
            V2: thing(b="[Item]") | {"Item": {"y": "string", "z": "string"}},
        },
        rules(V1, wrap={"a": "b"}),
    )
    x.put(V2, b=[{"y": "1", "z": "p"}, {"z": "p"}]).edit(V1, a={"x": "new", "z": "p"})
    assert x.read(V1) == {"a": {"x": "new", "z": "p"}}
    assert x.read(V2) == {"b": [{"y": "1", "z": "p"}, {"z": "p"}]}


def test_a_property_that_skips_versions_is_one_object(store) -> None:
    versions = {V1: thing(a="Item") | ITEM, V2: thing(a="string"), V3: thing(a="Item") | ITEM2}
    x = store(versions).put(V1, a={"x": "1"})
    assert x.read(V3) == {"a": {"x": "1"}}
    assert x.edit(V3, a={"x": "1", "y": "2"}).read(V1) == {"a": {"x": "1"}}
    assert x.edit(V1, a={"x": "3"}).read(V3) == {"a": {"x": "3", "y": "2"}}
    assert x.edit(V2, a="text").read(V2) == {"a": "text"}
    assert x.read(V1) == {"a": {"x": "3"}}


@pytest.mark.full
def test_a_list_in_the_bag_is_written_by_all_that_know_it(store) -> None:
    one, two = {"name": "string", "x": "string"}, {"name": "string", "y": "string"}
    x = store(
        {
            V1: thing(a="[Item]") | {"Item": one},
            V2: thing(b="string"),
            V3: thing(a="[Item]") | {"Item": two},
            V4: thing(b="string"),
        }
    ).put(V1, a=[{"name": "1", "x": "1"}, {"name": "2", "x": "2"}])
    assert x.read(V3) == {"a": [{"name": "1"}, {"name": "2"}]}
    x.edit(V3, a=[{"name": "2", "y": "2"}, {"name": "1"}])
    assert x.read(V1) == {"a": [{"name": "2", "x": "2"}, {"name": "1", "x": "1"}]}
    assert x.read(V3) == {"a": [{"name": "2", "y": "2"}, {"name": "1"}]}
    assert x.read(V4) == {}


def test_a_namesake_is_not_shown_once_the_other_has_changed(store) -> None:
    x = store({V1: thing(a="string"), V2: thing(a="integer")}).put(V1, a="old")
    assert x.read(V2) == {}
    assert x.edit(V2, a=1).read(V1) == {}
    assert x.edit(V1, a="new").read(V2) == {"a": 1}
    assert x.read(V1) == {"a": "new"}
    assert x.edit(V2, a=3).read(V1) == {}
    assert x.put(V1).read(V2) == {"a": 3}


def test_removing_a_value_does_not_bring_back_an_older_one(store) -> None:
    changes = rules(V1, convert={"a": "string-to-integer"})
    x = store({V1: thing(a="string"), V2: thing(a="integer")}, changes)
    x.put(V1, a="x").edit(V2, a=5)
    assert x.read(V1) == {"a": "5"}
    assert x.put(V1).read(V1) == {}


@pytest.mark.full
def test_what_accompanied_a_stale_value_is_stale_too(store) -> None:
    x = store({V1: thing(u="string|integer"), V2: thing(u="string|boolean"), V3: thing(u="string")})
    x.put(V2, u=False).edit(V1, u=0).edit(V3, u="new")
    assert x.read(V2) == {"u": "new"}
    assert x.read(V1) == {"u": "new"}


def test_writing_an_empty_map_over_a_stale_one_is_seen(store) -> None:
    x = store({V1: thing(m="{string?}"), V2: thing(m="{string}")})
    x.put(V1, m={"a": None}).put(V2)
    assert x.read(V1) == {}
    assert x.put(V1, m={}).read(V1) == {"m": {}}


def test_an_edit_leaves_the_entries_of_other_versions_alone(store) -> None:
    x = store(
        {
            V1: thing(p="any", k="string"),
            V2: thing(p="string", k="string"),
            f"{V3}-preview": thing(p="{string}", k="string"),
        }
    ).put(f"{V3}-preview", p={"a": "b"})
    assert x.edit(V1, k="1").read(f"{V3}-preview") == {"p": {"a": "b"}, "k": "1"}


@pytest.mark.full
def test_an_enum_is_read_in_its_own_letter_case_and_kept_as_written(store) -> None:
    x = store({V1: thing(a="L", k="string") | LEVEL, V2: thing(a="string", k="string")})
    x.put(V2, a="gold")
    assert x.read(V1) == {"a": "Gold"}
    assert x.edit(V1, k="1").read(V2) == {"a": "gold", "k": "1"}
    assert x.edit(V1, a="Silver").read(V2) == {"a": "Silver", "k": "1"}
    assert x.put(V2, a="platinum").read(V1) == {"a": "platinum"}


def test_defaults_are_shown_and_never_stored(store) -> None:
    required = {"a!": ("string", "given"), "b!": "integer", "c!": "L", "d!": "[string]"}
    x = store({V1: thing(a="string"), V2: {"Thing": required, "L": ["x", "y"]}}).put(V1)
    assert x.read(V2) == {"a": "given", "b": 0, "d": []}
    assert x.stored == {"apiVersion": V2, "kind": "Thing", "$writtenWith": V1}


def test_configured_values_come_back_as_they_were(store) -> None:
    values = {"a": {"red": "warm", "orange": "warm", "blue": "cold"}}
    x = store({V1: thing(a="string"), V2: thing(a="string")}, rules(V1, values=values))
    x.put(V1, a="orange")
    assert (x.read(V2), x.read(V1)) == ({"a": "warm"}, {"a": "orange"})
    assert x.edit(V2, a="cold").read(V1) == {"a": "blue"}


def test_a_name_that_is_used_again_is_another_property(store) -> None:
    x = store(
        {V1: thing(a="string"), V2: thing(b="string"), V3: thing(a="integer", b="string")},
        rules(V1, rename={"a": "b"}),
    ).put(V1, a="1")
    assert x.read(V3) == {"b": "1"}
    x.edit(V3, a=5, b="2")
    assert (x.read(V1), x.read(V2)) == ({"a": "2"}, {"b": "2"})


def test_a_preview_s_property_is_the_ga_s_under_its_new_name(store) -> None:
    x = store(
        {V1: thing(a="string"), P2: thing(full="string"), V2: thing(legal="string")},
        rules(P2, rename={"full": "legal"}),
    ).put(P2, full="F")
    assert x.read(V2) == {"legal": "F"}
    assert x.edit(V2, legal="G").read(P2) == {"full": "G"}


def test_an_additional_property_that_gets_a_name_is_the_same(store) -> None:
    x = store(
        {
            V1: {"Thing": {"a": "string", "*": "string"}},
            V2: {"Thing": {"a": "string", "b": "string", "*": "string"}},
        }
    ).put(V1, a="1", b="2", c="3")
    assert x.read(V2) == {"a": "1", "b": "2", "c": "3"}
    assert x.edit(V2, b="9").read(V1) == {"a": "1", "b": "9", "c": "3"}


def test_unknown_properties_from_storage_are_carried_and_may_be_written_back(store) -> None:
    x = store({V1: thing(a="string", n="Item") | ITEM, V2: thing(a="string", n="Item") | ITEM2})
    seen = {"a": "1", "n": {"x": "1", "weird": [1]}, "odd": {"z": 1}}
    x.stored = {"apiVersion": V1, "kind": "Thing", "$writtenWith": V1, **seen}
    assert x.read(V2) == seen
    assert x.edit(V2, a="2").read(V1) == {**seen, "a": "2"}
