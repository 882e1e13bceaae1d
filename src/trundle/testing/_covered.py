"""How much of a package its tests ran."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from trundle.engine import Branch
from trundle.testing._outcome import CaseOutcome


@dataclass(frozen=True, slots=True)
class Covered:
    """The coverage of packages.

    Attributes:
        known: all branches of their methods; those of classes of tests are left out.
        ran: those that ran.
    """

    known: frozenset[Branch]
    ran: frozenset[Branch]

    @classmethod
    def of(cls, outcomes: Iterable[CaseOutcome]) -> "Covered":
        """What tests covered together."""
        known: set[Branch] = set()
        ran: set[Branch] = set()
        tests: set[tuple[str, str]] = set()
        for each in outcomes:
            known |= each.known
            ran |= each.ran
            tests.add((each.case.package, each.case.class_name))
        ours = frozenset(each for each in known if (each.package, each.class_name) not in tests)
        return cls(ours, ours & ran)

    def to_plain(self) -> dict[str, Any]:
        """The coverage for JSON: per class its methods and branches, and what did not run."""
        return {
            name: {
                "methods": _counts(branches, self.ran, methods=True),
                "branches": _counts(branches, self.ran, methods=False),
                "missed": [
                    {"file": each.file, "line": each.line, "method": each.method, "kind": each.kind}
                    for each in sorted(set(branches) - self.ran)
                ],
            }
            for name, branches in _by_class(self.known).items()
        }


def covered_rows(covered: Covered) -> list[tuple[str, str, str, str]]:
    """A row for each class: its name, how many methods and branches ran of all, and the lines of what did not run."""
    rows = []
    for name, branches in _by_class(covered.known).items():
        methods = _counts(branches, covered.ran, methods=True)
        ways = _counts(branches, covered.ran, methods=False)
        missed = sorted({each.line for each in branches if each not in covered.ran})
        rows.append(
            (
                name,
                f"{methods['ran']}/{methods['all']}",
                f"{ways['ran']}/{ways['all']}",
                " ".join(map(str, missed)),
            )
        )
    return rows


def covered_text(covered: Covered) -> str:
    """All of it in a line."""
    methods = _counts(covered.known, covered.ran, methods=True)
    ways = _counts(covered.known, covered.ran, methods=False)
    return f"{methods['ran']} of {methods['all']} methods and {ways['ran']} of {ways['all']} branches ran"


def _by_class(branches: Iterable[Branch]) -> dict[str, Sequence[Branch]]:
    found: dict[str, list[Branch]] = {}
    for each in sorted(branches):
        found.setdefault(each.class_name, []).append(each)
    return dict(sorted(found.items()))


def _counts(branches: Iterable[Branch], ran: frozenset[Branch], *, methods: bool) -> dict[str, int]:
    counted = [each for each in branches if (each.kind == "method") == methods]
    return {"ran": sum(each in ran for each in counted), "all": len(counted)}
