import msgspec
import pytest
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


@pytest.mark.parametrize(
    ("described", "values"),
    [
        (
            "One of:\n- `Stop` (default): stop here.\n- `Halt` (deprecated): old name for `Stop`.",
            "Stop",
        ),
        ("Halt is deprecated, use Next instead.", "Next"),
        ("One of:\n- `Halt` (deprecated).\n- `Stop`: stop here.", None),
        ("One of Stop and Next; Halt is deprecated.", None),
        ("`Halt` differs from `Stop`.", None),
        ("Halting is the former name of Stop.", None),
    ],
)
def test_a_value_that_its_description_names_for_one_that_stays_becomes_that(described, values):
    found = suggested(
        thing("Person", {"policy": described}, policy="Policy"),
        thing("Person", policy="Policy"),
        ours=(choice("Policy", "Stop", "Next", "Halt"),),
        theirs=(choice("Policy", "Stop", "Next"),),
    )
    assert [each.values for each in found] == ([] if values is None else [(("Halt", values),)])


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


def nested(depth, age):
    """A tree of lists in which each list, and each text, has another name in the newer version."""
    lists = [
        {f"{age}{each}": f"Level{at}[]"} for at, each in enumerate(["Kids", "Parts", "Cells"], 1)
    ]
    same = dict.fromkeys(["id", "size", "zone", "tier", "kind"], "string")
    return [
        thing(f"Level{at}", **same, **{f"{age}Text": "string"}, **(lists[at] if at < depth else {}))
        for at in range(depth + 1)
    ]


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_what_is_renamed_within_a_renamed_list_is_found_at_once(depth):
    older, newer = nested(depth, "old"), nested(depth, "new")
    found = suggested(older[0], newer[0], ours=older[1:], theirs=newer[1:])
    rules = yaml.safe_load(suggestions_text(found))["changes"]
    ((_, types),) = rules.items()
    expected = {f"Level{at}": {"oldText": "newText"} for at in range(depth + 1)}
    for at, name in enumerate(["Kids", "Parts", "Cells"][:depth]):
        expected[f"Level{at}"][f"old{name}"] = f"new{name}"
    assert {name: said["rename"] for name, said in types.items()} == expected
    changes = [
        TypeChanges(version=v("2020-01-01"), type=each, **said) for each, said in types.items()
    ]
    assert suggested(older[0], newer[0], *changes, ours=older[1:], theirs=newer[1:]) == ()


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


def moved(found):
    return {(each.property, each.target) for each in found if each.rule == "move"}


def test_a_property_that_went_into_a_nested_object_is_a_move():
    found = suggested(
        thing("Person", {"keySize": "The size of the key in bits."}, keySize="integer", key="Key?"),
        thing("Person", key="Key?"),
        ours=(thing("Key", rotation="string?"),),
        theirs=(
            thing("Key", {"size": "Size of the key in bits."}, rotation="string?", size="integer?"),
        ),
    )
    assert moved(found) == {("keySize", "key.size")}


def test_moves_are_found_at_any_depth_with_the_conversion_and_the_values_that_they_need():
    found = suggested(
        thing("Person", drainTimeout="string?", strategy="Strategy?", b="Mode?"),
        thing("Person", rollout="Rollout?", deletion="Deletion?", a="string?"),
        ours=(thing("Strategy", maxSurge="string?"), choice("Mode", "on", "off")),
        theirs=(
            thing("Rollout", strategy="Strategy?"),
            thing("Strategy", maxSurge="string?", more="integer?"),
            thing("Deletion", drainTimeoutSeconds="integer?", b="Modes?"),
            choice("Modes", "On", "Off"),
        ),
    )
    assert moved(found) == {
        ("drainTimeout", "deletion.drainTimeoutSeconds"),
        ("strategy", "rollout.strategy"),
        ("b", "deletion.b"),
    }
    (convert,) = (each for each in found if each.rule == "convert")
    assert (convert.property, convert.target) == ("drainTimeout", "go-duration-to-seconds")
    (values,) = (each for each in found if each.rule == "values")
    assert (values.property, dict(values.values)) == ("b", {"on": "On", "off": "Off"})
    assert 'values: {b: {"off": Off, "on": On}}' in suggestions_text(found).replace(
        '"Off"', "Off"
    ).replace('"On"', "On")


