"""What is installed beside a project's CRDs: the webhook's deployment, its certificate, admission, and roles."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from trundle.api import ServedKind
from trundle.kubernetes._admission_manifests import by_group, policies, webhook_configuration
from trundle.kubernetes._definitions import WebhookAddress, definitions

_PORT = 8443
TLS_FILES = ("--tls-cert=/tls/tls.crt", "--tls-key=/tls/tls.key")
"""The options that name the certificate to what runs in a pod."""
_GRACE = 40
"""How many seconds a replica has to end; requests that have begun take up to 30."""

_INJECT = "cert-manager.io/inject-ca-from"
_VIEW, _EDIT = ["get", "list", "watch"], ["create", "delete", "deletecollection", "patch", "update"]
RBAC = "rbac.authorization.k8s.io/v1"
_RECIPE = """\
# The image of the {what}. Build it from the project's folder: docker build -f {folder}/Dockerfile -t {image} .
FROM python:3.13-slim
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
RUN pip install --no-cache-dir 'trundle[{extras}]=={version}'
WORKDIR /project
COPY . .
RUN trundle generate --check
USER 65532:65532
ENTRYPOINT ["trundle"]
"""


class AdmissionBy(StrEnum):
    """Who puts carriers back that clients drop."""

    WEBHOOK = "webhook"
    POLICY = "policy"
    NONE = "none"


class ManifestFile(StrEnum):
    """The files of which an installation has some."""

    ADMISSION = "admission.yaml"
    API_SERVICES = "apiservices.yaml"
    CERTIFICATE = "certificate.yaml"
    CRDS = "crds.yaml"
    KUSTOMIZATION = "kustomization.yaml"
    NAMESPACE = "namespace.yaml"
    OPERATOR = "operator.yaml"
    ROLES = "roles.yaml"
    SERVER = "server.yaml"
    WEBHOOK = "webhook.yaml"


@dataclass(frozen=True, slots=True)
class Placement:
    """How a project's webhook stands in a cluster.

    Attributes:
        name: the name of all that is installed.
        webhook: where it answers.
        image: the image that it runs in; needed where it is a service.
        replicas: how many run.
    """

    name: str
    webhook: WebhookAddress
    image: str = ""
    replicas: int = 2

    @property
    def namespace(self) -> str:
        """The namespace of its service; empty where it is none of the cluster."""
        return str((self.webhook.service or {}).get("namespace", ""))

    @property
    def annotations(self) -> dict[str, str]:
        """What makes cert-manager write the authority of its certificate where the API server looks for it."""
        managed = self.namespace and not self.webhook.authority
        return {_INJECT: f"{self.namespace}/{self.name}"} if managed else {}


def manifests(
    kinds: Iterable[ServedKind],
    placement: Placement,
    admission: AdmissionBy,
    note: Callable[[str], object],
) -> dict[str, list[dict[str, Any]]]:
    """All that is installed, by file, with a kustomization of the files.

    Args:
        kinds: the resource types, with the versions that are served.
        placement: how the webhook stands in the cluster.
        admission: who puts carriers back.
        note: is called with what a CRD cannot say, or leaves out.

    Raises:
        DefinitionError: a cluster could not keep one of the CRDs.
    """
    kinds = list(kinds)
    files = {
        ManifestFile.CRDS: annotated(
            definitions(kinds, placement.webhook, note), placement.annotations
        ),
        ManifestFile.ADMISSION: _admission(kinds, placement, admission),
        ManifestFile.ROLES: [*people(kinds, placement), _migrating(kinds, placement)],
    }
    if placement.namespace:
        made = container(
            "webhook", placement, ["kube", "webhook", f"--admission={admission}", *TLS_FILES]
        )
        files[ManifestFile.WEBHOOK] = running(placement, pod(placement, made))
        if placement.annotations:
            files[ManifestFile.CERTIFICATE] = certificate(placement)
    return with_kustomization(files)


def with_kustomization(
    files: Mapping[ManifestFile, list[dict[str, Any]]],
) -> dict[str, list[dict[str, Any]]]:
    """Files by their names, without empty ones, and a kustomization of them."""
    found = {str(name): documents for name, documents in files.items() if documents}
    kustomization = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
    own = [{**kustomization, "resources": sorted(found)}]
    return {**found, str(ManifestFile.KUSTOMIZATION): own}


def recipe(image: str, folder: str, version: str, *, aggregated: bool = False) -> str:
    """The recipe of the image of the webhook, or of the aggregated server.

    Args:
        image: its name.
        folder: where the recipe stands.
        version: the version of Trundle.
        aggregated: whether it is that of the server.
    """
    what, extras = ("server", "kube,postgres") if aggregated else ("webhook", "api")
    return _RECIPE.format(what=what, image=image, folder=folder, version=version, extras=extras)


def annotated(
    documents: Iterable[dict[str, Any]], annotations: Mapping[str, str]
) -> list[dict[str, Any]]:
    if not annotations:
        return list(documents)
    return [
        {
            **each,
            "metadata": {
                **each["metadata"],
                "annotations": {**each["metadata"].get("annotations", {}), **annotations},
            },
        }
        for each in documents
    ]


def _admission(
    kinds: list[ServedKind], placement: Placement, admission: AdmissionBy
) -> list[dict[str, Any]]:
    match admission:
        case AdmissionBy.WEBHOOK:
            client = placement.webhook.at("/admit").client()
            name, annotations = placement.name, placement.annotations
            return [webhook_configuration(name, kinds, client, annotations)]
        case AdmissionBy.POLICY:
            return policies(placement.name, kinds)
        case AdmissionBy.NONE:
            return []


def head(kind: str, version: str, placement: Placement, name: str = "") -> dict[str, Any]:
    """The head of an object beside the webhook."""
    labels = {"app.kubernetes.io/name": placement.name}
    metadata = {"name": name or placement.name, "namespace": placement.namespace, "labels": labels}
    return {"apiVersion": version, "kind": kind, "metadata": metadata}


def running(
    placement: Placement, template: dict[str, Any], *, token: bool = False
) -> list[dict[str, Any]]:
    """The service and what runs behind it.

    Args:
        placement: how it stands in the cluster.
        template: the pods.
        token: whether they ask the cluster.
    """
    service: Mapping[str, Any] = placement.webhook.service or {}
    selected = {"app.kubernetes.io/name": placement.name}
    ports = [{"name": "https", "port": service["port"], "targetPort": "https"}]
    found = [
        {
            **head("ServiceAccount", "v1", placement),
            "automountServiceAccountToken": token,
        },
        {
            **head("Service", "v1", placement, service["name"]),
            "spec": {"selector": selected, "ports": ports},
        },
        {
            **head("Deployment", "apps/v1", placement),
            "spec": {
                "replicas": placement.replicas,
                "selector": {"matchLabels": selected},
                "strategy": {"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}},
                "template": {"metadata": {"labels": selected}, "spec": template},
            },
        },
    ]
    if placement.replicas > 1:
        spec = {"maxUnavailable": 1, "selector": {"matchLabels": selected}}
        found.append({**head("PodDisruptionBudget", "policy/v1", placement), "spec": spec})
    return found


def container(name: str, placement: Placement, arguments: list[str]) -> dict[str, Any]:
    """A container that answers over HTTPS."""

    def probe(path: str) -> dict[str, Any]:
        return {"httpGet": {"path": path, "port": "https", "scheme": "HTTPS"}}

    return {
        "name": name,
        "image": placement.image,
        "args": [*arguments, f"--port={_PORT}"],
        "ports": [{"name": "https", "containerPort": _PORT}],
        "startupProbe": {**probe("/readyz"), "periodSeconds": 1, "failureThreshold": 60},
        "readinessProbe": {**probe("/readyz"), "periodSeconds": 5},
        "livenessProbe": probe("/livez"),
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [{"name": "tls", "mountPath": "/tls", "readOnly": True}],
    }  # fmt: skip


def pod(placement: Placement, made: dict[str, Any], *, token: bool = False) -> dict[str, Any]:
    """A pod with one container, and the certificate."""
    return {
        "serviceAccountName": placement.name,
        "automountServiceAccountToken": token,
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "terminationGracePeriodSeconds": _GRACE,
        "containers": [made],
        "volumes": [{"name": "tls", "secret": {"secretName": f"{placement.name}-tls"}}],
    }


def certificate(placement: Placement) -> list[dict[str, Any]]:
    """A certificate by cert-manager, of an issuer of its own."""
    version = "cert-manager.io/v1"
    host = f"{(placement.webhook.service or {})['name']}.{placement.namespace}.svc"
    spec = {
        "secretName": f"{placement.name}-tls",
        "dnsNames": [host, f"{host}.cluster.local"],
        "issuerRef": {"name": placement.name, "kind": "Issuer"},
        "privateKey": {"algorithm": "ECDSA", "rotationPolicy": "Always"},
    }
    return [
        {**head("Issuer", version, placement), "spec": {"selfSigned": {}}},
        {**head("Certificate", version, placement), "spec": spec},
    ]


def people(kinds: list[ServedKind], placement: Placement) -> list[dict[str, Any]]:
    """Roles of people, added to those of the cluster."""

    def role(name: str, verbs: list[str], *added_to: str) -> dict[str, Any]:
        prefix = "rbac.authorization.k8s.io/aggregate-to-"
        labels = {f"{prefix}{each}": "true" for each in added_to}
        rules = [
            {
                "apiGroups": [group],
                "resources": [
                    name
                    for each in sorted(members, key=lambda each: each.plural)
                    for name in (each.plural, *(f"{each.plural}/{x}" for x in _subresources(each)))
                ],
                "verbs": verbs,
            }
            for group, members in by_group(kinds).items()
        ]
        metadata = {"name": f"{placement.name}-{name}", "labels": labels}
        return {"apiVersion": RBAC, "kind": "ClusterRole", "metadata": metadata, "rules": rules}

    return [
        role("view", _VIEW, "view", "edit", "admin"),
        role("edit", _EDIT, "edit", "admin"),
    ]


def _subresources(kind: ServedKind) -> list[str]:
    """The subresources that any version of a resource type has."""
    scales = any(each.resource.scaling for each in kind.versions.values())
    return [*(["status"] * kind.has_status), *(["scale"] * scales)]


def _migrating(kinds: list[ServedKind], placement: Placement) -> dict[str, Any]:
    """The role of a user who runs `trundle kube migrate`."""
    crds = [each.qualified for each in kinds]
    rules: list[dict[str, Any]] = [
        {
            "apiGroups": ["apiextensions.k8s.io"],
            "resources": ["customresourcedefinitions", "customresourcedefinitions/status"],
            "resourceNames": crds,
            "verbs": ["get", "patch"],
        },
        {
            "apiGroups": ["storagemigration.k8s.io"],
            "resources": ["storageversionmigrations"],
            "verbs": ["create", "delete", "get", "list"],
        },
    ]
    for group, members in by_group(kinds).items():
        plurals = [each.plural for each in members]
        verbs = ["get", "list", "patch", "update"]
        rules.append({"apiGroups": [group], "resources": plurals, "verbs": verbs})
    metadata = {"name": f"{placement.name}-migrate"}
    return {"apiVersion": RBAC, "kind": "ClusterRole", "metadata": metadata, "rules": rules}
