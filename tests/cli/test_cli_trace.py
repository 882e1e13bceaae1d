"""`trundle convert --trace`: on the case study, with the installed command."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import warm
import yaml
from amounts import some_of
from typer.testing import CliRunner

from trundle.cli._app import app

CRM = Path(__file__).parents[2] / "examples" / "crm"
DOCUMENTS = sorted(each.name for each in (CRM / "documents").iterdir())

pytestmark = pytest.mark.skipif(not warm.TRUNDLE.exists(), reason="the command is not installed")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("traced") / "crm"
    shutil.copytree(CRM, folder)
    subprocess.run(
        [*warm.script(always=True), "generate"], cwd=folder, check=True, capture_output=True
    )
    return folder


def installed(project, *arguments):
    return subprocess.run(
        [*warm.script(always=True), *arguments],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )


def run(project, *arguments):
    return CliRunner().invoke(app, ["-C", str(project), *arguments])


def result(project, *arguments):
    found = run(project, *arguments, "-o", "json")
    assert found.exit_code == 0, found.stderr
    return json.loads(found.stdout)


def at(document, path):
    """The value at a JSONPath of names and indexes."""
    for name, quoted, index in re.findall(r'\.(\w+)|\[("[^"]*")\]|\[(\d+)\]', path):
        document = document[int(index) if index else json.loads(quoted) if quoted else name]
    return document


def scalars(value):
    if isinstance(value, dict):
        return sum(map(scalars, value.values()))
    return sum(map(scalars, value)) if isinstance(value, list) else 1


@pytest.mark.parametrize("name", some_of(DOCUMENTS, 5))
def test_every_value_is_explained_and_copies_are_copies(project, name):
    source = yaml.safe_load((project / "documents" / name).read_text())
    for to in ("storage", "2016-06-06"):
        arguments = ("convert", str(project / "documents" / name), "--to", to)
        output = result(project, *arguments)
        found = result(project, *arguments, "--trace")
        without_digests = scalars(output) - json.dumps(output).count('"beside"')
        assert sum(scalars(each["value"]) for each in found["values"]) == without_digests
        for each in found["values"]:
            assert at(output, each["path"]) == each["value"]
            assert each["cause"] != "not in a plan"
            if each["cause"] in ("copied", "renamed", "moved"):
                (place,) = each["sources"]
                assert str(at(source, place)) == str(each["value"])
        for each in found["left"]:
            assert str(at(source, each["path"])) == str(each["value"])


def test_from_storage_and_over_a_base(project):
    stored, edited = str(project / "stored.yaml"), str(project / "edit.json")
    document = str(project / "documents" / "donald.yaml")
    Path(stored).write_text(run(project, "convert", document, "--to", "storage").stdout)
    seen = result(project, "convert", stored, "--to", "2013-03-03", "--trace")
    middle = next(each for each in seen["values"] if each["path"] == "$.middleName")
    assert middle["cause"] == "property bag"
    edit = result(project, "convert", stored, "--to", "2018-08-08")
    edit["knownAs"] = "Don"
    Path(edited).write_text(json.dumps(edit))
    over = ("convert", edited, "--base", stored, "--trace")
    written = result(project, *over, "--to", "storage")
    causes = {each["path"]: each["cause"] for each in written["values"]}
    assert causes["$.knownAs"] == "copied"
    assert causes['$["$propertyBag"].middleName["2013-03-03"].value'] == "stored before"
    values = {each["path"]: each for each in result(project, *over, "--to", "2013-03-03")["values"]}
    assert values["$.firstName"]["cause"] == "hook"


def test_a_table_in_place_of_the_document(project):
    found = installed(project, "convert", "documents/gyro.yaml", "--to", "2019-09-09", "--trace")
    assert found.returncode == 0
    assert "| $.mailingAddress.country " in found.stdout
    assert "crm_hooks.addresses:AddressLines.assign_to" in found.stdout
    assert "apiVersion:" not in found.stdout


def test_errors_are_those_of_the_conversion_and_one_document_is_expected(project):
    (project / "wrong.yaml").write_text("apiVersion: 2019-09-09\nkind: Person\nid: 3\n")
    wrong, two = str(project / "wrong.yaml"), project / "two.yaml"
    arguments = ("convert", wrong, "--to", "storage")
    found = run(project, *arguments, "--trace")
    assert found.exit_code == run(project, *arguments).exit_code != 0
    assert found.stdout == ""
    text = (project / "documents/gyro.yaml").read_text()
    two.write_text(f"{text}---\n{text}")
    found = run(project, "convert", str(two), "--to", "storage", "--trace")
    assert found.exit_code == 2
    assert "expected one document with --trace, found 2" in found.stderr
