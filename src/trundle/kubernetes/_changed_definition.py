"""A CRD of a cluster that is changed while clients use it.

One run changes it at a time. An annotation of the CRD names that run; whichever wrote it last goes on, and any other ends at its next change.
So a run that was killed holds up none.
"""

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from trundle.api import ServedKind
from trundle.errors import Kind
from trundle.kubernetes._cluster import (
    CONFLICT,
    ClusterError,
    RequestError,
    change_as_read,
    existing_definition,
)
from trundle.kubernetes._errors import KubernetesCode
from trundle.kubernetes._former import Former, former_of, served_versions, storing
from trundle.kubernetes._migration import Migration, Subject, labels_of, note_name

_LONGEST, _AGAIN = 30.0, 0.2
"""For how many seconds to look whether an API server has followed a change, and how many pass between."""


class OtherRunError(ClusterError):
    """Another run changes the CRD."""

    kind = Kind.CONFLICT
    code = KubernetesCode.OTHER_RUN


@dataclass(frozen=True, slots=True)
class ChangedDefinition:
    """A CRD of a cluster, with the objects that it has.

    Attributes:
        migration: reads and rewrites objects, and shows progress.
        kind: the resource type with the versions that the project serves.
        known: the same with all versions that it converts.
        settle: how many seconds to wait until all API servers have seen a change of the CRD.
        run: the name of this run.
    """

    migration: Migration
    kind: ServedKind
    known: ServedKind
    settle: float
    run: str

    @property
    def name(self) -> str:
        """The name of the CRD."""
        return self.kind.qualified

    def current(self) -> dict[str, Any]:
        """The CRD as it is now.

        Raises:
            RequestError: it was deleted, or the cluster cannot be asked.
        """
        return existing_definition(self.migration.cluster, self.name)

    @property
    def own_migration(self) -> Migration:
        """The migration as this run does it, which ends when another run takes the CRD over."""
        return replace(self.migration, permit=lambda crd: self._require(crd, self.run))

    def former(self) -> Former:
        """What it was before it was taken over.

        Raises:
            RequestError: it says so no more, or the cluster cannot be asked.
            DefinitionError: what it says cannot be read.
        """
        former = former_of(self.current())
        if former is None:
            raise RequestError(f"CRD {self.name}", CONFLICT, "what it was is noted in it no more")
        return former

    def begin(self) -> None:
        """Makes this run the one that changes the CRD; one before it, which may have been killed, ends at its next change.

        Raises:
            OtherRunError: another one has begun in this moment.
            RequestError: the cluster cannot be asked, or refuses.
        """
        before = self._run_in(self.current())

        def named(crd: dict[str, Any]) -> dict[str, Any]:
            if self._run_in(crd):  # One that has ended meanwhile holds up none.
                self._require(crd, before)
            return {"metadata": {"annotations": {self._note: self.run}}}

        change_as_read(self.migration.cluster, self.name, named)

    def is_begun(self) -> bool:
        """Whether a run is named that changes the CRD; it may have been killed."""
        return bool(self._run_in(self.current()))

    def end(self) -> None:
        """Says that no run changes the CRD any more.

        Raises:
            OtherRunError: another one has taken it over.
            RequestError: the cluster cannot be asked, or refuses.
        """
        self.change(lambda _: {"metadata": {"annotations": self.without_run}})

    @property
    def without_run(self) -> dict[str, None]:
        """A patch of annotations, after which no run is named."""
        return {self._note: None}

    @property
    def _note(self) -> str:
        return f"{self.kind.group}/adopting"

    def _run_in(self, crd: Mapping[str, Any]) -> str:
        return str((crd["metadata"].get("annotations") or {}).get(self._note, ""))

    def _require(self, crd: Mapping[str, Any], run: str) -> None:
        if self._run_in(crd) != run:
            advice = "wait until that one has ended, and run this one again"
            found = "another one, which has begun meanwhile"
            raise OtherRunError(f"CRD {self.name}", "one run that changes it", found, advice)

    def change(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        """Changes the CRD as it is now, and again where another client was quicker.

        Args:
            change: makes a patch of the CRD.

        Raises:
            OtherRunError: another run has taken the CRD over.
            RequestError: other clients were quicker each time, or the cluster refuses the patch.
        """

        def own(crd: dict[str, Any]) -> dict[str, Any]:
            self._require(crd, self.run)
            return change(crd)

        change_as_read(self.migration.cluster, self.name, own)

    def store_at(self, version: str) -> None:
        """Has objects stored at a version, and waits until they are: until an object that is written as it is gets stored anew."""
        migration, labels = self.migration, labels_of(self.kind, self.current())
        objects = migration.cluster.objects(self.kind, labels[0], 1) if labels else iter(())
        first = next(objects, None)
        # What an earlier migration has noted would have this one leave out what was stored otherwise meanwhile.
        anew = {"annotations": {note_name(self.kind): None}}

        def change(crd: dict[str, Any]) -> dict[str, Any]:
            return {
                "metadata": anew,
                "spec": {"versions": storing(crd["spec"]["versions"], version)},
            }

        self.change(change)
        until = migration.clock() + _LONGEST
        while first is not None and migration.clock() < until:
            # The migration says which object cannot be written.
            with contextlib.suppress(RequestError):
                made = migration.cluster.merge(self.kind, labels[0], first, {})
                if made is None or _version_of(made) != _version_of(first):
                    break
            migration.sleep(_AGAIN)
        self.wait()

    def wait(self) -> None:
        """Waits until all API servers follow a change."""
        self.migration.step(f"{self.name}: API servers follow the change")
        self.migration.sleep(self.settle)

    def tried(self) -> Subject:
        """Reads all objects at all versions."""
        subject = Subject(self.kind, self.known)
        return self.migration.tried(subject, sorted(served_versions(self.current())))


def _version_of(found: Mapping[str, Any]) -> str:
    return str(found["metadata"]["resourceVersion"])
