"""Server-side apply does what the real API server does: object, owners and conflicts are the same after each write."""

import copy

import gadgets
import pytest
from amounts import amount
from clusters import until
from object_shapes import object_shape
from shapes import plain
from stories import APPLY, Story

from trundle.api.apply import ListError, require_elements
from trundle.api.apply._shapes import shape_of

SHAPE = object_shape(gadgets.SCHEMA)
V1, V2 = ("v1", "v2")
LAST = "kubectl.kubernetes.io/last-applied-configuration"


@pytest.fixture(scope="module", autouse=True)
def defined(cluster):
    cluster.define(gadgets.CRD)


@pytest.fixture
def story(cluster, request):
    return Story(
        cluster,
        "".join(each if each.isalnum() else "-" for each in request.node.name).strip("-"),
        SHAPE,
        gadgets.GROUP,
    )


def gadget(story, spec, version=V1, **metadata):
    metadata = {"name": story.name, "namespace": "default", **metadata}
    return {
        "apiVersion": f"{gadgets.GROUP}/{version}",
        "kind": gadgets.KIND,
        "metadata": metadata,
        "spec": spec,
    }


def owner(cluster):
    """A reference to an object that is there, so that what it owns stays."""
    path = "/api/v1/namespaces/default"
    return {"apiVersion": "v1", "kind": "Namespace", "name": "default", "uid": uid(cluster, path)}


def uid(cluster, path):
    return cluster.request("GET", path).ok()["metadata"]["uid"]


def random_step(story, drawing, versions):
    """One random write; says how it ended."""
    version = drawing.random.choice(versions)
    manager = drawing.random.choice(["ann", "ben"])
    # The server does not keep the status apart where an owner of it is at another version.
    with_status = len(versions) == 1
    subresource = "status" if with_status and story.live and drawing.chance(4) else ""
    document = drawing.gadget(f"{gadgets.GROUP}/{version}", story.name)
    if not with_status:
        document.pop("status", None)
    writer = story.writer(manager, version, subresource)
    if story.live is None and drawing.chance(2):
        return story.create(writer, document)
    if story.live and drawing.chance(3):
        if drawing.chance(2):
            document["spec"] = drawing.touched(story.live)["spec"]
        return story.replace(writer, document)
    before = story.configs.get((manager, subresource))
    if before and not drawing.chance(3):
        document["spec"] = drawing.touched(before)["spec"]
    story.configs[manager, subresource] = document
    return story.apply(writer, document, force=drawing.chance(3))


@pytest.mark.parametrize("versions", [(V1,), (V1, V2)], ids=["one-version", "two-versions"])
@pytest.mark.parametrize("seed", range(amount(40)))
def test_random_writes_of_two_managers(cluster, seed, versions):
    story = Story(cluster, f"random-{seed}-{len(versions)}", SHAPE, gadgets.GROUP)
    drawing = gadgets.Drawing(seed, owner(cluster))
    ends = {random_step(story, drawing, versions) for _ in range(25)}
    assert ends > {"apply by force", "replace"}


def test_null_in_place_of_an_object(story):
    ann, ben = story.writer("ann", V1), story.writer("ben", V1)
    story.apply(ann, gadget(story, {"free": {"x": {"y": "z"}}, "nullable-map": {"a": "b"}}))
    null = gadget(story, {"free": {"x": None}, "nullable-map": None})
    story.apply(ben, null)
    story.apply(ben, null, force=True)
    story.replace(ann, null)
    story.apply(ann, gadget(story, {"free": {"x": [1]}}), force=True)


def test_many_updaters(story):
    ann = story.writer("ann", V1)
    story.apply(ann, gadget(story, {"map": {}}))
    values = {}
    for number in range(14):
        values = {**values, f"k{number:02}": "x"}
        updater = story.writer(f"updater-{number:02}", (V1, V2)[number % 2])
        story.replace(updater, gadget(story, {"map": values}, (V1, V2)[number % 2]))
    names = {each["manager"] for each in story.live["metadata"]["managedFields"]}
    assert "ancient-changes" in names


