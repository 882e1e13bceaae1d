"""What is installed so that a cluster's API server passes on requests to `trundle serve --aggregated`."""

from collections.abc import Iterable
from typing import Any

from trundle.api import ServedKind, versions_of
from trundle.kubernetes._admission_manifests import by_group
from trundle.kubernetes._manifests import (
    RBAC,
    ManifestFile,
    Placement,
    annotated,
    certificate,
    container,
    people,
    pod,
    running,
    with_kustomization,
)

_PRIORITY = 1000
"""Where the groups stand among those of a cluster; its own built-in ones have more."""

_SYSTEM = "kube-system"
_READER = "extension-apiserver-authentication-reader"


def aggregated_manifests(
    kinds: Iterable[ServedKind], placement: Placement
) -> dict[str, list[dict[str, Any]]]:
    """All that is installed, by file, with a kustomization of the files.

    The database is named in the Secret `NAME-store`, under the key `url`; it is not among the files.

    Args:
        kinds: the resource types, with the versions that are served.
        placement: how the server stands in the cluster.
    """
    kinds = list(kinds)
    files = {
        ManifestFile.API_SERVICES: annotated(api_services(kinds, placement), placement.annotations),
        ManifestFile.ROLES: [*people(kinds, placement), *_account(placement)],
        ManifestFile.SERVER: running(placement, _pod(placement), token=True),
    }
    if placement.annotations:
        files[ManifestFile.CERTIFICATE] = certificate(placement)
    return with_kustomization(files)


def api_services(kinds: Iterable[ServedKind], placement: Placement) -> list[dict[str, Any]]:
    """What makes the cluster pass on requests: one object for each version of each group, the preferred version with the highest priority."""
    client = placement.webhook.client()
    service = {key: client["service"][key] for key in ("namespace", "name", "port")}
    bundle = {key: value for key, value in client.items() if key == "caBundle"}
    found = []
    for group, members in by_group(kinds).items():
        versions = versions_of(members)
        for priority, version in zip(range(len(versions), 0, -1), versions, strict=True):
            spec = {
                "group": group,
                "version": version,
                "groupPriorityMinimum": _PRIORITY,
                "versionPriority": priority,
                "service": service,
                **bundle,
            }
            metadata = {"name": f"{version}.{group}"}
            found.append(
                {
                    "apiVersion": "apiregistration.k8s.io/v1",
                    "kind": "APIService",
                    "metadata": metadata,
                    "spec": spec,
                }
            )
    return found


def _pod(placement: Placement) -> dict[str, Any]:
    arguments = ["serve", "--aggregated", "--host=0.0.0.0", "--log=json", "--tls=/tls"]
    made = container("server", placement, arguments)
    secret = {"name": f"{placement.name}-store", "key": "url"}
    made["env"] = [{"name": "TRUNDLE_STORE", "valueFrom": {"secretKeyRef": secret}}]
    return pod(placement, made, token=True)


def _account(placement: Placement) -> list[dict[str, Any]]:
    """What the server may ask the cluster: how its proxy shows who it is, who users are, what they may do, and which namespaces there are."""
    name = placement.name
    subject = {"kind": "ServiceAccount", "name": name, "namespace": placement.namespace}

    def binding(
        called: str, role: str, kind: str = "ClusterRole", where: str = ""
    ) -> dict[str, Any]:
        metadata = {"name": called, **({"namespace": where} if where else {})}
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role}
        return {
            "apiVersion": RBAC,
            "kind": "RoleBinding" if where else "ClusterRoleBinding",
            "metadata": metadata,
            "roleRef": reference,
            "subjects": [subject],
        }

    rule = {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get"]}
    namespaces = {
        "apiVersion": RBAC,
        "kind": "ClusterRole",
        "metadata": {"name": f"{name}-namespaces"},
        "rules": [rule],
    }
    return [
        namespaces,
        binding(f"{name}-namespaces", f"{name}-namespaces"),
        binding(f"{name}-delegates", "system:auth-delegator"),
        binding(f"{name}-front-proxy", _READER, "Role", _SYSTEM),
    ]
