"""Merge patches and JSON patches."""

import pytest

from trundle.api._patches import apply_operations, merge
from trundle.api._status import ApiError
from trundle.api._strategic import merge_strategically

DOCUMENT = {"a": 1, "l": [1], "deep": {"x": "y"}}


def test_operations_are_applied_in_their_order_and_the_document_stays():
    operations = [
        {"op": "add", "path": "/l/0", "value": 0},
        {"op": "test", "path": "/l", "value": [0, 1]},
        {"op": "move", "from": "/deep/x", "path": "/b"},
        {"op": "remove", "path": "/deep"},
    ]
    assert apply_operations(DOCUMENT, operations) == {"a": 1, "l": [0, 1], "b": "y"}
    assert DOCUMENT == {"a": 1, "l": [1], "deep": {"x": "y"}}


@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        ({"op": "test", "path": "/a", "value": 2}, "/a does not have the value"),
        ({"op": "remove", "path": "/q"}, "no place for `remove` at /q"),
        ({"op": "move", "from": "/z", "path": "/q"}, "no place for `move` at /z"),
        ({"op": "add", "path": "/a/b", "value": 1}, "no place for `add` at /a/b"),
        ({"op": "add", "path": "/l/x", "value": 1}, "no place for `add` at /l/x"),
        ({"op": "foo", "path": "/q"}, "move, copy or test as op, found 'foo'"),
        ({"path": "/q"}, "as op, found None"),
        ({"op": "add", "path": "a", "value": 1}, "a pointer that begins with / as path, found 'a'"),
        ({"op": "add", "value": 1}, "as path, found none"),
        ({"op": "test", "path": "/a", "value": 1.0}, "/a does not have the value"),
    ],
    ids=str,
)
def test_an_operation_that_does_not_fit_is_named_without_the_document(operation, reason):
    with pytest.raises(ApiError) as caught:
        apply_operations(DOCUMENT, [{"op": "add", "path": "/n", "value": 1}, operation])
    message = str(caught.value)
    assert message.startswith("operation 2 of the JSON patch does not fit: ")
    assert reason in message
    assert "<class" not in message
    assert "deep" not in message


@pytest.mark.parametrize(
    ("operation", "patched"),
    [
        ({"op": "replace", "path": "/q", "value": 2}, {**DOCUMENT, "q": 2}),
        (
            {"op": "replace", "path": "/deep/z", "value": 2},
            {**DOCUMENT, "deep": {"x": "y", "z": 2}},
        ),
        ({"op": "test", "path": "/q", "value": None}, DOCUMENT),
    ],
    ids=str,
)
def test_what_is_not_there_is_replaced_and_is_null(operation, patched):
    """As API servers have it: so clients write what may be there, and say that nothing is."""
    assert apply_operations(DOCUMENT, [operation]) == patched


@pytest.mark.parametrize(
    ("operation", "patched"),
    [
        ({"op": "add", "path": "/l/-1", "value": 9}, [1, 2, 3, 9]),
        ({"op": "add", "path": "/l/-4", "value": 9}, [9, 1, 2, 3]),
        ({"op": "replace", "path": "/l/-1", "value": 9}, [1, 2, 9]),
        ({"op": "remove", "path": "/l/-3"}, [2, 3]),
        ({"op": "test", "path": "/l/-1", "value": 3}, [1, 2, 3]),
        ({"op": "copy", "from": "/l/-1", "path": "/l/0"}, [3, 1, 2, 3]),
        ({"op": "move", "from": "/l/0", "path": "/l/-1"}, [2, 3, 1]),
        ({"op": "move", "from": "/l/-1", "path": "/l/-2"}, [1, 3, 2]),
    ],
    ids=str,
)
def test_places_in_lists_may_be_counted_from_the_end(operation, patched):
    """As API servers have it."""
    assert apply_operations({"l": [1, 2, 3]}, [operation]) == {"l": patched}


