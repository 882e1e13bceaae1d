import keyword

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trundle.codegen import attribute_names, class_name
from trundle.codegen._naming import camel

NAMES = st.text(max_size=12) | st.sampled_from(
    ["name", "Name", "NAME", "class", "Class", "class_", "_", "", "a b", "a-b", "a_b", "aB", "1"]
)


@pytest.mark.parametrize(
    ("name", "attribute"),
    [
        ("fullName", "full_name"),
        ("FullName", "full_name"),
        ("HTTPServer", "http_server"),
        ("node-type", "node_type"),
        ("my property", "my_property"),
        ("@type", "type"),
        ("$ref", "ref"),
        ("1st", "n1st"),
        ("class", "class_"),
        ("match", "match_"),
        ("None", "none"),
        ("list", "list_"),
        ("id", "id"),
        ("type", "type"),
        ("unknown", "unknown_"),
        ("propertyBag", "property_bag_"),
        ("", "value"),
        ("@", "value"),
        ("größe", "gr_e"),
        ("日本", "value"),
    ],
)
def test_a_property_has_a_readable_attribute(name, attribute):
    found = attribute_names([name])[name]
    assert found.isidentifier()
    if name.isascii():
        assert found == attribute


def test_names_that_would_share_an_attribute_are_numbered_in_order():
    assert attribute_names(["name", "Name"]) == {"Name": "name", "name": "name_2"}
    assert attribute_names(["a-b", "a_b", "aB"]) == {"a-b": "a_b", "aB": "a_b_2", "a_b": "a_b_3"}


def test_a_numbered_attribute_takes_no_other_name():
    found = attribute_names(["a", "A", "a_2"])
    assert len(set(found.values())) == 3


@given(st.lists(NAMES, unique=True, max_size=8))
def test_attributes_are_distinct_identifiers_whatever_the_names(names):
    found = attribute_names(names)
    assert set(found) == set(names)
    assert len(set(found.values())) == len(names)
    for attribute in found.values():
        assert attribute.isidentifier()
        assert not keyword.iskeyword(attribute)
        assert not attribute.startswith("_")


WRITABLE = NAMES.filter(lambda name: not any(each in '\\"' or each < " " for each in name))


@given(st.lists(WRITABLE, unique=True, max_size=8))
def test_names_come_back_through_json_as_generated_classes_spell_them(names):
    found = attribute_names(names)
    fields = [
        (attribute, int) if camel(attribute) == name else (attribute, int, msgspec.field(name=name))
        for name, attribute in found.items()
    ]
    made = msgspec.defstruct("Made", fields, rename="camel", kw_only=True)
    value = made(**{attribute: place for place, attribute in enumerate(found.values())})
    data = msgspec.json.decode(msgspec.json.encode(value))
    assert data == {name: place for place, name in enumerate(found)}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Person", "Person"),
        ("person", "Person"),
        ("node-type description", "NodeTypeDescription"),
        ("io.k8s.api.Pod", "IoK8sApiPod"),
        ("Microsoft.Web/sites", "MicrosoftWebSites"),
        ("1st", "Type1st"),
        ("", "Type"),
        ("***", "Type"),
        ("Exception", "Exception_"),
        ("None", "None_"),
        ("Absent", "Absent_"),
        ("BAG", "BAG_"),
        ("ADDITIONAL", "ADDITIONAL_"),
        ("WRITTEN_WITH", "WRITTENWITH"),
        ("ClassVar", "ClassVar_"),
        ("Literal", "Literal_"),
        ("Protocol", "Protocol_"),
        ("TypedDict", "TypedDict_"),
    ],
)
def test_a_type_has_a_class_name_that_nothing_else_has(name, expected):
    assert class_name(name) == expected


@given(st.text(max_size=12))
def test_every_text_makes_a_class_name(name):
    found = class_name(name)
    assert found.isidentifier()
    assert not keyword.iskeyword(found)


@pytest.mark.parametrize(
    "attribute", ["a_k8s", "ipv4_address", "x_md5sum", "a_1", "plain", "a_b_c"]
)
def test_camel_case_is_that_of_the_classes(attribute: str) -> None:
    class_ = msgspec.defstruct("Class", [(attribute, int)], rename="camel")
    assert camel(attribute) == class_.__struct_encode_fields__[0]


def test_no_function_has_an_unreadable_name():
    import re

    from evolving import evolution

    from trundle.codegen import generate_package

    long = "VeryLongNameOfATypeThatSomebodyMadeOutOfTheWholePathToItInSomeService"
    versions = {
        version: {
            "Thing": {"in": long, "in2": f"{long}2"},
            long: {name: "string"},
            f"{long}2": {name: "integer"},
        }
        for version, name in (("v1", "a"), ("v2", "b"))
    }
    for path, data in generate_package(evolution(versions), package="made").items():
        if path.startswith("conversions/"):
            for name in re.findall(r"^(?:def )?(\w+)(?=[(:])", data.decode(), re.MULTILINE):
                assert len(name) <= 60, (path, name)
