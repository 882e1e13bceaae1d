"""`trundle verify` proves a project or bare schemas, and ends with 3 where it finds something."""

import json
from pathlib import Path
from typing import Any

import pytest

from trundle.cli._failures import ExitCode
from trundle.project import _package_files
from trundle.verify.proofs import Prover
from trundle.workers import WorkerDiedError

HOOK = """\
from trundle.runtime import hook

CALLS = []


class Names:
    @hook(reads=("level",), writes=("sort_key",))
    def assign_to(self, source):
        CALLS.append(source)
        return {"sort_key": f"{source.level}{len(CALLS)}"}
"""
HOOKED = """\
package: crm
sources: [schemas]
hooks:
  - {type: Person, between: [2014-04-04, 2015-05-05], use: "crm_hooks.names:Names"}
"""
LITTLE = ("--examples", "4", "--jobs", "1", "--seed", "3")


@pytest.mark.full
def test_a_sound_project_is_proved(line) -> None:
    result = line.run("verify", *LITTLE)
    assert result.exit_code == 0, result.output
    assert "| Person        | 2        |" in result.stdout
    assert result.stderr.startswith("seed 3; ")
    assert "2 versions of resource types" in result.stderr
    assert "no findings" in result.stderr


def test_options_that_exclude_each_other_are_refused_before_anything_is_said(line) -> None:
    result = line.run("verify", "--scheduler", "tcp://127.0.0.1:1", "--jobs", "2")
    assert result.exit_code == ExitCode.USAGE
    assert result.stderr.startswith("error: --jobs: expected no such option with --scheduler")


@pytest.mark.full
def test_the_result_as_data_says_what_is_lossy_by_nature(line) -> None:
    result = line.run("verify", *LITTLE, "-o", "json")
    (person,) = json.loads(result.stdout)["resources"]
    assert person["versions"] == ["2014-04-04", "2015-05-05"]
    assert person["examples"] == 8
    assert person["held"]["law 1"] >= 8  # covering documents are written over each other, too
    assert person["findings"] == []
    assert {
        "path": "$.level",
        "kind": "dropped",
        "law": None,
        "versions": ["2014-04-04"],
        "others": ["2015-05-05"],
        "reason": "they have no place for it",
    } in person["limits"]
    listed = line.run("verify", *LITTLE, "--limits").stdout
    assert "dropped $.level of 2014-04-04, not 2015-05-05: they have no place for it" in listed


@pytest.mark.full
def test_the_package_on_disk_counts_only_where_it_is_up_to_date(line) -> None:
    assert "generated to be proved" in line.run("verify", *LITTLE).stderr
    assert line.run("generate").exit_code == 0
    assert "in crm: 2 versions" in line.run("verify", *LITTLE).stderr
    file = Path("crm/conversions/v2014_04_04.py")
    file.write_text(file.read_text() + "raise RuntimeError\n")
    result = line.run("verify", *LITTLE)
    assert (result.exit_code, "generated to be proved" in result.stderr) == (0, True)


@pytest.mark.full
def test_schemas_are_proved_without_a_project(line) -> None:
    for path in ("schemas", "schemas/2014-04-04.yaml"):
        result = line.run("verify", path, *LITTLE)
        assert result.exit_code == 0, result.output
    assert "1 version of a resource type" in result.stderr
    assert line.run("-C", "/", "verify", str(Path.cwd()), *LITTLE).exit_code == 0


@pytest.mark.full
def test_several_processes_find_what_one_finds(line) -> None:
    results = [
        json.loads(line.run("verify", *LITTLE[:2], "--seed", "3", "-j", jobs, "-o", "json").stdout)
        for jobs in ("1", "2")
    ]
    for each in results:
        del each["seconds"]
    assert results[0] == results[1]


@pytest.mark.full
def test_one_resource_and_one_version_are_asked_for_by_name(line) -> None:
    result = line.run("verify", *LITTLE, "--resource", "pERSON", "--api-version", "2015-05-05")
    assert "| Person        | 1        |" in result.stdout
    result = line.run("verify", *LITTLE, "--resource", "Persom")
    assert (result.exit_code, "did you mean Person?" in result.stderr) == (5, True)
    result = line.run("verify", *LITTLE, "--api-version", "2015-05-06")
    assert (result.exit_code, "2015-05-05" in result.stderr) == (5, True)


def test_a_time_is_gone_on_for(line) -> None:
    result = line.run("verify", *LITTLE, "--for", "0.01s")
    assert (result.exit_code, "1 of 2 versions" in result.stderr) == (0, True)
    result = line.run("verify", "--for", "soon")
    assert (result.exit_code, "expected a time such as 90s" in result.stderr) == (2, True)


