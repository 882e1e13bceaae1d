from report_schemas import CHANGES, crm, crm_schemas, schema, thing, v

from trundle.evolution import Evolution
from trundle.report import statistics, statistics_data, statistics_text


def test_the_case_study_is_counted():
    figures = statistics(crm())
    assert (figures.resources, figures.versions, figures.types) == (1, 10, 14)
    assert figures.pairs == 9 + 3
    assert figures.unchanged == 3  # Person in 2012 and 2018, Address in 2017
    assert (figures.only_new, figures.only_new_one, figures.only_new_two) == (3, 2, 1)
    assert (figures.renames_configured, figures.renames_by_case) == (2, 0)
    assert (figures.became_optional, figures.became_required) == (1, 0)
    assert (figures.changes_of_type, figures.type_renames) == (1, 1)


def test_previews_can_be_left_out():
    figures = statistics(crm(), ga_only=True)
    assert (figures.versions, figures.pairs, figures.renames_configured) == (9, 11, 1)


def test_renames_are_inferred_where_none_is_configured():
    figures = statistics(Evolution(crm_schemas(), CHANGES[2:]))
    assert figures.renames_configured == 0
    assert figures.renames == figures.renames_inferred > 0


def test_renames_by_letter_case_are_counted():
    evolution = Evolution(
        (
            schema("2020-01-01", thing("Person", Name="string")),
            schema("2021-01-01", thing("Person", name="string")),
        )
    )
    figures = statistics(evolution)
    assert (figures.renames_inferred, figures.renames_by_case) == (1, 1)


def test_definitions_that_meet_at_several_places_count_once():
    older, newer = thing("Address", city="string"), thing("Address", city="string", zip="string?")
    person = thing("Person", home="Address", work="Address")
    evolution = Evolution(
        (schema("2020-01-01", person, older), schema("2021-01-01", person, newer))
    )
    figures = statistics(evolution)
    assert (figures.pairs, figures.only_new) == (2, 1)


def test_text_and_json_have_all_figures():
    figures = statistics(crm())
    text = statistics_text(figures)
    assert text.startswith(
        "1 resource type in 10 versions (all versions): 14 object types, 12 pairs"
    )
    assert "| ... of these, adding one property" in text
    assert statistics_data(figures)["onlyNewTwo"] == 1
    assert v("2019-09-09") in crm().versions.versions
