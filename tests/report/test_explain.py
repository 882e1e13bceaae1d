import pytest
from report_schemas import choice, crm, schema, service_fabric, thing, v

from trundle.evolution import Evolution, TypeChanges
from trundle.report import ReportError, explain, explanation_data, explanation_text


def life(evolution, question):
    (found,) = explain(evolution, question).properties
    return found


def test_a_renamed_property_has_one_life():
    found = life(crm(), "person.ALPHAKEY")
    assert (found.type, found.name) == ("Person", "sortKey")
    assert [(each.span, each.name, each.type) for each in found.stages] == [
        ("2014-04-04", "alphaKey", "string"),
        ("2015-05-05 to 2019-09-09", "sortKey", "string"),
    ]
    assert "between 2014-04-04 and 2015-05-05: `alphaKey` is renamed `sortKey`" in found.bridges
    assert found.home == "in the property `sortKey` of the storage type of 2019-09-09"
    assert found.stale == ""
    assert found.ways[0].to_hub == ("`sortKey` takes `alphaKey`",)


def test_a_hooked_property_names_the_hook_the_entry_and_what_makes_it_stale():
    found = life(crm(), "Person.firstName")
    assert any("crm_hooks:Names.assign_to reads it to derive" in each for each in found.bridges)
    assert any("crm_hooks:Names.assign_from derives it from" in each for each in found.bridges)
    assert found.home.endswith("as `firstName` in the shape of 2013-03-03")
    assert found.stale == "when another client changes `familyName`, `knownAs` or `legalName`"
    assert found.stages[-1].type == ""


def test_optionality_and_a_type_rename_are_shown():
    found = life(crm(), "Person.mailingAddress")
    assert [(each.span, each.type) for each in found.stages] == [
        ("2016-06-06", "Address"),
        ("2017-07-07 to 2018-08-08", "Address?"),
        ("2019-09-09", "Location?"),
    ]
    assert found.bridges == (
        "between 2018-08-08 and 2019-09-09: its type Address goes on as Location",
    )
    assert found.ways[0].to_hub == ("`mailingAddress` takes `mailingAddress`, member by member",)


def test_a_text_that_is_kept_as_it_was_written_belongs_to_its_property():
    disk = thing("Disk", size="Size")
    older = schema("2020-01-01", disk, choice("Size", "S", "M"), resource="Disk")
    newer = schema("2021-01-01", disk, choice("Size", "S", "L"), resource="Disk")
    found = life(Evolution((older, newer)), "Disk.size")
    copied, kept = found.ways[0].to_hub
    assert copied == "`size` is copied"
    assert kept.startswith("the property bag keeps `size`")


def test_namesakes_have_lives_of_their_own():
    evolution = Evolution(
        (
            schema("2020-01-01", thing("Person", a="string")),
            schema("2021-01-01", thing("Person", a="integer")),
        )
    )
    older, newer = explain(evolution, "Person.a").properties
    assert "shares its name only" in older.bridges[0]
    assert older.stale == "when another client changes `a`"
    assert newer.home == "in the property `a` of the storage type of 2021-01-01"


def test_a_gap_is_shown():
    evolution = Evolution(
        (
            schema("2020-01-01", thing("Person", a="string", b="string")),
            schema("2021-01-01", thing("Person", b="string")),
            schema("2022-01-01", thing("Person", a="string", b="string")),
        )
    )
    found = life(evolution, "Person.a")
    assert [(each.span, bool(each.type)) for each in found.stages] == [
        ("2020-01-01", True),
        ("2021-01-01", False),
        ("2022-01-01", True),
    ]
    assert "2021-01-01: absent" in explanation_text(explain(evolution, "Person.a"))


@pytest.mark.parametrize(
    ("older", "newer", "rule", "words"),
    [
        ("string", "integer", {"convert": {"a": "string-to-integer"}}, "by string-to-integer"),
        ("string", "string[]", {"wrap": {"a": "a"}}, "as a list of one"),
        ("string[]", "string", {"unwrap": {"a": "a"}}, "the first of the list"),
        ("string", "string", {"values": {"a": {"x": "y"}}}, "with 'x' as 'y'"),
        ("number", "integer", {}, "where it is integer"),
    ],
)
def test_what_a_step_does_is_said_in_words(older, newer, rule, words):
    changes = (TypeChanges(version=v("2020-01-01"), type="Person", **rule),) if rule else ()
    evolution = Evolution(
        (
            schema("2020-01-01", thing("Person", a=older)),
            schema("2021-01-01", thing("Person", a=newer)),
        ),
        changes,
    )
    assert words in explanation_text(explain(evolution, "Person.a")).replace("\n    ", " ")


def test_a_required_property_names_what_shows_where_it_is_absent():
    assert (
        life(crm(), "Location.street")
        .ways[0]
        .from_hub[0]
        .endswith('required, so "" shows where it is absent')
    )


def test_a_type_has_one_line_for_each_property():
    (found,) = explain(crm(), "person").types
    assert [each.name for each in found.properties] == [
        "familyName",
        "firstName",
        "id",
        "knownAs",
        "lastName",
        "legalName",
        "mailingAddress",
        "middleName",
        "sortKey",
    ]
    lines = {each.name: each for each in found.properties}
    assert lines["legalName"].names == ("fullName",)
    assert lines["lastName"].home == "bag, as lastName of 2013-03-03"


def test_an_earlier_name_of_a_type_finds_it():
    (found,) = explain(crm(), "Address").types
    assert (found.type, found.names) == ("Location", ("Address",))
    assert explanation_text(explain(crm(), "Address")).startswith("## Location (before: Address)\n")


def test_names_with_dots_are_found():
    evolution = Evolution((schema("v1", thing("Cloud.Person", **{"odata.type": "string"})),))
    assert life(evolution, "Cloud.Person.odata.type").name == "odata.type"


def test_unknown_names_are_errors_with_suggestions():
    with pytest.raises(ReportError, match="found 'Persn'; did you mean Person"):
        explain(crm(), "Persn.id")
    with pytest.raises(
        ReportError, match="a property of Person, found 'sortKy'; did you mean sortKey"
    ):
        explain(crm(), "Person.sortKy")


def test_json_is_plain():
    data = explanation_data(explain(crm(), "Person.id"))
    assert data["properties"][0]["stages"][0]["versions"][0] == "2011-01-01"


def test_every_property_of_real_schemas_can_be_explained():
    evolution = service_fabric()
    for line in explain(evolution, "ClusterProperties").types[0].properties:
        assert explanation_text(explain(evolution, f"ClusterProperties.{line.name}"))


def test_a_move_is_shown():
    evolution = Evolution(
        (
            schema("2020-01-01", thing("Person", street="string", b="string")),
            schema(
                "2021-01-01",
                thing("Person", address="Address", b="string"),
                thing("Address", street="string"),
            ),
        ),
        (TypeChanges(version=v("2020-01-01"), type="Person", move={"street": "address.street"}),),
    )
    found = life(evolution, "Person.street")
    assert "between 2020-01-01 and 2021-01-01: `street` moves to `address.street`" in found.bridges
    assert found.ways[0].to_hub == ("`address.street` takes `street`",)
