"""What every control plane serves beside the resource types of its project: namespaces and events.

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


@cache
def core_kinds() -> tuple[ServedKind, ...]:
    """Namespaces and events, as clients see them: in the group without a name."""
    project = load_project(Path(__file__).parent / "trundle.yaml")
    found = served_kinds([project], scheme)
    return tuple(replace(each, group="") for each in found)
