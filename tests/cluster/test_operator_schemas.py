"""`trundle kube operator` with packages that carry schemas: CRDs, conversions, and objects that roll forward."""

import contextlib
import shutil

import pytest
from carried import Members
from members_releases import crd_versions, install, publish, reaches, removing, shapes
from operators import create, there, thing
from two_worlds import Serving, during, edit, without_traces

MERGE = "application/merge-patch+json"


def seen(world, group, version):
    """All members as a version shows them, without what differs in each cluster."""
    listed = world.request("GET", f"/apis/{group}/{version}/members").ok()["items"]
    return {each["metadata"]["name"]: without_traces(each, group) for each in listed}


class Story:
    """What clients do at each release, the same in a cluster and in `trundle serve`."""

    def __init__(self, group):
        self.group = group

    def path(self, version, name=""):
        return Members(None, self.group).path(version, name)

    def create(self, world, version, name, **properties):
        body = Members(None, self.group).member(version, name, **properties)
        world.request("POST", self.path(version), body).ok()

    def begin(self, world):
        for number in range(8):
            self.create(world, "v1", f"m{number}", team=f"team {number}", age=number)
        self.create(world, "v1", "young", age=3)

    def in_v1(self, world, number, turn):
        """An edit of a client that knows the first version only."""

        def change(found):
            found["age"] = found.get("age", 0) + 1
            found["team"] = f"T{number}.{turn}"

        edit(world, self.path("v1", f"m{number}"), change)

    def in_v2(self, world, number, turn):
        """Edits of a client that knows the second version."""
        path = self.path("v2", f"m{number}")
        edit(world, path, lambda found: found.update(note=f"{turn} times"))
        patch = {"metadata": {"labels": {"seen": str(turn)}}, "level": f"L{turn}"}
        world.request("PATCH", path, patch, kind=MERGE).ok()

    def in_v3(self, world, number, turn):
        """An edit of a client that knows the third version."""
        edit(world, self.path("v3", f"m{number}"), lambda found: found.update(crew=f"C{turn}"))

    def later(self, world):
        self.create(world, "v2", "new", group="blue", note="of v2")
        phase = {"status": {"phase": "busy"}}
        world.request("PATCH", self.path("v2", "new") + "/status", phase, kind=MERGE).ok()


@pytest.mark.long  # `test_operator_crm.py` tells a longer story, with fewer writes.
def test_what_the_operator_rolls_is_what_trundle_serve_rolls(
    cluster, operator, publisher, space, tmp_path
):
    group, package = "story.clubs.example.com", "acme/story"
    story, serving = Story(group), Serving(tmp_path)

    def release(version, *versions, edits=None, numbers=(), **config):
        """The same release in both, with edits beside the upgrade of one, and before that of the other."""
        folder = publish(publisher, package, version, group, *versions, **config)
        if edits is None:
            install(cluster, publisher, space, package)
            reaches(cluster, space, version)
        else:
            turns = during(edits, cluster, numbers, lambda: reaches(cluster, space, version))
            for number, times in zip(numbers, turns, strict=True):
                for turn in range(times):
                    edits(serving, number, turn)
        serving.release(shutil.copytree(folder, tmp_path / version))

    def compare(*versions):
        for each in versions:
            assert seen(cluster, group, each) == seen(serving, group, each)

    with contextlib.closing(serving), removing(cluster, group):
        release("1.0.0", "v1")
        for world in (cluster, serving):
            story.begin(world)
        release("1.1.0", "v1", "v2", edits=story.in_v1, numbers=range(4))
        compare("v1", "v2")
        assert shapes(cluster, group) == {"v2"}
        for world in (cluster, serving):
            story.later(world)
            story.in_v2(world, 5, 0)
            story.in_v1(world, 5, 0)
        compare("v1", "v2")
        served = {"v1": True, "v2": True, "storage": False}
        assert crd_versions(cluster, group) == served

        horizon = {"horizon": {"ga": 2}}
        edits = {"edits": story.in_v2, "numbers": range(2, 6)}
        release("1.2.0", "v1", "v2", "v3", **edits, **horizon, override="v1 is old")
        compare("v2", "v3")
        assert shapes(cluster, group) == {"v3"}
        served = {"v1": False, "v2": True, "v3": True, "storage": False}
        assert crd_versions(cluster, group) == served
        for world in (cluster, serving):
            story.in_v3(world, 6, 0)

        edits = {"edits": story.in_v3, "numbers": range(3)}
        release("2.0.0", "v2", "v3", **edits, override="v1 is gone")
        compare("v2", "v3")
        assert crd_versions(cluster, group) == {"v2": True, "v3": True, "storage": False}
        traces = cluster.request("GET", story.path("v3", "m1")).ok()["metadata"]["managedFields"]
        assert {each["apiVersion"] for each in traces} <= {f"{group}/v2", f"{group}/v3"}


def test_what_is_uninstalled_while_the_cluster_rewrites_it_leaves_no_migration(
    cluster, operator, publisher, space
):
    """As one that was killed meanwhile leaves it."""
    group, package = "ended.clubs.example.com", "acme/ended"
    publish(publisher, package, "1.0.0", group, "v1")
    install(cluster, publisher, space, package, crds="Delete")
    reaches(cluster, space, "1.0.0")
    name, resource = f"trundle-members.{group}", {"group": group, "resource": "members"}
    kind = thing("StorageVersionMigration", name, "storagemigration.k8s.io/v1beta1")
    create(cluster, {**kind, "spec": {"resource": resource}})
    cluster.kubectl("delete", "installation", "it", "-n", space, "--timeout=180s")
    assert there(cluster, space, "storageversionmigrations", name) == ""
