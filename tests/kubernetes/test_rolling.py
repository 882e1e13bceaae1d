"""What the operator makes of releases with schemas where they do not come one after the other; tests/cluster has the usual way."""

import zlib
from types import SimpleNamespace

import pytest
from config_maps import ConfigMaps

from trundle.api import ServedKind
from trundle.kubernetes.operator import _rolling
from trundle.kubernetes.operator._migrating import Progress
from trundle.kubernetes.operator._objects import Objects
from trundle.kubernetes.operator._ordering import DEFINITION, Part
from trundle.kubernetes.operator._rolling import Rolling
from trundle.kubernetes.operator._schemas import Schemas, SchemasError, digest_of
from trundle.kubernetes.operator._serving import DamagedRecordError, name_of

GROUP = "shop.test"
PEOPLE, CLUBS = f"people.{GROUP}", f"clubs.{GROUP}"
OWN = "installations.trundle.dev"


class Loader:
    """Loads the releases of a world; others cannot be used."""

    def __init__(self):
        self.releases = {}

    def load(self, content):
        if content not in self.releases:
            raise SchemasError("the schemas", "others", "hooks", "install another release")
        return self.releases[content]


class World:
    """A cluster with CRDs, and webhooks that convert at once by what they are to."""

    client = None

    def __init__(self):
        client = {"url": "https://operator.test/convert"}
        self.crds = {OWN: {"metadata": {"name": OWN}, "spec": {"conversion": {"webhook": {"clientConfig": client}}}}}  # fmt: skip
        self.full = {PEOPLE, CLUBS}
        self.records = ConfigMaps()
        self.loader = Loader()
        self.behind = []
        replicas = SimpleNamespace(behind=lambda owner, stamp: self.behind)
        self.migrated = True
        migrations = SimpleNamespace(
            forget=lambda owner: None,
            progress=lambda owner, aim, schemas: Progress(1, 1, done=self.migrated),
        )
        self.rolling = Rolling(
            self, self.records, replicas, self.loader, migrations, sleep=lambda _: None
        )

    def definition(self, name):
        return self.crds.get(name)

    def definitions(self):
        return list(self.crds.values())

    def release(self, name, **types):
        """A release; of each resource type its storage version, those it reads, and the versions it serves and knows."""
        content = zlib.compress(name.encode())
        kinds, resources = {True: [], False: []}, {}
        for plural, (hub, storage, served, known) in types.items():
            resources[plural] = SimpleNamespace(
                group=GROUP, name=plural, hub=hub, storage=storage.split()
            )
            for is_served, labels in ((True, served), (False, known)):
                versions = dict.fromkeys(labels.split())
                kinds[is_served].append(
                    ServedKind(
                        plural,
                        GROUP,
                        plural,
                        plural,
                        plural,
                        plural,
                        (),
                        (),
                        True,
                        (),
                        versions,
                        None,
                        hub,
                    )
                )
        self.loader.releases[content] = Schemas(
            digest_of(content), (*kinds[True],), (*kinds[False],), SimpleNamespace(resources=resources)
        )  # fmt: skip
        return content

    def look(self, owner, content, given=(), back=None):
        """What a look at an installation brings; it is not applied."""
        parts = [Part("apiextensions.k8s.io/v1", DEFINITION, "", each) for each in given]
        return self.rolling.brought(owner, SimpleNamespace(name="p"), content, parts, back)

    def install(self, owner, content, *, migrated=True, back=None):
        """Brings a release, applies its CRDs, and rewrites the objects."""
        stage = self.look(owner, content, back=back)
        assert (stage.findings, stage.waiting) == ((), "")
        for each in stage.parts:
            self.crds[each.name] = each.document
        self.migrated = migrated
        self.rolling.migrated(owner, applied=True)
        return stage

    def served(self, owner):
        return self.records.get(owner).served

    def labels(self, crd):
        """The versions of a CRD, those out of service in brackets."""
        versions = self.crds[crd]["spec"]["versions"]
        return " ".join(e["name"] if e["served"] else f"({e['name']})" for e in versions)


def made(kinds, webhook, _):
    """CRDs without schemas."""
    return [
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": DEFINITION,
            "metadata": {"name": each.qualified},
            "spec": {
                "conversion": {"webhook": {"clientConfig": {"url": webhook.url}}},
                "versions": [{"name": label, "served": True} for label in each.versions],
            },
        }
        for each in kinds
    ]


@pytest.fixture
def world(monkeypatch):
    found = World()
    monkeypatch.setattr(_rolling, "definitions", made)
    monkeypatch.setattr(_rolling, "packed", lambda folder: folder)
    monkeypatch.setattr(Objects, "has_objects", lambda _, part: part.name in found.full)
    return found


def one(hub, reads, serves="v1", knows=""):
    return hub, reads, serves, knows or serves


