"""Whole numbers with a fraction or an exponent are found in JSON, and no text that looks like one."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trundle.api._documents import values_of
from trundle.api._whole_numbers import _is_whole

TEXTS = st.sampled_from(["a:1.5", "1.2.3", '":1.5', ",1e5", "[2.0", "v1.25", "1e5", ""])
VALUES = st.recursive(
    TEXTS
    | st.integers()
    | st.integers(-(2**70), 2**70).map(float)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)


def has_whole(text):
    noted = []
    values_of(text.encode(), noted)
    return any(map(_is_whole, noted))


@given(VALUES, st.sampled_from([None, 0, 1, "\t", " " * 80]))
def test_all_whole_numbers_are_found(value, indent):
    text = json.dumps({"a": value}, indent=indent)
    written = []
    json.loads(text, parse_float=lambda each: written.append(Decimal(each)))
    is_there = any(each % 1 == 0 for each in written if abs(each) < 10**18)
    assert has_whole(text) == is_there


@pytest.mark.parametrize(
    "text",
    [
        '{"image": "a/b:1.0", "v": [1, -2]}',
        '{"a":"10.0.0.1","b":"1.0Gi"}',
        '{"a": 1.5, "b": [0.05, 10.010, 1.27]}',
    ],
)
def test_texts_and_other_numbers_are_none(text):
    assert not has_whole(text)


@pytest.mark.parametrize("text", ['{"a": 1.50e1}', '{"a":-1E5}', '{"a" :\n[1 ,\n2.00]}', "20.0"])
def test_whole_numbers_are_found(text):
    assert has_whole(text)
