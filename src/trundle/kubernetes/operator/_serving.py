"""What webhooks convert by, for each installation: kept in the cluster, so that each operator has it whatever becomes of registries."""

import base64
import hashlib
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec
from lightkube.resources.core_v1 import ConfigMap

from trundle.kubernetes._cluster import (
    CONFLICT,
    MISSING,
    Cluster,
    RequestError,
    asked,
    plain,
)
from trundle.kubernetes._errors import DefinitionError, KubernetesCode
from trundle.kubernetes.operator._remembered import SupersededError
from trundle.kubernetes.operator._schemas import digest_of

LABEL = "trundle.dev/converts"
_SERVED, _SCHEMAS = "served", "schemas"


class DamagedRecordError(DefinitionError):
    """What is kept in the cluster, and cannot be read."""

    code = KubernetesCode.SCHEMAS


class Served(msgspec.Struct, frozen=True, kw_only=True):
    """What webhooks convert by for an installation, and what is stored of its resource types.

    Resource types are called `group/name`, as manifests of packages call them; versions of CRDs by their labels.

    Attributes:
        owner: the namespace and the name of the installation.
        package: the name of its package.
        digest: that of its schemas.
        crds: the CRDs of its resource types.
        hubs: the storage versions of the release.
        storing: other storage versions that are stored for now, as not every webhook can read those of the release yet.
        shapes: the storage versions in which objects may be stored.
        unserved: the versions of CRDs that went out of service with this release; they stay in the CRD.
        going: the versions of CRDs that an earlier release took out of service, and that may leave.
        applied: whether the CRDs of the release are in the cluster.
        toward: the digest of the schemas of an earlier release that is to be gone back to; empty for none.
        withdrawn: the versions of CRDs that go out of service for that.
        migrated: how many objects were rewritten in the shape of the release, of how many; None as long as they are not.
        turns: how many times it was changed what objects are to be stored as.
    """

    owner: str
    package: str
    digest: str
    crds: dict[str, str]
    hubs: dict[str, str]
    storing: dict[str, str] = {}
    shapes: dict[str, list[str]] = {}
    unserved: dict[str, list[str]] = {}
    going: dict[str, list[str]] = {}
    applied: bool = False
    toward: str = ""
    withdrawn: dict[str, list[str]] = {}
    migrated: tuple[int, int] | None = None
    turns: int = 0

    @property
    def aim(self) -> str:
        """What is different where objects are rewritten otherwise, or were stored otherwise meanwhile."""
        return f"{self.stamp}-{self.toward}-{self.turns}"

    @property
    def stamp(self) -> str:
        """What a webhook says that it converts by."""
        words = msgspec.json.encode([self.digest, sorted(self.storing.items())])
        return hashlib.blake2b(words, digest_size=8).hexdigest()

    @property
    def stored(self) -> dict[str, str]:
        """The storage versions that are stored now."""
        return self.hubs | self.storing


@dataclass(frozen=True)
class ServedRecord:
    """What is kept in the cluster for an installation.

    Attributes:
        served: what webhooks convert by.
        version: the resource version; empty for one that is new.
    """

    served: Served
    version: str = ""


@dataclass(frozen=True)
class Listed:
    """The records of a cluster.

    Attributes:
        records: those that can be read.
        damaged: why others cannot, by the names that `name_of` gives.
    """

    records: list[ServedRecord] = field(default_factory=list)
    damaged: dict[str, DamagedRecordError] = field(default_factory=dict)


