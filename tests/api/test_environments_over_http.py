"""Environments under `/v1/` and `/v2/`: drafts are changed, runs go on in the background."""

import contextlib
import json
import os
import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import jsonschema
import psycopg
import pytest
from amounts import full, some_of
from database_fixtures import in_file, on_server, server, template, url  # noqa: F401 - fixtures
from engines import package
from environment_servers import served
from kept import APP, PACKAGE, TENANT

from trundle.api.environments import Place
from trundle.api.environments import _runner as runner
from trundle.api.environments._turns import Turns
from trundle.database import BusyError
from trundle.engine import Limits
from trundle.environments import Actions, Environments
from trundle.packages import Package


def numbered(entry):
    return entry["number"]


TALKING = package(
    "a",
    "1.0.0",
    {"io.trundle": "1"},
    {
        "a.App": APP.replace(
            "  count:\n",
            "  say:\n    Scope: Public\n    Arguments: [{text: {Contract: $.string()}}]\n"
            "    Body:\n      - $log: logger('a')\n      - $log.info($text)\n      - Return: $text\n  count:\n",
        )
    },
)


@pytest.fixture
def client(tmp_path):
    with served(f"sqlite:///{tmp_path / 'catalog.db'}", tmp_path / "deployed") as found:
        yield found


@pytest.fixture
def client_anywhere(url, tmp_path):  # noqa: F811 - the fixture
    """The same with each kind of database."""
    with served(url, tmp_path / "deployed", [TALKING]) as found:
        yield found


@pytest.mark.parametrize("version", [full("v1"), "v2"])
def test_a_draft_is_made_and_deployed(client, version):
    client = client.at(version)
    made = client.create()
    assert (made["apiVersion"], made["state"], made["providers"]) == (version, "new", ["folder"])
    draft = client.add("web", {"one": 1})
    assert draft["uses"] == [{"name": "a", "version": "1.0.0"}, *draft["uses"][1:]]
    tried = client.run("deploy", dry=True, draft="me")
    assert (tried["state"], tried["dryRun"], client.files()) == ("succeeded", True, {})
    assert [(x["action"], x["key"]) for x in tried["result"]["changes"]] == [
        ("create", "folder/one.yaml")
    ]
    assert "+1" in tried["result"]["changes"][0]["diff"]
    done = client.run("deploy", draft="me")
    assert (done["state"], done["result"]["deployment"]) == ("succeeded", 1)
    assert client.files() == {"one.yaml": "1\n"}
    assert client.log(done["number"]) == ["created folder/one.yaml"]
    (deployment,) = client.get("environments", "shop", "deployments")["deployments"]
    assert (deployment["action"], deployment["outcome"]) == ("deploy", "succeeded")
    shown = client.get("environments", "shop")
    assert (shown["state"], shown["drafts"], shown["deployment"]) == ("deployed", [], 1)


@pytest.mark.full
def test_what_is_not_known_of_the_draft_is_not_overwritten(client):
    client.create()
    draft = client.add("web", {"one": 1})
    path = ("environments", "shop", "drafts", "me")
    wanted = {**draft["model"], "applications": []}
    assert client.ask("PUT", *path, body={"model": wanted})[0] == 428
    assert client.ask("PUT", *path, body={"model": wanted, "tag": ""})[0] == 409
    code, made = client.ask("PUT", *path, body={"model": wanted, "tag": draft["tag"]})
    assert (code, made["model"]["applications"]) == (200, [])
    stale = {"if-match": f'"{draft["tag"]}"'}
    code, refused = client.ask("PUT", *path, body={"model": wanted}, headers=stale)
    assert (code, "as it was read" in refused["message"]) == (409, True)
    again = client.add("web", {"one": 1})
    assert client.ask("DELETE", *path)[0] == 200
    assert client.ask("GET", *path)[0] == 404
    # A draft that was discarded and made anew is another one, whatever it looks like.
    new = client.add("web", {"one": 1})
    assert new["tag"] != again["tag"]
    code, _ = client.ask("PUT", *path, body={"model": wanted, "tag": again["tag"]})
    assert code == 409
    gone = client.ask("DELETE", *path, "applications", "web")
    assert (gone[0], gone[1]["model"]["applications"]) == (200, [])
    assert client.ask("DELETE", *path, "applications", "web")[0] == 404


@pytest.mark.full
def test_a_model_is_that_of_its_environment_and_fits_its_classes(client):
    client.create()
    draft = client.add("web", {"one": 1})
    path = ("environments", "shop", "drafts", "me")
    for model, code in (
        ({"?": {"type": "io.murano.Environment", "id": "other"}}, 400),
        ({**draft["model"], "applications": 7}, 422),
    ):
        body = {"model": model, "tag": draft["tag"]}
        assert client.ask("PUT", *path, body=body)[0] == code
    assert client.get(*path) == draft


