"""What an apply takes away and other versions hide; the values are written by hand, and `tests/cluster` has an API server for it."""

import pytest

from trundle.kubernetes._conversions import ObjectError
from trundle.kubernetes._withdrawn import without_withdrawn

APPLIED = {"fieldManager": "me"}
PARTS = [{"name": "a", "size": 1, "note": "x"}, {"name": "b"}]
OBJECT = {"group": "red", "note": "n", "deep": {"one": 1, "two": 2}, "parts": PARTS, "tags": ["t"]}
PART = {".": {}, "f:name": {}}
REST = {"f:group": {}, "f:parts": {'k:{"name":"a"}': PART}}
HAD = {
    **REST,
    "f:note": {},
    "f:deep": {"f:one": {}},
    "f:parts": {'k:{"name":"a"}': {**PART, "f:note": {}}, 'k:{"name":"b"}': PART},
    "f:tags": {'v:"t"': {}},
    "f:gone": {},
}
TAKEN = {"group": "red", "deep": {"two": 2}, "parts": [{"name": "a", "size": 1}], "tags": []}


def entry(fields, manager="me", version="g/v2", operation="Apply"):
    head = {"manager": manager, "operation": operation, "apiVersion": version}
    return {**head, "fieldsType": "FieldsV1", "fieldsV1": fields}


OTHER = entry({"f:team": {}}, "other", "g/v1")


def written(before, after, options=APPLIED, shown=("group",)):
    """What becomes of the object, without its head, where other versions show some of it."""
    old, given = (
        {"apiVersion": "g/v2", "metadata": {"managedFields": each}, **OBJECT}
        for each in (before, after)
    )
    made = without_withdrawn(given, old, options, lambda x, _: [x.get(each) for each in shown])
    assert {key: given[key] for key in OBJECT} == OBJECT
    return {key: made[key] for key in OBJECT if key in made}


def test_what_is_hidden_elsewhere_goes():
    assert written([entry(HAD), OTHER], [entry(REST), OTHER]) == TAKEN


@pytest.mark.parametrize(
    ("after", "options"),
    [
        ([entry(REST)], APPLIED),  # Where there is no other version, the API server has taken it.
        ([entry(REST), OTHER], {"fieldManager": "you"}),
        ([OTHER], APPLIED),  # The owner may have been taken away by hand.
        ([entry(REST, version="g/v1"), OTHER], APPLIED),
        ([entry(REST), entry(HAD, "you", operation="Update"), OTHER], APPLIED),
    ],
    ids=["one version", "another manager", "reset", "changed version", "also owned"],
)
def test_what_another_one_decides_stays(after, options):
    assert written([entry(HAD), OTHER], after, options) == OBJECT


def test_what_other_versions_show_is_left_to_the_api_server():
    found = written([entry(HAD), OTHER], [entry(REST), OTHER], shown=("parts", "note"))
    assert found == {**TAKEN, "note": "n", "parts": PARTS}


def test_what_cannot_be_converted_stays():
    def shown(*_):
        raise ObjectError("Thing a", "one that is shown", "another", "look")

    given = {"apiVersion": "g/v2", "metadata": {"managedFields": [entry(REST), OTHER]}, **OBJECT}
    old = {**given, "metadata": {"managedFields": [entry(HAD), OTHER]}}
    assert without_withdrawn(given, old, APPLIED, shown) is given
