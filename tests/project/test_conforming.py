import json
from decimal import Decimal

import pytest

from trundle.project.conforming import differences


def found(one, other):
    return [tuple(each) for each in differences(one, other)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (1, Decimal("1.0")),
        (Decimal("1.10"), Decimal("1.1")),
        (10**22, Decimal("1e22")),
        ([{"a": None}], [{"a": None}]),
    ],
)
def test_order_of_members_and_spelling_of_numbers_do_not_count(one, other):
    assert found(one, other) == []


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ({"a": 1}, {}, [(("a",), "missing", "1", None)]),
        ({}, {"a": None}, [(("a",), "unexpected", None, "null")]),
        ([1, 2], [2, 1], [((0,), "changed", "1", "2"), ((1,), "changed", "2", "1")]),
        ({"a": [1, 2]}, {"a": [1]}, [(("a",), "changed", "[1, 2]", "[1]")]),
        (1, True, [((), "changed", "1", "true")]),
        (0, "", [((), "changed", "0", '""')]),
        (2**63, Decimal(2**63) + Decimal("0.5"), 1),
        ({"a": {}}, {"a": []}, [(("a",), "changed", "{}", "[]")]),
    ],
)
def test_all_else_does(one, other, expected):
    result = found(one, other)
    assert len(result) == expected if isinstance(expected, int) else result == expected


def test_values_of_examples_are_json():
    ((_, _, expected, _),) = found({"a": [Decimal("0.5"), "é"]}, {})
    assert json.loads(expected) == [0.5, "é"]