def test_schemas_that_cannot_be_used_are_refused_where_other_crds_are_given(world):
    world.install("shop/a", world.release("1", people=one("h1", "h1")))
    with pytest.raises(SchemasError, match="hooks"):
        world.look("shop/a", zlib.compress(b"bad"), [f"other.{GROUP}"])
    # CRDs of a release that converts its objects itself take the place of those that there are.
    assert world.look("shop/a", zlib.compress(b"bad"), [PEOPLE]).parts == []
    assert world.look("shop/b", zlib.compress(b"bad"), [f"other.{GROUP}"]).parts == []
    with pytest.raises(SchemasError, match="hooks"):
        world.look("shop/b", zlib.compress(b"bad"))


def test_a_release_gives_all_crds_of_its_schemas_or_none(world):
    both = world.release("1", people=one("h1", "h1"), clubs=one("h1", "h1"))
    (finding,) = world.look("shop/a", both, [PEOPLE]).findings
    assert str(finding.code) == "unusable-schemas"
    assert CLUBS in str(finding)
    assert world.records.get("shop/a") is None
    assert world.look("shop/a", both, [PEOPLE, CLUBS]).parts == []
    stage = world.look("shop/a", both, [f"other.{GROUP}"])
    assert {each.name for each in stage.parts} == {CLUBS, PEOPLE}


def test_crds_that_are_not_given_are_left_only_without_objects(world):
    world.install("shop/a", world.release("1", people=one("h1", "h1"), clubs=one("h1", "h1")))
    less = world.release("2", people=one("h1", "h1"))
    (finding,) = world.look("shop/a", less, [PEOPLE]).findings
    assert CLUBS in str(finding)
    world.full.remove(CLUBS)
    assert world.look("shop/a", less, [PEOPLE]).findings == ()


def test_schemas_without_resource_types_do_not_give_all_of_their_crds(world):
    world.install("shop/a", world.release("1", people=one("h1", "h1")))
    (finding,) = world.look("shop/a", world.release("2"), [f"other.{GROUP}"]).findings
    assert PEOPLE in str(finding)


@pytest.fixture
def people(world):
    """Three releases of a resource type: a shape, another one that reads the one before, and one that reads only that."""
    shapes = ("h1", "h1"), ("h2", "h1 h2"), ("h2", "h2")
    return [world.release(str(i), people=one(*each)) for i, each in enumerate(shapes)]


def test_what_is_stored_by_another_installation_is_looked_at_until_a_crd_is_taken_over(
    world, people
):
    first, second, _ = people
    world.install("shop/a", first)
    world.look("yard/b", first)  # The applier refuses it, as `shop/a` has the CRD.
    world.install("shop/a", second, migrated=False)
    (finding,) = world.look("yard/b", first).findings
    assert "h2" in str(finding)
    world.rolling.tidy(["yard/b"])  # Its CRD stays, and so what it is converted by.
    assert world.served("shop/a").shapes == {f"{GROUP}/people": ["h1", "h2"]}
    assert world.look("yard/b", first).findings != ()
    world.install("yard/b", second, migrated=False)
    assert world.served("yard/b").shapes == {f"{GROUP}/people": ["h1", "h2"]}
    world.rolling.tidy(["yard/b"])
    assert world.records.get("shop/a") is None
    world.install("yard/b", second)
    assert world.look("yard/b", people[2]).findings == ()


def test_a_crd_is_taken_over_where_webhooks_are_slow(world, people):
    first, second, _ = people
    world.install("shop/a", first)
    world.behind = ["one: not loaded yet"]
    assert world.look("yard/b", second).waiting
    name = f"{GROUP}/people"
    assert world.served("yard/b").storing == {name: "h1"}
    world.behind = []
    once = iter([[], *[["one: not loaded yet"]] * 99])
    world.rolling._replicas.behind = lambda owner, stamp: next(once)
    assert world.look("yard/b", second).waiting
    assert (world.served("yard/b").storing, world.served("yard/b").stored) == ({}, {name: "h2"})
    world.rolling._replicas.behind = lambda owner, stamp: []
    version = world.records.get("yard/b").version
    assert world.look("yard/b", second).parts
    assert world.records.get("yard/b").version == version


def test_crds_of_several_installations_are_taken_over_together(world):
    world.install("shop/a", world.release("1", people=one("h1", "h1")))
    world.install("shop/c", world.release("2", clubs=one("h5", "h5")))
    both = world.release("3", people=one("h1", "h1"), clubs=one("h6", "h6"))
    (finding,) = world.look("yard/b", both).findings
    assert "h5" in str(finding)
    assert world.records.get("yard/b") is None
    world.look("yard/b", world.release("4", people=one("h2", "h1 h2"), clubs=one("h6", "h5 h6")))
    found = {f"{GROUP}/people": ["h1", "h2"], f"{GROUP}/clubs": ["h5", "h6"]}
    assert world.served("yard/b").shapes == found


def test_a_crd_that_was_lost_meanwhile_is_taken_over_anew(world, people):
    _, second, _ = people
    both = world.release("both", people=one("h1", "h1"), clubs=one("h1", "h1"))
    world.install("shop/a", both)
    # While `shop/a` was away, another had one of its CRDs.
    world.install("yard/b", second, migrated=False)
    assert world.served("shop/a").applied
    (finding,) = world.look("shop/a", both).findings
    assert "h2" in str(finding)


