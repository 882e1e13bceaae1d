"""Brings the resource types of a release into a cluster, step by step, so that nothing is stored that a webhook cannot read.

1. All webhooks convert by the new schemas, and store as the release before did.
2. They store in the shape of the new ones.
3. The CRDs have the new versions. One that the release no longer serves stays, out of service.
4. All objects are rewritten. Only then may a later release do without what was stored, and without what went out of service.

Each step is written down in the cluster before it is made, and can be made again.
"""

import base64
import json
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from trundle.errors import Finding, Place
from trundle.installation import InstalledPackage
from trundle.kubernetes._admission_manifests import policies, webhook_configuration
from trundle.kubernetes._cluster import Cluster
from trundle.kubernetes._definitions import API_VERSION, WebhookAddress, definitions
from trundle.kubernetes._errors import KubernetesCode
from trundle.kubernetes._manifests import AdmissionBy
from trundle.kubernetes.operator._migrating import Migrations, Progress
from trundle.kubernetes.operator._objects import Objects
from trundle.kubernetes.operator._ordering import DEFINITION, Part, parts_of
from trundle.kubernetes.operator._replicas import Replicas
from trundle.kubernetes.operator._schemas import (
    HeldSchemas,
    SchemaLoader,
    Schemas,
    SchemasError,
    digest_of,
    packed,
)
from trundle.kubernetes.operator._serving import (
    DamagedRecordError,
    Records,
    Served,
    ServedRecord,
    owner_in,
    path_of,
)
from trundle.kubernetes.operator._storage import unknown_versions, unread
from trundle.kubernetes.operator._succession import (
    following,
    is_followed,
    joined,
    kinds_in_service,
    storing_own,
    turned,
)
from trundle.kubernetes.operator._wanted import GROUP, PLURAL

_WAIT = 5.0
_STEP = 0.1


@dataclass(frozen=True)
class Stage:
    """How far the resource types of a release are.

    Attributes:
        parts: what is to be applied for them.
        waiting: what is waited for; empty where nothing is.
        findings: why they cannot go on.
    """

    parts: list[Part] = field(default_factory=list)
    waiting: str = ""
    findings: tuple[Finding, ...] = ()


