import pytest

from trundle.schema import ListOf, Nullable, Ref, Scalar, SchemaError, Union
from trundle.schema.readers import Source, read_schemas

PETS = """
openapi: 3.0.3
info: {title: Pets, version: "2016-03-01"}
paths:
  /pets:
    parameters: []
    post:
      requestBody: {$ref: "#/components/requestBodies/Pet"}
      responses:
        201: {description: Made., content: {application/json: {schema: {$ref: "#/components/schemas/Pet"}}}}
        default: {description: No., content: {application/json: {schema: {$ref: "#/components/schemas/Error"}}}}
components:
  requestBodies:
    Pet: {content: {application/json: {schema: {$ref: "#/components/schemas/NewPet"}}}}
  schemas:
    Error: {type: object, properties: {code: {type: integer}}}
    NewPet: {type: object, properties: {name: {type: string, nullable: true}}}
    Pet:
      type: object
      properties:
        owner: {nullable: true, allOf: [{$ref: "#/components/schemas/Owner"}]}
        size: {type: string, enum: [small, large, null], nullable: true}
    Owner: {type: object, properties: {name: {type: string}}}
"""


def with_schemas(text):
    return f"""
openapi: 3.1.0
info: {{title: T, version: v1}}
components:
  schemas:
    R: {{type: object, properties: {{p: {{$ref: "#/components/schemas/Base"}}}}}}
{text}
"""


def test_resources_are_the_objects_that_paths_use(workspace):
    schema = workspace.read(PETS, "pets.yaml")
    assert schema.version.text == "2016-03-01"
    assert [each.name for each in schema.resources] == ["NewPet", "Pet"]
    assert "Error" not in schema.definitions
    pet = schema.object("Pet")
    assert pet.property("owner").type == Nullable(Ref("Owner"))
    assert pet.property("size").type == Nullable(Ref("PetSize"))
    assert schema.object("NewPet").property("name").type == Nullable(Scalar("string"))


def test_resources_can_be_listed(workspace):
    schema = workspace.read(PETS, "pets.yaml", resources=("Error",), group="example.com")
    assert [(x.name, x.group) for x in schema.resources] == [("Error", "example.com")]


def test_the_file_name_gives_the_version_where_the_document_does_not(workspace):
    schema = workspace.read(PETS.replace("2016-03-01", "1.0.0"), "pets.v2.yaml")
    assert schema.version.text == "v2"
    with pytest.raises(SchemaError, match="expected an API version"):
        workspace.read(PETS.replace("2016-03-01", "1.0.0"), "pets.yaml")


def test_swagger(workspace):
    schema = workspace.read(
        """
        swagger: "2.0"
        info: {title: T, version: v1}
        paths:
          /pets:
            put:
              parameters:
                - {in: query, name: q, schema: {$ref: "#/definitions/Other"}}
                - {in: body, name: pet, schema: {$ref: "#/definitions/Pet"}}
        definitions:
          Pet: {type: object, properties: {age: {type: integer, x-nullable: true}}}
          Other: {type: object, properties: {age: {type: integer}}}
        """,
        "t.yaml",
    )
    assert [each.name for each in schema.resources] == ["Pet"]
    assert schema.object("Pet").property("age").type == Nullable(Scalar("integer"))


def test_kubernetes_documents_state_group_and_version(workspace):
    path = workspace.write(
        "api.json",
        """{"swagger": "2.0", "info": {"version": "unversioned"}, "definitions": {
          "io.k8s.api.apps.v1.Thing": {
            "type": "object",
            "properties": {"spec": {"$ref": "#/definitions/io.k8s.api.apps.v1.ThingSpec"}},
            "x-kubernetes-group-version-kind": [{"group": "apps", "kind": "Thing", "version": "v1"}]},
          "io.k8s.api.apps.v1beta1.Thing": {
            "type": "object",
            "properties": {"spec": {"$ref": "#/definitions/io.k8s.api.apps.v1.ThingSpec"}},
            "x-kubernetes-group-version-kind": [
              {"group": "apps", "kind": "Thing", "version": "v1beta1"}]},
          "io.k8s.api.apps.v1.ThingSpec": {
            "type": "object", "properties": {"level": {"enum": ["a"]}}}}}""",
    )
    schemas = read_schemas([Source(path)])
    assert [each.version.text for each in schemas] == ["v1beta1", "v1"]
    for each in schemas:
        assert [(x.name, x.group) for x in each.resources] == [("Thing", "apps")]
        assert sorted(each.definitions) == ["Thing", "ThingSpec", "ThingSpecLevel"]


