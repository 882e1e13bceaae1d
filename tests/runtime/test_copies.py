"""What a caller gets is its own: nothing in it that can be changed belongs to anything else."""

import copy
import json

import msgspec
import pytest
from spoiling import spoil

from trundle.runtime import ABSENT, ApiObject, Entry, FreeForm, PropertyBag, StorageObject
from trundle.runtime._copies import own
from trundle.runtime._entries import Stashing, made_entry


class Leaf(ApiObject, kw_only=True):
    x: str | msgspec.UnsetType = ABSENT


class Node(ApiObject, kw_only=True):
    leaf: Leaf | msgspec.UnsetType | None = ABSENT
    leaves: list[Leaf] | msgspec.UnsetType = ABSENT
    named: dict[str, Leaf] | msgspec.UnsetType = ABSENT
    texts: list[str] | msgspec.UnsetType = ABSENT
    labels: dict[str, str] | msgspec.UnsetType = ABSENT
    nested: list[list[str]] | msgspec.UnsetType = ABSENT
    any: FreeForm | msgspec.UnsetType = ABSENT
    nodes: "list[Node] | msgspec.UnsetType" = ABSENT


class Kept(StorageObject, kw_only=True):
    x: str | msgspec.UnsetType = ABSENT
    property_bag: PropertyBag | msgspec.UnsetType = msgspec.field(
        default=ABSENT, name="$propertyBag"
    )


def full() -> Node:
    data = json.dumps(
        {
            "leaf": {"x": "1"},
            "leaves": [{"x": "2"}, {}],
            "named": {"a": {"x": "3"}},
            "texts": ["a"],
            "labels": {"a": "b"},
            "nested": [["a"], []],
            "any": {"a": [1]},
            "nodes": [{"leaf": None}, {"texts": []}],
        }
    ).encode()
    value = msgspec.json.decode(data, type=Node)
    value.leaves[0].unknown = {"odd": msgspec.Raw(b"1")}
    value.unknown = {"odd": msgspec.Raw(b"[]")}
    return value


def test_a_copy_is_equal_and_shares_nothing():
    value = full()
    made = own(value)
    assert made == value
    assert msgspec.json.encode(made) == msgspec.json.encode(value)
    spoil(made)
    assert value == full()


def test_the_entries_of_bags_are_copied_with_their_values():
    def kept() -> Kept:
        entry = made_entry(full(), "beside", Stashing(witness=len))
        return Kept(x="1", property_bag={"n": {"v1": entry, "v2": Entry(["a"])}})

    value = kept()
    made = own(value)
    assert made == value
    assert type(made.property_bag["n"]["v1"]) is Entry
    spoil(made)
    assert value == kept()


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("leaf", ["a"]), ("leaves", {"a": ["b"]}), ("labels", [["a"]]), ("leaf", {"x": Leaf(x="1")})],
)
def test_an_object_that_is_not_what_its_class_declares_is_copied_all_the_same(name, wrong):
    value = Node(**{name: wrong})
    kept = copy.deepcopy(wrong)
    made = own(value)
    assert getattr(made, name) == kept
    spoil(made)
    assert getattr(value, name) == kept


def test_objects_may_be_nested_deeply():
    value = Node()
    for _ in range(5000):
        value = Node(nodes=[value], texts=["a"])
    made = own(value)
    made.nodes[0].nodes[0].texts.append("b")
    assert value.nodes[0].nodes[0].texts == ["a"]
