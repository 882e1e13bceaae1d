"""A real cluster: CRDs, the conversion webhook, and the carrier of what a version cannot express."""

from trundle.kubernetes._checking import compared
from trundle.kubernetes._definitions import (
    STORAGE,
    Webhook,
    definitions,
    read_definitions,
    service_named,
)
from trundle.kubernetes._errors import DefinitionError, KubernetesCode

__all__ = [
    "STORAGE",
    "DefinitionError",
    "KubernetesCode",
    "Webhook",
    "compared",
    "definitions",
    "read_definitions",
    "service_named",
]
