"""Installations in a cluster, and what the operator writes beside them."""

import base64
import binascii
import contextlib
import datetime as dt
import json
from collections.abc import Iterator, Mapping
from typing import Any

from lightkube.generic_resource import create_namespaced_resource
from lightkube.resources.core_v1 import Event, Secret
from lightkube.types import PatchType

from trundle._server_transport import WATCH_TIME
from trundle.kubernetes._cluster import MISSING, Cluster, ClusterError, RequestError, asked, plain
from trundle.kubernetes._errors import KubernetesCode
from trundle.kubernetes.operator._wanted import (
    GROUP,
    KIND,
    PLURAL,
    STACK_GROUP,
    STACK_KIND,
    STACK_VERSION,
    VERSION,
)

FINALIZER = f"{GROUP}/uninstall"
MANAGER = "trundle-operator"
_LONGEST_NOTE = 1000


class MissingRootError(ClusterError):
    """A Secret that has not the root by which a channel is to be verified."""

    code = KubernetesCode.ROOT


class Installations:
    """The installations of a cluster.

    Args:
        cluster: the cluster.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._client = cluster.client
        self._resources: dict[str, Any] = {
            KIND: create_namespaced_resource(GROUP, VERSION, KIND, PLURAL),
            STACK_KIND: create_namespaced_resource(
                STACK_GROUP, STACK_VERSION, STACK_KIND, "stackinstalls"
            ),
        }

    def listed(self, namespace: str = "*") -> list[dict[str, Any]]:
        """All of them by their namespaces, the oldest first; with each `StackInstall`, where the cluster has the kind."""
        found = self._listed(KIND, namespace)
        with contextlib.suppress(ClusterError):  # Most clusters have none, and give no right to it.
            found += self._listed(STACK_KIND, namespace)
        return sorted(found, key=_age)

    def _listed(self, kind: str, namespace: str) -> list[dict[str, Any]]:
        resource = self._resources[kind]
        with asked(PLURAL):
            found = [plain(each) for each in self._client.list(resource, namespace=namespace)]
        return [{**each, "kind": kind, "apiVersion": _version(kind)} for each in found]

    def watched(self, namespace: str = "*") -> Iterator[tuple[str, str]]:
        """Each change of one: its uid, and what of it people change; without an end. No `StackInstall` is watched."""
        with asked(PLURAL):
            resource = self._resources[KIND]
            changes = self._client.watch(resource, namespace=namespace, server_timeout=WATCH_TIME)
            for _, each in changes:
                found = plain(each)
                metadata = found["metadata"]
                words = [metadata.get("annotations"), metadata.get("deletionTimestamp")]
                yield metadata["uid"], json.dumps([found.get("spec"), *words], sort_keys=True)

    def set_finalizer(self, found: Mapping[str, Any], *, there: bool) -> None:
        """Puts the operator's finalizer on one, or takes it off."""
        metadata = found["metadata"]
        others = [each for each in metadata.get("finalizers") or [] if each != FINALIZER]
        after = [*others, FINALIZER] if there else others
        if after == (metadata.get("finalizers") or []):
            return
        change = {"finalizers": after, "resourceVersion": metadata["resourceVersion"]}
        self._patch(found, {"metadata": change})

    def annotate(self, found: Mapping[str, Any], name: str, value: str) -> None:
        """Puts an annotation on one."""
        self._patch(found, {"metadata": {"annotations": {name: value}}})

    def write_status(self, found: Mapping[str, Any], status: Mapping[str, Any]) -> None:
        """Writes a status, where it differs."""
        before = found.get("status") or {}
        if before == status:
            return
        removed = {key: None for key in before if key not in status}
        self._patch(found, {"status": {**removed, **status}}, status=True)

    def _patch(
        self, found: Mapping[str, Any], patch: Mapping[str, Any], *, status: bool = False
    ) -> None:
        metadata = found["metadata"]
        resource = self._resources[found["kind"]]
        try:
            with asked(f"{found['kind']} {metadata['name']}"):
                self._client.patch(
                    resource.Status if status else resource, metadata["name"], patch,
                    namespace=metadata["namespace"], patch_type=PatchType.MERGE, field_manager=MANAGER,
                )  # fmt: skip
        except RequestError as error:
            if error.status != MISSING:
                raise

    def secret(self, namespace: str, name: str, key: str) -> bytes:
        """What a Secret has under a key.

        Raises:
            MissingRootError: there is no such Secret or key.
        """
        where = f"Secret {namespace}/{name}"
        try:
            with asked(where):
                data = plain(self._client.get(Secret, name, namespace=namespace)).get("data") or {}
        except RequestError as error:
            if error.status != MISSING:
                raise
            advice = f"create it: kubectl create secret generic {name} --namespace {namespace} --from-file={key}"
            raise MissingRootError(
                where, "the publisher's root", "no such Secret", advice
            ) from None
        try:
            return base64.b64decode(data[key], validate=True)
        except (KeyError, binascii.Error):
            known = ", ".join(sorted(data)) or "none"
            advice = "put the root there"
            raise MissingRootError(where, f"the key {key}", known, advice) from None

    def record(
        self,
        found: Mapping[str, Any],
        reason: str,
        message: str,
        now: dt.datetime,
        *,
        warning: bool,
    ) -> None:
        """Writes an event about one."""
        metadata = found["metadata"]
        stamp = now.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        involved = {
            "apiVersion": found["apiVersion"], "kind": found["kind"], "name": metadata["name"],
            "namespace": metadata["namespace"], "uid": metadata["uid"],
        }  # fmt: skip
        event: Any = Event.from_dict(
            {
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {
                    "generateName": f"{metadata['name']}.", "namespace": metadata["namespace"],
                },
                "involvedObject": involved,
                "reason": reason,
                "message": message[:_LONGEST_NOTE],
                "type": "Warning" if warning else "Normal",
                "source": {"component": MANAGER},
                "firstTimestamp": stamp,
                "lastTimestamp": stamp,
                "count": 1,
            }
        )  # fmt: skip
        with asked("events"):
            self._client.create(event)


def _version(kind: str) -> str:
    return f"{GROUP}/{VERSION}" if kind == KIND else f"{STACK_GROUP}/{STACK_VERSION}"


def _age(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Orders documents by namespace and age; those of one second by their names."""
    metadata = document["metadata"]
    return metadata["namespace"], metadata.get("creationTimestamp") or "", metadata["name"]
