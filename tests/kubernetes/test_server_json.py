"""What an API server does to JSON; tests/cluster compares with a real one."""

from decimal import Decimal

import pytest

from trundle.kubernetes._server_json import as_before, json_of, passed, spelt_values


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
