import errno
import gzip
import json
from pathlib import Path

import pytest
import yaml


def zstandard(data):
    return b"\x28\xb5\x2f\xfd" + data


OLD = "apiVersion: 2014-04-04\nkind: Person\nid: a\nalphaKey: k\n"
NEW = '{"apiVersion": "2015-05-05", "kind": "Person", "id": "b", "level": 3}'


@pytest.fixture
def generated(generated):
    generated.write("old.yaml", OLD)
    generated.write("new.json", NEW)
    return generated


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


def test_documents_may_have_the_group_of_the_projects_server(generated):
    config = generated.folder / "trundle.yaml"
    config.write_text(config.read_text() + "kubernetes: {group: crm.example.com}\n")
    ours = OLD.replace("2014-04-04", "crm.example.com/v20140404")
    for target in ("2015-05-05", "crm.example.com/v20150505", "CRM.example.com/2015-05-05"):
        result = generated.run("convert", "-", "--to", target, stdin=ours)
        assert result.exit_code == 0, result.output
        found = yaml.safe_load(result.stdout)
        assert (found["apiVersion"], found["sortKey"]) == ("crm.example.com/v20150505", "k")
    items = [yaml.safe_load(each) for each in (ours, OLD)]
    for kind, version in (("List", "v1"), ("PersonList", "crm.example.com/v20140404")):
        listed = json.dumps({"apiVersion": version, "kind": kind, "items": items}, default=str)
        found = json.loads(generated.run("convert", "-", "--to", "2015-05-05", stdin=listed).stdout)
        assert found["apiVersion"] == version.replace("v20140404", "v20150505")
        assert [each["sortKey"] for each in found["items"]] == ["k", "k"]
    stored = generated.run("convert", "-", "--to", "storage", stdin=ours).stdout
    assert stored == generated.run("convert", "old.yaml", "--to", "storage").stdout
    other = generated.run("convert", "-", "--to", "2015-05-05", stdin=ours.replace("crm.", "x."))
    assert other.exit_code == 5
    assert "Person has no API group, but" in other.stderr


def test_a_version_can_be_given(generated):
    generated.write("bare.yaml", "kind: Person\nid: a\n")
    assert generated.run("convert", "bare.yaml", "--to", "2015-05-05").exit_code == 5
    arguments = ("convert", "bare.yaml", "--to", "2015-05-05", "--from", "2014-04-04")
    assert generated.run(*arguments).exit_code == 0


def test_every_document_that_is_wrong_is_named_and_the_others_are_converted(generated):
    bad = OLD.replace("alphaKey: k", "alphaKay: k\nid2: 3")
    generated.write("bad.yaml", f"{OLD}---\n{bad}---\n{bad}---\n{OLD.replace('id: a', 'id: z')}")
    result = generated.run("convert", "bad.yaml", "--to", "2015-05-05")
    assert result.exit_code == 3
    assert [each["id"] for each in yaml.safe_load_all(result.stdout)] == ["a", "z"]
    assert "error: bad.yaml:6: not a valid Person 2014-04-04" in result.stderr
    assert "error: bad.yaml:12: " in result.stderr
    assert "alphaKay" in result.stderr
    assert "id2" in result.stderr


def test_the_exit_code_is_that_of_the_worst_document(generated):
    gone = OLD.replace("2014-04-04", "2001-01-01")
    generated.write("bad.yaml", f"{gone}---\n{OLD.replace('id: a', 'id: 5')}")
    result = generated.run("convert", "bad.yaml", "--to", "2015-05-05")
    assert result.exit_code == 5
    assert result.stdout == ""
    assert result.stderr.count("error: ") == 2


@pytest.mark.parametrize("text", ["[{new},\n {new}]", "{new}\n{new}", "[[{new}], {new}]"])
def test_lists_and_lines_of_json_are_several_documents(generated, text):
    generated.write("many.json", text.replace("{new}", NEW))
    result = generated.run("convert", "many.json", "--to", "2014-04-04")
    good = 1 if "[[" in text else 2
    assert result.stdout.count('"id": "b"') == good
    assert result.exit_code == (0 if good == 2 else 3)


