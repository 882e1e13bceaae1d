import pytest

from trundle.schema import (
    ABSENT,
    EnumType,
    FreeForm,
    ListOf,
    MapOf,
    Nullable,
    ObjectType,
    Ref,
    Scalar,
    SchemaError,
    Union,
)
from trundle.schema.readers import SchemaErrors, Source, read_schemas

STRING = Scalar("string")
INTEGER = Scalar("integer")


@pytest.fixture
def property_of(workspace):
    """Reads one property `p` of a resource `R`, with definitions beside it."""

    def read(text: str, definitions: str = "{}"):
        schema = workspace.read(
            f"title: R\ntype: object\nproperties: {{p: {text}}}\n$defs: {definitions}\n"
        )
        return schema.object("R").property("p"), schema

    return read


def test_the_root_is_a_resource_under_its_title(workspace):
    schema = workspace.read(
        """
        $schema: https://json-schema.org/draft/2020-12/schema
        title: Person
        description: "Somebody.  "
        type: object
        properties:
          lastName: {type: string, minLength: 1}
          id: {type: string, format: uuid, description: Who.}
          address: {$ref: "#/$defs/Address"}
        required: [id]
        $defs:
          Address: {type: object, properties: {street: {type: string}}}
          Unused: {type: object, properties: {x: {type: string}}}
        """,
        "2011-01-01.yaml",
    )
    assert schema.version.text == "2011-01-01"
    (resource,) = schema.resources
    assert (resource.name, resource.root, resource.name_property) == ("Person", "Person", "kind")
    assert list(schema.definitions) == ["Address", "Person"]
    person = schema.object("Person")
    assert person.doc == "Somebody."
    assert [each.name for each in person.properties] == ["address", "id", "lastName"]
    assert person.property("id").type == Scalar("string", "uuid")
    assert person.property("id").required
    assert person.property("id").doc == "Who."
    assert person.property("lastName").constraints == (("minLength", 1),)
    assert person.source.endswith("2011-01-01.yaml#")


def test_the_root_takes_the_file_name_where_it_has_no_title(workspace):
    text = "type: object\nproperties: {a: {type: string}}\n"
    schema = workspace.read(text, "2016-03-01/person.yaml")
    assert schema.resources[0].name == "Person"


def test_marked_definitions_are_resources(workspace):
    schema = workspace.read(
        """
        $defs:
          B: {x-resource: true, type: object, properties: {a: {$ref: "#/$defs/A"}}}
          A: {type: object, properties: {x: {type: string}}}
          C: {x-resource: true, type: object, properties: {x: {type: string}}}
        """
    )
    assert [each.name for each in schema.resources] == ["B", "C"]


def test_listed_definitions_are_resources(workspace):
    text = "$defs: {A: {properties: {x: {type: string}}}, B: {properties: {x: {type: string}}}}"
    assert [x.name for x in workspace.read(text, resources=("B",)).resources] == ["B"]
    with pytest.raises(SchemaError, match="no definition 'C'"):
        workspace.read(text, resources=("B", "C"))


def test_a_file_without_resources_says_what_to_do(workspace):
    with pytest.raises(SchemaError, match="x-resource: true"):
        workspace.read("$defs: {A: {type: object}}")


