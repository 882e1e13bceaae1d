"""A status is a property like any other at versions whose CRD has no such subresource; tests/cluster compares it with the real server."""

import json

import pytest
from apis import Client
from projects import installer
from statuses import CONFIG, FILES, GROUP, PLURALS, VERSIONS, document

from trundle.api import Api, served_kinds
from trundle.kubernetes import WebhookAddress, definitions
from trundle.project import AdmissionHook, AdmissionRule
from trundle.store import Store
from trundle.version import ApiVersion

APART = {("Mixed", "v2"), ("Turned", "v1"), ("Open", "v2")}
MERGE, APPLY = "application/merge-patch+json", "application/apply-patch+yaml"
UP, DOWN = {"phase": "Up", "level": "low"}, {"phase": "Down", "level": "low"}


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    with installer(tmp_path_factory.mktemp("stated")) as install:
        yield install(FILES, config=CONFIG)


@pytest.fixture(scope="module")
def kinds(installed):
    return served_kinds([installed.project], installed.scheme)


@pytest.fixture
def client(installed, kinds, tmp_path):
    with Store(tmp_path / "store.db", installed.scheme) as store:
        yield Client(Api(store, kinds, "0.0.0"))


def at(kind, version, rest=""):
    return f"/apis/{GROUP}/{version}/namespaces/default/{PLURALS[kind]}{rest}"


def create(client, kind, version, **members):
    code, found = client.call("POST", at(kind, version), document(kind, version, **members))
    assert code == 201, found
    return found


def status(client, kind, version):
    return client.call("GET", at(kind, version, "/a"))[1].get("status")


def put(client, kind, version, part="", **members):
    path = at(kind, version, "/a")
    body = {**client.call("GET", path)[1], **members}
    return client.call("PUT", path + part, body)


@pytest.mark.parametrize(("kind", "version"), VERSIONS)
def test_a_new_object_keeps_its_status_where_it_is_no_subresource(client, kind, version):
    create(client, kind, version, status=UP)
    kept = None if (kind, version) in APART else UP
    assert status(client, kind, version) == kept


@pytest.mark.parametrize("way", ["put", "patch", "apply"])
@pytest.mark.parametrize(("kind", "version"), VERSIONS)
def test_it_is_written_with_the_object_or_apart(client, kind, version, way):
    create(client, kind, version, status=UP)
    before = client.call("GET", at(kind, version, "/a"))[1]

    def written(part):
        if way == "put":
            return put(client, kind, version, part, status=DOWN)
        path, changed = at(kind, version, f"/a{part}"), {"status": DOWN}
        if way == "patch":
            return client.call("PATCH", path, changed, media_type=MERGE)
        config = json.dumps(document(kind, version, status=DOWN)).encode()
        options = {"fieldManager": "me", "force": "true"}
        return client.call("PATCH", path, config, media_type=APPLY, **options)

    apart = (kind, version) in APART
    assert written("")[0] == 200
    assert status(client, kind, version) == (None if apart else DOWN)
    assert written("/status")[0] == (200 if apart else 404)
    assert status(client, kind, version) == DOWN
    generation = client.call("GET", at(kind, version, "/a"))[1]["metadata"]["generation"]
    assert (generation == before["metadata"]["generation"]) is apart


@pytest.mark.parametrize(
    ("kind", "apart", "plain"), [("Mixed", "v2", "v1"), ("Turned", "v1", "v2")]
)
def test_a_version_with_the_subresource_never_writes_over_it(client, kind, apart, plain):
    create(client, kind, plain, status=UP)
    for given in (DOWN, {}, None):
        assert put(client, kind, apart, status=given)[0] == 200
        assert status(client, kind, plain) == status(client, kind, apart) == UP
    assert put(client, kind, apart, "/status", status=DOWN)[0] == 200
    assert status(client, kind, plain) == DOWN
    body = client.call("GET", at(kind, plain, "/a"))[1]
    del body["status"]
    assert client.call("PUT", at(kind, plain, "/a"), body)[0] == 200
    assert status(client, kind, apart) is None


def test_a_status_that_is_no_subresource_is_validated(client):
    body = document("Plain", "v1", status={"count": -1})
    assert client.call("POST", at("Plain", "v1"), body)[0] == 422
    create(client, "Plain", "v1", status=UP)
    assert put(client, "Plain", "v1", status={"count": "x"})[0] == 422


def test_it_is_discovered_where_it_is(client):
    for version in ("v1", "v2"):
        listed = client.call("GET", f"/apis/{GROUP}/{version}")[1]["resources"]
        found = {each["name"] for each in listed if "/" in each["name"]}
        wanted = {f"{PLURALS[kind]}/status" for kind, known in APART if known == version}
        assert found == wanted


def test_a_path_of_a_subresource_that_is_not_there_names_the_object(client):
    create(client, "Plain", "v1")
    code, found = client.call("GET", at("Plain", "v1", "/a/status"))
    assert (code, found["reason"]) == (404, "NotFound")
    assert found["message"] == f'plains.{GROUP} "a" not found'


def test_crds_say_of_each_version_what_they_were_read_from(kinds):
    webhook = WebhookAddress(url="https://hook.example.com/convert")
    found = {
        (crd["spec"]["names"]["kind"], each["name"])
        for crd in definitions(kinds, webhook, lambda _: None)
        for each in crd["spec"]["versions"]
        if "subresources" in each
    }
    assert found == APART


class Stating:
    """A hook that writes into the status."""

    def create(self, request):
        request.object["status"] = {"phase": "by the hook"}

    update = create


@pytest.mark.parametrize("seen", ["v1", "v2"])
@pytest.mark.parametrize(("written", "phase"), [("v1", "by the hook"), ("v2", None)])
def test_a_hook_writes_the_status_where_the_client_could(
    installed, kinds, tmp_path, seen, written, phase
):
    where = {"use": "rules:Stating", "where": "trundle.yaml:9"}
    rule = AdmissionRule(type="Mixed", version=ApiVersion.parse(seen), **where)
    with Store(tmp_path / "store.db", installed.scheme) as store:
        hooks = [AdmissionHook(rule, Stating())]
        client = Client(Api(store, kinds, "0.0.0", admission=hooks))
        create(client, "Mixed", written, status=UP)
        assert (status(client, "Mixed", "v2") or {}).get("phase") == phase
        assert put(client, "Mixed", written, status=DOWN)[0] == 200
        assert (status(client, "Mixed", "v2") or {}).get("phase") == phase
