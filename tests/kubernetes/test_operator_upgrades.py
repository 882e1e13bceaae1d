"""What an operator keeps of the releases that it has loaded, through many upgrades."""

import contextlib
import gc
import json
import shutil
import sys
import threading
import weakref
from types import SimpleNamespace

import carried
import pytest
import yaml
from config_maps import ConfigMaps

from trundle.kubernetes.operator import Rolling, Webhooks
from trundle.kubernetes.operator._schemas import SchemasError, digest_of, packed
from trundle.kubernetes.operator._serving import Served, ServedRecord

GROUP = "upgrades.test"
OWNERS = ("shop/a", "yard/b")
MANY = 6


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return carried.project(tmp_path_factory.mktemp("package") / "base", GROUP, "v1", "v2")


@pytest.fixture
def release(base, tmp_path):
    """Makes the folder of a release: other schemas, in which the same is stored."""

    def made(number):
        folder = shutil.copytree(base, tmp_path / str(number))
        file = folder / "schemas" / "v2.yaml"
        schema = yaml.safe_load(file.read_text())
        file.write_text(yaml.safe_dump({**schema, "description": f"release {number}"}))
        return folder

    return made


class Pod:
    """An operator that converts what the records of a cluster say."""

    def __init__(self, loader):
        self.records = ConfigMaps()
        replica = SimpleNamespace(say=lambda serves: None)
        self.webhooks = Webhooks(self.records, loader, replica, guarded=False, log=print)

    def upgrade(self, owner, content):
        """Lets the webhook convert by a release for an installation."""
        digest, before = digest_of(content), self.records.get(owner)
        self.records.keep(digest, content)
        served = Served(owner=owner, package="p", digest=digest, crds={}, hubs={})
        self.records.put(ServedRecord(served, before.version if before else ""))
        self.look()

    def look(self):
        """Looks, and once more, as what was upgraded is let go at the next look."""
        for _ in range(2):
            assert self.webhooks._look() == []

    def convert(self, owner, document, version):
        """An object at another version."""
        return converted(
            self.webhooks.answer("POST", f"/convert/{owner}", review(version, document))
        )

    @contextlib.contextmanager
    def held(self, owner):
        """Keeps all threads busy in which large reviews are answered."""
        threads = self.webhooks._converting[owner].application._threads
        event = threading.Event()
        for _ in range(threads._max_workers):
            threads.submit(event.wait)
        try:
            yield
        finally:
            event.set()


def review(version, *documents):
    """What an API server asks, as JSON."""
    request = {"uid": "1", "desiredAPIVersion": f"{GROUP}/{version}", "objects": documents}
    head = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview"}
    return json.dumps({**head, "request": request}).encode()


def converted(answer):
    """The first object of an answer."""
    response = json.loads(answer.body)["response"]
    assert response["result"] == {"status": "Success"}
    return response["convertedObjects"][0]


@pytest.fixture
def pod(loader):
    return Pod(loader)


def member(**properties):
    head = {"apiVersion": f"{GROUP}/v1", "kind": "Member", "metadata": {"name": "m"}}
    return head | properties


def loaded(loader):
    """The generated packages that are imported, and those that are on the disk."""
    package = loader._projects.package
    imported = {name.split(".")[1] for name in sys.modules if name.startswith(f"{package}.")}
    folders = (loader._root / "generated" / package).glob("p*")
    return imported, {each.name for each in folders}


def classes_of(loader):
    """The generated classes that are imported."""
    package = f"{loader._projects.package}."
    return [
        weakref.ref(value)
        for name, module in list(sys.modules.items())
        if name.startswith(package)
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == name
    ]


