"""The root of all errors that Trundle raises on purpose."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from trundle.errors._finding import Code, Finding, Place


class Kind(StrEnum):
    """What an error means for the caller; each face of Trundle maps kinds to its answers."""

    USAGE = "usage"
    """The request itself makes no sense."""
    REFUSED = "refused"
    """The input is not valid, or a rule forbids it."""
    EXISTS = "exists"
    """There is already what was to be made."""
    NOT_FOUND = "not-found"
    """There is no such thing."""
    VERIFICATION = "verification"
    """Content is not what was signed, promised or published."""
    UNREACHABLE = "unreachable"
    """Another system does not answer, or does not let us in."""
    CONFLICT = "conflict"
    """Another writer is changing, or has changed, the same thing."""
    FAILED = "failed"
    """Something else went wrong."""


class TrundleError(Exception):
    """The root of all errors that Trundle raises on purpose.

    An error has a kind, and carries what it is about as attributes. It crosses from one process to another as it is.

    Attributes:
        kind: what it means for the caller.
        findings: everything that is wrong, where the error consists of findings.
    """

    kind: Kind = Kind.FAILED
    findings: tuple[Finding, ...] = ()

    @property
    def messages(self) -> tuple[str, ...]:
        """What went wrong, one message for each finding."""
        return tuple(each.coded for each in self.findings) or (str(self),)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.args, self.__dict__)


class ExpectationError(TrundleError):
    """An error that is one finding about a thing.

    Attributes:
        code: what kind of finding it is; each class has one.
        where: the thing that is concerned.
        expected: what should be there.
        found: what is there instead.
        advice: what to do about it.
    """

    code: Code

    def __init__(self, where: str, expected: str, found: str, advice: str) -> None:
        self.where = where
        self.expected = expected
        self.found = found
        self.advice = advice
        finding = Finding(self.code, Place(object=where), expected, found, advice)
        self.findings = (finding,)
        super().__init__(str(finding))


def _restored(
    class_: type[TrundleError], args: Iterable[Any], attributes: dict[str, Any]
) -> TrundleError:
    """An error as it was, without its class's own signature."""
    error = class_.__new__(class_)
    error.args = tuple(args)
    error.__dict__.update(attributes)
    return error
