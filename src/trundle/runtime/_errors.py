"""What can go wrong when documents are read and converted."""

from collections.abc import Sequence

from trundle.errors import Code, Finding, Kind, Place, TrundleError


class ConversionError(TrundleError):
    """The root of all errors that reading, converting and writing documents raises."""


class UnknownVersionError(ConversionError):
    """A version or resource type that the package does not have."""

    kind = Kind.NOT_FOUND


class ValueCode(Code):
    """What can be wrong with a document of a client or of storage."""

    VALUE = "invalid-value"
    MISSING = "missing-property"
    UNKNOWN = "unknown-property"
    MALFORMED = "malformed-json"
    TOO_DEEP = "nested-too-deeply"


def finding(
    path: str, expected: str, found: str, advice: str = "", code: ValueCode = ValueCode.VALUE
) -> Finding:
    """What is wrong at a place of a document.

    Args:
        path: JSON path of the place, starting with `$`.
        expected: what has to be there.
        found: what is there.
        advice: what to do about it; empty where that is plain.
        code: what kind of mistake it is.
    """
    return Finding(code, Place(path=path), expected, found, advice)


def reason_of(wrong: Finding) -> str:
    """What was expected and found, in the words of msgspec, which finds most of it."""
    advice = f"; {wrong.advice}" if wrong.advice else ""
    return f"Expected {wrong.expected}, got {wrong.found}{advice}"


TOO_DEEP = finding(
    "$",
    "fewer levels of nesting than Python's recursion limit allows",
    "more",
    "make it flatter",
    ValueCode.TOO_DEEP,
)


def malformed(error: Exception) -> Finding:
    """The finding for a document that is no JSON."""
    return finding("$", "well-formed JSON", f"an error: {error}", code=ValueCode.MALFORMED)


class DocumentError(ConversionError):
    """A document that is not what its version says.

    Attributes:
        findings: everything that is wrong with it, in the order of the document.
        subject: the resource type and version it was read as.
    """

    kind = Kind.REFUSED

    def __init__(self, subject: str, findings: Sequence[Finding]) -> None:
        self.subject = subject
        self.findings = tuple(findings)
        lines = "\n".join(f"  {reason_of(each)} - at {each.place.path}" for each in self.findings)
        super().__init__(f"not a valid {subject}:\n{lines}")

    @property
    def messages(self) -> tuple[str, ...]:
        """One message with everything that is wrong with the document."""
        return (str(self),)


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

    def __str__(self) -> str:
        place = f" - at {self.path}" if self.path else ""
        return f"{self.subject}: {self.reason}{place}" if self.subject else f"{self.reason}{place}"


class BagError(PlacedError):
    """An entry of a property bag that cannot be read; it is left where it is."""


class LabelError(PlacedError):
    """A label or annotation that is not text, where hooks read or write it."""

    kind = Kind.REFUSED


class HookError(PlacedError):
    """A hook that raised, or that returned what it did not declare."""
