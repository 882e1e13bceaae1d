"""`trundle serve --catalog` with followed channels: servers as processes, over both databases, and openssl as the judge of the bytes."""

import hashlib
import json
import subprocess
import time
import urllib.error
import urllib.request
from types import SimpleNamespace

import pytest
from access import TOKENS
from apis import CONFIG, SCHEMAS
from database_fixtures import in_file, on_server, server, template, url  # noqa: F401 - fixtures
from followed_channels import PACKAGE, Publisher, canonical
from projects import Installer
from publishing_support import WORD
from served import Served

from trundle._clock import now
from trundle.catalog import Catalog
from trundle.channels import RefusedError
from trundle.cli._server_token import server_token
from trundle.installation import Install, install
from trundle.kubernetes.operator import Operator, _operator
from trundle.kubernetes.operator._reporting import Report

HERE = f"channels/{PACKAGE}/{WORD}"
ROLE = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reads, namespace: acme}
rules:
- {apiGroups: [catalog.trundle.dev], resources: RESOURCES, verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: readers, namespace: acme}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reads}
subjects: [{kind: User, name: USER}]
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return Installer(tmp_path_factory.mktemp("clubs"))(SCHEMAS, config=CONFIG).project.folder


@pytest.fixture
def publisher(tmp_path):
    found = Publisher(tmp_path / "publisher")
    found.publish("1.0.0", "1.1.0")
    return found


@pytest.fixture
def start(project, publisher, url, tmp_path):  # noqa: F811 - the fixture
    """Starts servers of one catalog that follows the channel, and ends them."""
    with Catalog(url) as catalog:
        catalog.channels.follow(publisher.subscription, publisher.root, tenant="acme")
    started = []

    def starting(*options, every="0.2"):
        store = tmp_path / f"store-{len(started)}.db"
        where = ["--catalog", url, "--store", store, "--refresh-channels", every]
        started.append(Served(project, *where, *options))
        return started[-1]

    yield starting
    for each in started:
        each.kill()


def raw(server, version, path, token=""):  # noqa: F811 - no fixture
    """The status and the content of an answer."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    where = f"{server.url}/{version}/tenants/acme/{path}"
    try:
        with urllib.request.urlopen(urllib.request.Request(where, headers=headers)) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read()


def shown(server, version="v2", path=HERE):  # noqa: F811 - no fixture
    status, content = raw(server, version, path)
    assert status == 200, content
    return json.loads(content)


def until(server, wanted):  # noqa: F811 - no fixture
    """The channel, once it is as wanted."""
    deadline = time.monotonic() + 60
    while not wanted(found := shown(server)):
        assert time.monotonic() < deadline, found
        time.sleep(0.05)
    return found


def openssl_accepts(key, signature, payload, folder):
    """Whether openssl takes an Ed25519 signature for one of a key, given as its 32 bytes."""
    prefix = bytes.fromhex("302a300506032b6570032100")
    for name, content in (("key", prefix + key), ("signature", signature), ("payload", payload)):
        (folder / name).write_bytes(content)
    command = ["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", "key"]
    command += ["-rawin", "-in", "payload", "-sigfile", "signature"]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0


def check_by_openssl(server, version, root, folder):  # noqa: F811 - no fixture
    """Verifies the served bytes from the publisher's root on: the signatures by openssl, the digests by hashlib."""
    trusted = json.loads(root)["signed"]
    read = {}
    for role in ("timestamp", "snapshot", "targets"):
        status, content = raw(server, version, f"{HERE}/files/{role}.json")
        assert status == 200
        document = json.loads(content)
        for each in document["signatures"]:
            assert each["keyid"] in trusted["roles"][role]["keyids"]
            key = bytes.fromhex(trusted["keys"][each["keyid"]]["keyval"]["public"])
            signature, payload = bytes.fromhex(each["sig"]), canonical(document["signed"])
            assert openssl_accepts(key, signature, payload, folder)
            assert not openssl_accepts(key, signature, payload + b" ", folder)
        read[role] = document["signed"]
    for name in ("latest", "all"):
        status, content = raw(server, version, f"{HERE}/files/{name}")
        signed = read["targets"]["targets"][f"{PACKAGE}/{WORD}/{name}"]
        assert hashlib.sha256(content).hexdigest() == signed["hashes"]["sha256"]
    return [each["version"] for each in json.loads(content)["versions"]]


