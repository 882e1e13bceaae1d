"""What there is: groups, versions and resource types, as kubectl and client libraries discover them."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trundle.api._kinds import ServedKind
from trundle.version import ApiVersion

_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
_OF_CORE = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
"""The same, as API servers list them of Kubernetes' own."""
_STATUS_VERBS = ("get", "patch", "update")


def versions_of(kinds: Iterable[ServedKind]) -> list[str]:
    """The versions of a group, the preferred one first: GA before previews, the newest first."""
    found = {each.label: each for kind in kinds for each in kind.versions.values()}
    newest = sorted(found, key=lambda label: ApiVersion.parse(found[label].version), reverse=True)
    return sorted(newest, key=lambda label: found[label].is_preview)


class Discovery:
    """Describes the resource types that are served.

    Args:
        kinds: the resource types.
    """

    def __init__(self, kinds: Iterable[ServedKind]) -> None:
        by_group = sorted(kinds, key=lambda each: each.group)
        self._groups = {
            group: sorted(members, key=lambda each: each.plural)
            for group, members in itertools.groupby(by_group, key=lambda each: each.group)
        }

    def groups(self) -> dict[str, Any]:
        """The groups: `/apis`."""
        found = [self.group(each) for each in self._groups if each]
        listed = (
            {k: v for k, v in x.items() if k not in {"kind", "apiVersion"}} for x in found if x
        )
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [*listed]}

    def group(self, name: str) -> dict[str, Any] | None:
        """A group: `/apis/GROUP`; None where there is none."""
        if name not in self._groups:
            return None
        versions = [
            {"groupVersion": f"{name}/{each}", "version": each}
            for each in versions_of(self._groups[name])
        ]
        return {
            "kind": "APIGroup",
            "apiVersion": "v1",
            "name": name,
            "versions": versions,
            "preferredVersion": versions[0],
        }

    def paths(self) -> Iterator[str]:
        """The paths of all of this."""
        for group, kinds in self._groups.items():
            above = f"/apis/{group}" if group else "/api"
            yield above
            yield from (f"{above}/{each}" for each in versions_of(kinds))

    def resources(self, group: str, version: str) -> dict[str, Any] | None:
        """The resource types of a version: `/apis/GROUP/VERSION`; None where there is no such version."""
        members = [x for x in self._groups.get(group, ()) if version in x.versions]
        if not members:
            return None
        return {
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": f"{group}/{version}" if group else version,
            "resources": [part for each in members for part in _resource(each, version)],
        }

    def aggregated(self, *, core: bool) -> dict[str, Any]:
        """All at once, as `apidiscovery.k8s.io/v2` has it.

        Args:
            core: whether to describe `/api`, which has the group without a name, instead of `/apis`.
        """
        return {
            "kind": "APIGroupDiscoveryList",
            "apiVersion": "apidiscovery.k8s.io/v2",
            "metadata": {},
            "items": [
                {
                    "metadata": {"name": group, "creationTimestamp": None}
                    if group
                    else {"creationTimestamp": None},
                    "versions": [
                        {
                            "version": version,
                            "resources": [
                                _discovered(each, version)
                                for each in members
                                if version in each.versions
                            ],
                            "freshness": "Current",
                        }
                        for version in versions_of(members)
                    ],
                }
                for group, members in self._groups.items()
                if (not group) is core
            ],
        }


def _verbs(kind: ServedKind) -> list[str]:
    """What can be done to objects; namespaces are deleted one by one."""
    if kind.is_review:
        return ["create"]
    if not kind.is_core:
        return list(_VERBS)
    return [each for each in _OF_CORE if each != "deletecollection" or kind.namespaced]


def _resource(kind: ServedKind, version: str) -> list[Mapping[str, Any]]:
    common = {"singularName": kind.singular, "namespaced": kind.namespaced, "kind": kind.kind}
    found: list[Mapping[str, Any]] = [
        {
            "name": kind.plural,
            **common,
            "verbs": _verbs(kind),
            **({"shortNames": list(kind.short_names)} if kind.short_names else {}),
            **({"categories": list(kind.categories)} if kind.categories else {}),
        }
    ]
    if kind.versions[version].has_status:
        common["singularName"] = ""
        found.append({"name": f"{kind.plural}/status", **common, "verbs": list(_STATUS_VERBS)})
    return found


def _discovered(kind: ServedKind, version: str) -> dict[str, Any]:
    response = {"group": kind.group, "version": version, "kind": kind.kind}
    found: dict[str, Any] = {
        "resource": kind.plural,
        "responseKind": response,
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "singularResource": kind.singular,
        "verbs": _verbs(kind),
    }
    if kind.short_names:
        found["shortNames"] = list(kind.short_names)
    if kind.categories:
        found["categories"] = list(kind.categories)
    if kind.versions[version].has_status:
        status = {
            "subresource": "status",
            "responseKind": response,
            "verbs": list(_STATUS_VERBS),
        }
        found["subresources"] = [status]
    return found
