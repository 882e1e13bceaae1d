"""Access to `trundle serve`: TLS, tokens, certificates, rules, impersonation, and what kubectl asks about them."""

import json
import os
import shutil
import ssl
import subprocess

import pytest
from access import RULES, TOKENS, written
from apis import CONFIG, GROUP, SCHEMAS
from authorities import Authority
from projects import Installer
from served import Served
from typer.testing import CliRunner

from trundle.cli._app import app

MEMBERS = f"/apis/{GROUP}/v2/namespaces/default/members"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clubs")
    return Installer(folder)(SCHEMAS, config=CONFIG).project.folder


@pytest.fixture
def folder(project, tmp_path):
    return shutil.copytree(project, tmp_path / "project")


@pytest.fixture(scope="module")
def secured(project, tmp_path_factory):
    """A server with TLS, tokens, certificates of clients and rules."""
    folder = shutil.copytree(project, tmp_path_factory.mktemp("secured") / "project")
    authority = Authority(folder)
    pair = authority.server("server")
    server = Served(folder, "--tls", pair, "--client-ca", authority.certificate, *written(folder))
    server.authority = authority.certificate
    server.signs = authority
    yield server
    server.kill()


def bearing(token):
    return {"authorization": f"Bearer {token}"}


def test_who_may_do_what(secured):
    body = {"metadata": {"name": "ada"}, "group": "red"}
    assert secured.ask("POST", MEMBERS, body, headers=bearing("ben-token")).status == 201
    assert secured.ask("GET", MEMBERS, headers=bearing("ben-token")).status == 200
    refused = secured.ask("DELETE", f"{MEMBERS}/bob", headers=bearing("ben-token"))
    assert (refused.status, refused.body["details"]) == (
        403,
        {"name": "bob", "group": GROUP, "kind": "members"},
    )
    assert secured.ask("DELETE", f"{MEMBERS}/ada", headers=bearing("ben-token")).status == 200
    assert secured.ask("GET", MEMBERS, headers=bearing("nobody")).body == {
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": "Unauthorized",
        "reason": "Unauthorized", "code": 401,
    }  # fmt: skip
    assert secured.ask("GET", MEMBERS).body["message"] == (
        f'members.{GROUP} is forbidden: User "system:anonymous" cannot list resource "members" in API group "{GROUP}" '
        'in the namespace "default"'
    )
    assert secured.ask("GET", "/version").status == 200


def test_certificates_of_clients_name_users(secured):
    secured.client = secured.signs.client("zoe", group="writers")
    try:
        review = {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}
        path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
        found = secured.ask("POST", path, review).ok()["status"]["userInfo"]
        assert (found["username"], found["groups"]) == ("zoe", ["writers", "system:authenticated"])
        assert secured.ask("GET", MEMBERS).status == 200
        assert secured.ask("POST", MEMBERS, {}).status == 403
    finally:
        secured.client = None


def test_a_certificate_of_another_authority_is_refused(secured, tmp_path):
    secured.client = Authority(tmp_path).client("zoe", group="system:masters")
    try:
        with pytest.raises((ssl.SSLError, OSError)):
            secured.ask("GET", MEMBERS)
    finally:
        secured.client = None


def test_a_user_acts_as_another_where_rules_allow_it(secured):
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"

    def whoami(token, headers):
        return secured.ask("POST", path, {}, headers={**bearing(token), **headers})

    as_ann = {"impersonate-user": "ann", "impersonate-group": "writers"}
    assert whoami("ben-token", as_ann).ok()["status"]["userInfo"] == {
        "username": "ann",
        "groups": ["writers", "system:authenticated"],
    }
    assert whoami("ann-token", as_ann).status == 403
    assert whoami("ben-token", {"impersonate-user": "root"}).status == 403
    assert whoami("ben-token", {**as_ann, "impersonate-group": "system:masters"}).status == 403
    assert whoami("ben-token", {"impersonate-group": "writers"}).status == 400
    assert whoami("root-token", {"impersonate-user": "ann", "impersonate-extra-a%2Fb": "c"}).ok()[
        "status"
    ]["userInfo"]["extra"] == {"a/b": ["c"]}


