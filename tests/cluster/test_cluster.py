import json
import secrets

import control_plane
import pytest
import yaml
from clusters import until

CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: people.cluster.test}
spec:
  group: cluster.test
  names: {kind: Person, plural: people, singular: person, shortNames: [pe]}
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: false
      schema: &schema
        openAPIV3Schema:
          type: object
          properties:
            spec: {type: object, properties: {name: {type: string}, age: {type: integer}}}
    - {name: v2, served: true, storage: true, schema: *schema}
"""
PERSON = """
apiVersion: cluster.test/v1
kind: Person
metadata: {name: %s}
spec: {name: Ann, age: 30}
"""


@pytest.fixture(scope="module", autouse=True)
def people(cluster):
    cluster.define(CRD)


def shown(cluster, *arguments):
    return json.loads(cluster.kubectl(*arguments, "-o", "json").stdout)


def test_the_server_says_its_version(cluster):
    versions = shown(cluster, "version")
    assert versions["serverVersion"]["gitVersion"] == f"v{control_plane.VERSION}"
    assert versions["clientVersion"]["gitVersion"] == f"v{control_plane.VERSION}"


def test_every_version_of_a_crd_is_served(cluster):
    listed = cluster.kubectl("api-versions").stdout.split()
    assert {"cluster.test/v1", "cluster.test/v2"} <= set(listed)
    names = cluster.kubectl("api-resources", "--api-group=cluster.test", "-o", "name").stdout
    assert names == "people.cluster.test\n"


def test_kubectl_creates_reads_changes_and_deletes(cluster):
    created = cluster.kubectl("create", "-f", "-", text=PERSON % "ann")
    assert created.stdout == "person.cluster.test/ann created\n"
    again = cluster.kubectl("create", "-f", "-", text=PERSON % "ann", check=False)
    assert again.returncode == 1
    assert "AlreadyExists" in again.stderr
    read = shown(cluster, "get", "people.v2.cluster.test", "ann")
    assert (read["apiVersion"], read["spec"]) == ("cluster.test/v2", {"name": "Ann", "age": 30})
    cluster.kubectl("patch", "pe", "ann", "--type=merge", "-p", '{"spec": {"age": 31}}')
    assert shown(cluster, "get", "pe", "ann")["spec"]["age"] == 31
    cluster.kubectl("delete", "pe", "ann")
    assert (
        cluster.request("GET", "/apis/cluster.test/v1/namespaces/default/people/ann").status == 404
    )


def test_kubectl_applies_on_both_sides(cluster):
    assert cluster.kubectl("apply", "-f", "-", text=PERSON % "ben").stdout.endswith("created\n")
    assert cluster.kubectl("apply", "-f", "-", text=PERSON % "ben").stdout.endswith("unchanged\n")
    older = (PERSON % "ben").replace("30", "41")
    on_server = ("apply", "--server-side", "-f", "-")
    refused = cluster.kubectl(*on_server, "--field-manager=other", text=older, check=False)
    assert "conflict" in refused.stderr
    cluster.kubectl(*on_server, "--field-manager=other", "--force-conflicts", text=older)
    assert shown(cluster, "get", "pe", "ben")["spec"]["age"] == 41


def test_requests_need_no_kubectl(cluster):
    path = "/apis/cluster.test/v2/namespaces/default/people"
    person = {**yaml.safe_load(PERSON % "cleo"), "apiVersion": "cluster.test/v2"}
    assert cluster.request("POST", path, person).status == 201
    patch = {"spec": {"age": 7}}
    kind = "application/merge-patch+json"
    patched = cluster.request("PATCH", f"{path}/cleo", patch, kind=kind, fieldManager="test").ok()
    assert patched["spec"] == {"name": "Ann", "age": 7}
    assert {each["manager"] for each in patched["metadata"]["managedFields"]} >= {"test"}


def test_users_may_do_what_they_are_granted(cluster):
    refused = cluster.kubectl("get", "people", user="ann", check=False)
    assert "Forbidden" in refused.stderr
    cluster.kubectl(
        "create", "clusterrole", "readers", "--verb=get,list", "--resource=people.cluster.test"
    )
    cluster.kubectl(
        "create", "clusterrolebinding", "readers", "--clusterrole=readers", "--user=ann"
    )
    until(lambda: cluster.kubectl("get", "people", user="ann", check=False).returncode == 0)
    assert (
        cluster.kubectl("auth", "can-i", "get", "people", user="ben", check=False).stdout == "no\n"
    )


def test_a_namespace_takes_along_what_is_inside(cluster):
    cluster.kubectl("create", "namespace", "passing")
    cluster.kubectl("create", "-n", "passing", "-f", "-", text=PERSON % "dan")
    cluster.kubectl("delete", "namespace", "passing", "--timeout=180s")
    assert cluster.request("GET", "/api/v1/namespaces/passing").status == 404


def test_owned_objects_are_collected(cluster):
    owner = json.loads(
        cluster.kubectl("create", "-f", "-", "-o", "json", text=PERSON % "eve").stdout
    )
    reference = {key: owner[key] for key in ("apiVersion", "kind")}
    reference |= {key: owner["metadata"][key] for key in ("name", "uid")}
    owned = yaml.safe_load(PERSON % "finn")
    owned["metadata"]["ownerReferences"] = [reference]
    cluster.kubectl("create", "-f", "-", text=json.dumps(owned))
    cluster.kubectl("delete", "person", "eve")
    gone = "/apis/cluster.test/v1/namespaces/default/people/finn"
    until(lambda: cluster.request("GET", gone).status == 404)


def test_stored_objects_migrate(cluster):
    cluster.kubectl("create", "-f", "-", text=PERSON % "gus")
    migration = {
        "apiVersion": "storagemigration.k8s.io/v1beta1",
        "kind": "StorageVersionMigration",
        "metadata": {"name": "people"},
        "spec": {"resource": {"group": "cluster.test", "resource": "people"}},
    }
    cluster.kubectl("create", "-f", "-", text=json.dumps(migration))
    # The migrator waits until it has seen a write that is newer than the migration.
    path = "/apis/storagemigration.k8s.io/v1beta1/storageversionmigrations/people"

    def succeeded():
        cluster.kubectl("label", "person", "gus", f"seen={secrets.token_hex(4)}", "--overwrite")
        status = cluster.request("GET", path).ok().get("status", {})
        return any(
            (each["type"], each["status"]) == ("Succeeded", "True")
            for each in status.get("conditions", ())
        )

    until(succeeded)
