"""Schemas that say the usual things in unusual ways."""

import json
from typing import Any

import pytest
from arm import TEXT, deployed, or_expression, provider, resource
from people import ADDRESS, NUMBER, address, known, person
from projects import Installer
from proving import prove

from trundle.runtime import DocumentError

OLD, NEW = "2019-01-21", "2020-09-18"
KIND = "Contoso.Shop/stores"


def object_of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def list_of(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


def map_of(values: Any) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": values}


def people(install: Installer, one: dict[str, Any], two: dict[str, Any]) -> Any:
    return install({"v1.yaml": one, "v2.yaml": two})


# `allOf` beside `additionalProperties: false`


def test_all_parts_of_an_object_that_admits_nothing_else_count(install) -> None:
    def closed(**own: Any) -> dict[str, Any]:
        parts = [{"$ref": "#/$defs/Base"}, object_of(**own)]
        return {"allOf": parts, "additionalProperties": False, "properties": {"own": TEXT}}

    base = {"Base": object_of(base=TEXT)}
    installed = people(
        install,
        person({**base, "Item": closed(x=TEXT)}, it={"$ref": "#/$defs/Item"}),
        person({**base, "Item": closed(y=TEXT)}, it={"$ref": "#/$defs/Item"}),
    )
    kept = installed.put(known("v1", it={"base": "b", "own": "o", "x": "1"}))
    assert json.loads(kept)["it"] == {
        "base": "b",
        "own": "o",
        "$propertyBag": {"x": {"v1": {"value": "1"}}},
    }
    kept = installed.put(known("v2", it={"base": "c", "own": "o", "y": "2"}), kept)
    assert installed.read(kept, "v1") == known("v1", it={"base": "c", "own": "o", "x": "1"})
    with pytest.raises(DocumentError, match="y"):
        installed.put(known("v1", it={"y": "2"}))
    prove(installed.scheme, "Person")


# Properties beside typed additional properties


def with_additional(install: Installer, additional: Any) -> Any:
    def activity(**properties: Any) -> dict[str, Any]:
        return {"Activity": {**object_of(**properties), "additionalProperties": additional}}

    return people(
        install,
        person(
            address("label", "floor"), activity(kind=TEXT, x=TEXT), it={"$ref": "#/$defs/Activity"}
        ),
        person(address("label", "city"), activity(kind=TEXT), it={"$ref": "#/$defs/Activity"}),
    )


@pytest.mark.parametrize(
    ("additional", "others"),
    [
        (NUMBER, {"a b": 1, "$x": 2}),
        (map_of({}), {"custom": {"any": [1, 1.5, None]}}),
        (ADDRESS, {"home": {"label": "Main St"}}),
        (list_of(ADDRESS), {"all": [{"label": "Main St"}]}),
    ],
    ids=["integers", "maps", "objects", "lists"],
)
def test_additional_properties_travel_beside_those_with_names(
    install, additional: Any, others: dict[str, Any]
) -> None:
    installed = with_additional(install, additional)
    one = known("v1", it={"kind": "copy", **others})
    kept = installed.put(one)
    assert installed.read(kept, "v1") == one
    assert installed.read(kept, "v2") == {**one, "apiVersion": "v2"}
    assert installed.convert(one, "v2") == {**one, "apiVersion": "v2"}
    more = {**others, "more": next(iter(others.values()))}
    kept = installed.put(known("v2", it={"kind": "move", **more}), kept)
    assert installed.read(kept, "v1") == known("v1", it={"kind": "move", **more})
    kept = installed.put(known("v2", it={"kind": "move"}), kept)
    assert installed.read(kept, "v1") == known("v1", it={"kind": "move"})


@pytest.mark.parametrize(
    "additional",
    [NUMBER, map_of({}), ADDRESS, list_of(ADDRESS)],
    ids=["integers", "maps", "objects", "lists"],
)
def test_laws_of_additional_properties_beside_those_with_names(install, additional: Any) -> None:
    prove(with_additional(install, additional).scheme, "Person")


def test_additional_properties_keep_the_order_in_which_they_are_written(install) -> None:
    """`x` is among them in v2, and a property of v1."""
    installed = with_additional(install, map_of({}))
    written = {"b": {}, "x": {"any": 1}, "a": {}}
    kept = installed.put(known("v2", it=written))
    assert [*json.loads(kept)["it"]] == [*written]
    assert [*installed.read(kept, "v2")["it"]] == [*written]
    turned = dict(reversed(written.items()))
    kept = installed.put(known("v2", it=turned), kept)
    assert [*installed.read(kept, "v2")["it"]] == [*turned]
    kept = installed.put(known("v1", it={"c": {}, "b": {}, "a": {}}), kept)
    assert [*installed.read(kept, "v1")["it"]] == ["c", "b", "a"]


# Maps of maps, lists of lists


@pytest.mark.parametrize(
    ("around", "one", "seen", "edited", "after"),
    [
        (
            lambda item: map_of(map_of(item)),
            {"a": {"b": {"label": "1", "floor": "2"}, "c": {}}, "d": {}},
            {"a": {"b": {"label": "1"}, "c": {}}, "d": {}},
            {"a": {"b": {"label": "9", "city": "X"}}, "e": {"f": {"label": "3"}}},
            {"a": {"b": {"label": "9", "floor": "2"}}, "e": {"f": {"label": "3"}}},
        ),
        (
            lambda item: list_of(list_of(item)),
            [[{"label": "1", "floor": "2"}], [], [{"label": "3", "floor": "4"}]],
            [[{"label": "1"}], [], [{"label": "3"}]],
            [[{"label": "1"}], [], [{"label": "3", "city": "X"}]],
            [[{"label": "1", "floor": "2"}], [], [{"label": "3", "floor": "4"}]],
        ),
        (
            lambda item: map_of(list_of(map_of(item))),
            {"a": [{"b": {"label": "1", "floor": "2"}}]},
            {"a": [{"b": {"label": "1"}}]},
            {"a": [{"b": {"label": "3"}}], "c": []},
            {"a": [{"b": {"label": "3", "floor": "2"}}], "c": []},
        ),
    ],
    ids=["map of maps", "list of lists", "map of lists of maps"],
)
def test_maps_and_lists_nest(
    install, around: Any, one: Any, seen: Any, edited: Any, after: Any
) -> None:
    installed = people(
        install,
        person(address("label", "floor"), it=around(ADDRESS)),
        person(address("label", "city"), it=around(ADDRESS)),
    )
    kept = installed.put(known("v1", it=one))
    assert installed.read(kept, "v1") == known("v1", it=one)
    assert installed.read(kept, "v2") == known("v2", it=seen)
    assert installed.convert(known("v1", it=one), "v2") == known("v2", it=seen)
    kept = installed.put(known("v2", it=edited), kept)
    assert installed.read(kept, "v2") == known("v2", it=edited)
    assert installed.read(kept, "v1") == known("v1", it=after)
    prove(installed.scheme, "Person")


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (map_of(map_of(NUMBER)), {"a": {"b": 1, "c": 2**60}, "d": {}}),
        (list_of(list_of(TEXT)), [["a", ""], [], ["b"]]),
        (map_of(list_of(list_of({}))), {"inputs": [[1, 1.5, None, {"a": [True]}], []]}),
        (list_of(map_of(list_of({"type": "number"}))), [{"a": [1, 2.5]}, {}]),
    ],
)
def test_nested_collections_of_plain_values_are_carried(install, type_: Any, value: Any) -> None:
    installed = people(install, person(it=type_), person(it=type_, more=TEXT))
    kept = installed.put(known("v1", it=value))
    assert installed.read(kept, "v2") == known("v2", it=value)
    assert installed.read(installed.edit(kept, "v2", more="x"), "v1") == known("v1", it=value)
    prove(installed.scheme, "Person")


