import json
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from trundle.runtime._free_form import merge_free_form

values = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from("ab"),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xyz"), inner),
    max_leaves=6,
)


def merged(stored: Any, before: Any, after: Any) -> Any:
    raws = (msgspec.Raw(json.dumps(each).encode()) for each in (stored, before, after))
    return json.loads(bytes(merge_free_form(*raws)))


def test_members_that_the_writer_cannot_see_stay() -> None:
    assert merged({"a": 1, "b": 2}, {"a": 1}, {"a": 3}) == {"a": 3, "b": 2}


def test_members_that_the_writer_takes_away_go() -> None:
    assert merged({"a": 1, "b": 2}, {"a": 1, "b": 2}, {"a": 1}) == {"a": 1}


def test_members_are_merged_on_every_level() -> None:
    stored = {"a": {"b": {"c": 1, "d": 2}}}
    assert merged(stored, {"a": {"b": {"c": 1}}}, {"a": {"b": {"c": 3}}}) == {
        "a": {"b": {"c": 3, "d": 2}}
    }


def test_a_list_is_what_the_writer_has() -> None:
    assert merged({"a": [1, {"b": 2}]}, {"a": [1]}, {"a": [2]}) == {"a": [2]}


def test_an_object_of_another_kind_takes_nothing_over() -> None:
    for name in ("kind", "type"):
        one, other = {name: "a", "x": 1}, {name: "b", "y": 1}
        assert merged({**one, "z": 2}, one, other) == other


def test_what_is_written_keeps_its_spelling_where_nothing_is_hidden() -> None:
    after = msgspec.Raw(b'{ "a" : 1.10 }')
    assert merge_free_form(msgspec.Raw(b'{"a":1}'), msgspec.Raw(b'{"a":1}'), after) is after


@given(values, values)
def test_a_writer_who_sees_everything_gets_what_it_writes(stored: Any, after: Any) -> None:
    assert merged(stored, stored, after) == after


@given(values, values, values)
def test_no_member_is_invented(stored: Any, before: Any, after: Any) -> None:
    found = merged(stored, before, after)
    if isinstance(found, dict):
        known = {*stored} if isinstance(stored, dict) else set()
        assert {*after} <= {*found} <= {*after} | known
    else:
        assert found == after
