"""Who asks: basic authentication, tokens and TLS at the real registry, and where credentials are found."""

import base64
import json
import os
import stat

import pytest
import serving
import token_service
from artifacts import LAYER, QUICK, push
from simulating import Simulator, status

from trundle.registry import (
    Credentials,
    NotFoundError,
    UnauthorisedError,
    UnreachableError,
    describe,
    find_credentials,
    open_registry,
)
from trundle.registry._auth import parse_challenges


def open_at(address, name="acme/crm"):
    return open_registry(address, settings=QUICK).repository(name)


@pytest.fixture
def docker(tmp_path):
    """Writes Docker's configuration."""

    def write(**config):
        folder = tmp_path / "docker"
        folder.mkdir(exist_ok=True)
        (folder / "config.json").write_text(json.dumps(config))

    return write


def entry(user="ali", password=serving.PASSWORD):
    return {"auth": base64.b64encode(f"{user}:{password}".encode()).decode()}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A registry that asks for a password."""
    folder = tmp_path_factory.mktemp("guarded")
    (folder / "htpasswd").write_text(serving.HTPASSWD)
    auth = f"auth: {{htpasswd: {{realm: tests, path: {folder / 'htpasswd'}}}}}"
    with serving.registry(folder, auth=auth) as address:
        yield address


def test_a_password_from_dockers_configuration_is_used(guarded, docker):
    docker(auths={guarded: entry()})
    repository = open_at(guarded)
    push(repository, b"one", tag="1.0.0")
    assert repository.tags() == ["1.0.0"]


def test_without_a_password_it_is_said_how_to_log_in(guarded):
    with pytest.raises(UnauthorisedError, match=f"docker login {guarded}"):
        open_at(guarded).tags()


def test_a_wrong_password_is_not_tried_again(guarded, docker):
    docker(auths={guarded: entry(password="wrong")})
    with pytest.raises(UnauthorisedError, match="HTTP status 401"):
        open_at(guarded).put_blob(b"x", describe(b"x", LAYER))


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with token_service.TokenService(tmp_path_factory.mktemp("tokens")) as running:
        yield running


@pytest.fixture(scope="module")
def tokened(tmp_path_factory, service):
    """A registry that asks for tokens."""
    with serving.registry(tmp_path_factory.mktemp("tokened"), auth=service.auth()) as address:
        yield address


@pytest.mark.full
def test_a_token_is_got_for_what_is_done_and_kept(tokened, service, docker):
    docker(auths={tokened: entry()})
    service.asked.clear()
    repository = open_at(tokened, "acme/tokened")
    assert repository.tags() == []
    push(repository, b"one", tag="1.0.0")
    repository.set_tag("2.0.0", push(repository, b"two").digest, expected=None)
    assert repository.tags() == ["1.0.0", "2.0.0"]
    scopes = [scope for _, asked, _ in service.asked for scope in asked]
    assert scopes[0] == "repository:acme/tokened:pull"
    # The registry names the actions of one scope in any order.
    assert {"pull", "push"} in [set(scope.rsplit(":", 1)[1].split(",")) for scope in scopes]
    assert len(service.asked) < 12


@pytest.mark.full
def test_a_blob_is_mounted_with_a_token_for_both(tokened, docker):
    docker(auths={tokened: entry()})
    source, target = open_at(tokened, "acme/from"), open_at(tokened, "acme/to")
    descriptor = describe(b"mounted", LAYER)
    source.put_blob(b"mounted", descriptor)
    target.pull_blob(source, descriptor)
    assert target.has_blob(descriptor)


def test_a_refresh_token_is_used(tokened, service, docker):
    docker(auths={tokened: {"identitytoken": "refresh"}})
    service.asked.clear()
    push(open_at(tokened, "acme/refreshed"), b"one", tag="1.0.0")
    assert {(method, grant) for method, _, grant in service.asked} == {("POST", "refresh_token")}


@pytest.mark.full
def test_a_token_that_ran_out_is_replaced(tokened, service, docker, monkeypatch):
    docker(auths={tokened: entry()})
    monkeypatch.setattr(service, "lifetime", -100)  # The registry allows for a minute of skew.
    repository = open_at(tokened, "acme/expired")
    with pytest.raises(UnauthorisedError):
        repository.tags()
    monkeypatch.setattr(service, "lifetime", 300)
    assert repository.tags() == []


def test_a_token_service_that_refuses_is_named(tokened, service, docker):
    docker(auths={tokened: entry(password="wrong")})
    with pytest.raises(UnauthorisedError, match=service.realm):
        open_at(tokened).tags()


@pytest.fixture(scope="module")
def secured(tmp_path_factory):
    """A registry with TLS, and its certificate."""
    folder = tmp_path_factory.mktemp("secured")
    key, cert = token_service.certificate(folder)
    with serving.registry(folder, http=f"tls: {{certificate: {cert}, key: {key}}}") as address:
        yield address, cert


@pytest.mark.full
def test_a_certificate_that_is_trusted_lets_in(secured, monkeypatch):
    address, cert = secured
    monkeypatch.setenv("SSL_CERT_FILE", str(cert))
    repository = open_at(f"https://{address}")
    push(repository, b"one", tag="1.0.0")
    assert repository.tags() == ["1.0.0"]


def test_a_certificate_that_is_not_trusted_is_not_accepted(secured):
    with pytest.raises(UnreachableError, match=r"(?i)certificate"):
        open_at(f"https://{secured[0]}").tags()


def test_a_registry_elsewhere_is_spoken_to_over_tls():
    base = open_registry("registry.example.com", settings=QUICK).repository("x").transport.base
    assert base == "https://registry.example.com"
    for near in ("localhost:5000", "127.0.0.1:5000", "[::1]:5000"):
        assert open_registry(near).repository("x").transport.base == f"http://{near}"


@pytest.mark.parametrize(
    "realm", ["http://tokens.example/", "ftp://tokens.example/", "", "/token", "http://["]
)
def test_credentials_are_not_sent_in_the_clear_for_a_registry_with_tls(secured, monkeypatch, realm):
    from trundle.registry._auth import Authenticator

    def send(*_arguments):
        pytest.fail("sent")

    authenticator = Authenticator(
        "registry.example.com", secure=True, find=lambda _host: Credentials("ali", "x"), send=send
    )
    with pytest.raises(UnauthorisedError, match="over https"):
        authenticator.answer("acme/crm", f'Bearer realm="{realm}",service="x"')


def test_a_token_service_in_trouble_is_asked_again(docker):
    with Simulator() as registry, Simulator() as broken:
        docker(auths={registry.address: entry()})
        challenge = f'Bearer realm="http://{broken.address}/token",service="x"'
        registry.faults.append(status(401, WWW_Authenticate=challenge))
        broken.faults.append(status(503))
        with pytest.raises(UnreachableError, match="token"):
            open_at(registry.address).tags()
        assert len(broken.requests) == QUICK.retries + 1
        broken.faults[:] = [lambda handler, *_: handler.reply(200, b'{"token": ""}') or True]
        with pytest.raises(UnauthorisedError, match="an answer without one"):
            open_at(registry.address).tags()


def test_challenges_are_taken_apart():
    header = 'Bearer realm="https://a/token",service="s",scope="repository:a/b:pull,push", Basic realm="x"'
    assert parse_challenges(header) == {
        "bearer": {"realm": "https://a/token", "service": "s", "scope": "repository:a/b:pull,push"},
        "basic": {"realm": "x"},
    }
    assert parse_challenges("Negotiate") == {}


# Docker's configuration


def test_no_configuration_means_no_credentials():
    assert find_credentials("registry.example.com") is None


@pytest.mark.parametrize(
    "name",
    ["registry.example.com", "https://registry.example.com", "https://registry.example.com/v1/"],
)
def test_an_entry_is_found_by_its_host(docker, name):
    docker(auths={"other.example.com": entry("eve"), name: entry()})
    assert find_credentials("registry.example.com") == Credentials("ali", serving.PASSWORD)
    assert find_credentials("example.com") is None


def test_the_hub_has_a_name_of_its_own(docker):
    docker(auths={"https://index.docker.io/v1/": entry()})
    assert find_credentials("registry-1.docker.io") == Credentials("ali", serving.PASSWORD)


def test_secrets_are_not_shown():
    assert "sesame" not in repr(Credentials("ali", "open sesame", "sesame"))


@pytest.mark.parametrize("text", ["{", "[]", '{"auths": 1}'])
def test_a_configuration_that_cannot_be_read_is_named(docker, tmp_path, text):
    docker()
    (tmp_path / "docker" / "config.json").write_text(text)
    with pytest.raises(UnauthorisedError, match=r"config\.json"):
        find_credentials("registry.example.com")


def test_an_entry_that_is_no_base64_is_named(docker):
    docker(auths={"registry.example.com": {"auth": "???"}})
    with pytest.raises(UnauthorisedError, match="base64"):
        find_credentials("registry.example.com")


@pytest.fixture
def helper(tmp_path, monkeypatch):
    """Makes a credential helper."""

    def make(script):
        path = tmp_path / "docker-credential-safe"
        path.write_text(f"#!/bin/sh\nread host\n{script}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    return make


@pytest.mark.parametrize(
    "setting", [{"credsStore": "safe"}, {"credHelpers": {"a.example": "safe"}}]
)
def test_a_helper_is_asked(docker, helper, setting):
    helper("""echo "{\\"Username\\": \\"ali\\", \\"Secret\\": \\"$1 $host\\"}\"""")
    docker(**setting)
    assert find_credentials("a.example") == Credentials("ali", "get a.example")