def test_a_file_without_resources_may_serve_others(workspace):
    workspace.write("common.yaml", "$defs: {A: {type: object, properties: {x: {type: string}}}}")
    workspace.write("v1.yaml", "title: R\nproperties: {a: {$ref: 'common.yaml#/$defs/A'}}")
    (schema,) = workspace.read_all()
    assert schema.object("R").property("a").type == Ref("A")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{type: string}", STRING),
        ("{type: number, format: double}", Scalar("number", "double")),
        ("true", FreeForm()),
        ("{}", FreeForm()),
        ("{description: anything}", FreeForm()),
        ("{type: object}", FreeForm()),
        ("{type: object, properties: {}}", FreeForm()),
        ("{type: object, additionalProperties: true}", FreeForm()),
        ("{type: object, additionalProperties: {}}", FreeForm()),
        ("{type: object, additionalProperties: {type: string}}", MapOf(STRING)),
        ("{additionalProperties: {type: object}}", MapOf(FreeForm())),
        ("{type: object, patternProperties: {'^x': {type: string}}}", MapOf(STRING)),
        (
            "{type: object, patternProperties: {'^x': {type: string}, '^y': {type: integer}}}",
            FreeForm(),
        ),
        (
            "{patternProperties: {'^x': {type: string}}, additionalProperties: false}",
            MapOf(STRING),
        ),
        ("{type: array}", ListOf(FreeForm())),
        ("{type: array, items: {type: string}}", ListOf(STRING)),
        ("{items: {type: array, items: true}}", ListOf(ListOf(FreeForm()))),
        (
            "{type: array, prefixItems: [{type: string}, {type: integer}], items: false}",
            ListOf(Union((STRING, INTEGER))),
        ),
        ("{type: array, prefixItems: [{type: string}]}", ListOf(FreeForm())),
        (
            "{type: array, items: [{type: string}], additionalItems: {type: integer}}",
            ListOf(Union((STRING, INTEGER))),
        ),
        ("{type: [string, integer]}", Union((STRING, INTEGER))),
        ("{type: [string, 'null']}", Nullable(STRING)),
        ("{type: 'null'}", Nullable(FreeForm())),
        ("{type: string, nullable: true}", Nullable(STRING)),
        ("{oneOf: [{type: string}, {type: integer}]}", Union((STRING, INTEGER))),
        ("{anyOf: [{type: string}, {type: 'null'}]}", Nullable(STRING)),
        (
            "{oneOf: [{type: string}, {type: 'null'}, {type: integer}]}",
            Nullable(Union((STRING, INTEGER))),
        ),
        ("{oneOf: [{type: string}]}", STRING),
        ("{oneOf: [{type: integer}, {type: number}]}", Scalar("number")),
        ("{anyOf: [{type: string}, {enum: [a, b]}]}", STRING),
        ("{type: string, anyOf: [{minLength: 1}, {pattern: x}]}", STRING),
        ("{allOf: [{type: string}, {maxLength: 3}]}", STRING),
        ("{type: number, allOf: [{type: integer}]}", INTEGER),
        (
            "{type: [string, integer], oneOf: [{type: string}, {type: integer}]}",
            Union((STRING, INTEGER)),
        ),
    ],
)
def test_types(property_of, text, expected):
    found, _ = property_of(text)
    assert found.type == expected


@pytest.mark.parametrize(
    ("text", "kind", "values"),
    [
        ("{enum: [a, b, a]}", "string", ("a", "b")),
        ("{type: integer, enum: [2, 1]}", "integer", (2, 1)),
        ("{enum: [1, 1.5]}", "number", (1, 1.5)),
        ("{enum: [true]}", "boolean", (True,)),
        ("{const: a}", "string", ("a",)),
        ("{enum: [on, off, 2011-01-01]}", "string", ("on", "off", "2011-01-01")),
        ("{allOf: [{enum: [a, b]}, {enum: [b, c]}]}", "string", ("b",)),
        ("{oneOf: [{const: a}, {const: b}]}", "string", ("a", "b")),
    ],
)
def test_enums_take_the_name_of_their_place(property_of, text, kind, values):
    found, schema = property_of(text)
    assert found.type == Ref("RP")
    enum = schema.definitions["RP"]
    assert isinstance(enum, EnumType)
    assert (enum.name, enum.named, enum.kind, enum.values) == ("RP", False, kind, values)


def test_an_enum_with_null_is_nullable(property_of):
    found, schema = property_of("{enum: [a, null]}")
    assert found.type == Nullable(Ref("RP"))
    assert schema.definitions["RP"].values == ("a",)


def test_an_enum_of_several_kinds_is_a_union(property_of):
    found, schema = property_of("{enum: [auto, 1]}")
    assert found.type == Union((Ref("RP"), Ref("RP_2")))
    assert {x.kind for x in schema.definitions.values() if isinstance(x, EnumType)} == {
        "string",
        "integer",
    }


