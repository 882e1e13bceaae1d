from report_schemas import choice, schema, thing, v

from trundle.evolution import Evolution, TypeChanges
from trundle.report import (
    compare,
    comparison_data,
    comparison_text,
    explain,
    explanation_data,
    explanation_text,
    statistics,
    statistics_text,
)

PERSON = thing("Person", level="Level?", other="Level?")


def levels(*values, changes=()):
    """Three versions, of which the last two have the given values."""
    return Evolution(
        (
            schema("2020-01-01", PERSON, choice("Level", "basic", "Pro", "Trial")),
            schema("2021-01-01", PERSON, choice("Level", *values)),
            schema("2022-01-01", PERSON, choice("Level", *reversed(values))),
        ),
        changes,
    )


def test_a_diff_shows_added_removed_and_recased_values():
    found = compare(levels("Pro", "Basic", "Gold"), v("2020-01-01"), v("2021-01-01"))
    (change,) = found.enums
    assert (change.added, change.removed) == (("Gold",), ("Trial",))
    assert change.recased == (("basic", "Basic"),)
    assert comparison_text(found) == (
        "## Level: values\n\n- added: Gold\n- removed: Trial\n- letter case: basic -> Basic\n\n"
        "Unchanged types: Person\n"
    )
    assert comparison_data(found)["enums"][0]["recased"] == {"basic": "Basic"}


def test_an_enum_that_gained_a_value_leaves_its_properties_unchanged():
    evolution = levels("basic", "Pro", "Trial", "Gold")
    found = compare(evolution, v("2020-01-01"), v("2021-01-01"))
    ((person,), (change,)) = found.types, found.enums
    assert [(each.change, each.handler) for each in person.properties] == [
        ("None", "Copy value")
    ] * 2
    assert change.added == ("Gold",)


def test_the_order_of_values_is_no_change():
    evolution = levels("Trial", "Pro", "basic")
    for newer in ("2021-01-01", "2022-01-01"):
        found = compare(evolution, v("2020-01-01"), v(newer))
        assert found.enums == ()


def test_values_that_a_rule_renames_are_neither_added_nor_removed():
    changes = TypeChanges(
        version=v("2020-01-01"),
        type="Person",
        values={"level": {"Trial": "Gold"}, "other": {"Trial": "Gold"}},
    )
    found = compare(
        levels("basic", "Pro", "Gold", changes=(changes,)), v("2020-01-01"), v("2021-01-01")
    )
    (change,) = found.enums
    assert (change.renamed, change.added, change.removed) == ((("Trial", "Gold"),), (), ())


def test_renamed_values_are_followed_back_and_over_several_versions():
    changes = [
        TypeChanges(version=v(version), type="Person", values={"level": {old: new}})
        for version, old, new in (("2020-01-01", "a", "b"), ("2021-01-01", "b", "c"))
    ]
    person = thing("Person", level="Level?")
    evolution = Evolution(
        tuple(
            schema(version, person, choice("Level", "same", value))
            for version, value in (("2020-01-01", "a"), ("2021-01-01", "b"), ("2022-01-01", "c"))
        ),
        changes,
    )
    for older, newer, renamed in (
        ("2021-01-01", "2020-01-01", ("b", "a")),
        ("2020-01-01", "2022-01-01", ("a", "c")),
        ("2022-01-01", "2020-01-01", ("c", "a")),
    ):
        (change,) = compare(evolution, v(older), v(newer)).enums
        assert (change.renamed, change.added, change.removed) == ((renamed,), (), ())


def test_a_diff_of_one_enum_shows_nothing_else():
    evolution = levels("basic", "Pro")
    found = compare(evolution, v("2020-01-01"), v("2021-01-01"), "level")
    assert comparison_text(found) == "## Level: values\n\n- removed: Trial\n"
    found = compare(evolution, v("2021-01-01"), v("2022-01-01"), "Level")
    assert comparison_text(found) == "No value of the enum changed.\n"


def test_an_enum_at_several_places_counts_once():
    figures = statistics(levels("Pro", "Basic", "Gold"))
    assert (figures.enums_changed, figures.values_added, figures.values_removed) == (1, 1, 1)
    assert (figures.values_recased, figures.values_renamed) == (1, 0)
    assert "Enums whose values changed" in statistics_text(figures)


def test_an_enum_is_explained_with_its_places_and_its_history():
    found = explain(levels("Pro", "Basic"), "level")
    (life,) = found.enums
    assert life.places == ("Person.level", "Person.other")
    assert explanation_text(found) == (
        "## Level\n\nThe values of Person.level, Person.other.\n\nLife:\n"
        "- 2020-01-01: basic, Pro, Trial\n"
        "- 2021-01-01 to 2022-01-01: Pro, Basic\n"
        "  - removed: Trial\n  - letter case: basic -> Basic\n"
    )
    assert explanation_data(found)["enums"][0]["stages"][1]["values"] == ("Pro", "Basic")
