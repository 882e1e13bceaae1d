"""`trundle env` deploys to `trundle serve`, by its address and by a kubeconfig."""

import json

import pytest
from apis import CONFIG, GROUP, SCHEMAS
from kept import APPLICATIONS, TENANT, Kept, adding
from projects import Installer
from served import Served
from typer.testing import CliRunner

from trundle.cli._app import app
from trundle.cli._environments import opened_providers, provider_settings

MEMBERS = f"/apis/{GROUP}/v2/namespaces/default/members"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clubs")
    started = Served(Installer(folder)(SCHEMAS, config=CONFIG).project.folder)
    yield started
    started.kill()


def member(name, group):
    metadata = {"name": name}
    return {"apiVersion": f"{GROUP}/v2", "kind": "Member", "metadata": metadata, "group": group}


def kubeconfig(tmp_path, url):
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "clubs", "cluster": {"server": url}}],
        "users": [{"name": "me", "user": {}}],
        "contexts": [{"name": "clubs", "context": {"cluster": "clubs", "user": "me"}}],
        "current-context": "clubs",
    }
    file = tmp_path / "kubeconfig"
    file.write_text(json.dumps(content))
    return file


def test_the_current_context_is_kept_by_its_name(tmp_path):
    def create(name, file):
        arguments = ["create", name, "--catalog", str(tmp_path / "catalog.db"), "--context", "-"]
        return CliRunner().invoke(app, ["env", *arguments, "--kubeconfig", str(file)])

    file = kubeconfig(tmp_path, "http://127.0.0.1:1")
    assert create("shop", file).exit_code == 0
    shown = CliRunner().invoke(
        app, ["env", "show", "shop", "--catalog", str(tmp_path / "catalog.db")]
    )
    assert "cluster: context clubs, " in shown.stdout
    assert ": io.murano.Environment\n" in shown.stdout
    content = json.loads(file.read_text())
    del content["current-context"]
    for current in ({}, {"current-context": ""}, {"current-context": None}):
        file.write_text(json.dumps(content | current))
        without = create("web", file)
        assert (without.exit_code, "no current context; name a file" in without.stderr) == (7, True)


def test_a_context_that_no_kubeconfig_has_is_warned_about(tmp_path):
    """It is kept all the same: where deployments run, another kubeconfig may have it."""

    def run(command, name, *more):
        catalog = ("--catalog", str(tmp_path / "catalog.db"))
        return CliRunner().invoke(app, ["env", command, name, *more, *catalog])

    file = str(kubeconfig(tmp_path, "http://127.0.0.1:1"))
    words = f"{file}: expected the context club, found clubs; did you mean clubs?"
    made = run("create", "shop", "--context", "club", "--kubeconfig", file)
    assert (made.exit_code, made.stderr) == (0, f"warning: {words}\ncreated shop\n")
    refused = run("deploy", "shop")
    assert (refused.exit_code, refused.stderr) == (7, f"error: {words}\n")
    made = run("create", "known", "--context", "clubs", "--kubeconfig", file)
    assert made.stderr == "created known\n"
    made = run("create", "away", "--context", "clubs", "--kubeconfig", f"{file}-2")
    assert (made.exit_code, "kubeconfig-2: expected how to reach" in made.stderr) == (0, True)


def test_the_current_context_is_kept_with_its_file(tmp_path, monkeypatch):
    def settings(context, file=None):
        return provider_settings(None, None, None, context, file, None)["cluster"]

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    file = kubeconfig(tmp_path, "http://127.0.0.1:1")
    kept = {"context": "clubs", "kubeconfig": str(file), "namespace": "default"}
    assert settings("-", file) == kept
    monkeypatch.setenv("KUBECONFIG", "kubeconfig")
    assert settings("-") == kept
    assert settings("clubs") == {"context": "clubs", "namespace": "default"}
    usual = tmp_path / ".kube" / "config"
    usual.parent.mkdir()
    file.rename(usual)
    monkeypatch.delenv("KUBECONFIG")
    found = settings("-")
    assert found == kept | {"kubeconfig": "~/.kube/config"}
    monkeypatch.setenv("KUBECONFIG", "none")
    with opened_providers({"cluster": found}, "trundle-deploy/shop/1") as providers:
        assert list(providers) == ["cluster"]