def test_a_server_reads_channels_again_and_serves_what_is_signed(start, publisher, tmp_path):
    one = start()
    assert shown(one, "v1")["version"] == "1.1.0"
    publisher.publish("1.2.0")
    found = until(one, lambda channel: channel["latest"]["version"] == "1.2.0")
    assert [each["version"] for each in found["versions"]] == ["1.2.0", "1.1.0", "1.0.0"]
    assert shown(one, "v1")["version"] == "1.2.0"
    for version in ("v1", "v2"):
        signed = check_by_openssl(one, version, publisher.root, tmp_path)
        assert signed == ["1.2.0", "1.1.0", "1.0.0"]
    latest = publisher.files / "latest"
    latest.write_bytes(latest.read_bytes().replace(b"1.2.0", b"6.6.6"))
    assert until(one, lambda channel: channel["state"] == "refused")["latest"]["version"] == "1.2.0"
    assert shown(one, "v1")["state"] == "refused"
    assert check_by_openssl(one, "v2", publisher.root, tmp_path) == ["1.2.0", "1.1.0", "1.0.0"]
    assert "channel acme/db stable of acme is refused" in one.messages
    publisher.export()
    until(one, lambda channel: channel["state"] == "valid")
    assert one.stop() == 0


@pytest.mark.full
def test_servers_of_one_catalog_show_the_same(start, publisher, tmp_path):
    servers = [start(), start()]
    for version in ("1.2.0", "1.3.0"):
        publisher.publish(version)
        for each in servers:
            found = until(each, lambda channel, now=version: channel["latest"]["version"] == now)
            assert found["state"] == "valid"
            assert check_by_openssl(each, "v2", publisher.root, tmp_path)[0] == version
    assert [each.stop() for each in servers] == [0, 0]


@pytest.mark.full
@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_rules_say_who_sees_channels_and_their_bytes(start, tmp_path):
    (tmp_path / "tokens.csv").write_text(TOKENS)
    rules = ROLE.replace("RESOURCES", "[channels, channels/files]").replace("USER", "ann")
    other = ROLE.replace("RESOURCES", "[channels]").replace("USER", "ben")
    other = other.replace("reads", "lists").replace("readers", "listers")
    (tmp_path / "rules.yaml").write_text(f"{rules}---\n{other}")
    one = start("--tokens", tmp_path / "tokens.csv", "--rules", tmp_path / "rules.yaml", every="0")
    tokens = {user: token for token, user, *_ in (x.split(",") for x in TOKENS.splitlines())}

    def statuses(user):
        paths = ("channels", HERE, f"{HERE}/files/all")
        found = {
            raw(one, version, path, tokens.get(user, ""))[0]
            for version in ("v1", "v2")
            for path in paths[:2]
        }
        return found, raw(one, "v2", paths[2], tokens.get(user, ""))[0]

    assert statuses("ann") == ({200}, 200)
    assert statuses("ben") == ({200}, 403)
    assert statuses("") == ({403}, 403)
    assert raw(one, "v2", "packages", tokens["ann"])[0] == 403


@pytest.fixture
def guarded(start, tmp_path):
    """A server that ann may read channels from, and how it is asked."""
    (tmp_path / "tokens.csv").write_text(TOKENS)
    rules = ROLE.replace("RESOURCES", "[channels, channels/files]").replace("USER", "ann")
    (tmp_path / "rules.yaml").write_text(rules)
    options = ("--tokens", tmp_path / "tokens.csv", "--rules", tmp_path / "rules.yaml")
    return start(*options, every="0")


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_commands_show_the_server_that_they_name_their_token(
    guarded,
    publisher,
    empty,
    url,  # noqa: F811 - the fixture
    monkeypatch,
):
    monkeypatch.setenv("XDG_STATE_HOME", str(empty.folder / "home"))
    packages = f"oci:{publisher.folder / 'packages'}//{PACKAGE}"
    files = f"{guarded.url}/v2/tenants/acme/{HERE}/files"
    there = ("--channel", files, "--root", str(publisher.keys / "root.json"))
    follow = ("catalog", "follow", *there, "--catalog", "other.db")

    def run(code, *arguments):
        done = empty.run(*arguments)
        assert done.exit_code == code, done.output
        assert "ann-token" not in done.output
        return done.output

    for named, token in (
        ("", "ann-token"),
        (guarded.url, ""),
        ("http://localhost:1", "ann-token"),
    ):
        monkeypatch.setenv("TRUNDLE_SERVER", named)
        monkeypatch.setenv("TRUNDLE_TOKEN", token)
        for command in (("install", packages, *there), ("channel", "show", *there)):
            assert "status 40" in run(7, *command)
    monkeypatch.setenv("TRUNDLE_SERVER", guarded.url)
    monkeypatch.setenv("TRUNDLE_TOKEN", "ann-token")
    assert f"installed {PACKAGE} 1.1.0" in run(0, "install", packages, *there)
    assert "1.1.0" in run(0, "channel", "show", *there)
    run(0, *follow)
    publisher.publish("1.2.0")
    with Catalog(url) as catalog:
        (key,) = catalog.channels.due()
        catalog.channels.refresh(key)
    assert "1.2.0" in run(0, "catalog", "refresh", "--catalog", "other.db")
    assert f"upgraded {PACKAGE} 1.1.0 -> 1.2.0" in run(0, "upgrade", "--now")
    assert guarded.stop() == 0


