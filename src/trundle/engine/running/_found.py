"""Methods that names mean, and what their calls do.

A call takes as few steps in Python as it can, since all code of packages is made of calls: see `Found.call`, and `of_objects` of expressions.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._object import Instance, check_alive
from trundle.engine._scene import Scene
from trundle.engine._type import Type
from trundle.engine._world import World
from trundle.engine.expressions import Scope
from trundle.engine.running._blocks import Returning, leave
from trundle.engine.running._frame import Frame
from trundle.engine.running._locks import Locks, Synchronized
from trundle.engine.running._natives import RECEIVER, Natives
from trundle.engine.running._routine import Lambdas, Routine
from trundle.engine.running._signals import Signal, Stray
from trundle.engine.running._watching import Watch

_SELF, _THIS = sys.intern("$1"), sys.intern("$this")
"""The variables of the receiver: the same texts as in expressions, so that finding them compares no letters."""


class Running:
    """What runs in a session; its methods share it.

    Attributes:
        world: the session.
        turns: its branches.
        natives: what calls functions of Python.
        locks: what calls of synchronized methods wait for.
        watch: what calls are reported to; None for nothing.
    """

    def __init__(self, world: World, watch: Watch | None) -> None:
        self.world = world
        self.turns = world.turns
        self.natives = Natives(world)
        self.locks = Locks(world.turns)
        self.watch = watch


class Found:
    """A method that a name means, ready to be called.

    Attributes:
        declaring: the class that declares it.
        routine: the method.
        locked_by: which of its calls wait for each other; None for none.
    """

    __slots__ = (
        "_arguments",
        "_body",
        "_count",
        "_is_static",
        "_kind",
        "_line",
        "_most",
        "_name",
        "_only",
        "_running",
        "_turns",
        "_value",
        "_world",
        "declaring",
        "locked_by",
        "routine",
    )

    def __init__(
        self,
        running: Running,
        declaring: Type,
        routine: Routine,
        locked_by: Synchronized | None = None,
    ) -> None:
        self._running = running
        self.declaring = declaring
        self.routine = routine
        self.locked_by = locked_by
        # What each call reads stands here, too
        self._world, self._turns = running.world, running.turns
        self._most = running.world.limits.calls
        self._name, self._is_static = routine.name, routine.is_static
        self._kind = None if routine.is_static else Instance
        self._count, self._arguments = routine.count, routine.by_position
        is_plain = running.watch is None and locked_by is None
        self._body = routine.body if is_plain and routine.body else self._run_as_declared
        body = routine.body
        returning = body if is_plain and isinstance(body, Returning) else None
        self._value = returning and returning.value
        self._line = returning.line if returning else 0
        self._only = self._arguments[0] if self._count == 1 else None

    def call(
        self,
        receiver: Any,
        values: Sequence[Any],
        named: Mapping[str, Any],
        caller: Scene | None = None,
    ) -> Any:
        """Calls the method.

        Args:
            receiver: the object or the type.
            values: values by position, as `freeze` makes them.
            named: values by name.
            caller: the code that calls it; None from outside.

        Raises:
            EngineError: what the method throws, or the values do not fit.
        """
        if type(receiver) is not self._kind:
            receiver, variables = self._held(receiver)
        else:
            if receiver.is_destroyed:
                check_alive(receiver)
            variables = {_SELF: receiver, _THIS: receiver}
        world, turns = self._world, self._turns
        outer = turns.innermost
        depth = 1 if outer is None else outer.depth + 1
        frame = Frame(world, receiver, self.declaring, self._name, caller, variables, outer, depth)
        turns.innermost = frame
        try:
            if depth > self._most:
                raise _too_deep(self._most)
            only = self._only
            if only is not None and len(values) == 1 and not named:  # Most calls by far
                name, kept, transform = only
                (value,) = values
                variables[name] = value if type(value) in kept else transform(value, frame)
            elif named or len(values) != self._count:
                self.routine.bind(frame, variables, values, named)
            else:
                for value, (name, kept, transform) in zip(values, self._arguments, strict=True):
                    taken = value if type(value) in kept else transform(value, frame)
                    variables[name] = taken
            if frame.loading is not None:
                frame.settle()
            value_of = self._value
            if value_of is not None:
                try:
                    world.steps = left = world.steps - 1
                    if left < 0:
                        world.more()
                    return value_of(Scope(frame, variables))
                except Exception as error:  # noqa: BLE001 - it is raised again
                    leave(error, frame, self._line)
            body = self._body  # In a call, Python would look for a method of that name first
            signal = body(Scope(frame, variables))
            return signal[0] if type(signal) is tuple else self._ended(signal)
        except RecursionError:
            raise _too_deep(depth) from None
        except EngineError as error:
            if error.seen is not frame:
                error.seen = frame
                error.frames += (frame.entry(self.routine.line),)
            raise
        finally:
            turns.innermost = outer

    @property
    def lambdas(self) -> Lambdas:
        """The arguments that get an expression instead of its value."""
        return self.routine.lambdas

    def _held(self, receiver: Any) -> tuple[Any, dict[str, Any]]:
        """What a call is about, a whole object that is alive or a class, and the variables that it begins with.

        Raises:
            EngineError: the object is destroyed.
        """
        if isinstance(receiver, Type):
            return receiver, {_SELF: receiver, _THIS: receiver}
        instance: Instance = receiver.instance
        check_alive(instance)
        if not self._is_static:
            return instance, {_SELF: instance, _THIS: instance}
        holder = receiver.type
        return holder, {_SELF: holder, _THIS: holder, RECEIVER: receiver}

    def _ended(self, signal: Signal) -> None:
        """What comes of a body that has not returned.

        Raises:
            EngineError: it is left by a signal for a loop.
        """
        if signal is None:
            return
        message = f"`{str(signal).capitalize()}` stands outside of a loop"
        raise self.declaring.error(
            EngineCode.INVALID_OPERATION,
            message,
            advice="move it into a loop, or remove it",
            member=self.routine.name,
            line=signal.line if isinstance(signal, Stray) else self.routine.line,
        )

    def _run_as_declared(self, scope: Scope) -> Signal:
        """Runs what is watched, waits for other calls, or has no body."""
        locked_by = self.locked_by
        if locked_by is None:
            return (self._run_watched(scope),)
        frame: Any = scope.scene
        given = [scope.variables.get(f"${each}") for each in locked_by.on_args]
        values = [each for each in given if each is not None]
        if not values and not locked_by.on_this:
            return (self._run_watched(scope),)
        holder = frame.this if locked_by.on_this and not self._is_static else None
        with self._running.locks.holding((holder, self.declaring, self._name), given):
            return (self._run_watched(scope),)

    def _run_watched(self, scope: Scope) -> Any:
        watch, routine = self._running.watch, self.routine
        if watch is None:
            return self._run(scope)
        frame: Any = scope.scene
        return watch.run(
            frame.entry(routine.line),
            frame.depth,
            tuple(each.name for each in routine.arguments),
            frame.variables,
            lambda: self._run(scope),
        )

    def _run(self, scope: Scope) -> Any:
        routine = self.routine
        if routine.body is not None:
            signal = routine.body(scope)
            return signal[0] if type(signal) is tuple else self._ended(signal)
        if not routine.native:
            return None
        frame: Any = scope.scene
        return self._running.natives.call(frame, routine, scope.variables)


class Extension:
    """An extension method, as values have it."""

    def __init__(self, found: Found) -> None:
        self.found = found
        self.lambdas = found.lambdas.behind_receiver()

    def call(
        self,
        receiver: Any,
        values: Sequence[Any],
        named: Mapping[str, Any],
        caller: Scene | None = None,
    ) -> Any:
        """Calls the method with the receiver as its first value.

        Raises:
            EngineError: what the method throws, or the values do not fit.
        """
        found = self.found
        return found.call(found.declaring, (receiver, *values), named, caller)


def _too_deep(depth: int) -> EngineError:
    message = f"more than {depth} calls are nested"
    return EngineError(EngineCode.LIMIT, message, advice="end the recursion earlier")
