"""The channels of a catalog under `/v1/` and `/v2/`."""

import hashlib

import jsonschema
import pytest
from followed_channels import PACKAGE, Publisher, check_from_outside
from listening_apps import listening
from publishing_support import WORD, channel_of, now
from starlette.applications import Starlette
from starlette.testclient import TestClient

from trundle.api.catalogs import CatalogRoutes
from trundle.catalog import Catalog, ChannelKey
from trundle.catalog._channel_rows import ChannelRows
from trundle.channels.publishing import unpublish
from trundle.channels.reading import open_channel, read_channel
from trundle.channels.reading.signatures import TrustFolder, trust
from trundle.version import SemVer

V1, V2 = "/v1/tenants/acme/channels", "/v2/tenants/acme/channels"
HERE = f"{PACKAGE}/{WORD}"


@pytest.fixture
def publisher(tmp_path):
    found = Publisher(tmp_path / "publisher")
    found.publish("1.0.0", "1.1.0")
    return found


@pytest.fixture
def catalog(tmp_path, publisher):
    with Catalog(tmp_path / "catalog.db") as opened:
        opened.channels.follow(publisher.subscription, publisher.root, tenant="acme")
        yield opened


@pytest.fixture
def client(catalog):
    return TestClient(Starlette(routes=CatalogRoutes(catalog).routes))


def test_the_first_version_shows_the_latest_of_a_channel_and_the_second_all(client, publisher):
    one, two = (client.get(f"{each}/{HERE}").json() for each in (V1, V2))
    digest = "sha256:" + hashlib.sha256((publisher.files / "all").read_bytes()).hexdigest()
    released = {each["version"]: each for each in two["versions"]}
    assert list(released) == ["1.1.0", "1.0.0"]
    assert two["latest"] == released["1.1.0"]
    assert (one["version"], one["digest"]) == ("1.1.0", two["latest"]["digest"])
    assert not {"latest", "versions", "unpublished"} & one.keys()
    assert "version" not in two
    for found, version in ((one, "v1"), (two, "v2")):
        assert (found["apiVersion"], found["kind"]) == (version, "Channel")
        assert (found["package"], found["channel"], found["state"]) == (PACKAGE, WORD, "valid")
        assert {"name": "all", "digest": digest} in [
            {"name": each["name"], "digest": each["digest"]} for each in found["files"]
        ]
        assert str(publisher.folder) not in str(found)
    assert (one["isPublic"], two["public"]) == (False, False)


def test_a_channel_without_a_latest_version_has_none_at_both(client, catalog, publisher):
    channel = channel_of(publisher.repository, keys=publisher.keys)
    unpublish(channel, SemVer.parse("1.1.0"), "it loses data", confirmed=True)
    publisher.export()
    (key,) = catalog.channels.due()
    catalog.channels.refresh(key)
    one, two = (client.get(f"{each}/{HERE}").json() for each in (V1, V2))
    assert not {"version", "digest", "latest"} & (one.keys() | two.keys())
    assert [each["version"] for each in two["versions"]] == ["1.0.0"]
    (gone,) = two["unpublished"]
    assert (gone["version"], gone["reason"]) == ("1.1.0", "it loses data")


@pytest.mark.parametrize("at", [V1, V2])
def test_a_list_has_the_first_of_the_channels_that_a_search_finds(catalog, client, at):
    with catalog._database.writing() as connection:
        rows = ChannelRows(connection)
        row = rows.one(ChannelKey("acme", PACKAGE, WORD))
        files = {name: rows.content(row.key, name) for name in ("latest", "all")}
        for package, name in ((PACKAGE, "Beta"), ("acme/web", WORD)):
            rows.add(row._replace(package=package, name=name), files)

    def listed(**query):
        found = client.get(at, params=query).json()
        names = [f"{each['package']} {each['channel']}" for each in found["channels"]]
        return names, found.get("number")

    every = [f"{PACKAGE} Beta", f"{PACKAGE} {WORD}", f"acme/web {WORD}"]
    assert listed() == (every, None)
    assert listed(limit="2") == (every[:2], 3)
    assert listed(search="beta") == (every[:1], 1)
    assert listed(search=f"DB {WORD}") == (every[1:2], 1)
    assert listed(search="acme/", limit="1") == (every[:1], 3)
    assert listed(search="nothing") == ([], 0)
    assert client.get(at, params={"limit": "0"}).status_code == 400
    found = catalog.channels.search("acme", "web", 1)
    assert (found.number, [each.package for each in found.channels]) == (1, ["acme/web"])


