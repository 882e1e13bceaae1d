"""Maps that are lists with a key, object references and conditions, edited from both sides."""

import pytest
from cases import V1, V2, V3, thing
from evolving import rules

from trundle.evolution import NamedConversion


def keyed(name: str, key: str, value: str = "") -> NamedConversion:
    return NamedConversion(name=name, key=key, value=value)


OBJECTS = (
    {
        V1: thing(a="{Item}") | {"Item": {"x": "string", "old": "string"}},
        V2: thing(a="[Named]") | {"Named": {"topic": "string", "x": "string", "new": "string"}},
    },
    rules(V1, convert={"a": keyed("map-to-list", "topic")}),
)
PAIRS = (
    {
        V1: thing(a="[Pair]")
        | {"Pair": {"name": "string", "value": "string", "secret": "boolean"}},
        V2: thing(a="{string}"),
    },
    rules(V1, convert={"a": keyed("list-to-map", "name", "value")}),
)


def test_a_map_of_objects_is_a_list_with_a_key_in_the_order_of_its_keys(store):
    x = store(*OBJECTS).put(V1, a={"b": {"x": "1", "old": "o"}, "a": {"x": "2"}})
    assert x.read(V2) == {"a": [{"topic": "b", "x": "1"}, {"topic": "a", "x": "2"}]}
    assert list(x.read(V1)["a"]) == ["b", "a"]


def test_what_one_side_cannot_see_stays_with_its_key(store):
    x = store(*OBJECTS).put(V1, a={"b": {"x": "1", "old": "o"}, "a": {"x": "2"}})
    x.put(V2, a=[{"topic": "a", "x": "3", "new": "n"}, {"topic": "b", "x": "1"}])
    assert x.read(V1) == {"a": {"a": {"x": "3"}, "b": {"x": "1", "old": "o"}}}
    x.put(V1, a={"b": {"x": "9", "old": "o"}, "a": {"x": "3"}, "c": {}})
    expected = [{"topic": "b", "x": "9"}, {"topic": "a", "x": "3", "new": "n"}, {"topic": "c"}]
    assert x.read(V2) == {"a": expected}


def test_elements_that_a_map_has_no_place_for_are_kept(store):
    elements = [{"topic": "a", "x": "1"}, {"x": "no key"}, {"topic": "a", "x": "again"}]
    x = store(*OBJECTS).put(V2, a=elements)
    assert x.read(V1) == {"a": {"a": {"x": "1"}}}
    x.put(V1, a={"a": {"x": "2"}, "b": {}})
    changed = [{"topic": "a", "x": "2"}, *elements[1:], {"topic": "b"}]
    assert x.read(V2) == {"a": changed}
    x.put(V1, a={"b": {}})
    assert x.read(V2) == {"a": [{"topic": "b"}, {"x": "no key"}]}


def test_what_a_list_has_beside_key_and_value_survives_an_edit_of_the_map(store):
    pairs = [
        {"name": "A", "value": "1", "secret": True},
        {"name": "B"},
        {"name": "A", "value": "again"},
        {"name": "C", "value": "3"},
    ]
    x = store(*PAIRS).put(V1, a=pairs)
    assert x.read(V2) == {"a": {"A": "1", "C": "3"}}
    assert x.read(V1) == {"a": pairs}
    x.put(V2, a={"A": "9", "B": "2", "D": "4"})
    assert x.read(V1) == {
        "a": [
            {"name": "A", "value": "9", "secret": True},
            {"name": "B", "value": "2"},
            {"name": "A", "value": "again"},
            {"name": "D", "value": "4"},
        ]
    }
    x.put(V2, a={"D": "4"})
    assert x.read(V1) == {"a": [{"name": "D", "value": "4"}, {"name": "B"}]}


def test_a_member_is_added_to_an_element_of_its_key_that_the_map_has_no_place_for(store):
    pair = {"Pair": {"name": "string", "value": "string", "secret": "boolean"}}
    x = store(
        {V1: thing(a="{string}"), V2: thing(a="[Pair;name]") | pair},
        rules(V1, convert={"a": keyed("map-to-list", "name", "value")}),
    )
    a, b, c = {"name": "A", "secret": True}, {"name": "B"}, {"name": "C", "value": "3"}
    x.put(V2, a=[a, b, c])
    assert x.read(V1) == {"a": {"C": "3"}}
    x.put(V1, a={"A": "1", "C": "3", "D": "4"})
    assert x.read(V1) == {"a": {"A": "1", "C": "3", "D": "4"}}
    added = {"name": "D", "value": "4"}
    assert x.read(V2) == {"a": [{**a, "value": "1"}, b, c, added]}
    x.put(V1, a={"C": "3"})
    assert x.read(V2) == {"a": [c, b]}


