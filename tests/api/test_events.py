"""Events: what the server says about objects, once for each thing that happens, and for an hour."""

import datetime as dt

import pytest
from apis import NEW, OLD, Client

from trundle.api import Api, served_kinds
from trundle.runtime import ConversionError
from trundle.store import Store


class Time:
    """A clock that is set by hand."""

    def __init__(self):
        self.now = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)

    def __call__(self):
        return self.now


@pytest.fixture
def time():
    return Time()


@pytest.fixture
def api(installed, tmp_path, time):
    with Store(tmp_path / "store.db", installed.scheme, clock=time) as store:
        yield Api(store, served_kinds([installed.project], installed.scheme), "0", time)


@pytest.fixture
def client(api):
    return Client(api)


def events(client, **query):
    return client.call("GET", "/api/v1/events", **query)[1]["items"]


@pytest.fixture
def broken(client, installed, monkeypatch):
    """A member that the old version cannot show."""
    made = client.create(NEW, "ada", group="red")
    client.create(NEW, "bob", group="red")
    kind = type(installed.scheme)

    def failing(read):
        def tried(self, version, stored, *more):
            if self is installed.scheme and version == OLD and b'"ada"' in stored:
                raise ConversionError("ada has no past")
            return read(self, version, stored, *more)

        return tried

    for name in ("read", "read_quickly"):
        monkeypatch.setattr(kind, name, failing(getattr(kind, name)))
    return made


def test_an_object_that_cannot_be_converted_is_said_once(client, api, broken):
    for _ in range(3):
        assert client.call("GET", client.at(OLD))[0] == 200
    api.controllers.settle()
    (event,) = events(client)
    uid = broken["metadata"]["uid"]
    assert (event["type"], event["reason"], event["count"]) == ("Warning", "CannotBeConverted", 1)
    assert event["message"] == "v1 cannot show it: ada has no past"
    assert event["involvedObject"]["uid"] == uid
    assert event["involvedObject"]["apiVersion"] == "clubs.example.com/v1"
    assert event["metadata"]["namespace"] == "default"
    chosen = f"involvedObject.name=ada,involvedObject.uid={uid},type=Warning"
    assert len(events(client, fieldSelector=chosen)) == 1
    assert events(client, fieldSelector="involvedObject.name=bob") == []


@pytest.mark.full
def test_what_goes_on_is_counted(client, api, broken, time):
    for _ in range(2):
        client.call("GET", client.at(OLD))
        api.controllers.settle()
        time.now += dt.timedelta(minutes=6)
    (event,) = events(client)
    assert event["count"] == 2
    assert event["firstTimestamp"] == "2026-01-01T00:00:00Z"
    assert event["lastTimestamp"] == "2026-01-01T00:06:00Z"


def test_events_are_forgotten_after_an_hour(client, api, broken, time):
    client.call("GET", client.at(OLD))
    api.controllers.settle()
    time.now += dt.timedelta(minutes=59)
    api.controllers.settle()
    assert len(events(client)) == 1
    time.now += dt.timedelta(minutes=2)
    api.controllers.settle()
    assert events(client) == []


def test_a_clock_that_was_far_ahead_once_keeps_no_event_and_hides_none(client, api, broken, time):
    """What was said then stayed until that time, and nothing was said or forgotten meanwhile."""
    time.now += dt.timedelta(days=36500)
    client.call("GET", client.at(OLD))
    api.controllers.settle()
    assert len(events(client)) == 1
    time.now -= dt.timedelta(days=36500)
    api.controllers.settle()
    assert events(client) == []
    for minutes in (0, 59):
        time.now += dt.timedelta(minutes=minutes)
        client.call("GET", client.at(OLD))
        api.controllers.settle()
    (event,) = events(client)
    assert (event["count"], event["firstTimestamp"]) == (2, "2026-01-01T00:00:00Z")
    time.now += dt.timedelta(minutes=62)
    api.controllers.settle()
    assert events(client) == []


def test_the_deletion_of_a_namespace_is_said(client, api):
    client.call("POST", "/api/v1/namespaces", {"metadata": {"name": "red"}})
    client.call("POST", client.at(NEW, namespace="red"), {"metadata": {"name": "a"}, "group": "x"})
    client.call("DELETE", "/api/v1/namespaces/red")
    api.controllers.settle()
    (event,) = events(client)
    assert (event["type"], event["reason"]) == ("Normal", "Deleted")
    assert event["involvedObject"] | {"kind": "Namespace", "name": "red"} == event["involvedObject"]


def test_clients_write_events_of_their_own(client):
    path = "/api/v1/namespaces/default/events"
    about = {"kind": "Member", "name": "ada", "namespace": "default"}
    body = {"metadata": {"name": "mine"}, "involvedObject": about, "reason": "Seen", "count": 1}
    assert client.call("POST", path, body)[0] == 201
    merge = "application/merge-patch+json"
    assert client.call("PATCH", f"{path}/mine", {"count": 2}, media_type=merge)[1]["count"] == 2
    elsewhere = {"metadata": {"name": "x"}, "involvedObject": {**about, "namespace": "other"}}
    code, found = client.call("POST", path, elsewhere)
    assert (code, found["details"]["causes"][0]["field"]) == (422, "involvedObject.namespace")
    assert client.call("POST", path.replace("default", "none"), body)[0] == 404


@pytest.mark.parametrize("value", [5, {"a": 1}, ["x"], True])
@pytest.mark.parametrize(
    "name", ["reportingComponent", "reportingInstance", "action", "reason", "message", "eventTime"]
)
def test_events_of_other_types_are_refused(client, name, value):
    texts = dict.fromkeys(["reportingComponent", "reportingInstance", "action", "reason"], "x")
    said = {"metadata": {"name": "mine"}, "eventTime": "2026-01-01T00:00:00.000000Z", **texts}
    said |= {"involvedObject": {"namespace": "default"}, name: value}
    code, found = client.call("POST", "/api/v1/namespaces/default/events", said)
    assert (code, [each["field"] for each in found["details"]["causes"]]) == (422, [name])