# Enums that are no text


def test_enums_of_numbers_and_booleans_are_carried(install) -> None:
    """As the capacity of a cache: any integer of a few, without or with a type beside them."""

    def cache(version: str, *capacities: int, **more: Any) -> tuple[str, Any]:
        return provider(
            version,
            resource(
                KIND,
                version,
                capacity=or_expression({"enum": list(capacities)}),
                share=or_expression({"type": "number", "enum": [0.5, 1, 2]}),
                fixed=or_expression({"type": "boolean", "enum": [True]}),
                **more,
            ),
        )

    installed = install(dict([cache(OLD, 0, 1, 2, 6), cache(NEW, 0, 1, 2, 6, 10, more=TEXT)]))
    document = deployed(KIND, OLD, capacity=6, share=0.5, fixed=True)
    assert installed.convert(document, NEW) == {**document, "apiVersion": NEW}
    kept = installed.put(deployed(KIND, NEW, capacity=10, share=2, fixed=True, more="m"))
    assert installed.read(kept, OLD) == deployed(KIND, OLD, capacity=10, share=2, fixed=True)
    with pytest.raises(DocumentError, match="capacity"):
        installed.put(deployed(KIND, OLD, capacity="6"))
    prove(installed.scheme, KIND)


def test_enums_of_mixed_values_are_carried_as_they_are(install) -> None:
    mixed = {"enum": ["auto", 1, 1.5, False, None]}
    installed = people(install, person(it=mixed), person(it=mixed, more=TEXT))
    for value in ("auto", 1, 1.5, False, None):
        document = known("v1", it=value)
        assert installed.convert(document, "v2") == {**document, "apiVersion": "v2"}
        assert installed.read(installed.put(document), "v1") == document
    prove(installed.scheme, "Person")