@pytest.mark.parametrize(
    "given",
    [[], [{}], [{"manager": "x", "operation": "Apply"}], None],
    ids=["none", "empty", "bad", "null"],
)
def test_clients_write_owners(story, given):
    ann, ben = story.writer("ann", V1), story.writer("ben", V1)
    story.apply(ann, gadget(story, {"text": "a", "flag": True}))
    story.replace(ben, gadget(story, {"text": "b", "flag": True}), managedFields=given)
    story.replace(ben, gadget(story, {"text": "b", "flag": False}))
    assert story.apply(ann, gadget(story, {"text": "c"})) == "conflict"
    story.apply(ann, gadget(story, {"text": "b"}))


def test_clients_give_fields_to_others(story):
    ann = story.writer("ann", V1)
    story.apply(ann, gadget(story, {"text": "a", "flag": True}))
    given = copy.deepcopy(story.live["metadata"]["managedFields"])
    given[0]["fieldsV1"] = {"f:spec": {"f:text": {}, "f:set": {".": {}, 'v:"a"': {}}}}
    given[0]["manager"] = "cleo"
    story.replace(ann, gadget(story, {"text": "a", "flag": False}), managedFields=given)
    assert story.apply(ann, gadget(story, {"text": "b"})) == "conflict"


def test_many_updaters_at_once(story):
    ann = story.writer("ann", V1)
    story.apply(ann, gadget(story, {"map": {}}))
    given = copy.deepcopy(story.live["metadata"]["managedFields"])
    entry = {"operation": "Update", "apiVersion": f"{gadgets.GROUP}/v1", "fieldsType": "FieldsV1"}
    for number in range(14):
        fields = {"f:spec": {"f:map": {f"f:k{number}": {}}}}
        time = f"2020-01-01T00:00:{number:02}Z"
        given.append({**entry, "manager": f"updater-{number:02}", "time": time, "fieldsV1": fields})
    values = {f"k{number}": "x" for number in range(14)}
    story.replace(ann, gadget(story, {"map": values, "text": "a"}), managedFields=given)


def test_client_side_apply_at_another_version_stays_as_it_is(story):
    text = '{"apiVersion":"apply.test/v2","kind":"Gadget","metadata":{},"spec":{"text":"a"}}'
    by_client = gadget(story, {"text": "a"}, annotations={LAST: text})
    story.create(story.writer("kubectl-client-side-apply", V1), by_client)
    assert story.apply(story.writer("kubectl", V1), gadget(story, {"text": "b"})) == "conflict"


def test_client_side_apply_becomes_server_side_apply(story):
    """Fields that the annotation names are no conflict for kubectl, unless another manager has changed them since."""
    old = gadget(story, {"text": "a", "number": 1, "flag": True})
    text = '{"apiVersion":"apply.test/v1","kind":"Gadget","metadata":{},"spec":{"text":"a","number":2}}'
    by_client = gadget(story, old["spec"], annotations={LAST: text})
    story.create(story.writer("kubectl-client-side-apply", V1), by_client)
    kubectl = story.writer("kubectl", V1)
    assert story.apply(story.writer("other", V1), gadget(story, {"text": "b"})) == "conflict"
    assert story.apply(kubectl, gadget(story, {"text": "b", "number": 3})) == "conflict"
    assert story.apply(kubectl, gadget(story, {"text": "b<>"}, labels={"a": "b"})) == "apply"
    assert "b\\u003c\\u003e" in story.live["metadata"]["annotations"][LAST]


