from collections import Counter

import pytest
from report_schemas import choice, crm, schema, service_fabric, thing, v

from trundle.evolution import Evolution, HookDeclaration, HookReference, TypeChanges
from trundle.report import (
    ReportError,
    compare,
    comparison_data,
    comparison_text,
    statistics,
)
from trundle.schema import ListOf, ObjectType, Property, Ref, Union


def rows(evolution, older, newer, type_name="Person"):
    (found,) = compare(evolution, v(older), v(newer), type_name).types
    return {each.name: (each.old, each.new, each.change, each.handler) for each in found.properties}


def between(older, newer, *others, **rules):
    """The rows of one changed type."""
    changes = (TypeChanges(version=v("2020-01-01"), type="Person", **rules),) if rules else ()
    evolution = Evolution(
        (schema("2020-01-01", older, *others), schema("2021-01-01", newer, *others)), changes
    )
    return rows(evolution, "2020-01-01", "2021-01-01")


def test_new_removed_and_unchanged_properties():
    assert between(
        thing("Person", a="string", b="string"), thing("Person", b="string", c="string?")
    ) == {
        "a": ("string", None, "Property Removed", "Property Bag"),
        "b": ("string", "string", "None", "Copy value"),
        "c": (None, "string?", "New Property", "Skip"),
    }


def test_a_configured_rename_is_one_row():
    found = between(thing("Person", a="string"), thing("Person", b="string"), rename={"a": "b"})
    assert found == {"a -> b": ("string", "string", "Property Rename", "Rename")}


def test_optionality_alone_is_copied():
    found = between(thing("Person", a="string"), thing("Person", a="string?"))
    assert found == {"a": ("string", "string?", "Optionality", "Copy value")}


def test_an_unrelated_type_of_the_same_name_goes_to_the_property_bag():
    found = between(thing("Person", a="string"), thing("Person", a="integer"))
    assert found == {"a": ("string", "integer", "Change of Type", "Property Bag")}


def test_rules_convert_changes_of_type():
    older = thing("Person", a="string", b="string", c="integer")
    newer = thing("Person", a="integer", b="string[]", c="number")
    found = between(older, newer, convert={"a": "string-to-integer"}, wrap={"b": "b"})
    assert found == {
        "a": ("string", "integer", "Change of Type", "Convert"),
        "b": ("string", "string[]", "Change of Type", "Convert"),
        "c": ("integer", "number", "Change of Type", "Copy value"),
    }


def test_renamed_values_convert():
    level = choice("Level", "Low", "High")
    found = between(
        thing("Person", a="Level"), thing("Person", a="Level"), level, values={"a": {"Low": "Base"}}
    )
    assert found == {"a": ("Level", "Level", "None", "Convert")}


def test_namesakes_kept_apart_are_two_properties():
    evolution = Evolution(
        (
            schema("2020-01-01", thing("Person", a="string")),
            schema("2021-01-01", thing("Person", a="string")),
        ),
        (TypeChanges(version=v("2020-01-01"), type="Person", keep=("a",)),),
    )
    (found,) = compare(evolution, v("2020-01-01"), v("2021-01-01")).types
    assert [(each.change, each.handler) for each in found.properties] == [
        ("Property Removed", "Property Bag"),
        ("New Property", "Skip"),
    ]


def test_a_converter_hook_handles_a_change_of_type():
    reference = HookReference("Person", v("2020-01-01"), v("2021-01-01"), "hooks:Person")
    evolution = Evolution(
        (
            schema("2020-01-01", thing("Person", a="string")),
            schema("2021-01-01", thing("Person", a="integer")),
        ),
        hooks=(HookDeclaration(reference, converters=("convert_string_to_integer",)),),
    )
    assert rows(evolution, "2020-01-01", "2021-01-01") == {
        "a": ("string", "integer", "Change of Type", "Hook")
    }


def test_properties_that_a_hook_derives_name_the_hook():
    found = rows(crm(), "2013-03-03", "2014-04-04")
    assert found["knownAs"] == (None, "string", "New Property", "Hook")
    assert found["firstName"] == ("string", None, "Property Removed", "Property Bag")


def test_versions_that_are_no_neighbours_compare_through_those_between():
    found = rows(crm(), "2014-04-04-preview", "2019-09-09")
    assert found["fullName -> legalName"] == ("string", "string", "Property Rename", "Rename")
    assert found["mailingAddress"] == (None, "Location?", "New Property", "Skip")


def test_a_renamed_type_meets_under_both_names():
    comparison = compare(crm(), v("2018-08-08"), v("2019-09-09"))
    assert [(each.older, each.newer) for each in comparison.types] == [
        ("Address", "Location"),
        ("Person", "Person"),
    ]
    assert (comparison.added, comparison.removed) == ((), ())
    found = rows(crm(), "2018-08-08", "2019-09-09")
    assert found["mailingAddress"] == ("Address?", "Location?", "Type Rename", "Rename")


def test_the_way_back_has_a_table_too():
    found = rows(crm(), "2015-05-05", "2014-04-04")
    assert found["sortKey -> alphaKey"] == ("string", "string", "Property Rename", "Rename")


