"""Calls of Python: functions of the operator, and of the classes behind declared ones."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from trundle.engine._errors import EngineCode
from trundle.engine._frozen import frozen
from trundle.engine._handle import Handle, inside, outside
from trundle.engine._natives import argument_name
from trundle.engine._object import Instance
from trundle.engine._sources import format_of
from trundle.engine._world import World
from trundle.engine.expressions import (
    Decorated,
    Edge,
    ForeignFunction,
    Scope,
    check_arguments,
    context_of,
    decorated,
    explained,
    freeze,
    language_for,
)
from trundle.engine.running._frame import Frame
from trundle.engine.running._routine import Routine
from trundle.errors import Place, expectation, shown

Function = TypeVar("Function")

RECEIVER = "$#receiver"
"""The variable of the object that a static method is called on, whose `$` is the type; code has no such name."""

_FRAME = "__trundle_frame__"


def with_frame(function: Function) -> Function:
    """Declares that a function of the engine's own takes the call of the method as its first parameter."""
    setattr(function, _FRAME, True)
    return function


class Natives:
    """The Python objects behind the objects of a session."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._objects: dict[tuple[Instance, type], Any] = {}
        self._takes_handle: dict[type, bool] = {}

    def call(self, frame: Frame, routine: Routine, variables: Mapping[str, Any]) -> Any:
        """Calls the function behind a method."""
        native = routine.native_type
        assert native is not None
        is_bound = not routine.is_static and isinstance(frame.this, Instance)
        holder = self._object(frame.this, native) if is_bound else native
        function = getattr(holder, routine.native)
        positional, named = self._arguments(frame, function, routine, variables)
        if getattr(function, _FRAME, False):
            positional[0] = frame
        return called(self._world, function, positional, named)

    def _object(self, instance: Any, native: type) -> Any:
        """The Python object behind an object; it is made when it is needed first."""
        key = (instance, native)
        if key not in self._objects:
            takes = self._takes_handle.get(native)
            if takes is None:
                takes = self._takes_handle[native] = _takes_handle(native)
            self._objects[key] = native(Handle(self._world, instance)) if takes else native()
        return self._objects[key]

    def _arguments(
        self,
        frame: Frame,
        function: Callable[..., Any],
        routine: Routine,
        variables: Mapping[str, Any],
    ) -> tuple[list[Any], dict[str, Any]]:
        world, specs = self._world, decorated(function)
        take = _same if specs is None else _taking(world, frame, specs, routine, variables)
        values = {each.name: outside(world, variables[each.variable]) for each in routine.arguments}
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for parameter in parameters_of(function):
            name = parameter.name
            value = values.get(name, values.get(argument_name(name, specs)))
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                positional += [take(name, each) for each in value or ()]
            elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
                named |= {key: take(name, each) for key, each in (value or {}).items()}
            else:
                if value is None and parameter.default is not inspect.Parameter.empty:
                    value = parameter.default
                value = take(name, value)
                if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
                    named[parameter.name] = value
                else:
                    positional.append(value)
        return positional, named


def _same(_name: str, value: Any) -> Any:
    return value


def _computing(world: World, compute: Callable[..., Any]) -> Callable[..., Any]:
    """An expression as a function of Python calls it."""

    def computed(*values: Any, **named: Any) -> Any:
        given = [frozen(inside(world, each), world.limits) for each in values]
        by_name = {name: frozen(inside(world, each), world.limits) for name, each in named.items()}
        return outside(world, compute(*given, **by_name))

    return computed


def _taking(
    world: World, frame: Frame, specs: Decorated, routine: Routine, variables: Mapping[str, Any]
) -> Callable[[str, Any], Any]:
    """What makes of values what the types that yaql's decorators give want."""
    language = language_for(is_legacy=format_of(frame.origin.source).is_legacy)
    context = context_of(Scope(frame, variables), language)
    receiver = outside(world, variables.get(RECEIVER, frame.this))

    def take(name: str, value: Any) -> Any:
        if callable(value):
            value = _computing(world, value)
        try:
            return specs.taken(name, value, receiver, context, language.engine)
        except ValueError:
            where = f"the argument {specs.alias(name)} of {frame.origin.name}.{routine.name}"
            message = expectation(
                f"a value of the type {specs.kind(name)} for {where}", shown(value)
            )
            raise frame.origin.error(
                EngineCode.NO_MATCH, message, advice="correct the call", member=routine.name
            ) from None

    return take


def parameters_of(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters of a function."""
    return list(inspect.signature(function).parameters.values())


def _takes_handle(native: type) -> bool:
    if inspect.getattr_static(native, "__init__") is object.__init__:
        return False
    return bool(inspect.signature(native).parameters)


def called(
    world: World, function: Callable[..., Any], values: list[Any], named: Mapping[str, Any]
) -> Any:
    """What a Python function returns, as the package language has it; one that waits lets others take their turn.

    Raises:
        EngineError: the function returns what the language does not have, or ends with StopIteration, which would end a
            sequence around the call in silence.
        Exception: what else the function raises.
    """
    try:
        value = function(*values, **named)
        if inspect.iscoroutine(value):
            value = world.turns.wait(value)
    except StopIteration as error:
        raise explained(error, "a function", Place(), None) from error
    return frozen(inside(world, value), world.limits)


def as_function(name: str, world: World, function: Callable[..., Any]) -> Any:
    """A function of the operator as expressions call it."""
    if decorated(function) is not None:
        edge = Edge(
            lambda value: outside(world, freeze(value)),
            lambda value: frozen(inside(world, value), world.limits),
            lambda each, values, named: called(world, each, values, named),
        )
        return ForeignFunction(name, function, edge)
    try:
        signature = inspect.signature(function)
    except ValueError:  # Some builtins have none
        signature = None

    def call(*values: Any, **named: Any) -> Any:
        given = [outside(world, freeze(each)) for each in values]
        by_name = {name: outside(world, freeze(each)) for name, each in named.items()}
        if signature is not None:
            check_arguments("the function", signature, given, by_name)
        return called(world, function, given, by_name)

    return call
