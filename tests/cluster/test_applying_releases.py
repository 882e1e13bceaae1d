"""`trundle kube apply` on a real cluster."""

import json
import os
import random
import subprocess

import pytest
import warm

from trundle.errors import Kind
from trundle.kubernetes.migration import ClusterError, connect
from trundle.kubernetes.operator import Applier, Objects, parts_of

GROUP = "applying.example.com"


def crd(plural, kind):
    names = {"plural": plural, "kind": kind}
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    spec = {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]}
    kind, name = "CustomResourceDefinition", f"{plural}.{GROUP}"
    head = {"apiVersion": "apiextensions.k8s.io/v1", "kind": kind}
    return {**head, "metadata": {"name": name}, "spec": spec}


def thing(kind, name, api="v1", **more):
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, **more}}


def apply(cluster, folder, documents, *arguments, code=0):
    folder.mkdir(exist_ok=True)
    (folder / "all.json").write_text(
        json.dumps({"kind": "List", "apiVersion": "v1", "items": documents})
    )
    done = subprocess.run(
        [warm.TRUNDLE, "kube", "apply", str(folder), "--name", "crm", "-o", "json", "--context", "admin", *arguments],
        check=False, capture_output=True, text=True, env={**os.environ, "KUBECONFIG": str(cluster.kubeconfig)},
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout) if code == 0 else done.stderr


def there(cluster, *what):
    return cluster.kubectl("get", *what, "--ignore-not-found", "-o", "name").stdout.strip()


def test_a_release_is_applied_and_the_next_one_prunes(cluster, tmp_path):
    api = f"{GROUP}/v1"
    first = [
        thing("Gear", "g", api, namespace="applying"),
        thing("ConfigMap", "old", namespace="applying") | {"data": {"a": "1"}},
        crd("gears", "Gear"), crd("cogs", "Cog"), thing("Namespace", "applying"),
    ]  # fmt: skip
    planned = apply(cluster, tmp_path / "m", first, "--dry-run")
    assert there(cluster, "namespace", "applying") == ""
    done = apply(cluster, tmp_path / "m", first)
    assert done == planned
    assert done["applied"][0] == "Namespace applying"
    assert apply(cluster, tmp_path / "m", first) == done
    assert there(cluster, "gears." + GROUP, "g", "-n", "applying")

    cluster.kubectl("patch", "configmap", "old", "-n", "applying", "--type=merge",
                    "-p", '{"data":{"a":"2"}}')  # fmt: skip
    message = apply(cluster, tmp_path / "m", first, code=8)
    assert "--force" in message
    apply(cluster, tmp_path / "m", first, "--force")

    cluster.kubectl("create", "-f", "-", "--namespace", "default", text=json.dumps(thing("Gear", "mine", api)))  # fmt: skip
    second = [thing("Namespace", "applying"), thing("ConfigMap", "new", namespace="applying")]
    done = apply(cluster, tmp_path / "m", second)
    assert done["kept"] == [f"CustomResourceDefinition gears.{GROUP}"]
    assert f"CustomResourceDefinition cogs.{GROUP}" in done["deleted"]
    assert there(cluster, "configmap", "old", "-n", "applying") == ""
    assert there(cluster, "configmap", "new", "-n", "applying")
    assert there(cluster, "gears." + GROUP, "mine")

    cluster.kubectl("delete", f"gears.{GROUP}", "mine")
    assert apply(cluster, tmp_path / "m", second)["kept"] == []
    assert apply(cluster, tmp_path / "m", second)["deleted"] == []


def test_runs_that_are_killed_leave_nothing_that_the_next_one_does_not_know(cluster, tmp_path):
    space = {"namespace": "killed"}
    apply(cluster, tmp_path / "n", [thing("Namespace", "killed")], "--name", "space")
    shared = thing("ConfigMap", "shared", **space) | {"data": {"a": "1"}}
    releases = []
    for number in range(4):
        own = [thing("ConfigMap", f"r{number}-{each}", **space) for each in range(15)]
        kind = [crd(f"wheels{number}", f"Wheel{number}")]
        releases.append([*own, *kind, shared])
        (tmp_path / f"r{number}").mkdir()
        text = "\n---\n".join(json.dumps(each) for each in releases[-1])
        (tmp_path / f"r{number}" / "all.yaml").write_text(text)
    chance = random.Random(7)

    for each in range(16):
        folder = tmp_path / f"r{each % 4}"
        arguments = ["kube", "apply", folder, "--name", "killed", "--context", "admin"]
        running = subprocess.Popen(
            [warm.TRUNDLE, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "KUBECONFIG": str(cluster.kubeconfig)},
        )  # fmt: skip
        try:
            running.wait(chance.uniform(0.3, 2.5))
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()

    last = tmp_path / "last"
    apply(cluster, last, releases[1], "--name", "killed")
    found = there(cluster, "configmap", "-n", "killed").splitlines()
    found = {each.partition("/")[2] for each in found} - {"kube-root-ca.crt"}
    assert found == {f"r1-{each}" for each in range(15)} | {"shared"}
    kinds = [each for each in there(cluster, "crd").splitlines() if "wheels" in each]
    assert kinds == [f"customresourcedefinition.apiextensions.k8s.io/wheels1.{GROUP}"]


def test_what_is_in_the_way_of_a_release_is_said(cluster, tmp_path):
    one = [thing("ConfigMap", "one")]
    message = apply(cluster, tmp_path / "m", one, "--namespace", "nowhere", code=3)
    assert "kubectl create namespace nowhere" in message

    held = thing("ConfigMap", "held", finalizers=["applying.example.com/held"])
    apply(cluster, tmp_path / "m", [*one, held], "--name", "held")
    assert apply(cluster, tmp_path / "m", one, "--name", "held")["held"] == ["ConfigMap held"]
    release = '{"metadata":{"finalizers":null}}'
    cluster.kubectl("patch", "configmap", "held", "--type=merge", "-p", release)
    assert apply(cluster, tmp_path / "m", one, "--name", "held")["held"] == []

    many = [thing("ConfigMap", f"{number:0240}", namespace="a" * 60) for number in range(3000)]
    message = apply(cluster, tmp_path / "m", many, "--name", "large", code=3)
    assert "divide the release" in message
    assert there(cluster, "configmap", "trundle-applied-large") == ""


@pytest.fixture
def connected(cluster):
    found = connect(cluster.kubeconfig, "admin")
    yield found
    found.client.close()


def test_of_two_runs_at_once_one_ends_and_the_next_knows_all(cluster, connected):
    first, second = (
        parts_of([thing("ConfigMap", each), thing("ConfigMap", "both")], "x")
        for each in ("mine", "theirs")
    )

    class Between(Objects):
        """Lets another run come between what is remembered and what is applied."""

        def apply(self, part, *, force):
            if part.name == "mine":
                Applier(Objects(connected), "two").apply(second)
            return super().apply(part, force=force)

    with pytest.raises(ClusterError) as error:
        Applier(Between(connected), "two").apply(first)
    assert error.value.kind is Kind.CONFLICT
    assert "let the other run end" in str(error.value)
    Applier(Objects(connected), "two").apply(first)
    Applier(Objects(connected), "two").apply(second)
    assert there(cluster, "configmap", "mine") == ""
    assert there(cluster, "configmap", "theirs") != ""
