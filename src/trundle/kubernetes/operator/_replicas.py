"""Operators that convert say by a Lease what they convert by; so the one that acts knows when all can read a new shape."""

import datetime as dt
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lightkube.resources.coordination_v1 import Lease

from trundle.kubernetes._cluster import (
    CONFLICT,
    MISSING,
    Cluster,
    RequestError,
    asked,
    at_home,
    plain,
)

LABEL = "trundle.dev/webhook"
_SERVES = "trundle.dev/serves"
_SECONDS = 15
_LONGEST = 200


class Replica:
    """The Lease of this operator's webhook.

    Args:
        cluster: the cluster.
        home: the namespace of the Lease.
        identity: the name of this operator, which no other has.
        now: the time, for people who look at the Lease.
        clock: seconds that only grow.
    """

    def __init__(
        self,
        cluster: Cluster,
        home: str,
        identity: str,
        *,
        now: Callable[[], dt.datetime],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = cluster.client
        self._home = home
        self._name = f"trundle-webhook-{_dns(identity)}"
        self._now = now
        self._clock = clock
        self._said: str | None = None
        self._at = 0.0

    def say(self, serves: Mapping[str, str]) -> None:
        """Says what this webhook converts by, where that has changed, or was not said for a while.

        Args:
            serves: the stamp of what is served, by installation; after a `!` why it cannot be.

        Raises:
            ClusterError: the cluster cannot be asked.
        """
        text = json.dumps(serves, sort_keys=True)
        if text == self._said and self._clock() - self._at < _SECONDS / 3:
            return
        at = self._clock()
        for last in (False, False, True):
            try:
                self._write(text)
                break
            except RequestError as error:
                if last or error.status != CONFLICT:
                    raise
        self._said, self._at = text, at

    def leave(self) -> None:
        """Says that this webhook does not convert any more."""
        with asked(f"Lease {self._name}"):
            self._client.delete(Lease, self._name, namespace=self._home)

    def _write(self, text: str) -> None:
        where = f"Lease {self._name}"
        metadata: dict[str, Any] = {
            "name": self._name, "namespace": self._home,
            "labels": {LABEL: "true"}, "annotations": {_SERVES: text},
        }  # fmt: skip
        try:
            with asked(where):
                found = plain(self._client.get(Lease, self._name, namespace=self._home))
            metadata["resourceVersion"] = found["metadata"]["resourceVersion"]
        except RequestError as error:
            if error.status != MISSING:
                raise
        stamp = self._now().astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        spec = {
            "holderIdentity": self._name,
            "leaseDurationSeconds": _SECONDS,
            "renewTime": stamp,
        }
        made: Any = Lease.from_dict(
            {
                "apiVersion": "coordination.k8s.io/v1",
                "kind": "Lease",
                "metadata": metadata,
                "spec": spec,
            }
        )
        with at_home(self._home), asked(where):
            put = self._client.replace if "resourceVersion" in metadata else self._client.create
            put(made)


class Replicas:
    """The webhooks of a cluster, as the operator that acts sees them.

    What the clocks of others say is not believed: one is gone when its Lease has not changed for its duration, by the own clock.

    Args:
        cluster: the cluster.
        home: the namespace of the Leases.
        clock: seconds that only grow.
    """

    def __init__(
        self, cluster: Cluster, home: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._client = cluster.client
        self._home = home
        self._clock = clock
        self._seen: dict[str, tuple[str, float]] = {}

    def behind(self, owner: str, stamp: str) -> list[str]:
        """Why not every webhook converts by what is to be served for an installation; empty where each does.

        Args:
            owner: the installation.
            stamp: that of what is to be served.

        Raises:
            ClusterError: the cluster cannot be asked.
        """
        found = list(self._there())
        whys = []
        for name, serves in found:
            said = serves.get(owner, "")
            if said != stamp:
                why = said.partition("!")[2] if said.startswith(f"{stamp}!") else "not loaded yet"
                whys.append(f"{name}: {why}")
        return whys if found else ["no operator serves a webhook"]

    def _there(self) -> Iterator[tuple[str, dict[str, str]]]:
        now = self._clock()
        with asked("Leases"):
            listed = self._client.list(Lease, namespace=self._home, labels={LABEL: "true"})
            leases = [plain(each) for each in listed]
        seen = {}
        for each in leases:
            metadata = each["metadata"]
            name, version = metadata["name"], metadata["resourceVersion"]
            before = self._seen.get(name)
            seen[name] = before if before and before[0] == version else (version, now)
            if now - seen[name][1] > each["spec"].get("leaseDurationSeconds", _SECONDS):
                continue
            try:
                serves = json.loads(metadata.get("annotations", {}).get(_SERVES, "{}"))
            except ValueError:
                serves = {}
            yield name, serves
        self._seen = seen


def _dns(text: str) -> str:
    """A text as a part of the name of an object."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:_LONGEST] or "operator"
