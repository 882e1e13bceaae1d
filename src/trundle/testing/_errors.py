"""The errors of the room."""

from trundle.errors import Kind, TrundleError


class NoTestError(TrundleError):
    """A name that no test has, or a release that is not there.

    Attributes:
        advice: what to do about it; may be empty.
    """

    def __init__(self, message: str, advice: str = "") -> None:
        self.kind = Kind.NOT_FOUND
        self.advice = advice
        super().__init__(f"{message}; {advice}" if advice else message)
