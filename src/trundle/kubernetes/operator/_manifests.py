"""What is installed so that a cluster has the operator: the CRD of installations, roles, and what runs."""

from collections.abc import Callable, Iterable
from typing import Any

from trundle.kubernetes._definitions import definitions
from trundle.kubernetes._manifests import (
    TLS_FILES,
    AdmissionBy,
    ManifestFile,
    Placement,
    annotated,
    certificate,
    container,
    head,
    pod,
    running,
    with_kustomization,
)
from trundle.kubernetes._own import installation_kinds
from trundle.kubernetes.operator._wanted import GROUP, PLURAL, REGISTRIES, SERVER_TOKEN, STACK_GROUP

_RBAC = "rbac.authorization.k8s.io/v1"
_PACKAGES = f"{GROUP}/aggregate-to-operator"
_LOGINS = "/registries"
"""Where the pod has the credentials of registries."""
_SERVER = "/server"
"""Where the pod has the token of a server whose channels it reads."""
_RECIPE = """\
# The image of the operator: docker build -f {folder}/Dockerfile -t {image} .
FROM python:3.13-slim
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
RUN pip install --no-cache-dir 'trundle[kube]=={version}'
USER 65532:65532
ENTRYPOINT ["trundle"]
"""


def operator_manifests(
    placement: Placement,
    namespaces: Iterable[str],
    admission: AdmissionBy,
    note: Callable[[str], object],
) -> dict[str, list[dict[str, Any]]]:
    """All that is installed, by file, with a kustomization of the files.

    Args:
        placement: how the operator stands in the cluster.
        namespaces: the namespaces in which it may install packages; all where there are none.
        admission: who puts back what clients drop of carriers, for what packages carry.
        note: is called with what the CRD cannot say.
    """
    crds = definitions(installation_kinds(), placement.webhook, note)
    files = {
        ManifestFile.NAMESPACE: [
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": placement.namespace}}
        ],
        ManifestFile.CRDS: annotated(crds, placement.annotations),
        ManifestFile.ROLES: [
            *_roles(placement, admission),
            *_bindings(placement, sorted(set(namespaces))),
        ],
        ManifestFile.OPERATOR: running(placement, _pod(placement, admission), token=True),
    }
    if placement.annotations:
        files[ManifestFile.CERTIFICATE] = certificate(placement)
    return with_kustomization(files)


def operator_recipe(image: str, folder: str, version: str) -> str:
    """The recipe of the operator's image; the arguments are those of `recipe`."""
    return _RECIPE.format(image=image, folder=folder, version=version)


