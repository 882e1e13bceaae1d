from pathlib import Path

import pytest

from trundle.schema import FreeForm, ListOf, MapOf, Nullable, Ref, Scalar, SchemaError
from trundle.schema.readers import Source, read_schemas

STRUCTS = '''
import enum
from typing import Any, Literal
import msgspec

class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"

class Address(msgspec.Struct):
    street: str

class Person(msgspec.Struct, rename="camel"):
    """Somebody."""
    first_name: str
    color: Color
    address: Address | None = None
    nick_names: list[str] = []
    labels: dict[str, int] | msgspec.UnsetType = msgspec.UNSET
    more: Any = None
    mood: Literal["good", "bad"] = "good"
'''


def test_structs(workspace):
    schema = workspace.read(STRUCTS, "v2014_04_04.py")
    assert schema.version.text == "2014-04-04"
    assert [each.name for each in schema.resources] == ["Person"]
    person = schema.object("Person")
    types = {each.name: each.type for each in person.properties}
    assert types == {
        "address": Nullable(Ref("Address")),
        "color": Ref("Color"),
        "firstName": Scalar("string"),
        "labels": MapOf(Scalar("integer")),
        "more": FreeForm(),
        "mood": Ref("PersonMood"),
        "nickNames": ListOf(Scalar("string")),
    }
    assert person.doc == "Somebody."
    assert person.property("firstName").required
    assert person.property("mood").default == "good"


def test_dataclasses(workspace):
    text = """
from dataclasses import dataclass, field

@dataclass
class Part:
    size: int

@dataclass
class Whole:
    parts: list[Part] = field(default_factory=list)
"""
    schema = workspace.read(text, "v1beta1.py")
    assert [each.name for each in schema.resources] == ["Whole"]
    assert schema.object("Whole").property("parts").type == ListOf(Ref("Part"))


def test_pydantic_models(workspace):
    text = """
from pydantic import BaseModel, Field

class Part(BaseModel):
    size: int = Field(ge=1)

class Whole(BaseModel):
    part: Part | None = None
    again: "Whole | None" = None
"""
    schema = workspace.read(text, "v1.py")
    assert [each.name for each in schema.resources] == ["Whole"]
    assert schema.object("Whole").property("part").type == Nullable(Ref("Part"))
    assert schema.object("Whole").property("again").type == Nullable(Ref("Whole"))
    assert schema.object("Part").property("size").constraints == (("minimum", 1),)


def test_resources_can_be_listed(workspace):
    schema = workspace.read(STRUCTS, "types.py", resources=("Address",), version="v1")
    assert [each.name for each in schema.resources] == ["Address"]
    with pytest.raises(SchemaError, match="no definition 'Gone'"):
        workspace.read(STRUCTS, "types.py", resources=("Gone",), version="v1")


def test_a_module_can_be_named(workspace, monkeypatch):
    workspace.write("shop_types_for_test/__init__.py", "")
    workspace.write("shop_types_for_test/v1.py", STRUCTS)
    monkeypatch.syspath_prepend(str(workspace.folder))
    (schema,) = read_schemas([Source(Path("shop_types_for_test.v1"), format="python")])
    assert schema.version.text == "v1"
    assert schema.resources[0].name == "Person"


def test_an_imported_class_is_no_resource(workspace):
    text = "from fractions import Fraction\nimport msgspec\nclass A(msgspec.Struct):\n    x: int\n"
    assert [x.name for x in workspace.read(text, "v1.py").resources] == ["A"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import gone_module", "cannot import the module: ModuleNotFoundError"),
        ("def", "cannot import the module: SyntaxError"),
        ("x = 1", "nothing here is a resource"),
        (
            "import msgspec\nclass A(msgspec.Struct):\n    x: complex\n",
            "a class has no JSON Schema",
        ),
    ],
)
def test_what_cannot_be_used_is_an_error(workspace, text, reason):
    with pytest.raises(SchemaError, match=reason):
        workspace.read(text, "v1.py")


def test_a_version_must_be_named(workspace):
    with pytest.raises(SchemaError, match="no API version"):
        workspace.read(STRUCTS, "types.py")