def test_places_are_counted_from_the_end_within_others():
    operations = [{"op": "replace", "path": "/l/-1/-1/a~1-1", "value": 2}]
    assert apply_operations({"l": [0, [{"a/-1": 1}]]}, operations) == {"l": [0, [{"a/-1": 2}]]}


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "replace", "path": "/l/-2", "value": 2},
        {"op": "add", "path": "/l/-3", "value": 2},
        {"op": "replace", "path": "/q/r", "value": 2},
        {"op": "replace", "path": "/l/5", "value": 2},
        {"op": "test", "path": "/a", "value": None},
        {"op": "test", "path": "/q/r", "value": None},
    ],
    ids=str,
)
def test_other_places_have_to_be_there(operation):
    with pytest.raises(ApiError, match="does not fit"):
        apply_operations(DOCUMENT, [operation])


@pytest.mark.parametrize(
    ("patch", "reason"),
    [
        ({}, "a list of operations"),
        ([3], "operation 1 of the JSON patch: expected an object, found integer"),
        ([{"op": "add", "path": 5}], "expected a text as path, found integer"),
        ([{"op": []}], "expected a text as op, found array"),
    ],
    ids=str,
)
def test_what_is_no_patch_is_a_bad_request(patch, reason):
    with pytest.raises(ApiError, match=reason) as caught:
        apply_operations(DOCUMENT, patch)
    assert caught.value.code == 400


@pytest.mark.parametrize("op", ["add", "replace"])
def test_a_value_that_is_not_given_is_null(op):
    assert apply_operations(DOCUMENT, [{"op": op, "path": "/a"}])["a"] is None
    assert apply_operations(DOCUMENT, None) == DOCUMENT
    assert apply_operations(DOCUMENT, [{"op": "test", "path": "/q"}]) == DOCUMENT


def test_a_merge_patch_removes_by_null():
    assert merge(DOCUMENT, {"l": [{"a": None, "b": [{"c": None}]}, None]})["l"] == [
        {"b": [{}]},
        None,
    ]
    assert merge(DOCUMENT, {"a": None, "deep": {"z": 1}}) == {"l": [1], "deep": {"x": "y", "z": 1}}


@pytest.mark.parametrize("often", [8, 12])
def test_a_json_patch_that_copies_a_document_into_itself_is_refused_where_that_is_deep(often):
    deeper = [{"op": "copy", "from": "/x", "path": "/x" * (2**n + 1)} for n in range(often)]
    with pytest.raises(ApiError, match="nested deeper than 200 levels") as refused:
        apply_operations({"x": {}}, deeper)
    assert refused.value.code == 400


STATED = {
    "metadata": {"labels": {"a": "b"}, "finalizers": ["x", "y"], "ownerReferences": [{"uid": "1"}]},
    "spec": {"list": [1, 2]},
}


@pytest.mark.parametrize(
    ("patch", "changed"),
    [
        ({"labels": {"c": "d"}}, {"labels": {"a": "b", "c": "d"}}),
        ({"labels": {"a": None}}, {"labels": {}}),
        ({"labels": {"$patch": "replace", "c": "d"}}, {"labels": {"c": "d"}}),
        ({"labels": {"$patch": "delete"}}, {"labels": {}}),
        ({"labels": {"$retainKeys": ["c"], "c": "d"}}, {"labels": {"c": "d"}}),
        (
            {"finalizers": ["z", "x"], "$setElementOrder/finalizers": ["z", "x", "y"]},
            {"finalizers": ["x", "y", "z"]},
        ),
        ({"$deleteFromPrimitiveList/finalizers": ["x"]}, {"finalizers": ["y"]}),
        (
            {"ownerReferences": [{"uid": "1", "name": "n"}, {"uid": "2"}]},
            {"ownerReferences": [{"uid": "1", "name": "n"}, {"uid": "2"}]},
        ),
        ({"ownerReferences": [{"$patch": "delete", "uid": "1"}]}, {"ownerReferences": []}),
    ],
    ids=str,
)
def test_a_strategic_merge_patch_says_more_of_lists_and_maps(patch, changed):
    found = merge_strategically(STATED, {"metadata": patch, "spec": {"list": [3]}})
    assert found == {"metadata": {**STATED["metadata"], **changed}, "spec": {"list": [3]}}
