"""Conversions of a cluster's objects, with the carrier, through what an API server does to JSON."""

import base64
import copy
import json

import apis
import pytest
from apis import GROUP, NEW, OLD
from projects import installer

from trundle.api import converted_kinds
from trundle.errors import TrundleError
from trundle.kubernetes import Conversions, ObjectError, WebhookMetrics
from trundle.kubernetes._admission import Admissions
from trundle.kubernetes._carrier import MOST_ANNOTATIONS, sealed
from trundle.kubernetes._server_json import passed

CARRIER = f"{GROUP}/carrier"
NOT_SHOWN = f"{GROUP}/not-shown"
STORAGE = "storage"


class Webhook:
    """A webhook and the API server around it: objects are stored, shown and written as a cluster does it."""

    def __init__(self, installed, *, guarded=False):
        kinds = converted_kinds([installed.project], installed.scheme)
        self.metrics = WebhookMetrics()
        self._conversions = Conversions(kinds, installed.scheme, self.metrics, guarded=guarded)
        self.group, self.kind = kinds[0].group, kinds[0].kind

    def at(self, version, document):
        """A document at a version."""
        given = copy.deepcopy(document)
        made = self._conversions.convert(document, f"{self.group}/{version}")
        assert document == given, "the input was changed"
        return passed(json.loads(made))

    def document(self, version, name="ada", annotations=None, **properties):
        metadata = {"name": name, "namespace": "default", "uid": "u"}
        if annotations:
            metadata["annotations"] = annotations
        head = {"apiVersion": f"{self.group}/{version}", "kind": self.kind, "metadata": metadata}
        return {**head, **properties}

    def stored(self, version, name="ada", **properties):
        """What is stored of a document of a version."""
        return self.at(STORAGE, self.document(version, name, **properties))

    def edit(self, stored, version, **properties):
        """What is stored after a client of a version got, changed and put it."""
        return self.at(STORAGE, {**self.at(version, stored), **properties})

    def admitted(self, old, document):
        """An update as admission lets it through; it changes nothing but metadata."""
        request = {"uid": "1", "operation": "UPDATE", "object": document, "oldObject": old}
        review = {
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "request": request,
        }
        answer = Admissions(self._conversions, self.metrics).answer(json.dumps(review).encode())
        response = json.loads(answer)["response"]
        assert response["allowed"], response
        metadata = dict(document["metadata"])
        for each in json.loads(base64.b64decode(response.get("patch", "W10="))):
            _, at, name = each["path"].split("/")
            assert at == "metadata"
            metadata.pop(name, None)
            if each["op"] != "remove":
                metadata[name] = each["value"]
        return {**document, "metadata": metadata}

    def counted(self, name):
        lines = self.metrics.shown().decode().splitlines()
        return sum(float(each.split()[-1]) for each in lines if each.startswith(name))


@pytest.fixture(scope="module")
def install(tmp_path_factory):
    with installer(tmp_path_factory.mktemp("conversions")) as made:
        yield made


@pytest.fixture(scope="module")
def clubs(install):
    return install(apis.SCHEMAS, config=apis.CONFIG)


@pytest.fixture
def webhook(clubs):
    return Webhook(clubs)


def annotations(document):
    return document["metadata"].get("annotations", {})


def shown(document):
    """The properties of a document, without its head."""
    return {x: y for x, y in document.items() if x not in {"apiVersion", "kind", "metadata"}}


def test_a_carrier_is_there_only_where_something_would_be_lost(webhook):
    plain = webhook.stored(OLD, team="red")
    assert [annotations(webhook.at(each, plain)) for each in (OLD, NEW)] == [{}, {}]
    aged = webhook.stored(OLD, team="red", age=3)
    assert [CARRIER in annotations(webhook.at(each, aged)) for each in (OLD, NEW)] == [False, True]
    noted = webhook.stored(NEW, group="red", note="n")
    assert [CARRIER in annotations(webhook.at(each, noted)) for each in (OLD, NEW)] == [True, False]
    assert "annotations" not in aged["metadata"]


