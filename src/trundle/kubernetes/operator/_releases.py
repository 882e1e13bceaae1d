"""Which release an object belongs to: an annotation says so, and another release neither changes nor deletes it."""

import json
from collections.abc import Container, Iterable
from dataclasses import dataclass, replace
from typing import Any

from trundle.errors import Kind
from trundle.kubernetes._cluster import ClusterError
from trundle.kubernetes._errors import DefinitionError, KubernetesCode
from trundle.kubernetes.operator._objects import MANAGER, Objects
from trundle.kubernetes.operator._ordering import Part

RELEASE = "trundle.dev/release"
"""The annotation: the namespace and the name of the release that an object belongs to."""

_REFUSED = "refused"
_MOST_NAMED = 5


class OtherReleaseError(ClusterError):
    """Objects that belong to another release."""

    kind = Kind.CONFLICT
    code = KubernetesCode.OWNED


@dataclass(frozen=True)
class Refused:
    """Objects of a release that the cluster took in a dry run and refused all the same.

    Attributes:
        release: the release; empty for none.
        identities: its objects.
    """

    release: str = ""
    identities: tuple[tuple[str, ...], ...] = ()

    def of(self, release: str) -> tuple[tuple[str, ...], ...]:
        """The objects of a release."""
        return self.identities if release == self.release else ()

    def with_one(self, release: str, part: Part) -> "Refused":
        """These with a further one of a release; those of another release are forgotten."""
        return Refused(release, tuple(sorted({*self.of(release), part.identity})))

    @property
    def data(self) -> dict[str, str]:
        """What a record has of them; nothing where there are none."""
        return {_REFUSED: json.dumps([self.release, self.identities])} if self.release else {}


class Ownership:
    """What belongs to one release.

    Args:
        objects: the objects of the cluster.
        name: the name of the release.
        yielding: releases that give up what they have, as `NAMESPACE/NAME`.
    """

    def __init__(self, objects: Objects, name: str, yielding: Container[str] = ()) -> None:
        self._objects = objects
        self._yielding = yielding
        self.owner = f"{objects.namespace}/{name}"

    def marked(self, part: Part) -> Part:
        """An object with what says that it belongs to this release."""
        metadata = part.document.get("metadata") or {}
        annotations = {**(metadata.get("annotations") or {}), RELEASE: self.owner}
        document = {**part.document, "metadata": {**metadata, "annotations": annotations}}
        return replace(part, document=document)

    def check(self, parts: Iterable[Part]) -> None:
        """Makes sure that no object belongs to another release that still has it.

        Raises:
            OtherReleaseError: some do.
        """
        found = [(each, owner) for each in parts if (owner := self._other(each))]
        found = [(each, owner) for each, owner in found if self._still_has(owner, each)]
        if not found:
            return
        shown = ", ".join(f"{each} of {owner}" for each, owner in found[:_MOST_NAMED])
        more = len(found) - _MOST_NAMED
        shown += f" and {more} more" if more > 0 else ""
        expected = "objects that no other release has"
        advice = "take them out of one of the two, or delete that release first"
        raise OtherReleaseError(self.owner, expected, shown, advice)

    def is_foreign(self, part: Part) -> bool:
        """Whether an object is not of this release: another one has taken it over, or it was there before and was never applied."""
        found = self._found(part)
        if found is None:
            return False
        owner = _owner_in(found)
        return owner != self.owner if owner else not _is_applied(found)

    def _other(self, part: Part) -> str:
        """The other release that an object belongs to; empty where there is none."""
        owner = _owner_in(self._found(part))
        return "" if owner in {"", self.owner} else owner

    def _found(self, part: Part) -> dict[str, Any] | None:
        try:
            return self._objects.get(part)
        except DefinitionError:  # Its CRD is not there, nor is it.
            return None

    def _still_has(self, owner: str, part: Part) -> bool:
        """Whether a release remembers an object as its own, and keeps it."""
        if owner in self._yielding:
            return False
        space, _, name = owner.partition("/")
        try:
            record = self._objects.get(record_of(space, name))
            remembered = [] if record is None else parts_in_record(record)
        except (ClusterError, DefinitionError):  # Where it cannot be known, nothing is taken.
            return True
        own = self._objects.namespace
        return any(
            (each.group, each.kind, each.name) == (part.group, part.kind, part.name)
            and (
                each.namespace == part.namespace
                or (each.namespace or space) == (part.namespace or own)
            )
            for each in remembered
        )


def _owner_in(found: dict[str, Any] | None) -> str:
    """The release that an object says that it belongs to; empty for none."""
    annotations = ((found or {}).get("metadata") or {}).get("annotations") or {}
    return str(annotations.get(RELEASE, ""))


def _is_applied(found: dict[str, Any]) -> bool:
    """Whether a release has ever applied an object, whatever was done to its annotations since."""
    owners = found["metadata"].get("managedFields") or []
    return any(each.get("manager") == MANAGER for each in owners)


def record_of(namespace: str, name: str) -> Part:
    """Where a release remembers what it has."""
    return Part("v1", "ConfigMap", namespace, f"trundle-applied-{name}")


def parts_in_record(found: dict[str, Any]) -> list[Part]:
    """What a release remembers.

    Raises:
        DefinitionError: it cannot be read.
    """
    metadata = found.get("metadata") or {}
    try:
        return [Part(*each) for each in json.loads(found["data"]["objects"])]
    except (AttributeError, KeyError, TypeError, ValueError):
        where = f"ConfigMap {metadata.get('namespace', '')}/{metadata.get('name', '')}"
        advice = "restore it from a backup; nothing was changed"
        raise DefinitionError(where, "a list of objects", "something else", advice) from None


def refused_in_record(found: dict[str, Any]) -> Refused:
    """What could not be written of a release that was begun; nothing where that cannot be read."""
    try:
        release, identities = json.loads(found["data"][_REFUSED])
        return Refused(str(release), tuple(tuple(map(str, each)) for each in identities))
    except (KeyError, TypeError, ValueError):
        return Refused()
