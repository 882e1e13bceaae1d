"""Who is asked about writes, and the classes of a project among them."""

from collections.abc import Mapping
from traceback import extract_tb
from typing import TYPE_CHECKING, Any, Protocol

from trundle.api.admission._requests import AdmissionRequest
from trundle.errors import TrundleError, expectation
from trundle.project import AdmissionOperation

if TYPE_CHECKING:
    from collections.abc import Callable


class AdmissionHookError(TrundleError):
    """A hook failed, or did what no hook may do."""


class DeniedError(TrundleError):
    """A hook refuses a write, in an answer of its own.

    Args:
        status: what the client is answered: `code`, `reason`, `message` and `details` of a `Status`.
    """

    def __init__(self, status: Mapping[str, Any]) -> None:
        self.status = status
        super().__init__(str(status["message"]))


class Reviewer(Protocol):
    """Is asked about writes. Several requests may be asked about at the same time, and about one request several times."""

    @property
    def name(self) -> str:
        """What messages call it."""

    def handles(self, operation: AdmissionOperation) -> bool:
        """Whether it wants to be asked about an operation."""

    def review(self, request: AdmissionRequest) -> None:
        """Refuses a write, warns about it or changes its object.

        Raises:
            DeniedError: it refuses in an answer of its own.
            AdmissionHookError: it cannot say.
        """


class PythonHook:
    """Asks an object of a project's own class, by the method that is called as the operation.

    Args:
        name: what messages call it.
        hook: the object.
    """

    def __init__(self, name: str, hook: object) -> None:
        self.name = name
        self._hook = hook

    def handles(self, operation: AdmissionOperation) -> bool:
        """Whether the class has a method for an operation."""
        return hasattr(self._hook, operation)

    def review(self, request: AdmissionRequest) -> None:
        """Calls the method.

        Raises:
            AdmissionHookError: it failed, or returned something: what it says it says to the request.
        """
        method: Callable[[AdmissionRequest], object] = getattr(self._hook, request.operation)
        try:
            returned = method(request)
        except BaseException as error:
            last = extract_tb(error.__traceback__)[-1]
            place = f"{last.filename.rpartition('/')[2]}:{last.lineno}"
            raise AdmissionHookError(f"{type(error).__name__}: {error} at {place}") from error
        if returned is not None:
            found, advice = type(returned).__name__, "change request.object instead"
            raise AdmissionHookError(expectation("nothing to be returned", found, advice))
