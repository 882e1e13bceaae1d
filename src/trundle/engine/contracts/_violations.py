"""What is wrong with a value, collected while the stack unwinds."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._scene import NotYetHere
from trundle.errors import TrundleError


@dataclass(frozen=True, slots=True)
class Problem:
    """One violation of a contract.

    Attributes:
        message: what is wrong, without the place.
        path: the keys and indexes that lead to the value, the outermost first.
        code: what kind of thing is wrong.
        advice: what to do about it; may be empty.
        requirements: the requirements that chose versions which do not fit.
    """

    message: str
    path: tuple[Any, ...] = ()
    code: EngineCode = EngineCode.CONTRACT
    advice: str = ""
    requirements: tuple[str, ...] = ()

    def under(self, key: Any) -> "Problem":
        """The same problem, seen from the list or map around it."""
        return replace(self, path=(key, *self.path))


Wrong: TypeAlias = Problem | EngineError
"""A problem of this contract, or an error of an object within the value, which knows its own place."""


class ViolationError(TrundleError):
    """A value violates its contract; never leaves this room.

    Attributes:
        problems: all that is wrong with it.
    """

    def __init__(self, problems: Iterable[Wrong]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(each.message for each in self.problems))


def violation(message: str, **fields: Any) -> ViolationError:
    """The error for one problem."""
    return ViolationError([Problem(message, **fields)])


class Collector:
    """Goes on where something is wrong, so that all of it is reported, or waits for an object, which may stand in the next part."""

    def __init__(self) -> None:
        self.problems: list[Wrong] = []
        self.is_waiting = False

    def attempt(self, key: Any, part: Callable[[Any, Any], Any], value: Any, scene: Any) -> Any:
        """What a contract makes of the value at a key; None where something is wrong with it."""
        try:
            return part(value, scene)
        except ViolationError as error:
            self.problems.extend(
                each.under(key) if isinstance(each, Problem) else each for each in error.problems
            )
        except EngineError as error:
            self.problems.extend(error.errors)
        except NotYetHere:
            self.is_waiting = True
        return None

    def add(self, key: Any, message: str) -> None:
        """Notes that something is wrong with a key."""
        self.problems.append(Problem(message, (key,)))

    def finish(self) -> None:
        """Raises what was collected.

        Raises:
            ViolationError: there is something.
            NotYetHere: a part waits for an object.
        """
        if self.problems:
            raise ViolationError(self.problems)
        if self.is_waiting:
            raise NotYetHere