def test_properties_that_gave_way_to_namesakes_are_moves():
    found = suggested(
        thing("Person", ready="integer?", count="integer?", v2="Counts?"),
        thing("Person", ready="integer?", count="integer?", old="Old?"),
        ours=(thing("Counts", ready="integer?", count="integer?"),),
        theirs=(thing("Old", v1="Counts?"), thing("Counts", ready="integer?", count="integer?")),
    )
    assert moved(found) == {
        ("ready", "old.v1.ready"),
        ("count", "old.v1.count"),
        ("v2.ready", "ready"),
        ("v2.count", "count"),
    }


def test_properties_whose_names_say_nothing_alike_are_no_move():
    found = suggested(
        thing("Person", street="string?"),
        thing("Person", job="Job?"),
        theirs=(thing("Job", title="string?", wage="string?"),),
    )
    assert moved(found) == set()


def test_what_is_moved_already_is_not_suggested_again():
    changes = TypeChanges(version=v("2020-01-01"), type="Person", move={"street": "address.street"})
    found = suggested(
        thing("Person", street="string?"),
        thing("Person", address="Address?"),
        changes,
        theirs=(thing("Address", street="string?"),),
    )
    assert moved(found) == set()


def test_a_renamed_property_whose_object_has_the_same_members_is_suggested():
    found = suggested(
        thing("Person", homeAddress="Home?"),
        thing("Person", address="Place?"),
        ours=(
            msgspec.structs.replace(thing("Home", street="string?", city="string?"), named=False),
        ),
        theirs=(
            msgspec.structs.replace(thing("Place", street="string?", city="string?"), named=False),
        ),
    )
    assert [(each.rule, each.property, each.target) for each in found] == [
        ("rename", "homeAddress", "address")
    ]
    assert "100% of their properties are the same" in found[0].evidence


def test_a_renamed_property_of_another_type_with_the_same_members_needs_two_rules():
    older = thing("Cluster", machine="Machine?", spare="Machine?", note="string?")
    newer = thing("Cluster", node="Node?", spareNode="Node?", text="integer?")
    ours = (thing("Machine", cpu="integer?", ram="integer?", disk="string?"),)
    theirs = (thing("Node", cpu="integer?", ram="integer?", disk="string?"),)
    found = suggested(older, newer, ours=ours, theirs=theirs)
    assert [(each.type, each.rule, each.property, each.target) for each in found] == [
        ("Cluster", "rename", "spare", "spareNode"),
        ("Machine", "renameType", "", "Node"),
        ("Cluster", "rename", "machine", "node"),
    ]
    older, newer = (
        thing("Cluster", machine="Machine?", note="string?"),
        thing("Cluster", node="Node?", text="integer?"),
    )
    found = suggested(older, newer, ours=ours, theirs=theirs)
    rules = yaml.safe_load(suggestions_text(found))["changes"]
    ((_, types),) = rules.items()
    assert types == {
        "Cluster": {"rename": {"machine": "node"}},
        "Machine": {"renameType": "Node"},
    }


def test_what_has_other_members_is_no_rival_of_an_object():
    found = suggested(
        thing("Person", home="Place?", a="string?", b="string?"),
        thing("Person", origin="Place?", c="string?", d="string?"),
        ours=(thing("Place", street="string?", city="string?"),),
        theirs=(thing("Place", street="string?", city="string?"),),
    )
    assert [(each.rule, each.property, each.target) for each in found] == [
        ("rename", "home", "origin")
    ]


def test_objects_that_share_one_member_are_no_rename():
    found = suggested(
        thing("Person", home="Home?"),
        thing("Person", owner="Owner?"),
        ours=(thing("Home", id="string?"),),
        theirs=(thing("Owner", id="string?"),),
    )
    assert found == ()


def test_what_is_in_renamed_objects_goes_into_no_other_one():
    older = {"dnsa": "DnsA", "dnsb": "DnsB"}
    newer = {"dnsA": "DnsA", "dnsB": "DnsB"}
    secrets = (
        thing("DnsA", accountSecretRef="Secret", hostedZoneName="string", env="string"),
        thing("DnsB", serviceAccountSecretRef="Secret", hostedZoneName="string", project="string"),
        thing("Secret", name="string", key="string"),
    )
    found = suggested(
        thing("Person", **older), thing("Person", **newer), ours=secrets, theirs=secrets
    )
    assert {(each.rule, each.property, each.target) for each in found} == {
        ("rename", "dnsa", "dnsA"),
        ("rename", "dnsb", "dnsB"),
    }