# Recursive groups


def test_types_that_refer_to_themselves_and_each_other_convert_at_any_depth(install) -> None:
    """Three groups: an error with inner errors, a filter of filters by way of lists, and a circle of three."""

    def groups(**more: Any) -> dict[str, Any]:
        def ref(name: str) -> dict[str, Any]:
            return {"$ref": f"#/$defs/{name}"}

        return {
            "Error": object_of(code=TEXT, inner=ref("Error"), **more),
            "Filter": {
                **object_of(tag=TEXT, **more),
                "properties": {
                    "and": list_of(ref("Filter")),
                    "or": list_of(ref("Filter")),
                    "tag": TEXT,
                    **more,
                },
            },
            "Activity": object_of(name=TEXT, branch=ref("Branch"), **more),
            "Branch": object_of(cases=map_of(ref("Case"))),
            "Case": object_of(activities=list_of(ref("Activity")), **more),
        }

    places = {each: {"$ref": f"#/$defs/{each.title()}"} for each in ("error", "filter", "activity")}
    installed = people(install, person(groups(x=TEXT), **places), person(groups(y=TEXT), **places))

    def deep(depth: int, **own: str) -> dict[str, Any]:
        error: dict[str, Any] = {"code": "0"}
        filter_: dict[str, Any] = {"tag": "0"}
        activity: dict[str, Any] = {"name": "0"}
        for number in range(1, depth):
            text = str(number)
            error = {"code": text, "inner": error, **own}
            filter_ = {"and": [filter_, {"tag": "z"}], "or": [], **own}
            case = {"activities": [activity], **own}
            activity = {"name": text, "branch": {"cases": {"c": case}}, **own}
        return {"error": error, "filter": filter_, "activity": activity}

    for depth in (1, 2, 5, 30):
        one, two = known("v1", **deep(depth, x="1")), known("v2", **deep(depth, y="2"))
        bare = deep(depth)
        kept = installed.put(one)
        assert installed.read(kept, "v1") == one
        assert installed.read(kept, "v2") == known("v2", **bare)
        kept = installed.put(two, kept)
        assert installed.read(kept, "v1") == one
        assert installed.read(kept, "v2") == two
    prove(installed.scheme, "Person")


# Definition names that stand for several shapes


def test_a_definition_name_that_two_files_use_for_two_shapes(install) -> None:
    """Two services under one provider, each with a `Sku` of its own, one of which changes."""

    def service(version: str, name: str, *sku: str) -> dict[str, Any]:
        kind = f"Contoso.Shop/{name}"
        found = resource(kind, version, sku=or_expression({"$ref": "#/definitions/Sku"}))
        definitions = {"Sku": object_of(**dict.fromkeys(sku, TEXT))}
        return provider(version, found, definitions=definitions)[1]

    installed = install(
        {
            f"{OLD}/Contoso.Shop.json": service(OLD, "stores", "name", "tier"),
            f"{OLD}/Contoso.Shop.Carts.json": service(OLD, "carts", "size"),
            f"{NEW}/Contoso.Shop.json": service(NEW, "stores", "name", "family"),
            f"{NEW}/Contoso.Shop.Carts.json": service(NEW, "carts", "size"),
        }
    )
    store = installed.put(deployed(KIND, OLD, sku={"name": "s", "tier": "t"}))
    assert installed.read(store, NEW) == deployed(KIND, NEW, sku={"name": "s"})
    cart = deployed("Contoso.Shop/carts", OLD, sku={"size": "xl"})
    assert installed.read(installed.put(cart), NEW) == {**cart, "apiVersion": NEW}
    with pytest.raises(DocumentError, match="size"):
        installed.put(deployed(KIND, OLD, sku={"size": "xl"}))
    for kind in installed.scheme.resources:
        prove(installed.scheme, kind)


