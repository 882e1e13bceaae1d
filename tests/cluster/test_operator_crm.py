"""The case study in a cluster: the package of a customer service from nothing through all its releases.

Its hooks are static methods of the package, and the operator installs each release from a channel. Beside it `trundle serve` has the same releases as
projects whose hooks are Python. Clients of old versions edit throughout, and in the end of each release every object is the same in every version.
"""

import contextlib
import json
import re
import subprocess

import pytest
import warm
import yaml
from clusters import until
from crm_packages import CRM, VERSIONS, write_package, write_project
from endless import LIMIT_REACHED
from members_releases import install, reaches, removing
from two_worlds import Serving, during, edit, without_traces

GROUP = "crm.example.com"
PACKAGE = "example/crm"
PREVIEW = "2014-04-04-preview"
FIRST_KEPT = "2016-06-06"


@pytest.fixture
def space(cluster, publisher):
    """A namespace with the publisher's root."""
    cluster.kubectl("create", "namespace", "crm")
    root = f"--from-file={publisher.root}"
    cluster.kubectl("create", "secret", "generic", "root", "-n", "crm", root)
    return "crm"


def spelt(version):
    """What Kubernetes calls a version."""
    return "v" + version.replace("-preview", "beta1").replace("-", "")


def served(known):
    """The versions that clients may use at a release: four GA versions, and the preview as long as the GA version that took it over."""
    stable = [each for each in known if each != PREVIEW][-4:]
    return [each for each in known if each in stable or (each == PREVIEW and taken(known, stable))]


def taken(known, stable):
    return "2014-04-04" in stable or "2014-04-04" not in known


def path(version, name=""):
    return f"/apis/{GROUP}/{spelt(version)}/namespaces/default/people" + (name and f"/{name}")


def document(version, name):
    """The sample document of a version, as a client of Kubernetes writes it."""
    for file in sorted((CRM / "documents").glob("*.yaml")):
        found = yaml.load(file.read_text(), yaml.BaseLoader)
        if found["apiVersion"] == version:
            address = found.get("mailingAddress", {})
            address.update(
                {key: float(address[key]) for key in ("latitude", "longitude") if key in address}
            )
            head = {"apiVersion": f"{GROUP}/{spelt(version)}", "metadata": {"name": name}}
            return {**found, **head}
    raise AssertionError(version)


def client(version):
    """What a client of a version does again and again."""

    def change(found, turn):
        names = {"lastName", "familyName"} & found.keys()
        for each in names:
            found[each] = f"Drake {turn}"
        address = found.get("mailingAddress", {})
        if "street" in address:
            address["street"] = f"{turn} Quack Street"
        elif "fullAddress" in address and turn % 2:
            address["fullAddress"] = f"{turn} Webfoot Walk, {address['city']}, Calisota"
        if "knownAs" in found and turn == 1:
            found["knownAs"] = "Dee"

    return lambda world, name, turn: edit(world, path(version, name), lambda it: change(it, turn))


def seen(world, version):
    """All people as a version shows them, without what differs in each world."""
    listed = world.request("GET", f"/apis/{GROUP}/{spelt(version)}/people").ok()["items"]
    return {each["metadata"]["name"]: without_traces(each, GROUP) for each in listed}


def shapes(cluster):
    found = cluster.stored(GROUP, "people").values()
    return {json.loads(each["stored"])["apiVersion"] for each in found}


class Releases:
    """The releases in both worlds."""

    def __init__(self, cluster, publisher, space, folder):
        self.cluster = cluster
        self.serving = Serving(folder / "store")
        self._publisher = publisher
        self._space = space
        self._folder = folder
        self._count = 0
        (folder / "store").mkdir()

    @property
    def worlds(self):
        return self.cluster, self.serving

    def release(self, *known, editing=()):
        """The same release in both, while clients edit: each has a version and a name."""
        self._count += 1
        version = f"{self._count}.0.0"
        package = write_package(self._folder / "package", version, *known)
        python = write_project(self._folder / f"python-{version}", *known)
        for folder in (package, python):
            self._trundle(folder, "generate")
        self._trundle(package, "lock", "--accept")
        (python / "trundle.lock").write_bytes((package / "trundle.lock").read_bytes())
        self._trundle(python, "lock", "--accept")
        self._publisher._publish(package, PACKAGE, "stable", "--override", "versions go")
        if self._count == 1:
            install(self.cluster, self._publisher, self._space, PACKAGE)

        def edits(world, of, turn):
            used, name = of
            client(used)(world, name, turn)

        def ends():
            reaches(self.cluster, self._space, version)

        if not editing:
            ends()
        else:
            turns = during(edits, self.cluster, editing, ends)
            for each, times in zip(editing, turns, strict=True):
                for turn in range(times):
                    edits(self.serving, each, turn)
        self.serving.release(python)

    def compare(self, *versions):
        for each in versions:
            assert seen(self.cluster, each) == seen(self.serving, each), each

    @staticmethod
    def _trundle(folder, *command):
        subprocess.run([*warm.script(), *command], cwd=folder, check=True, capture_output=True)


