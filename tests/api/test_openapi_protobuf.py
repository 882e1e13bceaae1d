"""OpenAPI 2.0 as protobuf; kubectl reads whole documents in tests/cluster."""

import struct

import pytest

from trundle.api._openapi_protobuf import of_document


def fields(data):
    """What a message says: number and value of each field; a reader of its own."""
    found, at = [], 0

    def varint():
        nonlocal at
        number = shift = 0
        while True:
            byte = data[at]
            at += 1
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return number

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            found.append((key >> 3, varint()))
        elif key & 7 == 1:
            found.append((key >> 3, struct.unpack("<d", data[at : at + 8])[0]))
            at += 8
        else:
            size = varint()
            found.append((key >> 3, data[at : at + size]))
            at += size
    return found


def only(data, *numbers):
    """The one value under the numbers of nested fields."""
    for number in numbers:
        [data] = [value for each, value in fields(data) if each == number]
    return data


def schema(**members):
    """A definition as it is sent."""
    return only(of_document({"definitions": {"a.B": members}}), 9, 1, 2)


def test_a_document_says_what_it_is():
    sent = of_document({"swagger": "2.0", "info": {"title": "Trundle", "version": "1.2"}})
    assert fields(sent)[0] == (1, b"2.0")
    assert fields(only(sent, 2)) == [(1, b"Trundle"), (2, b"1.2")]


def test_definitions_have_names():
    sent = of_document({"definitions": {"a.B": {}, "a.C": {}}})
    assert [fields(each)[0] for _, each in fields(only(sent, 9))] == [(1, b"a.B"), (1, b"a.C")]


@pytest.mark.parametrize(
    ("members", "numbers", "value"),
    [
        ({"$ref": "#/definitions/a.C"}, (1,), b"#/definitions/a.C"),
        ({"description": "d" * 300}, (4,), b"d" * 300),
        ({"default": {"a": [1]}}, (5, 2), b'{"a":[1]}'),
        ({"maximum": 1.5}, (7,), 1.5),
        ({"maxLength": 300}, (11,), 300),
        ({"minLength": -1}, (12,), 2**64 - 1),
        ({"uniqueItems": True}, (16,), 1),
        ({"type": "string"}, (22, 1), b"string"),
        ({"items": {"type": "string"}}, (23, 1, 22, 1), b"string"),
        ({"additionalProperties": {"type": "string"}}, (21, 1, 22, 1), b"string"),
        ({"additionalProperties": False}, (21, 2), 0),
        ({"properties": {"é": {"type": "string"}}}, (25, 1, 1), "é".encode()),
        ({"x-kubernetes-a": {"b": True}}, (31, 2, 2), b'{"b":true}'),
    ],
)
def test_members_of_schemas(members, numbers, value):
    assert only(schema(**members), *numbers) == value


def test_lists_are_sent_one_by_one():
    assert fields(schema(required=["a", "b"])) == [(19, b"a"), (19, b"b")]


def test_parameters_by_their_place():
    parameters = [{"in": "query", "name": "dryRun", "type": "string"}]
    path = {"patch": {"parameters": parameters, "x-kubernetes-action": "patch"}}
    operation = only(of_document({"paths": {"/a": path}}), 8, 2, 2, 8)
    assert only(operation, 8, 1, 2, 3, 4) == b"dryRun"
    assert only(operation, 13, 1) == b"x-kubernetes-action"
