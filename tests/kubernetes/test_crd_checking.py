"""What an update of CRDs would change and break."""

import copy

import pytest

from trundle.kubernetes import KubernetesCode, compared, read_definitions


def crd(*versions, name="things.example.com", **spec):
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"kind": "Thing"},
            "conversion": None,
            "versions": list(versions),
            **spec,
        },
    }


def version(name, schema=None, *, served=True, storage=False):
    schema = {"type": "object", **(schema or {})}
    return {
        "name": name,
        "served": served,
        "storage": storage,
        "schema": {"openAPIV3Schema": schema},
    }


PRESERVING = {"x-kubernetes-preserve-unknown-fields": True}
STORED = version("storage", served=False, storage=True)


def findings(old, new):
    return compared({old["metadata"]["name"]: old}, [new], "crds.yaml")


def broken(old, new):
    """What an update of one schema breaks: the places and what is said of them."""
    one, other = (crd(version("v1", {"properties": {"a": x}}), STORED) for x in (old, new))
    found = findings(one, other)
    return [(each.place.path, each.found) for each in found if each.severity == "error"]


def test_what_changes_and_breaks_none_is_named():
    def made(mode, **more):
        text = {"type": "string", "default": mode, "description": mode}
        inner = {
            "type": "array",
            "items": {"type": "object", "properties": {"mode": text, "n": text}},
        }
        return crd({**version("v1", {"properties": {"a": inner}}), **more}, STORED)

    (found,) = findings(made("fast"), made("slow", deprecated=True))
    what = "default of .a[].mode, default of .a[].n, deprecated, descriptions"
    assert (found.severity, found.found) == (
        "note",
        f"an update changes of the version v1: {what}",
    )
    other = made("fast")
    other["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["b"] = {}
    (found,) = findings(made("fast"), other)
    assert found.found == "an update changes of the version v1: the schema of .b"


def test_a_version_at_which_objects_may_be_stored_cannot_go():
    old = crd(version("v0", served=False), version("v1"), STORED)
    new = crd(version("v1"), STORED)
    (gone,) = findings(old, new)
    assert gone.severity == "note"
    (gone, stored) = findings({**old, "status": {"storedVersions": ["v0", "storage"]}}, new)
    assert (gone.severity, stored.severity, stored.found) == ("note", "error", "none")
    assert stored.expected == "the version v0, at which objects may be stored"


def test_a_subresource_that_goes_breaks_clients():
    old = {**version("v1"), "subresources": {"status": {}, "scale": {"specReplicasPath": ".a"}}}
    new = {**version("v1"), "subresources": {"status": {}}}
    (found,) = findings(crd(old, STORED), crd(new, STORED))
    assert (found.severity, found.found) == ("error", "none")
    assert found.expected == "the subresource scale, which clients may use"
    (added,) = findings(crd(new, STORED), crd(old, STORED))
    assert added.severity == "note"


def test_what_is_the_same_has_no_finding():
    one = crd(version("v1"), STORED)
    assert findings(one, copy.deepcopy(one)) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ({"type": "string"}, {"type": "integer"}, "integer"),
        ({"type": "string"}, {"type": "string", "enum": ["x"]}, "only x"),
        (
            {"type": "object"},
            {"type": "object", "x-kubernetes-embedded-resource": True},
            "only whole resources, with apiVersion and kind",
        ),
        ({"type": "string", "enum": ["x", "y"]}, {"type": "string", "enum": ["x"]}, "only x"),
        ({"type": "string"}, {"type": "string", "maxLength": 3}, "maxLength 3"),
        ({"type": "integer", "minimum": 1}, {"type": "integer", "minimum": 2}, "minimum 2"),
        ({"type": "string", "pattern": "a"}, {"type": "string", "pattern": "b"}, "`pattern`"),
        ({"type": "string", "nullable": True}, {"type": "string"}, "no null"),
        (
            {"type": "object", "properties": {"b": {"type": "string"}}},
            {"type": "object"},
            "no such property",
        ),
        (
            {"type": "object", "properties": {"b": {"type": "string"}}},
            {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]},
            "required now",
        ),
        (
            {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            {"type": "object"},
            "no unknown properties",
        ),
        (
            {"type": "array", "items": {"type": "object"}, **PRESERVING},
            {"type": "array", "items": {"type": "object"}},
            "no unknown properties",
        ),
        (
            {"type": "array", "items": {"type": "string"}},
            {"type": "array", "items": {"type": "string", "maxLength": 1}},
            "maxLength 1",
        ),
        (
            {"type": "object", "additionalProperties": {"type": "string"}},
            {"type": "object", "additionalProperties": {"type": "boolean"}},
            "boolean",
        ),
    ],
)
def test_what_admits_less_breaks_clients(old, new, said):
    ((path, found),) = broken(old, new)
    assert path.startswith(".a")
    assert said in found


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"type": "integer"}, {"type": "number"}),
        ({"type": "string", "enum": ["x"]}, {"type": "string"}),
        ({"type": "string", "maxLength": 3}, {"type": "string", "maxLength": 4}),
        ({"type": "object"}, {"type": "object", "properties": {"b": {"type": "string"}}}),
        ({"type": "object"}, {"type": "object", "x-kubernetes-preserve-unknown-fields": True}),
        (
            {"type": "object", "properties": {"b": {"type": "string"}}},
            {
                "type": "object",
                "properties": {"b": {"type": "string", "default": "x"}},
                "required": ["b"],
            },
        ),
        ({"type": "string", "description": "old"}, {"type": "string", "description": "new"}),
        # Both keep the same: a list keeps in its elements, and a map has types for all its values.
        (
            {"type": "array", "items": {"type": "object"}, **PRESERVING},
            {"type": "array", "items": {"type": "object", **PRESERVING}},
        ),
        (
            {"type": "object", "additionalProperties": {"type": "string"}, **PRESERVING},
            {"type": "object", "additionalProperties": {"type": "string"}},
        ),
        ({"type": "boolean", **PRESERVING}, {"type": "boolean"}),
        (
            {"x-kubernetes-int-or-string": True, "anyOf": [{"maximum": 3}, {"pattern": "a"}]},
            {"x-kubernetes-int-or-string": True},
        ),
        (
            {"type": "array", "items": {"x-kubernetes-int-or-string": True}, **PRESERVING},
            {"type": "array", "items": {"x-kubernetes-int-or-string": True}},
        ),
    ],
)
def test_what_admits_more_is_a_note(old, new):
    assert broken(old, new) == []
    one, other = (crd(version("v1", {"properties": {"a": x}}), STORED) for x in (old, new))
    assert [each.code for each in findings(one, other)] == [KubernetesCode.CHANGED]


