"""What can go wrong when documents are read."""

from trundle.errors import Code, Finding, Place, TrundleError

DEFINITIONS = "use definitions"
"""What to do about a schema that nests too deeply."""


class DocumentCode(Code):
    """What can be wrong with a document that a person writes."""

    SYNTAX = "unreadable-document"
    DUPLICATE_KEY = "duplicate-key"
    TOO_DEEP = "document-too-deep"
    TOO_LARGE = "document-too-large"
    UNKNOWN_KEY = "unknown-key"
    MISSING_KEY = "missing-key"
    VALUE = "wrong-value"


class UnreadableError(TrundleError):
    """A document that cannot be read exactly.

    Attributes:
        file: the file as the user named it.
        line: the offending line; the first is 1. None where it is not known.
        expected: what a document has at this place.
        found: what is there instead.
        advice: what to do about it.
    """

    def __init__(
        self,
        file: str,
        line: int | None,
        expected: str,
        found: str,
        advice: str,
        code: DocumentCode = DocumentCode.SYNTAX,
    ) -> None:
        self.file = file
        self.line = line
        self.expected = expected
        self.found = found
        self.advice = advice
        finding = Finding(code, Place(file, line), expected, found, advice)
        self.findings = (finding,)
        super().__init__(str(finding))


def too_deep(name: str, line: int, deepest: int, advice: str) -> UnreadableError:
    """The error for a document that nests too deeply."""
    expected = f"at most {deepest} levels of lists and objects"
    code = DocumentCode.TOO_DEEP
    return UnreadableError(name, line, expected, "deeper nesting", advice, code)


def duplicate(name: str, line: int | None, key: str) -> UnreadableError:
    """The error for a key that an object has twice; the key as messages show it."""
    expected, found = "each key once in an object", f"{key} a second time"
    advice, code = "remove one of the two, or rename it", DocumentCode.DUPLICATE_KEY
    return UnreadableError(name, line, expected, found, advice, code)
