"""`kubernetes` in a project file: read, and refused with file and line."""

import pytest

from trundle.project import ConfigError, parse_config
from trundle.schema import KindNames, PrinterColumn

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
