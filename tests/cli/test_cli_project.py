import json

import yaml


def test_init_starts_a_project(line):
    (line.folder / "trundle.yaml").unlink()
    shown = line.run("init", "schemas", "--package", "crm", "--dry-run")
    assert shown.exit_code == 0
    assert "package: crm" in shown.stdout
    assert not (line.folder / "trundle.yaml").exists()
    assert not (line.folder / ".trundle").exists()
    assert shown.stderr == "would write trundle.yaml and .trundle/schema.json\n"
    result = line.run("init", "--package", "crm", "-o", "json")
    written = ["trundle.yaml", ".trundle/schema.json"]
    assert json.loads(result.stdout) == {"dryRun": False, "written": written}
    assert "next: `trundle generate`" in result.stderr
    assert (line.folder / ".trundle/schema.json").read_text() == line.run("schema").stdout
    again = line.run("init", "--package", "crm")
    assert again.exit_code == 4
    assert "expected no such file, found one" in again.stderr


def test_init_reports_missing_schemas_and_bad_names(empty):
    assert empty.run("init", "nowhere", "--package", "crm").exit_code == 1
    empty.write("schemas/v1.yaml", "title: A\ntype: object\nproperties: {a: {type: string}}\n")
    assert empty.run("init", "--package", "2crm").exit_code == 3


def test_generate_writes_and_reports_whether_it_is_stale(line):
    stale = line.run("generate", "--check")
    assert stale.exit_code == 3
    assert "would add __init__.py" in stale.stdout
    shown = line.run("generate", "--dry-run", "-o", "json")
    assert shown.exit_code == 0
    assert "__init__.py" in json.loads(shown.stdout)["missing"]
    assert not (line.folder / "crm").exists()
    written = line.run("generate")
    assert written.exit_code == 0
    assert written.stdout == ""
    assert "wrote " in written.stderr
    assert line.run("generate", "--check").exit_code == 0


def test_generate_refuses_to_lose_edits(line):
    line.run("generate")
    line.write("crm/__init__.py", "mine")
    refused = line.run("generate")
    assert refused.exit_code == 3
    assert "an edit by hand" in refused.stderr
    assert line.run("generate", "--force").exit_code == 0


def test_check_lists_all_findings(line):
    line.write(
        "trundle.yaml",
        "package: crm\nsources: [schemas]\nchanges: {2014-04-04: {Person: {keep: [x, y]}}}\n",
    )
    result = line.run("check")
    assert result.exit_code == 3
    assert result.stdout.count("error: trundle.yaml:3: `keep` names") == 2
    assert "2 errors, " in result.stderr
    data = json.loads(line.run("check", "-o", "json").stdout)
    assert {"code", "severity", "place", "expected", "found", "advice"} == set(data[0])
    assert yaml.safe_load(line.run("check", "-o", "yaml").stdout) == data


def test_check_is_content_with_notes(line):
    line.run("generate")
    result = line.run("check")
    assert result.exit_code == 0
    assert result.stdout.startswith("note: ")
    assert "no errors, 1 note" in result.stderr
    assert line.run("check", "--strict").exit_code == 3


def test_lock_records_and_refuses(line):
    shown = line.run("lock", "--dry-run")
    assert shown.stdout == "recorded Person 2015-05-05\n"
    assert not (line.folder / "trundle.lock").exists()
    assert line.run("lock").exit_code == 0
    assert json.loads(line.run("lock", "-o", "json").stdout)["unchanged"] == ["Person 2015-05-05"]
    line.write("trundle.yaml", "package: crm\nsources: [schemas]\n")
    refused = line.run("lock")
    assert refused.exit_code == 3
    assert "restore `rename: {alphaKey: sortKey}`" in refused.stderr
    assert line.run("lock", "--accept").stdout == "replaced Person 2015-05-05\n"


def test_the_schema_of_the_project_file_is_printed(empty):
    assert json.loads(empty.run("schema").stdout)["title"] == "trundle.yaml"
    assert yaml.safe_load(empty.run("schema", "-o", "yaml").stdout)["title"] == "trundle.yaml"


def test_bad_project_files_are_findings(line):
    line.write("trundle.yaml", "package: crm\nsource: [schemas]\nhorizon: 3\n")
    result = line.run("check")
    assert result.exit_code == 3
    assert result.stderr.count("error: trundle.yaml:") >= 3
    assert "did you mean sources?" in result.stderr


def test_bad_schemas_are_failures(line):
    line.write("schemas/2015-05-05.yaml", "a: [")
    result = line.run("check")
    assert result.exit_code == 1
    assert "2015-05-05.yaml" in result.stderr
