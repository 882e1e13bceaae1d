import json
import os
from pathlib import Path

import pytest

from trundle.schema import EnumType, FreeForm, ListOf, MapOf, Ref, Scalar, SchemaError, Union
from trundle.schema.readers import Source, read_schemas

HOST = "https://schema.management.azure.com/schemas"
COMMON = f"{HOST}/common/definitions.json#/definitions"
EXPRESSION = {"$ref": f"{COMMON}/expression"}
STRING = {"type": "string"}


def or_expression(schema):
    return {"description": "Either.", "oneOf": [schema, EXPRESSION]}


def resource(kind, version="2016-03-01", required=(), **properties):
    return {
        "type": "object",
        "description": f"{kind} resource.",
        "properties": {
            "type": {"type": "string", "enum": [kind]},
            "apiVersion": {"type": "string", "enum": [version]},
            **properties,
        },
        "required": ["type", "apiVersion", *required],
    }


@pytest.fixture
def write(workspace):
    def write(file, **sections):
        document = {
            "id": f"{HOST}/{file}#",
            "$schema": "http://json-schema.org/draft-04/schema#",
            "title": "Contoso",
            **sections,
        }
        return workspace.write(f"schemas/{file}", json.dumps(document))

    return write


@pytest.fixture
def read(workspace, write):
    def read(definitions=None, file="2016-03-01/Contoso.Shop.json", **properties):
        root = resource("Contoso.Shop/stores", **properties)
        write(file, resourceDefinitions={"stores": root}, definitions=definitions or {})
        (schema,) = read_schemas([Source(workspace.folder)])
        return schema

    return read


def test_a_resource_is_named_by_its_type(read):
    schema = read(name=STRING)
    (found,) = schema.resources
    assert found.name == "Contoso.Shop/stores"
    assert found.root == "Stores"
    assert found.scope == "resourceGroup"
    assert found.name_property == "type"
    assert schema.version.text == "2016-03-01"
    assert schema.object("Stores").property("type").type == Ref("StoresType")
    assert schema.definitions["StoresType"].values == ("Contoso.Shop/stores",)
    assert not schema.object("Stores").embedded


def test_resources_can_be_chosen_by_type_in_any_letter_case(workspace, write):
    path = write(
        "2016-03-01/Contoso.Shop.json",
        resourceDefinitions={x: resource(f"Contoso.Shop/{x}") for x in ("a", "b", "c")},
    )
    (schema,) = read_schemas([Source(path, resources=("contoso.shop/A", "b"))])
    assert [each.name for each in schema.resources] == ["Contoso.Shop/a", "Contoso.Shop/b"]


def test_the_root_of_a_nested_resource_is_named_by_its_path(workspace, write):
    write(
        "2016-03-01/Contoso.Shop.json",
        resourceDefinitions={"stores_shelves": resource("Contoso.Shop/stores/shelves")},
    )
    (schema,) = read_schemas([Source(workspace.folder)])
    assert schema.resources[0].root == "StoresShelves"


def test_expressions_are_left_out(read):
    schema = read(
        definitions={"Level": {"type": "string", "enum": ["Low", "High"]}},
        a=or_expression({"$ref": "#/definitions/Level"}),
        b={"$ref": f"{COMMON}/numberOrExpression"},
        c=or_expression({"type": "integer", "minimum": 1}),
        d=or_expression({"type": "object", "additionalProperties": STRING, "properties": {}}),
        e={"type": "array", "items": or_expression({"type": "string", "enum": ["x"]})},
        f=EXPRESSION,
        g=or_expression({"type": "object", "properties": {}}),
    )
    root = schema.object("Stores")
    types = {each.name: each.type for each in root.properties}
    assert types["a"] == Ref("Level")
    assert types["b"] == Scalar("number")
    assert types["c"] == Scalar("integer")
    assert types["d"] == MapOf(Scalar("string"))
    assert types["e"] == ListOf(Ref("StoresE"))
    assert types["f"] == Scalar("string")
    assert types["g"] == FreeForm()
    assert root.property("c").constraints == (("minimum", 1),)
    assert root.property("c").doc == "Either."


def test_a_definition_called_expression_is_an_ordinary_one(read):
    schema = read(
        definitions={
            "Expression": {"type": "object", "properties": {"value": STRING}},
            "expression": {"type": "object", "properties": {"text": STRING}},
        },
        a=or_expression({"$ref": "#/definitions/Expression"}),
        b=or_expression({"$ref": "#/definitions/expression"}),
    )
    assert schema.object("Stores").property("a").type == Ref("Expression")
    assert schema.object("Stores").property("b").type == Ref("expression")


