"""What an API server does to JSON; tests/cluster compares with a real one."""

from decimal import Decimal

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from trundle.kubernetes._server_json import as_before, json_of, passed, passed_json, spelt_values


@pytest.mark.parametrize(
    ("given", "comes_back"),
    [
        (Decimal("1.10"), Decimal("1.1")),
        (Decimal("100.0"), 100),
        (Decimal("1e3"), 1000),
        (2**63 - 1, 2**63 - 1),
        (2**63, Decimal("9.223372036854776e18")),
        (True, True),
        ("1.10", "1.10"),
        (None, None),
    ],
)
def test_numbers_are_written_anew(given, comes_back):
    found = passed([given])[0]
    assert (found, type(found)) == (comes_back, type(comes_back))


def test_members_are_sorted_and_elements_are_not():
    found = passed({"b": [2, 1], "a": {"d": 1, "c": 2}})
    assert list(found) == ["a", "b"]
    assert list(found["a"]) == ["c", "d"]
    assert found["b"] == [2, 1]


def test_what_came_back_unchanged_is_what_went_out():
    text = b'{"b":1.10,"a":[{"y":1,"x":5.0,"w":1e-7}],"c":{"z":1E+21,"n":18446744073709551617}}'
    before = spelt_values(text)
    found = as_before(passed(before), before)
    assert json_of(found) == text


def test_what_a_client_changed_stays_changed():
    before = {"b": Decimal("1.10"), "a": 1, "list": [1, 2], "gone": 1}
    found = as_before({"a": True, "b": 1.2, "list": [2], "new": "x"}, before)
    assert repr(found) == repr({"b": 1.2, "a": True, "list": [2], "new": "x"})


def test_a_number_that_no_float_holds_stays():
    assert passed({"a": Decimal("1e400")}) == {"a": Decimal("1e400")}


NUMBERS = st.one_of(
    st.integers(-(2**64), 2**64).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(-1000, 1000, places=3).map(str),
    st.sampled_from(["1e3", "1.50", "0.000012", "1E-7", "5.0", "0.1234567890123456789", "-0", "-0.0"]),
)  # fmt: skip
TEXTS = st.one_of(NUMBERS, st.text(max_size=5)).map(lambda text: msgspec.json.encode(text).decode())
VALUES = st.recursive(
    st.one_of(NUMBERS, TEXTS, st.sampled_from(["null", "true"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(lambda parts: f"[{','.join(parts)}]"),
        st.dictionaries(st.text(max_size=3), inner, max_size=4).map(
            lambda parts: "{" + ",".join(f"{json_of(key).decode()}:{x}" for key, x in parts.items()) + "}"
        ),
    ),
    max_leaves=12,
)  # fmt: skip


@given(VALUES)
@example('{"b":"6f1d5c1e-0b54-4a53-9d0c-0000000000000000","a":0.25}')
def test_the_quick_way_comes_to_the_same(text):
    exact = msgspec.json.Decoder(float_hook=Decimal).decode(text)
    assert passed_json(text.encode()) == json_of(passed(exact))
