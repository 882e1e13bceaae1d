"""Schemas that contradict themselves: a variant of a union is left out, anything else is an error."""

import pytest

from trundle.schema import Ref, Scalar, SchemaError, Union
from trundle.schema.readers import Source, read_schemas

HEAD = "title: Box\ntype: object\nproperties:\n  it: "
KEPT = "{type: object, required: [kind], properties: {kind: {const: a}, x: {type: string}}}"


def read(workspace, it, definitions="{}"):
    return workspace.read(f"{HEAD}{it}\n$defs: {definitions}\n")


def type_of(schema):
    return schema.object("Box").property("it").type


CONTRADICTIONS = [
    "false",
    "{not: {}}",
    "{not: true}",
    "{allOf: [{type: string}, {type: integer}]}",
    "{allOf: [{enum: [a]}, {enum: [b]}]}",
    "{enum: []}",
    "{required: [k], properties: {k: {type: string, enum: []}}}",
    "{allOf: [{properties: {kind: {const: b}}}, {required: [kind], properties: {kind: {const: c}}}]}",
    "{required: [kind], properties: {kind: false}}",
    "{required: [in], properties: {in: {required: [x], properties: {x: {not: {}}}}}}",
    "{oneOf: [false, {allOf: [{type: string}, {type: integer}]}]}",
    "{$ref: '#/$defs/Never'}",
]
NEVER = "{Never: {allOf: [{type: boolean}, {type: string}]}}"


@pytest.mark.parametrize("variant", CONTRADICTIONS)
@pytest.mark.parametrize("keyword", ["oneOf", "anyOf"])
def test_a_variant_that_no_value_fits_is_left_out_with_a_note(workspace, keyword, variant):
    schema = read(workspace, f"{{{keyword}: [{variant}, {KEPT}]}}", NEVER)
    (kept,) = [each for each in schema.definitions.values() if each.name == "BoxIt"]
    assert {each.name for each in kept.properties} == {"kind", "x"}
    assert type_of(schema) == Ref("BoxIt")
    note = schema.notes[-1] if variant.startswith("{oneOf") else schema.notes[0]
    assert note.where.startswith(f"{workspace.folder}/v1.yaml#/properties/it/{keyword}/0")
    assert note.what.startswith("no value fits this variant, which is left out: ")


def test_the_other_variants_stay(workspace):
    schema = read(workspace, "{oneOf: [{type: string}, false, {type: integer}]}")
    assert type_of(schema) == Union((Scalar("string"), Scalar("integer")))
    assert [each.where.rpartition("#")[2] for each in schema.notes] == ["/properties/it/oneOf/1"]


def test_where_no_variant_is_left_the_union_is_an_error_at_its_place(workspace):
    with pytest.raises(SchemaError, match="no variant of oneOf remains") as caught:
        read(workspace, "{oneOf: [{not: {}}, {allOf: [{type: string}, {type: integer}]}]}")
    assert caught.value.pointer == "#/properties/it"


def test_a_required_property_that_no_value_fits_is_an_error(workspace):
    with pytest.raises(SchemaError, match="conflicting types"):
        read(workspace, "{allOf: [{type: string}, {type: integer}]}")


def test_variants_without_contradictions_have_no_notes(workspace):
    assert read(workspace, f"{{oneOf: [{KEPT}, {{type: string}}]}}").notes == ()


# Several files


def test_what_is_wrong_with_each_file_is_listed_at_once(workspace):
    workspace.write("v1.yaml", "{{{")
    workspace.write("v2.yaml", f"{HEAD}{{type: strin}}\n")
    workspace.write("v3.yaml", f"{HEAD}{{type: string}}\n")
    workspace.write("other.json", "[")
    with pytest.raises(SchemaError) as caught:
        workspace.read_all()
    files = [each.file.rpartition("/")[2] for each in caught.value.errors]
    assert sorted(files) == ["other.json", "v1.yaml", "v2.yaml"]


def test_excluded_files_are_not_read(workspace):
    workspace.write("v1.yaml", f"{HEAD}{{$ref: drafts/parts.yaml}}\n")
    workspace.write("drafts/parts.yaml", "type: string\n")
    workspace.write("v2.yaml", "{{{")

    def read_without(*patterns):
        source = Source(workspace.folder, exclude=patterns, folder=workspace.folder)
        return read_schemas([source])

    (schema,) = read_without("v2.*", "drafts/")
    assert type_of(schema) == Scalar("string")
    with pytest.raises(SchemaError, match="found only excluded ones"):
        read_without("*")
    with pytest.raises(SchemaError, match="expected valid YAML"):
        read_without("*", "!v2.yaml")
