"""Who owns what, in stories that need no server; `test_apply_like_kubernetes` compares random ones with a real one."""

import copy
from dataclasses import replace

import gadgets
import pytest
import yaml
from object_shapes import object_shape

from trundle.api.apply import (
    ApplyConflictError,
    ElementError,
    SameWords,
    UnreadableFieldsError,
    Writer,
    applied,
    ignored,
    restricted,
    updated,
)

SCHEMA = yaml.safe_load("""
type: object
properties:
  spec:
    type: object
    properties:
      replicas: {type: integer}
      image: {type: string}
      labels: {type: object, additionalProperties: {type: string}}
      ports:
        type: array
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [name]
        items: {type: object, required: [name], properties: {name: {type: string}, port: {type: integer}}}
  status: {type: object, properties: {ready: {type: boolean}}}
""")
SHAPE = object_shape(SCHEMA)
NEW = {"apiVersion": "test/v1", "kind": "Web"}


def writer(name, seconds=0, **more):
    return Writer(name, "test/v1", SHAPE, f"2026-01-01T00:00:{seconds:02}Z", **more)


def web(text, **metadata):
    return {**NEW, "metadata": {"name": "a", **metadata}, "spec": yaml.safe_load(text)}


def created(text, name="ann"):
    made = applied(writer(name), NEW, web(text))
    made["metadata"]["uid"] = "1"
    return made


def owners(document):
    return {
        each["manager"]: each["fieldsV1"].get("f:spec")
        for each in document["metadata"]["managedFields"]
    }


def test_an_applier_owns_what_it_states():
    made = created("{replicas: 3, labels: {a: x}}")
    assert made["metadata"]["managedFields"] == [
        {
            "manager": "ann",
            "operation": "Apply",
            "apiVersion": "test/v1",
            "time": "2026-01-01T00:00:00Z",
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:spec": {"f:labels": {"f:a": {}}, "f:replicas": {}}},
        }
    ]


def test_another_value_is_a_conflict_that_names_owner_and_field():
    live = created("{replicas: 3, ports: [{name: web, port: 80}]}")
    with pytest.raises(ApplyConflictError) as raised:
        applied(writer("ben"), live, web("{replicas: 4}"))
    assert str(raised.value) == 'Apply failed with 1 conflict: conflict with "ann": .spec.replicas'
    with pytest.raises(ApplyConflictError) as raised:
        applied(writer("ben"), live, web("{replicas: 4, ports: [{name: web, port: 81}]}"))
    assert str(raised.value) == (
        'Apply failed with 2 conflicts: conflicts with "ann":\n- .spec.replicas\n- .spec.ports[name="web"].port'
    )


def test_force_takes_fields_over():
    live = applied(
        writer("ben"), created("{replicas: 3, image: a}"), web("{replicas: 4}"), force=True
    )
    assert live["spec"] == {"replicas": 4, "image": "a"}
    assert owners(live) == {"ann": {"f:image": {}}, "ben": {"f:replicas": {}}}


def test_the_same_value_is_shared_and_goes_with_its_last_owner():
    live = applied(writer("ben"), created("{replicas: 3}"), web("{replicas: 3}"))
    assert owners(live) == {"ann": {"f:replicas": {}}, "ben": {"f:replicas": {}}}
    live = applied(writer("ann"), live, web("{image: a}"))
    assert live["spec"] == {"replicas": 3, "image": "a"}
    live = applied(writer("ben"), live, web("{}"))
    assert live["spec"] == {"image": "a"}
    assert owners(live) == {"ann": {"f:image": {}}, "ben": {}}


def test_an_update_takes_what_it_changes_and_keeps_it():
    live = created("{replicas: 3, image: a}")
    live = updated(writer("scaler", 5), live, {**live, "spec": {"replicas": 5, "image": "a"}})
    assert owners(live) == {"ann": {"f:image": {}}, "scaler": {"f:replicas": {}}}
    live = applied(writer("ann", 6), live, web("{image: a}"))
    assert live["spec"] == {"replicas": 5, "image": "a"}
    with pytest.raises(
        ApplyConflictError, match=r'conflict with "scaler" using test/v1: \.spec\.replicas'
    ):
        applied(writer("ann", 7), live, web("{replicas: 3}"))