def of_an_api_server(version):
    """What an API server says of one version of `Thing`; its own kinds are in the document of each version."""
    return f"""
        openapi: 3.0.0
        info: {{title: Kubernetes, version: "1.36"}}
        paths:
          /apis/example.org/{version}/:
            get:
              responses: {{200: {{content: {{application/json: {{schema: {{$ref: "#/components/schemas/meta.v1.Status"}}}}}}}}}}
          /apis/example.org/{version}/things/{{name}}:
            parameters: []
            get: {{x-kubernetes-group-version-kind: {{group: example.org, kind: Thing, version: {version}}}}}
          /apis/example.org/{version}/things/{{name}}/scale:
            put: {{x-kubernetes-group-version-kind: {{group: scaling, kind: Scale, version: v1}}}}
        components:
          schemas:
            {version}.Thing:
              type: object
              properties: {{size: {{type: integer}}}}
              x-kubernetes-group-version-kind: [{{group: example.org, kind: Thing, version: {version}}}]
            {version}.ThingList:
              type: object
              properties: {{items: {{type: array, items: {{$ref: "#/components/schemas/{version}.Thing"}}}}}}
              x-kubernetes-group-version-kind: [{{group: example.org, kind: ThingList, version: {version}}}]
            meta.v1.Status:
              type: object
              properties: {{code: {{type: integer}}}}
              x-kubernetes-group-version-kind: [{{group: "", kind: Status, version: v1}}]
            scaling.v1.Scale:
              type: object
              properties: {{replicas: {{type: integer}}}}
              x-kubernetes-group-version-kind: [{{group: scaling, kind: Scale, version: v1}}]
        """


def test_resources_of_an_api_server_are_what_its_paths_are_about(workspace):
    paths = [workspace.write(f"{each}.yaml", of_an_api_server(each)) for each in ("v1beta1", "v1")]
    schemas = read_schemas([Source(path) for path in paths])
    assert [each.version.text for each in schemas] == ["v1beta1", "v1"]
    assert [[x.name for x in each.resources] for each in schemas] == [["Thing"], ["Thing"]]
    listed = read_schemas([Source(paths[1], resources=("v1.ThingList",))])
    assert [x.name for x in listed[0].resources] == ["ThingList"]


def test_one_kind_in_two_groups_is_two_resources(workspace):
    thing = """{{"type": "object", "properties": {{"a": {{"type": "{}"}}}},
      "x-kubernetes-group-version-kind": [{{"group": "{}", "kind": "T", "version": "v1"}}]}}"""
    schema = workspace.read(
        f"""{{"swagger": "2.0", "definitions": {{
          "a.T": {thing.format("string", "a")}, "b.T": {thing.format("integer", "b")}}}}}""",
        "api.json",
    )
    assert [(x.name, x.group, x.root) for x in schema.resources] == [
        ("T", "a", "T"),
        ("T", "b", "T_2"),
    ]


def test_a_discriminator_makes_constants_of_its_variants(workspace):
    text = with_schemas(
        """
    Base:
      oneOf: [{$ref: "#/components/schemas/Cat"}, {$ref: "#/components/schemas/Dog"}]
      discriminator: {propertyName: kind, mapping: {cat: "#/components/schemas/Cat"}}
    Cat: {type: object, properties: {kind: {type: string}, lives: {type: integer}}}
    Dog: {type: object, properties: {barks: {type: boolean}}}
        """
    )
    schema = workspace.read(text, resources=("R",))
    assert schema.object("R").property("p").type == Union((Ref("Cat"), Ref("Dog")))
    for name, constant in (("Cat", "cat"), ("Dog", "Dog")):
        kind = schema.object(name).property("kind")
        assert kind.required
        assert schema.definitions[kind.type.key].values == (constant,)
        assert schema.definitions[kind.type.key].name == f"{name}Kind"


def test_a_base_with_a_discriminator_stands_for_those_that_include_it(workspace):
    text = with_schemas(
        """
    Base:
      type: object
      properties: {kind: {type: string}, name: {type: string}}
      discriminator: {propertyName: kind, mapping: {tom: Cat}}
    Cat: {allOf: [{$ref: "#/components/schemas/Base"}, {properties: {lives: {type: integer}}}]}
    Dog:
      allOf:
        - {$ref: "#/components/schemas/Base"}
        - {properties: {friends: {type: array, items: {$ref: "#/components/schemas/Base"}}}}
        """
    )
    schema = workspace.read(text, resources=("R",))
    union = Union((Ref("Cat"), Ref("Dog")))
    assert schema.object("R").property("p").type == union
    assert [x.name for x in schema.object("Cat").properties] == ["kind", "lives", "name"]
    assert schema.definitions["CatKind"].values == ("tom",)
    assert schema.object("Dog").property("friends").type == ListOf(union)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("openapi: 3.0.0\ninfo: {version: v1}", "list the source's resources"),
        ("openapi: 3.0.0\ninfo: {version: v1}\ncomponents: []", "expected an object as components"),
        ("swagger: '2.0'\ndefinitions: 3", "expected an object as definitions"),
        (
            "swagger: '2.0'\ndefinitions: {A: {x-kubernetes-group-version-kind: [3]}}",
            "expected group, version and kind",
        ),
        (
            "swagger: '2.0'\ndefinitions: {A: {x-kubernetes-group-version-kind: {kind: A, version: x}}}",
            "is not an API version",
        ),
    ],
)
def test_what_cannot_be_used_is_an_error(workspace, text, reason):
    with pytest.raises(SchemaError, match=reason):
        workspace.read(text, "v1.yaml")
