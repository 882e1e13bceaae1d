"""Options of `trundle serve --aggregated`, and a server whose cluster is away; `tests/cluster/test_aggregated.py` has the rest."""

import json

import pytest
import serving
from aggregated import AggregatedServer
from apis import CONFIG, GROUP, SCHEMAS
from authorities import Authority
from projects import Installer
from typer.testing import CliRunner

from trundle.cli._app import app

MEMBERS = f"/apis/{GROUP}/v2/namespaces/default/members"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clubs")
    return Installer(folder)(SCHEMAS, config=CONFIG).project.folder


@pytest.fixture
def folder(project, monkeypatch):
    monkeypatch.chdir(project)
    monkeypatch.setenv("COLUMNS", "200")
    return project


def kubeconfig(folder, address):
    config = folder / "away.json"
    config.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "it",
        "clusters": [{"name": "it", "cluster": {"server": f"http://{address}"}}],
        "users": [{"name": "it", "user": {"token": "t"}}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
    }))  # fmt: skip
    return config


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--aggregated"], "--aggregated: expected --tls with it"),
        (["--aggregated", "--tls", "x", "--tokens", "t"], "expected no --tokens with it"),
        (["--aggregated", "--tls", "x", "--rules", "t"], "expected no --rules with it"),
        (["--aggregated", "--tls", "x", "--client-ca", "t"], "expected no --client-ca with it"),
        (["--aggregated", "--tls", "x", "--installed"], "expected no --installed with it"),
        (["--aggregated", "--tls", "x", "--catalog", "c"], "expected no --catalog with it"),
        (["--aggregated", "--tls", "x", "--unix-socket", "s"], "expected no --unix-socket with it"),
        (["--aggregated", "--tls", "x", "--proxy-name", "n"], "--proxy-ca with it"),
        (["--proxy-ca", "x"], "--proxy-ca: expected --aggregated with it"),
        (["--kubeconfig", "x"], "--kubeconfig: expected --aggregated with it"),
    ],
)
def test_options_that_do_not_go_together(folder, arguments, said):
    done = CliRunner().invoke(app, ["serve", *arguments])
    assert (done.exit_code, said in " ".join(done.stderr.split())) == (2, True), done.stderr
    assert not (folder / "store.db").exists()


def test_a_cluster_that_cannot_be_asked_who_its_proxy_is(folder):
    with serving.refusing() as address:
        config = str(kubeconfig(folder, address))
        pair = str(Authority(folder).server("server"))
        done = CliRunner().invoke(app, ["serve", "--aggregated", "--tls", pair, "--kubeconfig", config])  # fmt: skip
    assert done.exit_code == 7
    assert "ConfigMap kube-system/extension-apiserver-authentication" in done.stderr


@pytest.mark.full
def test_without_the_cluster_all_is_refused(folder):
    (folder / "proxies").mkdir()
    own, proxies = Authority(folder), Authority(folder / "proxies")
    proxy = proxies.client("proxy", group="any")
    ann = {"X_Remote_User": "ann", "X_Remote_Group": "system:authenticated"}
    root = {"X_Remote_User": "root", "X_Remote_Group": "system:masters"}
    with serving.refusing() as address:
        options = (
            "--aggregated", "--tls", str(own.server("server")), "--kubeconfig", str(kubeconfig(folder, address)),
            "--proxy-ca", str(proxies.certificate), "--proxy-name", "proxy",
        )  # fmt: skip
        server = AggregatedServer(folder, options, authority=own.certificate)
        server.start()
        try:
            assert server.directly("GET", "/readyz").status == 200
            refused = server.directly("GET", MEMBERS, None, proxy, **ann)
            assert (refused.status, refused.json()["reason"]) == (503, "ServiceUnavailable")
            assert refused.headers["retry-after"] == "1"
            assert server.directly("GET", MEMBERS, Authorization="Bearer t").status == 503
            assert server.directly("GET", MEMBERS, None, proxy, **root).json()["items"] == []
            head = {"apiVersion": f"{GROUP}/v2", "kind": "Member"}
            body = {**head, "metadata": {"name": "ada"}, "group": "red"}
            assert server.directly("POST", MEMBERS, body, proxy, **root).status == 503
            assert server.directly("GET", MEMBERS, None, proxy, **root).json()["items"] == []
            other = proxies.client("stranger", group="any")
            assert server.directly("GET", MEMBERS, None, other, **root).status == 401
            groups = server.directly("GET", "/apis", None, proxy, **root).json()["groups"]
            assert [each["name"] for each in groups] == [GROUP]
            assert server.directly("GET", "/api/v1/namespaces", None, proxy, **root).status == 404
        finally:
            server.end()
