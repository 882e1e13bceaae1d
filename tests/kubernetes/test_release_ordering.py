"""In which order the objects of a release are applied, and what a run that is killed leaves."""

import random

import pytest

from trundle.kubernetes import DefinitionError
from trundle.kubernetes.operator import (
    Applier,
    OtherReleaseError,
    Part,
    leaving,
    ordered,
    parts_of,
)
from trundle.kubernetes.operator._leadership import LostLeaseError


def document(kind, name="a", namespace="", api="v1"):
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": api, "kind": kind, "metadata": metadata}


def part(*args, **more):
    return parts_of([document(*args, **more)], "x")[0]


def test_what_others_need_comes_first():
    kinds = ["ValidatingWebhookConfiguration", "Widget", "Deployment", "Service", "ServiceAccount"]
    kinds += ["CustomResourceDefinition", "Namespace"]
    expected = ["Namespace", "CustomResourceDefinition", "ServiceAccount", "Service"]
    expected += ["Deployment", "Widget", "ValidatingWebhookConfiguration"]
    parts = parts_of([document(each) for each in kinds], "x")
    random.Random(1).shuffle(parts)
    assert [each.kind for each in ordered(parts)] == expected


def test_another_version_of_an_object_does_not_leave():
    old = part("Deployment", api="apps/v1beta1")
    assert leaving([old, part("Secret")], [part("Deployment", api="apps/v1")]) == [part("Secret")]


def test_what_needs_others_is_deleted_first():
    gone = leaving([part("Namespace"), part("Deployment", api="apps/v1")], [])
    assert [each.kind for each in gone] == ["Deployment", "Namespace"]


def test_lists_are_taken_apart():
    made = {"kind": "List", "items": [document("Secret"), document("Service")]}
    assert [each.kind for each in parts_of([made], "x")] == ["Secret", "Service"]


@pytest.mark.parametrize(
    "documents",
    [[{}], [3], [{"apiVersion": "v1", "kind": "Secret", "metadata": []}], [document("Secret")] * 2],
)
def test_what_is_no_object_or_there_twice_is_refused(documents):
    with pytest.raises(DefinitionError):
        parts_of(documents, "x")


class _KilledError(Exception):
    pass


class Kept:
    """A cluster in memory that dies at a request."""

    namespace = "default"

    def __init__(self):
        self.there = {}
        self.left = None
        self.written = 0
        self.is_lost = False

    def _asked(self):
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise _KilledError

    def get(self, each: Part):
        self._asked()
        return self.there.get(each.identity)

    def apply(self, each, *, force):
        self._asked()
        status = {"conditions": [{"type": "Established", "status": "True"}]}
        self.written += 1
        metadata = {**each.document["metadata"], "resourceVersion": str(self.written)}
        before = self.there.get(each.identity)
        asked = each.document["metadata"].get("resourceVersion")
        assert asked is None or asked == before["metadata"]["resourceVersion"]
        made = {**each.document, "metadata": metadata, "status": status}
        self.there[each.identity] = made
        return made

    def apply_late(self, each):
        return self.apply(each, force=True)

    def check(self):
        if self.is_lost:
            raise LostLeaseError("Lease", "to hold it", "lost", "another operator goes on")

    def attempt(self, each, *, force):
        self._asked()
        return each.document

    def exists(self, each):
        self._asked()
        return each.identity in self.there

    def delete(self, each):
        self._asked()
        self.there.pop(each.identity, None)

    def has_objects(self, definition):
        self._asked()
        return definition.name == "used"


def releases():
    crds = [part("CustomResourceDefinition", name) for name in ("used", "unused", "stays")]
    return [
        [*crds, part("Secret", "one"), part("Deployment")],
        [crds[2], part("Secret", "two"), part("Deployment")],
        [crds[2], part("Service")],
    ]


@pytest.mark.parametrize("killed", range(36))
def test_runs_that_are_killed_anywhere_leave_nothing_behind(killed):
    kept = Kept()
    for wanted in releases():
        kept.left = killed
        try:
            Applier(kept, "x").apply(wanted)
        except _KilledError:
            kept.left = None
            if killed % 2:  # Otherwise the next release comes without this one being completed.
                Applier(kept, "x").apply(wanted)
    kept.left = None
    Applier(kept, "x").apply(releases()[-1])
    names = {(each[1], each[3]) for each in kept.there}
    expected = {("CustomResourceDefinition", "stays"), ("Service", "a")}
    used = ("CustomResourceDefinition", "used")
    assert names - {used} == expected | {("ConfigMap", "trundle-applied-x")}
    assert {each.name for each in Applier(kept, "x").earlier()} >= {"stays", "a"}


