import json
from decimal import Decimal

import pytest
from evolving import evolve

from trundle.project.conforming import conform, differences
from trundle.project.pairs import Pair


def found(one, other):
    return [each[:4] for each in differences(one, other)]


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


def entries(scheme, *changes):
    """The differences where another implementation changes nothing, but for some values of a document."""
    before = {
        "apiVersion": "2020-01-01",
        "kind": "Thing",
        "metadata": {"labels": {"a.b/c": "1", "d": "2"}, "other": {"a": 1, "b": 2}},
        "pools": {"one": {"sizes": [1, 2]}, "two": {"sizes": [3]}},
        "part": {"sizes": [4]},
    }
    pairs = []
    for number, change in enumerate(changes, 1):
        after = json.loads(json.dumps(before))
        change(after)
        after["apiVersion"] = "2022-02-02"
        pairs.append(
            Pair(f"pairs:{number}", json.dumps(before).encode(), json.dumps(after).encode())
        )
    found = conform(scheme, pairs).differences
    return [
        (x.path, x.difference, x.documents, x.example.path)
        for x in found
        if x.check.source != x.check.target
    ]


def test_a_difference_at_several_keys_of_a_map_is_one_entry():
    types = {"Thing": {"pools": "{Part}", "part": "Part"}, "Part": {"sizes": "[integer]"}}
    scheme = evolve({"2020-01-01": types, "2022-02-02": types})

    def smaller(document):
        for each in (*document["pools"].values(), document["part"]):
            each["sizes"] = [size - 1 for size in each["sizes"]]

    def fewer(document):
        document["pools"].clear()
        document["pools"]["three"] = {}

    def relabelled(document):
        document["metadata"] = {"labels": {}, "other": {"a": 2, "b": 3}}

    assert entries(scheme, smaller, smaller, fewer, relabelled) == [
        ("metadata.labels.*", "unexpected", 1, 'metadata.labels["a.b/c"]'),
        ("metadata.other.a", "changed", 1, "metadata.other.a"),
        ("metadata.other.b", "changed", 1, "metadata.other.b"),
        ("part.sizes[]", "changed", 2, "part.sizes[0]"),
        ("pools.*", "missing", 1, "pools.three"),
        ("pools.*", "unexpected", 1, "pools.one"),
        ("pools.*.sizes[]", "changed", 2, "pools.one.sizes[0]"),
    ]
