import json

import pytest

from trundle.schema import FreeForm, ListOf, MapOf, Ref, Scalar, SchemaError, Union
from trundle.schema.readers import Source, read_schemas

HEAD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shops.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Shop, plural: shops}
"""
CRD = (
    HEAD
    + """
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          required: [spec]
          properties:
            apiVersion: {type: string}
            kind: {type: string}
            metadata: {type: object}
            spec:
              type: object
              properties:
                port: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}
                free: {type: object, x-kubernetes-preserve-unknown-fields: true}
                anything: {x-kubernetes-preserve-unknown-fields: true}
                open:
                  type: object
                  x-kubernetes-preserve-unknown-fields: true
                  properties: {a: {type: string}}
                parts:
                  type: array
                  x-kubernetes-list-type: map
                  x-kubernetes-list-map-keys: [name, port]
                  items: {type: object, required: [name], properties: {name: {type: string}}}
                template:
                  type: object
                  x-kubernetes-embedded-resource: true
                  x-kubernetes-preserve-unknown-fields: true
                level: {type: string, nullable: true, oneOf: [{pattern: a}, {pattern: b}]}
                labels: {type: object, additionalProperties: {type: string}}
              anyOf: [{required: [port]}, {properties: {free: {minProperties: 1}}}]
              x-kubernetes-validations: [{rule: "true"}]
    - name: v1alpha1
      served: false
      storage: false
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
"""
)


@pytest.fixture
def schemas(workspace):
    return read_schemas([Source(workspace.write("shop.yaml", CRD))])


def test_every_version_is_read(schemas):
    assert [each.version.text for each in schemas] == ["v1alpha1", "v1"]
    for each in schemas:
        (found,) = each.resources
        assert (found.name, found.group, found.scope) == ("Shop", "example.com", "Namespaced")
        assert found.name_property == "kind"


def test_kubernetes_extensions(schemas):
    schema = schemas[1]
    spec = schema.object("ShopSpec")
    types = {each.name: each.type for each in spec.properties}
    assert types["port"] == Union((Scalar("integer"), Scalar("string")))
    assert types["free"] == FreeForm()
    assert types["anything"] == FreeForm()
    constraints = {each.name: each.constraints for each in spec.properties}
    assert constraints["free"] == (("type", "object"),)
    assert constraints["anything"] == ()
    assert types["open"] == Ref("ShopSpecOpen")
    assert schema.object("ShopSpecOpen").additional == FreeForm()
    assert types["parts"] == ListOf(Ref("ShopSpecParts"), ("name", "port"))
    assert types["labels"] == MapOf(Scalar("string"))
    template = schema.object("ShopSpecTemplate")
    assert template.embedded
    assert template.additional == FreeForm()
    assert [each.name for each in template.properties] == ["apiVersion", "kind", "metadata"]


KEEPING_LISTS = (
    HEAD
    + """
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            disks:
              type: array
              x-kubernetes-preserve-unknown-fields: true
              items:
                type: object
                properties: {name: {type: string}, inner: {type: object, properties: {a: {type: string}}}}
            grid:
              type: array
              x-kubernetes-preserve-unknown-fields: true
              items: {type: array, items: {type: object, properties: {name: {type: string}}}}
            names: {type: array, x-kubernetes-preserve-unknown-fields: true, items: {type: string}}
            stripe: {x-kubernetes-int-or-string: true, enum: [4Ki, 8]}
