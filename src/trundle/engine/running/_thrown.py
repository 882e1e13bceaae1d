"""Exceptions of the package language: how they are thrown, and which handler takes one.

Names are resolved by the namespaces of the class that throws or catches, and are compared as text.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from trundle.engine._described import described
from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._object import Instance, Part
from trundle.engine._structure import value_of
from trundle.engine._type import Type
from trundle.engine.expressions import Format, FrozenDict, Scope, as_text
from trundle.engine.running._frame import Frame
from trundle.engine.running._signals import Run, Signal
from trundle.engine.running._targets import set_variable
from trundle.engine.statements import Catch, Throw
from trundle.errors import expectation, shortened

Handled: TypeAlias = tuple[Signal]
"""The signal of a handler that took an error."""

EXCEPTION = "io.murano.Exception"
_STACK_TRACE = "io.murano.StackTrace"
_MOST_NATIVE = 1000
"""How many characters an exception object has of an error of Python."""

_MOST_CAUSES = 250
"""How many errors may be the causes of each other."""

CAUGHT = "#error"
"""The private entry under which an exception object keeps the error; no expression can spell it."""


def throwing(statement: Throw, format_: Format) -> Run:
    """What throws an exception.

    Raises:
        EngineError: an expression in it cannot be read.
    """
    message, extra, cause = (
        None if each is None else value_of(each, format_)
        for each in (statement.message, statement.extra, statement.cause)
    )
    written = statement.names

    def throw(scope: Scope) -> Signal:
        frame = scope.scene
        assert isinstance(frame, Frame)
        names = _full(frame.origin, written)
        text = None if message is None else message(scope)
        error = frame.origin.error(
            EngineCode.THROWN,
            names[0] if text is None else as_text(text),
            names=names,
            member=frame.member,
            line=statement.line,
        )
        error.extra = FrozenDict() if extra is None else extra(scope)
        error.cause = None if cause is None else error_of(cause(scope))
        _check_causes(error)
        raise error

    return throw


def _check_causes(error: EngineError) -> None:
    """Makes sure that an error has not too many causes behind it.

    Raises:
        EngineError: it has.
    """
    count, at = 0, error.cause
    while at is not None:
        count, at = count + 1, at.cause
    if count > _MOST_CAUSES:
        message = f"an error has more than {_MOST_CAUSES} causes behind it"
        raise EngineError(EngineCode.LIMIT, message, advice="give the first one as `Cause`")


def catching(handler: Catch, body: Run) -> Callable[[Scope, EngineError], Handled | None]:
    """What handles an error, if it is one of those that the handler is for."""

    def handle(scope: Scope, error: EngineError) -> Handled | None:
        frame = scope.scene
        assert isinstance(frame, Frame)
        name = error.names[0] if error.names else "Exception"
        if handler.names is not None:
            wanted = _full(frame.origin, handler.names)
            found = next((each for each in wanted if each in error.names), None)
            if found is None:
                return None
            name = found
        if handler.variable:
            set_variable(scope, f"${handler.variable}", exception_object(frame, error, name))
        frame.handled = (*frame.handled, error)
        try:
            return (body(scope),)
        finally:
            frame.handled = frame.handled[:-1]

    return handle


def exception_object(frame: Frame, error: EngineError, name: str) -> Instance:
    """The object that stands for an error in the package language."""
    world = frame.world
    type_ = world.classes.resolve(frame.origin.source, EXCEPTION)
    made = Instance(f"exception-{len(error.frames)}-{id(error):x}", type_, None, None, {})
    cause = (
        None
        if error.cause is None
        else exception_object(
            frame, error.cause, error.cause.names[0] if error.cause.names else "Exception"
        )
    )
    made.values.update(
        name=name,
        message=error.message,
        stackTrace=_stack_trace(frame, error),
        extra=FrozenDict() if error.extra is None else error.extra,
        cause=cause,
        nativeException=None
        if error.original is None
        else shortened(repr(error.original), _MOST_NATIVE),
    )
    made.values[type_, CAUGHT] = error
    return made


def _stack_trace(frame: Frame, error: EngineError) -> Instance:
    """The object that stands for the methods that an error passed through, the outermost first."""
    type_ = frame.world.classes.resolve(frame.origin.source, _STACK_TRACE)
    made = Instance(f"trace-{len(error.frames)}-{id(error):x}", type_, None, None, {})
    made.values["frames"] = tuple(
        FrozenDict(
            instruction=str(each),
            location=FrozenDict(file=each.file, line=each.line),
            methodName=each.method,
            typeName=each.class_name,
        )
        for each in reversed(error.frames)
    )
    return made


def error_of(value: Any) -> EngineError | None:
    """The error that an exception object stands for.

    Raises:
        TypeError: the value is no exception object.
    """
    if value is None:
        return None
    if isinstance(value, Instance | Part):
        for key, found in value.instance.values.items():
            if isinstance(key, tuple) and key[1] == CAUGHT:
                return found  # type: ignore[no-any-return]
    raise TypeError(expectation("an exception that was caught", described(value)))


def _full(origin: Type, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(origin.full_name(each) for each in names)
