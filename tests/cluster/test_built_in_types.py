"""Kubernetes' own conversions, written in Go, against a project of what its API server says of its types.

The server serves `resource.k8s.io` in three versions. `DeviceRequest` and `Device`, elements of lists, have in v1beta1 beside each other what
v1beta2 has in an object, and the other way round. Nothing of Kubernetes' schemas is kept here.
"""

import copy
import json
import subprocess

import clusters
import pytest
import warm

from trundle.project import generated_scheme, load_config
from trundle.runtime import Lenience

pytestmark = pytest.mark.cluster

GROUP = "resource.k8s.io"
VERSIONS = ("v1beta1", "v1beta2", "v1")
PLURALS = {
    "ResourceClaimTemplate": "namespaces/default/resourceclaimtemplates",
    "ResourceSlice": "resourceslices",
}
RULES = """
changes:
  v1beta1:
    Device: {move: {basic.*: "*"}}
    DeviceRequest: {move: {"*": exactly.*}}
hooks:
  - {type: DeviceRequest, between: [v1beta1, v1beta2], use: "requests_of_devices:Class"}
"""
HOOK = '''
from trundle.runtime import ABSENT, hook


class Class:
    """A request with alternatives has no class; Go writes an empty text for it where it has no object to leave out."""

    @hook(reads=("device_class_name",), writes=("exactly.device_class_name",))
    def assign_to(self, source):
        return {"exactly__device_class_name": source.device_class_name or ABSENT}

    @hook(reads=("exactly.device_class_name", "first_available"), writes=("device_class_name",))
    def assign_from(self, source):
        name = source.exactly__device_class_name
        return {"device_class_name": "" if name is ABSENT else name}
'''
EXPECTED = """
- path: spec.devices[].basic
  version: v1beta1
  difference: missing
  reason: Go writes an empty object for a device that has nothing but a name
"""
LENIENCE = Lenience(missing=True, nulls=True, unknown="keep")
"""Go writes null for an empty list."""


@pytest.fixture(scope="module")
def server():
    served = ",".join(f"{GROUP}/{version}=true" for version in VERSIONS)
    with clusters.running(f"--runtime-config={served}") as started:
        yield started


def run(folder, *arguments):
    command = [warm.TRUNDLE, *arguments]
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def project(server, tmp_path_factory):
    """The project, begun as a team would begin it, with what `suggest` says before there are any rules."""
    folder = tmp_path_factory.mktemp("devices")
    (folder / "schemas").mkdir()
    for version in VERSIONS:
        document = server.request("GET", f"/openapi/v3/apis/{GROUP}/{version}").ok()
        (folder / "schemas" / f"{version}.json").write_text(json.dumps(document))
    run(folder, "init", "--package", "devices")
    suggested = run(folder, "suggest")
    with (folder / "trundle.yaml").open("a") as file:
        file.write(RULES)
    (folder / "requests_of_devices.py").write_text(HOOK)
    run(folder, "generate")
    return folder, suggested


CLASS = {"deviceClassName": "c.example.com"}
SELECTORS = [{"cel": {"expression": "device.driver == 'd.example.com'"}}]
TOLERATIONS = [{"key": "k", "operator": "Exists", "effect": "NoSchedule"}]
EXACT = (
    CLASS,
    {**CLASS, "allocationMode": "All", "selectors": SELECTORS},
    {**CLASS, "count": 3, "tolerations": TOLERATIONS, "adminAccess": False},
    {**CLASS, "capacity": {"requests": {"example.com/memory": "1536Mi"}}},
)
ALTERNATIVES = [{"name": "a", **CLASS}, {"name": "b", **EXACT[2]}]
del ALTERNATIVES[1]["adminAccess"]
BASIC = (
    {},
    {"attributes": {"model": {"string": "x"}, "cores": {"int": 4}, "old": {"bool": False}}},
    {"capacity": {"memory": {"value": "2Gi"}}, "taints": [{"key": "k", "effect": "NoExecute"}]},
)


def request(version, name, kind):
    if kind >= len(EXACT):
        return {"name": name, "firstAvailable": ALTERNATIVES}
    exact = EXACT[kind]
    return {"name": name, **exact} if version == "v1beta1" else {"name": name, "exactly": exact}


def device(version, name, kind):
    basic = BASIC[kind]
    return {"name": name, "basic": basic} if version == "v1beta1" else {"name": name, **basic}


