"""The packages of a catalog under `/v1/` and `/v2/`."""

import base64
import subprocess

import jsonschema
import pytest
import warm
from bundles import bundle
from starlette.applications import Starlette
from starlette.testclient import TestClient

from trundle.api.catalogs import CatalogRoutes, own
from trundle.catalog import Catalog
from trundle.version import SemVer

V1, V2 = "/v1/tenants/acme/packages", "/v2/tenants/acme/packages"


@pytest.fixture
def catalog(tmp_path):
    with Catalog(tmp_path / "catalog.db") as opened:
        yield opened


@pytest.fixture
def client(catalog):
    return TestClient(Starlette(routes=CatalogRoutes(catalog).routes))


def names(answer):
    return [(each["name"], each["version"]) for each in answer.json()["packages"]]


@pytest.mark.full
def test_their_generated_package_is_what_trundle_generates_and_keeps_every_law():
    folder = own.SCHEMAS.parent
    for arguments in (("generate", "--check"), ("check", "--strict"), ("verify",)):
        command = [*warm.script(always=True), *arguments]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_first_version_shows_the_latest_of_a_package_and_the_second_all(catalog, client):
    packages = [bundle("a.App", each) for each in ("1.9.0", "1.10.0", "2.0.0-rc.1")]
    catalog.upload([*packages, bundle("b.Lib", "0.1.0-a")], tenant="acme")
    assert names(client.get(V1)) == [("a.App", "1.10.0"), ("b.Lib", "0.1.0-a")]
    versions = [("a.App", each) for each in ("1.9.0", "1.10.0", "2.0.0-rc.1")]
    assert names(client.get(V2)) == [*versions, ("b.Lib", "0.1.0-a")]
    assert names(client.get(V2, params={"name": "a.App"})) == versions
    assert client.get(f"{V1}/a.App").json()["version"] == "1.10.0"
    assert client.get(f"{V2}/a.App/versions/1.9.0").json()["version"] == "1.9.0"
    assert client.get(f"{V1}/a.App/content").content == packages[1].archive
    assert client.get(f"{V2}/a.App/versions/1.9.0/content").content == packages[0].archive


@pytest.mark.full
def test_each_version_has_its_own_words(catalog, client):
    package = bundle("a.App", needs={"b.Lib": "1"}, Main="Name: a.App.Main\n")
    catalog.upload([bundle("b.Lib")], tenant="acme", public=True)
    catalog.upload([package], tenant="acme")
    common = {
        "kind": "Package",
        "name": "a.App",
        "version": "1.0.0",
        "tenant": "acme",
        "type": "Library",
        "classes": ["a.App.Main"],
    }
    requirements = {each.name: str(each.range) for each in package.requirements}
    assert requirements["b.Lib"] == "1"
    assert client.get(f"{V1}/a.App").json() == {
        **common, "apiVersion": "v1", "isPublic": False, "requires": requirements,
    }  # fmt: skip
    assert client.get(f"{V2}/a.App/versions/1.0.0").json() == {
        **common,
        "apiVersion": "v2",
        "public": False,
        "digest": package.digest,
        "format": "MuranoPL/1.0.0",
        "requirements": requirements,
        "files": ["Classes/Main.yaml", "Resources/text", "manifest.yaml"],
    }


def test_a_tenant_sees_its_own_packages_and_the_public_ones(catalog, client):
    catalog.upload([bundle("a.App")], tenant="acme")
    catalog.upload([bundle("b.Lib")], tenant="other", public=True)
    catalog.upload([bundle("c.Lib")], tenant="other")
    assert names(client.get(V2)) == [("a.App", "1.0.0"), ("b.Lib", "1.0.0")]
    assert client.get(f"{V1}/c.Lib").status_code == 404
    assert client.get("/v1/tenants/other/packages/c.Lib").json()["tenant"] == "other"


def test_a_list_has_the_first_of_the_packages_that_a_search_finds(catalog, client):
    catalog.upload([bundle(f"a.App{at}") for at in range(3)], tenant="acme")
    catalog.upload([bundle("b.Lib")], tenant="acme")
    found = client.get(V2, params={"search": "APP", "limit": "2"})
    assert names(found) == [("a.App0", "1.0.0"), ("a.App1", "1.0.0")]
    assert found.json()["number"] == 3
    assert client.get(V2, params={"limit": "1"}).json()["number"] == 4
    assert len(client.get(V2, params={"search": "lib"}).json()["packages"]) == 1
    assert "number" not in client.get(V2).json()
    for wrong in ("0", "-1", "x", "9" * 40, "\u0663", ""):
        answer = client.get(V2, params={"limit": wrong})
        assert (answer.status_code, "a number from 1 as limit" in answer.text) == (400, True)


@pytest.mark.parametrize("name", ["search", "limit"])
def test_a_search_is_refused_where_there_is_none(catalog, client, name):
    catalog.upload([bundle("a.App"), bundle("b.Lib")], tenant="acme")
    first = client.get(V1, params={name: "1"})
    assert (first.status_code, f"expected no {name}, found '1'" in first.text) == (400, True)
    assert "/v2/" in first.json()["message"]
    beside = client.get(V2, params={name: "1", "name": "a.App"})
    assert (beside.status_code, f"expected no {name} beside name" in beside.text) == (400, True)


