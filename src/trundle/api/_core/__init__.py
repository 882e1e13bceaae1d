"""What every control plane serves beside the resource types of its project: namespaces, events and leases.

They are a project of their own, whose generated package is `core`.
"""

from dataclasses import replace
from functools import cache
from pathlib import Path

from trundle.api._core.core import scheme
from trundle.api._kinds import ServedKind, served_kinds
from trundle.project import load_project

__all__ = ["EVENTS", "NAMESPACES", "core_kinds", "scheme"]

NAMESPACES, EVENTS = "Namespace", "Event"
_GROUPS = {"Lease": "coordination.k8s.io"}
"""The groups that Kubernetes has its own resource types in, where they have one."""


@cache
def core_kinds() -> tuple[ServedKind, ...]:
    """The resource types, as clients see them: in the groups that Kubernetes has them in."""
    project = load_project(Path(__file__).parent / "trundle.yaml")
    found = served_kinds([project], scheme)
    return tuple(replace(each, group=_GROUPS.get(each.kind, ""), is_core=True) for each in found)