def test_a_named_enum_keeps_its_name(property_of):
    found, schema = property_of('{$ref: "#/$defs/Level"}', "{Level: {enum: [low, high]}}")
    assert found.type == Ref("Level")
    assert schema.definitions["Level"].named


def test_aliases_are_inlined(property_of):
    definitions = """{
      Name: {type: string, minLength: 1},
      Names: {type: array, items: {$ref: "#/$defs/Name"}},
      Table: {type: object, additionalProperties: {$ref: "#/$defs/Names"}}}"""
    found, schema = property_of('{$ref: "#/$defs/Table"}', definitions)
    assert found.type == MapOf(ListOf(STRING))
    assert list(schema.definitions) == ["R"]


def test_unnamed_objects_take_the_name_of_their_place(property_of):
    found, schema = property_of(
        "{type: array, items: {properties: {first-part: {properties: {x: {const: 1}}}}}}"
    )
    assert found.type == ListOf(Ref("RP"))
    assert schema.object("RP").property("first-part").type == Ref("RPFirstPart")
    assert schema.object("RPFirstPart").property("x").type == Ref("RPFirstPartX")
    assert not schema.object("RP").named


def test_unnamed_variants_share_a_name(property_of):
    found, schema = property_of(
        "{oneOf: [{properties: {a: {type: string}}}, {properties: {b: {type: string}}}]}"
    )
    assert found.type == Union((Ref("RP"), Ref("RP_2")))
    assert schema.object("RP_2").name == "RP"


def test_a_reference_to_a_place_uses_the_name_of_the_place(workspace):
    schema = workspace.read(
        """
        title: R
        properties:
          a: {$ref: "#/properties/b"}
          b: {type: object, properties: {x: {type: string}}}
        """
    )
    assert schema.object("R").property("a").type == Ref("RB")
    assert schema.object("R").property("b").type == Ref("RB")


def test_all_of_merges(property_of):
    found, schema = property_of(
        "{allOf: [{$ref: '#/$defs/A'}, {$ref: '#/$defs/B'}, {properties: {c: {type: string}}}]}",
        """{
          A: {type: object, properties: {x: {type: string}}, required: [x]},
          B: {type: object, properties: {x: {enum: [u, v]}, y: {type: integer}}}}""",
    )
    assert found.type == Ref("RP")
    merged = schema.object("RP")
    assert [each.name for each in merged.properties] == ["c", "x", "y"]
    assert merged.property("x").required
    assert schema.definitions[merged.property("x").type.key].values == ("u", "v")


def test_all_of_one_reference_is_the_reference(property_of):
    found, _ = property_of(
        "{description: Where., allOf: [{$ref: '#/$defs/A'}]}",
        "{A: {description: A., type: object, properties: {x: {type: string}}}}",
    )
    assert found.type == Ref("A")
    assert found.doc == "Where."


def test_common_properties_are_in_each_variant(property_of):
    found, schema = property_of(
        """{
          type: object, properties: {name: {type: string}}, required: [name],
          oneOf: [{$ref: '#/$defs/A'}, {$ref: '#/$defs/B'}]}""",
        "{A: {properties: {a: {type: string}}}, B: {properties: {b: {type: string}}}}",
    )
    assert found.type == Union((Ref("A"), Ref("B")))
    assert [each.name for each in schema.object("B").properties] == ["b", "name"]
    assert schema.object("B").property("name").required


def test_variants_that_only_require_are_constraints(property_of):
    found, schema = property_of(
        "{properties: {a: {type: string}, b: {type: string}}, oneOf: [{required: [a]}, {required: [b]}]}"
    )
    assert found.type == Ref("RP")
    assert not schema.object("RP").property("a").required
    assert found.constraints == (("oneOf", [{"required": ["a"]}, {"required": ["b"]}]),)