def test_empty_and_absent_stay_what_they_are(store):
    for versions in (OBJECTS, PAIRS):
        empty, other = ({}, []) if versions is OBJECTS else ([], {})
        x = store(*versions).put(V1, a=empty)
        assert (x.read(V1), x.read(V2)) == ({"a": empty}, {"a": other})
        assert x.put(V1).read(V2) == {}


def test_maps_of_scalars_convert_on_the_way(store):
    x = store(
        {
            V1: thing(a="{integer}"),
            V2: thing(b="[Pair]") | {"Pair": {"k": "string", "v": "number"}},
            V3: thing(b="[Pair]") | {"Pair": {"k": "string", "v": "number", "w": "string"}},
        },
        rules(V1, rename={"a": "b"}, convert={"a": keyed("map-to-list", "k", "v")}),
    ).put(V3, b=[{"k": "one", "v": 1, "w": "w"}, {"k": "half", "v": 0.5}])
    assert x.read(V1) == {"a": {"one": 1}}
    x.put(V1, a={"one": 2})
    assert x.read(V3)["b"][0] == {"k": "one", "v": 2, "w": "w"}


REFERENCES = {
    V1: thing(ref="Ref") | {"Ref": {"apiVersion": "string", "kind": "string"}},
    V2: thing(ref="Ref") | {"Ref": {"apiGroup": "string", "kind": "string"}},
}


def reference(version: str = ""):
    convert = NamedConversion(name="api-version-to-group", version=version)
    return rules(
        V1, type_="Ref", rename={"apiVersion": "apiGroup"}, convert={"apiVersion": convert}
    )


@pytest.mark.parametrize(
    ("api_version", "group"), [("infra.io/v1beta1", "infra.io"), ("apps/v1", "apps"), ("v1", "")]
)
def test_the_version_of_a_reference_comes_back_from_the_bag(store, api_version, group):
    x = store(REFERENCES, reference("v9")).put(V1, ref={"apiVersion": api_version, "kind": "A"})
    assert x.read(V2) == {"ref": {"apiGroup": group, "kind": "A"}}
    x.put(V2, ref={"apiGroup": group, "kind": "B"})
    assert x.read(V1) == {"ref": {"apiVersion": api_version, "kind": "B"}}


def test_a_group_that_others_wrote_gets_the_configured_version(store):
    x = store(REFERENCES, reference("v1beta2"))
    x.put(V1, ref={"apiVersion": "infra.io/v1beta1"}).put(V2, ref={"apiGroup": "other.io"})
    assert x.read(V1) == {"ref": {"apiVersion": "other.io/v1beta2"}}
    assert x.put(V2, ref={"apiGroup": ""}).read(V1) == {"ref": {"apiVersion": "v1"}}


def test_a_group_without_a_configured_version_is_absent(store):
    x = store(REFERENCES, reference()).put(V2, ref={"apiGroup": "infra.io", "kind": "A"})
    assert x.read(V1) == {"ref": {"kind": "A"}}
    assert x.put(V2, ref={"apiGroup": ""}).read(V1) == {"ref": {"apiVersion": "v1"}}


def test_conditions_are_matched_by_their_type(store):
    legacy = {"type!": "string", "status!": "string", "severity": "string", "reason": "string"}
    modern = {"type!": "string", "status!": "string", "reason": "string", "message": "string"}
    x = store(
        {
            V1: thing(conditions="[Condition]") | {"Condition": legacy},
            V2: thing(conditions="[Condition]") | {"Condition": modern},
        }
    )
    ready = {"type": "Ready", "status": "False", "severity": "Error", "reason": "Down"}
    drained = {"type": "Drained", "status": "True", "severity": "Info"}
    x.put(V1, conditions=[ready, drained])
    x.put(
        V2,
        conditions=[
            {"type": "New", "status": "True"},
            {"type": "Drained", "status": "False", "message": "again"},
            {"type": "Ready", "status": "True", "reason": "Up"},
        ],
    )
    assert x.read(V1) == {
        "conditions": [
            {"type": "New", "status": "True"},
            {**drained, "status": "False"},
            {**ready, "status": "True", "reason": "Up"},
        ]
    }