def unnamed(definition):
    return msgspec.structs.replace(definition, named=False)


def reference(older, newer):
    return suggested(
        thing("Person", ref="Ref?"),
        thing("Person", ref="Ref?"),
        ours=(thing("Ref", older, **dict.fromkeys(older, "string?")),),
        theirs=(thing("Ref", newer, **dict.fromkeys(newer, "string?")),),
    )


def test_a_version_is_renamed_a_group_only_with_the_conversion_that_takes_the_version_off():
    found = reference({"apiVersion": "x", "kind": ""}, {"group": "x", "kind": ""})
    assert [(each.type, each.rule, each.property, each.target) for each in found] == [
        ("Ref", "rename", "apiVersion", "group"),
        ("Ref", "convert", "apiVersion", "api-version-to-group"),
    ]
    assert reference({"apiVersion": "x", "name": ""}, {"group": "x", "name": ""}) == ()


def test_names_that_say_the_opposite_are_no_rename():
    found = suggested(
        thing("Person", unavailableReplicas="integer?"),
        thing("Person", availableReplicas="integer?"),
    )
    assert found == ()


@pytest.mark.parametrize(
    ("older", "newer"),
    [("minSize", "maxSize"), ("includeHosts", "excludeHosts"), ("disableLevel", "enableLevel")],
)
def test_opposites_are_no_rename_and_no_move_however_alike_they_are_described(older, newer):
    docs = "The number of those that are looked at in a run."
    there = thing("Person", {older: docs}, **{older: "integer?"})
    assert suggested(there, thing("Person", {newer: docs}, **{newer: "integer?"})) == ()
    moved = suggested(
        there,
        thing("Person", part="Part?"),
        theirs=(thing("Part", {newer: docs}, **{newer: "integer?"}),),
    )
    assert moved == ()


def test_a_boolean_that_says_the_opposite_is_negated():
    found = suggested(
        thing("Person", disableCache="boolean?"), thing("Person", enableCache="boolean?")
    )
    assert [(each.rule, each.property, each.target) for each in found] == [
        ("rename", "disableCache", "enableCache"),
        ("convert", "disableCache", "disabled-to-enabled"),
    ]
    assert "names that say the opposite" in found[0].evidence


def test_a_boolean_that_says_the_opposite_is_negated_where_it_moves():
    found = suggested(
        thing("Person", disableCacheWrites="boolean?"),
        thing("Person", cache="Cache?"),
        theirs=(thing("Cache", enableWrites="boolean?", size="integer?"),),
    )
    assert [(each.rule, each.property, each.target) for each in found] == [
        ("move", "disableCacheWrites", "cache.enableWrites"),
        ("convert", "disableCacheWrites", "disabled-to-enabled"),
    ]


def test_what_goes_along_with_others_of_its_object_gives_way_to_no_namesake():
    alike = {"network": "Network?", "zone": "string?", "level": "integer?"}
    network = thing("Network", {}, id="string?")
    found = suggested(
        thing("Person", network="Network?", balancer="Balancer?"),
        thing("Person", network="Network?", server="Server?"),
        ours=(network, unnamed(thing("Balancer", {}, **alike))),
        theirs=(
            network,
            thing("Server", balancer="ServerBalancer?"),
            unnamed(thing("ServerBalancer", {}, **alike)),
        ),
    )
    assert [(each.rule, each.property, each.target) for each in found] == [
        ("move", "balancer", "server.balancer")
    ]


def test_objects_are_the_same_where_a_member_got_a_longer_name():
    def parts(*names, member):
        return [unnamed(thing(each, {}, name="string", **{member: "Size?"})) for each in names]

    size = unnamed(thing("Size", {}, width="integer?", height="integer?"))
    found = suggested(
        thing("Person", doorOverrides="Door[]?", windowOverrides="Window[]?"),
        thing("Person", doorSpecs="DoorSpec[]?", windowSpecs="WindowSpec[]?"),
        ours=(size, *parts("Door", "Window", member="size")),
        theirs=(size, *parts("DoorSpec", "WindowSpec", member="outerSize")),
    )
    assert {(each.rule, each.property, each.target) for each in found} == {
        ("rename", "doorOverrides", "doorSpecs"),
        ("rename", "windowOverrides", "windowSpecs"),
        ("rename", "size", "outerSize"),
    }


