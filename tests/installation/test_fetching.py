"""How often what a package consists of is fetched from a registry that counts."""

import collections

import pytest
from simulating import Simulator, status
from sites import Site

from trundle.channels import RefusalCode, Request
from trundle.errors import Finding, Place
from trundle.installation import ArrivingError, ContentStore, Install, install, upgrade
from trundle.registry import HttpSettings, open_repository
from trundle.version import SemVer

CRM = "acme/crm"


@pytest.fixture
def simulator():
    with Simulator() as simulator:
        yield simulator


@pytest.fixture(params=[False, True], ids=["unsigned", "signed"])
def site(request, tmp_path, simulator):
    place = f"{simulator.address}/site"
    site = Site(tmp_path, lambda _: place, signed=request.param)
    site.publish("1.0.0")
    return site


def fetched(site, simulator, version):
    """How often the manifest and each blob of a version were fetched since the requests were cleared."""
    requests = collections.Counter(simulator.requests)
    stored = open_repository(site.reference()).get_manifest(version)
    names = [f"GET /v2/site/manifests/{each}" for each in (version, stored.descriptor.digest)]
    blobs = [f"GET /v2/site/blobs/{each.digest}" for each in stored.document.blobs()]
    return sum(requests[each] for each in names), [requests[each] for each in blobs]


@pytest.mark.parametrize("pin", ["", ":1.0.0"], ids=["channel", "pinned"])
@pytest.mark.parametrize("again", [False, True], ids=["install", "with-upgrade"])
def test_install_fetches_each_part_once(site, simulator, pin, again):
    simulator.requests.clear()
    site.install(pin=pin, upgrade=again)
    assert fetched(site, simulator, "1.0.0") == (1, [1, 1])


@pytest.mark.full
def test_upgrade_fetches_each_part_once(site, simulator):
    site.install()
    site.publish("1.0.1")
    site.publish("1.0.2")
    simulator.requests.clear()
    with site.installation() as installation:
        upgrade(installation, None, Request(to=SemVer.parse("1.0.2")))
    assert site.text() == "acme/crm 1.0.2"
    assert fetched(site, simulator, "1.0.2") == (1, [1, 1])
    assert fetched(site, simulator, "1.0.1") == (0, [0, 0])


def test_a_dry_run_fetches_no_files(site, simulator):
    simulator.requests.clear()
    site.install(dry_run=True)
    site.install(pin=":1.0.0", dry_run=True)
    assert fetched(site, simulator, "1.0.0") == (1, [1, 0])


def test_an_archive_that_was_fetched_is_not_fetched_again_after_a_failure(site, simulator):
    digest = open_repository(site.reference()).resolve("1.0.0").digest
    with site.installation() as installation:
        source = open_repository(site.reference())
        artifact = installation.content.look(source, digest, CRM)
        installation.content.fetch(source, artifact, CRM)
    simulator.requests.clear()
    site.install()
    assert fetched(site, simulator, "1.0.0") == (0, [0, 0])


@pytest.mark.full
def test_channels_are_read_with_the_settings_of_the_installation(site, simulator):
    site.install()
    simulator.requests.clear()
    simulator.faults.append(status(503))
    settings = HttpSettings(retries=2, first_pause=0.001)
    with site.installation(settings=settings) as installation:
        found = installation.status(installation.package(CRM))
    assert found.condition("ChannelUsable").reason == "Unreachable"
    assert len(simulator.requests) == 3


class Arriving(ContentStore):
    """Content of which some is not here yet."""

    late = ()

    def fetch(self, source, artifact, where, progress=None):
        if where in self.late:
            place = Place(object=where)
            raise ArrivingError(Finding(RefusalCode.UNREACHABLE, place, "its content", "less"))
        super().fetch(source, artifact, where, progress)


def test_what_needs_content_that_arrives_waits_for_it(tmp_path):
    """Else it would go to the version in between, and on from there."""
    site, core = Site(tmp_path), "acme/core"
    content = Arriving(tmp_path / "content")
    site.publish("1.0.0", core)
    site.publish("1.0.0", "acme/free", dependsOn='{acme/core: "1"}')
    site.publish("1.0.0", dependsOn='{acme/core: "1"}')
    with site.installation(content=content) as installation:
        for each in (core, CRM, "acme/free"):
            install(installation, Install(reference=site.reference(each), unsigned=True))
        site.publish("1.0.1", core)
        site.publish("1.0.1", "acme/free", dependsOn='{acme/core: "1"}')
        site.publish("1.0.1", dependsOn='{acme/core: "1"}')
        site.publish("1.0.2", dependsOn='{acme/core: ">=1.0.1"}')
        content.late = (f"{core} 1.0.1",)
        found = upgrade(installation)
        assert {name: len(each) for name, each in found.refusals.items()} == {core: 1, CRM: 1}
        assert [(each.package, each.after) for each in found.events] == [("acme/free", "1.0.1")]
        assert found.notes == ()
        content.late = ()
        found = upgrade(installation)
        assert {(each.package, each.after) for each in found.events} == {
            (core, "1.0.1"),
            (CRM, "1.0.2"),
        }