class Following:
    """Installs the package of the channel at a URL, as the operator's looks do; only the cluster is left out."""

    asked: Install

    def __init__(self, _cluster, installation, *_further):
        self.installation = installation

    def tidy(self):
        pass

    def follow(self, _document):
        report = Report()
        try:
            install(self.installation, self.asked)
        except RefusedError as error:
            report.stops(error.refusals)
        else:
            report.says("Applied", str(self.installation.packages()[0].version), ready=True)
        return report


@pytest.fixture
def looking(monkeypatch, tmp_path):
    """Looks once as `trundle kube operator` with a folder for the token does; gives the condition `Ready`, and what was logged."""

    class Keeper:
        """Keeps nothing: what is installed is in the folder."""

        def __init__(self, *_given):
            pass

        load = save = __init__

    class Found:
        def listed(self, _namespace):
            named = {"name": "db", "namespace": "shop", "uid": "1"}
            spec = {"registry": "oci:/folder", "package": "/a"}
            return [{"kind": "Installation", "metadata": named, "spec": spec}]

        def set_finalizer(self, *_given, **_named):
            pass

        record = set_finalizer

        def write_status(self, _document, status):
            said.extend(each for each in status["conditions"] if each["type"] == "Ready")

    said, lines = [], []
    monkeypatch.setattr(_operator, "Keeper", Keeper)
    monkeypatch.setattr(_operator, "Follower", Following)
    rolling = SimpleNamespace(
        begin_look=lambda: None, clean=lambda: None, tidy=list, has_moved=lambda: False,
        unreadable=lambda *_: (),
    )  # fmt: skip
    operator = Operator(
        SimpleNamespace(client=None), tmp_path / "cache", clock=now, home="home", rolling=rolling,
        log=lines.append, token=server_token(tmp_path / "secret", lines.append),
    )  # fmt: skip
    operator._found = Found()

    def look():
        lines.clear()
        operator.look()
        return said.pop()["message"], [
            each for each in lines if each.startswith(str(tmp_path / "secret"))
        ]

    return look


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_an_operator_shows_the_server_of_its_secret_the_token_and_no_other_one(
    guarded, publisher, looking, tmp_path
):
    """The files are those of a Secret of the cluster, which comes and changes while the operator runs."""
    files = f"{guarded.url}/v2/tenants/acme/{HERE}/files"
    reference = f"oci:{publisher.folder / 'packages'}//{PACKAGE}"
    Following.asked = Install(reference=reference, channel=files, root=publisher.root)

    def refused(*said):
        message, lines = looking()
        assert "status 40" in message
        assert "kubectl create secret generic trundle-server" in message
        assert "ann-token" not in message + str(lines)
        assert len(lines) == len(said)
        assert all(each in line for each, line in zip(said, lines, strict=True))

    refused()
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "token").write_text("ann-token\n")
    refused("expected the files server and token, found none, or an empty one, called server")
    refused()
    # It was taken, and no server was shown the token.
    (secret / "server").write_text(guarded.url.partition("//")[2])
    expected = "secret/server: expected a URL such as https://trundle.example.com, found"
    refused(f"{expected} a text without http://")
    for each, *found in (
        ("ann-token",),
        ("http://[", "one whose host"),
        ("https://", "one without a host"),
    ):
        (secret / "server").write_text(each)
        refused(*(f"{expected} {what}" for what in found))
    (secret / "server").write_text("http://localhost:1")
    refused()
    (secret / "server").write_text(f"{guarded.url}\n")
    (secret / "token").write_text("ann-\u1234token")
    refused("secret/token: expected a token of printable ASCII characters")
    (secret / "token").write_text("ann-token\n")
    assert looking() == ("1.1.0", [])