def test_what_ends_it_in_a_later_round_says_how_far_that_was(
    line, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, made = Prover.prove, []

    def prove(self: Prover, work: Any) -> Any:
        for each in whole(self, work):
            made.append(each)
            if len(made) == 6:
                raise SystemExit(ExitCode.TERMINATED)
            yield each

    monkeypatch.setattr(Prover, "prove", prove)
    result = line.run("verify", *LITTLE, "--for", "1h")
    assert result.exit_code == 143
    assert "stopped after 1 of 2 versions in round 3; all processes have ended" in result.stderr


@pytest.mark.full
def test_an_impure_hook_is_found_and_reported_and_replayed(line) -> None:
    line.write("crm_hooks/__init__.py", "")
    line.write("crm_hooks/names.py", HOOK)
    line.write("trundle.yaml", HOOKED)
    result = line.run("verify", *LITTLE)
    assert result.exit_code == 3
    assert "finding: " in result.stdout
    assert "sortKey" in result.stdout
    replay = next(each for each in result.stdout.splitlines() if "replay: " in each)
    words = replay.partition("replay: trundle ")[2].split()
    assert words[:3] == ["verify", "--resource", "Person"]
    again = line.run(*words, "-j", "1")
    assert again.exit_code == 3
    assert "sortKey" in again.stdout


@pytest.mark.full
def test_a_broken_plan_is_found_and_its_seed_finds_the_same(
    line, monkeypatch: pytest.MonkeyPatch
) -> None:
    generated = _package_files.generate_package

    def broken(*arguments: Any, **options: Any) -> dict[str, bytes]:
        files = dict(generated(*arguments, **options))
        path = "conversions/v2014_04_04.py"
        assert b"sort_key=source.alpha_key" in files[path]
        files[path] = files[path].replace(b"sort_key=source.alpha_key", b"sort_key=source.id")
        return files

    monkeypatch.setattr(_package_files, "generate_package", broken)
    results = [line.run("verify", *LITTLE) for _ in range(2)]
    assert results[0].exit_code == 3
    assert results[0].stdout == results[1].stdout
    assert "at $.alphaKey" in results[0].stdout
    assert "found in Person 2014-04-04: " in results[0].stderr
    data = json.loads(line.run("verify", *LITTLE, "-o", "json").stdout)
    found = data["resources"][0]["findings"][0]
    assert found["case"]["document"].keys() <= {"apiVersion", "kind", "id", "alphaKey"}


def test_an_interrupt_ends_with_a_clear_line(line, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("trundle.verify._work.prove", interrupted)
    result = line.run("verify", *LITTLE)
    assert result.exit_code == 130
    assert "interrupted after 0 of 2 versions; all processes have ended" in result.stderr


def test_a_worker_that_dies_ends_with_a_clear_line(line, monkeypatch: pytest.MonkeyPatch) -> None:
    def died(*_: Any, **__: Any) -> None:
        raise WorkerDiedError("a worker process ended")

    monkeypatch.setattr("trundle.verify._work.prove", died)
    result = line.run("verify", *LITTLE)
    assert result.exit_code == 1
    assert "stopped after 0 of 2 versions; all processes have ended" in result.stderr
    assert "error: a worker process ended" in result.stderr


@pytest.mark.full
def test_a_long_proof_says_how_far_it_is(line, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trundle.cli.verify._SILENCE", 0)
    result = line.run("verify", *LITTLE)
    assert "verified 1 of 2 versions, no findings; last Person 2014-04-04\n" in result.stderr
    assert "verified 2 of 2 versions, no findings; last Person 2015-05-05\n" in result.stderr


@pytest.mark.full
def test_each_group_of_a_project_is_proved_as_a_package_of_its_own(empty) -> None:
    schema = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
    for group, kind in (("one.example.com", "Alpha"), ("two.example.com", "Beta")):
        empty.write(
            f"schemas/{kind}.yaml",
            f"{schema}spec:\n  group: {group}\n  scope: Namespaced\n  names: {{kind: {kind}}}\n"
            "  versions:\n  - name: v1\n    served: true\n    storage: true\n    schema:\n"
            "      openAPIV3Schema: {type: object, properties: {spec: {type: string}}}\n",
        )
    empty.write(
        "trundle.yaml",
        "package: both\ngroups: {one: one.example.com, two: two.example.com}\nsources: [schemas]\n",
    )
    result = empty.run("verify", *LITTLE)
    assert result.exit_code == 0, result.output
    assert "2 versions of resource types" in result.stderr
    assert empty.run("generate").exit_code == 0
    result = empty.run("verify", *LITTLE, "--resource", "beta")
    assert "package both, in both: 1 version of a resource type" in result.stderr
    result = empty.run("verify", *LITTLE, "--resource", "Betta")
    assert (result.exit_code, "did you mean Beta?" in result.stderr) == (5, True)
