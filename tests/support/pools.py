"""A resource type with the subresource `scale`."""

from typing import Any

GROUP = "scale.test"
_COUNTED = {"type": "object", "properties": {"replicas": {"type": "integer"}}}


def definition(**subresources: Any) -> dict[str, Any]:
    """The CRD of pools, with some subresources."""
    properties = {"spec": _COUNTED, "status": _COUNTED}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "subresources": subresources,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"pools.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"kind": "Pool", "plural": "pools"},
            "versions": [version],
        },
    }
