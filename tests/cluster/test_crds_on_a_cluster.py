"""The CRDs that Trundle writes, on a real API server."""

import json
import shutil
import subprocess
from pathlib import Path

import constructs
import pools
import pytest
import warm
import widgets
import yaml
from clusters import until
from projects import installer

from trundle.api import served_kinds
from trundle.kubernetes import STORAGE, WebhookAddress, compared, definitions, read_definitions

EXAMPLE = Path(__file__).parents[2] / "examples" / "crm"
WEBHOOK = WebhookAddress(
    service={"namespace": "default", "name": "hook", "path": "/convert", "port": 443}
)


def crds_of(installed):
    return definitions(served_kinds([installed.project], installed.scheme), WEBHOOK, lambda _: None)


@pytest.fixture
def establish(cluster):
    """Gives a CRD as the server has it, once it was taken; all are deleted in the end, as other tests use the cluster as well."""
    names = []

    def established(crd):
        name = crd["metadata"]["name"]
        names.append(name)
        cluster.kubectl("apply", "-f", "-", text=json.dumps(crd))
        cluster.follow(crd)
        return json.loads(cluster.kubectl("get", "crd", name, "-o", "json").stdout)

    yield established
    for each in names:
        cluster.undefine(each)


def require_sound(found):
    conditions = {each["type"]: each for each in found["status"]["conditions"]}
    assert conditions["Established"]["status"] == "True"
    assert "NonStructuralSchema" not in conditions
    assert found["status"]["storedVersions"] == [STORAGE]


@pytest.fixture
def install(tmp_path):
    with installer(tmp_path) as made:
        yield made


def test_a_crd_with_many_constructs_is_taken(cluster, establish, install):
    (crd,) = crds_of(install(constructs.FILES, config=constructs.CONFIG))
    found = establish(crd)
    require_sound(found)
    # What the server reads is what was written: it adds and drops nothing that `--check` would report.
    again = read_definitions([{"kind": "List", "items": [found]}], "the cluster")
    assert compared(again, [crd], "the cluster") == []
    # The server validates by it, where it can.
    path = f"/apis/{constructs.GROUP}/v1/namespaces/default/things"
    body = {"apiVersion": f"{constructs.GROUP}/v1", "kind": "Thing", "metadata": {"name": "a"}}
    refused = cluster.request("POST", path, {**body, "name": "A", "names": ["toolong"], "ratio": 0})
    causes = {each["field"] for each in refused.body["details"]["causes"]}
    assert {"name", "parts", "names[0]", "ratio"} <= causes, refused.body


PATTERNS = [
    r"^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.){1,20}$",
    r"^((a{1,10}b?){10}){1,10}(a{500}|b{1000}){1}(a{900}){0,}$",
    r"^[a-\d]",
    r"^[^]*$",
    r"^\p{Alphabetic}",
    r"^\P{Lu}[\p{^Han}-z]\p{Any}a{0010}[\w-.]$",
    r"^a(?!b)",
    r"^[a-z()*+,;=:]++$",
]


def test_only_patterns_that_the_server_takes_are_in_a_crd(cluster, establish, install):
    plain = {f"p{at}": {"pattern": each} for at, each in enumerate(PATTERNS)}
    inside = {f"a{at}": {"anyOf": [{"pattern": each}]} for at, each in enumerate(PATTERNS)}
    outside = {f"n{at}": {"not": {"pattern": each}} for at, each in enumerate(PATTERNS)}
    said = {
        name: {"type": "string", **each} for name, each in {**plain, **inside, **outside}.items()
    }
    schema = {"title": "Spelling", "type": "object", "properties": said}
    config = {"kubernetes": {"group": "spellings.example.com"}}
    (crd,) = crds_of(install({"schemas/v1.yaml": json.dumps(schema)}, config=config))
    require_sound(establish(crd))
    made = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    # What is left out is what the server would refuse.
    for name in (x for x in said if made[x] != said[x]):
        one = {**made, name: said[name]}
        crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"] = one
        refused = cluster.kubectl(
            "apply", "--dry-run=server", "-f", "-", text=json.dumps(crd), check=False
        )
        assert "error parsing regexp" in refused.stderr, (name, refused)
    assert sum(made[x] == said[x] for x in said) == 3 * 2


