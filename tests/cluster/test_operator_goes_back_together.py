"""Installations that need each other's release and have no way back alone: they are asked for it, and go back at once."""

import contextlib

from carried import Members
from clusters import until
from members_releases import crd_versions, publish, removing, shapes
from operators import (
    change,
    condition,
    config,
    create,
    data,
    has,
    installed,
    said,
    shown,
    spec_of,
    there,
    wanted,
)

AT_ONCE = {"minor": "immediate", "major": "immediate"}


def annotate(cluster, space, name, **annotations):
    named = {f"trundle.dev/{key.replace('_', '-')}": each for key, each in annotations.items()}
    change(cluster, space, name, {"metadata": {"annotations": named}})


def versions(cluster, space):
    return [installed(shown(cluster, space, each)) for each in ("core", "crm")]


def test_installations_that_need_each_other_go_back_together(cluster, operator, publisher, space):
    core, crm = "acme/pair-core", "acme/pair-crm"
    publisher.release(core, "1.0.0", [config("core", "1")])
    publisher.release(crm, "1.0.0", [config("crm", "1")], dependsOn={core: "1"})
    for name, package in (("core", core), ("crm", crm)):
        spec = spec_of(publisher, package, policy=AT_ONCE)
        create(cluster, wanted(name, space, spec))
    until(lambda: versions(cluster, space) == [("1.0.0", True)] * 2)
    publisher.release(core, "2.0.0", [config("core", "2")], dependsOn={crm: "2"})
    publisher.release(crm, "2.0.0", [config("crm", "2")], dependsOn={core: "2"})
    until(lambda: versions(cluster, space) == [("2.0.0", True)] * 2)

    annotate(cluster, space, "crm", roll_back="2.0.0")
    until(lambda: has(cluster, space, "crm", "Blocked", "True", "DependencyConflict"))
    assert "on all installations that have to go back" in said(cluster, space, "crm", "Blocked")
    assert versions(cluster, space)[0] == ("2.0.0", True)
    annotate(cluster, space, "core", roll_back="2.0.0")
    until(lambda: versions(cluster, space) == [("1.0.0", True)] * 2)
    assert [data(cluster, space, each) for each in ("core", "crm")] == ["1", "1"]
    # Without one of the annotations both stay: the other one is held.
    annotate(cluster, space, "crm", roll_back=None)
    until(lambda: has(cluster, space, "crm", "Blocked", "True", "DependencyConflict"))
    assert versions(cluster, space) == [("1.0.0", True)] * 2
    annotate(cluster, space, "core", roll_back=None)
    until(lambda: versions(cluster, space) == [("2.0.0", True)] * 2)
    # Nor is one of them uninstalled before the other.
    cluster.kubectl("delete", "installation", "--all", "-n", space, "--timeout=120s")
    assert there(cluster, space, "configmap", "core", "crm") == ""


def test_installations_with_schemas_that_need_each_other_go_back_together(
    cluster, operator, publisher, space
):
    """What is stored is rewritten for both before either goes back, and clients of old and new versions edit meanwhile."""
    packages = {each: f"acme/bound{each}" for each in ("core", "crm")}
    groups = {each: f"{each}.bound.example.com" for each in packages}
    members = {each: Members(cluster, groups[each]) for each in packages}

    def release(name, version, *versions, needs):
        [other] = packages.keys() - {name}
        manifest = {"dependsOn": {packages[other]: needs}} if needs else {}
        given = (publisher, packages[name], version, groups[name], *versions)
        documents = [config(name, version)]
        publish(*given, manifest=manifest, documents=documents, override="a test")

    def are(*expected):
        found = [shown(cluster, space, each) for each in packages]
        migrated = [condition(each, "Migrated") for each in found]
        return [installed(each) for each in found] == [(each, True) for each in expected] and all(
            each == ("True", "Migrated") for each in migrated
        )

    with contextlib.ExitStack() as stack:
        for each in groups.values():
            stack.enter_context(removing(cluster, each))
        release("core", "1.0.0", "v1", "v2", needs="")
        release("crm", "1.0.0", "v1", "v2", needs="1")
        for name, package in packages.items():
            create(cluster, wanted(name, space, spec_of(publisher, package, policy=AT_ONCE)))
        until(lambda: are("1.0.0", "1.0.0"))
        for each in members.values():
            each.create("v1", "ada", team="red", age=36)
        release("core", "2.0.0", "v1", "v2", "v3", needs="2")
        release("crm", "2.0.0", "v1", "v2", "v3", needs="2")
        until(lambda: are("2.0.0", "2.0.0"), 420)
        for each in members.values():
            each.create("v3", "ben", crew="blue", note="of v3")
            each.merge("v3", "ada", {"crew": "green"}).ok()
        assert [shapes(cluster, each) for each in groups.values()] == [{"v3"}] * 2

        annotate(cluster, space, "crm", roll_back="2.0.0")
        until(lambda: has(cluster, space, "crm", "Blocked", "True", "DependencyConflict"))
        assert shown(cluster, space, "crm")["status"]["installed"]["version"] == "2.0.0"
        for each in groups.values():  # Nothing is made ready for what cannot be.
            assert shapes(cluster, each) == {"v3"}
            assert all(crd_versions(cluster, each)[version] for version in ("v1", "v2", "v3"))
        annotate(cluster, space, "core", roll_back="2.0.0")
        until(lambda: are("1.0.0", "1.0.0"), 420)
        for name, group in groups.items():
            assert shapes(cluster, group) == {"v2"}
            assert crd_versions(cluster, group) == {"v1": True, "v2": True, "storage": False}
            ada, ben = (members[name].at("v2", each) for each in ("ada", "ben"))
            assert [ada["group"], ben["group"], ben["note"]] == ["green", "blue", "of v3"]
            assert members[name].at("v1", "ada")["age"] == 36
            members[name].merge("v2", "ben", {"level": "high"}).ok()
            assert data(cluster, space, name) == "1.0.0"
        for name in packages:
            annotate(cluster, space, name, roll_back=None)
        until(lambda: are("2.0.0", "2.0.0"), 420)
        for each in members.values():
            assert each.at("v3", "ben")["crew"] == "blue"
            assert each.at("v2", "ben")["level"] == "high"