@pytest.mark.parametrize("path", [V1, V2])
def test_packages_that_need_each_other_are_uploaded_together(catalog, client, path):
    packages = [bundle("a.App", needs={"b.Lib": "1"}), bundle("b.Lib")]
    archives = [base64.b64encode(each.archive).decode() for each in packages]
    alone = client.post(path, json={"archives": archives[:1]})
    assert (alone.status_code, alone.json()["stored"]) == (422, [])
    assert [each["code"] for each in alone.json()["findings"]] == ["unmet-requirement"]
    tried = client.post(path, json={"archives": archives}, params={"dryRun": "All"})
    assert (tried.status_code, len(tried.json()["stored"])) == (200, 2)
    assert catalog.offers("acme") == ()
    done = client.post(path, json={"archives": archives}, params={"public": "true"})
    assert (done.status_code, done.json()["findings"]) == (201, [])
    assert [str(each) for each in catalog.offers("other")] == ["a.App 1.0.0", "b.Lib 1.0.0"]
    again = client.post(path, json={"archives": archives})
    assert (again.status_code, again.json()["stored"]) == (200, [])


def test_one_archive_is_uploaded_as_it_is(catalog, client):
    headers = {"content-type": "application/x-tar"}
    done = client.post(V2, content=bundle("a.App").archive, headers=headers)
    assert done.status_code == 201
    assert catalog.package("a.App", SemVer.parse("1.0.0"), tenant="acme")[1] == bundle("a.App")


@pytest.mark.parametrize(
    ("content", "media_type", "code", "said"),
    [
        (b"x", "", 415, "application/x-tar"),
        (b"x", "text/plain", 415, "application/x-tar"),
        (b"x", "application/x-tar", 422, "the archive"),
        (b"{", "application/json", 400, "expected JSON with a list `archives`"),
        (b'{"archives": [1]}', "application/json", 400, "archives"),
        (b'{"archives": ["%"]}', "application/json", 400, "archives[0]: expected Base64"),
        (b'{"archives": ["eA=="]}', "application/json", 422, "the archive"),
        (b"\xff", "application/json", 400, "expected JSON"),
        (b'{"archives": %s}' % (b"[" * 5000), "application/json", 400, "archives"),
        (b'{"x": %s}' % (b"[" * 1_000_000), "application/json", 400, "nested deeper than"),
    ],
)
def test_what_is_no_package_is_refused_and_nothing_is_stored(
    catalog, client, content, media_type, code, said
):
    headers = {"content-type": media_type} if media_type else {}
    found = client.post(V2, content=content, headers=headers)
    assert found.status_code == found.json()["code"] == code
    assert said in found.json()["message"]
    assert catalog.offers("acme") == ()


@pytest.mark.parametrize(
    ("method", "path", "code", "said"),
    [
        ("GET", f"{V1}/no.App", 404, "found no version of no.App"),
        ("GET", f"{V2}/a.App/versions/1.0.1", 404, "found only 1.0.0"),
        ("GET", f"{V2}/a.App/versions/1.0", 400, "expected '.' and the patch number"),
        ("GET", f"{V2}/a.App/versions/1.0.1/content", 404, "found only 1.0.0"),
        ("GET", "/v2/tenants/-/packages", 400, "the tenant: expected 1 to 255 letters"),
        ("GET", f"{V1}?name=a.App", 400, "ask for the package itself"),
        ("POST", f"{V1}?public=yes", 400, "expected true or false as public"),
        ("POST", f"{V1}?dryRun=Some", 400, "expected All as dryRun"),
        ("DELETE", f"{V1}/a.App", 405, "does not allow this method"),
    ],
)
def test_requests_that_make_no_sense_are_refused(catalog, client, method, path, code, said):
    catalog.upload([bundle("a.App")], tenant="acme")
    found = client.request(method, path)
    assert found.status_code == found.json()["code"] == code
    assert said in found.json()["message"]
    assert str(catalog.where) not in found.text


def test_names_with_slashes_are_names(catalog, client, tmp_path):
    from trundle.packages import Package

    (tmp_path / "app.yaml").write_text("name: acme/crm\nversion: 1.0.0\n")
    package = Package.from_folder(tmp_path)
    catalog.upload([package], tenant="acme")
    assert client.get(f"{V1}/acme/crm").json()["name"] == "acme/crm"
    assert client.get(f"{V2}/acme%2Fcrm/versions/1.0.0").json()["name"] == "acme/crm"
    assert client.get(f"{V2}/acme/crm/versions/1.0.0/content").content == package.archive


@pytest.mark.full
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_what_is_answered_is_what_the_contract_says(catalog, client, version):
    catalog.upload([bundle("b.Lib", needs={}, Main="Name: b.Lib.Main\n")], tenant="acme")
    contract = client.get(f"/{version}/openapi.json").json()
    assert (contract["openapi"], contract["info"]["version"]) == ("3.0.3", version)
    schema = contract["components"]["schemas"]["Package"]
    strict = {**schema, "additionalProperties": False}
    path = f"/{version}/tenants/acme/packages"
    (listed,) = client.get(path).json()["packages"]
    one = f"{path}/b.Lib" + ("/versions/1.0.0" if version == "v2" else "")
    for found in (listed, client.get(one).json()):
        jsonschema.validate(found, strict)
    served = {
        each.path.replace("{number}", "{version}").replace(":path", "")
        for each in CatalogRoutes(catalog).routes
        if each.path.startswith(f"/{version}/")
    }
    assert served - {f"/{version}/openapi.json"} == set(contract["paths"])
