"""What can go wrong when the name of a version is read."""

from trundle.errors import Kind, TrundleError, expectation


class VersionError(TrundleError, ValueError):
    """A text that is not the name of a version."""

    kind = Kind.USAGE


class VersionSyntaxError(VersionError):
    """A text that is not a SemVer version or a range of them.

    Attributes:
        text: the whole text.
        position: the character where it goes wrong; the first is 1, the one after the end ends the text.
        expected: what is at this place in a good text.
        found: what is there instead.
        advice: what to do about it; may be empty.
    """

    def __init__(
        self, text: str, position: int, expected: str, found: str, advice: str = ""
    ) -> None:
        self.text = text
        self.position = position
        self.expected = expected
        self.found = found
        self.advice = advice
        shown = text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
        message = expectation(f"{expected} at character {position}", found, advice)
        super().__init__(f"{shown!r}: {message}")


_LONGEST_SHOWN = 60