"""
)


def test_what_a_list_keeps_is_in_its_elements(workspace):
    # https://github.com/kubernetes/apiextensions-apiserver, `skipPrune` in pkg/apiserver/schema/pruning/algorithm.go
    (schema,) = read_schemas([Source(workspace.write("shop.yaml", KEEPING_LISTS))])
    assert schema.object("ShopDisks").additional == FreeForm()
    assert schema.object("ShopDisksInner").additional is None
    assert schema.object("ShopGrid").additional == FreeForm()
    assert schema.object("Shop").property("names").type == ListOf(Scalar("string"))


def test_the_values_of_an_integer_or_a_text_are_a_constraint(workspace):
    (schema,) = read_schemas([Source(workspace.write("shop.yaml", KEEPING_LISTS))])
    found = schema.object("Shop").property("stripe")
    assert found.type == Union((Scalar("integer"), Scalar("string")))
    assert found.constraints == (("enum", ["4Ki", 8]),)


def test_compositions_only_constrain(schemas):
    root = schemas[1].object("Shop")
    names = [name for name, _ in root.property("spec").constraints]
    assert names == ["anyOf", "x-kubernetes-validations"]
    assert root.property("spec").type == Ref("ShopSpec")
    level = schemas[1].object("ShopSpec").property("level")
    assert dict(level.constraints) == {"oneOf": [{"pattern": "a"}, {"pattern": "b"}]}


def test_every_resource_has_the_common_properties(schemas):
    root = schemas[0].object("Shop")
    assert [each.name for each in root.properties] == ["apiVersion", "kind", "metadata"]
    assert root.additional == FreeForm()


def test_several_definitions_in_one_file(workspace):
    other = CRD.replace("Shop", "Bank").replace("shops", "banks")
    path = workspace.write("all.yaml", f"{CRD}\n---\n{other}\n---\n")
    assert [x.name for x in read_schemas([Source(path)])[1].resources] == ["Bank", "Shop"]
    (_, schema) = read_schemas([Source(path, resources=("Bank",))])
    assert [x.name for x in schema.resources] == ["Bank"]


def test_one_version_can_be_chosen(workspace):
    path = workspace.write("shop.yaml", CRD)
    (schema,) = read_schemas([Source(path, version="v1")])
    assert schema.version.text == "v1"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{HEAD}  versions: [{{name: v1}}]", "expected schema.openAPIV3Schema"),
        (f"{HEAD}  versions: []", "expected a list as versions"),
        (f"{HEAD}  versions: [{{name: latest, schema: {{}}}}]", "is not an API version"),
        (f"{HEAD}  versions: [{{schema: {{}}}}]", "expected a text as name"),
        ("kind: CustomResourceDefinition\nspec: []", "expected an object as spec"),
        ("kind: CustomResourceDefinition\nspec: {names: {}}", "expected an object as names"),
    ],
)
def test_what_is_incomplete_is_an_error(workspace, text, reason):
    with pytest.raises(SchemaError, match=reason):
        workspace.read(text, "shop.yaml")


STATUS = {"type": "object", "properties": {"status": {"type": "object"}}}


def versions_with(**subresources):
    """The versions of a CRD, each with what it says of subresources."""
    versions = [
        {
            "name": name,
            "served": True,
            "storage": name == "v1",
            "schema": {"openAPIV3Schema": STATUS},
            **said,
        }
        for name, said in subresources.items()
    ]
    return {"group": "example.com", "names": {"kind": "Shop"}, "versions": versions}


def status_apart(workspace, spec, version="v1"):
    crd = {
        "apiVersion": f"apiextensions.k8s.io/{version}",
        "kind": "CustomResourceDefinition",
        "spec": spec,
    }
    read = read_schemas([Source(workspace.write("shop.json", json.dumps(crd)))])
    return {each.version.text: each.resources[0].status_apart for each in read}


def test_each_version_says_whether_its_status_is_a_subresource(workspace):
    spec = versions_with(
        v1={"subresources": {"status": {}}},
        v2={},
        v3={"subresources": {"scale": {"specReplicasPath": ".spec.replicas"}}},
        v4={"subresources": {"status": None}},
    )
    assert status_apart(workspace, spec) == {"v1": True, "v2": False, "v3": False, "v4": False}


def test_an_older_definition_says_it_of_all_versions(workspace):
    spec = {**versions_with(v1={}, v2={}), "subresources": {"status": {}}}
    assert status_apart(workspace, spec, "v1beta1") == {"v1": True, "v2": True}


def test_other_formats_do_not_say_whether_a_status_is_a_subresource(workspace):
    path = workspace.write("shop.yaml", "title: Shop\ntype: object\nproperties: {status: {}}\n")
    (schema,) = read_schemas([Source(path, version="v1")])
    assert schema.resources[0].status_apart is None


ROLE = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: shops}
rules: []
"""


def test_manifests_of_other_kinds_may_stand_beside_definitions(workspace):
    """As in what operators publish: a folder, or one file, with all that installs them."""
    folder = workspace.write("config/shop.yaml", CRD).parent
    workspace.write("config/roles.yaml", ROLE)
    workspace.write("config/all.yaml", "\n---\n".join((ROLE, CRD.replace("Shop", "Stall"), ROLE)))
    found = {each.name for schema in read_schemas([Source(folder)]) for each in schema.resources}
    assert found == {"Shop", "Stall"}


def test_manifests_without_definitions_are_no_schemas(workspace):
    with pytest.raises(
        SchemaError, match=r"found ClusterRole of rbac.* name the file with the CRDs"
    ):
        read_schemas([Source(workspace.write("roles.yaml", ROLE))])


def test_a_schema_may_give_an_example_of_what_documents_say_first(workspace):
    text = "title: Shop\ntype: object\nproperties: {apiVersion: {const: v1}, kind: {const: Shop}}\n"
    (schema,) = read_schemas([Source(workspace.write("v1.yaml", text))])
    assert [each.name for each in schema.resources] == ["Shop"]