@pytest.mark.full
def test_a_method_is_called_and_deployments_are_taken_back(client):
    client.create()
    client.add("web", {"one": 1})
    client.run("deploy", draft="me")
    called = client.run("call", object="web", method="put", arguments=["two"], named={"content": 2})
    assert called["result"]["value"] == {"one": 1, "two": 2}
    assert (called["action"], called["result"]["deployment"]) == ("call web.put", 2)
    back = client.run("rollback", deployment=1)
    assert (back["result"]["deployment"], set(client.files())) == (3, {"one.yaml"})
    model = client.get("environments", "shop", "deployments", "2")["model"]
    assert model["applications"][0]["documents"] == {"one": 1, "two": 2}
    assert client.run("upgrade")["result"]["upgraded"] == []
    number = client.ok(client.ask("DELETE", "environments", "shop"))["number"]
    assert (client.ended(number)["state"], client.files()) == ("succeeded", {})
    assert client.get("environments", "shop")["state"] == "deleted"
    actions = client.get("environments", "shop", "actions")["actions"]
    assert [each["action"] for each in actions] == [
        "delete", "upgrade", "rollback to 1", "call web.put", "deploy",
    ]  # fmt: skip
    kept = client.get("environments", "shop", "deployments")
    assert client.ask("DELETE", "environments", "shop", purge="true", dryRun="All") == (200, {})
    assert client.get("environments", "shop", "deployments") == kept
    assert client.ask("DELETE", "environments", "shop", purge="true") == (200, {})
    assert client.ask("GET", "environments", "shop")[0] == 404


@pytest.mark.full
def test_what_fails_says_why_and_goes_on(client):
    client.create()
    client.add("web", {"one": 1})
    assert client.run("call", object="web", method="count")["error"]["code"] == (
        "environment-unfinished"
    )
    client.run("deploy", draft="me")
    failed = client.run("call", object="web", method="fail")
    assert (failed["state"], failed["error"]["code"]) == ("failed", "thrown")
    assert "it broke" in failed["error"]["message"]
    assert client.log(failed["number"]) == ["created folder/failing.yaml"]
    assert client.run("call", object="web", method="count")["result"]["value"] == 1
    assert client.run("deploy")["result"]["deployment"] == 2
    assert set(client.files()) == {"one.yaml"}


def test_secrets_and_folders_are_not_shown(client, tmp_path):
    client.create()
    path = ("environments", "shop", "secrets", "word")
    assert client.ask("PUT", *path, body={"secret": "tea-4-two"}) == (200, {"name": "word"})
    client.add("web", {"one": {"password": "{{secret:word}}"}})
    tried = client.run("deploy", dry=True, draft="me")
    done = client.run("deploy", draft="me")
    assert "tea-4-two" in client.files()["one.yaml"]
    shown = [
        tried,
        done,
        client.log(done["number"]),
        *map(client.get, ("environments", "places")),
        client.get("environments", "shop"),
        client.get("environments", "shop", "deployments", "1"),
        client.get("environments", "shop", "model"),
    ]
    assert "{{secret:word}}" in json.dumps(shown)
    assert "tea-4-two" not in json.dumps(shown)
    assert str(tmp_path) not in json.dumps(shown)


@pytest.mark.full
def test_a_client_chooses_a_place_of_its_tenant_and_says_nothing_else(tmp_path):
    places = {
        "apart": Place({"folder": {"root": f"{tmp_path}/out/{{tenant}}/{{environment}}"}}),
        "hers": Place({}, ("other",)),
    }
    with served(f"sqlite:///{tmp_path / 'catalog.db'}", tmp_path / "out", places=places) as client:
        assert client.get("places") == {"places": [{"name": "apart"}]}
        body = {"name": "shop", "place": "hers"}
        assert client.ask("POST", "environments", body=body)[0] == 422
        for name in ("..", "../other", "a/b", "a..b", ".ssh", ""):
            body = {"name": name, "place": "apart"}
            assert client.ask("POST", "environments", body=body)[0] == 400, name
        body = {"name": "shop", "place": "apart", "providers": {"folder": {"root": "/"}}}
        assert client.ask("POST", "environments", body=body)[0] == 400
        client.create(place="apart")
        client.add("web", {"one": 1})
        client.run("deploy", draft="me")
        assert set(client.files()) == {"acme/shop/one.yaml"}


