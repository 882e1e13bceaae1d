"""A real cluster: CRDs, the conversion webhook, and the carrier of what a version cannot express."""

from trundle.kubernetes._aggregation_manifests import aggregated_manifests
from trundle.kubernetes._carrier import name_of as carrier_name
from trundle.kubernetes._checking import compared
from trundle.kubernetes._connections import Answer
from trundle.kubernetes._conversions import Conversions, ObjectError
from trundle.kubernetes._definitions import (
    STORAGE,
    WebhookAddress,
    definitions,
    read_definitions,
    service_named,
    url_named,
)
from trundle.kubernetes._errors import DefinitionError, KubernetesCode
from trundle.kubernetes._manifests import AdmissionBy, ManifestFile, Placement, manifests, recipe
from trundle.kubernetes._metrics import WebhookMetrics
from trundle.kubernetes._processes import ServerProcesses
from trundle.kubernetes._serving import serve_webhook
from trundle.kubernetes._webhook import WebhookApplication

__all__ = [
    "STORAGE",
    "AdmissionBy",
    "Answer",
    "Conversions",
    "DefinitionError",
    "KubernetesCode",
    "ManifestFile",
    "ObjectError",
    "Placement",
    "ServerProcesses",
    "WebhookAddress",
    "WebhookApplication",
    "WebhookMetrics",
    "aggregated_manifests",
    "carrier_name",
    "compared",
    "definitions",
    "manifests",
    "read_definitions",
    "recipe",
    "serve_webhook",
    "service_named",
    "url_named",
]
