"""Entries that accompany each other stay current when they are merged, and shapes that cannot be stored are refused."""

import pytest
from cases import CASES, V1, V2, V3
from evolving import Store, evolve

from trundle.runtime import UnknownVersionError


def test_entries_that_accompany_each_other_are_current_after_a_merge() -> None:
    store = Store(evolve(CASES["enum and text"].versions)).put(V3, a="SILVER").put(V1, a="sILVER")
    assert store.read(V1) == {"a": "sILVER"}
    assert store.read(V2) == {"a": "sILVER"}


def test_a_shape_that_no_conversion_leads_to_cannot_be_stored() -> None:
    case = CASES["convert and move"]
    with pytest.raises(UnknownVersionError, match="cannot be stored in"):
        evolve(case.versions, *case.more).storing({"Thing": V1})