def test_a_definition_name_that_stands_for_something_else_in_the_next_version(install) -> None:
    """Nested types meet where their properties meet; what they are called is of no account."""
    installed = people(
        install,
        person(
            {"Settings": object_of(a=TEXT), "Options": object_of(b=TEXT)},
            first={"$ref": "#/$defs/Settings"},
            second={"$ref": "#/$defs/Options"},
        ),
        person(
            {"Settings": object_of(b=TEXT), "Options": object_of(a=TEXT)},
            first={"$ref": "#/$defs/Options"},
            second={"$ref": "#/$defs/Settings"},
        ),
    )
    document = known("v1", first={"a": "1"}, second={"b": "2"})
    kept = installed.put(document)
    assert installed.read(kept, "v1") == document
    assert installed.read(kept, "v2") == known("v2")
    kept = installed.put(known("v2", first={"a": "3"}), kept)
    assert installed.read(kept, "v2") == known("v2", first={"a": "3"})
    assert installed.read(kept, "v1") == known("v1", second={"b": "2"})
    prove(installed.scheme, "Person")


def test_types_whose_names_swap_by_a_rule_are_followed(install) -> None:
    installed = install(
        {
            "v1.yaml": person(
                {"Settings": object_of(a=TEXT), "Options": object_of(b=TEXT)},
                first={"$ref": "#/$defs/Settings"},
                second={"$ref": "#/$defs/Options"},
            ),
            "v2.yaml": person(
                {"Settings": object_of(b=TEXT), "Options": object_of(a=TEXT, c=TEXT)},
                first={"$ref": "#/$defs/Options"},
                second={"$ref": "#/$defs/Settings"},
            ),
        },
        config={
            "changes": {
                "v1": {"Settings": {"renameType": "Options"}, "Options": {"renameType": "Settings"}}
            }
        },
    )
    document = known("v1", first={"a": "1"}, second={"b": "2"})
    assert installed.convert(document, "v2") == {**document, "apiVersion": "v2"}
    kept = installed.put(known("v2", first={"a": "1", "c": "3"}, second={"b": "2"}))
    assert installed.read(kept, "v1") == document
    prove(installed.scheme, "Person")


def test_names_that_differ_in_letter_case_alone_are_two(install) -> None:
    defs = {"Item": object_of(a=TEXT), "item": object_of(b=NUMBER), "ITEM": object_of(c=TEXT)}
    places = {
        "one": {"$ref": "#/$defs/Item"},
        "One": {"$ref": "#/$defs/item"},
        "ONE": {"$ref": "#/$defs/ITEM"},
    }
    installed = people(install, person(defs, **places), person(defs, more=TEXT, **places))
    document = known("v1", one={"a": "1"}, One={"b": 2}, ONE={"c": "3"})
    assert installed.read(installed.put(document), "v2") == {**document, "apiVersion": "v2"}
    prove(installed.scheme, "Person")


def test_a_required_object_shows_its_required_properties_at_their_zero_values(install) -> None:
    counted = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
    installed = install(
        {
            "v1.yaml": person({}),
            "v2.yaml": {
                **person({}, empty=object_of(x=TEXT), counted=counted, either=counted),
                "required": ["empty", "counted"],
            },
        }
    )
    old, new = known("v1"), {**known("v2"), "empty": {}, "counted": {"n": 0}}
    kept = installed.put(old)
    assert installed.read(kept, "v2") == new
    assert installed.convert(old, "v2") == new
    assert json.loads(kept).keys().isdisjoint({"empty", "counted"})
    assert installed.put(new, kept) == kept
    edited = installed.edit(kept, "v2", empty={"x": "1"})
    assert installed.read(edited, "v1") == old
    prove(installed.scheme, "Person")