def template(version, kinds):
    requests = [request(version, f"r{number}", kind) for number, kind in enumerate(kinds)]
    return {"spec": {"devices": {"requests": requests}}}


def devices(version, kinds):
    found = [device(version, f"d{number}", kind) for number, kind in enumerate(kinds)]
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    return {"driver": "d.example.com", "pool": pool, "nodeName": "n", "devices": found}


def documents(version):
    for kinds in ((), (0,), (1, 4), (2, 3), (4, 0, 1), (4, 4), (3, 2, 1, 0)):
        yield "ResourceClaimTemplate", template(version, kinds)
    for kinds in ((), (0,), (1, 2), (2, 0, 1)):
        yield "ResourceSlice", devices(version, kinds)


class Served:
    """Objects on the server, each read at all versions."""

    def __init__(self, server):
        self.server, self.number = server, 0

    def create(self, version, kind, spec):
        self.number += 1
        name, path = f"x{self.number}", PLURALS[kind]
        meta = {"name": name, "labels": {"a": "b"}}
        document = {
            "apiVersion": f"{GROUP}/{version}", "kind": kind, "metadata": meta, "spec": spec,
        }  # fmt: skip
        self.server.request("POST", f"/apis/{GROUP}/{version}/{path}", document).ok()
        return {
            each: self.server.request("GET", f"/apis/{GROUP}/{each}/{path}/{name}").ok()
            for each in VERSIONS
        }


@pytest.fixture(scope="module")
def served(server):
    return Served(server)


@pytest.fixture(scope="module")
def objects(served):
    return [
        served.create(version, kind, spec)
        for version in VERSIONS
        for kind, spec in documents(version)
    ]


def test_moves_within_elements_of_lists_are_suggested(project):
    _, suggested = project
    for line in ('basic.*: "*"', '"*": exactly.*', "stands for adminAccess, allocationMode, "):
        assert line in suggested


def test_all_objects_convert_as_the_server_converts_them(project, objects):
    folder, _ = project
    pairs = [
        {"before": found[one], "after": found[other]}
        for found in objects
        for one in VERSIONS
        for other in VERSIONS
        if one != other
    ]
    (folder / "pairs.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in pairs))
    (folder / "expected.yaml").write_text(EXPECTED)
    found = json.loads(
        run(
            folder, "conform", "pairs.jsonl", "--lenient", "--except", "expected.yaml", "-o", "json"
        )
    )
    assert (found["pairs"], found["differences"], found["unused"]) == (len(pairs), [], [])


def filled(value):
    """A value without what Go leaves out or writes in its place: nulls, and what is empty."""
    if isinstance(value, dict):
        members = {name: filled(each) for name, each in value.items()}
        return {name: each for name, each in members.items() if each not in (None, "", [], {})}
    return [filled(each) for each in value] if isinstance(value, list) else value


def edits(version, requests):
    yield [*requests, request(version, "new", 3)]
    yield [*reversed(requests)]
    if requests:
        yield requests[1:]
        yield [{**request(version, "", 2), "name": requests[0]["name"]}, *requests[1:]]
        yield [*requests[:-1], {**request(version, "", 4), "name": requests[-1]["name"]}]


@pytest.mark.parametrize("version", VERSIONS)
def test_edits_lead_to_what_the_server_makes_of_the_edited_object(
    project, objects, served, version
):
    folder, _ = project
    with generated_scheme(load_config(folder / "trundle.yaml")) as scheme:
        templates = [each for each in objects if each["v1"]["kind"] == "ResourceClaimTemplate"]
        for found in templates[: len(templates) // len(VERSIONS)]:
            first = scheme.convert_json(json.dumps(found["v1"]).encode(), lenience=LENIENCE)
            seen = json.loads(scheme.convert_json(first, version))
            for requests in edits(version, seen["spec"]["spec"]["devices"].get("requests", [])):
                edited = copy.deepcopy(seen)
                edited["spec"]["spec"]["devices"]["requests"] = requests
                wanted = served.create(version, edited["kind"], edited["spec"])
                edited["spec"] = wanted[version]["spec"]  # the server fills in defaults
                stored = scheme.convert_json(
                    json.dumps(edited).encode(), base=first, lenience=LENIENCE
                )
                for other in VERSIONS:
                    made = json.loads(scheme.convert_json(stored, other))
                    assert filled(made["spec"]) == filled(wanted[other]["spec"])
