"""`trundle serve --places`: who may do what with environments, and what becomes of runs whose server dies."""

import json
import os
import signal
import time
from pathlib import Path

import pytest
from access import TOKENS
from amounts import full
from apis import CONFIG, GROUP, SCHEMAS
from engines import package
from environment_servers import UserOfServer, served
from kept import APP, TENANT
from projects import Installer
from served import Served
from typer.testing import CliRunner

from trundle.catalog import Catalog
from trundle.cli._app import app
from trundle.cli._places import read_places
from trundle.environments import Environments

WAITING = package(
    "a",
    "1.0.0",
    {"io.trundle": "1"},
    {
        "a.App": APP.replace(
            "  count:\n",
            "  wait:\n    Scope: Public\n    Body:\n"
            "      - new(t:Process, name => wait, arguments => [wait]).deploy()\n  count:\n",
        ).replace(
            "          - new(t:Document, name => $each,",
            "          - new(t:Process, name => $each, arguments => [wait]).deploy()\n"
            "          - new(t:Document, name => $each,",
        )
    },
)
WAIT = """#!/bin/sh
sleep 600 &
echo $! > child
touch begun
while [ -e hold ]; do sleep 0.05; done
"""
RULES = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: looks, namespace: acme}
rules:
- {apiGroups: [catalog.trundle.dev], resources: [places, environments, environments/actions], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: works, namespace: acme}
rules:
- {apiGroups: [catalog.trundle.dev], resources: [environments], verbs: [create]}
- {apiGroups: [catalog.trundle.dev], resources: [environments/drafts], verbs: [update]}
- {apiGroups: [catalog.trundle.dev], resources: [environments/deploy], verbs: [create]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: looking, namespace: acme}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: looks}
subjects: [{kind: User, name: ann}, {kind: User, name: ben}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: working, namespace: acme}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: works}
subjects: [{kind: User, name: ben}]
"""


CLUSTER_WIDE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "mine"}}


def parent(process):
    status = Path(f"/proc/{process}/status").read_text()
    return status.partition("PPid:")[2].split()[0]


def member(name, **metadata):
    about = {"name": name, **metadata}
    return {"apiVersion": f"{GROUP}/v2", "kind": "Member", "metadata": about, "group": "red"}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return Installer(tmp_path_factory.mktemp("clubs"))(SCHEMAS, config=CONFIG).project.folder


@pytest.fixture
def places(tmp_path):
    """A file with a place, beside a catalog with a package whose deployments wait."""
    program = tmp_path / "wait.sh"
    program.write_text(WAIT)
    program.chmod(0o755)
    programs = {"programs": {"wait": str(program)}}
    (tmp_path / "programs.yaml").write_text(json.dumps(programs))
    place = {"folder": "deployed", "programs": "programs.yaml"}
    content = {"places": {"here": place}, "limits": {"seconds": 60, "memory": 512}}
    (tmp_path / "places.yaml").write_text(json.dumps(content))
    with Catalog(tmp_path / "catalog.db") as catalog:
        assert not catalog.upload([WAITING], tenant=TENANT).refused
    return tmp_path


@pytest.fixture
def start(project, places):
    """Starts servers, and ends them."""
    started = []

    def starting(*options):
        where = ["--catalog", places / "catalog.db", "--places", places / "places.yaml"]
        where += ["--store", places / "store.db"]
        started.append(Served(project, *where, *options))
        return started[-1]

    yield starting
    for each in started:
        each.kill()


@pytest.mark.full
def test_rules_say_who_may_look_work_and_call(start, places):
    (places / "tokens.csv").write_text(TOKENS)
    (places / "rules.yaml").write_text(RULES)
    server = start("--tokens", places / "tokens.csv", "--rules", places / "rules.yaml")
    ann, ben, root = (UserOfServer(server, places / "deployed", f"{x}-token") for x in ("ann", "ben", "root"))  # fmt: skip
    assert ann.get("places")["places"] == [{"name": "here"}]
    body = {"name": "shop", "place": "here"}
    code, refused = ann.ask("POST", "environments", body=body)
    assert code == 403
    assert 'User "ann" cannot create resource "environments"' in refused["message"]
    ben.create()
    form = {"package": WAITING.name}
    assert ann.ask("POST", "environments", "shop", "form", body=form)[0] == 403
    assert ben.post("environments", "shop", "form", **form) == {"schema": None}
    ben.add("web", {"one": 1})
    assert ann.ask("POST", "environments", "shop", "deploy", body={"draft": "me"})[0] == 403
    assert ben.ask("DELETE", "environments", "shop")[0] == 403
    assert ben.ask("GET", "environments", "shop", "drafts")[0] == 403
    assert ben.ask("GET", "environments", tenant="other")[0] == 403
    done = ben.run("deploy", draft="me")
    assert (done["state"], done["by"]) == ("succeeded", "ben")
    assert ann.action(done["number"]) == done
    call = {"object": "web", "method": "count"}
    assert ben.ask("POST", "environments", "shop", "call", body=call)[0] == 403
    assert root.run("call", **call)["result"]["value"] == 1
    stranger = UserOfServer(server, places, "other-token")
    assert stranger.ask("GET", "environments")[0] == 401


@pytest.mark.full
@pytest.mark.parametrize("number", [signal.SIGKILL, full(signal.SIGTERM)])
def test_a_run_whose_server_ends_is_shown_as_interrupted_and_goes_on(start, places, number):
    server = start()
    client = UserOfServer(server, places / "deployed")
    client.create()
    client.add("web", {"one": 1})
    (places / "hold").touch()
    begun = client.post("environments", "shop", "deploy", draft="me")
    wait((places / "begun").exists)
    running = client.action(begun["number"])
    wait(lambda: "Process.deploy" in client.action(begun["number"]).get("doing", ""))
    started = int((places / "child").read_text())
    assert running["state"] == "running"
    second = client.run("deploy")
    assert (second["state"], second["error"]["code"]) == ("failed", "environment-busy")
    server.stop(number)
    wait(lambda: not Path(f"/proc/{started}/cwd").exists())  # What a program has started ends, too.
    (places / "hold").unlink()
    again = UserOfServer(start(), places / "deployed")
    found = again.action(begun["number"])
    assert (found["state"], found["error"]["code"]) == ("interrupted", "interrupted")
    assert again.get("environments", "shop")["state"] == "unfinished"
    assert again.run("deploy")["result"]["deployment"] == 2
    assert set(again.files()) == {"one.yaml"}
    outcomes = again.get("environments", "shop", "deployments")["deployments"]
    assert [each["outcome"] for each in outcomes] == ["succeeded", "interrupted"]


@pytest.mark.full
def test_a_run_that_another_process_kills_is_interrupted_and_reached_no_limit(start, places):
    client = UserOfServer(start(), places / "deployed")
    client.create()
    client.add("web", {"one": 1})
    (places / "hold").touch()
    begun = client.post("environments", "shop", "deploy", draft="me")
    wait((places / "begun").exists)
    program = parent((places / "child").read_text().strip())
    os.kill(int(parent(program)), signal.SIGKILL)
    wait(lambda: client.action(begun["number"])["state"] != "running")
    found = client.action(begun["number"])
    assert (found["state"], found["error"]["code"]) == ("interrupted", "interrupted")
    assert "which another process sent" in found["error"]["message"]
    (places / "hold").unlink()
    assert client.run("deploy")["state"] == "succeeded"


@pytest.mark.full
def test_a_run_that_takes_too_long_is_ended_and_the_next_one_goes_on(start, places):
    content = (places / "places.yaml").read_text()
    limits = {"limits": {"seconds": 3}}
    (places / "places.yaml").write_text(json.dumps({**json.loads(content), **limits}))
    server = start()
    client = UserOfServer(server, places / "deployed")
    client.create()
    client.add("web", {"one": 1})
    (places / "hold").touch()
    ended = client.run("deploy", draft="me")
    assert (ended["state"], ended["error"]["code"]) == ("interrupted", "limit")
    assert "more than 3 seconds" in ended["error"]["message"]
    assert "(io." in ended["error"]["message"]  # Where it stands depends on the machine.
    (places / "hold").unlink()
    server.stop()
    (places / "places.yaml").write_text(content)
    client = UserOfServer(start(), places / "deployed")
    assert client.run("deploy")["state"] == "succeeded"
    assert set(client.files()) == {"one.yaml"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("places: {a: {folders: x}}", "$.places.a: expected only context, folder"),
        ("places: {a: {folder: 1}}", "$.places.a.folder: expected a text, found 1"),
        ("places: {a: {tenants: acme}}", "$.places.a.tenants: expected a list of tenants"),
        ("places: [a]", "$.places: expected a map"),
        ("limits: {seconds: 0}", "$.limits.seconds: expected a number above 0"),
        ("place: {}", "expected only limits, places, found place"),
        ("places: {a: {namespace: x}}", "--namespace: expected --server or --context with it"),
    ],
)
def test_places_that_cannot_be_used_are_refused(project, tmp_path, monkeypatch, content, message):
    monkeypatch.chdir(project)
    (tmp_path / "places.yaml").write_text(content)
    catalog = ["--catalog", str(tmp_path / "catalog.db")]
    given = ["--places", str(tmp_path / "places.yaml"), "--store", str(tmp_path / "store.db")]
    done = CliRunner().invoke(app, ["serve", "--port", "0", *catalog, *given])
    assert (done.exit_code, message in done.stderr) == (2, True), done.stderr
    done = CliRunner().invoke(app, ["serve", *given])
    assert (done.exit_code, "--places: expected --catalog with it" in done.stderr) == (2, True)


@pytest.fixture(scope="module")
def target(project):
    """A server that environments deploy to."""
    found = Served(project)
    for name in (TENANT, "other"):
        found.ask("POST", "/api/v1/namespaces", {"metadata": {"name": name}}).ok()
    yield found
    found.kill()


def members(target):
    items = target.ask("GET", f"/apis/{GROUP}/v2/members").ok()["items"]
    return sorted((each["metadata"]["namespace"], each["metadata"]["name"]) for each in items)


def places_of(folder, **places):
    file = folder / "places.yaml"
    file.write_text(json.dumps({"places": places}))
    return read_places(file)[0]


@pytest.mark.full
def test_a_place_reaches_the_namespace_of_its_tenant_and_no_other(target, tmp_path):
    place = {"server": target.url, "namespace": "{tenant}"}
    places = places_of(tmp_path, here=place, open={"server": target.url})
    url = f"sqlite:///{tmp_path / 'catalog.db'}"
    with served(url, tmp_path, places=places) as client:
        client.create()
        client.add("own", {"one": member("a")})
        assert client.run("deploy", draft="me")["state"] == "succeeded"
        client.add("hers", {"one": member("a", namespace="other")}, draft="hers")
        client.add("wide", {"one": CLUSTER_WIDE}, draft="wide")
        for draft, dry in (("hers", True), ("wide", True), ("wide", False)):
            refused = client.run("deploy", dry=dry, draft=draft)
            assert refused["state"] == "failed"
            message = refused["error"]["message"]
            assert "the namespace acme, which alone may be reached" in message
        assert members(target) == [(TENANT, "a")]
        assert target.ask("GET", "/api/v1/namespaces/mine").status == 404
        assert client.ended(client.ok(client.ask("DELETE", "environments", "shop"))["number"])


@pytest.mark.full
@pytest.mark.parametrize("known", [True, False])
def test_a_place_confines_what_was_made_before_it_did(target, tmp_path, known):
    url = f"sqlite:///{tmp_path / 'catalog.db'}"
    open_ = {"server": target.url}
    elsewhere = {"server": "http://127.0.0.1:1", "namespace": "other"}
    with served(url, tmp_path, places=places_of(tmp_path, here=open_)) as client:
        client.create()
        client.add("own", {"one": member("late")})
        assert client.run("deploy", draft="me")["state"] == "succeeded"
    assert members(target) == [("default", "late")]
    if not known:  # As an earlier release has kept it.
        with Catalog(url) as catalog, catalog.database.writing() as connection:
            kept = json.dumps({"store": {"url": target.url, "namespace": "default"}})
            connection.exec_driver_sql("update environments set place = null, providers = ?", (kept,))  # fmt: skip
    confined = places_of(tmp_path, there=elsewhere, here={**open_, "namespace": "{tenant}"})
    with served(url, tmp_path, packages=(), places=confined) as client:
        client.add("hers", {"two": member("b", namespace="other")}, draft="hers")
        client.add("wide", {"two": CLUSTER_WIDE}, draft="wide")
        for draft in ("hers", "wide"):
            refused = client.run("deploy", dry=True, draft=draft)
            assert refused["state"] == "failed"
            message = refused["error"]["message"]
            assert f"the namespace {TENANT}, which alone may be reached" in message
        assert client.run("deploy")["state"] == "succeeded"
        assert members(target) == [(TENANT, "late")]
    with served(url, tmp_path, packages=(), places=places_of(tmp_path)) as client:
        deleted = client.ended(client.ok(client.ask("DELETE", "environments", "shop"))["number"])
        assert (deleted["state"], members(target)) == ("succeeded", [])


@pytest.mark.full
def test_an_environment_that_no_place_reaches_stays_as_it_is(target, tmp_path):
    url = f"sqlite:///{tmp_path / 'catalog.db'}"
    places = places_of(tmp_path, here={"server": target.url, "namespace": TENANT})
    with served(url, tmp_path, places=places) as client:
        with Catalog(url) as catalog:
            settings = {"store": {"url": target.url, "namespace": "default"}}
            Environments(catalog).create("shop", tenant=TENANT, providers=settings)
        client.add("own", {"one": member("mine"), "two": member("hers", namespace="other")})
        assert client.run("deploy", draft="me")["state"] == "succeeded"
        assert members(target) == [("default", "mine"), ("other", "hers")]
        assert client.ended(client.ok(client.ask("DELETE", "environments", "shop"))["number"])
    assert members(target) == []


def wait(found, seconds=60):
    until = time.monotonic() + seconds
    while not found():
        assert time.monotonic() < until
        time.sleep(0.05)