def test_an_element_of_a_list_is_named_by_its_line(generated):
    bad = NEW.replace('"b"', "1.50")
    generated.write("many.json", f"[\n{bad},\n{NEW}, {bad}\n]")
    result = generated.run("convert", "many.json", "--to", "2014-04-04")
    assert "error: many.json:2: " in result.stderr
    assert "error: many.json:3: " in result.stderr
    assert result.stdout.count('"id": "b"') == 1


def test_what_is_tolerated_is_said(generated):
    generated.write("odd.json", NEW.replace('"id": "b"', '"id": null, "odd": 1'))
    arguments = ("convert", "odd.json", "--to", "2015-05-05")
    assert generated.run(*arguments).exit_code == 3
    result = generated.run(*arguments, "--lenient")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["odd"] == 1
    assert result.stderr.splitlines() == [
        "warning: odd.json:1: dropped: expected `str`, found `null` - at $.id",
        "warning: odd.json:1: kept: expected a known property, found `odd` - at $.odd",
        "warning: odd.json:1: left absent: expected the required property `id`, found nothing - at $.id",
    ]
    result = generated.run(*arguments, "--lenient", "--unknown", "prune")
    assert "odd" not in json.loads(result.stdout)
    assert "dropped: expected a known property, found `odd` - at $.odd" in result.stderr


def test_what_is_lost_is_said_when_it_is_asked_for(generated):
    arguments = ("convert", "new.json", "--to", "2014-04-04")
    assert generated.run(*arguments).stderr == ""
    result = generated.run(*arguments, "--losses")
    assert result.exit_code == 0
    assert result.stderr == "warning: new.json:1: lost: 3 - at $.level\n"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("old.yaml", "--to", "2016-06-06"), 5, "Person has no version '2016-06-06'"),
        (("none.yaml", "--to", "2015-05-05"), 5, "none.yaml: expected a file of documents"),
        ((".", "--to", "2015-05-05"), 2, ".: expected a file of documents, found a folder"),
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


@pytest.mark.full
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


def test_the_storage_version_can_be_chosen(generated):
    assert generated.run("lock").exit_code == 0
    arguments = ("convert", "new.json", "--to", "storage", "--storage")
    result = generated.run(*arguments, "Person=2015-05-05")
    assert json.loads(result.stdout)["apiVersion"] == "2015-05-05"
    result = generated.run(*arguments, "Person=2011-01-01")
    assert (result.exit_code, "cannot be stored in '2011-01-01'" in result.stderr) == (5, True)
    result = generated.run(*arguments, "2015-05-05")
    assert (result.exit_code, "expected --storage TYPE=VERSION" in result.stderr) == (2, True)


def test_a_result_that_lacks_what_its_version_requires_is_a_warning(empty):
    (empty.folder / "schemas").mkdir()
    empty.write("schemas/v1.yaml", "title: T\ntype: object\nproperties: {x: {type: string}}\n")
    inner = "{type: object, required: [z], properties: {z: {type: integer, minimum: 1}}}"
    empty.write(
        "schemas/v2.yaml",
        f"title: T\ntype: object\nrequired: [k]\nproperties: {{x: {{type: string}}, k: {inner}}}\n",
    )
    empty.write("trundle.yaml", "package: lacking\nsources: [schemas]\n")
    assert empty.run("generate").exit_code == 0
    document = '{"apiVersion": "v1", "kind": "T", "x": "1"}'
    result = empty.run("convert", "-", "--to", "v2", stdin=document)
    assert result.exit_code == 0
    assert "standard input:1: $.k: expected the required property `k`, found" in result.stderr
    listed = f'{{"apiVersion": "v1", "kind": "List", "items": [{document}]}}'
    result = empty.run("convert", "-", "--to", "v2", stdin=listed)
    assert "$.items[0].k: expected the required property `k`" in result.stderr
    assert "warning" not in empty.run("convert", "-", "--to", "storage", stdin=document).stderr


