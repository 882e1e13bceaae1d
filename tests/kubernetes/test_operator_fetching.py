"""The content of packages is fetched beside the looks."""

import shutil
import threading

import pytest
import sites
from simulating import Simulator, status, trickle

from trundle.channels import RefusedError
from trundle.installation import Install, Installation, complete, install
from trundle.kubernetes._errors import KubernetesCode
from trundle.kubernetes.operator._fetching import BackgroundContent
from trundle.registry import HttpSettings

HASTY = HttpSettings(retries=0, first_pause=0.01)
LONG = 600
LEAST = 2**20


@pytest.fixture
def simulator():
    with Simulator() as running:
        yield running


@pytest.fixture
def site(simulator, tmp_path):
    found = sites.Site(tmp_path, lambda name: f"http://{simulator.address}/{name}")
    found.publish("1.0.0", content="x" * LEAST)
    return found


class Namespaces:
    """Installations of several namespaces, with the content of all."""

    def __init__(self, site, settings=HASTY):
        self.site, self.ended = site, threading.Event()
        self.content = BackgroundContent(site.folder / ".content", settings, self.ended.set)

    def look(self, patience, *spaces):
        """Why the package is not installed in each namespace; empty where it is."""
        self.content.begin_look(patience)
        return [self._refused(each) for each in spaces]

    def _refused(self, space):
        asked = Install(reference=self.site.reference(), unsigned=True, upgrade=True)
        with self.opened(space) as installation:
            try:
                install(installation, asked)
            except RefusedError as error:
                return "; ".join(each.coded for each in error.refusals)
            return ""

    def opened(self, space):
        folder = self.site.folder / space
        return Installation(folder, clock=self.site.clock, content=self.content)


def layers(simulator):
    """How often each large blob was asked for."""
    large = [digest for digest, content in simulator.blobs.items() if len(content) >= LEAST]
    return [simulator.asked("GET", each) for each in large]


def test_looks_do_not_wait_for_what_arrives_slowly_and_fetch_it_once(site, simulator):
    hurry = threading.Event()
    simulator.faults.append(trickle(LEAST, hurry))
    namespaces = Namespaces(site)
    try:
        for _ in range(3):
            for each in namespaces.look(0, "a", "b"):
                assert each.startswith("acme/crm 1.0.0: ")
                assert each.endswith("[fetching]")
                assert "expected its content, 1.0 MiB, found 0." in each
    finally:
        hurry.set()
    assert namespaces.ended.wait(LONG)
    assert namespaces.look(LONG, "a", "b") == ["", ""]
    assert layers(simulator) == [1]


def test_what_arrives_while_a_look_waits_needs_no_other_look(site, simulator):
    namespaces = Namespaces(site)
    assert namespaces.look(LONG, "a", "b") == ["", ""]
    assert not namespaces.ended.is_set()
    assert layers(simulator) == [1]


def test_what_cannot_be_fetched_says_so_until_it_can(site, simulator):
    (large,) = [each for each, content in simulator.blobs.items() if len(content) >= LEAST]
    simulator.faults.append(status(500, method="GET", part=large))
    namespaces = Namespaces(site)
    for number in range(1, 4):
        # The first namespace waits for it, and the other sees the same.
        found = namespaces.look(LONG, "a", "b")
        assert all(each.endswith("[unreachable]") for each in found)
        assert layers(simulator) == [number]
    hurry = threading.Event()
    simulator.faults[:] = [trickle(LEAST, hurry)]
    try:
        found = namespaces.look(0, "a", "b")
        assert all(each.endswith("[unreachable]") for each in found)
    finally:
        hurry.set()
    assert namespaces.ended.wait(LONG)
    assert namespaces.look(LONG, "a", "b") == ["", ""]


def test_what_failed_and_is_asked_for_no_more_is_forgotten(site, simulator):
    (large,) = [each for each, content in simulator.blobs.items() if len(content) >= LEAST]
    simulator.times(1, status(500, method="GET", part=large))
    namespaces = Namespaces(site)
    namespaces.look(LONG, "a")
    namespaces.look(LONG)
    namespaces.look(LONG)
    assert namespaces.look(LONG, "a") == [""]


def test_content_that_was_lost_is_fetched_beside_the_looks(site, simulator):
    namespaces = Namespaces(site)
    assert namespaces.look(LONG, "a") == [""]
    shutil.rmtree(site.folder / ".content")
    hurry = threading.Event()
    simulator.faults.append(trickle(LEAST, hurry))
    namespaces.content.begin_look(0)
    with namespaces.opened("a") as installation:
        shutil.rmtree(installation.folders.of(installation.package("acme/crm")))
        try:
            with pytest.raises(RefusedError) as caught:
                complete(installation, "acme/crm")
        finally:
            hurry.set()
        assert caught.value.code is KubernetesCode.FETCHING
        assert namespaces.ended.wait(LONG)
        complete(installation, "acme/crm")
        assert (installation.folders.link("acme/crm") / "content.txt").exists()
