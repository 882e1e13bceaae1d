import json
from collections.abc import Iterator
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from trundle.runtime._merge import merge

values = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from("ab"),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xyz"), inner),
    max_leaves=6,
)


def merged(stored: Any, before: Any, after: Any) -> Any:
    raws = (msgspec.Raw(json.dumps(each).encode()) for each in (stored, before, after))
    return json.loads(bytes(merge(*raws)))


def test_members_that_the_writer_cannot_see_stay() -> None:
    assert merged({"a": 1, "b": 2}, {"a": 1}, {"a": 3}) == {"a": 3, "b": 2}


def test_members_that_the_writer_takes_away_go() -> None:
    assert merged({"a": 1, "b": 2}, {"a": 1, "b": 2}, {"a": 1}) == {"a": 1}


def test_members_are_merged_on_every_level() -> None:
    stored = {"a": {"b": {"c": 1, "d": 2}}}
    assert merged(stored, {"a": {"b": {"c": 1}}}, {"a": {"b": {"c": 3}}}) == {
        "a": {"b": {"c": 3, "d": 2}}
    }


def test_elements_of_lists_are_merged_with_those_that_they_were() -> None:
    stored = [{"name": "a", "x": 1, "h": 2}, {"name": "b", "h": 3}]
    before = [{"name": "a", "x": 1}, {"name": "b"}]
    assert merged(stored, before, [{"name": "b", "x": 5}, {"name": "a", "x": 1}]) == [
        {"name": "b", "x": 5, "h": 3},
        {"name": "a", "x": 1, "h": 2},
    ]


def test_elements_that_the_writer_cannot_see_stay_behind_their_neighbours() -> None:
    assert merged({"a": [1, {"b": 2}, 3]}, {"a": [1, 3]}, {"a": [1, 4]}) == {"a": [1, {"b": 2}, 4]}


def test_an_object_of_another_kind_takes_nothing_over() -> None:
    for name in ("kind", "type"):
        one, other = {name: "a", "x": 1}, {name: "b", "y": 1}
        assert merged({**one, "z": 2}, one, other) == other


def test_what_is_written_keeps_its_spelling_where_nothing_is_hidden() -> None:
    after = msgspec.Raw(b'{ "a" : 1.10 }')
    for stored in (b'{"a":1}', b'{"a" :1}'):
        assert merge(msgspec.Raw(stored), msgspec.Raw(b'{"a":1}'), after) is after


@given(values, values)
def test_a_writer_who_sees_everything_gets_what_it_writes(stored: Any, after: Any) -> None:
    assert merged(stored, stored, after) == after


@given(values, values, values)
def test_nothing_is_invented(stored: Any, before: Any, after: Any) -> None:
    known = set(scalars(stored)) | set(scalars(after))
    assert set(scalars(merged(stored, before, after))) <= known


def scalars(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """The scalars in a value, each with its place but for positions in lists."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from scalars(each, f"{path}.{name}")
    elif isinstance(value, list):
        for each in value:
            yield from scalars(each, f"{path}[]")
    else:
        yield path, json.dumps(value)
