import json

import gadgets
import pytest
import yaml
from object_shapes import object_shape
from shapes import plain

from trundle.api.apply import resource_shape
from trundle.api.apply._differences import fields_of
from trundle.api.apply._fields import encode
from trundle.api.apply._shapes import FREE_FORM
from trundle.schema.readers import Source, read_schemas


def read(tmp_path, document):
    written = tmp_path / "schema.json"
    written.write_text(json.dumps(document))
    return read_schemas([Source(written)])


def test_a_schema_and_the_openapi_that_it_was_read_from_have_one_shape(tmp_path):
    schemas = read(tmp_path, gadgets.CRD)
    assert [str(each.version) for each in schemas] == ["v1", "v2"]
    openapi = plain(object_shape(gadgets.SCHEMA))
    spec = openapi[2][0]["spec"][2][0]
    # A date is a text for the model, which keeps its format aside.
    spec["date"] = ("string", None, None, None)
    # The model knows of the two scalars that may be there, but not that free-form data is an object.
    spec["either"] = ("untyped", None, None, None)
    spec["free"] = plain(FREE_FORM)
    # Objects in an open one are closed for the model: what they cannot have is pruned or refused.
    spec["open"][2][0]["inner"] = (
        None,
        None,
        ({"b": ("string", None, None, None)}, None, False),
        None,
    )
    for each in schemas:
        assert plain(resource_shape(each, each.resources[0])) == openapi


def test_a_type_may_contain_itself(tmp_path):
    node = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "next": {"$ref": "#/definitions/Node"}},
        "additionalProperties": {"$ref": "#/definitions/Node"},
    }
    document = {"definitions": {"Node": node}, "$ref": "#/definitions/Node", "title": "Node"}
    written = tmp_path / "node.json"
    written.write_text(json.dumps(document))
    (schema,) = read_schemas([Source(written, version="v1", resources=("Node",))])
    shape = resource_shape(schema, schema.resources[0])
    value = {"next": {"next": {"name": "a"}, "other": {"name": "b"}}}
    assert encode(fields_of(shape, value)) == {
        "f:next": {"f:next": {"f:name": {}}, "f:other": {".": {}, "f:name": {}}}
    }


@pytest.mark.parametrize(
    ("schema", "value", "fields"),
    [
        ("{type: array, items: {type: string}}", ["a"], {}),
        ("{type: array, x-kubernetes-list-type: set, items: {type: string}}", ["a"], {'v:"a"': {}}),
        ("{type: object}", {"a": {"b": 1}, "c": {}}, {"f:a": {".": {}, "f:b": {}}, "f:c": {}}),
        ("{type: object, x-kubernetes-map-type: atomic}", {"a": 1}, {}),
        ("{type: object, additionalProperties: {type: object}}", {"a": {}}, {"f:a": {}}),
        ("{type: object, properties: {a: {type: string}}}", {"a": "x"}, {"f:a": {}}),
        ("{}", {"a": [{"b": 1}]}, {"f:a": {}}),
        ("{x-kubernetes-preserve-unknown-fields: true}", ["a"], {}),
        (
            "{type: object, x-kubernetes-embedded-resource: true}",
            {"metadata": {"finalizers": ["a"], "labels": {"b": "c"}}},
            {"f:metadata": {"f:finalizers": {'v:"a"': {}}, "f:labels": {"f:b": {}}}},
        ),
    ],
)
def test_fields_follow_the_extensions_of_the_schema(schema, value, fields):
    shape = object_shape({"type": "object", "properties": {"a": yaml.safe_load(schema)}})
    assert encode(fields_of(shape, {"a": value})) == {"f:a": fields}
