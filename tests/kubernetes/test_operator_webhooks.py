"""What the webhook of an operator answers where not all that it converts by can be loaded."""

import base64
import zlib
from types import SimpleNamespace

import carried
import pytest
from config_maps import ConfigMaps

from trundle.kubernetes.operator import Webhooks
from trundle.kubernetes.operator._schemas import SchemasError, digest_of, packed
from trundle.kubernetes.operator._serving import Served, ServedRecord, name_of
from trundle.project import CarriedProjects

GROUP = "flows.test"


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """The schemas of a release."""
    return packed(carried.project(tmp_path_factory.mktemp("package") / "p", GROUP, "v1"))


class Pod:
    """An operator that has just begun, and the records of a cluster."""

    def __init__(self, loader, records):
        self.records = records
        self.said = {}
        replica = SimpleNamespace(say=lambda serves: self.__dict__.update(said=dict(serves)))
        self.webhooks = Webhooks(records, loader, replica, guarded=False, log=print)

    def look(self):
        return self.webhooks._look()

    def answer(self, method, path):
        """The status of the answer to a request."""
        return self.webhooks.answer(method, path, b"{}").status

    @property
    def ready(self):
        return self.answer("GET", "/readyz") == 200

    def converts(self, owner):
        return owner in self.webhooks._converting


@pytest.fixture
def records(content):
    """Those of two installations with the same schemas."""
    found = ConfigMaps()
    digest = digest_of(content)
    found.keep(digest, content)
    for owner in ("shop/a", "yard/b"):
        found.put(ServedRecord(Served(owner=owner, package="p", digest=digest, crds={}, hubs={})))
    return found


def schemas_in(records):
    (found,) = [each for name, each in records.maps.items() if name.startswith("trundle-schemas")]
    return found


def test_a_pod_is_ready_when_it_has_loaded_all(loader, records):
    pod = Pod(loader, records)
    assert not pod.ready
    assert pod.look() == []
    assert pod.ready
    assert pod.converts("shop/a")
    assert pod.converts("yard/b")


def test_reviews_that_come_too_early_are_told_apart_from_those_of_nobody(loader, records):
    pod = Pod(loader, records)
    assert pod.answer("POST", "/convert/shop/a") == 503
    assert pod.answer("POST", "/admit/shop/a") == 503
    pod.look()
    assert pod.answer("POST", "/convert/shop/a") == 400  # The review is none.
    assert pod.answer("POST", "/convert/shop/other") == 404


def test_a_pod_is_not_ready_as_long_as_its_disk_is_full(loader, records, monkeypatch):
    def full(*_args, **_more):
        raise OSError(28, "No space left on device")

    pod = Pod(loader, records)
    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.write_text", full)
        (trouble, _) = pod.look()
    assert "No space left" in trouble
    assert "No space left" in pod.said["shop/a"]
    assert not pod.ready
    assert pod.look() == []
    assert pod.ready


def test_what_cannot_be_loaded_is_tried_again_after_a_while(
    loader, records, content, clock, monkeypatch
):
    def full(*_args):
        raise OSError(28, "No space left on device")

    pod = Pod(loader, records)
    with monkeypatch.context() as patch:
        patch.setattr(CarriedProjects, "load", full)
        pod.look()
    clock.now = 59.0
    with pytest.raises(SchemasError, match="No space left"):
        loader.load(content)
    assert not pod.ready
    clock.now = 60.0
    assert pod.look() == []
    assert pod.ready


def test_a_damaged_record_holds_up_no_other(loader, records):
    before = Pod(loader, records)
    before.look()
    records.maps[name_of("shop/a")]["data"] = {"served": "{}"}
    pod = Pod(loader, records)
    (trouble,) = pod.look()
    assert name_of("shop/a") in trouble
    assert pod.ready
    assert (pod.converts("shop/a"), pod.converts("yard/b")) == (False, True)
    # One that has loaded it goes on.
    before.look()
    assert before.converts("shop/a")
    assert before.said.keys() == {"shop/a", "yard/b"}


@pytest.mark.parametrize("data", [b"damaged", zlib.compress(b"{}"), None])
def test_damaged_schemas_hold_up_no_other(loader, records, content, data):
    digest = digest_of(zlib.compress(b"other"))
    records.put(ServedRecord(Served(owner="yard/c", package="p", digest=digest, crds={}, hubs={})))
    if data is not None:
        records.keep(digest, data)
    pod = Pod(loader, records)
    (trouble,) = pod.look()
    assert "yard/c: ConfigMap trundle/" in trouble
    assert pod.ready
    assert (pod.converts("yard/c"), pod.converts("yard/b")) == (False, True)
    # The operator that has them puts them there again.
    records.keep(digest, zlib.compress(b"other"))
    assert records.schemas(digest) == zlib.compress(b"other")


def test_schemas_that_are_replaced_meanwhile_are_not_taken_for_damaged(loader, records, content):
    pod = Pod(loader, records)
    listed = records.listed()
    (first, *_) = listed.records
    old = ServedRecord(
        Served(owner=first.served.owner, package="p", digest="gone", crds={}, hubs={}), "0"
    )
    pod.webhooks._records = SimpleNamespace(
        listed=lambda: SimpleNamespace(records=[old], damaged={}),
        get=records.get,
        schemas=records.schemas,
    )
    assert len(pod.look()) == 1
    assert not pod.ready


def test_no_schemas_at_all(loader):
    with pytest.raises(SchemasError, match="incorrect header"):
        loader.load(b"damaged")
    with pytest.raises(SchemasError):
        loader.load(zlib.compress(b"damaged"))


def test_schemas_that_are_there_are_not_written_again(records, content):
    before = schemas_in(records)
    records.keep(digest_of(content), content)
    assert schemas_in(records) is before
    assert base64.b64decode(before["binaryData"]["schemas"]) == content