def value(kept, part):
    return kept.there[part.identity].get("data")


def with_data(part, data):
    return parts_of([{**part.document, "data": data}], "x")[0]


def test_an_object_of_another_release_is_neither_changed_nor_deleted():
    kept, shared, own = Kept(), part("ConfigMap", "shared"), part("ConfigMap", "own")
    Applier(kept, "one").apply([with_data(shared, "1")])
    before = dict(kept.there)
    with pytest.raises(OtherReleaseError, match="ConfigMap shared of default/one"):
        Applier(kept, "two").apply([with_data(shared, "2"), own])
    assert kept.there == before
    Applier(kept, "two").apply([own])
    Applier(kept, "two").finish([])
    assert value(kept, shared) == "1"


def test_what_was_there_and_could_not_be_applied_is_not_deleted():
    """What is remembered before it is applied may never be: others own its fields."""
    kept, theirs = Kept(), part("ConfigMap", "theirs")
    kept.there[theirs.identity] = with_data(theirs, "of a person").document

    def refuse(each, *, force):
        if each.identity == theirs.identity:
            raise OtherReleaseError(
                "ConfigMap theirs", "fields that no other owns", "a person's", ""
            )
        return Kept.apply(kept, each, force=force)

    kept.apply = refuse
    with pytest.raises(OtherReleaseError):
        Applier(kept, "x").apply([theirs, part("Secret")])
    assert theirs in Applier(kept, "x").earlier()
    Applier(kept, "x").apply([part("Secret")])
    assert value(kept, theirs) == "of a person"
    assert theirs not in Applier(kept, "x").earlier()
    Applier(kept, "x").finish([])
    assert value(kept, theirs) == "of a person"


def test_a_release_that_is_gone_or_no_longer_has_an_object_gives_it_up():
    kept, shared = Kept(), part("ConfigMap", "shared")
    Applier(kept, "one").apply([with_data(shared, "1"), part("Secret")])
    Applier(kept, "one").apply([part("Secret")])
    assert shared.identity not in kept.there
    Applier(kept, "two").apply([with_data(shared, "2")])
    Applier(kept, "one").apply([part("Secret")])
    assert value(kept, shared) == "2"
    Applier(kept, "two").forget()
    Applier(kept, "three").apply([with_data(shared, "3")])
    assert value(kept, shared) == "3"


def test_a_release_that_yields_is_taken_over_and_deletes_only_the_rest():
    kept, shared, rest = Kept(), part("ConfigMap", "shared"), part("ConfigMap", "rest")
    Applier(kept, "one").apply([with_data(shared, "1"), rest])
    Applier(kept, "two", yielding={"default/one"}).apply([with_data(shared, "2")])
    found = Applier(kept, "one").finish([])
    assert [each.name for each in found.deleted] == ["rest"]
    assert (value(kept, shared), rest.identity in kept.there) == ("2", False)


def test_force_takes_objects_of_another_release_over():
    kept, shared = Kept(), part("ConfigMap", "shared")
    Applier(kept, "one").apply([with_data(shared, "1")])
    Applier(kept, "two").apply([with_data(shared, "2")], force=True)
    Applier(kept, "one").apply([part("Secret")])
    assert value(kept, shared) == "2"


def test_what_another_release_has_in_its_own_namespace_is_known_however_it_is_written():
    kept = Kept()
    kept.namespace = "there"
    Applier(kept, "one").apply([part("ConfigMap", "shared")])
    written = kept.there.pop(part("ConfigMap", "shared").identity)
    full = part("ConfigMap", "shared", "there")
    kept.there[full.identity] = written
    kept.namespace = "here"
    with pytest.raises(OtherReleaseError, match="of there/one"):
        Applier(kept, "two").apply([full])


def test_what_is_written_too_late_goes_with_the_next_run():
    """The next release was applied by another operator while the write was on its way."""
    kept = Kept()
    kept_apply = kept.apply
    late = part("Secret", "late")

    def apply(each, *, force):
        if each.identity == late.identity:
            kept.apply = kept_apply
            Applier(kept, "it", sleep=lambda _: None).apply([part("Secret")])
            kept.is_lost = True
        return kept_apply(each, force=force)

    kept.apply = apply
    with pytest.raises(LostLeaseError):
        Applier(kept, "it", sleep=lambda _: None).put([late], release="1 a b")
    assert late.identity in kept.there
    kept.is_lost = False
    Applier(kept, "it", sleep=lambda _: None).apply([part("Secret")])
    assert late.identity not in kept.there
