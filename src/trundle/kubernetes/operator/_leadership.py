"""One of several operators acts: the one that holds a Lease of the cluster."""

import datetime as dt
import time
from collections.abc import Callable
from typing import Any

from lightkube.resources.coordination_v1 import Lease

from trundle.errors import Kind
from trundle.kubernetes._cluster import (
    CONFLICT,
    MISSING,
    Cluster,
    ClusterError,
    RequestError,
    asked,
    at_home,
    plain,
)

_NAME = "trundle-operator"


class LostLeaseError(ClusterError):
    """Another operator acts from now on."""

    kind = Kind.CONFLICT


class Leadership:
    """The Lease of the operators of a cluster.

    What the clocks of others say is not believed: a Lease has expired when it has not changed for its duration, by the own clock. One that is gone
    says no more than that: who held it may act still.

    Args:
        cluster: the cluster.
        namespace: the namespace of the Lease.
        identity: the name of this operator, which no other has.
        clock: seconds that only grow.
        now: the time, for people who look at the Lease.
        seconds: how long it lasts without being renewed.
    """

    def __init__(
        self,
        cluster: Cluster,
        namespace: str,
        identity: str,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], dt.datetime],
        seconds: int = 15,
    ) -> None:
        self._client = cluster.client
        self._namespace = namespace
        self._identity = identity
        self._clock = clock
        self._now = now
        self.seconds = seconds
        self._seen: tuple[str, float] | None = None
        self._until = 0.0

    @property
    def holds(self) -> bool:
        """Whether this operator acts: it has renewed the Lease not long ago."""
        return self._clock() < self._until

    def check(self) -> None:
        """Raises an error where this operator does not act.

        Raises:
            LostLeaseError: it does not.
        """
        if not self.holds:
            found = "it was not renewed in time"
            raise LostLeaseError(f"Lease {_NAME}", "to hold it", found, "another operator goes on")

    def renew(self) -> bool:
        """Takes or renews the Lease; whether this operator holds it.

        Raises:
            ClusterError: the cluster cannot be asked.
        """
        started = self._clock()
        found = self._get()
        if not self._may_take(found, started):
            self._until = 0.0
            return False
        try:
            self._seen = (self._write(found), started)
        except RequestError as error:
            if error.status != CONFLICT:
                raise
            self._until = 0.0
            return False
        # Shorter than what others wait, so that this one stops before another begins.
        self._until = started + self.seconds * 2 / 3
        return True

    def release(self) -> None:
        """Lets another operator act at once."""
        self._until = 0.0
        found = self._get()
        if found is not None and (found.get("spec") or {}).get("holderIdentity") == self._identity:
            self._write(found, holder="")

    def _may_take(self, found: dict[str, Any] | None, now: float) -> bool:
        # What was read may have been written as late as now, while it was asked for.
        read = self._clock()
        is_first, seen = self._seen is None, self._seen or ("", read)
        version = "" if found is None else found["metadata"]["resourceVersion"]
        self._seen = seen = seen if seen[0] == version else (version, read)
        if found is None and (is_first or self.holds):
            return True
        spec = (found or {}).get("spec") or {}
        if found is not None and spec.get("holderIdentity") in {None, "", self._identity}:
            return True
        return now - seen[1] > (spec.get("leaseDurationSeconds") or self.seconds)

    def _get(self) -> dict[str, Any] | None:
        try:
            with asked(f"Lease {_NAME}"):
                return plain(self._client.get(Lease, _NAME, namespace=self._namespace))
        except RequestError as error:
            if error.status != MISSING:
                raise
            return None

    def _write(self, found: dict[str, Any] | None, holder: str | None = None) -> str:
        """Writes the Lease; its resource version."""
        metadata: dict[str, Any] = {"name": _NAME, "namespace": self._namespace}
        if found is not None:
            metadata["resourceVersion"] = found["metadata"]["resourceVersion"]
        stamp = self._now().astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        before = (found or {}).get("spec") or {}
        holder = self._identity if holder is None else holder
        same = before.get("holderIdentity") == holder
        spec = {
            "holderIdentity": holder,
            "leaseDurationSeconds": self.seconds,
            "acquireTime": before.get("acquireTime", stamp) if same else stamp,
            "renewTime": stamp,
            "leaseTransitions": before.get("leaseTransitions", 0) + (not same),
        }
        made: Any = Lease.from_dict(
            {
                "apiVersion": "coordination.k8s.io/v1",
                "kind": "Lease",
                "metadata": metadata,
                "spec": spec,
            }
        )
        with at_home(self._namespace), asked(f"Lease {_NAME}"):
            write = self._client.create if found is None else self._client.replace
            version: str = plain(write(made))["metadata"]["resourceVersion"]
            return version
