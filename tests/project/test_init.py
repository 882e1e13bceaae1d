import json
import re
from pathlib import Path

import jsonschema
import pytest

from trundle.documents import compact, compose
from trundle.project.config import load_config
from trundle.project.errors import AlreadyExistsError, ConfigError, OutputError, ProjectError
from trundle.project.init import name_groups, plan_init, write_new_files
from trundle.schema import SchemaError
from trundle.schema.readers import Catalogue, Declared, Source, source_files
from trundle.version import ApiVersion

EXAMPLE = Path(__file__).parents[2] / "examples/crm/trundle.yaml"
BROKEN = [
    ("package: crm\nsource: [a]\nsources: [a]\n", "$"),
    ("package: 2crm\nsources: [a]\n", "$.package"),
    ("package: crm\nsources: []\n", "$.sources"),
    ("package: crm\nsources: [a]\nhorizon: {ga: 0}\n", "$.horizon.ga"),
    ("package: crm\nsources: [a]\nchanges: {v1: {A: {renam: {a: b}}}}\n", "$.changes.v1.A"),
]

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
    assert list(files) == ["trundle.yaml", ".trundle/schema.json"]
    expected = """\
# yaml-language-server: $schema=.trundle/schema.json
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
    assert files["trundle.yaml"].decode() == expected
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


def schema_of(project):
    """The schema that the first line of a project file names, as an editor finds it."""
    (name,) = re.findall(r"\A# yaml-language-server: \$schema=(\S+)\n", project.read_text())
    return json.loads((project.parent / name).read_text())


def plain(text):
    (root,), problems = compose(text, "trundle.yaml")
    assert not problems
    return json.loads(compact(root))


@pytest.mark.parametrize("validator", [jsonschema.Draft7Validator, jsonschema.Draft202012Validator])
def test_the_schema_of_the_first_line_validates_project_files(tmp_path, crd, validator):
    write_new_files(tmp_path, plan_init([crd], "crm", tmp_path))
    checker = validator(schema_of(tmp_path / "trundle.yaml"))
    for path in (tmp_path / "trundle.yaml", EXAMPLE):
        checker.validate(plain(path.read_text()))
    for broken, where in BROKEN:
        (error,) = checker.iter_errors(plain(broken))
        assert error.json_path == where


def test_a_schema_that_stands_there_already_stays(tmp_path, crd):
    planned = plan_init([crd], "crm", tmp_path)
    write_new_files(tmp_path, planned)
    (tmp_path / "trundle.yaml").unlink()
    assert list(plan_init([crd], "crm", tmp_path)) == ["trundle.yaml"]
    (tmp_path / ".trundle/schema.json").write_text("mine")
    assert plan_init([crd], "crm", tmp_path) == planned


def test_a_folder_with_the_project_in_it_leaves_out_the_project_s_own_files(tmp_path, crd):
    write_new_files(tmp_path, plan_init([tmp_path], "crm", tmp_path))
    config = load_config(tmp_path / "trundle.yaml")
    assert source_files(config.sources[0]) == (tmp_path / "crds/person.yaml",)


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
    broken = tmp_path / "v1.yaml"
    broken.write_text("title: A")
    with pytest.raises(SchemaError, match="nothing here is a resource"):
        plan_init([broken], "crm", tmp_path)


def test_a_project_needs_schemas(tmp_path):
    with pytest.raises(ProjectError, match="expected schemas of resources, found none"):
        plan_init([], "crm", tmp_path)
    with pytest.raises(
        ProjectError, match=r"schemas: expected .* write one schema for each version"
    ):
        plan_init([tmp_path / "schemas"], "crm", tmp_path)


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


def declared(*resources):
    version = ApiVersion.parse("v1")
    return [Declared(name, group, version, "a.yaml", "") for group, name in resources]


@pytest.mark.parametrize(
    ("resources", "named"),
    [
        ([], {}),
        ([("Microsoft.Batch", "Microsoft.Batch/pools")], {}),
        ([("a.io", "A"), ("", "Person")], {}),
        (
            [
                ("Microsoft.Batch", "Microsoft.Batch/pools"),
                ("microsoft.AlertsManagement", "microsoft.AlertsManagement/rules"),
                ("Microsoft.AlertsManagement", "Microsoft.AlertsManagement/rules"),
                ("Microsoft.AlertsManagement", "Microsoft.AlertsManagement/issues"),
            ],
            {"alerts_management": "Microsoft.AlertsManagement", "batch": "Microsoft.Batch"},
        ),
        (
            [("cert-manager.io", "Issuer"), ("scheme.io", "A"), ("class.io", "B"), ("9.io", "C")],
            {"_9": "9.io", "cert_manager": "cert-manager.io", "class_": "class.io", "scheme_": "scheme.io"},
        ),
        (
            [("crm.a.com", "A"), ("crm.b.com", "A"), ("shop.a.com", "A")],
            {"crm_a_com": "crm.a.com", "crm_b_com": "crm.b.com", "shop": "shop.a.com"},
        ),
        ([("a-b", "A"), ("a_b", "A")], {"a_b": "a-b", "a_b_2": "a_b"}),
        ([("", "Event"), ("events.io", "Event")], {"core": "", "events": "events.io"}),
    ],
)  # fmt: skip
def test_groups_are_named_by_what_distinguishes_them(resources, named):
    assert name_groups(declared(*resources)) == named


def test_a_project_of_several_groups_gets_a_package_for_each(tmp_path, crd):
    other = crd.with_name("other.yaml")
    text = crd.read_text()
    (group,) = [each.group for each in Catalogue([Source(crd)]).declared[:1]]
    other.write_text(text.replace(group, "shop.example.org"))
    planned = plan_init([crd, other], "all", tmp_path)
    write_new_files(tmp_path, planned)
    config = load_config(tmp_path / "trundle.yaml")
    assert {each.group for each in config.groups} == {group, "shop.example.org"}
    assert "groups" not in plan_init([crd], "all", tmp_path / "new")["trundle.yaml"].decode()
