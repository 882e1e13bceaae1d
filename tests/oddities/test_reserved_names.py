"""Properties that are called like what objects and stored documents have beside their properties."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from people import NUMBER, TEXT, texts
from projects import Installation, Installer
from proving import prove

from trundle.runtime import DocumentError

V1, V2 = "2024-01-01", "2025-01-01"
ESCAPED = ("$propertyBag", "$$propertyBag", "$writtenWith", "$unknown", "$additional")
ATTRIBUTES = (
    *("property_bag", "propertyBag", "written_with", "unknown", "additional_properties", "bag"),
    *("convert_to_storage", "convertFromStorage", "__list_keys__", "__struct_fields__"),
)
NAMES = (*ESCAPED, *ATTRIBUTES)


def thing(item: Mapping[str, Any], **properties: Any) -> dict[str, Any]:
    """A version of a resource type with reserved names, and an object in it with them."""
    return {
        "title": "Thing",
        "type": "object",
        "properties": {
            **dict.fromkeys(NAMES, TEXT),
            "item": {"$ref": "#/$defs/Item"},
            "stable": {"$ref": "#/$defs/Stable"},
            **properties,
        },
        "$defs": {**texts("Stable", *NAMES), "Item": {"type": "object", "properties": item}},
    }


def document(version: str, **properties: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": "Thing", **properties}


def valued(names: tuple[str, ...] = NAMES, value: str = "") -> dict[str, str]:
    return {name: value or f"of {name}" for name in names}


@pytest.fixture(scope="module")
def declared(install: Installer) -> Installation:
    """Reserved names that both versions have, only the older has, and that are another type later."""
    older = {**dict.fromkeys(NAMES, TEXT), "x": TEXT}
    newer = {**dict.fromkeys(ESCAPED, TEXT), **dict.fromkeys(ATTRIBUTES[:3], NUMBER), "y": TEXT}
    return install({f"{V1}.yaml": thing(older, a=TEXT), f"{V2}.yaml": thing(newer, b=TEXT)})


@pytest.fixture(scope="module")
def opened(install: Installer) -> Installation:
    """Objects that may have any property, so that these may have reserved names, too."""

    def version(**own: Any) -> dict[str, Any]:
        item = {"type": "object", "properties": own, "additionalProperties": TEXT}
        return {**item, "title": "Thing", "properties": {**own, "item": item}}

    return install({f"{V1}.yaml": version(a=TEXT), f"{V2}.yaml": version(b=TEXT)})


@pytest.fixture(scope="module")
def open_for_all(install: Installer) -> Installation:
    """Objects that may have any property of any type."""

    def version(**own: Any) -> dict[str, Any]:
        item = {"type": "object", "properties": own, "additionalProperties": True}
        return {**item, "title": "Thing", "properties": {**own, "item": item}}

    return install({f"{V1}.yaml": version(a=TEXT), f"{V2}.yaml": version(b=TEXT)})


def test_properties_with_reserved_names_are_kept_and_read(declared: Installation) -> None:
    written = document(V1, **valued(), item=valued(), stable=valued(), a="1")
    kept = declared.put(written)
    assert declared.read(kept, V1) == written
    edited = declared.edit(kept, V2, b="2")
    assert declared.read(edited, V1) == written
    assert declared.scheme.convert(written, V1) == written
    assert declared.put(written, kept) == kept
    other = declared.convert(written, V2)
    assert [other[name] for name in NAMES] == list(valued().values())
    assert {name: other["item"][name] for name in ESCAPED} == valued(ESCAPED)


def test_a_stored_document_keeps_the_names_of_properties(declared: Installation) -> None:
    kept = declared.kept(document(V1, **{"$propertyBag": "p", "$writtenWith": "w"}, a="1"))
    assert kept["$propertyBag"] == "p"
    assert kept["$writtenWith"] == "w"
    assert kept["$$writtenWith"] == V1
    assert kept["$$$propertyBag"] == {"a": {V1: {"value": "1"}}}
    assert declared.scheme.convert(kept, V1) == document(
        V1, **{"$propertyBag": "p", "$writtenWith": "w"}, a="1"
    )


@pytest.mark.parametrize("value", ["text", V1])
def test_a_document_with_a_property_called_like_the_mark_of_stored_ones_is_none(
    declared: Installation, value: str
) -> None:
    written = document(V1, **{"$writtenWith": value})
    for data in (written, dict(reversed(written.items()))):
        for _ in range(2):  # a document that starts like one before is read another way
            read = declared.scheme.decode(json.dumps(data).encode())
            assert type(read).__module__.endswith("types")
            stored = declared.scheme.decode(declared.put(data))
            assert stored.written_with == V1
    assert declared.read(declared.put(written), V2) == document(V2, **{"$writtenWith": value})


def test_the_laws_hold_for_reserved_names(declared: Installation) -> None:
    prove(declared.scheme, "Thing", examples=15)


def test_additional_properties_may_have_reserved_names(opened: Installation) -> None:
    written = document(V1, **valued(), item=valued())
    kept = opened.put(written)
    assert opened.read(kept, V1) == written
    assert opened.read(kept, V2) == {**written, "apiVersion": V2}
    assert opened.scheme.encode(opened.scheme.decode(kept)) == kept
    edited = opened.edit(kept, V2, b="2", item={**valued(), "b": "3"})
    assert opened.read(edited, V1)["item"]["$propertyBag"] == "of $propertyBag"
    assert json.loads(edited)["$$propertyBag"] == "of $propertyBag"
    assert json.loads(edited)["$$$propertyBag"] == "of $$propertyBag"


@pytest.mark.parametrize(
    "value", ["x", {}, {"a": 1}, {"a": {V1: {"value": 1}}}, [{"a": 1}]], ids=str
)
def test_additional_properties_with_reserved_names_may_have_any_value(
    open_for_all: Installation, value: Any
) -> None:
    written = document(V1, **dict.fromkeys(ESCAPED, value), item=dict.fromkeys(ESCAPED, value))
    kept = open_for_all.put(written)
    assert open_for_all.read(kept, V1) == written
    assert open_for_all.read(kept, V2) == {**written, "apiVersion": V2}
    edited = open_for_all.edit(kept, V2, b="2")
    assert open_for_all.read(edited, V1) == {**written, "b": "2"}


def test_a_version_is_what_marks_a_stored_document_among_additional_properties(
    opened: Installation,
) -> None:
    kept = opened.put(document(V1, a="1"))
    assert type(opened.scheme.decode(kept)).__module__.endswith("storage.v2025_01_01")
    assert opened.convert(document(V1, **{"$writtenWith": "x"}), V2) == document(
        V2, **{"$writtenWith": "x"}
    )


def test_unknown_properties_of_a_stored_document_may_have_reserved_names(
    declared: Installation,
) -> None:
    kept = declared.kept(document(V1, item={"x": "1"}))
    kept["item"] |= {"$additional": "1", "later": 1}
    edited = declared.edit(json.dumps(kept).encode(), V2, b="2")
    assert json.loads(edited)["item"]["later"] == 1


def test_an_escaped_name_is_no_way_around_the_check_of_properties(opened: Installation) -> None:
    data = b'{"apiVersion":"%s","kind":"Thing","\\u0024unknown":{"c":{}}}' % V1.encode()
    with pytest.raises(
        DocumentError, match=r"Expected `str`, got `object` - at \$\[\"\$unknown\"\]"
    ):
        opened.scheme.decode(data)


def test_free_form_data_may_look_like_a_bag(install: Installer) -> None:
    free: dict[str, Any] = {"title": "Thing", "type": "object", "properties": {"item": {}}}
    item = {"type": "object", "properties": {"x": TEXT}}
    more = {"type": "object", "properties": {"x": TEXT, "y": TEXT}}
    installed = install(
        {
            f"{V1}.yaml": free,
            f"{V2}.yaml": {**free, "properties": {"item": item}},
            "2026-01-01.yaml": {**free, "properties": {"item": more}},
        }
    )
    for odd in ({"x": {V1: {"value": "1"}}}, "text"):
        written = document(V1, item={"x": "1", "$propertyBag": odd, "$unknown": {"z": 1}})
        kept = installed.put(written)
        assert installed.read(kept, V1) == written
        edited = installed.edit(kept, V2, item={"x": "2"})
        assert installed.read(edited, V2) == document(V2, item={"x": "2"})
