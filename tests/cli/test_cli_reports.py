import json
import os
import pty
import subprocess

import pytest
import warm
import yaml

VERSIONS = ("2014-04-04", "2015-05-05")
FILES = ("schemas/2014-04-04.yaml", "schemas/2015-05-05.yaml")


def test_diff_compares_versions_of_the_project(line):
    result = line.run("diff", *VERSIONS)
    assert result.exit_code == 0
    assert "alphaKey -> sortKey" in result.stdout
    data = json.loads(line.run("diff", *VERSIONS, "-o", "json").stdout)
    rows = {row["name"]: row for row in data["types"][0]["properties"]}
    assert rows["alphaKey -> sortKey"]["change"] == "Property Rename"
    assert rows["level"] == {
        "name": "level",
        "old": "string?",
        "new": "integer?",
        "change": "Change of Type",
        "handler": "Property Bag",
    }
    assert yaml.safe_load(line.run("diff", *VERSIONS, "-o", "yaml").stdout) == data


@pytest.mark.parametrize("arguments", [FILES, (*VERSIONS, "--schemas", "schemas")])
def test_diff_needs_no_project(line, arguments):
    (line.folder / "trundle.yaml").unlink()
    result = line.run("diff", *arguments, "--type", "Person", "-o", "json")
    assert result.exit_code == 0
    names = [row["name"] for row in json.loads(result.stdout)["types"][0]["properties"]]
    assert names == ["alphaKey", "id", "level", "sortKey"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("2014-04-04", "2016-06-06"), 5, "expected a version of the schemas, found '2016-06-06'"),
        ((*VERSIONS, "--type", "Persom"), 5, "did you mean Person?"),
        (("2014-04-04", "nowhere"), 5, "expected a version or a schema file, found neither"),
        (("2014-04-04", FILES[1]), 2, "expected two versions, or two schema files"),
        ((FILES[0], FILES[0]), 2, "found 2014-04-04 in both"),
        (("schemas", FILES[0]), 2, "found 2014-04-04, 2015-05-05; write `trundle diff VERSION"),
    ],
)
def test_diff_says_what_is_wrong_with_the_question(line, arguments, code, message):
    result = line.run("diff", *arguments)
    assert result.exit_code == code
    assert message in result.stderr
    assert result.stdout == ""


def test_reports_warn_of_what_is_wrong_with_the_project(line):
    line.write(
        "trundle.yaml",
        "package: crm\nsources: [schemas]\nchanges: {2014-04-04: {Person: {keep: [x]}}}\n",
    )
    result = line.run("diff", *VERSIONS)
    assert result.exit_code == 0
    assert "warning: trundle.yaml:3: `keep` names x" in result.stderr


def test_stats_counts(line):
    assert "2 versions" in line.run("stats").stdout
    (line.folder / "trundle.yaml").unlink()
    data = json.loads(line.run("stats", "schemas", "--ga", "-o", "json").stdout)
    assert data["pairs"] == 1
    assert line.run("stats").exit_code == 5


def test_suggest_prints_lines_to_paste(line):
    line.write("trundle.yaml", "package: crm\nsources: [schemas]\n")
    result = line.run("suggest")
    assert result.exit_code == 0
    assert yaml.safe_load(result.stdout)["changes"]
    assert json.loads(line.run("suggest", "-o", "json").stdout)


def test_map_is_drawn_in_several_ways(line):
    assert "hub 2015-05-05" in line.run("map").stdout
    assert "2014-04-04" in line.run("map", "person", "-o", "mermaid").stdout
    assert line.run("map", "-o", "svg").stdout.startswith("<svg")
    assert json.loads(line.run("map", "Person", "-o", "json").stdout)["resource"] == "Person"
    written = line.run("map", "-o", "svg", "--output", "map.svg")
    assert written.stdout == ""
    assert (line.folder / "map.svg").read_text().startswith("<svg")
    assert line.run("map", "-o", "svg", "--output", "no/map.svg").exit_code == 5
    missing = line.run("map", "Persom")
    assert missing.exit_code == 5
    assert "did you mean Person?" in missing.stderr


def test_a_picture_shows_one_resource(line):
    line.write(
        "schemas/other/2015-05-05.yaml",
        "title: Dog\ntype: object\nproperties: {a: {type: string}}\n",
    )
    result = line.run("map", "-o", "svg")
    assert result.exit_code == 2
    assert "name one of Dog, Person" in result.stderr
    assert len(json.loads(line.run("map", "-o", "json").stdout)) == 2


def test_explain_shows_a_history(line):
    assert "sortKey" in line.run("explain", "Person.alphaKey").stdout
    assert json.loads(line.run("explain", "Person", "-o", "json").stdout)
    assert line.run("explain", "Person.nothing").exit_code == 5


@pytest.mark.full
@pytest.mark.parametrize("width", [60, 80])
def test_on_a_terminal_tables_fit_its_width(line, width):
    near, far = pty.openpty()
    command = [*warm.script(), "diff", "2014-04-04", "2015-05-05"]
    environment = {**os.environ, "COLUMNS": str(width)}
    subprocess.run(command, stdout=far, env=environment, cwd=line.folder, check=True, timeout=60)
    os.close(far)
    shown = os.read(near, 100_000).decode().splitlines()
    os.close(near)
    rows = [each for each in shown if each.startswith("|")]
    assert len(rows) > 3
    assert max(map(len, rows)) <= width


@pytest.mark.full
def test_what_is_suggested_is_a_configuration_that_check_accepts(empty):
    empty.write(
        "schemas/v1alpha1.yaml",
        """\
        title: Machine
        type: object
        properties:
          drainTimeout: {type: string}
          keyAlgorithm: {type: string, enum: [rsa, ecdsa]}
          strategy: {type: object, properties: {maxSurge: {type: string}, kind: {type: string}}}
          labels: {type: object, additionalProperties: {type: string}}
        """,
    )
    empty.write(
        "schemas/v1.yaml",
        """\
        title: Machine
        type: object
        properties:
          deletion: {type: object, properties: {drainTimeoutSeconds: {type: integer}}}
          privateKey: {type: object, properties: {algorithm: {type: string, enum: [RSA, ECDSA]}}}
          rollout:
            type: object
            properties:
              strategy: {type: object, properties: {maxSurge: {type: string}, kind: {type: string}}}
          labels:
            type: array
            items: {type: object, properties: {name: {type: string}, value: {type: string}}}
        """,
    )
    empty.write("trundle.yaml", "package: machines\nsources: [schemas]\n")
    lines = empty.run("suggest").stdout
    for expected in (
        "drainTimeout: deletion.drainTimeoutSeconds",
        "drainTimeout: go-duration-to-seconds",
        "keyAlgorithm: privateKey.algorithm",
        "keyAlgorithm: {ecdsa: ECDSA, rsa: RSA}",
        "strategy: rollout.strategy",
        "labels: {map-to-list: {key: name, value: value}}",
    ):
        assert expected in lines
    empty.write("trundle.yaml", f"package: machines\nsources: [schemas]\n{lines}")
    assert empty.run("generate").exit_code == 0
    assert empty.run("check").exit_code == 0
    assert empty.run("suggest").stdout == "# Nothing to suggest.\n"