def test_versions_that_a_release_does_not_know_are_looked_at_where_no_record_is(world):
    world.install("shop/a", world.release("1", people=one("h1", "h1", "v1 v2")))
    world.records.maps.clear()
    (finding,) = world.look("shop/a", world.release("2", people=one("h1", "h1", "v2"))).findings
    assert str(finding.code) == "unreadable-storage"
    assert "v1" in str(finding)


def test_a_version_that_is_served_again_leaves_only_after_it_was_out_of_service_again(world):
    both = world.release("1", people=one("h1", "h1", "v1 v2"))
    later = world.release("2", people=one("h1", "h1", "v2", "v1 v2"))
    last = world.release("3", people=one("h1", "h1", "v2"))
    world.install("shop/a", both)
    world.install("shop/a", later)
    assert world.labels(PEOPLE) == "v2 (v1)"
    world.install("shop/a", both)
    assert world.served("shop/a").going == {}
    (finding,) = world.look("shop/a", last).findings
    assert (str(finding.code), "v1" in str(finding)) == ("unreadable-storage", True)
    world.install("shop/a", later, migrated=False)
    world.install("shop/a", later, migrated=False)
    assert world.labels(PEOPLE) == "v2 (v1)"
    (finding,) = world.look("shop/a", last).findings
    assert str(finding.code) == "waits-for-migration"
    world.install("shop/a", later)
    world.install("shop/a", last)
    assert world.labels(PEOPLE) == "v2"


def test_a_version_that_a_cluster_serves_does_not_leave_whatever_a_record_says(world):
    both = world.release("1", people=one("h1", "h1", "v1 v2"))
    world.install("shop/a", both)
    world.install("shop/a", world.release("2", people=one("h1", "h1", "v2", "v1 v2")))
    for each in world.crds[PEOPLE]["spec"]["versions"]:
        each["served"] = True
    last = world.release("3", people=one("h1", "h1", "v2"))
    (finding,) = world.look("shop/a", last).findings
    assert str(finding.code) == "unreadable-storage"
    knows = world.release("4", people=one("h1", "h1", "v2", "v1 v2"))
    for _ in range(2):
        world.install("shop/a", knows, migrated=False)
        assert world.labels(PEOPLE) == "v2 (v1)"


def test_a_version_leaves_before_a_release_that_does_not_know_it_comes_back_also_where_its_shape_is_not_stored(
    world,
):
    first = world.release("1", people=one("h1", "h1", "v1 v2"))
    second = world.release("2", people=one("h1", "h1 h2", "v1 v2 v3"))
    world.install("shop/a", first)
    assert world.rolling.unknown("shop/a", second) == []
    world.install("shop/a", second)
    [found] = world.rolling.unknown("shop/a", first)
    assert "v3" in found.expected
    [finding] = world.look("shop/a", first).findings
    assert str(finding.code) == "unreadable-storage"

    world.install("shop/a", second, back=first, migrated=False)
    assert world.labels(PEOPLE) == "v1 v2 (v3)"
    assert [str(each.code) for each in world.rolling.unknown("shop/a", first)] == [
        "waits-for-migration"
    ]
    world.install("shop/a", second, back=first)
    assert world.rolling.unknown("shop/a", first) == []
    world.install("shop/a", first)
    assert world.labels(PEOPLE) == "v1 v2"
    world.install("shop/a", second)
    assert world.labels(PEOPLE) == "v1 v2 v3"
    assert world.rolling.unknown("yard/b", first) == []


def test_objects_are_rewritten_from_the_first_one_where_they_were_stored_elsewhere_meanwhile(
    world, people
):
    first, second, _ = people
    aims = []

    def progress(owner, aim, schemas):
        aims.append(aim)
        return Progress()

    world.install("shop/a", first)
    world.rolling._migrations.progress = progress
    world.install("shop/a", second)
    world.install("shop/a", second)
    assert len(set(aims)) == 1
    world.install("shop/a", second, back=first)
    world.install("shop/a", second)
    assert len(set(aims)) == 3
    # The same schemas by another installation, which stores anew.
    world.install("yard/b", second)
    world.install("shop/a", second)
    assert len(set(aims)) == len(aims) - 1


def test_a_damaged_record_stops_its_installation_alone(world, people):
    first, second, _ = people
    world.install("shop/a", first)
    world.records.maps[name_of("shop/a")]["data"] = {"served": "{"}
    kept = dict(world.records.maps)
    with pytest.raises(DamagedRecordError, match="restore it"):
        world.rolling.check("shop/a")
    with pytest.raises(DamagedRecordError):
        world.look("shop/a", second)
    # Another one that takes its CRD over cannot know what is stored.
    with pytest.raises(DamagedRecordError):
        world.look("yard/b", second)
    world.install("yard/c", world.release("4", clubs=one("h1", "h1")))
    found = world.rolling.unreadable("yard", "p", {f"{GROUP}/clubs": ["h2"]})
    assert [str(each.code) for each in found] == ["unreadable-storage"]
    del world.crds[CLUBS]
    world.rolling.tidy(["shop/a"])
    assert world.records.get("yard/c") is None
    # What it names is not known, so all schemas stay.
    assert kept.items() <= world.records.maps.items()
