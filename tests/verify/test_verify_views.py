"""What an edit may change in what another version sees."""

from typing import Any

import pytest
from verify_things import Stored

from trundle.verify._broken import differences
from trundle.verify._tree_edits import without_one_object, without_one_scalar
from trundle.verify._views import Edit, changed_wrongly

SEEN = {"o": {"a": 1}, "b": 2}
EDITED = {"o": {"a": 3}, "b": 2}
"""What the writer reads and writes, unless a test says otherwise."""


def wrong(
    before: Any, after: Any, was: Any, becomes: Any, *, lists: bool = False, **more: Any
) -> list[Any]:
    made = tuple(differences(more.pop("seen", SEEN), more.pop("edited", EDITED)))
    edit = Edit(before, after, was, becomes, made, Stored, {}, **more)
    return [path for path, _, _ in changed_wrongly(edit, lists=lists, hooks=False)]


def test_an_edit_is_seen() -> None:
    assert wrong(SEEN, EDITED, SEEN, EDITED) == []
    assert wrong(SEEN, SEEN, SEEN, EDITED) == [("o", "a")]


def test_what_the_writer_cannot_see_stays() -> None:
    hidden = {"o": {"a": 1, "h": 4}, "b": 2}
    kept = {"o": {"a": 3, "h": 4}, "b": 2}
    assert wrong(hidden, kept, SEEN, EDITED) == []
    assert wrong(hidden, EDITED, SEEN, EDITED) == [("o", "h")]
    assert wrong(hidden, {**kept, "b": 5}, SEEN, EDITED) == [("b",)]


def test_a_removal_is_seen() -> None:
    edited = {"o": {}, "b": 2}
    assert wrong(SEEN, edited, SEEN, edited, edited=edited) == []
    assert wrong(SEEN, SEEN, SEEN, edited, edited=edited) == [("o", "a")]
    again = {"o": {"a": 9}, "b": 2}
    assert wrong(SEEN, again, SEEN, edited, edited=edited) == []  # an entry that is current again


def test_what_the_writer_cannot_see_of_an_object_stays_where_all_else_of_it_goes() -> None:
    """The writer has `x` beside the object in which the version has it."""
    before, alone, gone = {"o": {"x": 1, "k": 3}, "b": 2}, {"o": {"x": 1}, "b": 2}, {"b": 2}
    took = {"seen": {"x": 1, "b": 2}, "edited": {"b": 2}}
    assert wrong(before, {"o": {"k": 3}, "b": 2}, alone, gone, **took) == []
    assert wrong(before, gone, alone, gone, **took) == [("o", "k")]
    assert wrong(before, gone, alone, gone, seen=alone, edited=gone) == []  # the object itself


def test_one_scalar_after_the_other_is_left_out_of_objects_within() -> None:
    value = {"a": 1, "o": {"x": 1, "name": "n", "l": [{"y": 2, "z": 3}, 4]}}
    x, y, z = (
        {"a": 1, "o": {"name": "n", "l": [{"y": 2, "z": 3}, 4]}},
        {"a": 1, "o": {"x": 1, "name": "n", "l": [{"z": 3}, 4]}},
        {"a": 1, "o": {"x": 1, "name": "n", "l": [{"y": 2}, 4]}},
    )
    assert [*without_one_scalar(value, 0)] == [x, y, z]
    assert [*without_one_scalar(value, 4)] == [y, z, x]
    assert [*without_one_scalar({"a": 1}, 0)] == []


@pytest.mark.parametrize(("apart", "places"), [(True, []), (False, [("o", "x")])])
def test_an_edit_within_a_namesake_makes_all_of_the_other_object_stale(
    apart: bool, places: list[Any]
) -> None:
    """The version has an object of the same name that has nothing to do with the edited one."""
    before, after, alone = {"o": {"x": 7}, "b": 2}, {"o": {"x": 0}, "b": 2}, {"o": {"x": 0}, "b": 2}
    found = wrong(before, after, alone, alone, apart=lambda path: apart and path == ("o",))
    assert found == places


def test_an_edit_beside_a_namesake_makes_nothing_stale() -> None:
    alone, edited = {"b": 2}, {"o": {"a": 1}, "b": 3}
    before, after = {"o": {"x": 7}, "b": 2}, {"o": {"x": 0}, "b": 3}
    found = wrong(before, after, alone, {"b": 3}, edited=edited, apart=lambda path: path == ("o",))
    assert found == [("o", "x")]


NAMES = ("x", "y", "z")
LOST = [("l", 0, "h"), ("l", 1, "h")]


@pytest.mark.parametrize(
    ("edited", "named", "places"),
    [
        ([0, 1], False, []),
        ([0, 2], False, LOST),
        ([1], False, LOST),
        ([0, 1], True, LOST),
    ],
)
def test_elements_side_by_side_that_nothing_identifies_may_lose_what_is_hidden(
    edited: list[int], named: bool, places: list[Any]
) -> None:
    """The version sees nothing of the edit, but what the first two elements have beside what the writer sees is gone."""

    def elements(**members: Any) -> list[Any]:
        return [{**({"name": each} if named else {}), **members} for each in NAMES]

    seen = elements(a=1)
    changed = [{**each, "a": 2} if place in edited else each for place, each in enumerate(seen)]
    before = {"l": [{**each, "h": 7} for each in elements()]}
    after = {"l": [*elements()[:2], before["l"][2]]}
    alone = {"l": elements()}
    assert wrong(before, after, alone, alone, seen={"l": seen}, edited={"l": changed}) == places


@pytest.mark.parametrize(("key", "places"), [("q", []), ("p", [("l", "h")])])
def test_the_first_element_of_a_list_may_lose_what_is_hidden_where_it_becomes_another(
    key: str, places: list[Any]
) -> None:
    """The version has the first element of the writer's list as a single object."""
    seen, edited = {"l": [{"name": "p", "a": 1}]}, {"l": [{"name": key, "a": 2}]}
    was, becomes = {"l": {"name": "p"}}, {"l": {"name": key}}
    before = {"l": {"name": "p", "h": 7}}
    assert wrong(before, becomes, was, becomes, seen=seen, edited=edited) == places


def test_one_object_after_the_other_is_left_out_of_elements() -> None:
    value = {"o": {"p": {}}, "l": [{"p": {"q": {}}, "x": 1}]}
    p, q = ({"o": {"p": {}}, "l": [each]} for each in ({"x": 1}, {"p": {}, "x": 1}))
    assert [*without_one_object(value, 0)] == [p, q]
    assert [*without_one_object(value, 3)] == [q, p]
    assert [*without_one_object({"o": {"p": {}}}, 0)] == []


def test_elements_that_nothing_names_are_matched_by_place_where_one_of_them_changes() -> None:
    """What the version has in an element beside what the edit takes away is lost."""

    def lost(*ours: dict[str, Any]) -> list[Any]:
        """Of a list in which the writer takes `x` from the first element."""
        seen = {"l": [*ours, {"x": 2}]}
        edited = {"l": [{k: v for k, v in ours[0].items() if k != "x"}, {"x": 2}]}
        before = {"l": [{**ours[0], "z": 3}, {"x": 2}]}
        return wrong(before, edited, seen, edited, seen=seen, edited=edited, lists=True)

    assert lost({"x": 1}) == [("l", 0, "z")]
    assert lost({"x": 1, "name": ""}) == []
