import pytest
from evolving import evolution, rules
from lineages import place, root, spelt, threads, v

from trundle.evolution import ADDITIONAL

HAS = {"Thing": {"a": "string"}}
LACKS = {"Thing": {}}


def home(lineage, start, storage):
    return spelt(lineage.thread(place(start)).home(v(storage)))


def test_a_thread_has_at_most_one_place_in_a_version():
    lineage = root({"v1": HAS, "v2": LACKS, "v3": HAS})
    thread = lineage.thread(place("a@v1"))
    assert thread.at(v("v3")) == place("a@v3")
    assert thread.at(v("v2")) is None
    assert lineage.thread(place("a@v3")) is thread


@pytest.mark.parametrize(
    ("versions", "storage", "expected"),
    [
        ({"v1": HAS, "v2": HAS}, "v2", "a@v2"),
        ({"v1": HAS, "v2": LACKS}, "v2", "a@v1"),
        ({"v1": HAS, "v2": LACKS, "v3": HAS}, "v2", "a@v1"),
        ({"v1": LACKS, "v2": HAS, "v3": HAS}, "v1", "a@v2"),
        ({"v1": HAS, "v2alpha1": HAS, "v2": LACKS}, "v2", "a@v1"),
        ({"v1": LACKS, "v2alpha1": HAS, "v2beta1": HAS, "v2": LACKS}, "v2", "a@v2beta1"),
        ({"v1": LACKS, "v2alpha1": HAS}, "v1", "a@v2alpha1"),
    ],
)
def test_a_value_is_kept_in_the_shape_it_had_before_the_gap(versions, storage, expected):
    lineage = root(versions)
    assert home(lineage, threads(lineage)[0].split()[0], storage) == expected


def test_namesakes_are_places_of_other_threads_that_share_a_name():
    lineage = root({"v1": {"Thing": {"a": "string"}}, "v2": {"Thing": {"a": "integer"}}})
    text, number = lineage.threads
    assert lineage.namesakes == {
        text.number: (place("a@v2"),),
        number.number: (place("a@v1"),),
    }


def test_threads_that_convert_into_each_other_are_no_namesakes():
    lineage = root({"v1": {"Thing": {"a": "integer"}}, "v2": {"Thing": {"a": "number"}}})
    assert lineage.namesakes == {}
    assert [
        [f"{spelt(each.inputs[0])} {spelt(each.output)}" for each in found]
        for _, found in sorted(lineage.derivations.items())
    ] == [["a@v2 a@v1"], ["a@v1 a@v2"]]


def test_the_envelope_of_a_root_is_not_followed_but_that_of_a_nested_object_is():
    made = evolution(
        {
            "v1": {
                "Thing": {"apiVersion": "string", "kind": "string", "metadata": "any", "in": "In"},
                "In": {"kind": "string"},
            }
        }
    )
    lineage = made.resources[0].root
    assert lineage.names(v("v1")) == ("in",)
    assert lineage.child(place("in@v1"), "In").names(v("v1")) == ("kind",)


def test_additional_properties_are_followed_under_a_name_of_their_own():
    open_ = {"Thing": {"*": "string"}}
    lineage = root({"v1": open_, "v2": open_})
    assert threads(lineage) == [f"{ADDITIONAL}@v1 {ADDITIONAL}@v2"]


def test_a_name_that_another_version_declares_is_implied_where_anything_goes():
    lineage = root({"v1": {"Thing": {"*": "string"}}, "v2": {"Thing": {"colour": "string"}}})
    assert lineage.implied(v("v1")) == ("colour",)
    assert lineage.implied(v("v2")) == ()
    assert lineage.followed(v("v1")) == (ADDITIONAL, "colour")
    assert threads(lineage) == [f"{ADDITIONAL}@v1", "colour@v1 colour@v2"]
    assert lineage.type(place("colour@v1")) == lineage.type(place("colour@v2"))


def test_a_rename_away_from_a_declared_name_leaves_additional_ones_alone():
    lineage = root(
        {"v1": {"Thing": {"*": "string", "a": "string"}}, "v2": {"Thing": {"b": "string"}}},
        rules("v1", rename={"a": "b"}),
    )
    assert "a@v1 b@v2" in threads(lineage)


