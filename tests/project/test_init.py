import json
from pathlib import Path

import pytest

from trundle.project.config import load_config
from trundle.project.errors import AlreadyExistsError, ConfigError, OutputError, ProjectError
from trundle.project.init import plan_init, write_new_files
from trundle.schema import SchemaError

CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: people.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {kind: Person, plural: people}
  versions:
    - name: v1beta1
      served: true
      storage: false
      schema: &schema
        openAPIV3Schema:
          type: object
          properties: {spec: {type: object, properties: {name: {type: string}}}}
    - {name: v1, served: true, storage: true, schema: *schema}
"""


@pytest.fixture
def crd(tmp_path):
    path = tmp_path / "crds" / "person.yaml"
    path.parent.mkdir()
    path.write_text(CRD)
    return path


def test_a_project_names_what_was_found_and_leaves_the_schemas_where_they_are(tmp_path, crd):
    files = plan_init([crd], "crm", tmp_path / "project")
    assert {name: content.decode() for name, content in files.items()} == {
        "trundle.yaml": """\
# `trundle generate` writes this Python package from the schemas below.
package: crm

# Found here:
#   Person: 2 versions, v1beta1 to v1
sources:
  - ../crds/person.yaml

# What schemas cannot say stands under the older of two neighbouring versions, for example:
# changes:
#   v1beta1:
#     Person:
#       rename: {oldName: newName}

# All versions are served. To serve only the newest GA versions:
# horizon: {ga: 4}
"""
    }
    assert not (tmp_path / "project").exists()


def test_the_planned_project_can_be_loaded(tmp_path, crd):
    folder = tmp_path / "project"
    write_new_files(folder, plan_init([crd.parent, crd], "a.b", folder))
    config = load_config(folder / "trundle.yaml")
    assert config.package == "a.b"
    assert [source.path.resolve() for source in config.sources] == [crd.parent, crd]


def test_the_examples_in_the_comments_can_be_taken_over(tmp_path, crd):
    text = plan_init([crd], "crm", tmp_path)["trundle.yaml"].decode()
    start = text.index("# changes:")
    examples = text[start:].replace("# All", "## All").replace("# ", "")
    (tmp_path / "trundle.yaml").write_text(text[:start] + examples)
    config = load_config(tmp_path / "trundle.yaml")
    assert config.horizon == 4
    assert config.changes[0].rename == {"oldName": "newName"}


def test_paths_that_need_quotes_get_them(tmp_path, crd):
    odd = tmp_path / "2014: x #1"
    crd.parent.rename(odd)
    files = plan_init([odd], "crm", tmp_path)
    write_new_files(tmp_path / "new", files)
    assert load_config(tmp_path / "new" / "trundle.yaml").sources[0].path.name == odd.name


def test_an_existing_project_is_not_overwritten(tmp_path, crd):
    (tmp_path / "trundle.yaml").write_text("mine")
    with pytest.raises(AlreadyExistsError) as caught:
        plan_init([crd], "crm", tmp_path)
    assert caught.value.paths == (tmp_path / "trundle.yaml",)


def test_a_package_that_python_cannot_import_is_refused(tmp_path, crd):
    with pytest.raises(ConfigError, match="dotted name of a Python package, found 'a-b'"):
        plan_init([crd], "a-b", tmp_path)


def test_a_schema_that_cannot_be_read_is_an_error(tmp_path):
    with pytest.raises(SchemaError):
        plan_init([tmp_path / "missing.yaml"], "crm", tmp_path)


def test_a_project_needs_schemas(tmp_path):
    with pytest.raises(ProjectError, match="expected schemas of resources, found none"):
        plan_init([], "crm", tmp_path)


def test_new_files_are_written_all_or_none(tmp_path):
    (tmp_path / "b").write_text("mine")
    with pytest.raises(AlreadyExistsError):
        write_new_files(tmp_path, {"a": b"1", "b": b"2", "c/d": b"3"})
    assert [path.name for path in tmp_path.iterdir()] == ["b"]
    with pytest.raises(AlreadyExistsError):
        write_new_files(tmp_path, {"a": b"1", "b/c": b"2"})
    with pytest.raises(OutputError, match="File name too long"):
        write_new_files(tmp_path, {"a": b"1", "c" * 300: b"2"})
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


def test_new_files_hold_their_content(tmp_path):
    write_new_files(tmp_path / "new", {"a": b"1", "c/d": json.dumps({}).encode()})
    assert (tmp_path / "new/a").read_bytes() == b"1"
    assert Path(tmp_path / "new/c/d").read_text() == "{}"
