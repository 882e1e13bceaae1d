"""Namespaces and events are a project of Trundle itself, and no release of another project drops them."""

import subprocess
from pathlib import Path

import warm
from apis import Client, clubs, serving_clubs
from projects import Installer

import trundle.api._core as core
from trundle.store import check, dropped

FOLDER = Path(core.__file__).parent


def test_their_generated_package_is_what_trundle_generates():
    command = [*warm.script(always=True), "generate", "--check"]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_project_need_not_know_them(tmp_path):
    with (
        clubs(tmp_path) as installed,
        serving_clubs(installed, tmp_path / "store.db") as (api, store),
    ):
        assert Client(api).call("GET", "/api/v1/namespaces/default")[0] == 200
        assert check(store) == ()
        assert dropped(tmp_path / "store.db", {}) == ()


def crd_of_leases():
    """Leases as a project of its own has them."""
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"days": {"type": "integer"}}}},
    }
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    group = "coordination.k8s.io"
    names = {"kind": "Lease", "plural": "leases"}
    spec = {"group": group, "scope": "Namespaced", "names": names, "versions": [version]}
    head = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    return {**head, "metadata": {"name": f"leases.{group}"}, "spec": spec}


def test_a_project_has_leases_of_its_own(tmp_path):
    path = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
    head = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}
    body = {**head, "metadata": {"name": "a"}, "spec": {"days": 3}}
    installed = Installer(tmp_path)({"crd.json": crd_of_leases()})
    with serving_clubs(installed, tmp_path / "store.db") as (api, _):
        code, found = Client(api).call("POST", path, body)
        assert (code, found["spec"]) == (201, {"days": 3})
        listed = Client(api).call("GET", "/apis/coordination.k8s.io/v1")[1]["resources"]
        assert [each["name"] for each in listed] == ["leases"]
