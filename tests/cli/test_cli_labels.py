"""A hook that writes a label, with the installed command: from `generate` to what a store keeps after a client's edit."""

import json
import subprocess

import pytest
import warm
from amounts import amount

V1, V2, V3 = "2024-01-01", "2025-01-01", "2026-01-01"
KEY = "crm.example/tier"
HOOKS = """\
from trundle.runtime import ABSENT, hook

class Tier:
    @hook(reads=("seats",), writes=('metadata.labels["crm.example/tier"]',))
    def assign_to(self, source):
        return {"metadata_labels_crm_example_tier": "large" if source.seats > 5 else "small"}

    @hook(reads=('metadata.labels["crm.example/tier"]',), writes=("seats",))
    def assign_from(self, source):
        seats = {"small": 5, "large": 100}
        return {"seats": seats.get(source.metadata_labels_crm_example_tier, ABSENT)}
"""
CONFIG = """\
package: plans
sources: [schemas]
hooks:
  - {type: Plan, between: [2024-01-01, 2025-01-01], use: 'plan_hooks:Tier'}
"""
PROPERTIES = {V1: ["owner", "seats"], V2: ["owner"], V3: ["owner", "team"]}

pytestmark = pytest.mark.skipif(not warm.TRUNDLE.exists(), reason="the command is not installed")


@pytest.fixture(scope="module")
def plans(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plans")
    (folder / "schemas").mkdir()
    for version, names in PROPERTIES.items():
        types = {name: {"type": "integer" if name == "seats" else "string"} for name in names}
        schema = {"title": "Plan", "type": "object", "properties": types}
        (folder / "schemas" / f"{version}.json").write_text(json.dumps(schema))
    (folder / "trundle.yaml").write_text(CONFIG)
    (folder / "plan_hooks.py").write_text(HOOKS)
    run(folder, "generate")
    run(folder, "lock")
    return folder


def run(folder, *arguments, stdin="", code=0):
    found = subprocess.run(
        [*warm.script(always=True), *arguments],
        cwd=folder,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == code, found.stdout + found.stderr
    return found.stdout if code == 0 else found.stderr


def convert(folder, document, to, *more):
    return json.loads(run(folder, "convert", "-", "--to", to, *more, stdin=json.dumps(document)))


def plan(version, metadata, **properties):
    return {"apiVersion": version, "kind": "Plan", "metadata": metadata, **properties}


@pytest.mark.full
def test_a_client_edits_a_label_that_a_hook_wrote(plans, tmp_path):
    stored = convert(plans, plan(V1, {"labels": {"a": "b", KEY: "own"}}, seats=12), "storage")
    seen = convert(plans, stored, V3)
    assert seen == plan(V3, {"labels": {"a": "b", KEY: "large"}})
    seen["metadata"]["labels"][KEY] = "small"
    base = tmp_path / "base.json"
    base.write_text(json.dumps(stored))
    edited = convert(plans, seen, "storage", "--base", str(base))
    assert convert(plans, edited, V2) == plan(V2, {"labels": {"a": "b", KEY: "small"}})
    assert convert(plans, edited, V1) == plan(V1, {"labels": {"a": "b", KEY: "own"}}, seats=5)


def test_a_label_that_is_not_text_is_refused_with_its_place(plans):
    document = json.dumps(plan(V2, {"labels": {KEY: 5}}))
    found = run(plans, "convert", "-", "--to", V1, stdin=document, code=3)
    assert f'expected text as metadata.labels["{KEY}"], found 5; write it as text' in found


@pytest.mark.full
def test_check_and_verify_find_nothing_wrong(plans):
    run(plans, "check")
    table = run(plans, "verify", "--examples", str(amount(30)), "--seed", "7")
    (row,) = [each.split("|") for each in table.splitlines() if each.startswith("| Plan ")]
    assert [int(row[place]) for place in (2, 4)] == [3, 0]


def test_the_trace_of_a_label_names_its_hook(plans):
    document = json.dumps(plan(V1, {"name": "t"}, seats=12))
    traced = run(plans, "convert", "-", "--to", V3, "--trace", stdin=document)
    (line,) = [each for each in traced.splitlines() if KEY in each]
    assert "plan_hooks:Tier.assign_to" in line
