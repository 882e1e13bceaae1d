"""Names of which an API server accepts one in a group; `tests/cluster/test_names_like_kubernetes.py` holds the rule to one."""

import pytest
from projects import installer

from trundle.api import served_kinds
from trundle.api._carried import _Joined, _take
from trundle.project import CarriedProject, FindingsError, check

GROUP = "names.test"


def crd(kind, *, group=GROUP, **names):
    schema = {"type": "object", "properties": {"spec": {"type": "object"}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": kind, "plural": f"{kind.lower()}s", "singular": kind.lower(), **names}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{names['plural']}.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [version]},
    }


CLASHES = {
    "plural": ({"plural": "same"}, {"plural": "same"}, "same"),
    "singular": ({"singular": "same"}, {"singular": "same"}, "same"),
    "short name": ({"shortNames": ["same"]}, {"shortNames": ["x", "same"]}, "same"),
    "plural and singular": ({"plural": "same"}, {"singular": "same"}, "same"),
    "plural and short name": ({}, {"shortNames": ["oxs"]}, "oxs"),
}


@pytest.fixture
def install(tmp_path):
    with installer(tmp_path) as install:
        yield install


@pytest.mark.parametrize("names", CLASHES)
def test_a_name_that_two_of_a_group_have_is_refused_and_found(install, names):
    one, other, name = CLASHES[names]
    installed = install({"a.json": crd("Ox", **one), "b.json": crd("Yak", **other)})
    with pytest.raises(FindingsError) as caught:
        served_kinds([installed.project], installed.scheme)
    (found,) = caught.value.findings
    assert found.severity == "error"
    assert found.expected == f"names for Yak that no other resource type of {GROUP} has"
    assert found.found == f"{name}, which Ox has too"
    assert [each for each in check(installed.project.config) if each.code == "names"] == [found]


def test_kinds_that_the_project_gives_one_name_are_refused(install):
    types = {"Yak": {"kind": "Ox"}}
    files = {"a.json": crd("Ox"), "b.json": crd("Yak")}
    installed = install(files, config={"kubernetes": {"types": types}})
    with pytest.raises(FindingsError, match="found Ox, OxList, which Ox has too"):
        served_kinds([installed.project], installed.scheme)


ALIKE = {
    "one's own names": [crd("Sheep", plural="sheep", singular="sheep", shortNames=["sheep"])],
    "categories": [crd("Ox", categories=["all"]), crd("Yak", categories=["all"])],
    "a kind and a plural": [crd("Ox", singular="ox"), crd("Yak", shortNames=["oxlist"])],
}


@pytest.mark.parametrize("what", ALIKE)
def test_other_names_may_be_the_same(install, what):
    installed = install({f"{n}.json": each for n, each in enumerate(ALIKE[what])})
    assert served_kinds([installed.project], installed.scheme)
    assert not [each for each in check(installed.project.config) if each.code == "names"]


def refusals(**packages):
    """Why each package is refused after those before it."""
    joined = _Joined()
    return [
        _take(joined, name, [CarriedProject((x.project,), x.scheme, {}) for x in parts])
        for name, parts in packages.items()
    ]


def test_a_package_whose_own_names_clash_is_refused(install):
    one = install({"a.json": crd("Ox", plural="same"), "b.json": crd("Yak", plural="same")})
    (why,) = refusals(farm=[one])
    assert "found same, which Ox has too" in why
    apart = [install({"a.json": crd(each, plural="same")}) for each in ("Ox", "Yak")]
    (why,) = refusals(farm=apart)
    assert "found same, which Ox has too" in why


@pytest.mark.parametrize("names", CLASHES)
def test_a_package_with_a_name_of_another_one_is_refused(install, names):
    one, other, name = CLASHES[names]
    farm, zoo = install({"a.json": crd("Ox", **one)}), install({"a.json": crd("Yak", **other)})
    first, second = refusals(farm=[farm], zoo=[zoo])
    assert not first
    assert f"found {name}.{GROUP}, which farm brings" in second
