"""Effects on a real cluster, as kubectl sees them."""

import json
from pathlib import Path

import pytest
import yaml
from dying_deploys import PACKAGE

from trundle.engine import Engine, EngineError
from trundle.engine.effects import MemoryJournal
from trundle.packages import Package
from trundle.providers.api import ApiProvider, client_of_kubeconfig

SHOP = Path(__file__).parents[2] / "examples" / "shop"
GROUP = "deploying.example.com"


def crd():
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": "gears", "kind": "Gear"}
    spec = {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]}
    head = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    return {**head, "metadata": {"name": f"gears.{GROUP}"}, "spec": spec}


def thing(kind, name, api="v1", **more):
    metadata = {"name": name} | (
        {} if kind in ("Namespace", "ClusterRole") else {"namespace": "deploying"}
    )
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **more}


def deploy(cluster, journal, *contents, dry_run=False, **options):
    documents = {each["metadata"]["name"]: each for each in contents}
    with client_of_kubeconfig(cluster.kubeconfig, "admin") as client:
        engine = Engine([PACKAGE], providers={"cluster": ApiProvider(client, **options)})
        with engine.session(journal=journal, dry_run=dry_run, secrets={"pw": "hush"}) as session:
            root = session.load({"?": {"type": "a.Deploying"}, "documents": documents})
            session.call(root, "deploy")
            session.settle()
            return [(each.action, each.key) for each in session.changes]


def test_what_an_earlier_release_applied_goes_to_the_manager_of_its_environment(cluster):
    journal = MemoryJournal()
    space, content = (
        thing("Namespace", "owned"),
        thing("ConfigMap", "settings", data={"a": "1", "b": "1"}),
    )
    content["metadata"]["namespace"] = "owned"
    deploy(cluster, journal, space, content)
    own = {"manager": f"trundle-deploy/{'x' * 63}/{'0' * 32}"}
    content["data"] = {"b": "2"}
    assert [each for each, _ in deploy(cluster, journal, space, content, **own)] == [
        "unchanged", "change",
    ]  # fmt: skip
    at = ("configmap", "settings", "-n", "owned", "--show-managed-fields", "-o", "json")
    found = json.loads(cluster.kubectl("get", *at).stdout)
    assert found["data"] == {"b": "2"}
    (entry,) = found["metadata"]["managedFields"]
    assert (entry["manager"], entry["operation"]) == (own["manager"], "Apply")
    assert entry["fieldsV1"] == {"f:data": {"f:b": {}}}
    deploy(cluster, journal, **own)
    assert there(cluster, "namespace", "owned") == []


def test_of_two_environments_that_make_an_object_at_once_one_has_it(cluster):
    first, second = MemoryJournal(), MemoryJournal()
    one, other = {"manager": "trundle-deploy/one/1"}, {"manager": "trundle-deploy/other/2"}
    cluster.kubectl("create", "namespace", "shared")

    def settings(**data):
        made = thing("ConfigMap", "settings", data=data)
        made["metadata"]["namespace"] = "shared"
        return made

    class Late(ApiProvider):
        def apply(self, effect, before):
            if before is None:
                deploy(cluster, first, settings(a="1"), **one)
            return super().apply(effect, before)

    client = client_of_kubeconfig(cluster.kubeconfig, "admin")
    engine = Engine([PACKAGE], providers={"cluster": Late(client, force=True, **other)})
    documents = {"settings": settings(a="1", b="2")}
    with client, engine.session(journal=second) as session:
        root = session.load({"?": {"type": "a.Deploying"}, "documents": documents})
        with pytest.raises(EngineError, match="another environment made at the same time"):
            session.call(root, "deploy")
    at = ("configmap", "settings", "-n", "shared", "--show-managed-fields", "-o", "json")
    found = json.loads(cluster.kubectl("get", *at).stdout)
    assert found["data"] == {"a": "1"}
    (entry,) = found["metadata"]["managedFields"]
    assert entry["manager"] == one["manager"]
    deploy(cluster, second, **other)
    assert json.loads(cluster.kubectl("get", *at).stdout)["data"] == {"a": "1"}
    deploy(cluster, first, **one)
    assert there(cluster, "configmap", "settings", "-n", "shared") == []


def there(cluster, *what):
    return cluster.kubectl("get", *what, "--ignore-not-found", "-o", "name").stdout.split()


def test_a_definition_and_its_objects_come_and_go_in_one_run_each(cluster):
    journal = MemoryJournal()
    contents = [
        thing("Namespace", "deploying"),
        crd(),
        thing("Gear", "g", f"{GROUP}/v1", spec={"teeth": 12}),
        thing("ConfigMap", "settings", data={"a": "1"}),
        thing("Secret", "password", stringData={"pw": "{{secret:pw}}"}),
        thing("Deployment", "web", "apps/v1", spec={
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "nginx"}]},
            },
        }),
        thing("ClusterRole", "deploying:reader", "rbac.authorization.k8s.io/v1",
              rules=[{"apiGroups": [GROUP], "resources": ["gears"], "verbs": ["get"]}]),
    ]  # fmt: skip
    planned = deploy(cluster, journal, *contents, dry_run=True)
    assert there(cluster, "namespace", "deploying") == []
    assert deploy(cluster, journal, *contents) == planned
    assert {each for each, _ in deploy(cluster, journal, *contents)} == {"unchanged"}
    assert there(cluster, f"gears.{GROUP}", "-n", "deploying") == [f"gear.{GROUP}/g"]
    found = cluster.kubectl("get", "secret", "password", "-n", "deploying", "-o", "json")
    assert json.loads(found.stdout)["data"] == {"pw": "aHVzaA=="}
    assert "hush" not in repr(journal.records())

    contents[3]["data"] = {"b": "2"}
    changed = deploy(cluster, journal, *contents[:4], *contents[5:])
    assert [each for each in changed if each[0] != "unchanged"] == [
        ("change", "cluster/core/ConfigMap/deploying/settings"),
        ("remove", "cluster/core/Secret/deploying/password"),
    ]
    found = cluster.kubectl("get", "configmap", "settings", "-n", "deploying", "-o", "json")
    assert json.loads(found.stdout)["data"] == {"b": "2"}

    removed = deploy(cluster, journal)
    assert [key.split("/")[2] for _, key in removed] == [
        "ClusterRole", "Deployment", "ConfigMap", "Gear", "CustomResourceDefinition", "Namespace",
    ]  # fmt: skip
    assert there(cluster, "crd", f"gears.{GROUP}") == []
    assert there(cluster, "namespace", "deploying") == []
    assert there(cluster, "clusterrole", "deploying:reader") == []
    assert journal.records() == ()


def test_the_example_comes_and_goes(cluster):
    journal = MemoryJournal()
    shop = yaml.safe_load((SHOP / "model.yaml").read_text())
    del shop["greeting"]
    packages = [Package.from_folder(each) for each in sorted((SHOP / "packages").iterdir())]
    cluster.kubectl("create", "namespace", "deployed-shop")
    with client_of_kubeconfig(cluster.kubeconfig, "admin") as client:
        engine = Engine(
            packages, providers={"cluster": ApiProvider(client, namespace="deployed-shop")}
        )
        for wanted in (True, True, False):
            with engine.session(journal=journal, secrets={"db": "hush"}) as session:
                if wanted:
                    session.call(session.load(shop), "deploy")
                session.settle()
                kinds = "deployments,statefulsets,secrets"
                names = ["deployment.apps/shop", "statefulset.apps/orders", "secret/orders"]
                found = there(cluster, kinds, "-n", "deployed-shop")
                assert found == ([*names, "secret/shop-settings"] if wanted else [])
