"""Installations that need each other's release and have no way back alone: they are asked for it, and go back at once."""

from clusters import until
from operators import (
    change,
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
