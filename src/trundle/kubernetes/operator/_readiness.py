"""Whether an object that was applied is ready, by what its controller says."""

from collections.abc import Mapping
from typing import Any

_CONDITION = {
    "APIService": "Available",
    "CustomResourceDefinition": "Established",
    "Job": "Complete",
    "Pod": "Ready",
}


def unready(found: Mapping[str, Any] | None) -> str:
    """Why an object is not ready; empty where it is.

    Kinds that have no status, and objects whose controller says nothing of `Ready`, are ready where they are there.

    Args:
        found: the object as it is in the cluster; None where it is not there.
    """
    if found is None:
        return "it is not there"
    metadata, kind = found["metadata"], found["kind"]
    status: Mapping[str, Any] = found.get("status") or {}
    if metadata.get("deletionTimestamp"):
        return "it is being deleted"
    if kind in {"Deployment", "StatefulSet", "ReplicaSet"}:
        return _replicas(found, status, (found.get("spec") or {}).get("replicas", 1))
    if kind == "DaemonSet":
        return _replicas(found, status, status.get("desiredNumberScheduled", 0))
    if kind == "PersistentVolumeClaim" and status.get("phase") == "Lost":
        return "its volume is lost"
    named = _CONDITION.get(kind, "Ready")
    conditions = {each["type"]: each for each in status.get("conditions") or []}
    failed = conditions.get("Failed")
    if kind == "Job" and failed is not None and failed["status"] == "True":
        return f"it has failed: {_words(failed)}; delete it, and it is applied anew"
    condition = conditions.get(named)
    if condition is None:
        return f"it has no condition {named} yet" if kind in _CONDITION else ""
    if condition["status"] == "True":
        return ""
    return f"{named} is {condition['status']}: {_words(condition)}"


def _words(condition: Mapping[str, Any]) -> str:
    return str(condition.get("message") or condition.get("reason", ""))


def _replicas(found: Mapping[str, Any], status: Mapping[str, Any], wanted: int) -> str:
    if status.get("observedGeneration", 0) < found["metadata"].get("generation", 0):
        return "its controller has not seen it yet"
    updated = status.get("updatedReplicas", status.get("updatedNumberScheduled", 0))
    ready = status.get("readyReplicas", status.get("numberReady", 0))
    if found["kind"] == "ReplicaSet":
        updated = ready
    if min(updated, ready) >= wanted:
        return ""
    return f"{min(updated, ready)} of {wanted} replicas are ready"
