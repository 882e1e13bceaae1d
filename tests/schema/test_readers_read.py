import pytest

from trundle.schema import SchemaError
from trundle.schema.readers import SchemaErrors, Source, detect_format, read_schemas

GOOD = "title: R\nproperties: {a: {type: string}}\n"


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"openapi": "3.0.0"}, "openapi"),
        ({"swagger": "2.0"}, "openapi"),
        ({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}, "crd"),
        ({"kind": "List", "items": [{"kind": "CustomResourceDefinition"}]}, "crd"),
        ({"resourceDefinitions": {}}, "azure"),
        ({"id": "https://schema.management.azure.com/schemas/common/definitions.json#"}, "azure"),
        ({"type": "object"}, "json-schema"),
        ({"kind": ["x"]}, "json-schema"),
        ([], "json-schema"),
    ],
)
def test_formats_are_distinguished(document, expected):
    assert detect_format(document) == expected


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (
            {"path": "gone"},
            "expected a file or folder of schemas, found none there; correct the path",
        ),
        ({"path": "empty"}, "found none"),
        ({"path": "v1.yaml", "format": "xml"}, "found the format 'xml'"),
        ({"path": "v1.yaml", "version": "latest"}, "is not an API version"),
        ({"path": "v1.py"}, "there is no such file"),
    ],
)
def test_sources_that_make_no_sense_are_errors(workspace, options, reason):
    (workspace.folder / "empty").mkdir()
    workspace.write("v1.yaml", GOOD)
    path = workspace.folder / options.pop("path")
    with pytest.raises(SchemaError, match=reason):
        read_schemas([Source(path, **options)])


def test_no_sources_give_no_schemas():
    assert read_schemas([]) == ()


def test_a_source_can_say_its_version(workspace):
    assert workspace.read(GOOD, "v1.yaml", version="v2").version.text == "v2"


def test_a_source_can_say_its_group(workspace):
    assert workspace.read(GOOD, group="example.com").resources[0].group == "example.com"


def test_other_files_of_a_folder_are_left_alone(workspace):
    workspace.write("v1.yaml", GOOD)
    workspace.write("README.md", "# No schema")
    assert len(read_schemas([Source(workspace.folder)])) == 1


def test_a_file_that_only_others_use_is_read_once(workspace):
    workspace.write("shared/a.yaml", "$defs: {A: {enum: [x]}}")
    for version in ("v1", "v2"):
        text = "title: R\nproperties: {a: {$ref: '../shared/a.yaml#/$defs/A'}}"
        workspace.write(f"schemas/{version}.yaml", text)
    seen = []
    source = Source(workspace.folder / "schemas", folder=workspace.folder)
    schemas = read_schemas([source], on_file=seen.append)
    assert len(schemas) == 2
    assert [each.name for each in seen] == ["v1.yaml", "v2.yaml", "a.yaml"]


class TestReferencesThatLeadOut:
    """Of schemas that a project takes from others, a reference may read no other file of the machine."""

    @pytest.fixture
    def secret(self, workspace):
        return workspace.write("secret/a.yaml", "$defs: {A: {enum: [x]}}")

    @pytest.fixture
    def sources(self, workspace):
        project = workspace.folder / "project"
        return [Source(project / "schemas", folder=project)]

    def refer(self, workspace, reference):
        text = f"title: R\nproperties: {{a: {{$ref: '{reference}#/$defs/A'}}}}"
        workspace.write("project/schemas/v1.yaml", text)

    @pytest.mark.parametrize("there", [True, False])
    @pytest.mark.parametrize(
        "reference",
        [
            "../../secret/a.yaml",
            "../../project/../secret/a.yaml",
            "%2e%2e/../secret/a.yaml",
            "{secret}",
            "link/a.yaml",
        ],
    )
    def test_they_are_refused_whether_there_is_a_file_or_not(
        self, workspace, secret, sources, reference, there
    ):
        self.refer(workspace, reference.format(secret=secret))
        (workspace.folder / "project/schemas/link").symlink_to(secret.parent)
        if not there:
            secret.unlink()
        with pytest.raises(SchemaError, match="leads out of them; name that file") as caught:
            read_schemas(sources)
        assert (caught.value.pointer, "v1.yaml" in caught.value.file) == ("#/properties/a", True)

    def test_a_file_of_a_source_may_be_anywhere(self, workspace, secret, sources):
        self.refer(workspace, "../../secret/a.yaml")
        assert read_schemas([*sources, Source(secret)])

    def test_a_file_beside_one_of_a_source_may_be_referred_to(self, workspace, secret, sources):
        text = "title: S\nproperties: {a: {$ref: 'a.yaml#/$defs/A'}}"
        beside = Source(workspace.write("secret/v2.yaml", text))
        self.refer(workspace, "../../secret/a.yaml")
        assert secret.exists()
        assert len(read_schemas([*sources, beside])) == 2

    def test_a_link_to_a_folder_of_schemas_leads_into_it(self, workspace, secret, sources):
        text = "title: R\nproperties: {a: {$ref: 'a.yaml#/$defs/A'}}"
        workspace.write("secret/v1.yaml", text)
        (workspace.folder / "project").mkdir()
        (workspace.folder / "project/schemas").symlink_to(secret.parent)
        assert read_schemas(sources)


def test_several_sources_may_name_one_file(workspace):
    text = "$defs: {A: {properties: {x: {enum: [y]}}}, B: {properties: {x: {enum: [y]}}}}"
    path = workspace.write("v1.yaml", text)
    one = Source(path, resources=("A",), group="one")
    two = Source(path, resources=("A", "B"), group="two")
    (schema,) = read_schemas([one, two, Source(workspace.folder, resources=("A",), group="one")])
    assert [(x.name, x.group) for x in schema.resources] == [
        ("A", "one"),
        ("A", "two"),
        ("B", "two"),
    ]
    assert [x.root for x in schema.resources] == ["A", "A", "B"]


def test_all_that_is_wrong_with_a_file_is_found_in_the_order_of_its_lines(workspace):
    text = """
title: Thing
type: object
properties:
  z: {$ref: "#/$defs/Gone"}
  a: {type: strng}
  more: {$ref: "#/$defs/Item"}
  item: {$ref: "#/$defs/Item"}
  good: {type: string}
$defs:
  Item:
    type: object
    properties:
      b: {type: array, items: {$ref: gone.yaml}}
      a: {enum: []}
"""
    with pytest.raises(SchemaErrors) as caught:
        workspace.read(text)
    assert [each.pointer for each in caught.value.errors] == [
        "#/properties/z",
        "#/properties/a",
        "#/$defs/Item/properties/b/items",
        "#/$defs/Item/properties/a",
    ]


def test_what_is_wrong_in_many_places_does_not_fill_the_screen(workspace):
    lines = "".join(f"  p{number}: {{type: strng}}\n" for number in range(500))
    with pytest.raises(SchemaError) as caught:
        workspace.read(f"title: Thing\nproperties:\n{lines}")
    assert len(str(caught.value).splitlines()) == 101