def test_discriminated_definitions_are_unions(read):
    def variant(name):
        constant = {"properties": {"kind": {"const": name}}, "required": ["kind"], "type": "object"}
        return {"allOf": [{"$ref": f"#/definitions/{name}"}, constant]}

    schema = read(
        definitions={
            "Base": {
                "allOf": [
                    {
                        "type": "object",
                        "additionalProperties": False,
                        "properties": {"common": STRING},
                    },
                    {"oneOf": [variant("Fresh"), variant("Frozen")]},
                ]
            },
            "Fresh": {"type": "object", "properties": {"days": {"type": "integer"}}},
            "Frozen": {"type": "object", "properties": {"degrees": {"type": "integer"}}},
        },
        food=or_expression({"$ref": "#/definitions/Base"}),
    )
    assert schema.object("Stores").property("food").type == Union((Ref("Fresh"), Ref("Frozen")))
    fresh = schema.object("Fresh")
    assert [x.name for x in fresh.properties] == ["common", "days", "kind"]
    assert fresh.named
    assert schema.definitions[fresh.property("kind").type.key].values == ("Fresh",)


def test_polymorphic_roots_become_one_object(workspace, write):
    root = resource("Contoso.Shop/stores", name=STRING)
    del root["type"]
    root["oneOf"] = [
        {
            "type": "object",
            "properties": {
                "kind": or_expression({"type": "string", "enum": [kind]}),
                "properties": or_expression({"$ref": f"#/definitions/{kind}"}),
            },
            "required": ["kind"],
        }
        for kind in ("Small", "Large")
    ]
    write(
        "2016-03-01/Contoso.Shop.json",
        resourceDefinitions={"stores": root},
        definitions={
            "Small": {"type": "object", "properties": {"a": STRING}},
            "Large": {"type": "object", "properties": {"b": STRING}},
        },
    )
    (schema,) = read_schemas([Source(workspace.folder)])
    stores = schema.object("Stores")
    assert stores.property("properties").type == Union((Ref("Small"), Ref("Large")))
    assert stores.property("kind").type == Ref("StoresKind")
    assert stores.property("kind").required
    kind = schema.definitions["StoresKind"]
    assert isinstance(kind, EnumType)
    assert kind.values == ("Small", "Large")
    assert kind.name == "StoresKind"
    assert not stores.embedded


def test_child_resources_are_embedded(read):
    child = {
        "type": "object",
        "properties": {
            "type": {"type": "string", "enum": ["shelves"]},
            "apiVersion": {"type": "string", "enum": ["2016-03-01"]},
        },
        "required": ["type", "apiVersion"],
    }
    schema = read(
        definitions={"stores_shelves_childResource": child},
        resources={
            "type": "array",
            "items": {"oneOf": [{"$ref": "#/definitions/stores_shelves_childResource"}]},
        },
    )
    assert schema.object("Stores").property("resources").type == ListOf(
        Ref("stores_shelves_childResource")
    )
    assert schema.object("stores_shelves_childResource").embedded


def test_equal_scopes_are_one_resource(workspace, write):
    body = resource("Contoso.Shop/stores", size={"type": "object", "properties": {"x": STRING}})
    write(
        "2016-03-01/Contoso.Shop.json",
        tenant_resourceDefinitions={"stores": body},
        resourceDefinitions={"stores": body},
        unknown_resourceDefinitions={"stores": body},
    )
    (schema,) = read_schemas([Source(workspace.folder)])
    (found,) = schema.resources
    assert found.scope == "resourceGroup,tenant,unknown"
    assert sorted(schema.definitions) == ["Stores", "StoresApiVersion", "StoresSize", "StoresType"]


def test_unequal_scopes_and_letter_cases_are_one_resource_that_admits_both(workspace, write):
    write(
        "2016-03-01/Contoso.Shop.json",
        resourceDefinitions={"stores": resource("Contoso.Shop/stores", required=["a"], a=STRING)},
        subscription_resourceDefinitions={"Stores": resource("Contoso.Shop/Stores", b=STRING)},
    )
    (schema,) = read_schemas([Source(workspace.folder)])
    (found,) = schema.resources
    assert (found.name, found.scope) == ("Contoso.Shop/stores", "resourceGroup,subscription")
    root = schema.object(found.root)
    assert [x.name for x in root.properties] == ["a", "apiVersion", "b", "type"]
    assert not root.property("a").required
    assert root.property("type").required
    assert schema.definitions[root.property("type").type.key].values == (
        "Contoso.Shop/stores",
        "Contoso.Shop/Stores",
    )


