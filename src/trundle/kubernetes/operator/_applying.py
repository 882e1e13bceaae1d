"""Applies what a release carries to a cluster, and deletes what an earlier release had applied."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from trundle.kubernetes._errors import DefinitionError
from trundle.kubernetes.migration import ClusterError
from trundle.kubernetes.operator._objects import Objects
from trundle.kubernetes.operator._ordering import DEFINITION, Part, leaving, ordered, together

_SECONDS = 60
_STEP = 0.2


@dataclass(frozen=True)
class Applied:
    """What came of it.

    Attributes:
        applied: what was applied, in order.
        deleted: what was deleted, in order.
        kept: CRDs that the release no longer has, and that stay because they have objects.
    """

    applied: list[Part]
    deleted: list[Part]
    kept: list[Part]


def plan_of(earlier: Sequence[Part], wanted: Sequence[Part]) -> Applied:
    """What would be applied and deleted; no cluster is asked which CRDs have objects."""
    return Applied(ordered(wanted), leaving(earlier, wanted), [])


class Applier:
    """Applies releases under a name, and remembers in a ConfigMap of the cluster what it applied.

    What is about to be applied is remembered before, and what was deleted is forgotten after: one that is killed
    leaves nothing behind that the next run does not know.

    Args:
        objects: the objects of the cluster.
        name: what is installed.
        sleep: waits between two looks at a CRD.
    """

    def __init__(
        self, objects: Objects, name: str, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._objects = objects
        self._sleep = sleep
        self._record = Part("v1", "ConfigMap", objects.namespace, f"trundle-applied-{name}")

    def earlier(self) -> list[Part]:
        """What was applied under the name.

        Raises:
            DefinitionError: what is remembered cannot be read.
        """
        found = self._objects.get(self._record)
        if found is None:
            return []
        try:
            return [Part(*each) for each in json.loads(found["data"]["objects"])]
        except (KeyError, TypeError, ValueError):
            advice = "restore it from a backup; nothing was changed"
            raise DefinitionError(
                str(self._record), "a list of objects", "something else", advice
            ) from None

    def apply(self, wanted: Sequence[Part], *, force: bool = False) -> Applied:
        """Applies a release, waits until its CRDs are established, and deletes what it no longer has.

        Args:
            wanted: all objects of the release.
            force: whether fields that others own are taken over.

        Raises:
            ClusterError: the cluster refuses something, or a CRD is not established in time.
        """
        earlier = self.earlier()
        self._remember(together(earlier, wanted))
        steps = ordered(wanted)
        definitions = [each for each in steps if each.kind == DEFINITION]
        for each in steps:
            if definitions and each.kind not in ("Namespace", DEFINITION):
                self._establish(definitions)
                definitions = []
            self._objects.apply(each, force=force)
        self._establish(definitions)
        deleted, kept = self._prune(leaving(earlier, wanted))
        self._remember(together(kept, wanted))
        return Applied(steps, deleted, kept)

    def _prune(self, gone: Sequence[Part]) -> tuple[list[Part], list[Part]]:
        deleted: list[Part] = []
        kept: list[Part] = []
        for each in gone:
            if each.kind == DEFINITION and self._objects.has_objects(each):
                kept.append(each)
                continue
            self._objects.delete(each)
            deleted.append(each)
        return deleted, kept

    def _establish(self, definitions: Sequence[Part]) -> None:
        for each in definitions:
            for _ in range(int(_SECONDS / _STEP)):
                if _established(self._objects.get(each)):
                    break
                self._sleep(_STEP)
            else:
                advice = f"see its conditions: kubectl describe crd {each.name}"
                raise ClusterError(str(each), "that it is established", "not yet", advice)

    def _remember(self, parts: Sequence[Part]) -> None:
        lines = [[each.api_version, each.kind, each.namespace, each.name] for each in parts]
        document = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": self._record.name, "namespace": self._record.namespace},
            "data": {"objects": json.dumps(lines)},
        }
        made = Part("v1", "ConfigMap", self._record.namespace, self._record.name, document)
        self._objects.apply(made, force=True)


def _established(found: dict[str, Any] | None) -> bool:
    conditions = ((found or {}).get("status") or {}).get("conditions") or []
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)