class Records:
    """The records of a cluster, and the schemas that they name, each in a ConfigMap.

    Args:
        cluster: the cluster.
        home: the namespace that they are in.
        check: is called before each write, and raises an error where nothing may be written any more.
    """

    def __init__(
        self, cluster: Cluster, home: str, check: Callable[[], object] = lambda: None
    ) -> None:
        self._client = cluster.client
        self._home = home
        self._check = check

    def listed(self) -> Listed:
        """All of them.

        Raises:
            ClusterError: the cluster cannot be asked.
        """
        found = Listed()
        for each in self._listed(_SERVED):
            try:
                found.records.append(self._read(each))
            except DamagedRecordError as error:
                found.damaged[each["metadata"]["name"]] = error
        return found

    def get(self, owner: str) -> ServedRecord | None:
        """That of an installation; None where it has none.

        Raises:
            ClusterError: the cluster cannot be asked.
            DamagedError: it cannot be read.
        """
        found = self._get(name_of(owner))
        return None if found is None else self._read(found)

    def put(self, record: ServedRecord) -> ServedRecord:
        """Writes one; as it is then.

        Raises:
            SupersededError: another operator has written meanwhile.
            ClusterError: the cluster cannot be asked.
        """
        name = name_of(record.served.owner)
        made = self._made(name, _SERVED, data=msgspec.json.encode(record.served).decode())
        if record.version:
            made["metadata"]["resourceVersion"] = record.version
        try:
            version = self._put(made)
        except RequestError as error:
            if error.status not in {CONFLICT, MISSING}:
                raise
            where, found = self._where(name), "a change by another operator"
            raise SupersededError(where, "what was read of it", found, "look again") from None
        return ServedRecord(record.served, version)

    def delete(self, owner: str) -> None:
        """Deletes that of an installation, if there is one."""
        self._delete(name_of(owner))

    def keep(self, digest: str, content: bytes) -> None:
        """Keeps schemas, in place of what is damaged of them.

        Args:
            digest: what records call them.
            content: the schemas, packed.
        """
        text = base64.b64encode(content).decode()
        made = self._made(_content(digest), _SCHEMAS, binaryData=text)
        try:
            self._put(made)
        except RequestError as error:
            if error.status != CONFLICT:
                raise
            found = self._get(_content(digest))
            if found is not None and not _is_of(digest, found):
                made["metadata"]["resourceVersion"] = found["metadata"]["resourceVersion"]
                self._put(made)

    def schemas(self, digest: str) -> bytes:
        """The packed schemas that a record names.

        Raises:
            DamagedError: they are not there, or cannot be read.
            ClusterError: the cluster cannot be asked.
        """
        found = self._get(_content(digest)) or {}
        if not _is_of(digest, found):
            raise self._damaged(_content(digest), "the schemas of a release")
        return _packed_in(found)

    def clean(self) -> None:
        """Deletes the schemas that no record names any more; none while a record is damaged, which may name them."""
        listed = self.listed()
        if listed.damaged:
            return
        needed = {_content(each.served.digest) for each in listed.records}
        for each in self._listed(_SCHEMAS):
            if each["metadata"]["name"] not in needed:
                self._delete(each["metadata"]["name"])

    def _made(self, name: str, what: str, **content: str) -> dict[str, Any]:
        labels = {LABEL: what}
        return {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": self._home, "labels": labels},
            **{key: {what: text} for key, text in content.items()},
        }

    def _put(self, made: dict[str, Any]) -> str:
        """Writes a ConfigMap; its resource version."""
        document: Any = ConfigMap.from_dict(made)
        replaces = "resourceVersion" in made["metadata"]
        self._check()
        with asked(self._where(made["metadata"]["name"])):
            put = self._client.replace if replaces else self._client.create
            return str(plain(put(document))["metadata"]["resourceVersion"])

    def _get(self, name: str) -> dict[str, Any] | None:
        try:
            with asked(self._where(name)):
                return plain(self._client.get(ConfigMap, name, namespace=self._home))
        except RequestError as error:
            if error.status != MISSING:
                raise
            return None

    def _listed(self, what: str) -> list[dict[str, Any]]:
        with asked("ConfigMaps"):
            listed = self._client.list(ConfigMap, namespace=self._home, labels={LABEL: what})
            return [plain(each) for each in listed]

    def _delete(self, name: str) -> None:
        self._check()
        try:
            with asked(self._where(name)):
                self._client.delete(ConfigMap, name, namespace=self._home)
        except RequestError as error:
            if error.status != MISSING:
                raise

    def _read(self, found: dict[str, Any]) -> ServedRecord:
        metadata = found["metadata"]
        try:
            served = msgspec.json.decode(found["data"][_SERVED], type=Served)
        except (KeyError, msgspec.MsgspecError):
            raise self._damaged(metadata["name"], "what webhooks convert by") from None
        return ServedRecord(served, metadata["resourceVersion"])

    def _damaged(self, name: str, expected: str) -> DamagedRecordError:
        advice = "restore it from a backup; nothing was changed"
        return DamagedRecordError(self._where(name), expected, "something else", advice)

    def _where(self, name: str) -> str:
        return f"ConfigMap {self._home}/{name}"


def path_of(owner: str, verb: str = "convert") -> str:
    """Where webhooks answer for an installation."""
    return f"/{verb}/{owner}"


def owner_in(path: str) -> str:
    """The installation that a path of a webhook is for; empty where it is for none."""
    before, found, owner = path.partition("/convert/")
    return owner if found and not before else ""


def name_of(owner: str) -> str:
    """The ConfigMap with the record of an installation."""
    return f"trundle-served-{hashlib.blake2b(owner.encode(), digest_size=10).hexdigest()}"


def _content(digest: str) -> str:
    return f"trundle-schemas-{digest}"


def _packed_in(found: dict[str, Any]) -> bytes:
    return base64.b64decode(found["binaryData"][_SCHEMAS], validate=True)


def _is_of(digest: str, found: dict[str, Any]) -> bool:
    """Whether a ConfigMap has the schemas of a digest."""
    try:
        return digest_of(_packed_in(found)) == digest
    except (KeyError, TypeError, ValueError, zlib.error):
        return False