def _pod(placement: Placement, admission: AdmissionBy) -> dict[str, Any]:
    arguments = ["kube", "operator", "--identity=$(POD_NAME)", "--cache=/cache", *TLS_FILES]
    arguments += [f"--admission={admission}", f"--server-token={_SERVER}"]
    made = container("operator", placement, arguments)
    named = {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
    made["env"] = [named, {"name": "DOCKER_CONFIG", "value": _LOGINS}]
    for name, path in (("cache", "/cache"), ("tmp", "/tmp")):  # noqa: S108 - a volume of the pod
        made["volumeMounts"].append({"name": name, "mountPath": path})
    for name, path in (("registries", _LOGINS), ("server", _SERVER)):
        made["volumeMounts"].append({"name": name, "mountPath": path, "readOnly": True})
    found = pod(placement, made, token=True)
    found["volumes"] += [{"name": each, "emptyDir": {}} for each in ("cache", "tmp")]
    items = [{"key": ".dockerconfigjson", "path": "config.json"}]
    secret = {"secretName": REGISTRIES, "optional": True, "items": items}
    found["volumes"].append({"name": "registries", "secret": secret})
    token = {"secretName": SERVER_TOKEN, "optional": True}
    found["volumes"].append({"name": "server", "secret": token})
    return found


def _rule(group: str, resources: list[str], *verbs: str) -> dict[str, Any]:
    return {"apiGroups": [group], "resources": resources, "verbs": list(verbs)}


def _admitting(admission: AdmissionBy) -> list[dict[str, Any]]:
    """What it may do so that clients cannot drop carriers."""
    match admission:
        case AdmissionBy.WEBHOOK:
            kinds = ["mutatingwebhookconfigurations"]
        case AdmissionBy.POLICY:
            kinds = [
                f"{each}admissionpolic{end}"
                for each in ("mutating", "validating")
                for end in ("ies", "ybindings")
            ]
        case AdmissionBy.NONE:
            return []
    group, verbs = "admissionregistration.k8s.io", ("get", "create", "patch", "delete")
    return [_rule(group, kinds, *verbs)]


def _roles(placement: Placement, admission: AdmissionBy) -> list[dict[str, Any]]:
    """What the operator may do: everywhere, in its own namespace, and where packages are installed."""
    name = placement.name
    everywhere = [
        _rule(GROUP, [PLURAL], "get", "list", "watch", "patch"),
        _rule(GROUP, [f"{PLURAL}/status"], "patch"),
        _rule(STACK_GROUP, ["stackinstalls"], "get", "list", "patch"),
        _rule(STACK_GROUP, ["stackinstalls/status"], "patch"),
        _rule(
            *("apiextensions.k8s.io", ["customresourcedefinitions"]),
            *("get", "list", "create", "patch", "delete"),
        ),
        _rule("apiextensions.k8s.io", ["customresourcedefinitions/status"], "patch"),
        _rule(
            *("storagemigration.k8s.io", ["storageversionmigrations"]),
            *("get", "list", "create", "delete"),
        ),
        *_admitting(admission),
    ]
    at_home = [
        _rule("", ["configmaps"], "get", "list", "create", "update", "delete"),
        _rule("coordination.k8s.io", ["leases"], "get", "list", "create", "update", "delete"),
    ]
    beside = [
        _rule("", ["configmaps"], "get", "create", "patch", "delete"),
        _rule("", ["secrets"], "get"),
        _rule("", ["events"], "create"),
    ]
    aggregated = {"clusterRoleSelectors": [{"matchLabels": {_PACKAGES: "true"}}]}
    return [
        _role("ClusterRole", name, everywhere),
        {**head("Role", _RBAC, placement), "rules": at_home},
        _role("ClusterRole", f"{name}-beside", beside) | _labelled(f"{name}-beside", _PACKAGES),
        {**_role("ClusterRole", f"{name}-packages", []), "aggregationRule": aggregated},
        *(
            _role("ClusterRole", f"{name}-{each}", [_rule(GROUP, [PLURAL], *verbs)])
            | _labelled(f"{name}-{each}", *(f"rbac.authorization.k8s.io/aggregate-to-{to}" for to in added))
            for each, verbs, added in (
                ("view", ("get", "list", "watch"), ("view", "edit", "admin")),
                ("edit", ("create", "delete", "deletecollection", "patch", "update"), ("admin",)),
            )
        ),
    ]  # fmt: skip


def _bindings(placement: Placement, namespaces: list[str]) -> list[dict[str, Any]]:
    """Binds the roles to the operator's account: what packages bring in some namespaces, or in all."""
    name, account = placement.name, placement.name
    subject = {"kind": "ServiceAccount", "name": account, "namespace": placement.namespace}

    def bound(kind: str, role: str, role_kind: str, space: str = "") -> dict[str, Any]:
        metadata = {"name": role} | ({"namespace": space} if space else {})
        to = {"apiGroup": "rbac.authorization.k8s.io", "kind": role_kind, "name": role}
        made = {"apiVersion": _RBAC, "kind": kind, "metadata": metadata}
        return {**made, "subjects": [subject], "roleRef": to}

    packages = f"{name}-packages"
    return [
        bound("ClusterRoleBinding", name, "ClusterRole"),
        bound("RoleBinding", name, "Role", placement.namespace),
        *(bound("RoleBinding", packages, "ClusterRole", each) for each in namespaces),
        *([] if namespaces else [bound("ClusterRoleBinding", packages, "ClusterRole")]),
    ]


def _role(kind: str, name: str, rules: list[dict[str, Any]]) -> dict[str, Any]:
    return {"apiVersion": _RBAC, "kind": kind, "metadata": {"name": name}, "rules": rules}


def _labelled(name: str, *labels: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": dict.fromkeys(labels, "true")}}
