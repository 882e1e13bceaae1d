"""What can go wrong with the local state of an installation."""


class StateError(Exception):
    """The folder with the state cannot be used; nothing was changed.

    Attributes:
        where: the file or folder.
        expected: what should be there.
        found: what is there instead.
        advice: what to do about it.
    """

    def __init__(self, where: str, expected: str, found: str, advice: str) -> None:
        self.where = where
        self.expected = expected
        self.found = found
        self.advice = advice
        super().__init__(f"{where}: expected {expected}, found {found}; {advice}")


class StateBusyError(StateError):
    """Somebody else is changing the same installation."""
