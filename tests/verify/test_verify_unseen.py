"""An edit that nothing but a stale entry hides is found, and a list that loses what the editor cannot see."""

from typing import Any

import pytest

from trundle.verify._broken import MISSING
from trundle.verify._oracle_laws import unseen
from trundle.verify.oracle import Edited


@pytest.mark.parametrize(
    ("before", "was", "fresh", "found", "places"),
    [
        ({"a": 1}, {"a": 1}, {"a": 2}, {"a": 2}, []),
        ({"a": 1}, {"a": 1}, {"a": 2}, {"a": 1}, [("a",)]),
        ({"a": 1}, {"a": 1}, {}, {"a": 1}, [("a",)]),
        ({"a": 2}, {"a": 1}, {"a": 2}, {"a": 2}, []),
        ({"a": [1, None]}, {"a": [1]}, {"a": []}, {"a": [None]}, []),
        ({"a": [{"b": 1}]}, {"a": [{"b": 1}]}, {"a": [{}]}, {"a": [{"b": 1}]}, [("a", 0, "b")]),
        ({"a": [1]}, {"a": []}, {"a": [2]}, {"a": [1, 2]}, []),
        ({"a": [1]}, {"a": []}, {"a": [2]}, {"a": [2]}, [("a",)]),
    ],
)
def test_places_that_do_not_show_an_edit(
    before: Any, was: Any, fresh: Any, found: Any, places: list[tuple[str | int, ...]]
) -> None:
    edit = Edited(MISSING, MISSING, before, was, fresh)
    assert list(unseen(edit, found)) == places