def test_types_of_one_side_are_listed():
    comparison = compare(crm(), v("2015-05-05"), v("2016-06-06"))
    assert comparison.added == ("Address",)
    assert "Added types: Address" in comparison_text(comparison)


def test_a_type_is_found_without_regard_to_letter_case():
    assert [
        each.type for each in compare(crm(), v("2018-08-08"), v("2019-09-09"), "ADDRESS").types
    ] == ["Location"]


def test_an_unknown_type_or_version_is_an_error_with_suggestions():
    with pytest.raises(ReportError, match=r"found 'Persn'.*did you mean Person"):
        compare(crm(), v("2018-08-08"), v("2019-09-09"), "Persn")
    with pytest.raises(ReportError, match=r"found '2018-08-09'.*did you mean 2018-08-08"):
        compare(crm(), v("2018-08-09"), v("2019-09-09"))


def test_json_has_the_documented_shape():
    data = comparison_data(compare(crm(), v("2014-04-04"), v("2015-05-05")))
    assert data["older"] == "2014-04-04"
    (person,) = data["types"]
    assert (person["type"], person["resources"]) == ("Person", ["Person"])
    assert person["properties"][0] == {
        "name": "alphaKey -> sortKey",
        "old": "string",
        "new": "string",
        "change": "Property Rename",
        "handler": "Rename",
    }


def test_text_is_a_table_with_a_count():
    assert comparison_text(compare(crm(), v("2016-06-06"), v("2017-07-07"), "Person")) == (
        "## Person\n"
        "\n"
        "| Property       | 2016-06-06 | 2017-07-07 | Change      | Handler    |\n"
        "| -------------- | ---------- | ---------- | ----------- | ---------- |\n"
        "| familyName     | string     | string     | None        | Copy value |\n"
        "| id             | string     | string     | None        | Copy value |\n"
        "| knownAs        | string     | string     | None        | Copy value |\n"
        "| legalName      | string     | string     | None        | Copy value |\n"
        "| mailingAddress | Address    | Address?   | Optionality | Copy value |\n"
        "| sortKey        | string     | string     | None        | Copy value |\n"
        "\n"
        "6 properties: 5 unchanged, 1 of another optionality.\n"
    )


def test_the_documented_table_comes_from_the_real_schemas():
    found = rows(service_fabric(), "2016-03-01", "2016-09-01", "ClusterProperties")
    assert Counter(row[2:] for row in found.values()) == {
        ("None", "Copy value"): 8,
        ("New Property", "Skip"): 3,
        ("Property Removed", "Property Bag"): 1,
        ("Change of Type", "Property Bag"): 3,
    }
    assert {name for name, row in found.items() if row[2] == "Change of Type"} == {
        "nodeTypes",
        "reliabilityLevel",
        "upgradeDescription",
    }


def test_a_moved_property_converts():
    address = thing("Address", street="string", city="string")
    found = between(
        thing("Person", street="string", address="Address"),
        thing("Person", address="Address"),
        address,
        move={"street": "address.street"},
    )
    assert found["street -> address.street"][2:] == ("Property Move", "Rename")
    assert found["address"][2:] == ("None", "Copy value")


def test_a_union_whose_variants_stand_in_another_order_is_unchanged():
    variants = [
        thing("E", type="Auditing", note="string?"),
        thing("V", type="Assessments"),
        choice("Auditing", "auditing"),
        choice("Assessments", "assessments"),
    ]

    def holder(*names):
        each = Property("its", ListOf(Union(tuple(map(Ref, names)))))
        return ObjectType("Person", True, (each,))

    evolution = Evolution(
        (
            schema("2020-01-01", holder("E", "V"), *variants),
            schema("2021-01-01", holder("V", "E"), *variants),
        )
    )
    compared = compare(evolution, v("2020-01-01"), v("2021-01-01"))
    assert [each.type for each in compared.types] == ["E", "Person", "V"]
    assert not any(each.changed for each in compared.types)
    assert statistics(evolution).unchanged == statistics(evolution).pairs == 3


def test_texts_that_are_kept_as_their_writers_spell_them_are_no_properties_of_their_own():
    evolution = Evolution(
        (
            schema("2020-01-01", thing("Person", a="Kind?"), choice("Kind", "on")),
            schema("2021-01-01", thing("Person", a="Kind?"), choice("Kind", "on", "off")),
        )
    )
    assert rows(evolution, "2020-01-01", "2021-01-01")["a"] == (
        "Kind?",
        "Kind?",
        "None",
        "Copy value",
    )


def test_objects_in_a_list_that_moves_between_objects_of_one_side_have_a_table():
    moves = TypeChanges(version=v("2020-01-01"), type="Person", move={"old.list": "new.list"})
    renames = TypeChanges(version=v("2020-01-01"), type="Item", rename={"a": "b"})
    evolution = Evolution(
        (
            schema(
                "2020-01-01",
                thing("Person", old="Old?"),
                thing("Old", list="Item[]?"),
                thing("Item", a="string"),
            ),
            schema(
                "2021-01-01",
                thing("Person", new="New?"),
                thing("New", list="Item[]?"),
                thing("Item", b="string"),
            ),
        ),
        (moves, renames),
    )
    found = rows(evolution, "2020-01-01", "2021-01-01", "Item")
    assert found == {"a -> b": ("string", "string", "Property Rename", "Rename")}
