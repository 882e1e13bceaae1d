"""Events are the same objects in both of their groups, `v1` and `events.k8s.io/v1`; the other one holds writers to more."""

import pytest
from apis import NEW, Client

from trundle.api import Api

OLD_PATH = "/api/v1/namespaces/default/events"
NEW_PATH = "/apis/events.k8s.io/v1/namespaces/default/events"
MERGE, APPLY = "application/merge-patch+json", "application/apply-patch+yaml"
ABOUT = {
    "apiVersion": "clubs.example.com/v2",
    "kind": "Member",
    "name": "ada",
    "namespace": "default",
}
AT, LATER = "2026-01-02T03:04:05.000006Z", "2026-01-02T03:09:00.000000Z"
ONCE = {
    "apiVersion": "events.k8s.io/v1",
    "kind": "Event",
    "metadata": {"name": "a"},
    "eventTime": AT,
    "reportingController": "example.com/tests",
    "reportingInstance": "tests-1",
    "action": "Seeing",
    "reason": "Seen",
    "regarding": ABOUT,
    "note": "it was seen",
    "type": "Normal",
}
COUNTED = {
    "metadata": {"name": "b"},
    "involvedObject": ABOUT,
    "reason": "Seen",
    "message": "it was seen",
    "type": "Warning",
    "count": 2,
    "firstTimestamp": "2026-01-02T03:04:05Z",
    "lastTimestamp": "2026-01-02T03:04:06Z",
    "source": {"component": "tests", "host": "here"},
}
BESIDE = {"eventTime": None, "firstTimestamp": None, "lastTimestamp": None, "source": {}}


def content(found):
    return {key: x for key, x in found.items() if key not in {"apiVersion", "kind", "metadata"}}


def fields(found):
    return [each["field"] for each in found["details"]["causes"]]


@pytest.fixture
def once(client):
    assert client.call("POST", NEW_PATH, ONCE)[0] == 201


def test_an_event_of_the_new_group_is_read_in_the_old_one(client, once):
    code, found = client.call("GET", f"{OLD_PATH}/a")
    assert (code, found["apiVersion"], found["kind"]) == (200, "v1", "Event")
    assert content(found) == {
        **BESIDE,
        "eventTime": AT,
        "reportingComponent": "example.com/tests",
        "reportingInstance": "tests-1",
        "action": "Seeing",
        "reason": "Seen",
        "involvedObject": ABOUT,
        "message": "it was seen",
        "type": "Normal",
    }


def test_an_event_of_the_old_group_is_read_in_the_new_one(client):
    assert client.call("POST", OLD_PATH, COUNTED)[0] == 201
    code, found = client.call("GET", f"{NEW_PATH}/b")
    assert (code, found["apiVersion"], found["kind"]) == (200, "events.k8s.io/v1", "Event")
    assert content(found) == {
        "eventTime": None,
        "regarding": ABOUT,
        "reason": "Seen",
        "note": "it was seen",
        "type": "Warning",
        "deprecatedCount": 2,
        "deprecatedFirstTimestamp": "2026-01-02T03:04:05Z",
        "deprecatedLastTimestamp": "2026-01-02T03:04:06Z",
        "deprecatedSource": {"component": "tests", "host": "here"},
    }


def test_one_object_is_in_both_lists_and_goes_from_both(client, once):
    lists = [client.call("GET", path)[1]["items"] for path in (OLD_PATH, NEW_PATH)]
    first, second = (each["metadata"] for (each,) in lists)
    for name in ("uid", "resourceVersion", "creationTimestamp"):
        assert first[name] == second[name]
    assert client.call("POST", OLD_PATH, {**COUNTED, "metadata": {"name": "a"}})[0] == 409
    assert client.call("DELETE", f"{OLD_PATH}/a")[0] == 200
    code, gone = client.call("GET", f"{NEW_PATH}/a")
    assert (code, gone["message"]) == (404, 'events.events.k8s.io "a" not found')


def test_a_series_goes_on_in_the_new_group(client, once):
    series = {"count": 2, "lastObservedTime": LATER}
    code, found = client.call("PATCH", f"{NEW_PATH}/a", {"series": series}, media_type=MERGE)
    assert (code, found["series"]) == (200, series)
    assert client.call("GET", f"{OLD_PATH}/a")[1]["series"] == series


