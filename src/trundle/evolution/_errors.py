"""What can be wrong with configured changes and hooks."""

from trundle.errors import Kind, TrundleError


class ChangeError(TrundleError):
    """A configured change or hook that does not fit the schemas.

    Attributes:
        where: file and line of the change.
        reason: what was expected, what was found, and what to do.
    """

    kind = Kind.REFUSED

    def __init__(self, where: str, reason: str) -> None:
        self.where = where
        self.reason = reason
        super().__init__(f"{where}: {reason}" if where else reason)
