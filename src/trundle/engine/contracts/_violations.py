"""What is wrong with a value, collected while the stack unwinds."""

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._scene import NotYetHere
from trundle.errors import TrundleError

Wrong: TypeAlias = tuple[tuple[Any, ...] | None, EngineError]
"""An error, and the keys and indexes that lead to it, the outermost first; None where it is of an object within the value, and knows its own place."""


class ViolationError(TrundleError):
    """A value violates its contract; never leaves this room.

    Attributes:
        errors: all that is wrong with it.
    """

    def __init__(self, errors: Iterable[Wrong]) -> None:
        self.errors = tuple(errors)
        super().__init__("; ".join(each.message for _, each in self.errors))


def violation(
    message: str, *, code: EngineCode = EngineCode.CONTRACT, **further: Any
) -> ViolationError:
    """The error for one thing that is wrong with the value itself."""
    return ViolationError([((), EngineError(code, message, **further))])


class Collector:
    """Goes on where something is wrong, so that all of it is reported, or waits for an object, which may stand in the next part."""

    def __init__(self) -> None:
        self.errors: list[Wrong] = []
        self.is_waiting = False

    def attempt(self, key: Any, part: Callable[[Any, Any], Any], value: Any, scene: Any) -> Any:
        """What a contract makes of the value at a key; None where something is wrong with it."""
        try:
            return part(value, scene)
        except ViolationError as error:
            self.errors += [
                (None if keys is None else (key, *keys), each) for keys, each in error.errors
            ]
        except EngineError as error:
            self.errors += [(None, each) for each in error.errors]
        except NotYetHere:
            self.is_waiting = True
        return None

    def add(self, key: Any, message: str) -> None:
        """Notes that something is wrong with a key."""
        self.errors.append(((key,), EngineError(EngineCode.CONTRACT, message)))

    def finish(self) -> None:
        """Raises what was collected.

        Raises:
            ViolationError: there is something.
            NotYetHere: a part waits for an object.
        """
        if self.errors:
            raise ViolationError(self.errors)
        if self.is_waiting:
            raise NotYetHere
