"""What every control plane serves beside the resource types of its project: namespaces, events, leases and reviews.

They are a project of their own, whose generated package is `core`. Events have two versions in it, as Kubernetes has them in two groups:
`v1` is that of `core`, and `v2` is `v1` of `events.k8s.io`. Both show the same objects.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

from trundle.api._core.core import scheme
from trundle.api._kinds import ServedKind, served_kinds
from trundle.project import load_project
from trundle.runtime import Scheme

__all__ = ["EVENTS", "NAMESPACES", "core_kinds", "kept_scheme", "scheme"]

NAMESPACES, EVENTS = "Namespace", "Event"
_LABEL = "v1"
"""What Kubernetes calls the version in each of its groups."""


def _is_review(resource: str) -> bool:
    """Whether objects of a resource type are questions."""
    return resource.endswith("Review")


kept_scheme = Scheme(
    scheme.package,
    tuple(each for name, each in scheme.resources.items() if not _is_review(name)),
    served=scheme.served,
    hooked=scheme.hooked,
)
"""Of the scheme, the resource types whose objects a store keeps: a store of the others has neither objects nor resource versions."""


class _Group(NamedTuple):
    """A group that a resource type is served in.

    Attributes:
        name: the group.
        version: the version that is served there, as the project calls it.
        kept_empty: see `ServedKind`.
    """

    name: str
    version: str = _LABEL
    kept_empty: tuple[str, ...] = ()


_GROUPS = {
    "Lease": (_Group("coordination.k8s.io"),),
    "SelfSubjectReview": (_Group("authentication.k8s.io"),),
    "TokenReview": (_Group("authentication.k8s.io"),),
    "LocalSubjectAccessReview": (_Group("authorization.k8s.io"),),
    "SelfSubjectAccessReview": (_Group("authorization.k8s.io"),),
    "SelfSubjectRulesReview": (_Group("authorization.k8s.io"),),
    "SubjectAccessReview": (_Group("authorization.k8s.io"),),
    EVENTS: (
        _Group("", kept_empty=("reportingComponent", "reportingInstance")),
        _Group("events.k8s.io", "v2"),
    ),
}
"""The groups that Kubernetes has its own resource types in; where nothing is said, the one without a name."""


@cache
def core_kinds() -> tuple[ServedKind, ...]:
    """The resource types, as clients see them: in the groups that Kubernetes has them in."""
    project = load_project(Path(__file__).parent / "trundle.yaml")
    return tuple(one for each in served_kinds([project], scheme) for one in _in_groups(each))


def _in_groups(kind: ServedKind) -> Iterator[ServedKind]:
    for group in _GROUPS.get(kind.kind, (_Group(""),)):
        served = replace(kind.versions[group.version], label=_LABEL)
        yield replace(
            kind,
            group=group.name,
            versions={_LABEL: served},
            is_core=True,
            is_review=_is_review(kind.kind),
            kept_empty=group.kept_empty,
        )