class Rolling:
    """The resource types of all installations.

    Args:
        cluster: the cluster.
        records: what webhooks convert by.
        replicas: the webhooks.
        loader: loads schemas.
        migrations: rewrites objects.
        admission: who puts the carriers of their objects back.
        sleep: waits between two looks at the webhooks.
    """

    def __init__(
        self,
        cluster: Cluster,
        records: Records,
        replicas: Replicas,
        loader: SchemaLoader,
        migrations: Migrations,
        *,
        admission: AdmissionBy = AdmissionBy.NONE,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._cluster = cluster
        self._records = records
        self._replicas = replicas
        self._schemas = HeldSchemas(loader)
        self._migrations = migrations
        self._admission = admission
        self._sleep = sleep
        self._objects = Objects(cluster)
        self._client: str | None = None

    def begin_look(self) -> None:
        """Lets go the schemas that the look before this one did not ask for."""
        self._schemas.begin_look()

    def kinds(self, folder: Path) -> set[tuple[str, str]]:
        """The group and the kind of the resource types that a release brings by its schemas; none where they cannot be loaded.

        Args:
            folder: the folder of the package.

        Raises:
            OSError: they cannot be written where they are loaded.
        """
        try:
            content = packed(folder)
            known = () if content is None else self._schemas.load(content).known
        except SchemasError:  # `brought` says so, where it matters.
            return set()
        return {(each.group, each.kind) for each in known}

    def brought(
        self,
        owner: str,
        package: InstalledPackage,
        folder: Path,
        manifests: Iterable[Part],
        back: bytes | None = None,
    ) -> Stage:
        """Brings webhooks as far as it goes now; what is to be applied once all convert by the release.

        Args:
            owner: the installation.
            package: what is installed.
            folder: its folder.
            manifests: the objects that it carries as such; where they have all CRDs, they have what converts their objects, too.
            back: the packed schemas of an earlier release that is to be gone back to; None for none.

        Raises:
            SchemasError: nothing can be converted by the schemas.
            ClusterError: the cluster cannot be asked.
            SupersededError: another operator has written meanwhile.
        """
        content = packed(folder)
        record = self._records.get(owner)
        if content is None:
            return self._without(record)
        given = {each.name for each in manifests if each.kind == DEFINITION}
        try:
            schemas = self._schemas.load(content)
        except SchemasError:
            if given and (record is None or given.issuperset(record.served.crds.values())):
                return Stage()
            raise
        missing = set(schemas.crds.values()) - given
        if schemas.crds and not missing:
            return self._without(record, given)
        if len(missing) < len(schemas.crds):
            return Stage(findings=(_some_given(missing),))
        webhook = self._webhook(owner)
        if webhook is None:
            return Stage(findings=(_no_webhook(),))
        others = self._others(owner, schemas)
        before = joined(None if record is None else record.served, others)
        if record is None or not is_followed(record.served, schemas, before, others):
            findings = tuple(self._objections(before, schemas))
            if findings:
                return Stage(findings=findings)
            self._records.keep(schemas.digest, content)
            served = following(owner, package, schemas, before)
            record = self._records.put(ServedRecord(served, record.version if record else ""))
            self._records.clean()
        return self._reached(record, schemas, content, webhook, back)

    def _reached(
        self,
        record: ServedRecord,
        schemas: Schemas,
        content: bytes,
        webhook: WebhookAddress,
        back: bytes | None,
    ) -> Stage:
        """How far webhooks are with what a record says; it goes on where all are."""
        if record.served.toward != ("" if back is None else digest_of(back)):
            target = None if back is None else self._schemas.load(back)
            record = self._put(record, turned(record.served, schemas, target))
        waiting = self._awaited(record.served)
        if not waiting and record.served.storing and not record.served.toward:
            record = self._put(record, storing_own(record.served))
            waiting = self._awaited(record.served)
        if waiting:
            self._records.keep(schemas.digest, content)
            return Stage(waiting=waiting)
        return Stage(self._parts(record, schemas, webhook))

    def standing(self, owner: str, folder: Path) -> list[Part]:
        """The CRDs and the admission of a release that was applied; none where its schemas are no longer what is converted by.

        Args:
            owner: the installation.
            folder: the folder of the package.

        Raises:
            SchemasError: nothing can be converted by the schemas.
            ClusterError: the cluster cannot be asked.
            SupersededError: another operator has written meanwhile.
        """
        content, record = packed(folder), self._records.get(owner)
        webhook = self._webhook(owner)
        if content is None or record is None or webhook is None or not record.served.applied:
            return []
        schemas = self._schemas.load(content)
        is_same = schemas.digest == record.served.digest
        return self._parts(record, schemas, webhook) if is_same else []

    def migrated(self, owner: str, *, applied: bool = False) -> Progress | None:
        """How far the objects of an installation are rewritten; begins, or notes that it has ended. None where it has no resource types.

        Args:
            owner: the installation.
            applied: whether what `brought` has given was applied.

        Raises:
            SchemasError: nothing can be converted by the schemas.
            ClusterError: the cluster cannot be asked.
            SupersededError: another operator has written meanwhile.
        """
        record = self._records.get(owner)
        if record is None:
            return None
        if applied and not record.served.applied:
            record = self._put(record, msgspec.structs.replace(record.served, applied=True))
        served = record.served
        if not served.applied:
            return Progress(message="waits for the CRDs of the release")
        if served.migrated is None:
            schemas = self._schemas.load(self._records.schemas(served.digest))
            schemas = replace(schemas, kinds=kinds_in_service(served, schemas))
            found = self._migrations.progress(owner, served.aim, schemas)
            if not found.done:
                return found
            shapes = {name: [version] for name, version in served.stored.items()}
            done = found.rewritten, found.objects
            self._put(record, msgspec.structs.replace(served, shapes=shapes, migrated=done))
            self._migrations.forget(owner)
            return replace(found, new=True)
        rewritten, objects = served.migrated
        return Progress(objects, rewritten, done=True)

    def check(self, owner: str) -> None:
        """Makes sure that it can be read what is stored of an installation's resource types.

        Raises:
            ClusterError: the cluster cannot be asked.
            DamagedError: it cannot.
        """
        self._records.get(owner)

    def unreadable(
        self, space: str, package: str, readable: Mapping[str, list[str]]
    ) -> list[Finding]:
        """Why a release of a package cannot read what is stored of its resource types.

        Args:
            space: the namespace of its installation.
            package: the name of the package.
            readable: the storage versions that the release can read, by resource type.
        """
        return [
            finding
            for each in self._records.listed().records
            if each.served.owner.startswith(f"{space}/") and each.served.package == package
            for finding in unread(each.served, readable, self._has_objects)
        ]

    def unknown(self, owner: str, back: bytes) -> list[Finding]:
        """The versions of CRDs that an earlier release does not know, and that may not leave them yet.

        Args:
            owner: the installation.
            back: the packed schemas of the earlier release.

        Raises:
            SchemasError: nothing can be converted by the schemas.
            ClusterError: the cluster cannot be asked.
            DamagedError: it cannot be read what is stored.
        """
        record = self._records.get(owner)
        served = None if record is None else joined(record.served, {})
        return [] if served is None else list(self._unknown(served, self._schemas.load(back)))

    def end(self, owner: str) -> None:
        """Ends rewriting objects of an installation that is gone, also by the cluster.

        Raises:
            ClusterError: the cluster cannot be asked.
        """
        self._migrations.forget(owner)
        try:
            record = self._records.get(owner)
        except DamagedRecordError:  # It is no reason to stay.
            return
        by_cluster = None if record is None else self._cluster.migrations()
        if record is not None and by_cluster is not None:
            for name in record.served.crds.values():
                by_cluster.remove(name)

    def tidy(self, owners: Iterable[str]) -> None:
        """Ends converting for installations that are gone, as far as no CRD is left that was theirs.

        Args:
            owners: the installations that there are.
        """
        there = set(owners)
        known = [each.served.owner for each in self._records.listed().records]
        gone = [each for each in known if each not in there]
        if gone:
            self.forget(gone)

    def clean(self) -> None:
        """Deletes the schemas that an operator has left which was killed before it could do so."""
        self._records.clean()

    def forget(self, owners: Iterable[str]) -> None:
        """Ends converting for some installations, as far as no CRD is left that was theirs."""
        used = {_owner_of(each) for each in self._cluster.definitions()}
        for each in owners:
            if each not in used:
                self._migrations.forget(each)
                self._records.delete(each)
        self._records.clean()

    def has_moved(self) -> bool:
        """Whether webhooks are found elsewhere, or by another authority, since this was asked last."""
        before, self._client = self._client, self._own_client()
        return before not in {None, self._client}

    def _without(self, record: ServedRecord | None, given: Container[str] = ()) -> Stage:
        """A release that brings its CRDs itself, or none; no objects may be left of others."""
        if record is None:
            return Stage()
        served = record.served
        shapes = {k: v for k, v in served.shapes.items() if served.crds.get(k) not in given}
        left = msgspec.structs.replace(served, shapes=shapes)
        return Stage(findings=tuple(unread(left, {}, self._has_objects)))

    def _others(self, owner: str, schemas: Schemas) -> dict[str, Served]:
        """What other installations serve that have the CRDs of resource types now, which may be taken over."""
        found = {}
        for name, crd in schemas.crds.items():
            other = _owner_of(self._cluster.definition(crd))
            record = self._records.get(other) if other not in {"", owner} else None
            if record is not None and name in record.served.crds:
                found[name] = record.served
        return found

    def _objections(self, served: Served | None, schemas: Schemas) -> Iterator[Finding]:
        """Why a release cannot follow what is served; None where nothing is known to be."""
        if served is not None:
            yield from unread(served, schemas.readable, self._has_objects)
        yield from self._unknown(served, schemas)

    def _unknown(self, served: Served | None, schemas: Schemas) -> Iterator[Finding]:
        """The versions of CRDs that a release does not know, and that may not leave them yet."""
        going = {} if served is None else served.going
        for kind in schemas.known:
            crd = self._cluster.definition(kind.qualified)
            if crd is not None:
                yield from unknown_versions(crd, kind, going.get(kind.qualified, []))

    def _has_objects(self, name: str) -> bool:
        return self._objects.has_objects(Part(API_VERSION, DEFINITION, "", name))

    def _put(self, record: ServedRecord, served: Served) -> ServedRecord:
        return self._records.put(replace(record, served=served))

    def _awaited(self, served: Served) -> str:
        """Which webhooks do not convert by what is served now, after some seconds."""
        for last in [False] * (int(_WAIT / _STEP) - 1) + [True]:
            behind = self._replicas.behind(served.owner, served.stamp)
            if not behind or last:
                break
            self._sleep(_STEP)
        return f"not every webhook converts by it: {'; '.join(behind)}" if behind else ""

    def _webhook(self, owner: str) -> WebhookAddress | None:
        """Where the objects of an installation are converted: where installations are, by another path."""
        text = self._own_client()
        if text is None:
            return None
        client = json.loads(text)
        authority = base64.b64decode(client.get("caBundle", ""))
        webhook = WebhookAddress(client.get("url", ""), client.get("service"), authority)
        return webhook.at(path_of(owner))

    def _own_client(self) -> str | None:
        """How the API server reaches the webhook that converts installations, as JSON; None where there is none."""
        crd = self._cluster.definition(f"{PLURAL}.{GROUP}") or {"spec": {}}
        webhook = (crd["spec"].get("conversion") or {}).get("webhook") or {}
        client = webhook.get("clientConfig")
        return None if client is None else json.dumps(client, sort_keys=True)

    def _parts(self, record: ServedRecord, schemas: Schemas, webhook: WebhookAddress) -> list[Part]:
        """The CRDs of a release, with what stays in them of earlier ones, and the admission of carriers."""
        served = record.served
        made = definitions(kinds_in_service(served, schemas), webhook, lambda _: None)
        unserved, going = {}, dict(served.going)
        for each in made:
            name = each["metadata"]["name"]
            staying = _staying(self._cluster.definition(name), each, going.get(name, []))
            each["spec"]["versions"] += staying
            if staying:
                unserved[name] = [version["name"] for version in staying]
                going[name] = [e for e in going.get(name, []) if e not in unserved[name]]
        if unserved != served.unserved:
            self._put(record, msgspec.structs.replace(served, unserved=unserved, going=going))
        match self._admission:
            case AdmissionBy.WEBHOOK:
                client = webhook.at(path_of(served.owner, "admit")).client()
                made.append(webhook_configuration(_called(served), schemas.kinds, client, {}))
            case AdmissionBy.POLICY:
                made += policies(_called(served), schemas.kinds)
            case AdmissionBy.NONE:
                pass
        return parts_of(made, "the schemas")


def _staying(
    present: Mapping[str, Any] | None, made: Mapping[str, Any], going: list[str]
) -> list[dict[str, Any]]:
    """The versions of a CRD that a release does not serve, and that stay in it, out of service."""
    if present is None:
        return []
    labels = {each["name"] for each in made["spec"]["versions"]}
    return [
        {**each, "served": False, "storage": False}
        for each in present["spec"]["versions"]
        if each["name"] not in labels and (each["served"] or each["name"] not in going)
    ]


def _owner_of(crd: Mapping[str, Any] | None) -> str:
    """The installation that a CRD has its conversions for; empty for none."""
    conversion = ((crd or {}).get("spec") or {}).get("conversion") or {}
    client = (conversion.get("webhook") or {}).get("clientConfig") or {}
    path = (client.get("service") or {}).get("path") or urlsplit(client.get("url", "")).path
    return owner_in(path)


def _called(served: Served) -> str:
    return f"trundle.{served.owner.replace('/', '.')}"


def _some_given(missing: Iterable[str]) -> Finding:
    place = Place(object=", ".join(f"{DEFINITION} {each}" for each in sorted(missing)))
    expected = "to be in `manifests/`, as other CRDs of the same schemas are"
    advice = "ask the publisher for a release with all of its CRDs in `manifests/`, or with none; the release before stays"
    return Finding(KubernetesCode.SCHEMAS, place, expected, "not there", advice)


def _no_webhook() -> Finding:
    place = Place(object=f"{DEFINITION} {PLURAL}.{GROUP}")
    expected = "a webhook that converts installations, which converts what packages carry, too"
    advice = "install the operator with `trundle kube manifests --operator`"
    return Finding(KubernetesCode.SCHEMAS, place, expected, "none", advice)