RENAMED = (
    {
        V1: thing(a="[Item]") | {"Item": {"id": "string", "x": "string", "old": "string"}},
        V2: thing(a="[Item]") | {"Item": {"id": "string", "x": "string"}},
        V3: thing(a="[Item]") | {"Item": {"label": "string", "x": "string", "new": "string"}},
    },
    rules(V2, "Item", rename={"id": "label"}),
)


@pytest.mark.parametrize("writer", [V1, V2, V3])
def test_a_key_property_identifies_elements_under_any_name(store, writer):
    key = "label" if writer == V3 else "id"
    x = store(*RENAMED).put(V1, a=[{"id": "1", "old": "1"}, {"id": "2", "old": "2"}])
    seen = x.read(writer)["a"]
    one, two = ({**each, "x": "changed"} for each in seen)
    x.put(writer, a=[{key: "3"}, two, one])
    found = x.read(V1)["a"]
    assert [(each["id"], each.get("old")) for each in found] == [
        ("3", None),
        ("2", "2"),
        ("1", "1"),
    ]
    x.put(writer, a=[{key: "4"}])
    assert x.read(V1) == {"a": [{"id": "4"}]}


def test_the_only_element_with_another_key_is_another_element(store):
    x = store(*RENAMED).put(V1, a=[{"id": "1", "old": "o"}])
    x.put(V2, a=[{"id": "2"}])
    assert x.read(V1) == {"a": [{"id": "2"}]}


def test_a_renamed_key_counts_for_nothing_beside_a_key_property(store):
    """A client of the newest version may change the label of an element: that has a name to be found by."""
    x = store(
        {
            V1: thing(a="[Item]") | {"Item": {"id": "string", "old": "string"}},
            V2: thing(a="[Item]") | {"Item": {"label": "string", "name": "string"}},
        },
        rules(V1, "Item", rename={"id": "label"}),
    ).put(V2, a=[{"label": "1", "name": "n"}, {"label": "2", "name": "m"}])
    x.put(V1, a=[{"id": "1", "old": "o"}, {"id": "2"}])
    x.put(V2, a=[{"label": "3", "name": "m"}, {"label": "4", "name": "n"}])
    assert x.read(V1) == {"a": [{"id": "3"}, {"id": "4", "old": "o"}]}


def keyed_variants(variants, *more):
    """A list of variants with a declared key that is no key property."""
    texts = {f"Is{each}": [each.lower()] for each in variants}
    members = {"port": "string", "x": "string", **dict.fromkeys(more, "string")}
    return thing(a=f"[{'|'.join(variants)};port]") | {
        **texts,
        **{each: {"kind!": f"Is{each}", **members} for each in variants},
    }


def test_declared_keys_identify_elements_that_only_an_entry_has(store):
    """The newest version, whose shape is stored, lacks the variant B; the oldest one lacks `more`."""
    x = store(
        {
            V1: keyed_variants("AB"),
            V2: keyed_variants("AB", "more"),
            V3: keyed_variants("A", "more"),
        }
    )
    x.put(V2, a=[{"kind": "a", "port": "1"}, {"kind": "b", "port": "9", "x": "y", "more": "m"}])
    seen = x.read(V1)["a"]
    x.put(V1, a=[seen[0], {"kind": "a", "port": "2"}, {"kind": "b", "port": "9"}])
    assert x.read(V2)["a"] == [
        {"kind": "a", "port": "1"},
        {"kind": "a", "port": "2"},
        {"kind": "b", "port": "9", "more": "m"},
    ]


def test_a_new_element_takes_the_place_of_one_of_its_key_that_its_writer_cannot_see(store):
    x = store({V1: keyed_variants("A"), V2: keyed_variants("AB")})
    x.put(V2, a=[{"kind": "a", "port": "1"}, {"kind": "b", "port": "9", "x": "y"}])
    x.put(V1, a=[*x.read(V1)["a"], {"kind": "a", "port": "9"}])
    assert x.read(V2)["a"] == [{"kind": "a", "port": "1"}, {"kind": "a", "port": "9"}]