@pytest.mark.parametrize(
    ("spec", "where"),
    [
        ({"set": ["a", "b", "a"]}, "$.spec.set"),
        ({"numbers": [1, 1.0]}, "$.spec.numbers"),
        ({"table": [{"name": "a"}, {"name": "a", "value": 1}]}, "$.spec.table"),
        ({"ports": [{"port": 1}, {"port": 1, "protocol": "TCP"}]}, "$.spec.ports"),
        ({"nested": [{"name": "a", "table": [{"key": "x"}] * 2}]}, '$.spec.nested[name="a"].table'),
        ({"table": [{"value": 1}]}, "$.spec.table[0]"),
    ],
)
def test_elements_that_cannot_be_told_apart_are_refused(cluster, spec, where):
    name = "indistinct"
    document = gadget(Story(cluster, name, SHAPE, gadgets.GROUP), spec)
    with pytest.raises(ListError) as raised:
        require_elements(SHAPE, document)
    assert [each.where for each in raised.value.findings] == [where]
    path = f"/apis/{gadgets.GROUP}/v1/namespaces/default/gadgets/{name}"
    answer = cluster.request("PATCH", path, document, kind=APPLY, fieldManager="ann")
    assert answer.status == 500  # Here it is the client that can correct this.
    assert (
        "duplicate entries" in answer.body["message"] or "omits all key" in answer.body["message"]
    )


def evolving(parts):
    """The CRD of a type whose schema changes."""
    crd = copy.deepcopy(gadgets.CRD)
    crd["metadata"]["name"] = "changing.apply.test"
    crd["spec"]["names"] = {"kind": "Changing", "plural": "changing"}
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": parts}}}
    for version in crd["spec"]["versions"]:
        version["schema"] = {"openAPIV3Schema": schema}
    return crd, object_shape(schema)


def test_owners_follow_a_schema_that_makes_a_list_or_object_one_value(cluster):
    parts = {name: gadgets.PARTS[name] for name in ("table", "map", "text")}
    crd, shape = evolving(parts)
    cluster.define(crd)
    story = Story(cluster, "a", shape, gadgets.GROUP, "changing", "Changing")
    spec = {"table": [{"name": "a", "value": 1}], "map": {"a": "x"}, "text": "a"}

    def document(spec):
        return {**gadget(story, spec), "kind": "Changing"}

    story.apply(story.writer("ann", V1), document(spec))
    table = {key: each for key, each in parts["table"].items() if not key.startswith("x-")}
    atomic = {
        "table": table,
        "map": {**parts["map"], "x-kubernetes-map-type": "atomic"},
        "text": parts["text"],
    }
    crd, story.shape = evolving(atomic)
    cluster.define(crd)
    path = "/apis/apply.test/v1/namespaces/default/changing/a"

    def one_value():
        options = {"fieldManager": "ann", "dryRun": "All"}
        answer = cluster.request("PATCH", path, document(spec), kind=APPLY, **options).ok()
        return answer["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:map"] == {}

    until(one_value)
    story.replace(story.writer("cleo", V1), document({**spec, "text": "c"}))
    changed = {**spec, "map": {"a": "x", "b": "y"}, "text": "c"}
    assert story.apply(story.writer("ben", V1), document(changed)) == "conflict"
    story.apply(story.writer("ben", V1), document(changed), force=True)
    story.apply(story.writer("ann", V1), document({"text": "a"}))


def test_metadata_has_the_shape_that_kubernetes_publishes(cluster):
    """Each list and object of it has distinct elements, or is one value, as in the server's own OpenAPI."""
    schemas = cluster.request("GET", "/openapi/v3/api/v1").ok()["components"]["schemas"]

    def resolved(schema):
        """A schema with its references replaced; fields that Kubernetes has no extension for are left as they are."""
        if isinstance(schema, list):
            return [resolved(each) for each in schema]
        if not isinstance(schema, dict):
            return schema
        found = {}
        for each in schema.get("allOf", ()):
            found |= resolved(schemas[each["$ref"].rpartition("/")[2]])
        return found | {
            key: resolved(each) for key, each in schema.items() if key not in ("allOf", "default")
        }

    name = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
    published = shape_of(resolved(schemas[name])).map.fields
    ours = SHAPE.map.fields["metadata"].map.fields
    assert ours.keys() == published.keys()
    for name in ours.keys() - {"managedFields"}:  # These have no owner.
        assert plain(ours[name]) == plain(published[name]), name
