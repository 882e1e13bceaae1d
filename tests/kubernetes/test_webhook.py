"""What the webhook answers; tests/cluster has an API server in front of it."""

import base64
import json

import apis
import pytest
from apis import GROUP, NEW, OLD

from trundle.api import converted_kinds
from trundle.kubernetes import Answer, Conversions, WebhookApplication, WebhookMetrics


@pytest.fixture(scope="module")
def clubs(tmp_path_factory):
    with apis.clubs(tmp_path_factory.mktemp("webhook")) as installed:
        yield installed


@pytest.fixture
def application(clubs):
    metrics = WebhookMetrics()
    kinds = converted_kinds([clubs.project], clubs.scheme)
    return WebhookApplication(Conversions(kinds, clubs.scheme, metrics), metrics)


@pytest.fixture
def client(application):
    return Client(application)


class Client:
    """Asks the webhook."""

    def __init__(self, application):
        self.application = application

    def request(self, method, path, body=b""):
        found = self.application.answer(method, path, body)
        return found if isinstance(found, Answer) else found.result(60)

    def get(self, path):
        return self.request("GET", path)

    def post(self, path, given):
        body = given if isinstance(given, bytes) else json.dumps(given).encode()
        return self.request("POST", path, body)


def read(answer):
    return json.loads(answer.body)


def review(*objects, to):
    request = {"uid": "42", "desiredAPIVersion": f"{GROUP}/{to}", "objects": list(objects)}
    version = "apiextensions.k8s.io/v1"
    return {"apiVersion": version, "kind": "ConversionReview", "request": request}


def member(name, **properties):
    head = {"apiVersion": f"{GROUP}/{OLD}", "kind": "Member", "metadata": {"name": name}}
    return {**head, **properties}


@pytest.mark.parametrize("number", [1, 500])
def test_a_review_is_answered_in_its_order(client, number):
    given = [member(f"m{at}", team="red", age=at % 100) for at in range(number)]
    stored = read(client.post("/convert", review(*given, to="storage")))["response"]
    assert (stored["uid"], stored["result"]) == ("42", {"status": "Success"})
    found = read(client.post("/convert", review(*stored["convertedObjects"], to=OLD)))
    assert found["response"]["convertedObjects"] == given


def test_a_mistake_reaches_the_user_with_the_object_s_name(client):
    bad = {**member("bob", age=1), "team": 5}
    found = read(client.post("/convert", review(member("ann", team="red"), bad, to=NEW)))
    assert found["response"]["result"]["status"] == "Failed"
    assert "Member bob" in found["response"]["result"]["message"]


def test_what_is_no_review_is_a_bad_request(client):
    answer = client.post("/convert", {"kind": "Pod"})
    assert (answer.status, read(answer)["reason"]) == (400, "BadRequest")
    assert client.post("/convert", b"{").status == 400


def test_paths_and_methods(client):
    status = {
        (method, path): client.request(method, path).status
        for method, path in (
            ("GET", "/convert"),
            ("POST", "/readyz"),
            ("GET", "/readyz"),
            ("GET", "/livez"),
            ("GET", "/metrics"),
            ("GET", "/other"),
        )
    }
    assert list(status.values()) == [405, 405, 200, 200, 200, 404]


def test_readiness_ends_before_the_server_does(application, client):
    application.stop()
    assert client.get("/readyz").status == 503
    assert client.get("/livez").status == 200


def admission(operation, given, old=None):
    request = {"uid": "7", "operation": operation, "object": given, "oldObject": old}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}


def shown_at(client, version, given):
    stored = read(client.post("/convert", review(given, to="storage")))
    (found,) = stored["response"]["convertedObjects"]
    shown = read(client.post("/convert", review(found, to=version)))
    return shown["response"]["convertedObjects"][0]


def test_a_dropped_carrier_comes_back_as_a_patch(client):
    old = shown_at(client, NEW, member("ann", team="red", age=7))
    carrier = old["metadata"]["annotations"]
    given = {**old, "metadata": {"name": "ann"}}
    answer = read(client.post("/admit", admission("UPDATE", given, old)))["response"]
    assert (answer["uid"], answer["allowed"], answer["patchType"]) == ("7", True, "JSONPatch")
    patch = json.loads(base64.b64decode(answer["patch"]))
    assert patch == [{"op": "add", "path": "/metadata/annotations", "value": carrier}]
    same = read(client.post("/admit", admission("UPDATE", old, old)))["response"]
    assert same == {"uid": "7", "allowed": True}
    assert 'result="restored",version="v2"' in client.get("/metrics").body.decode()


def test_a_carrier_of_something_else_is_refused_on_create(client):
    given = shown_at(client, NEW, member("ann", team="red", age=7))
    assert read(client.post("/admit", admission("CREATE", given)))["response"]["allowed"]
    given["metadata"]["annotations"][f"{GROUP}/carrier"] = "1.0.0"
    refused = read(client.post("/admit", admission("CREATE", given)))["response"]
    assert (refused["allowed"], refused["status"]["code"]) == (False, 422)
    assert f"Member ann: the annotation {GROUP}/carrier" in refused["status"]["message"]


def test_what_is_no_admission_review_is_a_bad_request(client):
    for body in (b"{", b"[]", json.dumps(review(to=NEW)).encode()):
        assert client.post("/admit", body).status == 400


def test_metrics_say_how_large_carriers_are_and_what_was_remembered(client):
    given = member("ann", team="red", age=7)
    for _ in range(3):
        shown_at(client, NEW, given)
    found = client.get("/metrics").body.decode()
    about = f'group="{GROUP}",resource="members"'
    assert f'conversions_total{{{about},result="done",source="v1",target="storage"}} 1.0' in found
    assert f'carrier_bytes_count{{{about},version="v2"}} 1.0' in found
    assert "conversions_remembered_total 4.0" in found