def test_each_environment_owns_what_it_applies(server, tmp_path):
    kept = Kept(f"sqlite:///{tmp_path / 'catalog.db'}", tmp_path / "deployed")
    place, names = ["--catalog", kept.url, "--tenant", TENANT], ("shop", "warehouse" * 20)
    for name, who in zip(names, ("ann", "bob"), strict=True):
        kept.environments.create(name, tenant=TENANT)
        change = adding(
            kept.environments.model(name, tenant=TENANT), "web", {who: member(who, "red")}
        )
        kept.environments.edit(name, lambda _, change=change: change, tenant=TENANT, draft="me")
        arguments = ["deploy", name, "--draft", "me", "--server", server.url]
        done = CliRunner().invoke(app, ["env", *arguments, *place])
        assert done.exit_code == 0, done.stderr
    owners = []
    for who in ("ann", "bob"):
        (entry,) = server.ask("GET", f"{MEMBERS}/{who}").ok()["metadata"]["managedFields"]
        owners.append(entry["manager"])
    assert owners[0].startswith("trundle-deploy/shop/")
    assert owners[1].startswith("trundle-deploy/warehousewarehouse")
    assert owners[0].rpartition("/")[2] != owners[1].rpartition("/")[2]
    for name in names:
        assert CliRunner().invoke(app, ["env", "delete", name, *place]).exit_code == 0
    kept.close()


@pytest.mark.full
def test_an_environment_that_kept_no_name_is_deployed_with_its_usual_options(server, tmp_path):
    kept = Kept(f"sqlite:///{tmp_path / 'catalog.db'}", tmp_path / "deployed")

    def run(command, *arguments):
        place = ["--catalog", kept.url, "--tenant", TENANT]
        return CliRunner().invoke(app, ["env", command, "shop", *arguments, *place])

    file = kubeconfig(tmp_path, server.url)
    before = {"context": "-", "kubeconfig": str(file), "namespace": "default"}
    kept.environments.create("shop", tenant=TENANT, providers={"cluster": before})
    kept.edit(lambda model: adding(model, "web", {"ann": member("ann", "red")}))
    assert run("deploy", "--draft", "me").exit_code == 0
    for context, code in (("-", 0), ("clubs", 0), ("other", 3)):
        done = run("deploy", "--context", context, "--kubeconfig", str(file))
        assert done.exit_code == code, done.stderr
    found = kept.environments.get("shop", tenant=TENANT).providers["cluster"]
    assert found == before | {"context": "clubs"}
    assert run("delete").exit_code == 0
    kept.close()


@pytest.mark.full
@pytest.mark.parametrize("way", ["server", "context"])
def test_objects_come_and_go(server, tmp_path, way):
    kept = Kept(f"sqlite:///{tmp_path / 'catalog.db'}", tmp_path / "deployed")

    def run(command, *arguments):
        place = ["--catalog", kept.url, "--tenant", TENANT]
        done = CliRunner().invoke(app, ["env", command, "shop", *arguments, *place])
        assert done.exit_code == 0, done.stderr
        return done.stdout

    if way == "server":
        run("create", "--server", server.url)
    else:
        run("create", "--context", "-", "--kubeconfig", str(kubeconfig(tmp_path, server.url)))
    documents = {"ann": member("ann", "red"), "bob": member("bob", "blue")}
    kept.edit(lambda model: adding(model, "web", documents))
    run("deploy", "--draft", "me")
    found = server.ask("GET", MEMBERS).ok()["items"]
    assert {each["metadata"]["name"]: each["group"] for each in found} == {
        "ann": "red",
        "bob": "blue",
    }
    assert "unchanged" in run("deploy")
    run("delete")
    assert server.ask("GET", MEMBERS).ok()["items"] == []
    kept.close()


@pytest.mark.full
def test_fields_that_others_own_are_taken_over_by_force(server, tmp_path):
    kept = Kept(f"sqlite:///{tmp_path / 'catalog.db'}", tmp_path / "deployed")

    def run(command, *arguments):
        place = ["--catalog", kept.url, "--tenant", TENANT]
        return CliRunner().invoke(app, ["env", command, "shop", *arguments, *place])

    def group():
        return server.ask("GET", f"{MEMBERS}/eve").ok()["group"]

    def wanting(group):
        def edited(model):
            return adding(model | {APPLICATIONS: []}, "web", {"eve": member("eve", group)})

        kept.edit(edited)

    kept.environments.create("shop", tenant=TENANT)
    wanting("red")
    assert run("deploy", "--draft", "me", "--server", server.url).exit_code == 0
    theirs = {"media_type": "application/apply-patch+yaml", "fieldManager": "others"}
    server.ask("PATCH", f"{MEMBERS}/eve", member("eve", "green"), force="true", **theirs).ok()
    wanting("blue")
    refused = run("deploy", "--draft", "me")
    assert (refused.exit_code, "take them over by force" in refused.stderr) == (8, True)
    assert group() == "green"
    assert run("deploy", "--draft", "me", "--force").exit_code == 0
    assert group() == "blue"
    assert run("rollback", "1", "--force").exit_code == 0
    assert group() == "red"
    assert run("delete").exit_code == 0
    kept.close()
