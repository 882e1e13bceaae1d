"""The conversion webhook behind a real API server, compared with `trundle serve`, which has what is stored at hand."""

import json
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import trundle_servers
import warm
import webhooks
import yaml
from authorities import Authority

from trundle.version import ApiVersion

EXAMPLE = Path(__file__).parents[2] / "examples" / "crm"
GROUP = "crm.example.com"
CARRIER = f"{GROUP}/carrier"
MERGE = "application/merge-patch+json"
DOCUMENTS = {
    each.stem: yaml.safe_load(each.read_text()) for each in EXAMPLE.glob("documents/*.yaml")
}


def generated(folder):
    """The example, which serves all versions that it ever had."""
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    config = folder / "trundle.yaml"
    config.write_text(config.read_text().replace("horizon: {ga: 4}", "horizon: {ga: 9}"))
    subprocess.run([warm.TRUNDLE, "generate"], cwd=folder, check=True, capture_output=True)
    return folder


def installed(cluster, folder, webhook):
    """Installs the project's CRDs with its webhook."""
    command = [warm.TRUNDLE, "kube", "crds", "-o", "json", "--url", f"{webhook.url}/convert"]
    written = subprocess.run(
        [*command, "--ca", str(webhook.authority)], cwd=folder, check=True, capture_output=True
    )
    for crd in json.loads(written.stdout)["items"]:
        cluster.define(crd)
    return [each["name"] for each in crd["spec"]["versions"] if each["served"]]


@pytest.fixture(scope="module")
def both(cluster, tmp_path_factory):
    """The cluster and a server of the same project, and the versions that both serve."""
    folder = generated(tmp_path_factory.mktemp("webhook") / "crm")
    (folder / "tls").mkdir()
    with webhooks.running(folder, Authority(folder / "tls")) as webhook:
        versions = installed(cluster, folder, webhook)
        with trundle_servers.running(folder) as server:
            yield Both(cluster, server, webhook, versions)
        cluster.undefine(f"people.{GROUP}")


class Both:
    """Does the same on a cluster and on `trundle serve`, and compares what each version shows after it."""

    def __init__(self, cluster, server, webhook, versions):
        self.cluster = cluster
        self.server = server
        self.webhook = webhook
        self.versions = versions

    def path(self, version, name=""):
        return f"/apis/{GROUP}/{version}/namespaces/default/people{name and '/' + name}"

    def on_cluster(self, method, version, name="", body=None, **given):
        answer = self.cluster.request(method, self.path(version, name), body, **given)
        return answer.status, answer.body

    def on_server(self, method, version, name="", body=None, **given):
        return self.server.request(method, self.path(version, name), body, **given)

    def do(self, method, version, name="", change=None, **given):
        """A request to both, with what each gives to write; the two answers without what is each one's own."""
        answers = [
            ask(method, version, name, change and change(ask), **given)
            for ask in (self.on_cluster, self.on_server)
        ]
        assert answers[0][0] == answers[1][0] < 300, answers
        assert plain(answers[0][1]) == plain(answers[1][1])
        return answers[0][1]

    def create(self, version, name, document):
        body = {**document, "apiVersion": f"{GROUP}/{version}", "kind": "Person"}
        body["metadata"] = {**document.get("metadata", {}), "name": name}
        return self.do("POST", version, change=lambda _: body)

    def edit(self, version, name, change):
        """Gets, changes and puts, as `kubectl edit` does."""

        def edited(ask):
            status, found = ask("GET", version, name)
            assert status == 200, found
            change(found)
            return found

        return self.do("PUT", version, name, edited)

    def compare(self, name):
        """Reads an object at every version."""
        return {each: self.do("GET", each, name) for each in self.versions}


def plain(document):
    """An object without what belongs to one server alone."""
    metadata = document["metadata"]
    annotations = {
        key: value for key, value in metadata.get("annotations", {}).items() if key != CARRIER
    }
    kept = {key: metadata[key] for key in ("name", "labels", "finalizers") if key in metadata}
    return {**document, "metadata": {**kept, "annotations": annotations}}


def version_of(document):
    """The version of a document as a cluster calls it."""
    return ApiVersion.parse(str(document["apiVersion"])).label


@pytest.mark.parametrize("name", sorted(DOCUMENTS))
def test_what_is_created_at_one_version_is_the_same_at_all(both, name):
    document = DOCUMENTS[name]
    both.create(version_of(document), name, document)
    before = both.compare(name)
    stored = both.on_cluster("GET", both.versions[0], name)[1]["metadata"]["resourceVersion"]
    for version in both.versions:
        both.edit(version, name, lambda _: None)
    assert both.compare(name) == before
    # Writing what one reads is no change to a cluster, at whatever version.
    after = both.on_cluster("GET", both.versions[0], name)[1]["metadata"]["resourceVersion"]
    assert after == stored


def changed(choices, found):
    """Changes something of an object as its version shows it, at random."""
    texts = [
        (owner, key)
        for owner in (found, *(each for each in found.values() if isinstance(each, dict)))
        if owner is not found["metadata"]
        for key, value in owner.items()
        if isinstance(value, str) and key not in {"apiVersion", "kind", "id"}
    ]
    owner, key = choices.choice(texts)
    owner[key] = f"{owner[key].split('~')[0]}~{choices.randrange(1000)}"


