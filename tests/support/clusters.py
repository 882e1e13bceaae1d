"""A real cluster for tests: etcd, Kubernetes' API server and its controller manager, on free ports of this machine.

They run in a temporary folder, with a certificate authority of their own. Access is by RBAC: `Cluster.admin` may do all, and
bearer tokens of `TOKENS` what a test grants their users.
"""

import base64
import contextlib
import json
import os
import secrets
import shutil
import signal
import ssl
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import control_plane
import pytest
import serving
import urllib3
import yaml
from authorities import Authority

PROXY = "front-proxy"
"""What the certificate is called by which the API server passes on requests."""

_DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

USERS = ("ann", "ben")
"""Users without any rights of their own, each with a bearer token."""


@dataclass(frozen=True)
class Answer:
    """What the API server answers to one request."""

    status: int
    body: Any

    def ok(self) -> Any:
        """The body, of an answer that is no refusal."""
        assert self.status < 300, self.body
        return self.body


@dataclass(frozen=True)
class Cluster:
    """A running cluster, as seen by its administrator."""

    url: str
    folder: Path
    programs: Path
    authority: Path
    """The certificate of the authority."""
    certificate: Path
    """The administrator's certificate and key."""
    tokens: dict[str, str]
    """The bearer token of each user."""
    kubeconfig: Path
    pool: urllib3.PoolManager = field(repr=False)
    store: str = ""
    """The address of etcd."""
    proxies: Authority | None = None
    """Signs the certificates by which the API server passes on requests."""

    def kubectl(
        self,
        *arguments: str | Path,
        text: str = "",
        user: str | None = None,
        check: bool = True,
        editor: str = "",
    ) -> subprocess.CompletedProcess[str]:
        """Runs kubectl with a text as its standard input, as the administrator or another user."""
        chosen = [] if user is None else ["--context", user]
        done = subprocess.run(
            [self.programs / "kubectl", *chosen, *arguments],
            input=text, text=True, capture_output=True, check=False, timeout=300,
            env={**os.environ, "KUBECONFIG": str(self.kubeconfig), "HOME": str(self.folder), "EDITOR": editor},
        )  # fmt: skip
        assert done.returncode == 0 or not check, done.stderr
        return done

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        kind: str = "application/json",
        **query: str,
    ) -> Answer:
        """Sends a request with a JSON body to a path of the API server."""
        answer = self.pool.request(
            method,
            self.url + path + ("?" + urlencode(query) if query else ""),
            body=None if body is None else json.dumps(body),
            headers={"Content-Type": kind, "Accept": "application/json"},
        )
        with contextlib.suppress(ValueError):
            return Answer(answer.status, json.loads(answer.data))
        return Answer(answer.status, answer.data.decode())

    def stored(self, group: str, plural: str) -> dict[str, Any]:
        """What etcd has of a resource type's objects, by key; no API server has touched it."""
        prefix = f"/registry/{group}/{plural}/"
        ends = [prefix, f"{prefix[:-1]}{chr(ord(prefix[-1]) + 1)}"]
        key, end = (base64.b64encode(each.encode()).decode() for each in ends)
        asked = {"key": key, "range_end": end}
        answer = urllib3.request("POST", f"{self.store}/v3/kv/range", json=asked).json()
        pairs = answer.get("kvs", [])
        return {
            base64.b64decode(each["key"]).decode().removeprefix(prefix): json.loads(
                base64.b64decode(each["value"])
            )
            for each in pairs
        }

    def define(self, document: str | dict[str, Any]) -> None:
        """Creates or replaces a CRD, given as YAML or as data, and waits until the versions are served that it says, and no others of it.

        Where it has no version that is served anew, nothing shows since when the API server converts, stores and validates by it: a test that changes
        only that waits until an object shows it.
        """
        crd = yaml.safe_load(document) if isinstance(document, str) else document
        self.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", text=json.dumps(crd))
        self.follow(crd)

    def follow(self, crd: dict[str, Any]) -> None:
        """Waits until the API server, and what clients discover, follows a CRD that was applied."""
        name, spec = crd["metadata"]["name"], crd["spec"]
        self.kubectl("wait", "--for=condition=Established", f"crd/{name}", "--timeout=180s")
        for version in spec["versions"]:
            path = f"/apis/{spec['group']}/{version['name']}/{spec['names']['plural']}"
            status = 200 if version["served"] else 404
            until(lambda path=path, status=status: self.request("GET", path).status == status)
        served = {each["name"] for each in spec["versions"] if each["served"]}
        until(lambda: self._discovered(spec["group"], spec["names"]["plural"]) == served)

    def _discovered(self, group: str, plural: str) -> set[str]:
        """The versions of a resource type that kubectl finds."""
        answer = self.pool.request("GET", f"{self.url}/apis", headers={"Accept": _DISCOVERY})
        return {
            version["version"]
            for each in json.loads(answer.data)["items"]
            if each["metadata"]["name"] == group
            for version in each["versions"]
            if plural in {found["resource"] for found in version.get("resources", ())}
        }

    def undefine(self, name: str) -> None:
        """Deletes a CRD with all its objects, and waits until it is gone; nothing happens where it is not there.

        An operator may have made the CRD anew by then, for a release that is still installed.
        """
        path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}"

        def gone(uid: str) -> bool:
            answer = self.request("GET", path)
            anew = answer.status == 200 and answer.body["metadata"]["uid"] != uid
            return answer.status == 404 or anew

        found = self.request("GET", path)
        if found.status == 404:
            return
        self.kubectl("delete", "crd", name, "--ignore-not-found", "--wait=false")
        for number in range(60):
            for _ in range(100):
                if gone(found.ok()["metadata"]["uid"]):
                    return
                time.sleep(0.05)
            # A server that could not delete the objects tries again later and later, but at once after a change.
            self.kubectl("annotate", "crd", name, f"asked={number}", "--overwrite", check=False)
        why = self.request("GET", path).body["status"]["conditions"]
        raise AssertionError(f"the CRD {name} does not go: {why}")


