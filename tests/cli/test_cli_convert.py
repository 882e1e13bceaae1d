import json

import pytest
import yaml

OLD = "apiVersion: 2014-04-04\nkind: Person\nid: a\nalphaKey: k\n"
NEW = '{"apiVersion": "2015-05-05", "kind": "Person", "id": "b", "level": 3}'


@pytest.fixture
def generated(line):
    assert line.run("generate").exit_code == 0
    line.write("old.yaml", OLD)
    line.write("new.json", NEW)
    return line


def test_a_document_keeps_its_format(generated):
    result = generated.run("convert", "old.yaml", "--to", "2015-05-05")
    assert result.exit_code == 0
    assert yaml.safe_load(result.stdout)["sortKey"] == "k"
    result = generated.run("convert", "new.json", "--to", "2014-04-04")
    assert json.loads(result.stdout) == {"apiVersion": "2014-04-04", "kind": "Person", "id": "b"}


def test_a_format_can_be_asked_for(generated):
    result = generated.run("convert", "old.yaml", "--to", "2015-05-05", "-o", "json")
    assert json.loads(result.stdout)["sortKey"] == "k"
    result = generated.run("convert", "new.json", "--to", "2015-05-05", "-o", "yaml")
    assert result.stdout.startswith("apiVersion: ")


def test_several_documents_come_from_standard_input(generated):
    stdin = f"{OLD}---\n{OLD.replace('id: a', 'id: b')}"
    result = generated.run("convert", "-", "--to", "2015-05-05", stdin=stdin)
    assert [each["id"] for each in yaml.safe_load_all(result.stdout)] == ["a", "b"]


def test_a_write_over_what_is_stored_keeps_what_the_version_cannot_see(generated):
    stored = generated.run("convert", "new.json", "--to", "storage").stdout
    generated.write("stored.json", stored)
    generated.write("edit.yaml", OLD.replace("id: a", "id: b"))
    result = generated.run(
        "convert", "edit.yaml", "--to", "storage", "--base", "stored.json", "-o", "json"
    )
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert (found["level"], found["sortKey"]) == (3, "k")
    generated.write("merged.json", result.stdout)
    assert (
        json.loads(generated.run("convert", "merged.json", "--to", "2015-05-05").stdout)["level"]
        == 3
    )


def test_a_version_can_be_given(generated):
    generated.write("bare.yaml", "kind: Person\nid: a\n")
    assert generated.run("convert", "bare.yaml", "--to", "2015-05-05").exit_code == 5
    arguments = ("convert", "bare.yaml", "--to", "2015-05-05", "--from", "2014-04-04")
    assert generated.run(*arguments).exit_code == 0


def test_every_document_that_is_wrong_is_named_and_nothing_is_printed(generated):
    bad = OLD.replace("alphaKey: k", "alphaKay: k\nid2: 3")
    generated.write("bad.yaml", f"{OLD}---\n{bad}---\n{bad}")
    result = generated.run("convert", "bad.yaml", "--to", "2015-05-05")
    assert result.exit_code == 3
    assert result.stdout == ""
    assert "error: bad.yaml:6: not a valid Person 2014-04-04" in result.stderr
    assert "error: bad.yaml:12: " in result.stderr
    assert "alphaKay" in result.stderr
    assert "id2" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("old.yaml", "--to", "2016-06-06"), 5, "Person has no version '2016-06-06'"),
        (("none.yaml", "--to", "2015-05-05"), 5, "none.yaml: expected a file of documents"),
        (("-", "--to", "storage", "--base", "-"), 2, "cannot both be standard input"),
        (("old.yaml", "--to", "storage", "--base", "new.json"), 1, "error: old.yaml:1: "),
        (("two.yaml", "--to", "storage", "--base", "new.json"), 2, "found 1 in new.json for 2 in two.yaml"),
        (("cut.json", "--to", "2015-05-05"), 1, "cut.json:1: expected"),
        (("deep.json", "--to", "2015-05-05"), 1, "deep.json:1: expected at most 200 levels"),
    ],
)  # fmt: skip
def test_what_cannot_be_converted_says_why(generated, arguments, code, message):
    generated.write("two.yaml", f"{OLD}---\n{OLD}")
    generated.write("cut.json", '{"apiVersion": ')
    generated.write("deep.json", "[" * 10_000 + "]" * 10_000)
    result = generated.run("convert", *arguments)
    assert result.exit_code == code
    assert message in result.stderr
    assert result.stdout == ""


def test_a_package_that_was_not_generated_is_said(line):
    line.write("old.yaml", OLD)
    result = line.run("convert", "old.yaml", "--to", "2015-05-05")
    assert result.exit_code == 5
    assert "expected the generated package crm, found none; run `trundle generate`" in result.stderr


def test_a_value_without_counterpart_is_a_warning_that_names_its_place(empty):
    for name, kind in (("2020-01-01", "string"), ("2021-01-01", "integer")):
        empty.write(
            f"schemas/{name}.yaml",
            f"""\
            title: Job
            type: object
            properties:
              steps: {{type: array, items: {{$ref: "#/$defs/Step"}}}}
            $defs:
              Step: {{type: object, properties: {{wait: {{type: {kind}}}}}}}
            """,
        )
    empty.write(
        "trundle.yaml",
        """\
        package: jobs
        sources: [schemas]
        changes: {2020-01-01: {Step: {convert: {wait: go-duration-to-seconds}}}}
        """,
    )
    assert empty.run("generate").exit_code == 0
    empty.write(
        "job.yaml",
        """\
        apiVersion: 2020-01-01
        kind: Job
        steps: [{wait: 10s}, {wait: 1.5s}, {wait: soon}]
        """,
    )
    result = empty.run("convert", "job.yaml", "--to", "2021-01-01", "-o", "json")
    assert json.loads(result.stdout)["steps"] == [{"wait": 10}, {}, {}]
    assert '$.steps[1].wait: go-duration-to-seconds has no counterpart for "1.5s"' in result.stderr
    assert '$.steps[2].wait: go-duration-to-seconds has no counterpart for "soon"' in result.stderr
    assert "property bag" in result.stderr
    stored = empty.run("convert", "job.yaml", "--to", "storage", "-o", "json")
    assert stored.stderr.count("warning") == 2
    back = empty.run("convert", "-", "--to", "2020-01-01", stdin=stored.stdout)
    assert json.loads(back.stdout)["steps"] == [{"wait": "10s"}, {"wait": "1.5s"}, {"wait": "soon"}]
    assert not back.stderr