def test_every_keyword_that_constrains_is_kept(property_of):
    found, _ = property_of(
        "{type: string, not: {const: a}, if: {minLength: 1}, then: {maxLength: 3}, x-mine: 1, title: T}"
    )
    assert [name for name, _ in found.constraints] == ["if", "not", "then", "x-mine"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{items: {type: string, pattern: x}}", (("items", {"pattern": "x"}),)),
        (
            "{additionalProperties: {items: {type: string, maxLength: 1}}, minProperties: 1}",
            (("additionalProperties", {"items": {"maxLength": 1}}), ("minProperties", 1)),
        ),
        (
            "{oneOf: [{type: string, pattern: x}, {type: integer}]}",
            (("oneOf", [{"pattern": "x"}, {}]),),
        ),
        ("{items: {type: object}}", (("items", {"type": "object"}),)),
        ("{type: [object, 'null']}", (("type", "object"),)),
        ("{type: array, enum: [[1], []]}", (("enum", [[1], []]), ("type", "array"))),
        ("{items: {enum: [{a: 1}, x]}}", (("items", {"enum": [{"a": 1}, "x"]}),)),
        ("{const: {a: 1}}", (("enum", [{"a": 1}]),)),
        ("{enum: [null]}", ()),
        ("{oneOf: [{type: object}, {type: string}]}", ()),
        ("{properties: {a: {type: object}}}", ()),
    ],
)
def test_constraints_of_what_a_property_holds_are_kept(property_of, text, expected):
    assert property_of(text)[0].constraints == expected


def test_defaults_are_plain_json(property_of):
    assert property_of("{type: string}")[0].default is ABSENT
    assert property_of("{type: string, default: null}")[0].default is None
    assert property_of("{allOf: [{type: integer, default: 3}]}")[0].default == 3


def test_required_names_an_undeclared_property(workspace):
    schema = workspace.read("title: R\ntype: object\nproperties: {}\nrequired: [a]")
    assert schema.object("R").property("a").type == FreeForm()
    assert schema.object("R").property("a").required


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("additionalProperties: false", None),
        ("{}", None),
        ("additionalProperties: true", FreeForm()),
        ("additionalProperties: {type: string}", STRING),
        ("patternProperties: {x: {type: string}}", STRING),
        ("patternProperties: {x: {type: string}, y: {type: integer}}", FreeForm()),
    ],
)
def test_additional_properties_beside_properties(property_of, text, expected):
    body = "" if text == "{}" else f", {text}"
    _, schema = property_of(f"{{properties: {{a: {{type: string}}}}{body}}}")
    assert schema.object("RP").additional == expected


def test_an_object_without_any_properties_is_an_object(property_of):
    found, schema = property_of("{type: object, additionalProperties: false}")
    assert found.type == Ref("RP")
    assert schema.object("RP").properties == ()


def test_recursive_definitions(workspace):
    schema = workspace.read(
        """
        title: R
        properties:
          self: {$ref: "#"}
          tree: {$ref: "#/$defs/Tree"}
        $defs:
          Tree:
            oneOf:
              - {type: string}
              - {type: object, properties: {left: {$ref: "#/$defs/Tree"}}}
        """
    )
    assert schema.object("R").property("self").type == Ref("R")
    assert schema.object("R").property("tree").type == Union((STRING, Ref("Tree")))
    assert schema.object("Tree").property("left").type == Union((STRING, Ref("Tree")))


def test_recursion_without_an_object_is_free_form_where_it_closes(property_of):
    found, _ = property_of(
        '{$ref: "#/$defs/Json"}',
        '{Json: {oneOf: [{type: string}, {type: array, items: {$ref: "#/$defs/Json"}}]}}',
    )
    assert found.type == Union((STRING, ListOf(FreeForm())))


def test_the_same_recursive_alias_reads_the_same_everywhere(workspace):
    text = """
        title: R
        properties: {%s}
        $defs:
          A: {type: array, items: {$ref: "#/$defs/B"}}
          B: {type: object, additionalProperties: {$ref: "#/$defs/A"}}
        """
    a, b = 'a: {$ref: "#/$defs/A"}', 'b: {$ref: "#/$defs/B"}'
    both = workspace.read(text % f"{a}, {b}").object("R")
    only = workspace.read(text % b).object("R")
    assert both.property("a").type == ListOf(MapOf(FreeForm()))
    assert both.property("b").type == only.property("b").type == MapOf(ListOf(FreeForm()))