def test_both_sides_keep_what_the_other_cannot_see(webhook):
    stored = webhook.stored(OLD, team="red", age=3)
    stored = webhook.edit(stored, NEW, note="n", group="blue")
    stored = webhook.edit(stored, OLD, age=4)
    assert shown(webhook.at(OLD, stored)) == {"team": "blue", "age": 4}
    assert shown(webhook.at(NEW, stored)) == {"group": "blue", "note": "n"}


def test_writing_what_one_read_changes_nothing(webhook):
    stored = webhook.stored(OLD, team="red", age=3, labels={"b": "1", "a": "2"})
    for version in (OLD, NEW):
        assert webhook.edit(stored, version) == stored


def test_between_served_versions_it_is_carried_on(webhook):
    stored = webhook.stored(OLD, team="red", age=3)
    new = webhook.at(NEW, stored)
    again = webhook.at(OLD, new)
    assert shown(again) == {"team": "red", "age": 3}
    assert annotations(again) == {}
    noted = webhook.at(OLD, {**new, "note": "n"})
    assert shown(webhook.at(NEW, noted)) == {"group": "red", "note": "n"}
    assert webhook.at(STORAGE, webhook.at(NEW, noted)) == webhook.at(STORAGE, {**new, "note": "n"})


JOBS = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: jobs.jobs.example.com}
spec:
  group: jobs.example.com
  scope: Namespaced
  names: {kind: Job, plural: jobs}
  versions:
    - name: v1
      served: true
      storage: false
      subresources: {status: {}}
      schema:
        openAPIV3Schema:
          type: object
          properties:
            size: {type: integer}
            status:
              type: object
              default: {seen: -1}
              properties: {seen: {type: integer}, phase: {type: string, default: Waiting}}
    - name: v2
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            size: {type: integer}
            status: {type: object, default: {seen: -2}, properties: {seen: {type: integer}}}
