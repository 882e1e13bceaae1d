"""Mocks: what tests of packages put in the place of methods for as long as their session lasts.

A mock of a class stands in as if the class overrode the method: objects of the class and of its children have it, except
where a child overrides the method itself.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from trundle.engine._errors import EngineError
from trundle.engine._type import Type
from trundle.engine.expressions import Scope, explained, freeze
from trundle.engine.running._frame import Frame
from trundle.engine.running._routine import Routine
from trundle.errors import Place

Replacement = Callable[[Frame, Any, "Given"], Any]
"""What a mock computes for a call of a method, given that method itself."""

_GIVEN = "$#given"
"""The variable with what a call was given; no expression can spell it."""


@dataclass(frozen=True, slots=True)
class Given:
    """What a mocked method was called with.

    Attributes:
        values: the values by position, as they were given.
        named: those by name.
        variables: the variables with which the method would begin.
    """

    values: Sequence[Any]
    named: Mapping[str, Any]
    variables: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MockedRoutine(Routine):
    """A method with something else in the place of its body; its arguments and their contracts hold as before."""

    def bind(
        self,
        frame: Frame,
        variables: dict[str, Any],
        values: Sequence[Any],
        named: Mapping[str, Any],
    ) -> None:
        """Sets the variables with which the method begins, and what it was given."""
        Routine.bind(self, frame, variables, values, named)
        variables[_GIVEN] = Given(values, named, dict(variables))


def mocked(routine: Routine, found: Any, replacement: Replacement) -> MockedRoutine:
    """A method whose calls a replacement answers, which gets what was found without it."""

    def body(scope: Scope) -> tuple[Any]:
        frame: Any = scope.scene
        try:
            return (freeze(replacement(frame, found, scope.variables[_GIVEN])),)
        except EngineError:
            raise
        except Exception as error:
            place = Place(frame.origin.declaration.file, routine.line)
            raise explained(error, f"the mock of {routine.name}", place, frame) from error

    same = {each.name: getattr(routine, each.name) for each in fields(routine)}
    return MockedRoutine(**{**same, "body": body, "native": "", "count": -1})


class Mocks:
    """The mocks of a session."""

    def __init__(self) -> None:
        self._by_method: dict[str, dict[Type, MockedRoutine]] = {}
        self._holding: list[Any] = []

    def add(self, type_: Type, routine: MockedRoutine, holding: Any) -> None:
        """Puts a mock in the place of a method; the last one of a class counts.

        Args:
            type_: the class.
            routine: the mock.
            holding: values that must live as long as the mock.
        """
        self._by_method.setdefault(routine.name, {})[type_] = routine
        self._holding.append(holding)

    def find(self, start: Type, name: str, declaring: Sequence[Type]) -> MockedRoutine | None:
        """The mock that counts for a lookup; None where there is none.

        Args:
            start: the class where the lookup starts.
            name: the method.
            declaring: the classes whose declaration would count.
        """
        known = self._by_method.get(name)
        if not known:
            return None
        for each in start.lineage.order:
            if each in known and all(each.descends_from(one) for one in declaring):
                return known[each]
        return None

    def values(self) -> Iterator[Any]:
        """What nothing but mocks may lead to."""
        yield from self._holding