def test_what_nothing_changes_writes_nothing(client, once):
    before = client.call("GET", f"{NEW_PATH}/a")[1]
    for path, name in ((NEW_PATH, "note"), (OLD_PATH, "message")):
        again = client.call("PATCH", f"{path}/a", {name: "it was seen"}, media_type=MERGE)[1]
        assert again["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"eventTime": None}, ["eventTime"]),
        ({"type": "Bad"}, ["type"]),
        ({"deprecatedCount": 1, "deprecatedSource": {"host": "h"}}, ["count", "source"]),
        ({"series": {"count": 1}}, ["series.count", "series.lastObservedTime"]),
        ({"reportingController": "c", "action": ""}, ["action"]),
        ({"regarding": {}, "eventTime": "2026-01-02T03:04:05Z"}, ["eventTime"]),
    ],
)
def test_new_events_that_are_refused(client, change, wrong):
    code, found = client.call("POST", NEW_PATH, {**ONCE, **change})
    assert (code, fields(found)) == (422, wrong)


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"note": "another"}, ["message"]),
        ({"eventTime": LATER}, ["eventTime"]),
        ({"regarding": {"name": "bob"}, "type": "Warning"}, ["involvedObject", "type"]),
        ({"reportingController": "c"}, ["reportingController"]),
        ({"series": {"count": 1, "lastObservedTime": LATER}}, ["series.count"]),
    ],
)
def test_what_an_event_says_stays_in_the_new_group(client, once, change, wrong):
    code, found = client.call("PATCH", f"{NEW_PATH}/a", change, media_type=MERGE)
    assert (code, fields(found)) == (422, wrong)
    assert found["details"]["kind"] == "Event"


@pytest.mark.parametrize("time", ["2026-01-02T04:04:05.000006+01:00", AT])
def test_the_same_time_is_no_change(client, once, time):
    code, _ = client.call("PATCH", f"{NEW_PATH}/a", {"eventTime": time}, media_type=MERGE)
    assert code == 200


def test_the_old_group_changes_what_it_likes(client, once):
    code, found = client.call("PATCH", f"{OLD_PATH}/a", {"message": "x"}, media_type=MERGE)
    assert (code, found["message"]) == (200, "x")
    assert client.call("GET", f"{NEW_PATH}/a")[1]["note"] == "x"
    wrong = {"reportingComponent": "a b"}
    code, found = client.call("PATCH", f"{OLD_PATH}/a", wrong, media_type=MERGE)
    assert (code, set(fields(found))) == (422, {"reportingComponent"})


def test_owners_stay_with_what_they_own_in_both_groups(client):
    options = {"media_type": APPLY, "fieldManager": "me"}
    assert client.call("PATCH", f"{NEW_PATH}/a", ONCE, **options)[0] == 201
    other = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "a"}, "message": "x"}
    code, found = client.call(
        "PATCH", f"{OLD_PATH}/a", other, media_type=APPLY, fieldManager="other"
    )
    assert (code, fields(found)) == (409, [".message"])
    (owner,) = client.call("GET", f"{OLD_PATH}/a")[1]["metadata"]["managedFields"]
    assert "f:message" in owner["fieldsV1"]
    assert "f:note" not in owner["fieldsV1"]


@pytest.mark.parametrize(
    ("version", "why"),
    [
        ("v1", "invalid object type: /v1, Kind=Event"),
        ("events.k8s.io/v2", "the API version in the data (events.k8s.io/v2) does not match"),
        (["x"], "invalid object type"),
    ],
)
def test_a_configuration_is_of_the_group_of_its_request(client, version, why):
    config = {**ONCE, "apiVersion": version}
    code, found = client.call("PATCH", f"{NEW_PATH}/a", config, media_type=APPLY, fieldManager="me")
    assert code == 400
    assert found["message"].startswith(why)


def test_events_are_selected(client, once):
    client.call("POST", OLD_PATH, COUNTED)
    for path, chosen, names in (
        (NEW_PATH, "regarding.name=ada,type=Normal", ["a"]),
        (NEW_PATH, "reportingController=example.com/tests", ["a"]),
        (OLD_PATH, "source=tests", ["b"]),
        (OLD_PATH, "source=example.com/tests", ["a"]),
        (OLD_PATH, "source!=tests", ["a"]),
    ):
        found = client.call("GET", path, fieldSelector=chosen)[1]["items"]
        assert [each["metadata"]["name"] for each in found] == names
    for path, field in ((NEW_PATH, "source"), (NEW_PATH, "note"), (OLD_PATH, "regarding.name")):
        assert client.call("GET", path, fieldSelector=f"{field}=x")[0] == 400


def test_the_server_s_own_events_are_in_both_groups(client: Client, api: Api):
    client.call("POST", "/api/v1/namespaces", {"metadata": {"name": "red"}})
    client.call("POST", client.at(NEW, namespace="red"), {"metadata": {"name": "a"}, "group": "x"})
    client.call(
        "POST",
        NEW_PATH.replace("default", "red"),
        {**ONCE, "regarding": {**ABOUT, "namespace": "red"}},
    )
    client.call("DELETE", "/api/v1/namespaces/red")
    api.controllers.settle()
    assert client.call("GET", "/api/v1/namespaces/red")[0] == 404
    (event,) = client.call("GET", "/apis/events.k8s.io/v1/events")[1]["items"]
    assert (event["reason"], event["reportingController"]) == ("Deleted", "trundle")
    assert event["regarding"]["name"] == "red"


def test_what_is_served_names_both(client):
    resources = client.call("GET", "/apis/events.k8s.io/v1")[1]["resources"]
    assert [(each["name"], each["shortNames"]) for each in resources] == [("events", ["ev"])]
    document = client.call("GET", "/openapi/v3/apis/events.k8s.io/v1")[1]
    assert (
        "regarding" in document["components"]["schemas"]["io.k8s.api.events.v1.Event"]["properties"]
    )