def test_a_value_moves_into_its_namesake_where_that_has_one_property_of_its_type():
    found = suggested(
        thing("Person", choice="map of string?", image="Image?", other="string?"),
        thing("Person", choice="Choice?", image="string?", other="Other?"),
        ours=(thing("Image", name="string?", size="integer?"),),
        theirs=(
            thing("Choice", labels="map of string?", words="string[]?"),
            thing("Other", one="string?", two="string?"),
        ),
    )
    assert [(each.rule, each.property, each.target) for each in found] == [
        ("move", "choice", "choice.labels"),
        ("move", "image.name", "image"),
        ("keep", "other", ""),
    ]


def test_a_property_goes_to_one_place_whatever_type_its_move_is_written_under():
    alike = {"name": "string?", "realm": "string?", "audience": "string?"}
    found = suggested(
        thing("Person", auth="Auth?", realm="Realm?"),
        thing("Person", auth="Auth?", realm="Realm?"),
        ours=(
            thing("Auth", {"account": "An account."}, account="Account?"),
            thing("Account", {"audience": "For whom."}, inner="Inner?"),
            unnamed(thing("Inner", {each: f"The {each}." for each in alike}, **alike)),
            thing("Realm", size="integer?"),
        ),
        theirs=(
            thing("Auth", {"account": "An account."}, account="Account?"),
            thing("Account", {each: f"The {each}." for each in alike}, **alike),
            thing("Realm", size="integer?", inner="Other?"),
            unnamed(thing("Other", **alike)),
        ),
    )
    assert moved(found) == {(f"inner.{each}", each) for each in alike}


def test_a_property_that_stays_in_its_nested_type_does_not_go_to_another_one():
    alike = {"name": "string?", "realm": "string?", "audience": "string?"}
    docs = {each: f"The {each} of the service account that signs in." for each in alike}
    found = suggested(
        thing("Person", auth="Signing?"),
        thing("Person", auth="Signing?", conjur="Conjur?"),
        ours=(
            thing("Signing", serviceAccount="Inner?"),
            unnamed(thing("Inner", docs, **alike)),
        ),
        theirs=(
            thing("Signing", docs, **alike),
            thing("Conjur", jwt="Other?"),
            unnamed(thing("Other", docs, size="integer?", age="integer?", z="integer?", **alike)),
        ),
    )
    assert moved(found) == {(f"serviceAccount.{each}", each) for each in alike}


def test_a_map_that_became_a_list_with_a_key_is_a_conversion_to_paste():
    found = suggested(
        thing("Person", labels="map of string?"),
        thing("Person", labels="Label[]?"),
        theirs=(thing("Label", name="string", value="string?"),),
    )
    (line,) = (each for each in suggestions_text(found).splitlines() if "convert" in each)
    assert line.strip().startswith(
        "convert: {labels: {map-to-list: {key: name, value: value}}}   # 0.85"
    )


def test_the_one_name_with_all_words_of_another_is_its_rename_beside_rivals():
    found = suggested(
        thing("Event", count="integer?", firstTime="string?", lastTime="string?", size="integer?"),
        thing(
            "Event",
            deprecatedCount="integer?",
            deprecatedFirstTime="string?",
            deprecatedLastTime="string?",
            maxBodySize="integer?",  # either may be what the size was
            minBodySize="integer?",
        ),
    )
    assert {(each.rule, each.property, each.target) for each in found} == {
        ("rename", "count", "deprecatedCount"),
        ("rename", "firstTime", "deprecatedFirstTime"),
        ("rename", "lastTime", "deprecatedLastTime"),
    }
    assert all("no other name has its words" in each.evidence for each in found)


def test_the_version_of_a_reference_goes_with_its_kind():
    ref = thing("Ref", apiVersion="string", kind="string", name="string", uid="string?")
    for name, conversion in (("apiVersion", None), ("apiGroup", "api-version-to-group")):
        found = suggested(
            thing("Person", template="Ref"),
            thing("Person", spec="Spec"),
            ours=(ref,),
            theirs=(
                thing("Spec", template="NewRef", more="string?"),
                thing("NewRef", **{name: "string"}, kind="string", name="string"),
            ),
        )
        lines = {each.rule: each.target for each in found if each.property == "template.apiVersion"}
        assert lines.pop("move") == f"spec.template.{name}"
        assert lines.get("convert") == conversion