AGE = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            {"additionalPrinterColumns": [AGE]},
            {},
        ),  # https://github.com/kubernetes/kubernetes, tableconvertor.New
        ({"additionalPrinterColumns": [{**AGE, "priority": 0}]}, {}),
        ({"subresources": {}}, {}),
        ({"deprecated": False}, {}),
    ],
)
def test_what_a_version_has_without_saying_so_is_no_change(old, new):
    one, other = (crd({**version("v1"), **x}, STORED) for x in (old, new))
    assert findings(one, other) == findings(other, one) == []
    other["spec"]["versions"][0]["additionalPrinterColumns"] = [{**AGE, "priority": 1}]
    assert len(findings(one, other)) == 1


def test_the_two_types_beside_an_integer_or_a_text_are_no_change():
    either = {"x-kubernetes-int-or-string": True}
    both = {**either, "anyOf": [{"type": "integer"}, {"type": "string"}]}
    one, other = (crd(version("v1", {"properties": {"a": x}}), STORED) for x in (both, either))
    assert findings(one, other) == []


def test_names_that_an_api_server_makes_are_no_change():
    made = {"kind": "Thing", "plural": "things", "singular": "thing", "listKind": "ThingList"}
    one, other = (crd(STORED, names=x) for x in ({"kind": "Thing", "plural": "things"}, made))
    assert findings(one, other) == []
    empty = crd(STORED, names={**made, "singular": "", "shortNames": [], "categories": []})
    assert findings(empty, other) == []
    (found,) = findings(one, crd(STORED, names={**made, "singular": "thingy"}))
    assert found.found == "an update changes `names`"


def test_the_order_of_what_is_required_or_listed_is_no_change():
    def made(*names):
        text = {"type": "string", "enum": list(names)}
        both = {"properties": {"a": text, "b": text}, "required": list(names)}
        return crd(version("v1", both), STORED)

    assert findings(made("a", "b"), made("b", "a")) == []
    assert len(findings(made("a", "b"), made("a"))) == 2


def test_fields_to_select_by_may_be_added_and_not_taken_away():
    one, other = ({**version("v1"), "selectableFields": [{"jsonPath": x}]} for x in (".a", ".b"))
    both = {**one, "selectableFields": [*one["selectableFields"], *other["selectableFields"]]}
    assert [each.severity for each in findings(crd(one), crd(both))] == ["note"]
    (found,) = findings(crd(both), crd(one))
    assert (found.severity, found.place.path) == ("error", ".b")


def test_a_version_that_goes_breaks_its_clients():
    found = findings(crd(version("v1"), version("v2"), STORED), crd(version("v2"), STORED))
    assert [(each.severity, each.code) for each in found] == [("error", KubernetesCode.BREAKS)]
    assert "v1" in found[0].expected


def test_a_stored_version_has_to_be_rewritten():
    found = findings(crd(version("v1", storage=True)), crd(version("v1"), STORED))
    assert "stored at the version v1" in found[0].found
    assert "storedVersions" in found[0].advice


def test_scope_and_group_are_fixed():
    found = findings(crd(STORED), crd(STORED, scope="Cluster"))
    assert [each.severity for each in found] == ["error"]


def test_crds_on_one_side_only():
    found = compared({"olds.example.com": crd(STORED)}, [crd(STORED)], "f")
    assert [each.code for each in found] == [KubernetesCode.MISSING, KubernetesCode.UNKNOWN]
    foreign = crd(STORED, group="other.example.com")
    assert compared({"x": foreign, "things.example.com": crd(STORED)}, [crd(STORED)], "f") == []


def test_lists_are_looked_into_and_other_kinds_passed_over():
    documents = [{"kind": "List", "items": [crd(STORED)]}, {"kind": "Service", "metadata": {}}]
    assert list(read_definitions(documents, "f")) == ["things.example.com"]
