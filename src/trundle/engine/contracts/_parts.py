"""The parts that contracts are made of: expressions, constants, lists and maps, as a closed union."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from trundle.engine._described import described
from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._scene import Scene
from trundle.engine.contracts._steps import Glance, Run
from trundle.engine.contracts._violations import Collector, ViolationError, violation
from trundle.engine.expressions import (
    Expression,
    FrozenDict,
    failure,
    is_sequence,
)
from trundle.errors import expectation

_OF_THE_VALUE = (EngineCode.NO_MATCH, EngineCode.NO_PROPERTY, EngineCode.THROWN)
"""The errors of an expression that another value would not have."""

_EMPTY: Mapping[Any, Any] = FrozenDict()


@dataclass(frozen=True, slots=True)
class ExpressionPart:
    """A contract that is an expression over `$`, compiled for either purpose.

    Attributes:
        expression: as it is written.
        making: what transforms.
        checking: what validates.
        kept: the types of values that it always takes as they are.
        taken_class: the class, as it is written, if it takes the objects of a class as they are and nothing else but null.
        glances: by their type, which other values it is certain to take as they are.
    """

    expression: Expression
    making: Run
    checking: Run
    kept: frozenset[type]
    taken_class: str | None = None
    glances: Mapping[type, Glance] = field(default_factory=dict)

    def keeps(self, value: Any) -> bool:
        """Whether it is certain at a glance that it takes a value as it is."""
        kind = type(value)
        if kind in self.kept:
            return True
        glance = self.glances.get(kind)
        return glance is not None and glance(value)

    def transform(self, value: Any, scene: Scene) -> Any:
        """What the value becomes."""
        return value if self.keeps(value) else self._run(self.making, value, scene)

    def validate(self, value: Any, scene: Scene) -> None:
        """Raises if the value may not stay as it is."""
        self._run(self.checking, value, scene)

    def _run(self, run: Run, value: Any, scene: Scene) -> Any:
        try:
            return run(value, scene)
        except ViolationError:
            raise
        except EngineError as error:
            if error.class_name:
                raise
            raise violation(error.message, code=error.code, advice=error.advice) from error
        except Exception as error:
            code, words, advice = failure(error)
            message = f"{self.expression} cannot be applied to {described(value)}: {words}"
            if code in _OF_THE_VALUE:
                raise violation(message) from error
            raise violation(message, code=code, advice=advice) from error


@dataclass(frozen=True, slots=True)
class ConstantPart:
    """A contract that a value has to equal."""

    constant: Any

    def transform(self, value: Any, scene: Scene) -> Any:
        """The value itself."""
        self.validate(value, scene)
        return value

    def validate(self, value: Any, _scene: Scene) -> None:
        """Raises if the value is another."""
        same_kind = isinstance(value, bool) == isinstance(self.constant, bool)
        if not same_kind or value != self.constant:
            raise violation(expectation(described(self.constant), described(value)))


@dataclass(frozen=True, slots=True)
class ListPart:
    """A list: item by item, with the last contract for all further items; none takes any item."""

    items: tuple["Part", ...]
    least: int = 0
    most: int | None = None

    def keeps(self, value: Any) -> bool:
        """Whether it is certain at a glance that it takes a value as it is."""
        return (
            type(value) is tuple
            and len(self.items) == 1
            and self.least <= len(value)
            and (self.most is None or len(value) <= self.most)
            and keeps(self.items[0], value)
        )

    def transform(self, value: Any, scene: Scene) -> Any:
        """The list with its items transformed; null is an empty list, and a scalar a list of one."""
        found = value if is_sequence(value) else () if value is None else (value,)
        self._measure(found)
        if not self.items:
            return found
        collector = Collector()
        made = [
            collector.attempt(at, part.transform, each, scene)
            for at, (part, each) in enumerate(self._paired(found))
        ]
        collector.finish()
        return tuple(made)

    def validate(self, value: Any, scene: Scene) -> None:
        """Raises if the value is no such list."""
        if not is_sequence(value):
            raise violation(expectation("a list", described(value)))
        self._measure(value)
        collector = Collector()
        for at, (part, each) in enumerate(self._paired(value) if self.items else ()):
            collector.attempt(at, part.validate, each, scene)
        collector.finish()

    def _paired(self, found: Iterable[Any]) -> Iterable[tuple["Part", Any]]:
        last = len(self.items) - 1
        return ((self.items[min(at, last)], each) for at, each in enumerate(found))

    def _measure(self, found: Any) -> None:
        if len(found) < self.least:
            raise violation(expectation(f"at least {_count(self.least)}", str(len(found))))
        if self.most is not None and len(found) > self.most:
            raise violation(expectation(f"at most {_count(self.most)}", str(len(found))))


@dataclass(frozen=True, slots=True)
class MapPart:
    """A map with named keys, and for all others a contract of the key and one of the value.

    Attributes:
        named: the contracts of keys that the result always has.
        others: the contracts of all other keys and of their values; None drops them.
        is_open: whether the contract says nothing, and takes any map as it is.
    """

    named: Mapping[Any, "Part"]
    others: "tuple[Part, Part] | None" = None
    is_open: bool = False

    def keeps(self, value: Any) -> bool:
        """Whether it is certain at a glance that it takes a value as it is."""
        if type(value) is not FrozenDict or self.others is None or self.named:
            return False
        key, each = self.others
        return keeps(key, value) and keeps(each, value.values())

    def transform(self, value: Any, scene: Scene) -> Any:
        """The map with its keys and values transformed; null is an empty map."""
        found = _EMPTY if value is None else value
        _expect_map(found)
        if self.is_open:
            return found
        collector = Collector()
        made: dict[Any, Any] = {}
        for key, each in found.items():
            if key in self.named:
                made[key] = collector.attempt(key, self.named[key].transform, each, scene)
            elif self.others is not None:
                self._other(made, collector, (key, each), scene)
        for key, part in self.named.items():
            if key not in found:
                made[key] = collector.attempt(key, part.transform, None, scene)
        collector.finish()
        return FrozenDict(made)

    def _other(
        self, made: dict[Any, Any], collector: Collector, entry: tuple[Any, Any], scene: Scene
    ) -> None:
        assert self.others is not None
        key, value = entry
        before = len(collector.errors)
        made_key = collector.attempt(key, self.others[0].transform, key, scene)
        made_value = collector.attempt(key, self.others[1].transform, value, scene)
        if collector.is_waiting or len(collector.errors) > before:
            return
        if made_key in made or made_key in self.named:
            collector.add(key, f"becomes the key {described(made_key)}, which the map has already")
            return
        made[made_key] = made_value

    def validate(self, value: Any, scene: Scene) -> None:
        """Raises if the value is no such map."""
        _expect_map(value)
        collector = Collector()
        for key, each in value.items():
            if key in self.named:
                collector.attempt(key, self.named[key].validate, each, scene)
            elif self.others is not None:
                collector.attempt(key, self.others[0].validate, key, scene)
                collector.attempt(key, self.others[1].validate, each, scene)
        for key, part in self.named.items():
            if key not in value:
                collector.attempt(key, part.validate, None, scene)
        collector.finish()


Part: TypeAlias = ExpressionPart | ConstantPart | ListPart | MapPart
"""A contract, or a part of one."""


def keeps(part: Part, values: Iterable[Any]) -> bool:
    """Whether it is certain at a glance that a contract takes all values as they are."""
    if not isinstance(part, ExpressionPart):
        return False
    if part.glances:
        return all(map(part.keeps, values))
    return part.kept.issuperset(map(type, values))


def _expect_map(value: Any) -> None:
    if not isinstance(value, Mapping):
        raise violation(expectation("a map", described(value)))


def _count(number: int) -> str:
    return "1 item" if number == 1 else f"{number} items"
