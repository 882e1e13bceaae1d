"""OpenAPI documents of what is served, as `kubectl explain` reads them."""

import shutil
import subprocess

import pytest
from apis import Client, serving_clubs
from projects import Installer
from served import Served

INNER = {
    "type": "object",
    "description": "How far in.",
    "properties": {"leaf": {"type": "string", "description": "What is there."}},
}
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "nests.explain.test"},
    "spec": {
        "group": "explain.test",
        "scope": "Namespaced",
        "names": {"kind": "Nest", "plural": "nests"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "description": "A nest.",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "description": "What is wanted.",
                                "properties": {"inner": INNER},
                            }
                        },
                    }
                },
            }
        ],
    },
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    return Installer(tmp_path_factory.mktemp("nests"))({"crd.json": CRD})


@pytest.fixture(scope="module")
def server(installed):
    found = Served(installed.project.folder)
    yield found
    found.kill()


@pytest.fixture(scope="module")
def kubectl(server, tmp_path_factory):
    folder = tmp_path_factory.mktemp("kubectl")
    command = ["kubectl", "--server", server.url, "--cache-dir", folder]

    def run(*arguments):
        return subprocess.run(
            [*command, *arguments], capture_output=True, text=True, timeout=60, check=True
        ).stdout

    return run


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="needs kubectl")
@pytest.mark.parametrize("output", ["plaintext", "plaintext-openapiv2"])
def test_kubectl_explains_objects_in_objects_and_says_each_description_once(kubectl, output):
    found = kubectl("explain", "nest.spec.inner", "--output", output)
    assert found.count("How far in.") == 1
    assert "leaf\t<string>" in found
    assert found.count("What is there.") == 1
    assert "How far in." in kubectl("explain", "nest.spec", "--output", output)
    assert "A nest." in kubectl("explain", "nest", "--output", output)


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="needs kubectl")
def test_kubectl_keeps_documents_that_have_not_changed(kubectl, server):
    """Its cache keeps what HTTP says it may."""

    def asked():
        return [each for each in server.messages.splitlines() if "/openapi/v3/apis/" in each]

    kubectl("explain", "nest")
    before = asked()
    assert before
    kubectl("explain", "nest.spec")
    kubectl("explain", "nest.spec.inner")
    assert asked() == before


def older_document(installed, tmp_path):
    with serving_clubs(installed, tmp_path / "store.db") as (api, _):
        code, found = Client(api).call("GET", "/openapi/v2")
    assert code == 200
    return found["definitions"]


def test_what_is_said_of_a_reference_stands_beside_it_in_the_older_document(installed, tmp_path):
    found = older_document(installed, tmp_path)
    assert "allOf" not in str(found)
    spec = found["test.explain.v1.NestSpec"]
    assert spec["properties"]["inner"]["description"] == INNER["description"]
    assert "description" not in found["test.explain.v1.NestSpecInner"]


def test_a_description_stays_where_not_all_that_refer_to_it_have_it(tmp_path):
    schema = {
        "title": "Table",
        "type": "object",
        "definitions": {"Leg": {**INNER, "description": "A leg."}},
        "properties": {
            "left": {"$ref": "#/definitions/Leg"},
            "right": {"$ref": "#/definitions/Leg", "description": "The right one."},
        },
    }
    found = older_document(Installer(tmp_path)({"v1.json": schema}), tmp_path)
    (leg,) = (each for name, each in found.items() if name.endswith(".Leg"))
    assert leg["description"] == "A leg."


OF_SWAGGER = frozenset(
    [
        "$ref",
        "format",
        "title",
        "description",
        "default",
        "multipleOf",
        "maximum",
        "exclusiveMaximum",
        "minimum",
        "exclusiveMinimum",
        "maxLength",
        "minLength",
        "pattern",
        "maxItems",
        "minItems",
        "uniqueItems",
        "maxProperties",
        "minProperties",
        "required",
        "enum",
        "type",
        "items",
        "allOf",
        "properties",
        "additionalProperties",
        "discriminator",
        "readOnly",
        "xml",
        "externalDocs",
        "example",
    ]
)
"""What a schema may have, https://swagger.io/specification/v2/#schema-object, beside what begins with `x-`."""


def keywords(schema):
    """The members of a schema and of all within it, but for the names of properties."""
    for key, value in schema.items():
        yield key
        if key == "properties":
            for each in value.values():
                yield from keywords(each)
        elif key in {"items", "additionalProperties"} and isinstance(value, dict):
            yield from keywords(value)
        elif key == "allOf":
            for each in value:
                yield from keywords(each)


ODD = {"nullable": True, "oneOf": [1], "allOf": [{"$ref": "x"}], "properties": {"anyOf": []}}


def test_the_older_document_has_only_what_its_version_knows(tmp_path):
    schema = {
        "title": "Table",
        "type": "object",
        "definitions": {"Leg": INNER},
        "properties": {
            "port": {"oneOf": [{"type": "integer"}, {"type": "string"}]},
            "note": {"type": ["string", "null"], "description": "What is said."},
            "leg": {"oneOf": [{"$ref": "#/definitions/Leg"}, {"type": "null"}]},
            "legs": {"type": "array", "items": {"oneOf": [{"type": "integer"}, INNER]}},
            "oneOf": {"type": "array", "items": {"type": "string"}},
            "anyOf": {"type": "string"},
            "nullable": {"type": "boolean"},
            "odd": {"type": "object", "default": ODD, "examples": [ODD]},
        },
    }
    found = older_document(Installer(tmp_path)({"v1.json": schema}), tmp_path)
    words = {word for each in found.values() for word in keywords(each)}
    assert {each for each in words if not each.startswith("x-")} <= OF_SWAGGER
    (table,) = (each for name, each in found.items() if name.endswith(".Table"))
    assert {"oneOf", "anyOf", "nullable", "legs"} <= table["properties"].keys()
    # Null is allowed: so any type is, as in documents of API servers.
    assert table["properties"]["note"] == {"description": "What is said."}
    assert table["properties"]["anyOf"] == {"type": "string"}
    # What stands in values is no schema.
    assert (table["properties"]["odd"]["default"], table["properties"]["odd"]["example"]) == (
        ODD,
        ODD,
    )
