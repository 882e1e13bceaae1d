"""Appliers that change from one version to another, on a real API server with the webhook and on `trundle serve` of the same project."""

import random
import subprocess

import pytest
import trundle_servers
import warm
import webhooks
import yaml
from authorities import Authority
from carried import crds

GROUP = "appliers.example.com"
APPLY = "application/apply-patch+yaml"
SCHEMAS = {
    "v1": {"mail": {"type": "string"}, "also": {"type": "string"}, "age": {"type": "integer"}},
    "v2": {"mails": {"type": "array", "items": {"type": "string"}}, "also": {"type": "string"}},
}


@pytest.fixture(scope="module")
def both(cluster, tmp_path_factory):
    folder = tmp_path_factory.mktemp("appliers") / "project"
    (folder / "schemas").mkdir(parents=True)
    for version, properties in SCHEMAS.items():
        schema = {"title": "Member", "type": "object", "properties": properties}
        (folder / "schemas" / f"{version}.yaml").write_text(yaml.safe_dump(schema))
    config = {"package": "appliers", "sources": ["schemas"], "kubernetes": {"group": GROUP}}
    config["changes"] = {"v1": {"Member": {"wrap": {"mail": "mails"}}}}
    (folder / "trundle.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    command = [*warm.script(always=True), "generate"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    (folder / "tls").mkdir()
    with webhooks.running(folder, Authority(folder / "tls")) as webhook:
        for each in crds(folder, webhook):
            cluster.define(each)
        with trundle_servers.running(folder) as server:
            yield Both(cluster, server)
        cluster.undefine(f"members.{GROUP}")


class Both:
    """Does the same on a cluster and on `trundle serve`."""

    def __init__(self, cluster, server):
        self.cluster, self.server = cluster, server

    def ask(self, method, version, name, body=None, **given):
        path = f"/apis/{GROUP}/{version}/namespaces/default/members/{name}"
        real = self.cluster.request(method, path, body, **given)
        return (real.status, real.body), self.server.request(method, path, body, **given)

    def apply(self, version, name, manager="ann", **properties):
        head = {"apiVersion": f"{GROUP}/{version}", "kind": "Member", "metadata": {"name": name}}
        given = {"kind": APPLY, "fieldManager": manager}
        (real, _), (ours, said) = self.ask("PATCH", version, name, {**head, **properties}, **given)
        assert real == ours, said
        return real

    def seen(self, name):
        """What each version shows on both, and what it shows as owned; an API server shows that at the version of the last apply only."""
        found = [{}, {}]
        for version, known in SCHEMAS.items():
            for at, (status, document) in zip(found, self.ask("GET", version, name), strict=True):
                assert status == 200, document
                at[version] = {key: document[key] for key in known if key in document}
                at[f"owned at {version}"] = sorted(
                    field
                    for each in document["metadata"].get("managedFields", [])
                    for field in each["fieldsV1"]
                )
        return found


@pytest.mark.parametrize("first", ["v1", "v2"])
def test_what_an_applier_removes_at_another_version_it_owns_at_neither(both, first):
    name = f"switching-from-{first}"
    mail = {"v1": {"mail": "a"}, "v2": {"mails": ["a"]}}
    [other] = SCHEMAS.keys() - {first}
    both.apply(first, name, **mail[first], also="x")
    both.apply(other, name, **mail[other], also="x")
    real, ours = both.seen(name)
    assert [real[each] for each in SCHEMAS] == [ours[each] for each in SCHEMAS]
    assert real[f"owned at {other}"] == ours[f"owned at {other}"]
    both.apply(other, name, also="x")
    real, ours = both.seen(name)
    assert real == ours
    assert real["v1"] == real["v2"] == {"also": "x"}
    assert real["owned at v1"] == ["f:also"]


@pytest.mark.parametrize("first", ["v1", "v2"])
def test_what_an_applier_does_not_state_at_its_new_version_goes(both, first):
    name = f"leaving-{first}"
    mail = {"v1": {"mail": "a"}, "v2": {"mails": ["a"]}}
    [other] = SCHEMAS.keys() - {first}
    both.apply(first, name, **mail[first], also="x")
    both.apply(first, name, "ben", **mail[first])
    both.apply(other, name, also="x")
    real, ours = both.seen(name)
    assert [real[each] for each in SCHEMAS] == [ours[each] for each in SCHEMAS]
    assert real[other] == {"also": "x", **mail[other]}  # As another one states it.
    both.apply(first, name, **mail[first], also="x")
    both.apply(first, name, "ben")
    both.apply(other, name, also="x")
    real, ours = both.seen(name)
    assert [real[each] for each in SCHEMAS] == [ours[each] for each in SCHEMAS]
    assert real[other] == {"also": "x"}
    assert real[f"owned at {other}"] == ours[f"owned at {other}"] == ["f:also"]


@pytest.mark.parametrize("first", ["v1", "v2"])
def test_what_an_applier_gave_up_goes_with_its_last_owner_at_another_version(both, first):
    name = f"last-after-{first}"
    mail = {"v1": {"mail": "a"}, "v2": {"mails": ["a"]}}
    [other] = SCHEMAS.keys() - {first}
    both.apply(first, name, **mail[first], also="x")
    both.apply(other, name, "ben", **mail[other])
    both.apply(other, name, also="x")
    both.apply(first, name, "ben")
    real, ours = both.seen(name)
    assert real == ours
    assert real["v1"] == real["v2"] == {"also": "x"}


VALUES = {"mail": ("a", "b"), "mails": (["a"], ["a", "b"]), "also": ("x", "y")}


def written(rnd, version):
    """Some of the properties of a version that the other one shows, too, with values."""
    share = rnd.choice((0, 0.4, 0.8))
    known = (each for each in SCHEMAS[version] if each in VALUES)
    return {each: rnd.choice(VALUES[each]) for each in known if rnd.random() < share}


def random_write(both, rnd, name):
    """A write by one of two managers at one of two versions, and what both servers answer."""
    version, manager = rnd.choice([*SCHEMAS]), rnd.choice(("ann", "ben"))
    properties = written(rnd, version)
    head = {"apiVersion": f"{GROUP}/{version}", "kind": "Member", "metadata": {"name": name}}
    if rnd.random() < 0.6:
        given = {"kind": APPLY, **rnd.choice(({}, {"force": "true"}))}
        body = {**head, **properties}
    else:
        given = {"kind": "application/merge-patch+json"}
        body = {**dict.fromkeys(written(rnd, version)), **properties}
    return (version, manager, body), both.ask(
        "PATCH", version, name, body, fieldManager=manager, **given
    )


@pytest.mark.parametrize("number", range(40))
def test_random_writes_of_two_appliers_show_the_same(both, number):
    rnd, name = random.Random(number), f"random-{number}"
    both.apply("v1", name, **written(rnd, "v1"))
    versions = [None, None]
    for _ in range(8):
        said, answers = random_write(both, rnd, name)
        statuses = [status for status, _ in answers]
        assert statuses[0] == statuses[1], (said, answers)
        if statuses[0] != 200:
            continue
        before = versions
        versions = [each["metadata"]["resourceVersion"] for _, each in answers]
        real, ours = (x != y for x, y in zip(before, versions, strict=True))
        assert real == ours, said
        real, ours = both.seen(name)
        assert [real[each] for each in SCHEMAS] == [ours[each] for each in SCHEMAS], said


def test_what_its_new_version_cannot_show_an_applier_keeps_in_trundle_alone(both):
    """Wanted: an API server prunes it, as it does for a client that only knows the new version, and never had it; Trundle keeps it with its owner."""
    both.apply("v1", "hiding", age=7, also="x")
    both.apply("v2", "hiding", also="x")
    real, ours = both.seen("hiding")
    assert (real["v1"], ours["v1"]) == ({"also": "x"}, {"also": "x", "age": 7})
    assert real["v2"] == ours["v2"] == {"also": "x"}
    assert real["owned at v2"] == ours["owned at v2"] == ["f:also"]
    assert ours["owned at v1"] == ["f:age", "f:also"]
    # Whoever removes it is the same on both.
    both.apply("v1", "hiding", also="x")
    real, ours = both.seen("hiding")
    assert real == ours