@pytest.mark.parametrize("seed", range(4))
def test_edits_at_all_versions_lose_nothing(both, seed):
    choices = random.Random(seed)
    document = DOCUMENTS[choices.choice(sorted(DOCUMENTS))]
    name = f"story-{seed}"
    both.create(version_of(document), name, document)
    for _ in range(10):
        version, again = choices.choice(both.versions), choices.randrange(10**9)
        if choices.random() < 0.7:
            both.edit(
                version, name, lambda found, again=again: changed(random.Random(again), found)
            )
        else:
            patch = {"metadata": {"labels": {"number": str(again)}}, "knownAs": f"K{again}"}
            both.do("PATCH", version, name, lambda _, patch=patch: patch, kind=MERGE)
        both.compare(name)


def test_one_version_is_stored(both):
    crd = json.loads(both.cluster.kubectl("get", "crd", f"people.{GROUP}", "-o", "json").stdout)
    assert crd["status"]["storedVersions"] == ["storage"]


def test_the_carrier_belongs_to_no_manager(both):
    both.create("v20110101", "mia", DOCUMENTS["mickey"])
    path = both.path("v20190909", "mia")
    shown = both.cluster.request("GET", path).ok()
    assert CARRIER in shown["metadata"]["annotations"]
    patch = {"metadata": {"annotations": {"mine": "x"}}}
    changed = both.cluster.request("PATCH", path, patch, kind=MERGE, fieldManager="me").ok()
    assert CARRIER in changed["metadata"]["annotations"]
    owned = json.dumps(
        [each for each in changed["metadata"]["managedFields"] if each["manager"] == "me"]
    )
    assert "f:mine" in owned
    assert CARRIER not in owned


def test_metrics_count_conversions_and_carriers(both):
    both.create("v20110101", "max", DOCUMENTS["mickey"])
    both.compare("max")
    code, found = both.webhook.get("/metrics")
    assert code == 200
    assert 'source="v20110101",target="storage"' in found
    assert "trundle_webhook_carrier_bytes_count" in found
    # The API server asks for the same several times.
    (remembered,) = re.findall(
        r"^trundle_webhook_conversions_remembered_total (.*)$", found, re.MULTILINE
    )
    assert float(remembered) > 0
    assert both.webhook.get("/nothing")[0] == 404


def test_the_webhook_reloads_its_certificate_and_stops_gracefully(both, tmp_path):
    authority = Authority(tmp_path)
    webhook = webhooks.Webhook(both.webhook.folder, authority, name="rotating")
    assert webhook.get("/readyz") == (200, "ok")
    other = Authority(_made(tmp_path / "other"))
    shutil.copy(other.server("rotating"), webhook.certificate)
    webhook.authority = other.certificate
    assert webhook.get("/readyz") == (200, "ok")
    assert webhook.stop() == 0


def _made(folder):
    folder.mkdir()
    return folder


WAITING = {
    "type": "object",
    "properties": {
        "size": {"type": "integer"},
        "status": {
            "type": "object",
            "default": {"seen": -1},
            "properties": {
                "seen": {"type": "integer"},
                "phase": {"type": "string", "default": "Waiting"},
            },
        },
    },
}


def waiting_crd(group):
    """A CRD in two versions, whose objects have a status before any is written."""
    version = {
        "served": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": WAITING},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"jobs.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": "Job", "plural": "jobs"},
            "versions": [
                {"name": "v1", "storage": False, **version},
                {"name": "v2", "storage": True, **version},
            ],
        },
    }


def test_an_object_has_the_first_status_that_it_has_without_a_webhook(cluster, tmp_path):
    plain_group, group = "plainly.example.com", "hooked.example.com"
    folder = tmp_path / "jobs"
    (folder / "schemas").mkdir(parents=True)
    (folder / "schemas" / "jobs.yaml").write_text(yaml.safe_dump(waiting_crd(group)))
    (folder / "trundle.yaml").write_text("package: waiting\nsources: [schemas]\n")
    subprocess.run([warm.TRUNDLE, "generate"], cwd=folder, check=True, capture_output=True)
    (folder / "tls").mkdir()

    def statuses(group):
        """What clients see of the status, from the first write on."""
        at = f"/apis/{group}/{{}}/namespaces/default/jobs"
        body = {"apiVersion": f"{group}/v1", "kind": "Job", "metadata": {"name": "a"}, "size": 1}
        seen = [cluster.request("POST", at.format("v1"), body).ok()]
        seen += [cluster.request("GET", f"{at.format(each)}/a").ok() for each in ("v1", "v2")]
        path = f"{at.format('v2')}/a"
        seen.append(cluster.request("PATCH", path, {"size": 2}, kind=MERGE).ok())
        changed = {"status": {"phase": "Done"}}
        seen.append(cluster.request("PATCH", f"{path}/status", changed, kind=MERGE).ok())
        seen += [cluster.request("GET", f"{at.format(each)}/a").ok() for each in ("v1", "v2")]
        owners = [
            sorted(json.dumps(each["fieldsV1"]) for each in one["metadata"]["managedFields"])
            for one in seen
        ]
        return [each.get("status") for each in seen], owners

    with webhooks.running(folder, Authority(folder / "tls")) as webhook:
        cluster.define(waiting_crd(plain_group))
        installed(cluster, folder, webhook)
        try:
            assert statuses(group) == statuses(plain_group)
            assert statuses_are_there(cluster, group)
        finally:
            cluster.undefine(f"jobs.{group}")
            cluster.undefine(f"jobs.{plain_group}")


def statuses_are_there(cluster, group):
    """Whether the listed objects have a status."""
    found = cluster.request("GET", f"/apis/{group}/v1/jobs").ok()["items"]
    return [each["status"] for each in found] == [{"seen": -1, "phase": "Done"}]