def test_elements_with_keys_have_owners_of_their_own():
    live = created("{ports: [{name: a, port: 1}, {name: b, port: 2}]}")
    live = applied(writer("ben"), live, web("{ports: [{name: c, port: 3}, {name: b}]}"))
    assert live["spec"]["ports"] == [
        {"name": "a", "port": 1},
        {"name": "c", "port": 3},
        {"name": "b", "port": 2},
    ]
    live = applied(writer("ann"), live, web("{}"))
    assert live["spec"]["ports"] == [{"name": "c", "port": 3}, {"name": "b"}]


def test_null_is_a_value():
    shape = object_shape(gadgets.SCHEMA)
    config = {
        **NEW,
        "metadata": {"name": "a"},
        "spec": {"nullable-set": None, "nullable-map": None},
    }
    made = applied(replace(writer("ann"), shape=shape), NEW, config)
    assert made["spec"] == config["spec"]
    assert owners(made) == {"ann": {"f:nullable-map": {}, "f:nullable-set": {}}}


def test_nothing_new_is_no_write():
    live = created("{replicas: 3}")
    assert applied(writer("ann", 30), live, web("{replicas: 3}")) is live
    assert updated(writer("ben", 30), live, copy.deepcopy(live)) is live


def test_what_was_written_before_any_owner_was_kept_has_one():
    untracked = web("{replicas: 3}", uid="1")
    live = applied(writer("ann"), untracked, web("{image: a}"))
    assert owners(live) == {
        "before-first-apply": {".": {}, "f:replicas": {}},
        "ann": {"f:image": {}},
    }
    assert (
        "managedFields" not in updated(writer("ben"), untracked, web("{replicas: 4}"))["metadata"]
    )


def test_clients_can_end_that_owners_are_kept():
    live = created("{replicas: 3}")
    metadata = {**live["metadata"], "managedFields": [{}]}
    assert (
        "managedFields"
        not in updated(writer("ben"), live, {**live, "metadata": metadata})["metadata"]
    )


@pytest.mark.parametrize("given", [None, [], [{"operation": "Apply"}], [{"manager": "x"}]])
def test_clients_that_drop_or_spoil_owners_change_none(given):
    live = created("{replicas: 3}")
    new = {
        **live,
        "metadata": {**live["metadata"], "managedFields": given},
        "spec": {"replicas": 3},
    }
    assert updated(writer("ben"), live, new)["metadata"] == live["metadata"]


def test_owners_that_cannot_be_read_are_named():
    live = created("{replicas: 3}")
    live["metadata"]["managedFields"].append({"manager": "x", "operation": "Update"})
    with pytest.raises(
        UnreadableFieldsError, match=r"metadata\.managedFields\[1\]: expected an apiVersion"
    ):
        applied(writer("ann"), live, web("{replicas: 4}"))


def test_lists_whose_elements_have_no_keys_have_no_owners():
    live = created("{replicas: 3}")
    spoilt = updated(writer("ben"), live, {**live, "spec": {"ports": [{"port": 1}]}})
    assert "managedFields" not in spoilt["metadata"]
    with pytest.raises(ElementError, match="expected a value for name, found none"):
        applied(writer("ann"), spoilt, web("{ports: [{name: a}]}"))


