"""An edit that nothing but a stale entry hides is found, and a list that loses what the editor cannot see."""

from typing import Any

import pytest

from trundle.verify._broken import MISSING
from trundle.verify._oracle_laws import unseen, without_absent
from trundle.verify.oracle import Edited

ONE = {"a": [{"name": "x", "b": 1}]}
KEPT = {
    "a": [{"b": [], "w": 0}, {"b": [1], "w": 1}]
}  # The editor has a list of its own in place of `b`
SHOWN = {"a": [{"b": [], "w": 0}, {"b": [], "w": 1}]}
SWAPPED = {"a": [{"b": [], "w": 1}, {"b": [], "w": 0}]}
CHANGED = {"a": [{"b": [], "w": 0}, {"b": [], "w": 2}]}


@pytest.mark.parametrize(
    ("before", "was", "fresh", "found", "places"),
    [
        ({"a": 1}, {"a": 1}, {"a": 2}, {"a": 2}, []),
        ({"a": 1}, {"a": 1}, {"a": 2}, {"a": 1}, [("a",)]),
        ({"a": 1}, {"a": 1}, {}, {"a": 1}, [("a",)]),
        ({"a": 2}, {"a": 1}, {"a": 2}, {"a": 2}, []),
        ({"a": {}}, {"a": {"b": 0}}, {}, {"a": {}}, []),  # the editor required what was not there
        ({"a": {"b": 1}}, {}, {"a": {}}, {"a": {"b": 1}}, []),
        ({"a": {"b": 1}}, {}, {"a": {"c": 1}}, {"a": {"b": 1}}, [("a",)]),
        ({"a": [1, None]}, {"a": [1]}, {"a": []}, {"a": [None]}, []),
        ({"a": [{"b": 1}]}, {"a": [{"b": 1}]}, {"a": [{}]}, {"a": [{"b": 1}]}, [("a", 0, "b")]),
        (ONE, ONE, {"a": [{"name": "x"}]}, ONE, [("a", 0, "b")]),
        (ONE, ONE, {"a": [{"name": "y"}]}, {"a": [{"name": "y", "b": 1}]}, []),  # another element
        (ONE, ONE, {"a": [{}]}, ONE, [("a", 0, "name"), ("a", 0, "b")]),  # it may be the same one
        ({"a": [1]}, {"a": []}, {"a": [2]}, {"a": [1, 2]}, []),
        ({"a": [1]}, {"a": []}, {"a": [2]}, {"a": [2]}, [("a",)]),
        (KEPT, SHOWN, SWAPPED, {"a": [{"b": [1], "w": 1}, {"b": [], "w": 0}]}, []),
        (KEPT, SHOWN, SWAPPED, SWAPPED, []),  # two elements changed, so nothing says which is which
        (KEPT, SHOWN, CHANGED, CHANGED, [("a", 1, "b")]),
    ],
)
def test_places_that_do_not_show_an_edit(
    before: Any, was: Any, fresh: Any, found: Any, places: list[tuple[str | int, ...]]
) -> None:
    edit = Edited(MISSING, MISSING, before, was, fresh)
    assert list(unseen(edit, found)) == places


@pytest.mark.parametrize(("found", "places"), [([8], []), ([], [("a",)])])
def test_a_list_loses_no_more_than_the_editor_has_taken_away(found: Any, places: Any) -> None:
    """The editor sees one element that does not fit the version, and removes it; two others are there."""
    edit = Edited({"a": [1]}, {"a": []}, {"a": [9, 8]}, {"a": []}, {"a": []})
    assert list(unseen(edit, {"a": found})) == places


def test_what_a_hook_returns_may_be_absent_within_dictionaries() -> None:
    returned = {"a": {"b": MISSING, "c": 1}, "l": [{"d": MISSING}], "e": None}
    assert without_absent(returned) == {"a": {"c": 1}, "l": [{}], "e": None}
    assert without_absent(MISSING) is MISSING
