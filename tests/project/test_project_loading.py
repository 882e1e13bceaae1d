import pytest

from trundle.project import (
    ConfigMissingError,
    FindingsError,
    ProjectError,
    evolution_of,
    load_project,
)
from trundle.schema import SchemaError
from trundle.schema.readers import Source

STRING = "{type: string}"


def test_a_project_is_its_file_its_schemas_and_how_they_evolve(project):
    project.schema("2011-01-01", f"{{a: {STRING}}}").schema("2012-02-02", f"{{b: {STRING}}}")
    project.configure("changes: {2011-01-01: {Person: {rename: {a: b}}}}\n")
    loaded = project.load()
    assert loaded.config.package == "crm"
    assert loaded.folder == project.folder
    assert [str(each.version) for each in loaded.schemas] == ["2011-01-01", "2012-02-02"]
    (resource,) = loaded.evolution.resources
    assert str(resource.versions.hub) == "2012-02-02"
    assert len(resource.root.threads) == 1
    assert resource.root in loaded.lineages
    assert loaded.findings == ()
    loaded.require_sound()


def test_reading_reports_each_file(project):
    project.schema("2011-01-01", f"{{a: {STRING}}}").schema("2012-02-02", f"{{b: {STRING}}}")
    seen = []
    load_project(project.folder / "trundle.yaml", on_file=lambda path: seen.append(path.name))
    assert seen == ["2011-01-01.yaml", "2012-02-02.yaml"]


def test_what_does_not_fit_is_left_out_and_listed(project):
    project.schema("2011-01-01", f"{{a: {STRING}}}")
    project.configure("changes: {2011-01-01: {Person: {rename: {x: y}, keep: [z]}}}\n")
    loaded = project.load()
    assert len(loaded.findings) == 2
    with pytest.raises(FindingsError) as caught:
        loaded.require_sound()
    assert caught.value.findings == loaded.findings
    assert str(caught.value).count("\n") == 1


def test_a_missing_project_file_has_an_error_of_its_own(tmp_path):
    with pytest.raises(ConfigMissingError, match="trundle init"):
        load_project(tmp_path / "trundle.yaml")


def test_schemas_that_cannot_be_read_are_errors_with_their_file(project):
    project.write("schemas/2011-01-01.yaml", "- a list\n")
    with pytest.raises(SchemaError, match=r"2011-01-01\.yaml#"):
        project.load()


def test_bare_schemas_evolve_without_a_project(project):
    project.schema("2011-01-01", f"{{a: {STRING}}}").schema("2012-02-02", f"{{a: {STRING}}}")
    evolution = evolution_of([Source(project.folder / "schemas")])
    assert [str(each) for each in evolution.versions.versions] == ["2011-01-01", "2012-02-02"]


def test_schemas_without_resources_are_no_project(project):
    project.write("schemas/2011-01-01.yaml", "openapi: 3.1.0\ninfo: {version: 2011-01-01}\n")
    with pytest.raises((ProjectError, SchemaError)):
        evolution_of([Source(project.folder / "schemas")])