def test_several_providers_make_one_version(workspace, write):
    for name in ("Shop", "Bank"):
        write(
            f"2016-03-01/Contoso.{name}.json",
            resourceDefinitions={"x": resource(f"Contoso.{name}/x")},
        )
    (schema,) = read_schemas([Source(workspace.folder)])
    assert [each.name for each in schema.resources] == ["Contoso.Bank/x", "Contoso.Shop/x"]
    assert [each.root for each in schema.resources] == ["X", "X_2"]


def test_another_providers_file_is_found_beside_the_version_folders(workspace, write):
    write(
        "2015-01-01/Contoso.Extensions.json",
        definitions={"Lock": {"type": "object", "properties": {"x": STRING}}},
    )
    file = write(
        "2016-03-01/Contoso.Shop.json",
        resourceDefinitions={
            "stores": resource(
                "Contoso.Shop/stores",
                lock={"$ref": f"{HOST}/2015-01-01/Contoso.Extensions.json#/definitions/Lock"},
            )
        },
    )
    for path in (file, workspace.folder):
        (schema,) = read_schemas([Source(path)])
        assert schema.object("Stores").property("lock").type == Ref("Lock")
    (workspace.folder / "schemas/2015-01-01/Contoso.Extensions.json").unlink()
    with pytest.raises(SchemaError, match="there is no file"):
        read_schemas([Source(file)])


def test_common_definitions_are_known_without_their_file(read):
    schema = read(
        base={"$ref": f"{COMMON}/resourceBase"},
        sku={"$ref": f"{COMMON}/resourceSku"},
        span={"$ref": f"{COMMON}/Iso8601Duration"},
    )
    root = schema.object("Stores")
    assert root.property("base").type == Ref("resourceBase")
    assert schema.object("resourceBase").property("condition").type == Scalar("boolean")
    assert root.property("sku").type == Ref("resourceSku")
    assert root.property("span").type == Scalar("string", "duration")


def test_the_file_of_common_definitions_wins(workspace, write, read):
    write("common/definitions.json", definitions={"resourceSku": {"type": "integer"}})
    schema = read(sku={"$ref": f"{COMMON}/resourceSku"})
    assert schema.object("Stores").property("sku").type == Scalar("integer")


def test_the_version_is_what_documents_say(workspace, write):
    body = resource("Contoso.Shop/stores", version="2015-01-01", a=STRING)
    write("2016-03-01/Contoso.Shop.json", resourceDefinitions={"stores": body})
    (schema,) = read_schemas([Source(workspace.folder)])
    assert schema.version.text == "2015-01-01"


def test_the_file_in_the_right_folder_wins_over_a_misplaced_copy(workspace, write):
    for folder, name in (("2015-01-01", "right"), ("2014-01-01", "wrong")):
        body = resource("Contoso.Shop/stores", version="2015-01-01", **{name: STRING})
        write(f"{folder}/Contoso.Shop.json", resourceDefinitions={"stores": body})
    (schema,) = read_schemas([Source(workspace.folder)])
    assert schema.object("Stores").property("right") is not None
    assert schema.object("Stores").property("wrong") is None


def test_two_files_with_one_resource_are_an_error(workspace, write):
    for name in ("Shop", "Bank"):
        write(
            f"2016-03-01/Contoso.{name}.json",
            resourceDefinitions={"x": resource("Contoso.Shop/x")},
        )
    with pytest.raises(SchemaError, match=r"two files for one version.*Bank\.json.*Shop\.json"):
        read_schemas([Source(workspace.folder)])


@pytest.mark.parametrize(
    ("sections", "reason"),
    [
        ({"resourcesDefinitions": {}}, "at the top, found the key 'resourcesDefinitions'"),
        ({"resourceDefinitions": []}, "expected an object with resource definitions"),
        ({"resourceDefinitions": {"x": {"type": "object"}}}, "whose property 'type' is a constant"),
        ({"resourceDefinitions": {"x": 1}}, "whose property 'type' is a constant"),
        (
            {"resourceDefinitions": {"x": resource("A/x", version="soon")}},
            "expected an API version",
        ),
    ],
)
def test_what_is_no_deployment_schema_is_an_error(workspace, write, sections, reason):
    path = write("2016-03-01/Contoso.Shop.json", **sections)
    with pytest.raises(SchemaError, match=reason):
        read_schemas([Source(path, format="azure")])


@pytest.mark.skipif("CORPUS" not in os.environ, reason="needs a corpus of deployment schemas")
def test_a_whole_corpus_can_be_read():
    schemas = read_schemas([Source(Path(os.environ["CORPUS"]))])
    assert schemas
    for schema in schemas:
        for resource_type in schema.resources:
            assert resource_type.root in schema.definitions
