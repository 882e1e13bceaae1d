"""The objects of a CRD as its own conversions show them, to be held against those of a project."""

from collections.abc import Iterator, Mapping
from typing import Any

from trundle.api import ServedKind, to_scheme
from trundle.kubernetes._cluster import Cluster, called, key_of
from trundle.kubernetes._former import served_versions, stored_version
from trundle.kubernetes._migration import Step
from trundle.project import Pair

_TRIES = 8


class ShownObjects:
    """All objects of a CRD.

    Args:
        cluster: where they are.
        known: the resource type with all versions that the project converts.
        crd: the CRD.
        page: how many objects are asked for at once.
        step: shows progress.
    """

    def __init__(
        self, cluster: Cluster, known: ServedKind, crd: Mapping[str, Any], page: int, step: Step
    ) -> None:
        self._cluster = cluster
        self._known = known
        self._page = page
        self._step = step
        served = served_versions(crd)
        stored = stored_version(crd)
        self._first = stored if stored in served else next(x for x in known.versions if x in served)
        self._others = sorted(served - {self._first})
        self._before = {key_of(each): each for each in cluster.objects(known, self._first, page)}

    def alone(self) -> list[tuple[str, bytes]]:
        """Each object at the version that is stored; at one that is served, where that one is not."""
        return [
            (f"{called(self._known, each)} at {self._first}", self._document(each, self._first))
            for each in self._before.values()
        ]

    def pairs(self) -> Iterator[Pair]:
        """Each object at that version, with what the CRD's conversions make of it at each other one.

        Raises:
            RequestError: the cluster cannot show it.
        """
        for label in self._others:
            listed = self._cluster.objects(self._known, label, self._page)
            for count, each in enumerate(listed, 1):
                self._step(
                    f"{self._known.qualified} at {label}", count, max(count, len(self._before))
                )
                both = self._of_one_moment(each, label)
                if both is not None:
                    before, after = (
                        self._document(both[0], self._first),
                        self._document(both[1], label),
                    )
                    yield Pair(f"{called(self._known, each)} at {label}", before, after)

    def _of_one_moment(
        self, other: dict[str, Any], label: str
    ) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """An object at both versions, after the same write; None for one that came, went, or changes all the time."""
        one = self._before.get(key_of(other))
        for _ in range(_TRIES):
            if one is None or one["metadata"]["uid"] != other["metadata"]["uid"]:
                return None
            if one["metadata"]["resourceVersion"] == other["metadata"]["resourceVersion"]:
                return one, other
            one = self._cluster.object(self._known, self._first, one)
            again = self._cluster.object(self._known, label, other)
            if again is None:
                return None
            other = again
        return None

    def _document(self, found: dict[str, Any], label: str) -> bytes:
        metadata = {k: v for k, v in found["metadata"].items() if k != "managedFields"}
        return to_scheme({**found, "metadata": metadata}, self._known, self._known.versions[label])