def test_nested_types_meet_where_their_parents_properties_meet():
    lineage = root(
        {
            "v1": {"Thing": {"home": "Address", "work": "Place"}, "Address": {}, "Place": {}},
            "v2": {"Thing": {"home": "Address", "work": "Place"}, "Address": {}, "Place": {}},
        }
    )
    address = lineage.child(place("home@v1"), "Address")
    assert address.nodes == {v("v1"): "Address", v("v2"): "Address"}
    assert address is lineage.child(place("home@v2"), "Address")
    assert address is not lineage.child(place("work@v1"), "Place")


def test_a_definition_name_reused_for_something_unrelated_does_not_meet():
    lineage = root(
        {
            "v1": {"Thing": {"home": "Place"}, "Place": {"street": "string"}},
            "v2": {"Thing": {"shop": "Place"}, "Place": {"goods": "string"}},
        }
    )
    assert set(lineage.child(place("home@v1"), "Place").nodes) == {v("v1")}
    assert set(lineage.child(place("shop@v2"), "Place").nodes) == {v("v2")}


def test_a_child_lineage_follows_a_rename_of_its_property_and_of_its_type():
    versions = {
        "v1": {"Thing": {"home": "Place"}, "Place": {"street": "string"}},
        "v2": {"Thing": {"house": "Address"}, "Address": {"street": "string"}},
    }
    renamed = rules("v1", rename={"home": "house"})
    apart = root(versions, renamed)
    assert len(apart.child(place("home@v1"), "Place").nodes) == 1
    together = root(versions, renamed, rules("v1", "Place", rename_type="Address"))
    assert together.child(place("home@v1"), "Place").nodes == {
        v("v1"): "Place",
        v("v2"): "Address",
    }
    assert together.child(place("home@v1"), "Place").name == "Address"


def test_an_unnamed_object_meets_whatever_stands_at_its_place():
    lineage = root(
        {
            "v1": {"Thing": {"home": "ThingHome"}, "~ThingHome": {"street": "string"}},
            "v2": {"Thing": {"home": "Address"}, "Address": {"street": "string"}},
        }
    )
    assert len(lineage.child(place("home@v1"), "ThingHome").nodes) == 2


def test_a_list_and_a_map_lead_to_the_lineage_of_what_they_hold():
    versions = {
        version: {"Thing": {"many": "[In]", "by": "{In}"}, "In": {"a": "string"}}
        for version in ("v1", "v2")
    }
    lineage = root(versions)
    assert lineage.child(place("many@v1"), "In") is lineage.child(place("by@v2"), "In")


def test_a_recursive_type_is_its_own_child():
    versions = {
        version: {"Thing": {"tree": "Node"}, "Node": {"leaf": "string", "nodes": "[Node]"}}
        for version in ("v1", "v2")
    }
    node = root(versions).child(place("tree@v1"), "Node")
    assert node.child(place("nodes@v2"), "Node") is node


def test_resources_meet_without_regard_to_letter_case_and_take_the_newest_name():
    from evolving import parse_schema

    from trundle.evolution import Evolution

    made = Evolution(
        (
            parse_schema("v1", {"thing": {"a": "string"}}, resource="thing"),
            parse_schema("v2", {"Thing": {"a": "string"}}, resource="Thing"),
        )
    )
    (resource,) = made.resources
    assert resource.name == "Thing"
    assert threads(resource.root) == ["a@v1 a@v2"]


def test_a_subtree_without_any_change_rule_or_hook_is_stable():
    same = {"Thing": {"in": "In"}, "In": {"a": "string"}}
    other = {"Thing": {"in": "In"}, "In": {"a": "string", "b": "string"}}
    for versions, changes, stable in (
        ({"v1": same, "v2": same}, (), True),
        ({"v1": same, "v2": other}, (), False),
        ({"v1": same, "v2": same}, (rules("v1", "In", keep=("a",)),), False),
    ):
        made = evolution(versions, *changes)
        lineage = made.resources[0].root
        assert lineage.child(place("in@v1"), "In").stable is stable
        assert not lineage.stable