def test_a_list_without_items_is_converted(generated):
    generated.write("list.json", '{"apiVersion": "v1", "kind": "List", "items": null}')
    result = generated.run("convert", "list.json", "--to", "2015-05-05")
    assert (result.exit_code, json.loads(result.stdout)["items"]) == (0, None)


CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  group: crm.example.com
  scope: Namespaced
  names: {kind: Person}
  versions:
  - {name: v1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {a: {type: string}}}}}
  - {name: v2, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {a: {type: string}}}}}
"""


@pytest.mark.parametrize("given", [(), ("--from", "crm.example.com/v1"), ("--from", "v1")])
@pytest.mark.parametrize("to", ["v2", "crm.example.com/v2"])
def test_a_version_may_be_given_with_its_group(empty, to, given):
    empty.write("schemas/person.yaml", CRD)
    empty.write("trundle.yaml", "package: crm\nsources: [schemas]\n")
    assert empty.run("generate").exit_code == 0
    person = {"apiVersion": "crm.example.com/v1", "kind": "Person", "a": "1"}
    empty.write("person.json", json.dumps(person))
    result = empty.run("convert", "person.json", "--to", to, *given)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == {**person, "apiVersion": "crm.example.com/v2"}


def test_a_document_without_a_version_is_of_the_group_that_is_given(empty):
    empty.write("schemas/person.yaml", CRD)
    empty.write("trundle.yaml", "package: crm\nsources: [schemas]\n")
    assert empty.run("generate").exit_code == 0
    empty.write("person.json", json.dumps({"kind": "Person", "a": "1"}))
    arguments = ("convert", "person.json", "--to", "v2", "--from")
    result = empty.run(*arguments, "crm.example.com/v1")
    assert json.loads(result.stdout)["apiVersion"] == "crm.example.com/v2"
    refused = empty.run(*arguments, "other.example.com/v1")
    assert refused.exit_code == 5, refused.output
    assert "crm.example.com" in refused.stderr


@pytest.mark.parametrize("given", ["nope", "2015-05-05", "1.x"])
def test_a_version_that_a_document_is_not_of_is_refused(generated, given):
    result = generated.run("convert", "old.yaml", "--to", "2015-05-05", "--from", given)
    assert result.exit_code == 5
    said = f"the document is of version '2014-04-04', but {given!r} was asked for; leave one out"
    assert result.stderr == f"error: old.yaml:1: {said}\n"


@pytest.mark.parametrize(
    ("name", "pack", "found"),
    [
        ("old.jsonl.gz", gzip.compress, "a file packed by gzip; convert it with --into FOLDER"),
        ("old.yaml.gz", gzip.compress, "a file packed by gzip; unpack it"),
        ("old.ndjson.zst", zstandard, "a file packed by zstd; convert it with --into FOLDER"),
        ("old.parquet", b"PAR1".__add__, "a Parquet file; convert it with --into FOLDER"),
    ],
)
def test_what_is_converted_in_parts_alone_is_named(generated, name, pack, found):
    (generated.folder / name).write_bytes(pack(NEW.encode()))
    result = generated.run("convert", name, "--to", "2015-05-05")
    assert result.exit_code == 2
    assert f"error: {name}: expected YAML or JSON, found {found}" in result.stderr


def test_a_column_is_one_of_files_in_parts(generated):
    result = generated.run("convert", "old.yaml", "--to", "2015-05-05", "--column", "d")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: --column: expected no such option with a single file")


def test_a_file_that_cannot_be_read_is_named_with_what_to_do(generated, monkeypatch):
    opened = Path.open

    def unreadable(path, *arguments, **named):
        if path.name == "old.yaml":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return opened(path, *arguments, **named)

    monkeypatch.setattr(Path, "open", unreadable)
    result = generated.run("convert", "old.yaml", "--to", "2015-05-05")
    assert result.exit_code == 1
    expected = "expected a file that can be read, found Permission denied; check its permissions"
    assert result.stderr == f"error: old.yaml: {expected}\n"
