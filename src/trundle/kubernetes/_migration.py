"""Rewrites all objects of a cluster in the shape of this release, and lets versions go that nothing is stored at any more.

An object that is written as it is gets stored anew where that changes anything. So every step can be done again, and one that was killed is.
"""

import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import msgspec

from trundle.api import ServedKind
from trundle.errors import Finding, Place
from trundle.kubernetes._carrier import is_marker, name_of, reason_name
from trundle.kubernetes._cluster import (
    CONFLICT,
    Cluster,
    ClusterError,
    ClusterMigrations,
    RequestError,
    called,
    change_as_read,
    existing_definition,
    key_of,
)
from trundle.kubernetes._definitions import STORAGE
from trundle.kubernetes._errors import KubernetesCode
from trundle.kubernetes._refreshing import at_first_that_can, refresh, touch
from trundle.kubernetes._removed_versions import without_leaving

_TRIES = 8
_MOST_FINDINGS = 20
_POLL = 0.5
_NUDGE = 10.0
"""After how many seconds an object is written again, so that the cluster's migration goes on."""

_PATIENCE, _PATIENCE_FOR_EACH = 30.0, 0.02
"""For how many seconds the cluster's migration may run, and how many more for each object."""


class Step(Protocol):
    """Shows what is done now, and how much of how much is done."""

    def __call__(self, step: str, done: int = 0, total: int = 0, /) -> None: ...


@dataclass(frozen=True, slots=True)
class Subject:
    """What is there of a resource type.

    Attributes:
        kind: the resource type with the versions that the project serves.
        known: the same with all versions that it converts.
        labels: the versions to read and write at; those without defaults first, then the preferred one.
        stored: the versions that objects may be stored at.
        leaving: the versions that the cluster has, and the project does not serve.
        objects: how many objects there are.
        unfit: whether the cluster's own migration does not do: a version has no room for the carrier of one, which it would try to write for ever, or owners are
            known by a version that has left the CRD, where each write forgets all owners of the object.
        findings: why they cannot be migrated.
        rewritten: how many objects were stored anew; where the cluster rewrites them, how many there were.
        former: the other versions that objects could be stored at until they were rewritten.
        outdated: objects that the API server remembers as ones that cannot be read, and can be: each with the versions to write it at, the best one first.
    """

    kind: ServedKind
    known: ServedKind
    labels: tuple[str, ...] = ()
    stored: tuple[str, ...] = ()
    leaving: tuple[str, ...] = ()
    objects: int = 0
    unfit: bool = False
    findings: tuple[Finding, ...] = ()
    rewritten: int = 0
    former: tuple[str, ...] = ()
    outdated: tuple[tuple[dict[str, Any], tuple[str, ...]], ...] = ()

    def to_plain(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "crd": self.kind.qualified,
            "storedVersions": list(self.stored),
            "leaving": list(self.leaving),
            "objects": self.objects,
            "rewritten": self.rewritten,
            "former": list(self.former),
            "outdated": [key_of(each) for each, _ in self.outdated],
            "findings": [each.to_plain() for each in self.findings],
        }


class _Note(msgspec.Struct):
    """How far a migration is: after which object, and after how many."""

    release: str
    to: str
    after: str
    done: int = 0


