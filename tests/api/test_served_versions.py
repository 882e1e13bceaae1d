"""Which versions of a resource type are served: the same for servers, `check`, maps and what a package says that it brings."""

import shutil
from pathlib import Path

import pytest
import yaml
from projects import installer

from trundle.api import served_kinds
from trundle.project import (
    FindingsError,
    check,
    generate,
    generated_scheme,
    load_config,
    load_parts,
)
from trundle.project.naming import kinds_of
from trundle.project.releasing import brought_by
from trundle.report import version_map

EXAMPLES = Path(__file__).parents[2] / "examples"
NAME = {"name": {"type": "string"}}
PEOPLE, SHOPS = "people.test", "shops.test"


def crd(kind, *versions, group=PEOPLE, ended=(), **names):
    """A CRD; each of its versions is served but those that ended."""
    spec = {"type": "object", "properties": NAME}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    plural = f"{kind.lower()}s"
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, **names},
            "versions": [
                {
                    "name": each,
                    "served": each not in ended,
                    "storage": each == versions[-1],
                    "schema": schema,
                }
                for each in versions
            ],
        },
    }


ONE = {"horizon": {"ga": 1}}
GROUPS = {"groups": {"people": PEOPLE, "shops": SHOPS}}
PROJECTS = {
    "one ended before the other": (
        {"a.json": crd("Old", "v1"), "b.json": crd("New", "v1", "v2")},
        ONE,
        {"Old": ["v1"], "New": ["v2"]},
    ),
    "a preview after the last GA": (
        {"a.json": crd("Old", "v1", "v2", "v3alpha1"), "b.json": crd("New", "v1beta1", "v1")},
        ONE,
        {"Old": ["v2", "v3alpha1"], "New": ["v1beta1", "v1"]},
    ),
    "a CRD does not serve one": (
        {"a.json": crd("Old", "v1", "v2", ended=["v1"]), "b.json": crd("Gone", "v1", ended=["v1"])},
        {},
        {"Old": ["v2"]},
    ),
    "groups, each a package": (
        {"a.json": crd("Old", "v1"), "b.json": crd("New", "v1", "v2", group=SHOPS)},
        {**ONE, **GROUPS},
        {"Old": ["v1"], "New": ["v2"]},
    ),
    "one name in two groups, each a package": (
        {"a.json": crd("Same", "v1"), "b.json": crd("Same", "v1", "v2", group=SHOPS)},
        {**ONE, **GROUPS},
        {f"{PEOPLE}/Same": ["v1"], f"{SHOPS}/Same": ["v2"]},
    ),
}


@pytest.mark.parametrize("what", PROJECTS)
def test_servers_maps_and_packages_say_the_same(tmp_path, what):
    files, config, expected = PROJECTS[what]
    with installer(tmp_path) as install:
        installed = install(files, config=config)
        parts = load_parts(installed.project.config)
        kinds = served_kinds(parts.values(), installed.scheme)
        served = {
            each.resource: sorted(x.version for x in each.versions.values()) for each in kinds
        }
        assert served == {name: sorted(versions) for name, versions in expected.items()}
        brought = brought_by(installed.project.folder).served
        assert {each: sorted(x) for each, x in brought.items() if x} == served
        evolution, horizon = installed.project.evolution, installed.project.config.horizon
        for name, versions in served.items():
            drawn = version_map(evolution, name, horizon).versions
            assert sorted(x.version.text for x in drawn if x.served) == versions
        assert names_of_check(parts) == names_of(kinds)


def names_of_check(parts):
    return sorted(
        (x.group, x.names.plural, x.names.kind, x.where)
        for each in parts.values()
        for x in kinds_of(each)
    )


def names_of(kinds):
    found = [each.named for each in kinds]
    return sorted((x.group, x.names.plural, x.names.kind, x.where) for x in found)


@pytest.mark.parametrize("name", ["crm", "rolling/1.0.0"])
def test_examples_are_named_alike_by_check_and_by_servers(tmp_path, name):
    folder = shutil.copytree(EXAMPLES / name, tmp_path / "copied")
    config = load_config(folder / "trundle.yaml")
    generate(config, jobs=1)
    parts = load_parts(config)
    with generated_scheme(config) as scheme:
        kinds = served_kinds(parts.values(), scheme)
    assert kinds
    assert names_of_check(parts) == names_of(kinds)


def test_a_clash_in_a_group_that_is_derived_is_a_note(tmp_path):
    """Such a project may be for Python alone; what serves it refuses it."""
    with installer(tmp_path) as install:
        files = {
            f"{each}/2020-01-01.json": {"title": each, "type": "object", "properties": NAME}
            for each in ("One", "Two")
        }
        config = {"kubernetes": {"types": {"Two": {"plural": "ones"}}}}
        installed = install(files, config=config)
        (found,) = [each for each in check(installed.project.config) if each.code == "names"]
        assert found.severity == "note"
        assert found.found == "ones, which One has too"
        with pytest.raises(FindingsError) as caught:
            served_kinds([installed.project], installed.scheme)
        (refused,) = caught.value.findings
        assert (refused.where, refused.found) == (found.where, found.found)
        text = yaml.safe_dump({"kubernetes": {**config["kubernetes"], "group": PEOPLE}})
        path = installed.project.config.path
        without = path.read_text().partition("kubernetes:")[0]
        path.write_text(without + text)
        (found,) = [each for each in check(load_config(path)) if each.code == "names"]
        assert found.severity == "error"
