"""What people do beside the operator: CRDs, Secrets and installations that go, and registries that do not let in."""

import json

from carried import Members
from clusters import until
from members_releases import crd_versions, install, publish, reaches, removing
from operators import (
    change,
    condition,
    config,
    create,
    data,
    has,
    installed,
    said,
    shown,
    space_called,
    spec_of,
    there,
    thing,
    wanted,
)

GROUP = "hand.example.com"


def crd(plural):
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": plural, "kind": plural.title()[:-1]}
    spec = {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]}
    kind, api = "CustomResourceDefinition", "apiextensions.k8s.io/v1"
    return thing(kind, f"{plural}.{GROUP}", api, spec=spec)


def test_what_is_deleted_by_hand_comes_back(cluster, operator, publisher, space):
    """Also a CRD, with the objects of the release; an object that others own a field of is said."""
    bolt = thing("Bolt", "own", f"{GROUP}/v1", size=1)
    publisher.release("acme/hand", "1.0.0", [crd("bolts"), bolt, config("it", "1")])
    create(cluster, wanted("it", space, spec_of(publisher, "acme/hand")))
    until(lambda: installed(shown(cluster, space, "it")) == ("1.0.0", True))
    cluster.kubectl("delete", "crd", f"bolts.{GROUP}", "--timeout=180s")
    cluster.kubectl("delete", "configmap", "it", "-n", space)
    until(lambda: there(cluster, space, "configmap", "it"))
    until(lambda: there(cluster, space, "crd", f"bolts.{GROUP}"))
    until(lambda: cluster.kubectl(
        "get", f"bolts.{GROUP}", "own", "-n", space, check=False).returncode == 0)  # fmt: skip
    until(lambda: installed(shown(cluster, space, "it")) == ("1.0.0", True))
    edited = '{"data":{"value":"2"}}'
    cluster.kubectl("patch", "configmap", "it", "-n", space, "--type=merge", "-p", edited)
    until(lambda: has(cluster, space, "it", "Ready", "False", "Failed"))
    assert "kubectl-patch" in said(cluster, space, "it", "Ready")
    assert "in part" not in said(cluster, space, "it", "Ready")
    cluster.kubectl("delete", "configmap", "it", "-n", space)
    until(lambda: installed(shown(cluster, space, "it")) == ("1.0.0", True))
    assert data(cluster, space, "it") == "1"
    cluster.kubectl("delete", "installation", "it", "-n", space, "--timeout=180s")


def test_a_crd_of_schemas_that_is_deleted_by_hand_comes_back(cluster, operator, publisher, space):
    group = "byhand.clubs.example.com"
    members = Members(cluster, group)
    publish(publisher, "acme/byhand", "1.0.0", group, "v1")
    with removing(cluster, group):
        install(cluster, publisher, space, "acme/byhand")
        reaches(cluster, space, "1.0.0")
        cluster.request("POST", members.path("v1"), members.member("v1", "a", age=1)).ok()
        cluster.kubectl("delete", "crd", f"members.{group}", "--timeout=180s")
        until(lambda: there(cluster, space, "crd", f"members.{group}"))
        reaches(cluster, space, "1.0.0")
        publish(publisher, "acme/byhand", "1.1.0", group, "v1", "v2")
        reaches(cluster, space, "1.1.0")
        until(
            lambda: (
                cluster.request("POST", members.path("v1"), members.member("v1", "b", age=1)).status
                == 201
            )
        )
        cluster.request("GET", members.path("v2", "b")).ok()


def test_a_rejected_release_changes_nothing_of_its_resource_types(
    cluster, operator, publisher, space
):
    """Webhooks go on converting and storing by the release before."""
    group = "rejected.clubs.example.com"
    wrong = thing("Service", "wrong", spec={"ports": [{"port": 99999}]})
    publish(publisher, "acme/half", "1.0.0", group, "v1")
    with removing(cluster, group):
        install(cluster, publisher, space, "acme/half")
        reaches(cluster, space, "1.0.0")
        record = record_of(cluster, space)
        assert record
        publish(publisher, "acme/half", "1.1.0", group, "v1", "v2", documents=[wrong])
        until(lambda: has(cluster, space, "it", "Blocked", "True", "RejectedRelease"))
        assert installed(shown(cluster, space, "it")) == ("1.0.0", True)
        assert has(cluster, space, "it", "Migrated", "True", "Migrated")
        assert crd_versions(cluster, group) == {"v1": True, "storage": False}
        assert record_of(cluster, space) == record
        publish(publisher, "acme/half", "1.1.1", group, "v1", "v2", documents=[config("a", "1")])
        reaches(cluster, space, "1.1.1")