@pytest.mark.full
def test_rotated_files_count_without_a_restart(project, tmp_path):
    folder = shutil.copytree(project, tmp_path / "project")
    certificates = folder / "tls"
    certificates.mkdir()
    first, second = Authority(tmp_path), Authority(certificates)

    def install(authority):
        pem = authority.server("server").read_bytes()
        (certificates / "tls.key").write_bytes(pem)
        (certificates / "tls.crt").write_bytes(pem)

    install(first)
    server = Served(folder, "--tls", certificates, *written(folder))
    try:
        server.authority = first.certificate
        assert server.ask("GET", "/livez").status == 200
        install(second)
        with pytest.raises(ssl.SSLError):
            server.ask("GET", "/livez")
        server.authority = second.certificate
        assert server.ask("GET", "/livez").status == 200
        (certificates / "tls.crt").write_text("nonsense")
        assert server.ask("GET", "/livez").status == 200
        assert "what was read before still counts" in server.messages
        assert server.ask("GET", MEMBERS, headers=bearing("new")).status == 401
        written(
            folder, f"{TOKENS}new,ben,u2\n", RULES.replace("verbs: [create", "verbs: [list, create")
        )
        assert server.ask("GET", MEMBERS, headers=bearing("new")).status == 200
    finally:
        server.kill()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--host", "0.0.0.0"], "expected --tls and --tokens or --client-ca"),
        (["--host", "::", "--tokens", "tokens.csv"], "expected --tls, since other machines"),
        (["--client-ca", "tokens.csv"], "expected --tls with it"),
        (["--tls", "tokens.csv"], "expected a certificate in PEM with its key"),
        (["--tokens", "missing.csv"], "missing.csv: No such file"),
        (["--tokens", "rules.yaml"], "expected token,user,uid"),
        (["--rules", "tokens.csv"], "tokens.csv:1"),
    ],
)
def test_a_server_that_could_not_be_secure_does_not_start(folder, monkeypatch, options, said):
    written(folder)
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(app, ["serve", "--port", "0", *options])
    assert done.exit_code in {2, 5}, done.output
    assert said in " ".join(done.output.split())
    assert not (folder / "store.db").exists()


@pytest.mark.full
def test_pages_of_other_sites_cannot_use_a_server_without_access_control(folder):
    server = Served(folder)
    try:
        assert server.ask("GET", MEMBERS).status == 200
        for headers in (
            {"host": "evil.example.com"},
            {"host": f"evil.example.com:{server.port}"},
            {"origin": "https://evil.example.com"},
        ):
            refused = server.ask(
                "POST", MEMBERS, {"metadata": {"name": "x"}, "group": "a"}, headers=headers
            )
            assert (refused.status, refused.body["reason"]) == (403, "Forbidden")
        for headers in ({"host": f"localhost:{server.port}"}, {"host": f"[::1]:{server.port}"}):
            assert server.ask("GET", MEMBERS, headers=headers).status == 200
        assert server.ask("GET", MEMBERS).body["items"] == []
    finally:
        server.kill()


@pytest.mark.full
@pytest.mark.skipif(shutil.which("kubectl") is None, reason="needs kubectl")
def test_kubectl_asks_who_it_is_and_what_it_may_do(secured, tmp_path):
    def kubeconfig(*options):
        path = tmp_path / "kubeconfig"
        given = ["--port", str(secured.port), "--ca", secured.authority, *options]
        done = CliRunner().invoke(app, ["kubeconfig", *map(str, given)])
        assert done.exit_code == 0, done.output
        path.write_text(done.stdout)

    def kubectl(*arguments):
        return subprocess.run(
            ["kubectl", *arguments], capture_output=True, text=True, timeout=60, check=False,
            env={**os.environ, "KUBECONFIG": str(tmp_path / "kubeconfig"), "HOME": str(tmp_path)},
        )  # fmt: skip

    kubeconfig("--tokens", secured.folder / "tokens.csv", "--user", "ben")
    assert kubectl("auth", "can-i", "create", f"members.{GROUP}").stdout == "yes\n"
    assert kubectl("auth", "can-i", "delete", f"members.{GROUP}/bob").stdout == "no\n"
    assert kubectl("auth", "can-i", "delete", f"members.{GROUP}/ada").stdout == "yes\n"
    assert kubectl("auth", "can-i", "get", "/logs/x").stdout == "yes\n"
    listed = kubectl("auth", "can-i", "--list").stdout
    assert f"members.{GROUP}" in listed
    assert "[ada]" in listed
    whoami = json.loads(kubectl("auth", "whoami", "-o", "json").stdout)
    assert whoami["status"]["userInfo"]["groups"] == ["writers", "staff", "system:authenticated"]
    acting = kubectl("get", "members", "--as", "zoe", "--as-group", "writers")
    assert (acting.returncode, acting.stderr) == (0, "No resources found in default namespace.\n")
    assert 'User "zoe" cannot list' in kubectl("get", "members", "--as", "zoe").stderr
    kubeconfig("--client", secured.signs.client("kim", group="system:masters"), "-o", "yaml")
    assert kubectl("auth", "can-i", "*", "*").stdout == "yes\n"