def test_clients_see_what_is_said_of_elements_and_values(cluster, establish, install):
    (crd,) = crds_of(install(constructs.FILES, config=constructs.CONFIG))
    establish(crd)
    explain = ["explain", "things", "--api-version", f"{constructs.GROUP}/v1"]
    # An API server publishes what it explains some time after it serves it.
    until(lambda: cluster.kubectl(*explain, check=False).returncode == 0)
    for field, said in {
        "words": "One word.",
        "notes": "One note.",
        "grid": "One cell.",
        "others": "Another part.",
        "parts": "A part.",
        "guesses": "Whatever it is.",
        "ports": "A port.",
    }.items():
        shown = cluster.kubectl(
            "explain", f"things.{field}", "--api-version", f"{constructs.GROUP}/v1"
        )
        assert said in shown.stdout, shown
    path = f"/openapi/v3/apis/{constructs.GROUP}/v1"
    (schema,) = (
        each
        for name, each in cluster.request("GET", path).body["components"]["schemas"].items()
        if name.endswith("v1.Thing")
    )
    properties = schema["properties"]
    assert properties["words"]["example"] == ["a", "b"]
    assert properties["words"]["items"]["example"] == "spoken"
    assert properties["ports"]["items"]["example"] == 80
    assert properties["parts"]["items"]["example"] == {"name": "right"}


def test_a_crd_goes_through_trundle_and_stays_one(establish, install):
    given = {**widgets.CRD, "metadata": {"name": f"widgets.{widgets.GROUP}"}}
    (crd,) = crds_of(install({"crd.yaml": given}, config=widgets.project()))
    crd["spec"]["group"] = "trundled.compare.test"
    crd["spec"]["names"] = {"kind": "Trundled", "plural": "trundleds", "singular": "trundled"}
    crd["metadata"]["name"] = "trundleds.trundled.compare.test"
    require_sound(establish(crd))


def test_the_example_s_crds_are_taken(cluster, establish, tmp_path):
    folder = tmp_path / "crm"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([warm.TRUNDLE, "generate"], cwd=folder, check=True, capture_output=True)
    command = [warm.TRUNDLE, "kube", "crds", "--service", "crm/crm-webhook"]
    written = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    for crd in yaml.safe_load_all(written.stdout):
        require_sound(establish(crd))
    installed = cluster.kubectl("get", "crds", "-o", "yaml").stdout
    check = [warm.TRUNDLE, "kube", "crds", "--check", "-"]
    checked = subprocess.run(
        check, cwd=folder, input=installed, check=False, capture_output=True, text=True
    )
    assert (checked.returncode, checked.stdout) == (0, ""), checked
    asking = [warm.TRUNDLE, "kube", "crds", "--check-cluster", "-o", "json"]
    given = ["--kubeconfig", str(cluster.kubeconfig), "--context", "admin"]
    checked = subprocess.run([*asking, *given], cwd=folder, check=False, capture_output=True)
    assert (checked.returncode, json.loads(checked.stdout)) == (0, []), checked
    (name,) = [each["metadata"]["name"] for each in yaml.safe_load_all(written.stdout)]
    patch = [{"op": "replace", "path": "/spec/names/shortNames", "value": ["other"]}]
    cluster.kubectl("patch", "crd", name, "--type=json", "-p", json.dumps(patch))
    checked = subprocess.run([*asking, *given], cwd=folder, check=False, capture_output=True)
    assert checked.returncode == 3
    assert "changes `names`" in checked.stdout.decode()


def test_a_server_takes_subresources_and_whole_resources(establish, install):
    scale = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    crd = pools.definition(status={}, scale={**scale, "labelSelectorPath": ".status.selector"})
    crd["metadata"]["name"], crd["spec"]["group"] = "pools.kept.test", "kept.test"
    properties = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    whole = {"type": "object", "x-kubernetes-embedded-resource": True}
    inner = {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}
    properties["open"] = {**whole, "x-kubernetes-preserve-unknown-fields": True}
    properties["known"] = {**whole, "properties": inner}
    (made,) = crds_of(install({"pools.json": crd}))
    found = establish(made)
    require_sound(found)
    assert found["spec"]["versions"] == made["spec"]["versions"]
    assert compared({"pools.kept.test": found}, [made], "the cluster") == []
    version = made["spec"]["versions"][0]
    assert version["subresources"] == crd["spec"]["versions"][0]["subresources"]
