"""`kubernetes` in a project file: read, and refused with file and line."""

import pytest

from trundle.project import ConfigError, FindingsError, generate, load_project, parse_config
from trundle.schema import KindNames, PrinterColumn, Scaling

BASE = "package: crm\nsources: [schemas]\n"


def read(tmp_path, text):
    return parse_config((BASE + text).encode(), tmp_path / "trundle.yaml").kubernetes


def test_names_are_read_as_they_are_written(tmp_path):
    found = read(
        tmp_path,
        """\
kubernetes:
  group: crm.example.com
  types:
    Person:
      kind: Human
      plural: people
      singular: human
      shortNames: [per, hum]
      categories: [all]
      scope: Cluster
      columns: [{name: Phase, path: .status.phase, type: string, description: d, priority: 1}]
""",
    )
    assert found.group_for("crm") == "crm.example.com"
    assert found.types["person"] == KindNames(
        kind="Human",
        plural="people",
        singular="human",
        short_names=("per", "hum"),
        categories=("all",),
        scope="Cluster",
        columns=(PrinterColumn("Phase", ".status.phase", "string", "d", 1),),
    )


@pytest.mark.parametrize(
    ("package", "group"), [("crm", "crm.local"), ("acme.crm_api", "crm-api.local")]
)
def test_a_group_is_derived_from_the_package(tmp_path, package, group):
    assert read(tmp_path, "").group_for(package) == group


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("group: crm", "an API group such as crm.example.com"),
        ("group: Crm.example.com", "an API group such as crm.example.com"),
        ("groups: x", "one of the keys group, types"),
        ("types: {P: {plural: People}}", "lower-case letters such as people"),
        ("types: {P: {kind: person}}", "a kind such as Person"),
        ("types: {P: {scope: cluster}}", "a scope: Namespaced, Cluster"),
        ("types: {P: {shortNames: per}}", "a list of names"),
        ("types: {P: {scale: {specReplicasPath: .spec.a}}}", "expected paths of replicas"),
        ("types: {P: {scale: [{specReplicasPath: .spec.a}]}}", "the key statusReplicasPath"),
        (
            "types: {P: {scale: [{specReplicasPath: .size, statusReplicasPath: .status.a}]}}",
            "a path such as .spec.replicas",
        ),
        ("types: {P: {columns: [{name: N}]}}", "the key path in a column"),
        ("types: {P: {columns: [{name: N, path: status}]}}", "a JSON path such as .status.phase"),
        ("types: {P: {columns: [{name: N, path: .a, type: text}]}}", "a type: string, integer"),
        ("types: {P: {columns: [{name: N, path: .a, priority: -1}]}}", "a whole number"),
    ],
)
def test_what_cannot_be_is_refused_with_its_line(tmp_path, text, said):
    with pytest.raises(ConfigError) as raised:
        read(tmp_path, f"kubernetes: {{{text}}}\n")
    assert raised.value.findings[0].place.line == 3
    assert said in str(raised.value)


SCALED = """\
kubernetes:
  types:
    person:
      scale:
        - {specReplicasPath: .spec.size, statusReplicasPath: .status.size}
        - specReplicasPath: .spec.count
          statusReplicasPath: .status.free.count
          labelSelectorPath: .status.selector
"""


def scaled(project, text):
    """The subresource `scale` of each version, as the project has it."""
    project.configure(text)
    return {
        str(schema.version): [each.scaling for each in schema.resources]
        for schema in load_project(project.config().path).schemas
    }


def test_a_version_has_the_scale_of_which_it_has_the_properties(project):
    number = "{type: object, properties: {%s: {type: integer}%s}}"
    selector = ", selector: {type: string}, free: {}"
    project.schema("2011-01-01", "{spec: {type: object}, status: {type: object}}")
    project.schema(
        "2012-02-02", f"{{spec: {number % ('size', '')}, status: {number % ('size', '')}}}"
    )
    project.schema(
        "2013-03-03", f"{{spec: {number % ('count', '')}, status: {number % ('other', selector)}}}"
    )
    project.schema(
        "2014-04-04", f"{{spec: {number % ('count', '')}, status: {number % ('free', '')}}}"
    )
    sized = Scaling(".spec.size", ".status.size")
    counted = Scaling(".spec.count", ".status.free.count", ".status.selector")
    assert scaled(project, SCALED) == {
        "2011-01-01": [sized],  # What is free-form has any property.
        "2012-02-02": [sized],
        "2013-03-03": [counted],
        "2014-04-04": [None],
    }
    assert project.findings("scale") == []


def test_a_scale_that_no_version_has_is_an_error(project):
    project.schema("2011-01-01", "{spec: {type: object, properties: {a: {type: integer}}}}")
    paths = "{specReplicasPath: .spec.a, statusReplicasPath: .status.a}"
    project.configure(f"kubernetes: {{types: {{Person: {{scale: [{paths}]}}}}}}\n")
    (found,) = project.findings("scale")
    assert ".spec.a, .status.a, which no version has together" in found
    with pytest.raises(FindingsError, match="which no version has together"):
        generate(project.config())


def test_names_for_what_no_schema_has_are_noted(project):
    project.schema("2011-01-01", "{a: {type: string}}")
    project.configure("kubernetes: {types: {Persn: {plural: people}}}\n")
    (found,) = project.findings("names")
    assert "`kubernetes.types` names Persn, which no schema has" in found
    assert "Person" in found