def test_an_element_that_only_an_entry_has_stays_behind_the_one_with_the_same_key(store):
    """The stored version, which lacks the variant B, changes the element before it and adds one."""
    x = store({V1: keyed_variants("AB"), V2: keyed_variants("A")})
    x.put(V1, a=[{"kind": "a", "port": "1", "x": "x"}, {"kind": "b", "port": "9"}])
    x.put(V2, a=[{"kind": "a", "port": "1", "x": "changed"}, {"kind": "a", "port": "2"}])
    assert [each["port"] for each in x.read(V1)["a"]] == ["1", "9", "2"]


def test_what_moves_out_of_an_object_in_an_element_is_edited_from_both_sides(store):
    x = store(
        {
            V1: thing(a="[Named]") | {"Named": {"id": "string", "p": "P"}, "P": {"x": "string"}},
            V2: thing(a="{Item}") | {"Item": {"x": "string"}},
        },
        rules(V1, convert={"a": keyed("list-to-map", "id")}),
        rules(V1, "Named", move={"p.x": "x"}),
    ).put(V2, a={"one": {"x": "1"}})
    x.put(V1, a=[{"id": "one", "p": {"x": "2"}}, {"id": "two", "p": {}}])
    assert x.read(V2) == {"a": {"one": {"x": "2"}, "two": {}}}
    assert x.read(V1) == {"a": [{"id": "one", "p": {"x": "2"}}, {"id": "two", "p": {}}]}
    assert x.put(V2, a={"one": {}, "two": {"x": "3"}}).read(V1) == {
        "a": [{"id": "one"}, {"id": "two", "p": {"x": "3"}}]
    }


def test_an_object_in_an_element_that_the_stored_version_lacks_is_edited_around(store):
    versions = {
        V1: thing(a="[Named]") | {"Named": {"id": "string", "p": "P"}, "P": {"x": "string"}},
        V2: thing(a="[Named]") | {"Named": {"id": "string", "x": "string"}},
        V3: thing(a="{Item}") | {"Item": {"p": "P", "x": "string"}, "P": {"k": "string"}},
    }
    x = store(
        versions,
        rules(V1, "Named", move={"p.x": "x"}),
        rules(V2, convert={"a": keyed("list-to-map", "id")}),
        hub=V2,
    ).put(V3, a={"one": {"p": {"k": "k"}, "x": "1"}})
    assert x.put(V3, a={"one": {"p": {"k": "k"}, "x": "2"}}).read(V1) == {
        "a": [{"id": "one", "p": {"x": "2"}}]
    }
    assert x.put(V1, a=[{"id": "one", "p": {"x": "3"}}]).read(V3) == {
        "a": {"one": {"p": {"k": "k"}, "x": "3"}}
    }


def test_an_edit_leaves_what_stands_beside_what_it_takes_out_of_an_object_in_an_element(store):
    x = store(
        {
            V1: thing(a="{Item}") | {"Item": {"x": "string", "y": "string"}},
            V2: thing(a="[Named]")
            | {"Named": {"id": "string", "o": "O"}, "O": {"x": "string", "k": "string"}},
        },
        rules(V1, convert={"a": keyed("map-to-list", "id")}),
        rules(V1, "Item", move={"x": "o.x"}),
    ).put(V2, a=[{"id": "one", "o": {"x": "1", "k": "k"}}])
    assert x.put(V1, a={"one": {"y": "y"}}).read(V2) == {"a": [{"id": "one", "o": {"k": "k"}}]}
    assert x.put(V1, a={"one": {"x": "2"}}).read(V2) == {
        "a": [{"id": "one", "o": {"x": "2", "k": "k"}}]
    }


def test_an_edit_leaves_what_an_element_cannot_show_of_an_object_that_it_empties(store):
    x = store(
        {
            V1: thing(a="[Named]")
            | {"Named": {"id": "string", "o": "O"}, "O": {"x": "string", "k": "string"}},
            V2: thing(a="{Item}")
            | {"Item": {"x": "string", "o": "O"}, "O": {"k": "string", "z": "string"}},
        },
        rules(V1, convert={"a": keyed("list-to-map", "id")}),
        rules(V1, "Named", move={"o.x": "x"}),
    ).put(V2, a={"one": {"x": "1", "o": {"k": "k", "z": "z"}}})
    x.put(V1, a=[{"id": "one", "o": {"x": "1"}}])
    assert x.read(V2) == {"a": {"one": {"x": "1", "o": {"z": "z"}}}}