def test_old_updaters_become_one():
    live = created("{labels: {}}")
    for each in range(13):
        labels = {**live["spec"]["labels"], f"l{each:02}": "x"}
        live = updated(writer(f"u{each:02}", each), live, {**live, "spec": {"labels": labels}})
    names = [each["manager"] for each in live["metadata"]["managedFields"]]
    assert names == ["ann", "ancient-changes", *(f"u{each:02}" for each in range(4, 13))]
    ancient = live["metadata"]["managedFields"][1]
    assert ancient["time"] == "2026-01-01T00:00:03Z"
    assert ancient["fieldsV1"] == {
        "f:spec": {"f:labels": {f"f:l{each:02}": {} for each in range(4)}}
    }


def test_owners_at_versions_that_are_gone_are_given_up():
    live = {**created("{replicas: 3}"), "apiVersion": "test/v2"}
    newer = replace(writer("ben"), version="test/v2", served=lambda each: each == "test/v2")
    live = applied(newer, live, {**web("{replicas: 4}"), "apiVersion": "test/v2"})
    assert owners(live) == {"ben": {"f:replicas": {}}}


def test_status_is_apart():
    live = created("{replicas: 3}")
    status = writer("controller", subresource="status", ignored=ignored("status"))
    written = {**live, "spec": {"replicas": 9}, "status": {"ready": True}}
    live = restricted("status", live, updated(status, live, written))
    assert live["spec"] == {"replicas": 3}
    assert live["status"] == {"ready": True}
    entry = live["metadata"]["managedFields"][1]
    assert (entry["subresource"], entry["fieldsV1"]) == (
        "status",
        {"f:status": {".": {}, "f:ready": {}}},
    )
    main = writer("ann", ignored=ignored(""))
    live = restricted("", live, updated(main, live, {**live, "status": {"ready": False}}))
    assert live["status"] == {"ready": True}


class Older(SameWords):
    """The words of a version that calls `replicas` `count`, and knows nothing else of what is kept."""

    def shown(self, fields):
        known = {path for path in fields if path[:2] == ("f:spec", "f:replicas")}
        return frozenset(("f:spec", "f:count", *path[2:]) for path in known), fields - known

    def kept(self, fields, hidden):
        renamed = {
            ("f:spec", "f:replicas", *path[2:])
            for path in fields
            if path[:2] == ("f:spec", "f:count")
        }
        return frozenset(renamed) | hidden


def test_what_a_version_cannot_show_keeps_its_owner():
    live = created("{replicas: 3, image: a}")
    shape = object_shape({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "count": {"type": "integer"}}}}})  # fmt: skip
    older = Writer("ann", "test/v0", shape, "2026-01-01T00:00:09Z", words=Older())
    seen = {**live, "apiVersion": "test/v0", "spec": {"count": 3}}
    config = {**NEW, "apiVersion": "test/v0", "metadata": {"name": "a"}, "spec": {"count": 4}}
    written = applied(older, seen, config)
    assert written["spec"] == {"count": 4}
    assert owners(written) == {"ann": {"f:image": {}, "f:replicas": {}}}
    with pytest.raises(ApplyConflictError, match=r'conflict with "ann": \.spec\.count'):
        applied(replace(older, name="ben"), seen, config)
    emptied = applied(older, written, {**config, "spec": {}})
    assert emptied["spec"] == {}
    assert owners(emptied) == {"ann": {"f:image": {}}}


@pytest.mark.parametrize("seed", range(20))
def test_inputs_stay_as_they_are_and_repeated_applies_settle(seed):
    drawing = gadgets.Drawing(seed)
    version = gadgets.VERSIONS[0]
    live = {"apiVersion": version, "kind": gadgets.KIND}
    shape = object_shape(gadgets.SCHEMA)
    for _ in range(10):
        config = drawing.gadget(version, "a")
        before = copy.deepcopy((live, config))
        someone = Writer(
            drawing.random.choice(["ann", "ben"]), version, shape, "2026-01-01T00:00:00Z"
        )
        result = applied(someone, live, config, force=True)
        assert (live, config) == before
        # An empty list with keys has no owner, so that it comes back with the second apply, as in Kubernetes.
        live = applied(someone, result, config, force=True)
        assert applied(someone, live, config) is live
