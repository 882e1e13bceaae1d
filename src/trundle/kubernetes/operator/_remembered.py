"""Keeps what the operator remembers of a namespace in a ConfigMap of its own, so that a pod can go at any time."""

import base64
import zlib
from pathlib import Path
from typing import Any

from lightkube.resources.core_v1 import ConfigMap

from trundle.errors import Kind
from trundle.installation import exists, restore, snapshot
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
from trundle.kubernetes._errors import DefinitionError

_STATE = "state"
_MOST_BYTES = 700 * 1024


class SupersededError(ClusterError):
    """Another operator has written meanwhile; it goes on, and this one has to look again."""

    kind = Kind.CONFLICT


class Keeper:
    """What is remembered about the installations of a namespace.

    Args:
        cluster: the cluster.
        home: the namespace of the operator.
        about: the namespace of the installations.
        folder: the folder that it is used in.
    """

    def __init__(self, cluster: Cluster, home: str, about: str, folder: Path) -> None:
        self._client = cluster.client
        self._home = home
        self._name = f"trundle-installed-{about}"
        self._folder = folder
        self._version: str | None = None
        self._digest = ""

    def load(self) -> None:
        """Brings the folder to what the cluster remembers, also where it was removed.

        Raises:
            ClusterError: the cluster cannot be asked.
            DefinitionError: what it remembers is damaged.
        """
        found = self._found()
        version = found["metadata"]["resourceVersion"] if found else ""
        if version == self._version and exists(self._folder):
            return
        content = None
        try:
            if found is not None:
                content = zlib.decompress(base64.b64decode(found["binaryData"][_STATE]))
        except (KeyError, ValueError, zlib.error):
            advice = "restore it from a backup; nothing was changed"
            where = f"ConfigMap {self._home}/{self._name}"
            raise DefinitionError(
                where, "the state of installations", "something else", advice
            ) from None
        self._version = None  # Where this breaks off, it begins again.
        restore(self._folder, content)
        self._version, self._digest = version, ""

    def save(self) -> None:
        """Writes what the folder remembers into the cluster, where it has changed.

        Raises:
            SupersededError: another operator has written meanwhile.
            ClusterError: the cluster cannot be asked.
            DefinitionError: it is too large.
        """
        content, digest = snapshot(self._folder)
        if digest == self._digest:
            return
        data = zlib.compress(content, 9)
        where = f"ConfigMap {self._home}/{self._name}"
        if len(data) > _MOST_BYTES:
            advice = "divide the installations over more namespaces"
            expected = f"up to {_MOST_BYTES} bytes of state"
            raise DefinitionError(where, expected, f"{len(data)}", advice)
        metadata = {"name": self._name, "namespace": self._home}
        if self._version:
            metadata["resourceVersion"] = self._version
        made: Any = ConfigMap.from_dict(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": metadata,
                "binaryData": {_STATE: base64.b64encode(data).decode()},
            }
        )
        try:
            with at_home(self._home), asked(where):
                written = self._client.replace(made) if self._version else self._client.create(made)
        except RequestError as error:
            if error.status != CONFLICT:
                raise
            self._version = None
            found = "a change by another operator"
            raise SupersededError(where, "what was read of it", found, "look again") from None
        self._version = plain(written)["metadata"]["resourceVersion"]
        self._digest = digest

    def _found(self) -> dict[str, Any] | None:
        try:
            with asked(f"ConfigMap {self._home}/{self._name}"):
                return plain(self._client.get(ConfigMap, self._name, namespace=self._home))
        except RequestError as error:
            if error.status != MISSING:
                raise
            return None