def test_a_name_that_became_a_reference_is_a_move():
    found = suggested(
        thing("Person", {"class": "class is what it is made from"}, **{"class": "string"}),
        thing("Person", classRef="ClassRef"),
        theirs=(
            thing(
                "ClassRef",
                {"name": "name is what it is made from"},
                name="string",
                namespace="string?",
            ),
        ),
    )
    assert moved(found) == {("class", "classRef.name")}


def test_a_duration_that_became_seconds_is_renamed_and_converted():
    found = suggested(
        thing("Person", ttl="string", delay="string", size="string"),
        thing("Person", ttlSeconds="integer", delayInSeconds="integer", sizeSeconds="integer"),
    )
    assert {(each.rule, each.property, each.target) for each in found} == {
        ("rename", "ttl", "ttlSeconds"),
        ("convert", "ttl", "go-duration-to-seconds"),
        ("rename", "delay", "delayInSeconds"),
        ("convert", "delay", "go-duration-to-seconds"),
    }


def test_a_list_whose_elements_got_seconds_is_a_move():
    found = suggested(
        thing("Person", unhealthyConditions="Condition[]", check="Check"),
        thing("Person", check="Check"),
        ours=(
            thing("Check", size="string?"),
            thing("Condition", type="string", status="string", timeout="string"),
        ),
        theirs=(
            thing("Check", size="string?", unhealthyNodeConditions="Condition[]?"),
            thing("Condition", type="string", status="string", timeoutSeconds="integer"),
        ),
    )
    assert ("unhealthyConditions", "check.unhealthyNodeConditions") in moved(found)


def test_a_description_weighs_more_than_the_name_of_an_object_around():
    """As `unhealthyConditions` of Cluster API's health checks, which are for machines and look at nodes."""
    condition = thing("Condition", type="string", status="string", timeout="string")
    timed = thing("Condition", type="string", status="string", timeoutSeconds="integer")
    text = "Conditions that decide whether a {0} is unhealthy; one of them that is met is enough for a {0}."
    docs = {f"bad{each.title()}Conditions": text.format(each) for each in ("node", "machine")}
    found = suggested(
        thing("Person", machineCheck="MachineCheck?"),
        thing("Person", check="Check?"),
        ours=(
            condition,
            thing(
                "MachineCheck", {"badConditions": text.format("node")}, badConditions="Condition[]?"
            ),
        ),
        theirs=(
            timed,
            thing("Check", rules="Rules?"),
            thing(
                "Rules", docs, badNodeConditions="Condition[]?", badMachineConditions="Condition[]?"
            ),
        ),
    )
    assert moved(found) == {("machineCheck.badConditions", "check.rules.badNodeConditions")}


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("", {("discovery.timeout", "timeouts.discoverySeconds")}),
        (
            "How long to wait for the discovery.",
            {("discovery.timeout", "timeouts.discoverySeconds")},
        ),
        ("The kubelet validates the identity of a server within that time, five minutes.", set()),
    ],
)
def test_words_of_the_objects_around_alone_move_nothing_that_is_described_otherwise(text, moves):
    """As `discovery.timeout` of Cluster API, which became another of its timeouts."""
    found = suggested(
        thing("Person", discovery="Discovery?", timeouts="Timeouts?"),
        thing("Person", discovery="Discovery?", timeouts="Timeouts?"),
        ours=(
            thing(
                "Discovery",
                {"timeout": "How long to wait for discovery."},
                timeout="string?",
                x="string?",
            ),
            thing("Timeouts", y="string?"),
        ),
        theirs=(
            thing("Discovery", x="string?"),
            thing("Timeouts", {"discoverySeconds": text}, discoverySeconds="integer?", y="string?"),
        ),
    )
    assert moved(found) == moves


def test_an_object_whose_content_rules_move_is_not_moved_as_a_whole():
    flags = thing("Flags", a="string")
    versions = (
        thing("Person", next="Flags", a="string"),
        thing("Person", a="string", old="Old"),
    )
    more = {"ours": (flags,), "theirs": (flags, thing("Old", next="Flags"))}
    move = {"next.a": "a", "a": "old.next.a"}
    changes = TypeChanges(version=v("2020-01-01"), type="Person", move=move)
    assert suggested(*versions, changes, **more) == ()
