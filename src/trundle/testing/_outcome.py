"""What came out of a test."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from trundle.engine import Branch
from trundle.testing._cases import Case


class Status(StrEnum):
    """How a test ended: `failed` where something that it asserts does not hold, `error` where it could not go to its end."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """What came out of a test.

    Attributes:
        case: the test.
        status: how it ended.
        message: what is wrong, in one line; empty where nothing is.
        details: the same with the methods that led to it.
        seconds: how long it took.
        log: what the package logged meanwhile.
        ran: the branches that ran, where coverage was asked for.
        known: the branches of the package, where coverage was asked for and this is the first test of the package in its process.
        calls: a line for each call, where a trace was asked for.
    """

    case: Case
    status: Status
    message: str = ""
    details: str = ""
    seconds: float = 0.0
    log: str = ""
    ran: frozenset[Branch] = frozenset()
    known: frozenset[Branch] = frozenset()
    calls: tuple[str, ...] = ()

    def to_plain(self) -> dict[str, Any]:
        """The outcome for JSON."""
        return {
            "package": self.case.package,
            "class": self.case.class_name,
            "method": self.case.method,
            "file": self.case.file,
            "line": self.case.line,
            "status": self.status.value,
            "seconds": round(self.seconds, 3),
            **({"message": self.message, "details": self.details} if self.message else {}),
            **({"log": self.log} if self.log else {}),
            **({"calls": list(self.calls)} if self.calls else {}),
        }