@pytest.mark.parametrize("version", [full("v1"), "v2"])
def test_an_environment_that_was_made_without_a_place_gets_one(tmp_path, version):
    roots = {each: f"{tmp_path}/out/{{environment}}/{each}" for each in ("a", "b")}
    places = {
        "a": Place({"folder": {"root": roots["a"]}}),
        "same": Place({"folder": {"root": roots["a"]}}),
        "b": Place({"folder": {"root": roots["b"]}}),
        "hers": Place({}, ("other",)),
    }
    path = ("environments", "shop", "place")
    with served(
        f"sqlite:///{tmp_path / 'catalog.db'}", tmp_path / "out", places=places
    ) as of_server:
        client = of_server.at(version)
        assert client.create(place="")["providers"] == []
        client.add("web", {"one": 1})
        failed = client.run("deploy", draft="me")
        assert "found no provider at all" in failed["error"]["message"]
        code, found = client.ask("PUT", *path, body={"place": "b"}, dryRun="All")
        assert (code, found["providers"]) == (200, ["folder"])
        assert client.get("environments", "shop")["providers"] == []
        for place in ("b", "", "a"):
            code, found = client.ask("PUT", *path, body={"place": place})
            assert (code, found["providers"]) == (200, ["folder"] if place else [])
        assert client.run("deploy", draft="me")["state"] == "succeeded"
        assert client.files() == {"shop/a/one.yaml": "1\n"}
        for place, expected in (("b", 422), ("", 422), ("hers", 422), ("same", 200)):
            assert client.ask("PUT", *path, body={"place": place})[0] == expected, place
        kept = Environments(client.catalog).get("shop", tenant=TENANT)
        assert (kept.place, kept.providers["folder"]["root"]) == (
            "same", f"{tmp_path}/out/shop/a",
        )  # fmt: skip
        assert client.ask("PUT", "environments", "none", "place", body={"place": "a"})[0] == 404
        assert client.ask("PUT", *path, tenant="other", body={"place": "hers"})[0] == 404


WAITING = (
    "  deploy:\n    Body:\n      - new(t:Process, name => wait, arguments => [cat, $.documents.get(pipe)]).deploy()\n"
    "      - new(t:Document, name => one, content => 1).deploy()\n"
)


