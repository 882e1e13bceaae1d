"""Types in the lock: data that is read again, and what the first format of the lock spelled in words."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trundle.project import ProjectError, read_lock
from trundle.project._recorded_types import (
    parse_format_1,
    record_type,
    recorded_type,
    spoken_type,
)
from trundle.schema import FreeForm, ListOf, MapOf, Nullable, ObjectType, Ref, Scalar, Schema, Union
from trundle.version import ApiVersion

NAMES = ("Address", "Address@2014-04-04-preview", "A(2)", 'odd; "name]', "none of", "über x")
SCALARS = st.sampled_from(["boolean", "integer", "number", "string"]).map(Scalar)
PLAIN = SCALARS | st.sampled_from(NAMES).map(Ref) | st.just(FreeForm())
LISTS = PLAIN.map(ListOf) | PLAIN.map(MapOf)
NESTED = PLAIN | LISTS | LISTS.map(MapOf) | PLAIN.map(Nullable).map(ListOf)
UNIONS = st.lists(NESTED, min_size=2, max_size=3, unique=True).map(lambda them: Union(tuple(them)))
SINGLE = NESTED | UNIONS | UNIONS.map(ListOf) | UNIONS.map(MapOf)
TYPES = SINGLE | SINGLE.map(Nullable)


def in_format_1(type_):
    """A type as releases spelled it that wrote the first format."""
    match type_:
        case Scalar(kind):
            return kind
        case FreeForm():
            return "any"
        case Ref(name):
            plain = name in NAMES[:3]
            quoted = json.dumps(name).replace(";", "\\u003b")
            return f"object {name if plain else quoted}"
        case ListOf(inner):
            return f"list of {in_format_1(inner)}"
        case MapOf(inner):
            return f"map of {in_format_1(inner)}"
        case Nullable(inner):
            return f"nullable {in_format_1(inner)}"
        case Union(variants):
            return f"one of [{'; '.join(map(in_format_1, variants))}]"


@given(TYPES)
def test_a_type_is_read_as_it_was_recorded(type_):
    definitions = {name: ObjectType(name, (), "s.yaml#") for name in NAMES}
    schema = Schema(ApiVersion.parse("v1"), definitions, {})
    plain = record_type(type_, schema, lambda key: key)
    assert recorded_type(json.loads(json.dumps(plain))) == type_


@given(TYPES)
def test_the_first_format_says_the_same(type_):
    assert recorded_type(parse_format_1(in_format_1(type_))) == type_


@pytest.mark.parametrize(
    "plain",
    [
        "text",
        "",
        {},
        {"list": "string", "map": "string"},
        {"list": "strings"},
        {"object": 1},
        {"set": "any"},
    ],
)
def test_what_is_no_type_is_an_error(plain):
    with pytest.raises(ValueError, match="expected a type such as string"):
        recorded_type(plain)


def test_messages_spell_types_in_words():
    type_ = Nullable(ListOf(Union((Scalar("string"), MapOf(Ref("A"))))))
    assert spoken_type(type_) == "nullable list of one of [string; map of object A]"


LOCK = """\
format: 1
resources:
  Person:
    "2011-01-01":
      root: Person
      versions: ["2011-01-01"]
      types:
        Person:
          properties: {a: 'nullable list of object Part', b: 'map of integer'}
          bag: {c@2011-01-01: 'one of [string; object "Odd\\u003b one"]'}
        Part:
          properties: {size: SIZE}
"""


def test_a_lock_of_the_first_format_is_read(tmp_path):
    path = tmp_path / "trundle.lock"
    path.write_text(LOCK.replace("SIZE", "integer"))
    lock = read_lock(path)
    person = lock.resources["Person"]["2011-01-01"].types["Person"]
    assert person.properties == {
        "a": {"nullable": {"list": {"object": "Part"}}},
        "b": {"map": "integer"},
    }
    assert person.bag == {"c@2011-01-01": {"oneOf": ["string", {"object": "Odd; one"}]}}


def test_a_type_that_no_release_wrote_is_an_error_with_the_file(tmp_path):
    path = tmp_path / "trundle.lock"
    path.write_text(LOCK.replace("SIZE", "lots of integer"))
    with pytest.raises(ProjectError, match=r"trundle\.lock: expected a lock, found .*lots of"):
        read_lock(path)


PARTS = """\
{parts: {type: array, items: {type: object, additionalProperties: false, properties: {size: {type: %s}}}}}
"""


def test_objects_that_a_lock_of_the_first_format_records_stay_readable_or_are_reported(project):
    project.schema("2011-01-01", PARTS.strip() % "integer")
    project.configure("")
    path = project.folder / "trundle.lock"
    path.write_text(
        LOCK.replace(
            "{a: 'nullable list of object Part', b: 'map of integer'}",
            "{parts: 'list of object Part'}",
        )
        .replace(
            "          bag: {c@2011-01-01: 'one of [string; object \"Odd\\u003b one\"]'}\n", ""
        )
        .replace("SIZE", "integer")
    )
    unreadable = [each for each in project.findings("lock") if "objects of" in each]
    assert unreadable == []
    project.schema("2011-01-01", PARTS.strip() % "number")
    assert [each for each in project.findings("lock") if "objects of" in each] == []
    project.schema("2011-01-01", PARTS.strip() % "string")
    (found,) = [each for each in project.findings("lock") if "objects of" in each]
    assert "size as integer, which 2011-01-01 now has as another type" in found
