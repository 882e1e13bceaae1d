"""A registry that does not let the operator in: by its certificate, and by a password that is wrong, or expires."""

import base64
import json

import serving
from authorities import Authority
from clusters import until
from operators import (
    Operator,
    Publisher,
    condition,
    config,
    create,
    installed,
    said,
    shown,
    space_called,
    spec_of,
    wanted,
)


def keep_credentials(cluster, host, password, folder):
    """Has credentials where the operator's pod has its Secret, which kubectl makes as the advice says."""
    given = ("--docker-server", host, "--docker-username", "ali", "--docker-password", password)
    kind = ("create", "secret", "docker-registry", "trundle-registries", *given)
    made = json.loads(cluster.kubectl(*kind, "--dry-run=client", "-o", "json").stdout)
    (folder / "config.json").write_bytes(base64.b64decode(made["data"][".dockerconfigjson"]))


def test_a_registry_that_does_not_let_in_is_a_condition_until_it_does(
    cluster, converter, tmp_path, monkeypatch
):
    """Its certificate is not trusted, then the password is wrong, and at last it is right, and expires."""
    authority = Authority(tmp_path)
    pair = authority.server("registry")
    (tmp_path / "htpasswd").write_text(serving.HTPASSWD)
    auth = f"auth: {{htpasswd: {{realm: test, path: {tmp_path / 'htpasswd'}}}}}"
    tls = f"tls: {{certificate: {pair}, key: {pair}}}"

    def log_in(password):
        keep_credentials(cluster, host, password, tmp_path)

    def stands(kind, *words):
        until(lambda: all(each in said(cluster, space, "it", kind) for each in words))

    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
    with serving.registry(tmp_path / "registry", http=tls, auth=auth) as host:
        log_in(serving.PASSWORD)
        publisher = Publisher(tmp_path, host, "https")
        publisher.release("acme/locked", "1.0.0", [config("it", "1")])
        space = space_called(cluster, publisher, "locked")
        own = ["--namespace", space, "--home", space, "--identity", "locked"]
        monkeypatch.delenv("SSL_CERT_FILE")
        first = Operator(cluster, tmp_path / "first", *own)
        second = Operator(cluster, tmp_path / "second", *own)
        spec = spec_of(publisher, "acme/locked") | {"registry": f"https://{host}"}
        create(cluster, wanted("it", space, spec))
        try:
            first.follow()
            until(lambda: condition(shown(cluster, space, "it"), "Ready"))
            stands("Ready", "certificate")
            first.stop()
            log_in("wrong")
            monkeypatch.setenv("SSL_CERT_FILE", str(authority.certificate))
            second.follow()
            stands("Ready", "401", "docker-registry trundle-registries")
            assert condition(shown(cluster, space, "it"), "Ready") == ("False", "AccessRefused")
            log_in(serving.PASSWORD)
            until(lambda: installed(shown(cluster, space, "it")) == ("1.0.0", True))
            log_in("wrong")
            stands("Blocked", "401")
            assert condition(shown(cluster, space, "it"), "Blocked") == ("True", "AccessRefused")
            # Who reads it has no use for what helps on a machine.
            assert "docker login" not in json.dumps(shown(cluster, space, "it"))
            assert installed(shown(cluster, space, "it")) == ("1.0.0", True)
            log_in(serving.PASSWORD)
            publisher.release("acme/locked", "1.0.1", [config("it", "2")])
            until(lambda: installed(shown(cluster, space, "it")) == ("1.0.1", True))
        finally:
            first.stop(9)
            second.stop(9)
            cluster.kubectl("delete", "installation", "it", "-n", space, "--wait=false")
