"""`trundle kube operator` as a process, and a publisher whose packages it installs."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import msgspec
import warm
from authorities import Authority
from clusters import until
from typer.testing import CliRunner

from trundle.cli._app import app
from trundle.kubernetes import WebhookAddress, definitions
from trundle.kubernetes._own import installation_kinds

CRD = "installations.trundle.dev"


class Publisher:
    """Releases of packages, signed, in a registry.

    Attributes:
        host: the registry.
        root: the publisher's root.
    """

    def __init__(self, folder: Path, host: str, scheme: str = "http") -> None:
        self.scheme = scheme
        self.folder = folder
        self.host = host
        self.keys = folder / "keys"
        self.trundle("keys", "init", self.keys, "--no-passphrase")
        self.root = self.keys / "root.json"

    def trundle(self, *arguments, code: int | None = 0):
        done = subprocess.run(
            [warm.TRUNDLE, *map(str, arguments)], cwd=self.folder,
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert code is None or done.returncode == code, (arguments, done.stdout, done.stderr)
        return done

    def release(self, name: str, version: str, documents, *, channel="stable", **manifest) -> None:
        """Publishes a release that carries some objects."""
        folder = self.folder / f"{name.replace('/', '-')}-{version}"
        (folder / "manifests").mkdir(parents=True)
        (folder / "app.yaml").write_bytes(
            msgspec.json.encode({"name": name, "version": version, **manifest})
        )
        for number, each in enumerate(documents):
            (folder / "manifests" / f"{number:03}.json").write_text(json.dumps(each))
        self._publish(folder, name, channel)

    def project(
        self,
        name: str,
        version: str,
        schemas,
        *,
        documents=(),
        channel="stable",
        override="",
        manifest=None,
        **config,
    ) -> Path:
        """Publishes a release that carries a project, and perhaps some objects; its folder, which has the lock of all releases.

        Args:
            name: the package.
            version: its version.
            schemas: what the files with schemas have, by API version.
            documents: the objects.
            channel: the channel.
            override: why a release is published whose changes ask for another version.
            manifest: what else stands in its manifest.
            config: what else stands in the file of the project.
        """
        folder = self.folder / name.replace("/", "-")
        for each in ("schemas", "manifests"):
            shutil.rmtree(folder / each, ignore_errors=True)
            (folder / each).mkdir(parents=True)
        described = {"name": name, "version": version, **(manifest or {})}
        (folder / "app.yaml").write_bytes(msgspec.json.encode(described))
        for each, schema in schemas.items():
            (folder / "schemas" / f"{each}.yaml").write_text(json.dumps(schema))
        for number, each in enumerate(documents):
            (folder / "manifests" / f"{number:03}.json").write_text(json.dumps(each))
        package = name.rpartition("/")[2]
        config = {"package": package, "sources": ["schemas"], **config}
        (folder / "trundle.yaml").write_text(json.dumps(config))
        for command in (["generate"], ["lock", *(["--accept"] if override else [])]):
            done = CliRunner().invoke(app, ["-C", str(folder), *command])  # Twice as fast so.
            assert done.exit_code == 0, done.output
        self._publish(folder, name, channel, *(["--override", override] if override else []))
        return folder

    def fill(self, release: str, size: int) -> None:
        """Makes a release that is to be published larger by so many bytes."""
        folder = self.folder / release.replace("/", "-")
        folder.mkdir()
        (folder / "content.bin").write_bytes(random.Random(size).randbytes(size))

    def _publish(self, folder: Path, name: str, channel: str, *given: str) -> None:
        to = f"{self.scheme}://{self.host}/{name}"
        given = ["--channel", channel, "--keys", self.keys, *given]
        self.trundle("publish", folder, "--to", to, *given)


class Operator:
    """A running operator.

    Args:
        cluster: the cluster.
        folder: a folder of its own.
        options: further options.
        kubeconfig: by which it reaches the cluster; that of the cluster by default.
    """

    def __init__(
        self, cluster, folder: Path, *options: str, kubeconfig: Path | None = None
    ) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.cluster = cluster
        (folder / "tls").mkdir(exist_ok=True)
        self.authority = Authority(folder / "tls")
        self.certificate = self.authority.server("operator")
        self.options = options
        self.kubeconfig = kubeconfig or cluster.kubeconfig
        self.process = None
        self.url = ""

    @property
    def messages(self) -> str:
        return (self.folder / "errors.txt").read_text() + (self.folder / "log.txt").read_text()

    def start(self, port: int = 0, *, wait: bool = True) -> None:
        """Starts it with a webhook; waits until that answers."""
        given = ["--tls-cert", str(self.certificate), "--tls-key", str(self.certificate)]
        self._run(*given, "--host", "127.0.0.1", "--port", str(port))
        deadline = time.monotonic() + 60
        while wait and not (
            found := re.search(r"^serving on (\S+)\n", self.messages, re.MULTILINE)
        ):
            assert self.process.poll() is None, self.messages
            assert time.monotonic() < deadline, self.messages
            time.sleep(0.02)
        if wait:
            self.url = found[1]

    def follow(self) -> None:
        """Starts it without a webhook."""
        self._run()

    def _run(self, *given: str) -> None:
        command = [warm.TRUNDLE, "kube", "operator", "--context", "admin"]
        command += [] if "--home" in self.options else ["--home", "default"]
        (self.folder / "errors.txt").write_text("")
        with (
            (self.folder / "log.txt").open("a") as log,
            (self.folder / "errors.txt").open("a") as errors,
        ):
            self.process = subprocess.Popen(
                [*command, "--interval", "PT2S", *given, *self.options],
                stdout=log, stderr=errors, env=environment(self.kubeconfig),
            )  # fmt: skip

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Ends it by a signal; its exit code."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(60) if self.process is not None else 0

    def end(self) -> None:
        """Ends it, and leaves no installation behind: their registry goes, and a later operator would ask it at each look."""
        given = ("--all", "--all-namespaces", "--timeout=180s")
        self.cluster.kubectl("delete", CRD, *given, check=False)
        listed = self.cluster.request("GET", "/apis/trundle.dev/v1/installations")
        for each in listed.body.get("items", []) if listed.status == 200 else []:
            name, space = each["metadata"]["name"], each["metadata"]["namespace"]
            kept = (CRD, name, "-n", space)
            none = ("--type=merge", "-p", '{"metadata": {"finalizers": null}}')
            self.cluster.kubectl("patch", *kept, *none, check=False)
        self.stop(9)

    def define(self) -> None:
        """Puts the CRD into the cluster, converted by this operator."""
        webhook = WebhookAddress(
            f"{self.url}/convert", None, self.authority.certificate.read_bytes()
        )
        [crd] = definitions(installation_kinds(), webhook, print)
        self.cluster.define(crd)
        # One that was here before may have named the webhook of an operator that is gone.
        path = "/apis/trundle.dev/v1/namespaces/default/installations"
        trial = wanted("trial", "default", {"registry": "http://registry.test", "package": "a/b"})
        until(lambda: self.cluster.request("POST", path, trial, dryRun="All").status == 201)


def environment(kubeconfig):
    # Where a process ends by a fault of native code, its messages say where.
    return {**os.environ, "KUBECONFIG": str(kubeconfig), "PYTHONFAULTHANDLER": "1"}


def thing(kind, name, api="v1", **more):
    """An object of a manifest."""
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name}, **more}


def wanted(name, namespace, spec, version="v1", **metadata):
    """An `Installation`."""
    head = {"name": name, "namespace": namespace, **metadata}
    return {
        "apiVersion": f"trundle.dev/{version}", "kind": "Installation", "metadata": head, "spec": spec,
    }  # fmt: skip


def shown(cluster, namespace, name, version="v1"):
    """An `Installation` as it is; empty where it is not there."""
    path = f"/apis/trundle.dev/{version}/namespaces/{namespace}/installations/{name}"
    answer = cluster.request("GET", path)
    return answer.body if answer.status == 200 else {}


def condition(found, kind):
    """The status of a condition, with its reason."""
    conditions = (found.get("status") or {}).get("conditions") or []
    each = next((e for e in conditions if e["type"] == kind), None)
    return (each["status"], each["reason"]) if each else None


def installed(found):
    """The version that is installed, and whether it is ready for the present spec."""
    status = found.get("status") or {}
    same = status.get("observedGeneration") == found.get("metadata", {}).get("generation")
    ready = condition(found, "Ready") or ("", "")
    return (status.get("installed") or {}).get("version"), same and ready[0] == "True"


def space_called(cluster, publisher, name):
    """Makes a namespace with the publisher's root; its name."""
    cluster.kubectl("create", "namespace", name)
    root = f"--from-file={publisher.root}"
    cluster.kubectl("create", "secret", "generic", "root", "-n", name, root)
    return name


def create(cluster, document):
    cluster.kubectl("apply", "-f", "-", text=json.dumps(document))


def change(cluster, space, name, patch):
    path = f"/apis/trundle.dev/v1/namespaces/{space}/installations/{name}"
    cluster.request("PATCH", path, patch, kind="application/merge-patch+json").ok()


def config(name, value):
    return thing("ConfigMap", name, data={"value": value})


def there(cluster, space, *what):
    return cluster.kubectl("get", "-n", space, *what, "--ignore-not-found", "-o", "name").stdout


def spec_of(publisher, package, **further):
    trust = {"secretName": "root"}
    return {"registry": f"http://{publisher.host}", "package": package, "trust": trust, **further}


def said(cluster, space, name, kind):
    conditions = shown(cluster, space, name)["status"]["conditions"]
    return next((each["message"] for each in conditions if each["type"] == kind), "")


def has(cluster, space, name, kind, *expected):
    return condition(shown(cluster, space, name), kind) == expected


def data(cluster, space, name):
    return cluster.kubectl(
        "get", "configmap", name, "-n", space, "-o", "jsonpath={.data.value}"
    ).stdout
