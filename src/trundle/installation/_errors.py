"""What can go wrong with the local state of an installation."""

from trundle.errors import Code, ExpectationError, Kind


class StateCode(Code):
    """What can be wrong with the local state."""

    UNUSABLE = "unusable-state"
    BUSY = "state-busy"


class StateError(ExpectationError):
    """The folder with the state cannot be used; nothing was changed.

    Attributes:
        where: the file or folder.
        expected: what should be there.
        found: what is there instead.
        advice: what to do about it.
    """

    code = StateCode.UNUSABLE


class StateBusyError(StateError):
    """Another process is changing the same installation."""

    kind = Kind.CONFLICT
    code = StateCode.BUSY
