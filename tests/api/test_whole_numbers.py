"""Numbers with a fraction are found in JSON, also where texts look like them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trundle.api._whole_numbers import _has_fraction

TEXTS = st.sampled_from(["a:1.5", "1.2.3", '":1.5', ",1e5", "[2.0", "v1.25", "1e5", ""])
VALUES = st.recursive(
    TEXTS | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=8,
)


@given(VALUES, st.sampled_from([None, 0, 1, "\t", " " * 80]))
def test_no_number_with_a_fraction_is_missed(value, indent):
    text = json.dumps({"a": value}, indent=indent)
    fractions = []
    json.loads(text, parse_float=fractions.append)
    assert _has_fraction(text.encode()) >= bool(fractions)


@pytest.mark.parametrize(
    "text", ['{"image": "a/b:1.27", "v": [1, -2]}', '{"a":"10.0.0.1","b":"1.5Gi"}']
)
def test_texts_that_look_like_numbers_are_none(text):
    assert not _has_fraction(text.encode())


@pytest.mark.parametrize("text", ['{"a": 1.5}', '{"a":-1E5}', '{"a" :\n[1 ,\n2.0]}'])
def test_numbers_with_a_fraction_are_found(text):
    assert _has_fraction(text.encode())
