"""Conversions of published schemas are proved with several seeds: `support/corpora.py`."""

import json
import sys

import corpora
import pytest

CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: notes.example.com}
spec:
  group: example.com
  names: {kind: Note, plural: notes}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, properties: {text: {type: string}}}}
  - name: v2
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {text: {type: string}, size: {type: integer}}}}
"""


@pytest.fixture
def prove(tmp_path, monkeypatch, capsys):
    """Proves the schemas below a folder; the exit code and what is printed."""

    def proved(*options):
        kept = ["--results", str(tmp_path / "results"), "--examples", "2", "--jobs", "1"]
        monkeypatch.setattr(sys, "argv", ["corpora", str(tmp_path), *kept, *options])
        code = corpora.main()
        return code, "".join(capsys.readouterr())

    return proved


@pytest.fixture
def kept(tmp_path):
    """Schemas of one API, and the file that keeps what was proved of it."""
    schemas = tmp_path / "schemas"
    schemas.mkdir()
    (schemas / "notes.yaml").write_text(CRD)
    return tmp_path / "results" / "notes.jsonl"


def test_each_version_is_proved_with_each_seed(kept, prove):
    code, printed = prove("--seeds", "4,5")
    assert code == 0, printed
    assert printed.splitlines()[-1] == "1 APIs, seeds 4,5: no findings"
    lines = [json.loads(each) for each in kept.read_text().splitlines()]
    assert sorted((each["version"], each["seed"]) for each in lines) == [
        ("v1", 4),
        ("v1", 5),
        ("v2", 4),
        ("v2", 5),
    ]


def test_a_run_goes_on_behind_what_is_kept_and_shows_its_findings(kept, prove):
    kept.parent.mkdir()
    before = [
        {"resource": "Note", "version": "v1", "seed": 4, "findings": ["size is lost"]},
        {"resource": "Note", "version": "v2", "seed": 4, "findings": []},
    ]
    lines = [json.dumps(each) for each in before]
    kept.write_text("\n".join([*lines, lines[0][:20]]))
    code, printed = prove("--seeds", "4,5")
    assert code == 1
    assert "notes: 4 proofs, 1 findings" in printed
    assert "  size is lost" in printed
    assert kept.read_text().splitlines()[:2] == lines


def test_a_folder_without_schemas_is_refused(tmp_path, prove):
    assert prove() == (2, f"{tmp_path}: expected schemas/ with JSON or YAML files\n")
