"""The Python clients `kubernetes` and `lightkube` work with Trundle's server as with any other."""

import json
import subprocess
from itertools import islice

import kubernetes
import lightkube
import pytest
import trundle_servers
import widgets
from kubernetes.client.exceptions import ApiException
from lightkube.core.exceptions import ApiError
from lightkube.generic_resource import create_namespaced_resource
from lightkube.types import PatchType
from projects import Installer

pytestmark = [
    pytest.mark.full,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # Of the clients.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
Old, New = (
    create_namespaced_resource(widgets.GROUP, each, "Widget", "widgets")
    for each in widgets.VERSIONS
)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clients")
    installed = Installer(folder)({"crd.json": widgets.CRD}, config=widgets.project())
    with trundle_servers.running(installed.project.folder) as server:
        yield server


@pytest.fixture
def space(served, request):
    """A namespace of the test's own."""
    name = request.node.originalname.replace("_", "-").replace("test-", "")
    status, _ = served.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    assert status == 201
    return name


def compact(served):
    """Makes the store forget the changes until now."""
    command = [trundle_servers.TRUNDLE, "store", "compact", "--older-than", "0"]
    subprocess.run(command, cwd=served.folder, check=True, capture_output=True)


# kubernetes


class Objects:
    """Calls the client `kubernetes` for widgets of a namespace."""

    def __init__(self, served, space):
        configuration = kubernetes.client.Configuration(host=served.url)
        self.client = kubernetes.client.ApiClient(configuration)
        self.api = kubernetes.client.CustomObjectsApi(self.client)
        self.space = space
        self.watches = []

    def place(self, version):
        return widgets.GROUP, version, self.space, "widgets"

    def document(self, version, name, **spec):
        return {
            "apiVersion": f"{widgets.GROUP}/{version}",
            "kind": "Widget",
            "metadata": {"name": name},
            "spec": {"title": "Ann", **spec},
        }

    def create(self, version, name, **spec):
        body = self.document(version, name, **spec)
        return self.api.create_namespaced_custom_object(*self.place(version), body)

    def get(self, version, name):
        return self.api.get_namespaced_custom_object(*self.place(version), name)

    def watch(self, version, **options):
        listing = self.api.list_namespaced_custom_object
        self.watches.append(
            kubernetes.watch.Watch().stream(listing, *self.place(version), **options)
        )
        return self.watches[-1]


@pytest.fixture
def objects(served, space):
    found = Objects(served, space)
    yield found
    for each in found.watches:
        each.close()
    found.client.rest_client.pool_manager.clear()
    found.client.close()


def test_kubernetes_writes_and_reads(objects):
    made = objects.create("v1", "ann", size=3)
    assert objects.get("v2", "ann")["spec"] == {"title": "Ann", "size": 3, "color": "red"}
    made["spec"]["size"] = 4
    replaced = objects.api.replace_namespaced_custom_object(*objects.place("v1"), "ann", made)
    assert replaced["metadata"]["generation"] == 2
    made["spec"]["size"] = 5
    with pytest.raises(ApiException) as stale:
        objects.api.replace_namespaced_custom_object(*objects.place("v1"), "ann", made)
    assert (stale.value.status, json.loads(stale.value.body)["reason"]) == (409, "Conflict")
    patch = {"spec": {"color": "blue"}}
    objects.api.patch_namespaced_custom_object(*objects.place("v2"), "ann", patch)
    assert objects.get("v1", "ann")["spec"] == {"title": "Ann", "size": 4, "color": "blue"}
    status = {"status": {"phase": "Done"}}
    objects.api.patch_namespaced_custom_object_status(*objects.place("v2"), "ann", status)
    assert objects.get("v1", "ann")["status"] == {"phase": "Done"}
    objects.api.delete_namespaced_custom_object(*objects.place("v1"), "ann")
    with pytest.raises(ApiException) as missing:
        objects.get("v2", "ann")
    assert missing.value.status == 404


def test_kubernetes_lists_in_pages(objects):
    for each in range(5):
        objects.create("v2", f"ann-{each}")
    names, token = [], None
    while token != "":
        options = {"limit": 2, **({"_continue": token} if token else {})}
        page = objects.api.list_namespaced_custom_object(*objects.place("v1"), **options)
        names += [each["metadata"]["name"] for each in page["items"]]
        token = page["metadata"]["continue"]
    assert names == [f"ann-{each}" for each in range(5)]


def test_kubernetes_applies(objects):
    client = kubernetes.dynamic.DynamicClient(objects.client)
    resource = client.resources.get(api_version=f"{widgets.GROUP}/v2", kind="Widget")

    def apply(manager, *, force=False, **spec):
        body = objects.document("v2", "ann", **spec)
        return resource.server_side_apply(
            body=body, namespace=objects.space, field_manager=manager, force_conflicts=force
        )

    apply("ann", size=3)
    with pytest.raises(kubernetes.dynamic.exceptions.ConflictError):
        apply("ben", size=4)
    assert apply("ben", size=4, force=True).spec.size == 4


def test_kubernetes_watches_and_resumes(objects):
    objects.create("v1", "ann")
    events = objects.watch("v2", timeout_seconds=120)
    first = next(events)
    assert (first["type"], first["object"]["metadata"]["name"]) == ("ADDED", "ann")
    objects.create("v2", "ben")
    objects.api.delete_namespaced_custom_object(*objects.place("v1"), "ann")
    since = first["object"]["metadata"]["resourceVersion"]
    events = objects.watch("v1", resource_version=since, timeout_seconds=120)
    seen = [(each["type"], each["object"]["metadata"]["name"]) for each in islice(events, 2)]
    assert seen == [("ADDED", "ben"), ("DELETED", "ann")]


def test_kubernetes_is_told_to_list_again(objects, served):
    old = objects.create("v1", "ann")["metadata"]["resourceVersion"]
    objects.create("v1", "ben")
    objects.api.delete_namespaced_custom_object(*objects.place("v1"), "ben")
    compact(served)
    events = objects.watch("v2", resource_version=old, timeout_seconds=120)
    with pytest.raises(ApiException) as gone:
        next(events)
    assert gone.value.status == 410
    events = objects.watch("v2", timeout_seconds=120)
    assert next(events)["object"]["metadata"]["name"] == "ann"


# lightkube


@pytest.fixture
def light(served, space):
    server = {"server": served.url}
    config = lightkube.KubeConfig.from_dict(
        {
            "clusters": [{"name": "a", "cluster": server}],
            "users": [{"name": "a", "user": {}}],
            "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
            "current-context": "a",
        }
    )
    found = lightkube.Client(config=config, namespace=space, field_manager="light")
    yield found
    found.close()


def widget(kind, name, **spec):
    return kind(metadata={"name": name}, spec={"title": "Ann", **spec})


def test_lightkube_writes_and_reads(light):
    light.create(widget(Old, "ann", size=3))
    found = light.get(New, "ann")
    assert found.spec == {"title": "Ann", "size": 3, "color": "red"}
    found.spec["size"] = 4
    assert light.replace(found).metadata.generation == 2
    found.spec["size"] = 5
    with pytest.raises(ApiError) as stale:
        light.replace(found)
    assert (stale.value.status.code, stale.value.status.reason) == (409, "Conflict")
    light.patch(Old, "ann", {"spec": {"color": "blue"}}, patch_type=PatchType.MERGE)
    operations = [{"op": "replace", "path": "/spec/size", "value": 6}]
    light.patch(New, "ann", operations, patch_type=PatchType.JSON)
    assert light.get(Old, "ann").spec == {"title": "Ann", "size": 6, "color": "blue"}
    light.delete(New, "ann")
    with pytest.raises(ApiError) as missing:
        light.get(Old, "ann")
    assert missing.value.status.code == 404


def test_lightkube_applies(light):
    light.apply(widget(New, "ann", size=3))
    with pytest.raises(ApiError) as refused:
        light.apply(widget(New, "ann", size=4), field_manager="other")
    assert refused.value.status.code == 409
    assert (
        light.apply(widget(New, "ann", size=4), field_manager="other", force=True).spec["size"] == 4
    )


def test_lightkube_lists_and_watches(light):
    for each in range(5):
        light.create(widget(New, f"ann-{each}"))
    listed = light.list(Old, chunk_size=2)
    assert [each.metadata.name for each in listed] == [f"ann-{each}" for each in range(5)]
    events = light.watch(New, resource_version=listed.resourceVersion)
    light.delete(Old, "ann-0")
    light.patch(Old, "ann-1", {"spec": {"size": 9}}, patch_type=PatchType.MERGE)
    seen = [(kind, found.metadata.name) for kind, found in islice(events, 2)]
    assert seen == [("DELETED", "ann-0"), ("MODIFIED", "ann-1")]


def test_lightkube_is_told_to_list_again(light, served):
    old = light.create(widget(Old, "ann")).metadata.resourceVersion
    light.create(widget(Old, "ben"))
    light.delete(Old, "ben")
    compact(served)
    with pytest.raises(ApiError) as gone:
        next(iter(light.watch(New, resource_version=old)))
    assert gone.value.status.code == 410
    assert [each.metadata.name for each in light.list(New)] == ["ann"]