@pytest.mark.full
def test_only_releases_that_installations_use_stay(pod, loader, release):
    """Each upgrade of one installation lets the release before go; the other one stays at the first release."""
    first = packed(release(0))
    for owner in OWNERS:
        pod.upgrade(owner, first)
    document = member(team="red", age=3, odd={"a": [1, None]})
    stored = {each: pod.convert(each, document, "storage") for each in OWNERS}
    shown = pod.convert("shop/a", stored["shop/a"], "v1")
    gone = []
    for number in range(1, MANY):
        pod.upgrade("shop/a", packed(release(number)))
        for owner, each in stored.items():
            assert pod.convert(owner, each, "v1") == shown
            pod.convert(owner, pod.convert(owner, each, "v2"), "storage")
        expected = {"p1", f"p{number + 1}"}
        assert loaded(loader) == (expected, expected)
        assert len([each for each in loader._root.iterdir() if each.name != "generated"]) == 2
        gc.collect()
        assert [each() for each in gone if each() is not None] == []
        names = f"{loader._projects.package}.p{number + 1}."
        gone = [each for each in classes_of(loader) if each().__module__.startswith(names)]
        assert gone
    pod.upgrade("yard/b", packed(release("last")))
    assert loaded(loader)[0] == {f"p{MANY}", f"p{MANY + 1}"}


def test_a_review_that_has_begun_is_answered_by_the_release_before(pod, loader, release):
    pod.upgrade("shop/a", packed(release(1)))
    stored = pod.convert("shop/a", member(team="red", age=3), "storage")

    with pod.held("shop/a"):
        asked = pod.webhooks.answer("POST", "/convert/shop/a", review("v2", *[stored] * 2000))
        pod.upgrade("shop/a", packed(release(2)))
        assert loaded(loader)[0] == {"p1", "p2"}
    assert converted(asked.result(60))["group"] == "red"
    del asked
    pod.look()
    assert loaded(loader)[0] == {"p2"}


@pytest.mark.full
def test_a_release_that_comes_back_is_loaded_again(pod, loader, release):
    one, other = packed(release(1)), packed(release(2))
    for content in (one, other, one):
        pod.upgrade("shop/a", content)
    assert loaded(loader) == ({"p3"}, {"p3"})
    assert pod.convert("shop/a", member(team="red"), "v2")["group"] == "red"


def test_looks_load_a_release_once_as_long_as_they_ask_for_it(loader, release):
    cluster = SimpleNamespace(client=None, definition=lambda _: None, definitions=list)
    rolling = Rolling(cluster, ConfigMaps(), None, loader, None)

    def look(folder):
        rolling.begin_look()
        (finding,) = rolling.brought("shop/a", None, folder, []).findings
        assert "none" in finding.found  # No webhook is there.

    first, second = release(1), release(2)
    for _ in range(3):
        look(first)
        assert loaded(loader)[0] == {"p1"}
    look(second)
    assert loaded(loader)[0] == {"p1", "p2"}
    look(second)
    look(second)
    assert loaded(loader) == ({"p2"}, {"p2"})


def test_a_record_that_cannot_be_followed_does_not_load_its_release_at_each_look(
    pod, loader, release
):
    content = packed(release(1))
    digest, storing = digest_of(content), {"/Member": "v9"}
    pod.records.keep(digest, content)
    served = Served(owner="shop/a", package="p", digest=digest, crds={}, hubs={}, storing=storing)
    pod.records.put(ServedRecord(served))
    for _ in range(4):
        (trouble,) = pod.webhooks._look()
        assert "v9" in trouble
    assert loaded(loader) == ({"p1"}, {"p1"})


@pytest.mark.full
def test_what_cannot_be_loaded_leaves_nothing(loader, release, clock):
    """It is tried again each minute, and each time the first of its two projects is loaded."""
    folder = release(1)
    shutil.copytree(folder, folder / "other")
    (folder / "schemas" / "v2.yaml").write_text("title: Member\ntype: wrong\n")
    content = packed(folder)
    for minute in range(3):
        clock.now = 60.0 * minute
        with pytest.raises(SchemasError, match=r"found trundle\.yaml:"):
            loader.load(content)
        assert loader._projects._number == 2 * (minute + 1)  # Both were begun.
        loader.clean()
        assert loaded(loader) == (set(), set())
        assert [each.name for each in loader._root.iterdir()] == ["generated"]
    clock.now += 60
    loader.clean()
    assert loader._unusable == {}