@dataclass(frozen=True, slots=True)
class Migration:
    """Migrates the objects of a project.

    Attributes:
        cluster: where they are.
        release: what is different in each release of the project; a migration that another one has begun starts anew.
        page: how many objects are asked for at once.
        rate: how many objects are rewritten in a second, at most; 0 for as many as possible.
        step: shows progress.
        clock: the time in seconds.
        sleep: waits.
        target: the version that objects are to be stored at, which the CRD says already.
        permit: raises an error where this migration may no longer change a CRD, given as it was read just before.
    """

    cluster: Cluster
    release: str
    page: int = 500
    rate: float = 0
    step: Step = lambda _step, _done=0, _total=0: None
    clock: Callable[[], float] = field(default=time.monotonic)
    sleep: Callable[[float], None] = field(default=time.sleep)
    target: str = STORAGE
    permit: Callable[[Mapping[str, Any]], object] = lambda _crd: None

    def examined(self, kind: ServedKind, known: ServedKind) -> Subject:
        """What is there of a resource type, with a trial: all objects are read at all versions.

        Args:
            kind: the resource type with the versions that the project serves.
            known: the same with all versions that it converts.
        """
        subject = Subject(kind, known)
        crd = self.cluster.definition(kind.qualified)
        if crd is None:
            advice = "apply what `trundle kube crds` writes"
            return _refused(subject, KubernetesCode.MISSING, "a CRD", "none", advice)
        versions = crd["spec"]["versions"]
        stored = tuple((crd.get("status") or {}).get("storedVersions") or ())
        served = {each["name"] for each in versions if each.get("served")}
        labels = labels_of(kind, crd)
        leaving = {each["name"] for each in versions} - {STORAGE, *kind.versions}
        subject = replace(subject, labels=labels, stored=stored, leaving=tuple(sorted(leaving)))
        storage = next((each["name"] for each in versions if each.get("storage")), None)
        if storage != self.target or not labels:
            advice = f"apply what `trundle kube crds` writes first, so that new objects are stored at `{STORAGE}`"
            expected = f"a CRD of the project, which stores objects at `{self.target}`"
            return _refused(subject, KubernetesCode.UNREADY, expected, str(storage), advice)
        unknown = [each for each in stored if each not in {STORAGE, *known.versions}]
        if unknown:
            advice = "add these versions to the project, or rewrite the objects with a release that has them"
            expected = "objects that are stored at versions of the project"
            found = f"some at {', '.join(unknown)}, which would be lost"
            return _refused(subject, KubernetesCode.UNREADY, expected, found, advice)
        return self.tried(subject, sorted(served))

    def tried(self, subject: Subject, served: Iterable[str]) -> Subject:
        """Reads all objects at some versions."""
        labels = tuple(served)
        findings: list[Finding] = []
        remembered: dict[str, tuple[dict[str, Any], list[str]]] = {}
        count, unfit = 0, False
        for label in labels:
            count = 0
            try:
                for each in self.cluster.objects(subject.kind, label, self.page):
                    count += 1
                    self.step(f"{subject.kind.qualified} at {label}", count)
                    unfit |= is_marker(_annotation(each, name_of(subject.kind.group)))
                    unfit |= _names_leaving(subject, each)
                    if not _annotation(each, reason_name(subject.kind.group)):
                        continue
                    reason = self._reason(subject, label, each)
                    if reason:
                        advice = "delete it, or correct it with the release that wrote it"
                        place = f"{called(subject.kind, each)} at {label}"
                        findings.append(_stays(place, "an object that can be read", reason, advice))
                    else:
                        remembered.setdefault(key_of(each), (each, []))[1].append(label)
            except RequestError as error:
                listed = f"a list at {label}"
                findings.append(_stays(subject.kind.qualified, listed, error.found, error.advice))
        outdated = tuple(
            # A version that requires properties takes no object without them.
            (each, tuple(sorted(labels, key=hiding.__contains__)))
            for each, hiding in remembered.values()
        )
        shown = tuple(findings[:_MOST_FINDINGS])
        return replace(subject, objects=count, unfit=unfit, findings=shown, outdated=outdated)

    def _reason(self, subject: Subject, label: str, listed: dict[str, Any]) -> str:
        """Why an object cannot be read; empty where it can be, and only the API server's cache of lists has it otherwise."""
        now = self.cluster.object(subject.kind, label, listed)
        return "" if now is None else _annotation(now, reason_name(subject.kind.group))

    def migrated(self, subject: Subject, migrations: ClusterMigrations | None) -> Subject:
        """Rewrites all objects of a resource type, and lets the other stored versions go.

        Args:
            subject: what `examined` has found.
            migrations: the cluster's own; None to rewrite page by page.

        Raises:
            ClusterError: the cluster cannot be asked, or its API server does not follow the CRD; what was done stays done.
        """
        self._await(subject)
        subject = self._refreshed(subject)
        if subject.findings:
            return subject
        by_pages = subject.leaving or subject.unfit or not subject.objects
        if migrations is None or by_pages:
            subject = self._rewritten(subject)
        else:
            subject = self._by_cluster(subject, migrations)
        return subject if subject.findings else self._trimmed(subject)

    def _await(self, subject: Subject) -> None:
        """Waits until the API server that answers stores objects where the CRD says; it would rewrite nothing before.

        Raises:
            ClusterError: it does not.
        """
        if self.target != STORAGE or subject.stored == (STORAGE,):
            return  # What is stored at a version that is served was waited for by its writes.
        until = self.clock() + _PATIENCE
        while self.cluster.shows_storage(subject.kind, subject.labels[0]):
            if self.clock() > until:
                expected = f"an API server that stores objects at `{STORAGE}`"
                found = "one that has not followed the CRD yet"
                advice = "nothing was written; migrate again"
                raise ClusterError(subject.kind.qualified, expected, found, advice)
            self.step(f"{subject.kind.qualified}: the API server follows the CRD")
            self.sleep(_POLL)

    def _refreshed(self, subject: Subject) -> Subject:
        """Has all API servers read objects anew that they remember as ones that cannot be read: a cache lets them go only with a write."""
        findings = []
        for count, (each, labels) in enumerate(subject.outdated, 1):
            self.step(f"{subject.kind.qualified}, remembered", count, len(subject.outdated))
            try:
                refresh(self.cluster, subject.kind, each, labels, self._mark(subject))
            except RequestError as error:
                advice = "change an annotation of it, and migrate again"
                place = called(subject.kind, each)
                findings.append(_stays(place, "an object that can be written", error.found, advice))
        return replace(subject, findings=tuple(findings[:_MOST_FINDINGS]))

    def _mark(self, subject: Subject) -> tuple[str, str]:
        """The annotation that makes an object another one for a moment."""
        return note_name(subject.kind), self.release

    def _rewritten(self, subject: Subject, written: Container[str] = ()) -> Subject:
        """Writes all objects as they are, page by page; those that were written already count, too."""
        findings: list[Finding] = []
        rewritten, begun = 0, self.clock()
        after, done = self._resumed(subject)
        if not after:  # What another release has noted must not hold when that one is back.
            self._note(subject, "")
        objects = self.cluster.objects(subject.kind, subject.labels[0], self.page, after)
        for count, each in enumerate(objects, 1):
            self.step(key_of(each), done + count, max(done + count, subject.objects))
            try:
                rewritten += self._written(subject, each) or key_of(each) in written
            except RequestError as error:
                advice = error.advice or "correct the object, and migrate again"
                findings.append(_stays(called(subject.kind, each), "an object that can be rewritten", error.found, advice))  # fmt: skip
                if len(findings) == _MOST_FINDINGS:
                    break
            if count % self.page == 0:
                if findings:
                    self._require(subject)
                else:
                    self._note(subject, key_of(each), done + count)
            if self.rate:
                self.sleep(max(0.0, begun + count / self.rate - self.clock()))
        self._note(subject, None)
        return replace(subject, rewritten=rewritten, findings=tuple(findings))

    def _written(self, subject: Subject, found: dict[str, Any]) -> bool:
        """Writes an object as it is; whether it was stored anew.

        Raises:
            RequestError: no version can.
        """
        # A version without room for its carrier cannot; another one can.
        return at_first_that_can(
            subject.labels, lambda label: self._written_at(subject, label, found)
        )

    def _written_at(self, subject: Subject, label: str, found: dict[str, Any]) -> bool:
        kind, target = subject.kind, subject.kind.versions[label]
        before = found["metadata"]["resourceVersion"]
        for last in [False] * (_TRIES - 1) + [True]:
            entries = found["metadata"].get("managedFields") or []
            staying = without_leaving(entries, subject.known, kind.versions, target)
            patch: dict[str, Any] = {}
            if staying != entries:
                version = found["metadata"]["resourceVersion"]
                # A list with one empty entry is what ends that owners are kept.
                patch = {"metadata": {"resourceVersion": version, "managedFields": staying or [{}]}}
            try:
                made = self.cluster.merge(kind, label, found, patch)
            except RequestError as error:
                if last or error.status != CONFLICT:
                    raise
                now = self.cluster.object(kind, label, found)
                if now is None:
                    return False
                found = now
            else:
                return made is not None and made["metadata"]["resourceVersion"] != before
        raise AssertionError

    def _by_cluster(self, subject: Subject, migrations: ClusterMigrations) -> Subject:
        """Has the cluster rewrite all objects; page by page what it does not."""
        kind = subject.kind
        self._note(subject, None)
        migrations.remove(kind.qualified)  # One of an earlier time, perhaps of another release.
        migrations.begin(kind)
        begun, nudged = self.clock(), None
        written: set[str] = set()
        longest = _PATIENCE + subject.objects * _PATIENCE_FOR_EACH
        while True:
            found = migrations.condition(kind)
            self._require(subject)  # Where another one has begun, this is its migration.
            if found is None or found[0] != "Running" or self.clock() - begun > longest:
                break
            if nudged is None or self.clock() - nudged > _NUDGE:
                written |= self._nudge(subject)
                nudged = self.clock()
            self.step(f"{kind.qualified}, by the cluster")
            self.sleep(_POLL)
        migrations.remove(kind.qualified)
        if found is not None and found[0] == "Succeeded":
            return replace(subject, rewritten=subject.objects)
        # A cluster gives up where it asks for a version that has gone a moment ago, and waits where it watches what has gone.
        return self._rewritten(subject, written)

    def _nudge(self, subject: Subject) -> set[str]:
        """Writes one object, as the cluster's migration waits until its caches have seen a write after its beginning; gives its key."""
        for each in self.cluster.objects(subject.kind, subject.labels[0], 1):
            touch(self.cluster, subject.kind, each, self._mark(subject), subject.labels[0])
            return {key_of(each)}
        return set()

    def _trimmed(self, subject: Subject) -> Subject:
        """Lets all stored versions go but the one that objects are stored at now.

        Raises:
            ClusterError: the cluster does not.
        """
        where = f"CRD {subject.kind.qualified}"

        def trimmed(crd: dict[str, Any]) -> dict[str, Any] | None:
            if not _stores(crd, self.target):
                expected = f"one that stores objects at `{self.target}`"
                advice = "nothing was trimmed; apply the project's CRDs, and migrate again"
                raise ClusterError(where, expected, "one that stores them elsewhere", advice)
            added = set(crd["status"].get("storedVersions") or ()) - {*subject.stored, self.target}
            if added:
                expected = f"one that has stored objects at `{self.target}` all the time"
                found = f"one that stored them at {', '.join(sorted(added))} meanwhile"
                advice = "nothing was trimmed; migrate again"
                raise ClusterError(where, expected, found, advice)
            if crd["status"].get("storedVersions") == [self.target]:
                return None
            return {"status": {"storedVersions": [self.target]}}

        self._change(subject, trimmed, status=True)
        former = tuple(each for each in subject.stored if each != self.target)
        return replace(subject, stored=(self.target,), former=former)

    def _resumed(self, subject: Subject) -> tuple[str, int]:
        """After which object a migration of this release was ended, and how many that were."""
        crd = self.cluster.definition(subject.kind.qualified) or {}
        text = (crd.get("metadata", {}).get("annotations") or {}).get(note_name(subject.kind))
        try:
            noted = msgspec.json.decode(text or "", type=_Note)
        except msgspec.MsgspecError:
            return "", 0
        is_this = (noted.release, noted.to) == (self.release, self.target)
        return (noted.after, noted.done) if is_this else ("", 0)

    def _note(self, subject: Subject, key: str | None, done: int = 0) -> None:
        """Notes how far a migration is; None where it has ended."""
        said = None
        if key is not None:
            said = msgspec.json.encode(_Note(self.release, self.target, key, done)).decode()
        patch = {"metadata": {"annotations": {note_name(subject.kind): said}}}
        self._change(subject, lambda _: patch)

    def _require(self, subject: Subject) -> None:
        """Raises an error where this migration may no longer change the CRD."""
        self.permit(existing_definition(self.cluster, subject.kind.qualified))

    def _change(
        self,
        subject: Subject,
        change: Callable[[dict[str, Any]], dict[str, Any] | None],
        *,
        status: bool = False,
    ) -> None:
        """Changes the CRD as it is now, as long as this migration may."""

        def permitted(crd: dict[str, Any]) -> dict[str, Any] | None:
            self.permit(crd)
            return change(crd)

        change_as_read(self.cluster, subject.kind.qualified, permitted, status=status)


