"""How far the take-over of a CRD is, or its way back."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from trundle.errors import Finding, Place
from trundle.kubernetes._errors import KubernetesCode


class AdoptionStep(StrEnum):
    """What is done to a CRD, in this order."""

    COMPARE = "compare"
    ADD = "add storage"
    CONVERT = "convert"
    STORE = "store"
    MIGRATE = "migrate"


class ReturnStep(StrEnum):
    """What is done to give a CRD back, in this order."""

    STORE = "store"
    MIGRATE = "migrate"
    RESTORE = "restore"


@dataclass(frozen=True, slots=True)
class Adopted:
    """What has become of a CRD.

    Attributes:
        name: its name.
        steps: what there is to do, in this order; nothing where the CRD is none of this kind.
        done: what of it is done.
        objects: how many objects there are.
        rewritten: how many of them were stored anew.
        carriers: how many have something that the version does not show at which the former webhook stores; it does not read that.
        findings: why it did not go on.
    """

    name: str
    steps: tuple[AdoptionStep | ReturnStep, ...] = ()
    done: tuple[AdoptionStep | ReturnStep, ...] = ()
    objects: int = 0
    rewritten: int = 0
    carriers: int = 0
    findings: tuple[Finding, ...] = ()

    @property
    def next(self) -> "AdoptionStep | ReturnStep | None":
        """The next step; None where nothing is left to do."""
        return next((each for each in self.steps if each not in self.done), None)

    def to_plain(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "crd": self.name,
            "steps": [{"step": str(each), "done": each in self.done} for each in self.steps],
            "objects": self.objects,
            "rewritten": self.rewritten,
            "carriers": self.carriers,
            "findings": [each.to_plain() for each in self.findings],
        }

    def refused(self, code: KubernetesCode, expected: str, found: str, advice: str) -> "Adopted":
        """The same with the reason why it does not go on."""
        place = Place("the cluster", object=self.name)
        return replace(self, findings=(Finding(code, place, expected, found, advice),))