def test_a_list_has_what_a_channel_says_without_its_versions(client):
    (one,) = client.get(V1).json()["channels"]
    (two,) = client.get(V2).json()["channels"]
    assert one == client.get(f"{V1}/{HERE}").json()
    whole = client.get(f"{V2}/{HERE}").json()
    del whole["versions"], whole["unpublished"]
    assert two == whole
    assert client.get("/v2/tenants/other/channels").json() == {"channels": []}


@pytest.mark.parametrize("path", [V1, V2])
def test_the_signed_bytes_are_offered_as_they_are(client, publisher, path):
    def read(name):
        answer = client.get(f"{path}/{HERE}/files/{name}")
        assert answer.status_code == 200
        digest = hashlib.sha256(answer.content).hexdigest()
        assert answer.headers["etag"] == f'"sha256:{digest}"'
        return answer.content

    listed = [each["name"] for each in client.get(f"{path}/{HERE}").json()["files"]]
    for name in listed:
        assert read(name) == (publisher.files / name).read_bytes()
    check_from_outside(publisher.root, read)


def test_what_is_refused_is_said_and_what_was_verified_is_shown(client, catalog, publisher):
    publisher.publish("1.2.0")
    content = (publisher.files / "all").read_bytes()
    (publisher.files / "all").write_bytes(content.replace(b"1.2.0", b"1.2.9"))
    (key,) = catalog.channels.due()
    catalog.channels.refresh(key)
    for path in (V1, V2):
        found = client.get(f"{path}/{HERE}").json()
        assert found["state"] == "refused"
        assert found["problem"]["code"] == "content-mismatch"
        assert str(publisher.folder) not in found["problem"]["message"]
    assert client.get(f"{V1}/{HERE}").json()["version"] == "1.1.0"


def test_a_channel_that_none_follows_and_a_file_that_none_has_are_not_found(client, catalog):
    for path, said in (
        (f"{V2}/{PACKAGE}/beta", "the channel acme/db beta among those that acme sees"),
        (f"{V1}/other/{WORD}", "the channel other stable among those that acme sees"),
        (f"{V2}/{HERE}/files/9.root.json", "the file 9.root.json of acme/db stable"),
        (f"{V2}/a/x/files/beta", "the channel a/x/files beta"),
        (f"{V2}/{HERE}/files/beta", "the channel acme/db/stable/files beta"),
        (f"{V2}/files/all", "none"),
    ):
        found = client.get(path)
        assert found.status_code == found.json()["code"] == 404, path
        assert said in found.json()["message"]
        assert catalog.where not in found.json()["message"]
    assert client.get("/v2/tenants/-/channels").status_code == 400
    assert client.post(V2).status_code == 405
    assert client.delete(f"{V2}/{HERE}").status_code == 405


@pytest.mark.parametrize(("version", "path"), [("v1", V1), ("v2", V2)])
def test_documents_are_as_the_open_api_document_says(client, publisher, catalog, version, path):
    contract = client.get(f"/{version}/openapi.json").json()
    tenant = f"/{version}/tenants/{{tenant}}/channels"
    one = f"{tenant}/{{package}}/{{channel}}"
    described = {each for each in contract["paths"] if "/channels" in each}
    assert described == {tenant, one, f"{one}/files/{{file}}"}
    (publisher.files / "timestamp.json").unlink()
    (key,) = catalog.channels.due()
    catalog.channels.refresh(key)
    schema = {
        "$ref": "#/components/schemas/Channel",
        "components": contract["components"],
    }
    strict = contract["components"]["schemas"]
    for name in ("Channel", "SignedFile", "Trouble", "Release", "Unpublished"):
        if name in strict:
            strict[name]["additionalProperties"] = False
    for found in (client.get(f"{path}/{HERE}").json(), *client.get(path).json()["channels"]):
        jsonschema.validate(found, schema)
        assert found["problem"]["code"] == "unsigned-channel"


def test_the_served_files_are_a_channel_themselves(catalog, publisher, tmp_path):
    publisher.renew_root()
    publisher.publish("1.2.0")
    (key,) = catalog.channels.due()
    catalog.channels.refresh(key)
    store = TrustFolder(tmp_path / "seen")
    with listening(Starlette(routes=CatalogRoutes(catalog).routes)) as url:
        source = open_channel(f"{url}{V2}/{HERE}/files")
        store.trust(source.location, trust(publisher.root))
        served = read_channel(source, store, clock=now)
    assert served.signed
    assert [str(each.version) for each in served.channel.versions] == ["1.2.0", "1.1.0", "1.0.0"]
