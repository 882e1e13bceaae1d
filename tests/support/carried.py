"""A resource type of which no version shows all, in a cluster: `age` is in v1 only, `note` in v2."""

import json
import subprocess
from pathlib import Path

import warm
import yaml
from clusters import Cluster, until
from webhooks import Webhook

SCHEMAS = {
    "v1": {"team": {"type": "string"}, "age": {"type": "integer"}},
    "v2": {
        "group": {"type": "string"},
        "note": {"type": "string"},
        "level": {"type": "string", "default": "low"},
        "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
    },
    "v3": {"crew": {"type": "string"}, "note": {"type": "string"}},
}
RENAMES = {"v1": {"team": "group"}, "v2": {"group": "crew"}}
MERGE = "application/merge-patch+json"


def project(folder: Path, group: str, *versions: str, **more) -> Path:
    """A project with some versions, and what else stands in its file, generated."""
    (folder / "schemas").mkdir(parents=True)
    for each in versions:
        schema = {"title": "Member", "type": "object", "properties": SCHEMAS[each]}
        (folder / "schemas" / f"{each}.yaml").write_text(yaml.safe_dump(schema))
    changes = {each: {"Member": {"rename": RENAMES[each]}} for each in versions[:-1]}
    config = {"package": "flows", "sources": ["schemas"], "changes": changes}
    config |= {"kubernetes": {"group": group}, **more}
    (folder / "trundle.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    subprocess.run(
        [*warm.script(always=True), "generate"], cwd=folder, check=True, capture_output=True
    )
    return folder


def crds(folder: Path, webhook: Webhook) -> list[dict]:
    """The CRDs of a project whose webhook runs on this machine."""
    command = [
        *warm.script(always=True),
        "kube",
        "crds",
        "-o",
        "json",
        "--url",
        f"{webhook.url}/convert",
    ]
    given = [*command, "--ca", str(webhook.authority)]
    written = subprocess.run(given, cwd=folder, check=True, capture_output=True).stdout
    return json.loads(written)["items"]


class Members:
    """The members in a cluster.

    Attributes:
        cluster: the cluster.
        group: their group.
        carrier: the annotation that is their carrier.
    """

    def __init__(self, cluster: Cluster, group: str) -> None:
        self.cluster = cluster
        self.group = group
        self.carrier = f"{group}/carrier"

    def path(self, version: str, name: str = "", part: str = "") -> str:
        """Where members are, or one of them, or a part of it."""
        tail = "".join(f"/{each}" for each in (name, part) if each)
        return f"/apis/{self.group}/{version}/namespaces/default/members{tail}"

    def member(self, version: str, name: str, **properties) -> dict:
        """A document of a member."""
        head = {"apiVersion": f"{self.group}/{version}", "kind": "Member"}
        return {**head, "metadata": {"name": name}, **properties}

    def create(self, version: str, name: str, **properties) -> None:
        """Creates a member."""
        body = self.member(version, name, **properties)
        self.cluster.request("POST", self.path(version), body, fieldManager="maker").ok()

    def at(self, version: str, name: str) -> dict:
        """A member as a version shows it."""
        return self.cluster.request("GET", self.path(version, name)).ok()

    def merge(self, version: str, name: str, patch: dict):
        """Changes a member by a merge patch."""
        return self.cluster.request("PATCH", self.path(version, name), patch, kind=MERGE)

    def delete(self, name: str) -> None:
        """Deletes a member, if it is there, and waits until it is gone."""
        path = self.path("v1", name)
        self.cluster.request("DELETE", path)
        until(lambda: self.cluster.request("GET", path).status == 404)