def note_name(kind: ServedKind) -> str:
    """The annotation of a CRD that says how far a migration is."""
    return f"{kind.group}/migration"


def _names_leaving(subject: Subject, found: Mapping[str, Any]) -> bool:
    """Whether owners of an object are known by a version that the project does not serve."""
    leaving = subject.known.versions.keys() - subject.kind.versions.keys()
    names = {f"{subject.kind.group}/{each}" for each in leaving}
    entries = found["metadata"].get("managedFields") or ()
    return any(each.get("apiVersion") in names for each in entries)


def _annotation(found: Mapping[str, Any], name: str) -> str:
    return str((found["metadata"].get("annotations") or {}).get(name, ""))


def labels_of(kind: ServedKind, crd: Mapping[str, Any]) -> tuple[str, ...]:
    """The versions to read and write objects at; the best one first."""
    versions = crd["spec"]["versions"]
    served = {each["name"] for each in versions if each.get("served")}
    defaults = {each["name"] for each in versions if _has_default(each.get("schema"))}
    # A cluster puts defaults of a version into all that is written at it, so one without is better.
    return tuple(sorted((e for e in kind.versions if e in served), key=defaults.__contains__))


def _has_default(schema: Any) -> bool:
    """Whether a schema has defaults anywhere."""
    if not isinstance(schema, Mapping):
        return False
    inner = [*(schema.get("properties") or {}).values()]
    inner += [schema.get(each) for each in ("openAPIV3Schema", "items", "additionalProperties")]
    return "default" in schema or any(map(_has_default, inner))


def _stores(crd: Mapping[str, Any], version: str) -> bool:
    return any(each.get("storage") and each["name"] == version for each in crd["spec"]["versions"])


def _refused(
    subject: Subject, code: KubernetesCode, expected: str, found: str, advice: str
) -> Subject:
    place = Place("the cluster", object=subject.kind.qualified)
    return replace(subject, findings=(Finding(code, place, expected, found, advice),))


def _stays(where: str, expected: str, found: str, advice: str) -> Finding:
    place = Place("the cluster", object=where)
    return Finding(KubernetesCode.STAYS, place, expected, found, advice)


def subjects(
    kinds: Iterable[ServedKind], known: Iterable[ServedKind]
) -> Iterator[tuple[ServedKind, ServedKind]]:
    """Resource types with the versions that are served, each with the same that has all versions."""
    all_of = {each.qualified: each for each in known}
    for each in kinds:
        yield each, all_of[each.qualified]
