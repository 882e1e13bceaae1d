import typing

import msgspec
import pytest
from evolving import evolve, rules

from trundle.runtime._partial import partial_class

VERSIONS = {
    "v1": {
        "Thing": {"old": "string", "n!": "number", "by": "{[Item]}", "free": "any", "in": "In"},
        "Item": {"name!": "string", "gone": "In", "kids": "[Item]"},
        "In": {"x": "string"},
    },
    "v2": {
        "Thing": {"new": "string", "n!": "number", "by": "{[Item]}", "free": "any", "in": "In"},
        "Item": {"name!": "string", "come": "In", "kids": "[Item]"},
        "In": {"x": "string"},
    },
}
OPEN = {
    "v1": {"Thing": {"a": "Item"}, "Item": {"x": "string", "*": "string"}},
    "v2": {"Thing": {"a": "Item"}, "Item": {"y": "string", "*": "string"}},
}


def made(scheme, older="v1", newer="v2"):
    lookup, resource = scheme._lookup, scheme.resources["Thing"]
    class_, wanted = (lookup.api_class(resource, each) for each in (older, newer))
    return class_, partial_class(lookup, class_, lookup.conversion(class_, wanted).function)


@pytest.fixture(scope="module")
def classes():
    return made(evolve(VERSIONS, rules("v1", rename={"old": "new"})))


def types_of(class_):
    return {field.name: field.type for field in msgspec.structs.fields(class_)}


def test_what_is_only_copied_stays_json(classes):
    found = types_of(classes[1])
    assert found["n"] is found["metadata"] or msgspec.Raw in typing.get_args(found["metadata"])
    for name in ("old", "free", "in_"):
        assert set(typing.get_args(found[name])) == {msgspec.Raw, msgspec.UnsetType}
    assert found["api_version"] is found["kind"] is str


def test_objects_that_are_converted_are_read_in_part_too(classes):
    mapped = next(
        each for each in typing.get_args(types_of(classes[1])["by"]) if each != msgspec.UNSET
    )
    item = typing.get_args(typing.get_args(mapped)[1])[0]
    assert item.__name__ == "Item"
    assert types_of(item)["name"] is msgspec.Raw
    assert msgspec.Raw in typing.get_args(types_of(item)["gone"])


def test_within_itself_an_object_is_read_whole(classes):
    mapped = next(
        each for each in typing.get_args(types_of(classes[1])["by"]) if each != msgspec.UNSET
    )
    item = typing.get_args(typing.get_args(mapped)[1])[0]
    kids = typing.get_args(types_of(item)["kids"])[0]
    assert typing.get_args(kids)[0] is not item
    assert typing.get_args(kids)[0].__module__ != item.__module__


def test_names_and_what_is_required_are_those_of_the_class(classes):
    whole, part = (
        {each.encode_name: each.required for each in msgspec.structs.fields(class_)}
        for class_ in classes
    )
    assert whole == part


def test_an_object_with_additional_properties_is_read_whole():
    class_, part = made(evolve(OPEN))
    assert types_of(part)["a"] == types_of(class_)["a"]
    rooted = {"v1": {"Thing": {"x": "string", "*": "any"}}, "v2": {"Thing": {"*": "any"}}}
    assert made(evolve(rooted))[1] is None