"""


def test_an_object_without_a_status_gets_that_of_its_version(install):
    """An API server leaves out the status of a new object, and has no defaults for the version that is stored; tests/cluster compares it with a CRD without a webhook."""
    installed = install({"schemas/jobs.yaml": JOBS})
    jobs = Webhook(installed)
    kinds = converted_kinds([installed.project], installed.scheme)
    quick = Conversions(kinds, installed.scheme, WebhookMetrics()).quick

    def stored(version, **properties):
        document = jobs.document(version, **properties)
        (made,) = quick([json.dumps(document).encode()], f"{jobs.group}/{STORAGE}")
        assert made is None or json.loads(made) == jobs.at(STORAGE, document)
        return jobs.at(STORAGE, document)

    first = {"seen": -1, "phase": "Waiting"}
    assert shown(jobs.at("v1", stored("v1", size=1))) == {"size": 1, "status": first}
    assert shown(jobs.at("v2", stored("v1", size=1)))["status"] == {"seen": -1}
    written = stored("v1", size=1, status={"seen": 4})
    assert shown(jobs.at("v1", written)) == {"size": 1, "status": {"seen": 4}}
    assert shown(jobs.at("v2", jobs.document("v1", size=1))) == {"size": 1}
    # v2 has no status apart: there it is a property like any other.
    assert shown(jobs.at("v2", stored("v2", size=1))) == {"size": 1}


def test_other_annotations_stay(webhook):
    stored = webhook.stored(OLD, team="red", age=3, annotations={"mine": "x"})
    assert annotations(stored) == {"mine": "x"}
    new = webhook.at(NEW, stored)
    assert set(annotations(new)) == {"mine", CARRIER}
    assert annotations(webhook.at(STORAGE, new)) == {"mine": "x"}


def test_a_client_that_drops_the_carrier_drops_what_is_in_it(webhook):
    """What the guide says of clusters without admission."""
    new = webhook.at(NEW, webhook.stored(OLD, team="red", age=3))
    del new["metadata"]["annotations"]
    assert shown(webhook.at(OLD, webhook.at(STORAGE, new))) == {"team": "red"}


def test_an_old_carrier_brings_back_only_what_its_version_does_not_show(webhook):
    """The same: a file that was exported long ago is applied."""
    stored = webhook.stored(OLD, team="red", age=3)
    exported = webhook.at(NEW, stored)
    stored = webhook.edit(stored, OLD, age=4, team="blue")
    stored = webhook.at(STORAGE, {**exported, "group": "green"})
    assert shown(webhook.at(OLD, stored)) == {"team": "green", "age": 3}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "1.x.y",
        "1.0000.!!!",
        "2.abc.def",
        sealed(b"no JSON"),
        sealed(b"[]"),
        sealed(b"{}"),
        sealed(b'{"apiVersion": "v2"}'),
        sealed(b'{"apiVersion":"v2","kind":"Other","$writtenWith":"v2"}'),
        sealed(b'{"apiVersion":"v77","kind":"Member","$writtenWith":"v77"}'),
        sealed(b'{"apiVersion":"v2","kind":"Member","group":5,"$writtenWith":"v2"}'),
        sealed(b'{"apiVersion":"v2","kind":"Member","$propertyBag":7,"$writtenWith":"v2"}'),
        sealed(b"{" * 10_000),
    ],
)
def test_a_damaged_or_foreign_carrier_counts_as_none(webhook, text):
    document = webhook.document(NEW, group="red", annotations={CARRIER: text, "mine": "x"})
    plain = webhook.document(NEW, group="red", annotations={"mine": "x"})
    assert webhook.at(STORAGE, document) == webhook.at(STORAGE, plain)
    assert webhook.at(OLD, document) == webhook.at(OLD, plain)
    assert webhook.counted("trundle_webhook_carriers_read_total") == 2


def test_a_carrier_that_was_cut_or_changed_counts_as_none(webhook):
    new = webhook.at(NEW, webhook.stored(OLD, team="red", age=3))
    text = annotations(new)[CARRIER]
    for other in (text[:-4], text[:30] + ("A" if text[30] != "A" else "B") + text[31:]):
        new["metadata"]["annotations"][CARRIER] = other
        assert shown(webhook.at(OLD, new)) == {"team": "red"}


def test_what_has_no_room_is_marked_and_not_given_up(webhook):
    room = "x" * (MOST_ANNOTATIONS - len("mine") - 100)
    stored = webhook.stored(OLD, team="red", age=3, annotations={"mine": room})
    new = webhook.at(NEW, stored)
    text = annotations(new)[CARRIER]
    assert text.startswith("too-large.")
    with pytest.raises(ObjectError, match="no room"):
        webhook.at(STORAGE, new)
    # Another served version is shown it all the same, as the server compares versions.
    assert annotations(webhook.at(OLD, new))[CARRIER] == text
    # The version that needs no carrier writes on.
    assert shown(webhook.edit(stored, OLD, age=4)) != shown(stored)
    assert webhook.counted("trundle_webhook_carriers_omitted_total") == 1


def test_all_annotations_stay_below_the_limit_of_a_server(webhook):
    full = MOST_ANNOTATIONS - len("mine")
    for size in (*range(full - 500, full, 20), full - 1, full):
        stored = webhook.stored(OLD, team="red", age=3, annotations={"mine": "x" * size})
        found = annotations(webhook.at(NEW, stored))
        assert sum(len(key) + len(value) for key, value in found.items()) <= MOST_ANNOTATIONS
        assert CARRIER in found


def test_the_largest_annotation_makes_room_for_the_marker(webhook):
    others = {"a": "1", "b": "2"}
    large = "x" * (MOST_ANNOTATIONS - len("mine") - 4)
    stored = webhook.stored(OLD, team="red", age=3, annotations={**others, "mine": large})
    new = webhook.at(NEW, stored)
    assert annotations(new).keys() == {"a", "b", CARRIER}
    assert annotations(webhook.at(OLD, stored)) == {**others, "mine": large}
    with pytest.raises(ObjectError, match="no room"):
        webhook.at(STORAGE, new)


def test_an_api_server_can_delete_what_has_no_room_where_admission_guards_it(clubs):
    """It converts the object in its cache for storage first."""
    guarded = Webhook(clubs, guarded=True)
    room = {"mine": "x" * (MOST_ANNOTATIONS - len("mine"))}
    stored = guarded.stored(OLD, team="red", age=3, annotations=room)
    assert guarded.at(STORAGE, guarded.at(NEW, stored))["kind"] == "Member"
    broken = {**stored, "stored": "{" + "".join(map(chr, range(0x4E00, 0x9000))) * 9}
    shown_at_none = guarded.at(NEW, broken)
    assert annotations(shown_at_none)[CARRIER].startswith("too-large.")
    assert annotations(shown_at_none)[NOT_SHOWN]
    assert guarded.at(STORAGE, shown_at_none)["kind"] == "Member"
    with pytest.raises(ObjectError):
        Webhook(clubs).at(STORAGE, shown_at_none)


def test_content_that_changed_beside_admission_is_refused(clubs):
    """A write to `scale` passes no admission that could see the marker. The API server counts the change, and converts for storage then."""
    guarded = Webhook(clubs, guarded=True)
    room = {"mine": "x" * (MOST_ANNOTATIONS - len("mine") - 100)}
    stored = guarded.stored(OLD, team="red", age=3, annotations=room)
    stored["metadata"]["generation"] = 2
    new = guarded.at(NEW, stored)
    old = guarded.at(OLD, new)  # From one version to another, as server-side apply does it.
    for each in (new, old):
        assert guarded.at(STORAGE, each)["kind"] == "Member"
        each["metadata"]["generation"] = 3
        with pytest.raises(ObjectError, match="no room"):
            guarded.at(STORAGE, each)


UNREADABLE = [
    {},
    {"stored": "{"},
    {"stored": "[]"},
    {"stored": "{}"},
    {"stored": 5},
    {"stored": '{"apiVersion":"v99","kind":"Member","$writtenWith":"v99"}'},
    {"stored": '{"apiVersion":"v2","kind":"Member","group":5,"$writtenWith":"v2"}'},
    {"other": 1.5, "stored": '{"apiVersion":"v2"}'},
]


@pytest.mark.parametrize("content", UNREADABLE)
def test_what_cannot_be_shown_breaks_no_list_and_comes_back_whole(webhook, content):
    stored = webhook.document(STORAGE, **content)
    for version in (OLD, NEW):
        found = webhook.at(version, stored)
        assert shown(found) == {}
        assert annotations(found)[NOT_SHOWN]
        assert found["metadata"]["name"] == "ada"
        found["metadata"]["labels"] = {"a": "b"}
        back = webhook.at(STORAGE, found)
        assert shown(back) == content
        assert back["metadata"] == {**stored["metadata"], "labels": {"a": "b"}}
        other = webhook.at(OLD if version == NEW else NEW, found)
        assert shown(webhook.at(STORAGE, other)) == content
        with pytest.raises(ObjectError, match="leave all but its metadata"):
            webhook.at(STORAGE, {**found, "level": "low"})
        found["metadata"]["annotations"][CARRIER] = "lost"
        with pytest.raises(ObjectError):
            webhook.at(STORAGE, found)


def test_a_client_s_mistake_is_refused_before_it_is_stored(webhook):
    with pytest.raises(TrundleError, match="group"):
        webhook.at(STORAGE, webhook.document(NEW, group=5))


def test_a_version_that_the_project_has_not_is_refused(webhook):
    with pytest.raises(ObjectError, match="v9"):
        webhook.at("v9", webhook.document(NEW, group="red"))


def test_the_next_release_reads_and_rolls_what_is_stored(install, clubs, webhook):
    third = """
        title: Member
        type: object
        required: [crew]
        properties:
          crew: {type: string}
          note: {type: string}
        """
    changes = {**apis.CONFIG["changes"], "v2": {"Member": {"rename": {"group": "crew"}}}}
    config = {**apis.CONFIG, "changes": changes}
    following = install({**apis.SCHEMAS, "v3.yaml": third}, config=config, released=clubs)
    later = Webhook(following)
    stored = webhook.stored(OLD, team="red", age=3)
    assert json.loads(stored["stored"])["apiVersion"] == NEW
    assert shown(later.at(OLD, stored)) == {"team": "red", "age": 3}
    assert shown(later.at("v3", stored)) == {"crew": "red"}
    rolled = later.edit(stored, NEW)
    assert json.loads(rolled["stored"])["apiVersion"] == "v3"
    assert shown(later.at(OLD, rolled)) == {"team": "red", "age": 3}
    # The release before it, still running on another replica, cannot read that, breaks no list, and gives it back.
    before = webhook.at(NEW, rolled)
    assert annotations(before)[NOT_SHOWN]
    assert webhook.at(STORAGE, before) == rolled
    # An API server remembers it so. What it makes of a patch over that would not be what the client meant.
    assert later.at(STORAGE, before) == rolled
    with pytest.raises(ObjectError, match="the API server remembers it"):
        later.at(STORAGE, {**before, "note": "new"})
    with pytest.raises(ObjectError, match="leave all but its metadata"):
        webhook.at(STORAGE, {**before, "note": "new"})
    # A client that got the object alone has seen all of it. What it puts is held against that, also without its carrier.
    live = later.at(NEW, rolled)
    bare = {key: each for key, each in live["metadata"].items() if key != "annotations"}
    for metadata in (live["metadata"], bare):
        written = later.admitted(before, {**live, "metadata": metadata, "note": "new"})
        assert NOT_SHOWN not in annotations(written)
        kept = later.at(STORAGE, written)
        assert shown(later.at(NEW, kept)) == {"group": "red", "note": "new"}
        assert shown(later.at(OLD, kept)) == {"team": "red", "age": 3}
    # One that was patched over what is remembered stays refused.
    refused = later.admitted(before, {**before, "note": "new"})
    with pytest.raises(ObjectError, match="the API server remembers it"):
        later.at(STORAGE, refused)


KEYED = {
    "v1.yaml": """
        title: Pod
        type: object
        properties: {labels: {type: object, additionalProperties: {type: string}}}
        """,
    "v2.yaml": """
        title: Pod
        type: object
        properties:
          labels: {type: array, items: {$ref: "#/$defs/Label"}}
        $defs:
          Label:
            type: object
            required: [name]
            properties: {name: {type: string}, value: {type: string}, more: {type: string}}
        """,
}


def test_the_order_of_a_list_survives_a_version_in_which_it_is_a_map(install):
    """An API server sorts maps, so a client that writes one back writes another order."""
    rule = {
        "v1": {"Pod": {"convert": {"labels": {"map-to-list": {"key": "name", "value": "value"}}}}}
    }
    webhook = Webhook(install(KEYED, config={"changes": rule}))
    labels = [{"name": "b", "value": "1"}, {"name": "a", "value": "2", "more": "x"}]
    stored = webhook.stored("v2", labels=labels)
    assert webhook.edit(stored, "v1") == stored
    stored = webhook.edit(stored, "v1", labels={"a": "2", "b": "3", "c": "4"})
    seen = shown(webhook.at("v2", stored))["labels"]
    assert seen[:2] == [{"name": "b", "value": "3"}, {"name": "a", "value": "2", "more": "x"}]
    assert seen[2:] == [{"name": "c", "value": "4"}]