def record_of(cluster, space):
    """What webhooks convert by for the installation."""
    listed = json.loads(cluster.kubectl("get", "configmaps", "-n", "default", "-o", "json").stdout)
    return [
        each.get("data") or each.get("binaryData")
        for each in listed["items"]
        if f"{space}/it" in json.dumps(each.get("data") or {})
    ]


def test_a_secret_that_comes_later_is_found(cluster, operator, publisher, space):
    publisher.release("acme/later", "1.0.0", [config("later", "1")])
    cluster.kubectl("delete", "secret", "root", "-n", space)
    create(cluster, wanted("it", space, spec_of(publisher, "acme/later")))
    until(lambda: condition(shown(cluster, space, "it"), "Ready") is not None)
    assert f"kubectl create secret generic root --namespace {space}" in said(
        cluster, space, "it", "Ready"
    )
    assert has(cluster, space, "it", "Blocked", "True", "MissingRoot")
    wrong = ("create", "secret", "generic", "root", "-n", space)
    cluster.kubectl(*wrong, "--from-literal=other=1")
    until(lambda: "the key root.json" in said(cluster, space, "it", "Ready"))
    cluster.kubectl("delete", "secret", "root", "-n", space)
    cluster.kubectl(*wrong, "--from-literal=root.json=nonsense")
    until(lambda: "kubectl create" not in said(cluster, space, "it", "Ready")
          and "the key root.json" not in said(cluster, space, "it", "Ready"))  # fmt: skip
    assert has(cluster, space, "it", "Ready", "False", "BadSignature")
    cluster.kubectl("delete", "secret", "root", "-n", space)
    cluster.kubectl(*wrong, f"--from-file={publisher.root}")
    until(lambda: installed(shown(cluster, space, "it")) == ("1.0.0", True))
    assert has(cluster, space, "it", "Blocked", "False", "NotBlocked")


def test_a_release_is_kept_up_while_the_secret_of_another_channel_is_missing(
    cluster, operator, publisher, space
):
    publisher.release("acme/stays", "1.0.0", [config("stays", "1")])
    create(cluster, wanted("it", space, spec_of(publisher, "acme/stays")))
    until(lambda: installed(shown(cluster, space, "it")) == ("1.0.0", True))
    other = {"spec": {"channel": "rapid", "trust": {"secretName": "other"}}}
    change(cluster, space, "it", other)
    until(lambda: has(cluster, space, "it", "Blocked", "True", "MissingRoot"))
    cluster.kubectl("delete", "configmap", "stays", "-n", space)
    until(lambda: there(cluster, space, "configmap", "stays"))


def test_an_installation_that_is_deleted_amid_an_upgrade_goes(cluster, operator, publisher, space):
    """The objects of both releases go, though the upgrade never became ready."""
    deployment = thing(
        *("Deployment", "never", "apps/v1"),
        spec={
            "selector": {"matchLabels": {"a": "b"}},
            "template": {
                "metadata": {"labels": {"a": "b"}},
                "spec": {"containers": [{"name": "a", "image": "example.com/a"}]},
            },
        },
    )
    publisher.release("acme/amid", "1.0.0", [config("first", "1"), config("both", "1")])
    publisher.release("acme/amid", "1.1.0", [config("both", "2"), deployment])
    create(cluster, wanted("it", space, spec_of(publisher, "acme/amid", version="1.0.0")))
    until(lambda: installed(shown(cluster, space, "it")) == ("1.0.0", True))
    change(cluster, space, "it", {"spec": {"version": "1.1.0"}})
    until(lambda: has(cluster, space, "it", "Ready", "False", "Waiting"))
    cluster.kubectl("delete", "installation", "it", "-n", space, "--timeout=180s")
    assert there(cluster, space, "configmap", "first", "both", "trundle-applied-it") == ""
    assert there(cluster, space, "deployment", "never") == ""


def test_what_another_namespace_takes_over_is_never_deleted_in_between(
    cluster, operator, publisher, space
):
    """Such as a namespace that both bring, with all that is in it."""
    other = space_called(cluster, publisher, f"z-{space[:30]}")
    common = f"{space[:30]}-common"
    publisher.release("acme/common", "1.0.0", [config("own", "1"), thing("Namespace", common)])
    for each in (space, other):
        create(cluster, wanted("it", each, spec_of(publisher, "acme/common")))
        name = each
        until(lambda name=name: condition(shown(cluster, name, "it"), "Ready") is not None)
    until(lambda: installed(shown(cluster, space, "it")) == ("1.0.0", True))
    assert has(cluster, other, "it", "Ready", "False", "OwnedByAnotherRelease")
    create(
        cluster, {**config("precious", "1"), "metadata": {"name": "precious", "namespace": common}}
    )
    cluster.kubectl("delete", "installation", "it", "-n", space, "--timeout=120s")
    until(lambda: installed(shown(cluster, other, "it")) == ("1.0.0", True))
    assert data(cluster, common, "precious") == "1"
