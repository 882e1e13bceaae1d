"""`trundle kube adopt` with CRDs as their projects have published them, and with what their own code converts.

`TRUNDLE_PUBLISHED_CRDS` names a folder with `schemas/capi-machinedeployments.yaml`, a CRD of Cluster API,
`pairs/MachineDeployment.jsonl`, documents of v1beta1 (`before`) and what Cluster API makes of each in v1beta2 (`after`), and
`schemas/cm-certificates.yaml`, a CRD of cert-manager.
"""

import base64
import contextlib
import copy
import json
import os
import shutil
import subprocess
from pathlib import Path

import hand_written
import pytest
import warm
import webhooks
import yaml
from authorities import Authority
from clusters import until

PUBLISHED = os.environ.get("TRUNDLE_PUBLISHED_CRDS")

pytestmark = pytest.mark.skipif(not PUBLISHED, reason="TRUNDLE_PUBLISHED_CRDS names no folder")


def run(folder, *arguments, code=0, **environment):
    done = subprocess.run(
        [warm.TRUNDLE, *arguments], cwd=folder, env={**os.environ, **environment}, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == code, done.stderr + done.stdout
    return done


BOUNDS = {
    "enum", "format", "maxItems", "maxLength", "minItems", "minLength", "minProperties", "minimum", "pattern",
    "x-kubernetes-list-map-keys", "x-kubernetes-list-type", "x-kubernetes-validations",
}  # fmt: skip


def unbound(schema):
    """A schema that takes any words: documents have some that were drawn at random."""
    if isinstance(schema, list):
        return [unbound(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {}
    for key, value in schema.items():
        if key == "properties":
            found[key] = {name: unbound(each) for name, each in value.items()}
        elif key not in BOUNDS:
            found[key] = unbound(value)
    return found


def content(document):
    return {name: document[name] for name in ("spec", "status") if name in document}


class Published:
    """A published CRD in a cluster, with its own conversion behind it, and a project of it with the rules that `suggest` proposes.

    Args:
        cluster: the cluster.
        folder: where the project and the webhook have their files.
        file: the CRD.
        stored: the version that objects are stored at.
        convert: what the CRD's own webhook makes of a document and a version.
        stack: what is undone.
    """

    def __init__(self, cluster, folder, file, stored, convert, stack):
        self.cluster, self.folder, self.old = cluster, folder, stored
        published = Path(PUBLISHED, "schemas", file)
        hand = stack.enter_context(hand_written.running(folder / "hand"))
        hand.convert = convert
        crd = yaml.safe_load(published.read_text())
        crd.pop("status", None)
        crd["metadata"].pop("labels", None)  # of a chart, some are templates
        client = {"url": hand.url, "caBundle": base64.b64encode(hand.authority.read_bytes()).decode()}  # fmt: skip
        webhook = {"clientConfig": client, "conversionReviewVersions": ["v1"]}
        crd["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
        for each in crd["spec"]["versions"]:
            each["storage"] = each["name"] == stored
            each["schema"] = unbound(each["schema"])
        self.group, self.plural = crd["spec"]["group"], crd["spec"]["names"]["plural"]
        self.versions = [each["name"] for each in crd["spec"]["versions"] if each["served"]]
        self.name = f"{self.plural}.{self.group}"
        stack.callback(cluster.undefine, self.name)
        cluster.define(crd)
        self.project = self._project(published)

    def _project(self, published):
        folder = self.folder / "project"
        (folder / "schemas").mkdir(parents=True)
        shutil.copy(published, folder / "schemas")
        config = folder / "trundle.yaml"
        config.write_text("package: published\nsources: [schemas]\n")
        rules = run(folder, "suggest").stdout
        rules = rules.replace(": api-version-to-group", ": {api-version-to-group: v1beta2}")
        config.write_text(config.read_text() + rules)
        run(folder, "generate")
        return folder

    def adopt(self, *arguments, code=0):
        command = ["kube", "adopt", self.name, "-o", "json", *arguments]
        done = run(self.project, *command, code=code, KUBECONFIG=str(self.cluster.kubeconfig))
        return json.loads(done.stdout)

    def path(self, version, name=""):
        path = f"/apis/{self.group}/{version}/namespaces/default/{self.plural}"
        return f"{path}/{name}" if name else path

    def create(self, name, document):
        """Creates an object of the stored version, with its status."""
        metadata = {**document["metadata"], "name": name, "namespace": "default"}
        document = {**document, "metadata": metadata}
        self.cluster.request("POST", self.path(self.old), document).ok()
        if "status" in document:
            self.merge(self.old, f"{name}/status", {"status": document["status"]})

    def merge(self, version, name, change):
        kind = "application/merge-patch+json"
        self.cluster.request("PATCH", self.path(version, name), change, kind=kind).ok()

    @property
    def shown(self):
        """What clients of each version see of each object."""
        return {
            version: {
                each["metadata"]["name"]: content(each)
                for each in self.cluster.request("GET", self.path(version)).ok()["items"]
            }
            for version in self.versions
        }

    @property
    def stored(self):
        return self.cluster.stored(self.group, self.plural)

    @property
    def stored_at(self):
        return {each["apiVersion"].rpartition("/")[2] for each in self.stored.values()}


def done(found):
    return all(each["done"] for each in found["steps"])


@pytest.fixture
def publish(cluster, tmp_path):
    with contextlib.ExitStack() as stack:
        yield lambda file, stored, convert: Published(
            cluster, tmp_path, file, stored, convert, stack
        )


@pytest.fixture
def ours(tmp_path):
    """Runs a project's own webhook; gives the options that name it."""
    with contextlib.ExitStack() as stack:

        def running(project):
            (tmp_path / "ours").mkdir()
            webhook = stack.enter_context(webhooks.running(project, Authority(tmp_path / "ours")))
            return "--url", f"{webhook.url}/convert", "--ca", str(webhook.authority)

        yield running


def test_what_cluster_api_converts_is_taken_over_and_given_back(publish, ours, tmp_path):
    old, new = "v1beta1", "v1beta2"
    lines = Path(PUBLISHED, "pairs", "MachineDeployment.jsonl").read_text().splitlines()
    pairs = {f"d{number}": json.loads(line) for number, line in enumerate(lines)}

    def own(found, version):
        pair = pairs[found["metadata"]["name"]]
        return {**pair["before" if version == old else "after"], "metadata": found["metadata"]}

    place = publish("capi-machinedeployments.yaml", old, own)
    for name, pair in pairs.items():
        place.create(name, pair["before"])
    before = place.shown
    assert before[new] == {name: content(pair["after"]) for name, pair in pairs.items()}
    # Where a metadata is empty, Cluster API leaves it out.
    bare = [name for name, each in before[old].items() if each["spec"]["template"].get("metadata") == {}]  # fmt: skip
    listed = tmp_path / "expected.yaml"
    listed.write_text(yaml.safe_dump([{"path": "spec.template.metadata", "reason": "empty"}]))
    to = ours(place.project)
    (found,) = place.adopt(*to, code=3)["differences"]
    assert (found["path"], found["documents"]) == ("spec.template.metadata", len(bare))
    taken = place.adopt(*to, "--except", str(listed))
    assert (done(taken), taken["objects"], place.stored_at) == (True, len(pairs), {"storage"})
    for name in bare:
        before[new][name]["spec"]["template"]["metadata"] = {}
    assert place.shown == before
    # A client of each version changes one value, and what the other has of its own stays.
    place.merge(new, "d0", {"spec": {"replicas": 3}})
    place.merge(old, "d1", {"spec": {"minReadySeconds": 7}})
    before[old]["d0"]["spec"]["replicas"] = before[new]["d0"]["spec"]["replicas"] = 3
    before[old]["d1"]["spec"]["minReadySeconds"] = 7
    before[new]["d1"]["spec"]["template"]["spec"]["minReadySeconds"] = 7
    assert place.shown == before
    assert done(place.adopt("--back"))
    assert place.stored_at == {old}
    kept = {name.removeprefix("default/"): content(each) for name, each in place.stored.items()}
    assert kept == before[old]


LETTERS = {"rsa": "RSA", "ecdsa": "ECDSA", "pkcs1": "PKCS1", "pkcs8": "PKCS8"}
STEPS = {
    "v1alpha3": {"organization": "subject.organizations"},
    "v1beta1": {
        "keyAlgorithm": "privateKey.algorithm",
        "keyEncoding": "privateKey.encoding",
        "keySize": "privateKey.size",
    },
    "v1": {"emailSANs": "emailAddresses", "uriSANs": "uris"},
}
"""Where each version of cert-manager's certificates has what the one before has under another name."""


def certificate(found, version):
    """A certificate at another version, as cert-manager converts it."""
    made = copy.deepcopy(found)
    group, _, before = made["apiVersion"].partition("/")
    made["apiVersion"] = f"{group}/{version}"
    versions = ["v1alpha2", *STEPS]
    one, other = versions.index(before), versions.index(version)
    for step in versions[one + 1 : other + 1]:
        for name, path in STEPS[step].items():
            if name in made["spec"]:
                holder, _, last = path.rpartition(".")
                value = made["spec"].pop(name)
                within = made["spec"].setdefault(holder, {}) if holder else made["spec"]
                within[last] = LETTERS.get(value, value) if isinstance(value, str) else value
    for step in reversed(versions[other + 1 : one + 1]):
        for name, path in STEPS[step].items():
            holder, _, last = path.rpartition(".")
            within = made["spec"].get(holder, {}) if holder else made["spec"]
            if last in within:
                value = within.pop(last)
                made["spec"][name] = value.lower() if isinstance(value, str) else value
            if holder and not within:
                made["spec"].pop(holder, None)
    return made


def test_certificates_of_four_versions_are_taken_over_and_given_back(publish, ours):
    old, new = "v1alpha2", "v1"
    issued = {"secretName": "tls", "issuerRef": {"name": "ca"}}
    specs = {
        "plain": {},
        "named": {"organization": ["Trundle"], "subject": {"countries": ["CH"]}},
        "key": {"keyAlgorithm": "ecdsa", "keySize": 256, "keyEncoding": "pkcs8"},
        "rotated": {"keyAlgorithm": "rsa", "privateKey": {"rotationPolicy": "Always"}},
        "names": {"uriSANs": ["spiffe://a"], "emailSANs": ["a@example.com"], "dnsNames": ["a"]},
    }
    place = publish("cm-certificates.yaml", old, certificate)
    head = {"apiVersion": f"{place.group}/{old}", "kind": "Certificate", "metadata": {}}
    for name, spec in specs.items():
        place.create(name, {**head, "spec": {**issued, **spec}})
    before = place.shown
    assert before[new]["key"]["spec"]["privateKey"] == {"algorithm": "ECDSA", "encoding": "PKCS8", "size": 256}  # fmt: skip
    taken = place.adopt(*ours(place.project))
    assert (done(taken), taken["objects"], place.stored_at) == (True, len(specs), {"storage"})
    assert place.shown == before
    place.merge(new, "named", {"spec": {"subject": {"organizations": ["Trundle", "Roller"]}}})
    place.merge("v1alpha3", "key", {"spec": {"keySize": 384}})
    edited = place.shown
    assert [edited[each]["key"]["spec"] for each in ("v1beta1", new)] == [
        {**issued, "privateKey": {"algorithm": "ECDSA", "encoding": "PKCS8", "size": 384}}
    ] * 2
    assert edited[old]["named"]["spec"] == {
        **issued, "organization": ["Trundle", "Roller"], "subject": {"countries": ["CH"]}
    }  # fmt: skip
    assert done(place.adopt("--back"))
    assert place.stored_at == {old}
    until(
        lambda: place.shown == edited
    )  # The API server may ask the webhook of the project until then.
