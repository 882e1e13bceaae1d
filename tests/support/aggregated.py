"""`trundle serve --aggregated` behind the API server of a test's cluster, with what `trundle kube manifests --aggregated` writes."""

import contextlib
import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import serving
import trundle_servers
import urllib3
import warm
import yaml
from authorities import Authority
from clusters import Cluster, until

SPACE, NAME = "aggregation", "flows"
HOST = f"{NAME}.{SPACE}.svc"


@dataclass
class AggregatedServer(trundle_servers.TrundleServer):
    """A server that its cluster's API server passes requests on to; clients may also connect directly.

    Attributes:
        authority: the certificate of the authority of its own.
    """

    authority: Path = Path()

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def directly(
        self,
        method: str,
        path: str,
        body: Any = None,
        certificate: Path | None = None,
        **headers: str | list[str],
    ) -> urllib3.BaseHTTPResponse:
        """The answer to a client that does not go through the cluster."""
        shown = {} if certificate is None else {"cert_file": str(certificate)}
        given = urllib3.HTTPHeaderDict(
            {"Accept": "application/json", "Content-Type": "application/json"}
        )
        for key, value in headers.items():
            for each in [value] if isinstance(value, str) else value:
                given.add(key.replace("_", "-"), each)
        with urllib3.PoolManager(
            ca_certs=str(self.authority), retries=False, timeout=60, **shown
        ) as pool:
            content = None if body is None else json.dumps(body)
            return pool.request(method, self.url + path, body=content, headers=given)


@contextlib.contextmanager
def behind(cluster: Cluster, folder: Path, group: str) -> Iterator[AggregatedServer]:
    """A server of a project behind a cluster, with the rights that are written for it and no others.

    Args:
        cluster: the cluster.
        folder: the project's folder.
        group: its group.
    """
    authority = Authority(folder)
    certificate = authority.server("server", HOST)
    port = serving.free_port()
    command = [warm.TRUNDLE, "kube", "manifests", "--aggregated", "--image", "registry.test/flows"]
    command += [
        "--service",
        f"{SPACE}/{NAME}:{port}",
        "--name",
        NAME,
        "--ca",
        authority.certificate,
    ]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    documents = [
        each
        for name in ("server", "roles", "apiservices")
        for each in yaml.safe_load_all((folder / "manifests" / f"{name}.yaml").read_text())
        if each["kind"] not in {"Deployment", "PodDisruptionBudget"}
    ]
    for each in documents:
        if each["kind"] == "Service":  # No node of the test's cluster runs pods.
            each["spec"] = {"type": "ExternalName", "externalName": "localhost"}
    cluster.kubectl("create", "namespace", SPACE, check=False)
    config = folder / "account.json"
    services = [each["metadata"]["name"] for each in documents if each["kind"] == "APIService"]
    text = yaml.safe_dump_all(documents)
    try:
        cluster.kubectl("apply", "-f", "-", text=text)
        token = cluster.kubectl("create", "token", NAME, "-n", SPACE).stdout.strip()
        config.write_text(json.dumps(_kubeconfig(cluster, token)))
        options = ("--aggregated", "--tls", str(certificate), "--kubeconfig", str(config))
        server = AggregatedServer(folder, options, port, authority=authority.certificate)
        server.start()
        try:
            cluster.kubectl(
                "wait", "--for=condition=Available", "--timeout=180s",
                *(f"apiservice/{each}" for each in services),
            )  # fmt: skip
            served = {f"{group}/{each.removesuffix(f'.{group}')}" for each in services}
            until(lambda: served <= set(cluster.kubectl("api-versions").stdout.split()))
            yield server
        finally:
            server.end()
    finally:
        cluster.kubectl("delete", "-f", "-", "--ignore-not-found", "--wait=false", text=text)


def _kubeconfig(cluster: Cluster, token: str) -> dict[str, Any]:
    server = {"server": cluster.url, "certificate-authority": str(cluster.authority)}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": server}],
        "users": [{"name": NAME, "user": {"token": token}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": NAME}}],
        "current-context": "test",
    }