def test_an_environment_is_not_put_elsewhere_while_a_run_goes_on(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    programs = tmp_path / "programs.yaml"
    programs.write_text(json.dumps({"programs": {"cat": shutil.which("cat")}}))
    process = {"process": {"programs": str(programs)}}
    places = {x: Place({"folder": {"root": f"{tmp_path}/out/{x}"}, **process}) for x in ("a", "b")}
    made = package(
        "a", "1.0.0", {"io.trundle": "1"}, {"a.App": APP.split("  deploy:")[0] + WAITING}
    )
    url_ = f"sqlite:///{tmp_path / 'catalog.db'}"
    with served(url_, tmp_path / "out", [made], places=places) as client:
        client.create(place="a")
        client.add("web", {"pipe": str(tmp_path / "pipe")})
        begun = client.post("environments", "shop", "deploy", draft="me")
        with opened_to_write(tmp_path / "pipe"):
            for name, dry, expected in (("b", "All", 200), ("b", "", 409), ("a", "", 409)):
                query = {"dryRun": dry} if dry else {}
                code, found = client.ask(
                    "PUT", "environments", "shop", "place", body={"place": name}, **query
                )
                assert code == expected, found
            assert "expected no other run of the environment" in found["message"]
        ended = client.ended(begun["number"])
        assert (ended["state"], client.files()) == ("succeeded", {"a/one.yaml": "1\n"}), ended
        assert Environments(client.catalog).get("shop", tenant=TENANT).place == "a"


@contextlib.contextmanager
def opened_to_write(pipe, seconds=60):
    """Waits for one that reads a pipe, which goes on when the block ends."""
    until = time.monotonic() + seconds
    while True:
        try:
            writing = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
            break
        except OSError:
            assert time.monotonic() < until
            time.sleep(0.05)
    yield
    os.close(writing)


@pytest.mark.full
@pytest.mark.parametrize("is_known", [True, False], ids=["known", "earlier release"])
def test_an_environment_is_put_at_its_own_place_whatever_confines_this_now(tmp_path, is_known):
    def confined(namespace, root="a"):
        settings = {"root": f"{tmp_path}/out/{root}"}
        more = {"namespace": namespace, "elsewhere": "refused"}
        return Place({"folder": settings | more}, (), {"folder": more})

    path = ("environments", "shop", "place")
    url_ = f"sqlite:///{tmp_path / 'catalog.db'}"
    with served(url_, tmp_path / "out", places={"here": confined("one")}) as client:
        client.create()
        client.add("web", {"one": 1})
        assert client.run("deploy", draft="me")["state"] == "succeeded"
        if not is_known:
            kept = json.dumps({"folder": {"root": f"{tmp_path}/out/a", "namespace": "default"}})
            with client.catalog.database.writing() as connection:
                connection.exec_driver_sql("update environments set place = null, providers = ?", (kept,))  # fmt: skip
    places = {"here": confined("two"), "same": confined("two"), "other": confined("three")}
    places["b"] = confined("two", "b")
    with served(url_, tmp_path / "out", packages=(), places=places) as client:
        for place, expected in (("b", 422), ("other", 422), ("here", 200), ("same", 200)):
            code, found = client.ask("PUT", *path, body={"place": place})
            assert code == expected, (place, found)
        found = Environments(client.catalog).get("shop", tenant=TENANT)
        assert (found.place, found.providers["folder"]["namespace"]) == ("same", "two")
        assert client.run("deploy")["state"] == "succeeded"


@pytest.mark.full
def test_another_tenant_sees_nothing_of_it(client):
    client.create()
    client.add("web", {"one": 1})
    for names in ((), ("drafts", "me"), ("actions",), ("model",)):
        assert client.ask("GET", "environments", "shop", *names, tenant="other")[0] == 404
    body = {"draft": "me"}
    assert client.ask("POST", "environments", "shop", "deploy", tenant="other", body=body)[0] == 404


@pytest.mark.full
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_what_is_answered_is_what_the_contract_says(client, version, tmp_path):
    contract = client.http.get(f"/{version}/openapi.json").json()
    client = client.at(version)
    client.create()
    client.add("web", {"one": 1})
    draft = client.get("environments", "shop", "drafts", "me")
    done = client.run("deploy", draft="me")
    failed = client.run("call", object="web", method="fail")
    shown = {
        "Draft": [draft],
        "Action": [done, failed, *client.get("environments", "shop", "actions")["actions"]],
        "Environment": client.get("environments")["environments"],
        "Deployment": [
            client.get("environments", "shop", "deployments", "1"),
            *client.get("environments", "shop", "deployments")["deployments"],
        ],
    }
    for kind, found in shown.items():
        schema = strict(contract["components"]["schemas"][kind], contract)
        for each in found:
            jsonschema.validate(each, schema)
    paths = {each.path.replace(":int", "") for each in client.http.app.routes}
    tenant = f"/{version}/tenants/{{tenant}}"
    beside = (f"{tenant}/packages", f"{tenant}/channels")
    assert {x for x in paths if x.startswith(f"/{version}/t") and not x.startswith(beside)} == {
        each for each in contract["paths"] if not each.startswith(beside)
    }


@pytest.mark.parametrize("version", [full("v1"), "v2"])
def test_static_methods_are_called_with_and_without_an_environment(tmp_path, version):
    method = (
        "  add:\n    Usage: Static\n    Scope: Public\n"
        "    Arguments: [{one: {Contract: $.int().notNull()}}, {two: {Contract: $.int(), Default: 2}}]\n"
        "    Body: {Return: {sum: $one + $two}}\n"
        "  write:\n    Usage: Static\n    Scope: Public\n"
        "    Body:\n      - new(t:Document, name => x, content => 1).deploy()\n"
    )
    made = package("a", "1.0.0", {"io.trundle": "1"}, {"a.App": APP + method})
    url_, folder = f"sqlite:///{tmp_path / 'catalog.db'}", tmp_path / "deployed"
    with served(url_, folder, [made]) as of_server:
        client = of_server.at(version)
        asked = {"class": "a.App", "method": "add"}
        for more, expected in (
            ({"named": {"one": 1}}, 3),
            ({"arguments": [1, 3], "version": "1", "package": "a"}, 4),
        ):
            assert client.post("actions", **asked, **more) == {"value": {"sum": expected}}
        for more, code, message in (
            ({}, 422, "one"),
            ({"method": "none"}, 422, "found none; write one of add, write ("),
            ({"method": "count"}, 422, "a static method of a.App, found count"),
            ({"class": "a.Op"}, 404, "a.Op"),
            ({"method": "write"}, 422, "no provider at all"),
            ({"object": "x"}, 400, "object"),
        ):
            found = client.ask("POST", "actions", body=asked | more)
            assert (found[0], message in found[1]["message"]) == (code, True), found[1]["message"]
        client.create()
        action = client.run("call", object=":a.App", method="add", named={"one": 1})
        assert (action["action"], action["result"]["value"]) == ("call :a.App.add", {"sum": 3})
        client.run("call", object=":a.App", method="write")
        assert set(client.files()) == {"x.yaml"}


FORM = """
Version: 2.4
ParametersSource: sizes
Application:
  ?: {type: a.App}
  documents: {size: $.main.size}
Forms:
  - main:
      fields:
        - {name: size, type: choice, label: Size, choices: $sizes}
"""
GIVES = "  sizes:\n    Usage: Static\n    Scope: Public\n    Body:\n      - Return: {sizes: [[s, Small], [l, Large]]}\n"


def asking(method=GIVES, version="1.0.0"):
    """A package with a form whose choices a method of it gives."""
    plain = package("a", version, {"io.trundle": "1"}, {"a.App": APP + method})
    files = {name: plain.file(name).decode() for name in plain.files}
    files["manifest.yaml"] += "\nUI: ui.yaml\n"
    return Package.from_files({**files, "UI/ui.yaml": FORM})


@pytest.mark.parametrize("version", [full("v1"), "v2"])
def test_a_form_is_computed_by_code_of_its_package(tmp_path, version):
    of = ("environments", "shop", "form")
    with served(f"sqlite:///{tmp_path / 'catalog.db'}", tmp_path, [asking()]) as found:
        client = found.at(version)
        assert client.ask("POST", *of, body={"package": "a"})[0] == 404
        client.create()
        schema = client.post(*of, package="a")["schema"]
        size = schema["properties"]["main"]["properties"]["size"]
        assert [each["const"] for each in size["oneOf"]] == ["s", "l"]
        assert client.get("environments", "shop", "drafts")["drafts"] == []
        assert client.ask("POST", *of, body={"package": "b"})[0] == 404
        assert client.ask("POST", *of, body={"package": "a", "form": "other.yaml"})[0] == 400
        assert client.ask("POST", *of, body={"package": "a", "more": 1})[0] == 400
        assert client.ask("POST", *of, tenant="other", body={"package": "a"})[0] == 404
        if version == "v2":
            assert client.ask("POST", *of, body={"package": "a", "version": "2"})[0] == 404


def test_code_of_a_form_is_within_limits_and_says_what_failed(tmp_path):
    of = ("environments", "shop", "form")
    broken = GIVES.replace(
        "- Return", "- Throw: Broken\n        Message: none today\n      - Return"
    )
    endless = GIVES.replace("- Return", "- While: true\n        Do: []\n      - Return")
    plain = package("b", "1.0.0", {"io.trundle": "1"}, {"b.App": APP.replace("=: a", "=: b")})
    packages = [asking(broken), asking(endless, "1.1.0"), plain]
    place, limits = f"sqlite:///{tmp_path / 'catalog.db'}", Limits(seconds=3.0)
    with served(place, tmp_path, packages, limits=limits) as client:
        client.create()
        code, said = client.ask("POST", *of, body={"package": "a", "version": "=1.0.0"})
        assert (code, "none today" in said["message"]) == (422, True), said
        code, said = client.ask("POST", *of, body={"package": "a", "version": "=1.1.0"})
        assert (code, said["reason"]) == (422, "Invalid"), said
        assert client.post(*of, package="b") == {"schema": None}


def strict(schema, contract):
    """A schema that refuses what it does not name, references followed."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return strict(contract["components"]["schemas"][name], contract)
    found = dict(schema)
    if "properties" in found:
        each = {key: strict(value, contract) for key, value in found["properties"].items()}
        found |= {"properties": each, "additionalProperties": False}
    if "items" in found:
        found["items"] = strict(found["items"], contract)
    if found.pop("nullable", False):
        found["type"] = [found["type"], "null"]
    return found


@pytest.mark.full
def test_the_second_version_names_the_versions_of_a_package(tmp_path):
    newer = [PACKAGE, package("a", "1.1.0", {"io.trundle": "1"}, {"a.App": APP})]
    with served(f"sqlite:///{tmp_path / 'catalog.db'}", tmp_path / "deployed", newer) as client:
        client.create()
        old = client.add("web", {}, version="=1.0.0")
        assert {"name": "a", "version": "1.0.0"} in old["uses"]
        new = client.at("v1").add("web", {}, draft="other")
        assert {"name": "a", "version": "1.1.0"} in new["uses"]
        path = client.path("environments", "shop", "drafts", "me", "applications")
        body = {"package": "a", "version": "=1.0.0"}
        assert client.http.post(path.replace("/v2/", "/v1/"), json=body).status_code == 400
        client.run("deploy", draft="me")
        done = client.run("upgrade")
        moved = [{"package": "a", "from": "1.0.0", "to": "1.1.0"}]
        assert done["result"]["upgraded"] == moved


def test_a_draft_is_deployed_as_it_was_read_or_not_at_all(client):
    client.create()
    client.add("web", {"one": 1})
    read = client.get("environments", "shop", "drafts", "me")
    client.add("other", {"two": 2})
    stale = client.run("deploy", draft="me", tag=read["tag"])
    assert (stale["state"], stale["error"]["code"]) == ("failed", "draft-outdated")
    assert client.files() == {}
    now = client.get("environments", "shop", "drafts", "me")
    assert client.run("deploy", draft="me", tag=now["tag"])["state"] == "succeeded"
    again = client.run("deploy", draft="me", tag=now["tag"])
    assert (again["state"], again["error"]["code"]) == ("failed", "draft-outdated")


def test_what_no_property_takes_is_warned_of(client):
    client.create()
    path = client.path("environments", "shop", "drafts", "me")
    body = {"package": "a", "properties": {"documnets": {"one": 1}}}
    answer = client.http.post(f"{path}/applications", json=body)
    expected = "$.documnets: expected a property that models of a.App 1.0.0 have, found 'documnets', which is left out; did you mean documents?"
    assert answer.headers["warning"] == f'299 - "{expected}"'
    model = answer.json()["model"]
    body = {"model": model, "tag": answer.json()["tag"]}
    again = client.http.put(path, json=body)
    assert (again.status_code, "warning" in again.headers) == (200, False)
    model["applications"][0]["more"] = 1
    body = {"model": model, "tag": again.json()["tag"]}
    assert "$.applications[0].more: expected" in client.http.put(path, json=body).headers["warning"]


def test_warnings_are_bounded_as_those_of_api_servers_are(client):
    client.create()
    path = client.path("environments", "shop", "drafts", "me")
    body = {"package": "a", "properties": {f"x{number}": 1 for number in range(1500)}}
    answer = client.http.post(f"{path}/applications", json=body)
    said = [value for name, value in answer.headers.multi_items() if name == "warning"]
    assert (answer.status_code, "$.x0: expected" in said[0], len(said) < 100) == (200, True, True)
    assert 4096 <= sum(len(each) - len('299 - ""') for each in said) < 4096 + 256
    body = {"package": "a", "properties": {"q" * 70_000: 1}}
    answer = client.http.post(f"{path}/applications", json=body)
    assert len(answer.headers["warning"]) == len('299 - ""') + 256


def test_applications_that_are_added_at_once_are_all_there(client):
    client.create()
    client.add("first", {})
    with ThreadPoolExecutor(3) as together:
        made = list(together.map(lambda name: client.add(name, {name: 1}), ("a", "b", "c")))
    assert len({each["tag"] for each in made}) == 3
    draft = client.get("environments", "shop", "drafts", "me")
    names = sorted(each["?"]["name"] for each in draft["model"]["applications"])
    assert names == ["a", "b", "c", "first"]


@pytest.mark.full
def test_a_deployment_that_failed_goes_on_by_the_same_request(client):
    client.create()
    client.add("web", {"one": 1})
    client.folder.mkdir(exist_ok=True)
    in_the_way = client.folder / "one.yaml"
    in_the_way.write_text("another's\n")
    assert client.run("deploy", draft="me")["state"] == "failed"
    assert client.run("deploy", draft="me")["state"] == "failed"
    in_the_way.unlink()
    misspelt = client.run("deploy", draft="mi")
    assert (misspelt["state"], misspelt["error"]["code"]) == ("failed", "draft-not-found")
    assert client.files() == {}
    assert client.run("deploy", draft="me")["state"] == "succeeded"
    assert client.files() == {"one.yaml": "1\n"}
    assert client.run("deploy", draft="mi")["error"]["code"] == "draft-not-found"


@pytest.mark.full
def test_a_draft_is_deployed_and_discarded_if_it_matches(client):
    client.create()
    read = client.add("web", {"one": 1})
    now = client.add("other", {"two": 2})
    path = ("environments", "shop", "drafts", "me")
    deploy = ("environments", "shop", "deploy")
    stale, fresh = ({"if-match": f'"{each["tag"]}"'} for each in (read, now))
    code, refused = client.ask("DELETE", *path, headers=stale)
    assert (code, "as it was read" in refused["message"]) == (409, True)
    assert client.ask("DELETE", *path, headers={"if-match": now["tag"]})[0] == 400
    body = {"draft": "me"}
    begun = client.ok(client.ask("POST", *deploy, body=body, headers=stale))
    failed = client.ended(begun["number"])
    assert (failed["state"], failed["error"]["code"]) == ("failed", "draft-outdated")
    assert client.get(*path) == now
    both = body | {"tag": read["tag"]}
    assert client.ask("POST", *deploy, body=both, headers=fresh)[0] == 400
    begun = client.ok(client.ask("POST", *deploy, body=body, headers=fresh))
    assert client.ended(begun["number"])["state"] == "succeeded"
    new = client.add("third", {"three": 3})
    assert client.ask("DELETE", *path, headers={"if-match": f'"{new["tag"]}"'})[0] == 200
    assert client.ask("GET", *path)[0] == 404


@pytest.mark.full
def test_an_action_goes_on_for_clients_where_the_server_lost_a_connection(on_server, tmp_path):  # noqa: F811 - the fixture
    slow = "  wait:\n    Scope: Public\n    Body:\n      - sleep(6)\n  count:\n"
    package_ = package(
        "a", "1.0.0", {"io.trundle": "1"}, {"a.App": APP.replace("  count:\n", slow)}
    )
    with (
        served(on_server, tmp_path / "deployed", [package_]) as client,
        psycopg.connect(on_server, autocommit=True) as connection,
    ):
        client.create()
        client.add("web", {"one": 1})
        client.run("deploy", draft="me")
        lock = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        ((seat,),) = connection.execute(lock).fetchall()
        begun = client.post("environments", "shop", "call", object="web", method="wait")
        connection.execute("SELECT pg_terminate_backend(%s)", (seat,))
        time.sleep(0.2)
        assert client.action(begun["number"])["state"] in {"waiting", "running"}
        assert client.ended(begun["number"])["state"] == "succeeded"


@pytest.mark.full
def test_what_cannot_be_there_is_not_found(client):
    client.create()
    missing = client.run("deploy", draft="mine")
    assert (missing["state"], missing["error"]["code"]) == ("failed", "draft-not-found")
    many = "9" * 30
    for path in (("actions", many), ("deployments", many), ("actions", many, "log")):
        assert client.ask("GET", "environments", "shop", *path)[0] == 404
    assert client.ask("GET", "environments", "shop", "actions", "1", "log", after=many)[0] == 400
    for number in (0, -1, 10**30):
        body = {"deployment": number}
        assert client.ask("POST", "environments", "shop", "rollback", body=body)[0] == 400
    body = {"secret": "text"}
    assert client.ask("PUT", "environments", "shop", "secrets", "%00", body=body)[0] == 400
    body = {"secret": "hush\0"}
    code, refused = client.ask("PUT", "environments", "shop", "secrets", "word", body=body)
    assert (code, "hush" in refused["message"]) == (400, False)
    body = {"model": {}, "tag": ""}
    assert client.ask("PUT", "environments", "shop", "drafts", "%07", body=body)[0] == 400


@pytest.mark.parametrize(
    "media_type",
    [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"],
)
@pytest.mark.parametrize("action", some_of(["deploy", "upgrade", "rollback", "call"], 4))
def test_a_form_of_another_site_begins_nothing(client, action, media_type):
    client.create()
    headers = {} if media_type is None else {"content-type": media_type}
    path = client.path("environments", "shop", action)
    found = client.http.post(path, headers=headers, content=b"")
    assert (found.status_code, found.json()["reason"]) == (415, "UnsupportedMediaType")
    assert client.get("environments", "shop", "actions")["actions"] == []


@pytest.mark.full
def test_an_empty_body_that_is_json_has_what_is_not_required(client):
    client.create()
    path = client.path("environments", "shop", "upgrade")
    begun = client.http.post(path, headers={"content-type": "application/json; charset=utf-8"})
    assert begun.status_code == 202
    assert client.ended(begun.json()["number"])["state"] == "succeeded"


@pytest.mark.full
def test_what_no_database_keeps_as_text_ends_no_run(client_anywhere):
    client = client_anywhere
    client.create()
    client.add("web", {"one": 1})
    client.run("deploy", draft="me")
    said = client.run("call", object="web", method="say", arguments=["a\0b"])
    assert (said["state"], said["result"]["value"]) == ("succeeded", "a\0b")
    assert client.log(said["number"]) == ["info: a\\0b"]
    before = client.get("environments", "shop", "actions")
    for name in ("x\0", "x\n"):
        for body in ({"object": name, "method": "count"}, {"object": "web", "method": name}):
            assert client.ask("POST", "environments", "shop", "call", body=body)[0] == 400
    assert client.get("environments", "shop", "actions") == before


@pytest.mark.full
def test_numbers_that_are_long_are_refused(client):
    client.create()
    for many in ("9" * 5000, "1" * 11, "-1", "\u0661", "x"):
        for names in (("actions", many), ("deployments", many), ("actions", many, "log")):
            assert client.ask("GET", "environments", "shop", *names)[0] == 404
        code, refused = client.ask("GET", "environments", "shop", "actions", "1", "log", after=many)
        assert (code, len(refused["message"]) < 200) == (400, True)


@pytest.mark.full
@pytest.mark.parametrize("depth", [250, 700, 950, 5000])
def test_bodies_that_are_deep_are_refused(client, depth):
    client.create()
    deep = b"[" * depth + b"]" * depth
    for method, name, body in (
        ("POST", "call", b'{"object": "web", "method": "put", "arguments": %s}' % deep),
        ("PUT", "drafts/me", b'{"model": {"x": %s}, "tag": ""}' % deep),
        ("POST", "drafts/me/applications", b'{"package": "a", "properties": {"x": %s}}' % deep),
        ("POST", "upgrade", deep),
    ):
        path = client.path("environments", "shop", name)
        headers = {"content-type": "application/json"}
        found = client.http.request(method, path, headers=headers, content=body)
        assert (found.status_code, found.json()["reason"]) == (400, "BadRequest"), name
        if name != "upgrade":
            assert "nested deeper than 200 levels" in found.json()["message"]
    assert client.get("environments", "shop", "actions")["actions"] == []


@pytest.mark.full
def test_objects_that_are_in_one_another_can_be_deployed(client):
    client.create()
    client.add("first", {"one": 1})
    draft = client.get("environments", "shop", "drafts", "me")
    model = inner = draft["model"]["applications"][0]
    for number in range(150):
        inner["other"] = {"?": {"type": "a.App", "id": f"o{number}"}, "documents": {str(number): 1}}
        inner = inner["other"]
    body = {"model": {**draft["model"], "applications": [model]}, "tag": draft["tag"]}
    assert client.ask("PUT", "environments", "shop", "drafts", "me", body=body)[0] == 200
    assert client.run("deploy", draft="me")["state"] == "succeeded"
    found = client.get("environments", "shop", "deployments", "1")["model"]["applications"][0]
    for _ in range(150):
        found = found["other"]
    assert found["documents"] == {"149": 1}


@pytest.mark.full
def test_lists_come_in_pages_where_a_limit_is_named(client_anywhere):
    client = client_anywhere
    client.create()
    client.add("web", {str(number): number for number in range(5)})
    for draft in ("me", "", ""):
        assert client.run("deploy", draft=draft)["state"] == "succeeded"
    log = ("actions", "1", "log")
    lists = (("deployments", ("deployments",)), ("actions", ("actions",)), ("lines", log))
    for name, path in lists:
        whole = client.get("environments", "shop", *path)
        assert list(whole) == [name]
        assert [*map(numbered, whole[name])] in ([3, 2, 1], [1, 2, 3, 4, 5])
        for limit in (1, 2, 3, 5, 2000):
            found, pages = [], client.pages(name, "environments", "shop", *path, limit=limit)
            for page in pages:
                assert 0 < len(page) <= limit
                found += page
            assert found == whole[name]
        assert client.get("environments", "shop", *path, limit=0) == whole
    begun = client.get("environments", "shop", "deployments", limit=2)
    client.run("deploy")
    token = begun["metadata"]["continue"]
    rest = client.get("environments", "shop", "deployments", **{"limit": 2, "continue": token})
    assert [*map(numbered, rest["deployments"])] == [1]
    assert "metadata" not in rest


@pytest.mark.full
def test_a_page_that_is_named_wrongly_is_refused(client):
    client.create()
    client.run("deploy", dry=True)
    for path in (("deployments",), ("actions",), ("actions", "1", "log")):
        for parameter in ("limit", "continue"):
            for given in ("x", "-1", "1.5", "9" * 5000):
                code, found = client.ask("GET", "environments", "shop", *path, **{parameter: given})
                assert (code, f"correct `{parameter}`" in found["message"]) == (400, True)
    both = {"after": 1, "continue": 1}
    assert client.ask("GET", "environments", "shop", "actions", "1", "log", **both)[0] == 400


@pytest.fixture
def held(monkeypatch):
    """Keeps runs and changes of drafts from ending."""
    ended = threading.Event()
    monkeypatch.setattr(runner.Runner, "_apart", lambda *_: {"held": ended.wait(60)})
    yield ended
    ended.set()


@pytest.mark.full
def test_the_end_of_a_run_is_written_when_the_database_is_free_again(client, monkeypatch):
    client.create()
    client.add("web", {"one": 1})
    monkeypatch.setattr(runner, "_PAUSE", 0.1)
    end, refused = Actions.end, []

    def busy(actions, action, *given, **outcome):
        if len(refused) < 3:
            refused.append(action.number)
            raise BusyError("the database", "a free one", "a busy one", "try again")
        end(actions, action, *given, **outcome)

    monkeypatch.setattr(Actions, "end", busy)
    assert client.run("deploy", draft="me")["state"] == "succeeded"
    assert client.run("call", object="web", method="fail")["state"] == "failed"
    assert refused == [1, 1, 1]


@pytest.mark.full
def test_a_server_closes_while_the_database_is_busy(tmp_path, monkeypatch):
    catalog = f"sqlite:///{tmp_path / 'catalog.db'}"
    tried = threading.Event()

    def busy(*_, **__):
        tried.set()
        raise BusyError("the database", "a free one", "a busy one", "try again")

    with monkeypatch.context() as now, served(catalog, tmp_path / "deployed") as client:
        now.setattr(Actions, "end", busy)
        client.create()
        client.post("environments", "shop", "deploy")
        assert tried.wait(60)
    with served(catalog, tmp_path / "deployed", packages=()) as client:
        assert client.action(1)["state"] == "interrupted"


@pytest.mark.full
def test_a_tenant_with_too_many_runs_is_refused_and_others_are_not(tmp_path, monkeypatch, held):
    monkeypatch.setattr(runner, "_MOST_ASKED", 5)
    catalog = f"sqlite:///{tmp_path / 'catalog.db'}"
    with served(catalog, tmp_path / "deployed") as client, contextlib.ExitStack() as left:
        left.callback(held.set)
        client.create()
        for _ in range(5):
            client.post("environments", "shop", "deploy")
        path = client.path("environments", "shop", "deploy")
        answer = client.http.post(path, json={})
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "5")
        assert "at most 5 actions" in answer.json()["message"]
        assert len(client.get("environments", "shop", "actions")["actions"]) == 5
        body = {"name": "shop", "place": "here"}
        assert client.ask("POST", "environments", body=body, tenant="other")[0] == 201
        begun = client.ask("POST", "environments", "shop", "deploy", body={}, tenant="other")
        assert begun[0] == 202
        held.set()
        for number in range(1, 6):
            assert client.ended(number)["state"] == "succeeded"
        assert client.run("deploy")["state"] == "succeeded"


@pytest.mark.full
def test_drafts_are_read_while_a_tenant_changes_many(client, held):
    client.create()
    path = ("environments", "shop", "drafts", "me", "applications")
    with ThreadPoolExecutor(6) as together:
        asked = [
            together.submit(client.ask, "POST", *path, body={"package": "a"}) for _ in range(6)
        ]
        until = time.monotonic() + 60
        while sum(each.done() for each in asked) < 3:
            assert time.monotonic() < until
            time.sleep(0.05)
        refused = {each.result()[0] for each in asked if each.done()}
        assert client.ask("GET", *path[:-1])[0] == 404
        held.set()
    assert refused == {429}


def test_tenants_take_turns():
    turns, free = Turns(3, 2), threading.Event()
    begun, going = [], threading.Semaphore(0)

    def do(name):
        begun.append(name)
        going.release()
        free.wait(60)

    for number in range(6):
        turns.submit("many", do, f"many {number}")
    turns.submit("few", do, "few")
    for _ in range(3):
        assert going.acquire(timeout=60)
    assert not going.acquire(blocking=False)
    free.set()
    turns.close()
    assert sorted(begun[:3]) == ["few", "many 0", "many 1"]
    assert sorted(begun) == ["few", *(f"many {number}" for number in range(6))]