@pytest.mark.parametrize(
    ("text", "definitions", "reason"),
    [
        ("{type: strin}", "{}", "string, found the type 'strin'"),
        ("{type: {a: b}}", "{}", "expected a type"),
        ("{type: []}", "{}", "expected a type"),
        ("{enum: []}", "{}", "expected a list of values as enum"),
        ("{type: string, enum: [1]}", "{}", "is not of type string"),
        ("{$ref: '#/$defs/X'}", "{}", "unresolvable"),
        ("{$ref: 'gone.yaml'}", "{}", "there is no file"),
        ("{$ref: 'https://example.com/x.json'}", "{}", "add the file to the sources"),
        ("{$ref: '#anchor'}", "{}", "no schema has this anchor"),
        ("{$ref: 3}", "{}", "expected text as"),
        ("{$ref: '#/$defs/A'}", "{A: {$ref: '#/$defs/B'}, B: {$ref: '#/$defs/A'}}", "cyclic"),
        ("{$ref: '#/$defs/A'}", "{A: {allOf: [{$ref: '#/$defs/A'}]}}", "cyclic"),
        ("false", "{}", "allows nothing"),
        ("[]", "{}", "expected a schema"),
        ("null", "{}", "expected a schema"),
        ("{allOf: [{type: string}, {type: integer}]}", "{}", "conflicting types"),
        ("{allOf: [{enum: [a]}, {enum: [b]}]}", "{}", "none in common"),
        ("{allOf: {}}", "{}", "expected a list of schemas as allOf"),
        ("{oneOf: []}", "{}", "expected a list of schemas as oneOf"),
        ("{properties: []}", "{}", "expected an object as properties"),
        ("{properties: {1: {type: string}}}", "{}", "put it in quotes"),
        ("{properties: {a: true}, required: a}", "{}", "expected a list of property names"),
        ("{type: string, required: true}", "{}", "list the property's name"),
        ("{additionalProperties: 3}", "{}", "expected a schema"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_its_place(property_of, text, definitions, reason):
    with pytest.raises(SchemaError, match=reason) as caught:
        property_of(text, definitions)
    assert caught.value.file.endswith("v1.yaml")
    assert caught.value.pointer.startswith("#/")


@pytest.mark.parametrize("text", ["[]", "3", '"x"', "true"])
def test_a_document_must_be_an_object(workspace, text):
    with pytest.raises(SchemaError, match="expected a schema"):
        workspace.read(text, "v1.json")


def test_a_resource_must_be_an_object(workspace):
    with pytest.raises(SchemaError, match="must be an object"):
        workspace.read("$defs: {A: {type: string}}", resources=("A",))


def test_a_version_must_be_named(workspace):
    with pytest.raises(SchemaError, match="no API version"):
        workspace.read("title: R\nproperties: {a: true}", "person.yaml")


def test_polymorphic_roots_become_one_object(workspace):
    schema = workspace.read(
        """
        title: Pet
        properties: {name: {type: string}}
        required: [name]
        oneOf:
          - properties: {kind: {const: cat}, lives: {type: integer}, food: {type: string}}
            required: [kind, lives]
          - properties: {kind: {const: dog}, food: {type: integer}}
            required: [kind]
        """
    )
    pet = schema.object("Pet")
    assert [(x.name, x.required) for x in pet.properties] == [
        ("food", False),
        ("kind", True),
        ("lives", False),
        ("name", True),
    ]
    assert pet.property("food").type == Union((STRING, INTEGER))
    assert schema.definitions["PetKind"].values == ("cat", "dog")
    assert sorted(schema.definitions) == ["Pet", "PetKind"]


def test_references_across_files_by_url_and_anchor(workspace):
    workspace.write(
        "schemas/v1/common.json",
        """{"$id": "https://example.com/common.json", "$defs": {
          "A": {"$anchor": "a", "type": "object", "properties": {"x": {"type": "string"}}},
          "B": {"$id": "b.json", "$defs": {"C": {"enum": ["c"]}},
                "type": "object", "properties": {"c": {"$ref": "#/$defs/C"}}}}}""",
    )
    workspace.write(
        "schemas/v1/r.yaml",
        """
        title: R
        $id: https://example.com/r.json
        properties:
          a: {$ref: "https://example.com/common.json#a"}
          b: {$ref: "b.json"}
          c: {$ref: "common.json#/$defs/B/$defs/C"}
        """,
    )
    (schema,) = workspace.read_all()
    root = schema.object("R")
    assert [x.type for x in root.properties] == [Ref("A"), Ref("B"), Ref("C")]


def test_namesakes_of_different_shape_are_all_kept(workspace):
    for name, kind in (("a", "string"), ("b", "integer"), ("c", "string")):
        workspace.write(
            f"v1/{name}.yaml",
            f"""
            title: {name.upper()}
            properties: {{x: {{$ref: "#/$defs/X"}}}}
            $defs: {{X: {{properties: {{y: {{type: {kind}}}, next: {{$ref: "#/$defs/X"}}}}}}}}
            """,
        )
    (schema,) = workspace.read_all()
    assert sorted(schema.definitions) == ["A", "B", "C", "X", "X_2"]
    found = [schema.object(x).property("x").type for x in "ABC"]
    assert found == [Ref("X"), Ref("X_2"), Ref("X")]
    assert schema.object("X_2").name == "X"
    assert schema.object("X_2").property("next").type == Ref("X_2")
    assert len(schema.sources) == 3


def test_two_files_for_one_version_name_both(workspace):
    for name in ("a", "b"):
        workspace.write(f"v1/{name}.yaml", "title: Person\nproperties: {x: {type: string}}")
    with pytest.raises(SchemaError, match=r"two files for one version.*a\.yaml.*b\.yaml"):
        workspace.read_all()


def test_one_file_must_not_declare_a_resource_twice(workspace):
    text = "title: Person\nproperties: {x: {type: string}}"
    with pytest.raises(SchemaError, match="declared twice"):
        workspace.read(f"{text}\n---\n{text}")


def test_versions_come_in_their_order(workspace):
    for name in ("v1", "2011-01-01", "v1beta1", "2010-01-01-preview"):
        workspace.write(f"{name}.yaml", "title: R\nproperties: {x: {type: string}}")
    assert [x.version.text for x in workspace.read_all()] == [
        "2010-01-01-preview",
        "2011-01-01",
        "v1beta1",
        "v1",
    ]


def test_findings_of_all_files_are_listed(workspace):
    workspace.write("v1.yaml", "title: R\nproperties: {a: {type: x}}")
    workspace.write("v2.yaml", "title: R\nproperties: {a: {$ref: '#/gone'}}")
    with pytest.raises(SchemaErrors) as caught:
        workspace.read_all()
    assert len(caught.value.errors) == 2
    assert "v1.yaml" in str(caught.value)
    assert "v2.yaml" in str(caught.value)


def test_the_order_of_sources_does_not_matter(workspace):
    paths = [
        workspace.write(f"v1/{x}.yaml", f"title: {x}\nproperties: {{p: {{const: {x}}}}}")
        for x in "abc"
    ]
    sources = [Source(each) for each in paths]
    assert read_schemas(sources) == read_schemas(sources[::-1])


def test_files_are_reported_as_they_are_read(workspace):
    path = workspace.write("v1.yaml", "title: R\nproperties: {x: {type: string}}")
    seen = []
    read_schemas([Source(path), Source(path)], on_file=seen.append)
    assert seen == [path]


def test_objects_are_object_types(property_of):
    _, schema = property_of("{properties: {a: {type: string}}}")
    assert all(isinstance(each, ObjectType) for each in schema.definitions.values())