def test_a_refresh_token_of_a_helper_is_one(docker, helper):
    helper("""echo '{"Username": "<token>", "Secret": "refresh"}'""")
    docker(credsStore="safe")
    assert find_credentials("a.example") == Credentials(identity_token="refresh")


def test_what_a_helper_does_not_know_is_looked_for_in_the_file(docker, helper):
    helper("echo 'credentials not found in native keychain'; exit 1")
    docker(credsStore="safe", auths={"a.example": entry(), "b.example": {}})
    assert find_credentials("a.example") == Credentials("ali", serving.PASSWORD)
    assert find_credentials("b.example") is None


@pytest.mark.parametrize(
    ("script", "found"),
    [("echo locked; exit 1", "locked"), ("exit 2", "exit code 2"), ("echo x", "protocol")],
)
def test_a_helper_that_fails_is_named(docker, helper, script, found):
    helper(script)
    docker(credsStore="safe")
    with pytest.raises(UnauthorisedError, match=f"docker-credential-safe.*{found}"):
        find_credentials("a.example")


@pytest.mark.parametrize("name", ["absent", "../../x"])
def test_a_helper_that_is_not_there_is_named(docker, name):
    docker(credsStore=name)
    with pytest.raises(UnauthorisedError, match="no such program"):
        find_credentials("a.example")


def test_an_absent_repository_of_a_guarded_registry_is_not_found(guarded, docker):
    docker(auths={guarded: entry()})
    with pytest.raises(NotFoundError):
        open_at(guarded, "acme/absent").get_manifest("1.0.0")
