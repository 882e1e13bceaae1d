import pytest
from evolving import evolution, hooked, rules
from lineages import place, planned, root, v

from trundle.evolution import goes_straight
from trundle.evolution._straight import alike
from trundle.evolution.steps import Read

V1 = {
    "Thing": {"a": "In", "b": "string"},
    "In": {"x": "string", "deep": "Deep"},
    "Deep": {"y": "L"},
}
V1 = {**V1, "L": ["low", "high"]}


def value(lineage, source, target, name):
    found = planned(lineage, f"api {source}", f"api {target}")
    return next(each.value for each in found.steps if each.property == name)


def alike_at(lineage, one, other, name="a"):
    child = lineage.child(place(f"{name}@{one}"), "In")
    return alike(child, v(one), v(other))


def test_what_two_versions_have_in_common_is_passed_on_whole():
    changed = {**V1, "In": {"x": "string", "deep": "Deep", "z": "string"}}
    lineage = root({"v1": V1, "v2": V1, "v3": changed})
    assert value(lineage, "v1", "v2", "a") == value(lineage, "v2", "v1", "a") == Read("a")
    assert value(lineage, "v2", "v3", "a") != Read("a")
    assert alike_at(lineage, "v1", "v2")
    assert not alike_at(lineage, "v2", "v3")


def test_what_differs_deep_down_is_not_alike():
    lineage = root({"v1": V1, "v2": {**V1, "L": ["low", "high", "top"]}})
    assert not alike_at(lineage, "v1", "v2")


def test_rules_within_do_not_count_but_where_they_lead_apart():
    renamed = {**V1, "In": {"z": "string", "deep": "Deep"}}
    change = rules("v2", "In", rename={"x": "z"})
    lineage = root({"v1": V1, "v2": V1, "v3": renamed}, change)
    assert alike_at(lineage, "v1", "v2")
    back = rules("v2", "Deep", values={"y": {"low": "high"}})
    swapped = root({"v1": V1, "v2": V1, "v3": V1}, back)
    assert alike_at(swapped, "v1", "v2")
    assert not alike_at(swapped, "v2", "v3")


def test_a_configured_default_is_shown_where_it_is_configured():
    lineage = root({"v1": V1, "v2": V1}, rules("v2", "In", default={"x": "d"}))
    assert not alike_at(lineage, "v1", "v2")


def test_objects_within_themselves_are_alike():
    node = {"Thing": {"a": "In"}, "In": {"kids": "[In]", "x": "string"}}
    assert alike_at(root({"v1": node, "v2": node}), "v1", "v2")


class Louder:
    def assign_to(self, source):
        return {"b": source.a}


FREE = {"v1": {"Thing": {"a": "any"}}, "v2": {"Thing": {"a": "string"}}}
HOOKED = (
    {
        "v1": {"Thing": {"a": "string"}},
        "v2": {"Thing": {"b": "string"}},
        "v3": {"Thing": {"b": "string", "c": "string"}},
        "v4": {"Thing": {"c": "string"}},
    },
    hooked("v1", "v2", Louder, to=(("a",), ("b",))),
)


@pytest.mark.parametrize(
    ("made", "source", "target", "straight"),
    [
        (evolution({"v1": V1, "v2": V1}), "v1", "v2", True),
        (evolution({**FREE, "v3alpha1": {"Thing": {"a": "{string}"}}}), "v3alpha1", "v1", False),
        (evolution({**FREE, "v3alpha1": {"Thing": {"a": "{string}"}}}), "v1", "v2", True),
        (evolution(*HOOKED), "v1", "v2", False),
        (evolution(*HOOKED), "v2", "v3", True),
        (evolution(*HOOKED), "v1", "v4", True),
    ],
)
def test_values_that_are_derived_from_others_go_straight_to_the_hub_and_from_it_only(
    made, source, target, straight
):
    assert goes_straight(made.resources[0].root, v(source), v(target)) is straight
