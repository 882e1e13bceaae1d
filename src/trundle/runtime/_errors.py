"""What can go wrong when documents are read and converted."""

from collections.abc import Sequence
from typing import Any

import msgspec


class ConversionError(Exception):
    """The root of all errors that reading, converting and writing documents raises."""


class UnknownVersionError(ConversionError):
    """A version or resource type that the package does not have."""


class Finding(msgspec.Struct, frozen=True):
    """One thing that is wrong with a document.

    Attributes:
        path: JSON path of the place, starting with `$`.
        expected: what has to stand there.
        found: what stands there.
        advice: what to do about it; empty where that is plain.
    """

    path: str
    expected: str
    found: str
    advice: str = ""

    @property
    def reason(self) -> str:
        """What was expected, what was found, and what to do."""
        advice = f"; {self.advice}" if self.advice else ""
        return f"Expected {self.expected}, got {self.found}{advice}"

    def __str__(self) -> str:
        return f"{self.reason} - at {self.path}"


TOO_DEEP = Finding(
    "$", "fewer levels of nesting than Python's recursion limit allows", "more", "make it flatter"
)


def malformed(error: Exception) -> Finding:
    """The finding for a document that is no JSON."""
    return Finding("$", "well-formed JSON", f"an error: {error}")


class DocumentError(ConversionError):
    """A document that is not what its version says.

    Attributes:
        findings: everything that is wrong with it, in the order of the document.
        subject: the resource type and version it was read as.
    """

    def __init__(self, subject: str, findings: Sequence[Finding]) -> None:
        self.subject = subject
        self.findings = tuple(findings)
        lines = "\n".join(f"  {finding}" for finding in self.findings)
        super().__init__(f"not a valid {subject}:\n{lines}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.subject, self.findings)


class PlacedError(ConversionError):
    """An error at a place within an object.

    Attributes:
        holder: the object in which it happened.
        path: JSON path of the object from the root, once it is known.
    """

    def __init__(self, reason: str, holder: object) -> None:
        self.reason = reason
        self.holder = holder
        self.path: str | None = None
        self.subject: str | None = None
        super().__init__(reason)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.reason, self.holder), {"path": self.path, "subject": self.subject}

    def __str__(self) -> str:
        place = f" - at {self.path}" if self.path else ""
        return f"{self.subject}: {self.reason}{place}" if self.subject else f"{self.reason}{place}"


class BagError(PlacedError):
    """An entry of a property bag that cannot be read; it is left where it is."""


class HookError(PlacedError):
    """A hook that raised, or that returned what it did not declare."""