def until(holds, seconds: float = 180) -> None:
    """Waits until something holds, and fails where it does not in that time."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"does not hold after {seconds} seconds"
        time.sleep(0.05)


def programs() -> Path:
    """The folder with the programs of a cluster, kubectl among them; the test is skipped where they cannot be had, but fails where CI has to have them."""
    found = control_plane.programs()
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail(control_plane.MISSING)
        pytest.skip(control_plane.MISSING)
    return found


@contextlib.contextmanager
def running(*options: str) -> Iterator[Cluster]:
    """A running cluster; see `programs`.

    Args:
        options: further options of its API server.
    """
    found = programs()
    with tempfile.TemporaryDirectory(prefix="trundle-cluster-") as name:
        folder = Path(name)
        for _ in range(5):  # Another process may take a port first.
            with contextlib.ExitStack() as stack:
                cluster = _start(stack, folder, found, options)
                if cluster is not None:
                    yield cluster
                    return
        logs = "\n".join(
            f"{each.name}:\n{each.read_text()[-2000:]}" for each in folder.glob("*.log")
        )
        pytest.fail(f"the cluster does not start: {logs}")


def _start(
    stack: contextlib.ExitStack, folder: Path, programs: Path, options: tuple[str, ...]
) -> Cluster | None:
    etcd, peer, port = (serving.free_port() for _ in range(3))
    url, store = f"https://127.0.0.1:{port}", f"http://127.0.0.1:{etcd}"
    authority = Authority(folder)
    server, admin = authority.server("server"), authority.client("admin", group="system:masters")
    (folder / "proxies").mkdir(exist_ok=True)
    proxies = Authority(folder / "proxies")
    proxy = proxies.client(PROXY, group="proxies")
    accounts = authority.key("accounts")
    tokens = {user: secrets.token_hex(16) for user in USERS}
    listed = folder / "tokens.csv"
    listed.write_text("".join(f"{token},{user},{user}\n" for user, token in tokens.items()))
    kubeconfig = folder / "kubeconfig"
    kubeconfig.write_text(json.dumps(_kubeconfig(url, authority.certificate, admin, tokens)))
    pool = urllib3.PoolManager(
        ca_certs=str(authority.certificate), cert_file=str(admin), retries=False, timeout=120
    )
    stack.callback(pool.clear)
    cluster = Cluster(
        url,
        folder,
        programs,
        authority.certificate,
        admin,
        tokens,
        kubeconfig,
        pool,
        store,
        proxies,
    )
    start = _Starter(stack, folder, programs)
    peers = f"http://127.0.0.1:{peer}"
    first = start(
        "etcd", f"--data-dir={folder / f'etcd-{etcd}'}", "--unsafe-no-fsync", "--log-level=warn",
        f"--listen-client-urls={store}", f"--advertise-client-urls={store}", f"--listen-peer-urls={peers}",
        f"--initial-advertise-peer-urls={peers}", f"--initial-cluster=default={peers}",
    )  # fmt: skip
    second = start(
        "kube-apiserver", f"--etcd-servers={store}", "--bind-address=127.0.0.1", f"--secure-port={port}",
        f"--tls-cert-file={server}", f"--tls-private-key-file={server}", f"--cert-dir={folder}",
        f"--client-ca-file={authority.certificate}", f"--token-auth-file={listed}", "--authorization-mode=RBAC",
        "--endpoint-reconciler-type=none", "--disable-admission-plugins=ServiceAccount",
        "--service-account-issuer=https://kubernetes.default.svc", f"--service-account-key-file={accounts}",
        f"--service-account-signing-key-file={accounts}", "--service-cluster-ip-range=10.0.0.0/24",
        "--feature-gates=StorageVersionMigrator=true", "--runtime-config=storagemigration.k8s.io/v1beta1=true",
        f"--requestheader-client-ca-file={proxies.certificate}", f"--requestheader-allowed-names={PROXY}",
        "--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-uid-headers=X-Remote-Uid", "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        f"--proxy-client-cert-file={proxy}", f"--proxy-client-key-file={proxy}", *options,
    )  # fmt: skip
    if not _ready(cluster, first, second):
        return None
    start(
        "kube-controller-manager", f"--kubeconfig={kubeconfig}", "--leader-elect=false", "--secure-port=0",
        "--controllers=garbage-collector-controller,namespace-controller,storage-version-migrator-controller",
        "--feature-gates=StorageVersionMigrator=true",
    )  # fmt: skip
    return cluster


def _ready(cluster: Cluster, *processes: subprocess.Popen) -> bool:
    """Waits until the API server is ready, and the namespace `default` is there; not where a process has ended."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and all(each.poll() is None for each in processes):
        with contextlib.suppress(urllib3.exceptions.HTTPError, OSError, ssl.SSLError):
            if all(
                cluster.request("GET", path).status == 200
                for path in ("/readyz", "/api/v1/namespaces/default")
            ):
                return True
        time.sleep(0.1)
    return False


@dataclass(frozen=True)
class _Starter:
    """Starts programs that end, the last one first, when the stack is unwound."""

    stack: contextlib.ExitStack
    folder: Path
    programs: Path

    def __call__(self, name: str, *arguments: str) -> subprocess.Popen:
        # No server outlives the tests, even where these are killed.
        bound = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [*bound, self.programs / name, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self.stack.callback(_stop, process)
        return process


def _stop(process: subprocess.Popen) -> None:
    """Ends a server at once: its folder goes with it, and a graceful end takes seconds."""
    process.send_signal(signal.SIGKILL)
    process.wait()


def _kubeconfig(url: str, authority: Path, admin: Path, tokens: dict[str, str]) -> dict[str, Any]:
    users = {"admin": {"client-certificate": str(admin), "client-key": str(admin)}}
    users |= {name: {"token": token} for name, token in tokens.items()}
    server = {"server": url, "certificate-authority": str(authority)}
    contexts = [{"name": each, "context": {"cluster": "test", "user": each}} for each in users]
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": server}],
        "users": [{"name": name, "user": user} for name, user in users.items()],
        "contexts": contexts,
        "current-context": "admin",
    }
