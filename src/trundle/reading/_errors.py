"""What can go wrong when text is read."""


class DocumentError(Exception):
    """A document that cannot be read exactly.

    Attributes:
        file: the file as the user named it.
        line: the offending line; the first is 1.
        expected: what a document has at this place.
        found: what stands there instead.
        advice: what to do about it.
    """

    def __init__(self, file: str, line: int, expected: str, found: str, advice: str) -> None:
        self.file = file
        self.line = line
        self.expected = expected
        self.found = found
        self.advice = advice
        super().__init__(f"{file}:{line}: expected {expected}, found {found}; {advice}")
