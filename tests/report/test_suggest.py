import yaml
from report_schemas import CHANGES, HOOKS, choice, crm_schemas, schema, service_fabric, thing, v

from trundle.evolution import Evolution, TypeChanges
from trundle.report import statistics, suggest, suggestions_data, suggestions_text


def suggested(older, newer, *changes, ours=(), theirs=()):
    evolution = Evolution(
        (schema("2020-01-01", older, *ours), schema("2021-01-01", newer, *theirs)), changes
    )
    return suggest(evolution)


def test_the_case_studys_rename_is_a_line_to_paste():
    found = [each for each in suggest(Evolution(crm_schemas())) if each.property == "alphaKey"]
    assert suggestions_text(found) == (
        "changes:\n"
        "  2014-04-04:\n"
        "    Person:\n"
        "      rename: {alphaKey: sortKey}   # 0.73: removed and added in the same step, with no rival, "
        "both string, similar names\n"
    )


def test_the_case_studys_type_rename_is_suggested():
    found = {
        each.target: each for each in suggest(Evolution(crm_schemas())) if each.rule == "renameType"
    }
    assert (found["Location"].type, str(found["Location"].older)) == ("Address", "2018-08-08")
    assert "both stand at mailingAddress" in found["Location"].evidence


def test_what_is_configured_or_hooked_is_not_suggested_again():
    assert suggest(Evolution(crm_schemas(), CHANGES, HOOKS)) == ()


def test_letter_case_alone_is_the_best_evidence():
    (found,) = suggested(
        thing("Person", HighKey="string", z="string"),
        thing("Person", highKey="string", y="integer"),
    )
    assert (found.property, found.target) == ("HighKey", "highKey")
    assert "names differ by letter case only" in found.evidence
    assert found.score > 0.9


def test_equal_descriptions_are_evidence():
    docs = "Number of tasks that run at the same time on one node."
    (found,) = suggested(
        thing("Person", {"maxTasks": docs}, maxTasks="integer"),
        thing("Person", {"taskSlots": docs}, taskSlots="integer"),
    )
    assert "same description" in found.evidence


def test_properties_of_different_types_are_no_rename():
    assert suggested(thing("Person", oldKey="string"), thing("Person", newKey="integer")) == ()


def test_a_name_is_given_once():
    found = suggested(
        thing("Person", sortKey1="string", sortKey2="string"), thing("Person", sortKey="string")
    )
    assert [each.rule for each in found] == ["rename"]


def test_changes_of_type_get_the_rule_that_bridges_them():
    found = suggested(
        thing("Person", a="string", b="string", c="string[]", d="Left"),
        thing("Person", a="string[]", b="integer", c="string", d="string[]"),
        ours=(thing("Left", x="string"),),
    )
    assert {(each.property, each.rule, each.target) for each in found} == {
        ("a", "wrap", "a"),
        ("b", "convert", "string-to-integer"),
        ("c", "unwrap", "c"),
        ("d", "keep", ""),
    }


def test_values_that_an_enum_lost_and_gained_are_paired():
    (found,) = suggested(
        thing("Person", level="Level"),
        thing("Person", level="Level"),
        ours=(choice("Level", "lowest", "High"),),
        theirs=(choice("Level", "Lowest_", "high"),),
    )
    assert found.values == (("lowest", "Lowest_"),)
    assert "values: {level: {lowest: Lowest_}}" in suggestions_text([found])


def test_values_in_another_letter_case_need_no_rule():
    level = thing("Person", level="Level")
    ours, theirs = (choice("Level", "none", "High"),), (choice("Level", "None", "High"),)
    assert suggested(level, level, ours=ours, theirs=theirs) == ()


def test_the_lines_are_yaml_that_means_what_was_suggested():
    found = suggested(
        thing("Person", **{"Full Name": "string", "NO": "string", "HighKey": "string"}),
        thing("Person", **{"full name": "string", "no": "string", "highKey": "string"}),
    )
    rules = yaml.safe_load(suggestions_text(found))["changes"]
    ((version, types),) = rules.items()
    assert str(version) == "2020-01-01"
    assert types == {
        "Person": {"rename": {"Full Name": "full name", "NO": "no", "HighKey": "highKey"}}
    }


def test_a_suggested_rename_can_be_configured():
    found = suggested(thing("Person", HighKey="string"), thing("Person", highKey="string"))
    change = TypeChanges(
        version=v("2020-01-01"), type="Person", rename={found[0].property: found[0].target}
    )
    again = suggested(thing("Person", HighKey="string"), thing("Person", highKey="string"), change)
    assert again == ()


def test_nothing_to_suggest_is_said():
    assert suggestions_text([]) == "# Nothing to suggest.\n"


def test_json_has_every_field():
    (found,) = suggestions_data(
        suggested(thing("Person", HighKey="string"), thing("Person", highKey="string"))
    )
    assert (found["older"], found["newer"], found["rule"]) == ("2020-01-01", "2021-01-01", "rename")


def test_all_suggested_renames_of_real_schemas_are_valid_rules():
    evolution = service_fabric()
    changes = {}
    for each in suggest(evolution):
        own = changes.setdefault((each.older, each.type), {"rename": {}})
        if each.rule == "rename":
            own["rename"][each.property] = each.target
        elif each.rule == "renameType":
            own["rename_type"] = each.target
    rules = tuple(
        TypeChanges(version=version, type=name, **own) for (version, name), own in changes.items()
    )
    after = statistics(Evolution(evolution.schemas, rules))
    assert after.renames_configured >= statistics(evolution).renames_inferred
    assert after.renames_inferred == 0
