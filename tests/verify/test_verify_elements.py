"""The oracle names elements of lists where there is no doubt which is which, and follows them to other versions."""

from typing import Any

import pytest
from evolving import parse_schema

from trundle.verify.oracle import World, stays
from trundle.verify.oracle._elements import Element, named, named_path

V1, V2, V3 = "2020-01-01", "2021-01-01", "2022-01-01"
MOVE = {"move": {"p.l": "l", "p.k": "k"}}


def world(shape: str = "[E]", rules: dict[str, Any] = MOVE, **names: str) -> World:
    """The last version has beside an object what the second has in it; the first knows nothing of a part of that."""
    types: dict[str, dict[str, Any]] = {
        V1: {"E": {"p": "P", **names}, "P": {"k": "string"}},
        V2: {"E": {"p": "P", **names}, "P": {"k": "string", "l": "string"}},
        V3: {"E": {"k": "string", "l": "string", **names}},
    }
    schemas = {
        version: parse_schema(version, {"Thing": {"es": shape}, **each})
        for version, each in types.items()
    }
    return World(schemas, V2, rules={(V2, "E"): rules})


def names_of(one: list[Any] | None, other: list[Any] | None, shape: str = "[E]") -> Any:
    """What the elements of a list are called before an edit; the list where that is not sure."""
    known = world(shape, name="string", tag="string")
    found, _ = named(known, known.root(V1), ({"es": one}, {"es": other}))
    listed = found["es"]
    return [(*each.names, *each.values) for each in listed] if isinstance(listed, dict) else listed


A, B = {"name": "A"}, {"name": "b"}
X, Y, Z = {"p": {"k": "x"}}, {"p": {"k": "y"}}, {"p": {"k": "z"}}


def test_elements_are_named_by_their_declared_keys() -> None:
    ours = [{"tag": "A", "name": "n"}, {"tag": "b", "name": "n"}]
    assert names_of(ours, ours, "[E;tag]") == [("tag", "a"), ("tag", "b")]
    assert names_of([A, B], [A, B], "[E;tag]") == [A, B]


@pytest.mark.parametrize("after", [[A, B], [B, A], [B], [], [A, B, {"name": "c"}], None])
def test_elements_are_named_by_a_key_property(after: list[Any] | None) -> None:
    assert names_of([A, B], after) == [("name", "a"), ("name", "b")]


def test_an_element_beside_which_another_one_is_new_may_be_that() -> None:
    assert names_of([A, B], [A, {"name": "c"}]) == [A, B]


def test_elements_without_names_are_named_by_their_places_where_one_of_them_changes() -> None:
    assert names_of([X, Y], [X, Z]) == [(0, 2), (1, 2)]
    for after in ([Z, {}], [Y, X], [X], [Y, Y], [X, A]):
        assert names_of([X, Y], after) == [X, Y]


def test_a_path_has_names_only_where_both_views_agree() -> None:
    a, b = Element(("name",), ("a",)), Element(("name",), ("b",))
    views = {"es": {a: A, b: B}}, {"es": {a: A}}
    assert named_path(views, ("es", 0, "p")) == ("es", a, "p")
    assert named_path(views, ("es", 1)) == ("es", b)
    assert named_path((views[0], {"es": {b: B}}), ("es", 0)) is None
    assert named_path(({"es": [A]}, {"es": [A]}), ("es", 0)) is None


def element(name: str | None, **members: Any) -> dict[str, Any]:
    return members if name is None else {"name": name, **members}


def stays_in(
    known: World, before: list[Any], after: list[Any], seen: list[Any], place: int, *, by: str = V1
) -> bool | None:
    """Whether the last version goes on to have `l` in an element after an edit of another version."""
    edit = (by, {"es": before}, {"es": after})
    return stays(known, edit, (V3, {"es": seen}, {"es": seen}), ("es", place, "l"))


@pytest.mark.parametrize("key", ["name", None])
def test_what_a_version_has_outside_of_an_object_stays_in_its_element(key: str | None) -> None:
    known = world(**{} if key is None else {key: "string"})
    one, other = (None, None) if key is None else ("a", "b")
    before = [element(one, p={"k": "x"}), element(other, p={"k": "y"})]
    after = [element(one), element(other, p={"k": "y"})]
    seen = [element(one, k="x", l="1"), element(other, k="y", l="2")]
    assert stays_in(known, before, after, seen, 0) is True
    assert stays_in(known, before, before, seen, 0) is None


def test_all_of_a_removed_element_goes_and_all_of_the_others_stays() -> None:
    known = world(name="string")
    before, seen = [element("a"), element("b")], [element("a", l="1"), element("b", l="2")]
    assert stays_in(known, before, [element("b")], seen, 0) is False
    assert stays_in(known, before, [element("b")], seen, 1) is True


def test_elements_whose_names_a_rule_changes_are_not_followed() -> None:
    known = world(rules={**MOVE, "values": {"name": {"a": "b"}}}, name="string")
    before, seen = [element("a", p={})], [element("b", l="1")]
    assert stays_in(known, before, [element("a")], seen, 0, by=V2) is None


def test_what_is_named_otherwise_may_be_any_element() -> None:
    known = world(name="string", key="string")
    before, seen = [{"name": "a", "p": {}}], [{"key": "k", "l": "1"}]
    assert stays_in(known, before, [{"name": "a"}], seen, 0, by=V2) is None


def test_a_null_may_go_with_an_object_that_is_there_only_because_of_it() -> None:
    known = world()
    edit = V1, {"es": [{"p": {}}]}, {"es": [{}]}
    for value, expected in (("1", True), (None, None)):
        seen = {"es": [{"l": value}]}
        assert stays(known, edit, (V3, seen, seen), ("es", 0, "l")) is expected
