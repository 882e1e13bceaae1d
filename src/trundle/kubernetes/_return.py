"""Gives a CRD back that was taken over, step by step, to the conversions that it had."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from trundle.errors import Finding
from trundle.kubernetes._adoption_state import Adopted, ReturnStep
from trundle.kubernetes._carrier import name_of
from trundle.kubernetes._changed_definition import ChangedDefinition
from trundle.kubernetes._cluster import CONFLICT, ClusterMigrations, RequestError
from trundle.kubernetes._definitions import STORAGE
from trundle.kubernetes._errors import KubernetesCode
from trundle.kubernetes._former import (
    Former,
    former_name,
    former_of,
    replacing,
    served_versions,
    stored_version,
)
from trundle.kubernetes._migration import Subject


@dataclass(frozen=True, slots=True)
class Return:
    """Gives a CRD back.

    Attributes:
        definition: the CRD.
        migrations: the cluster's own; None to rewrite page by page.
    """

    definition: ChangedDefinition
    migrations: ClusterMigrations | None = None

    def give_back(self, *, dry_run: bool = False) -> Adopted:
        """Makes the CRD what it was: objects stored at the version from before, the former conversions, no version `storage`.

        Args:
            dry_run: whether to say only what is left to do.

        Raises:
            OtherRunError: another run has begun; it does what is left to do.
            ClusterError: the cluster cannot be asked, or refuses; what was done stays done.
            DefinitionError: what was noted in the CRD cannot be read.
        """
        crd = self.definition.migration.cluster.definition(self.definition.name)
        former = None if crd is None else former_of(crd)
        if crd is not None and former is None and self.definition.is_begun():
            return self._only_begun(dry_run=dry_run)
        if crd is None or former is None:
            found = Adopted(self.definition.name)
            expected, what = "a CRD that was adopted", "none" if crd is None else "another one"
            advice = "nothing can be given back without the annotation that says what it was"
            return found.refused(KubernetesCode.MISSING, expected, what, advice)
        state = self._state(crd)
        added = _added(former, crd)
        if added:
            what = f"one that serves {', '.join(added)} as well"
            advice = (
                f"have no client use {', '.join(added)} any more, and set `served: false` there"
            )
            expected = "a CRD that serves only versions that it had before"
            return state.refused(KubernetesCode.UNREADY, expected, what, advice)
        if dry_run:
            return state
        self.definition.begin()
        return self._steps(former, self._state(self.definition.current()))

    def _only_begun(self, *, dry_run: bool) -> Adopted:
        """Gives back a CRD that a run has named itself in, and changed nothing else before it was killed."""
        if not dry_run:
            self.definition.begin()
            if former_of(self.definition.current()) is not None:
                return self.give_back()  # That run lived, and was quicker.
            self.definition.end()
        return Adopted(self.definition.name, tuple(ReturnStep), tuple(ReturnStep))

    def _steps(self, former: Former, state: Adopted) -> Adopted:
        """Does what is left to do."""

        def restored(crd: dict[str, Any]) -> dict[str, Any]:
            if added := _added(former, crd):
                said = f"it serves {', '.join(added)} since this began, which would be removed"
                raise RequestError(f"CRD {self.definition.name}", CONFLICT, said)
            gone = {former_name(self.definition.kind.group): None, **self.definition.without_run}
            return _restored(former, crd, gone)

        target = former.storage
        if ReturnStep.STORE not in state.done:
            self.definition.store_at(target)
        hidden: tuple[Finding, ...] = ()
        if ReturnStep.MIGRATE not in state.done:
            subject, hidden = self._returned(target)
            state = replace(state, objects=subject.objects, rewritten=subject.rewritten)
            if subject.findings:
                self.definition.end()
                return replace(
                    self._state(self.definition.current()), findings=(*subject.findings, *hidden)
                )
        self.definition.change(restored)
        self.definition.wait()
        tried = self.definition.tried()
        carriers = self._carriers(target)
        return replace(
            state,
            done=state.steps,
            objects=tried.objects,
            carriers=carriers,
            findings=(*hidden, *tried.findings),
        )

    def _returned(self, target: str) -> tuple[Subject, tuple[Finding, ...]]:
        """Rewrites all objects at the former version; with what other versions cannot show, which does not hold that up."""
        migration = replace(self.definition.own_migration, target=target)
        subject = migration.examined(self.definition.kind, self.definition.known)
        hidden = subject.findings
        is_known = target in served_versions(self.definition.current())
        if is_known and all(each.code is KubernetesCode.STAYS for each in hidden):
            at_target = migration.tried(subject, [target]).findings if hidden else ()
            subject = replace(subject, findings=at_target)
            hidden = tuple(each for each in hidden if each not in at_target)
        else:
            hidden = ()
        if subject.findings:
            return subject, hidden
        return migration.migrated(subject, self.migrations), hidden

    def _state(self, crd: Mapping[str, Any]) -> Adopted:
        stores = stored_version(crd) == STORAGE
        done = [] if stores else [ReturnStep.STORE]
        if STORAGE not in (crd.get("status") or {}).get("storedVersions", ()):
            done.append(ReturnStep.MIGRATE)
        return Adopted(self.definition.name, tuple(ReturnStep), tuple(done))

    def _carriers(self, former: str) -> int:
        """How many objects have more than the former version shows; the former webhook passes that on to another one where that is not served."""
        name, served = (
            name_of(self.definition.kind.group),
            served_versions(self.definition.current()),
        )
        label = former if former in served else min(served, default=former)
        with contextlib.suppress(RequestError):  # The trial says so.
            objects = self.definition.migration.cluster.objects(
                self.definition.known, label, self.definition.migration.page
            )
            return sum(name in (each["metadata"].get("annotations") or {}) for each in objects)
        return 0


def _added(former: Former, crd: Mapping[str, Any]) -> list[str]:
    """The versions that clients can use, and could not before the CRD was adopted."""
    return sorted(served_versions(crd) - {str(each["name"]) for each in former.spec["versions"]})


def _restored(former: Former, crd: Mapping[str, Any], gone: Mapping[str, None]) -> dict[str, Any]:
    """A patch that makes a CRD what it was."""
    annotations = {**former.annotations, **gone}
    spec = replacing(crd["spec"], former.spec)
    return {"metadata": {"annotations": annotations}, "spec": spec}