def test_the_case_study_goes_through_its_releases_in_a_cluster(
    cluster, operator, publisher, space, tmp_path
):
    releases = Releases(cluster, publisher, space, tmp_path)
    with contextlib.closing(releases.serving), removing(cluster, GROUP, "people"):
        people = []
        for number, newest in enumerate(VERSIONS):
            known = VERSIONS[: number + 1]
            both = [each for each in served(known) if each in served(VERSIONS[:number])]
            releases.release(*known, editing=list(zip(both, people[-len(both) :], strict=False)))
            releases.compare(*served(known))
            for world in releases.worlds:
                name = f"p{number}"
                world.request("POST", path(newest), document(newest, name)).ok()
            people.append(name)
            for world in releases.worlds:
                client(served(known)[0])(world, people[0], 100 + number)
            releases.compare(*served(known))
            hub = known[-2] if newest == PREVIEW else newest
            assert shapes(cluster) == {hub}
        kept = VERSIONS[VERSIONS.index(FIRST_KEPT) :]
        releases.release(*kept, editing=[(kept[0], people[1]), (kept[-1], people[-1])])
        releases.compare(*kept)
        text = cluster.kubectl("get", "crd", f"people.{GROUP}", "-o", "json").stdout
        present = {each["name"] for each in json.loads(text)["spec"]["versions"]}
        assert present == {"storage", *map(spelt, kept)}
        assert cluster.request("GET", path(kept[-1], "p0")).ok()["legalName"]


CREWS = """
Name: acme.Crews
Methods:
  assign_to:
    Usage: Static
    Scope: Public
    Arguments:
      - team: {Contract: $.string()}
    Body:
      - While: $team = loop
        Do:
          - $x: 1
      - Return: {crew: $team.toUpper()}
  assign_from:
    Usage: Static
    Scope: Public
    Arguments:
      - crew: {Contract: $.string()}
    Body:
      Return: {team: $crew.toLower()}
"""
CREWS_GROUP = "crews.example.com"


def member(version, name=""):
    return f"/apis/{CREWS_GROUP}/{version}/namespaces/default/members" + (name and f"/{name}")


def release_of_crews(publisher, version, text):
    """Publishes a release in which a class calls a team a crew."""
    folder = publisher.folder / "acme-crews"
    (folder / "Classes").mkdir(parents=True, exist_ok=True)
    (folder / "Classes" / "Crews.yaml").write_text(text)
    schemas = {
        each: {"title": "Member", "type": "object", "properties": {name: {"type": "string"}}}
        for each, name in (("v1", "team"), ("v2", "crew"))
    }
    place = {"type": "Member", "between": ["v1", "v2"], "use": "acme.Crews"}
    hook = {**place, "writes": {"assign_to": ["crew"], "assign_from": ["team"]}}
    known = dict(list(schemas.items())[: 1 if version == "1.0.0" else 2])
    hooks = {"hooks": [hook]} if len(known) > 1 else {}
    classes = {"acme.Crews": "Crews.yaml"}
    kubernetes = {"group": CREWS_GROUP}
    publisher.project(
        "acme/crews", version, known, kubernetes=kubernetes, manifest={"classes": classes}, **hooks
    )


def test_a_method_that_does_not_end_is_a_note_at_its_object_alone(cluster, operator, publisher):
    cluster.kubectl("create", "namespace", "crews")
    root = f"--from-file={publisher.root}"
    cluster.kubectl("create", "secret", "generic", "root", "-n", "crews", root)
    release_of_crews(publisher, "1.0.0", CREWS)
    install(cluster, publisher, "crews", "acme/crews")
    reaches(cluster, "crews", "1.0.0")
    with removing(cluster, CREWS_GROUP):
        for name, team in (("ada", "red"), ("loop", "loop"), ("zoe", "blue")):
            body = {"apiVersion": f"{CREWS_GROUP}/v1", "kind": "Member", "metadata": {"name": name}}
            cluster.request("POST", member("v1"), {**body, "team": team}).ok()
        release_of_crews(publisher, "2.0.0", CREWS)
        until(lambda: cluster.request("GET", member("v2", "ada")).status == 200)
        assert cluster.request("GET", member("v2", "ada")).ok()["crew"] == "RED"
        for _ in range(3):
            shown = cluster.request("GET", member("v2", "loop")).ok()
            why = shown["metadata"]["annotations"][f"{CREWS_GROUP}/not-shown"]
            assert "acme.Crews.assign_to" in why
            assert re.search(LIMIT_REACHED, why)
            assert "crew" not in shown
            assert cluster.request("GET", member("v2", "zoe")).ok()["crew"] == "BLUE"
        edit(cluster, member("v2", "ada"), lambda found: found.update(crew="GREEN"))
        assert cluster.request("GET", member("v1", "ada")).ok()["team"] == "green"
