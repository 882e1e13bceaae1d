"""Takes over a CRD that has conversions of another kind, step by step, and gives it back.

What a step has done shows in the CRD, so a run that was ended goes on with the next one. What the CRD was is kept in an annotation of it.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from trundle.api import ServedKind
from trundle.kubernetes._adoption_state import Adopted, AdoptionStep
from trundle.kubernetes._changed_definition import ChangedDefinition
from trundle.kubernetes._cluster import ClusterMigrations
from trundle.kubernetes._definitions import STORAGE
from trundle.kubernetes._errors import KubernetesCode
from trundle.kubernetes._former import (
    Former,
    as_it_is,
    former_name,
    former_of,
    has_storage,
    replacing,
    served_versions,
    stored_version,
    without_injection,
)
from trundle.kubernetes._migration import Migration, Subject
from trundle.kubernetes._return import Return
from trundle.kubernetes._shown_objects import ShownObjects

_SETTLE = 2.0
"""How many seconds API servers take at most to follow a change of a CRD."""


@dataclass(frozen=True, slots=True)
class Adoption:
    """Takes a CRD over, or gives it back.

    Attributes:
        migration: rewrites objects, and shows progress.
        kind: the resource type with the versions that the project serves.
        known: the same with all versions that it converts.
        made: the CRD that the project makes of it.
        migrations: the cluster's own; None to rewrite page by page.
        settle: how many seconds to wait until all API servers have seen a change of the CRD.
        run: the name of this run, in the CRD as long as it goes on.
    """

    migration: Migration
    kind: ServedKind
    known: ServedKind
    made: Mapping[str, Any]
    migrations: ClusterMigrations | None = None
    settle: float = _SETTLE
    run: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def _definition(self) -> ChangedDefinition:
        return ChangedDefinition(self.migration, self.kind, self.known, self.settle, self.run)

    @property
    def name(self) -> str:
        """The name of the CRD."""
        return self.kind.qualified

    def state(self) -> Adopted:
        """What is done, and what is left to do to take the CRD over.

        Raises:
            DefinitionError: what was noted in the CRD cannot be read.
        """
        found = Adopted(self.name)
        crd = self.migration.cluster.definition(self.name)
        if crd is None:
            advice = "name a CRD of the cluster that the project has the resource type of"
            return found.refused(KubernetesCode.MISSING, "a CRD", "none", advice)
        if former_of(crd) is None and has_storage(crd):
            expected, what = "a CRD of another kind", "one that the project has made"
            advice = "nothing is to be adopted; `trundle kube migrate` rewrites its objects"
            return found.refused(KubernetesCode.UNREADY, expected, what, advice)
        found = replace(found, steps=tuple(AdoptionStep))
        needed = {*served_versions(crd), *(crd.get("status") or {}).get("storedVersions", ())} - {
            STORAGE
        }
        lacking = sorted(needed - set(self.known.versions))
        if lacking:
            expected = "a project with all versions that the CRD serves and stores"
            advice = "add their schemas to the project"
            what = f"one without {', '.join(lacking)}"
            return found.refused(KubernetesCode.UNREADY, expected, what, advice)
        return replace(found, done=self._done(crd))

    def _done(self, crd: Mapping[str, Any]) -> tuple[AdoptionStep, ...]:
        stored = (crd.get("status") or {}).get("storedVersions")
        converts = _converts_by(crd, self.made)
        is_done = {
            # What is stored at `storage` was compared then, and is shown with carriers now.
            AdoptionStep.COMPARE: converts or _may_hold_storage(crd),
            AdoptionStep.ADD: has_storage(crd),
            AdoptionStep.CONVERT: converts,
            AdoptionStep.STORE: stored_version(crd) == STORAGE,
            AdoptionStep.MIGRATE: stored == [STORAGE],
        }
        return tuple(each for each, done in is_done.items() if done)

    def shown(self) -> ShownObjects:
        """All objects, as the CRD's own conversions show them."""
        migration = self.migration
        return ShownObjects(
            migration.cluster,
            self.known,
            self._definition.current(),
            migration.page,
            migration.step,
        )

    def adopted(self) -> Adopted:
        """Does what is left to do, after the documents were compared. It may be ended at any time, and goes on where it was.

        Where objects cannot be read after the conversions were changed, these are put back at once.

        Raises:
            OtherRunError: another run has begun; it does what is left to do.
            ClusterError: the cluster cannot be asked, or refuses; what was done stays done.
            DefinitionError: what was noted in the CRD cannot be read.
        """
        state = self.state()
        if state.findings or (state.next is None and not self._definition.is_begun()):
            return state
        self._definition.begin()
        found = self._brought_on(self.state())
        self._definition.end()
        return found

    def _brought_on(self, state: Adopted) -> Adopted:
        """Does what is left to do, as the only run."""
        if state.findings or state.next is None:
            return state
        if AdoptionStep.ADD not in state.done:
            self._add()
        # What converts already was not tried where a run ended just then.
        if not {AdoptionStep.CONVERT, AdoptionStep.STORE} <= {*state.done}:
            tried = self._convert()
            if tried.findings:
                return replace(self.state(), objects=tried.objects, findings=tried.findings)
        if AdoptionStep.STORE not in state.done:
            self._definition.store_at(STORAGE)
        migration = self._definition.own_migration
        subject = migration.examined(self.kind, self.known)
        if not subject.findings:
            subject = migration.migrated(subject, self.migrations)
        return replace(
            self.state(),
            objects=subject.objects,
            rewritten=subject.rewritten,
            findings=subject.findings,
        )

    def _add(self) -> None:
        """Adds the version that is not stored yet, and notes what the CRD was."""
        (stored,) = [each for each in self.made["spec"]["versions"] if each["name"] == STORAGE]

        def change(crd: dict[str, Any]) -> dict[str, Any]:
            noted = {former_name(self.kind.group): as_it_is(crd).text}
            versions = [*crd["spec"]["versions"], {**stored, "storage": False}]
            return {"metadata": {"annotations": noted}, "spec": {"versions": versions}}

        self._definition.change(change)

    def _convert(self) -> Subject:
        """Has the project's webhook convert; back again where it does not read what is there."""
        wanted = self.made["spec"]["conversion"]
        before = as_it_is(self._definition.current())

        def change(crd: dict[str, Any]) -> dict[str, Any]:
            conversion = replacing(crd["spec"].get("conversion"), wanted)
            return {
                "metadata": {"annotations": without_injection()},
                "spec": {"conversion": conversion},
            }

        def change_back(crd: dict[str, Any]) -> dict[str, Any]:
            # The former webhook does not know what is stored at `storage`.
            return _conversion_of(
                before if _may_hold_storage(crd) else self._definition.former(), crd
            )

        self._definition.change(change)
        self._definition.wait()
        tried = self._definition.tried()
        if tried.findings:
            self._definition.change(change_back)
            self._definition.wait()
        return tried

    def given_back(self, *, dry_run: bool = False) -> Adopted:
        """Makes the CRD what it was: objects stored at the version from before, the former conversions, no version `storage`.

        Args:
            dry_run: whether to say only what is left to do.

        Raises:
            OtherRunError: another run has begun; it does what is left to do.
            ClusterError: the cluster cannot be asked, or refuses; what was done stays done.
            DefinitionError: what was noted in the CRD cannot be read.
        """
        return Return(self._definition, self.migrations).give_back(dry_run=dry_run)


def _converts_by(crd: Mapping[str, Any], made: Mapping[str, Any]) -> bool:
    """Whether a CRD has the conversion of another one; what a cluster adds to it, such as an authority, does not count."""
    return _has(crd["spec"].get("conversion"), made["spec"]["conversion"])


def _has(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        return isinstance(found, Mapping) and all(
            _has(found.get(key), value) for key, value in wanted.items()
        )
    return bool(found == wanted)


def _may_hold_storage(crd: Mapping[str, Any]) -> bool:
    """Whether objects may be stored at `storage`."""
    stored = (crd.get("status") or {}).get("storedVersions") or ()
    return stored_version(crd) == STORAGE or STORAGE in stored


def _conversion_of(former: Former, crd: Mapping[str, Any]) -> dict[str, Any]:
    """A patch that puts an earlier conversion back."""
    conversion = replacing(crd["spec"].get("conversion"), former.spec.get("conversion"))
    return {
        "metadata": {"annotations": dict(former.annotations)},
        "spec": {"conversion": conversion},
    }
