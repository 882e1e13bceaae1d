"""Calls of methods: which one a name means."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from trundle.engine._declarations import DESTRUCTOR, INITIALIZER
from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._metas import SYNCHRONIZE, method_metas
from trundle.engine._object import Instance, Part
from trundle.engine._scene import Callee, Scene
from trundle.engine._type import Type, method_key
from trundle.engine._world import World
from trundle.engine.running._found import Extension, Found, Running
from trundle.engine.running._frame import Frame
from trundle.engine.running._functions import FUNCTIONS
from trundle.engine.running._locks import Synchronized
from trundle.engine.running._mocks import Mocks, Replacement, mocked
from trundle.engine.running._order import each_after
from trundle.engine.running._reflection import Info
from trundle.engine.running._routine import Routines
from trundle.engine.running._watching import Watch
from trundle.errors import did_you_mean, expectation


class Calls:
    """Runs the methods of a session.

    Attributes:
        world: the session.
    """

    def __init__(
        self,
        world: World,
        routines: Routines,
        mocks: Mocks | None = None,
        watch: Watch | None = None,
    ) -> None:
        self.world = world
        self._routines = routines
        self._running = Running(world, watch)
        self._found: dict[tuple[Type, Type, str], Found | None] = {}
        self._extensions: dict[Type, dict[str, list[Extension]]] = {}
        self._initializers: dict[Type, tuple[Found, ...]] = {}
        self._mocks = mocks

    def method(self, receiver: Any, name: str, scene: Scene) -> Callee | None:
        """The method of a value as the code of a scene sees it; None where neither its class nor an extension has it."""
        kind = type(receiver)
        if kind is Instance:
            type_ = receiver.type
            found = self.find(type_, type_, name)
        elif kind is Part:
            found = self.find(receiver.instance.type, receiver.type, name)
        elif kind is Info:
            return receiver.method(name)  # type: ignore[no-any-return]
        elif isinstance(receiver, Type):
            found = self.find_static(receiver, name)
        else:
            found = None
        if found is not None and (found.routine.usage != "Extension" or kind is Type):
            if kind is Instance and not found.lambdas:
                receiver.type.called[name] = found
            return found
        return self._extension(receiver, name, scene)

    def builtin(self, name: str) -> Callable[..., Any]:
        """A function of the engine."""
        return FUNCTIONS[name]

    def find(self, type_: Type, start: Type, name: str) -> Found | None:
        """The method of a class that a name means; None where it has none.

        Args:
            type_: the class of the object.
            start: the class where the lookup starts.
            name: the method.

        Raises:
            EngineError: several classes declare it.
        """
        key = (type_, start, name)
        try:
            return self._found[key]
        except KeyError:
            found = self._found[key] = self._look_up(type_, start, name)
            return found

    def find_static(self, type_: Type, name: str) -> Found | None:
        """The static method of a class that a name means; None where it has no method of that name.

        Raises:
            EngineError: only objects have the method, or several classes declare it.
        """
        found = self.find(type_, type_, name)
        if found is not None and not found.routine.is_static:
            message = expectation(f"a static method of {type_.name}", f"{name}, which objects have")
            advice = "call it on an object, or declare it with `Usage: Static`"
            raise type_.error(EngineCode.NO_METHOD, message, advice=advice, member=name)
        return found

    def _look_up(self, type_: Type, start: Type, name: str) -> Found | None:
        winners = type_.winners(method_key(name), start)
        if not winners:
            return None
        mock = self._mocks.find(start, name, winners) if self._mocks else None
        if mock is not None:
            return Found(self._running, winners[0], mock)
        if len(winners) > 1:
            both = " and ".join(each.label for each in winners)
            message = expectation(f"one method {name}", f"those of {both}")
            advice = f"override {name} in {start.name}, or cast the object to one of them"
            raise start.error(EngineCode.AMBIGUOUS, message, advice=advice, member=name)
        return self._make(type_, winners[0], name)

    def _make(self, type_: Type, declaring: Type, name: str) -> Found:
        routine = self._routines.of(declaring, name)
        locked_by = Synchronized.from_meta(method_metas(type_, name).get(SYNCHRONIZE))
        return Found(self._running, declaring, routine, locked_by)

    def compile(self, declaring: Type, name: str) -> None:
        """Compiles a method that a class declares.

        Raises:
            EngineError: it cannot be read.
        """
        self._routines.of(declaring, name)

    def mock(self, type_: Type, name: str, replacement: Replacement, holding: Any) -> None:
        """Replaces a method of a class until the session ends.

        Args:
            type_: the class.
            name: the method.
            replacement: what answers its calls.
            holding: values that must live as long as the mock.

        Raises:
            EngineError: the session knows no mocks, the class has no such method, or the engine does not look it up by name.
        """
        if self._mocks is None:
            raise EngineError(
                EngineCode.UNKNOWN_FUNCTION,
                "`inject` is known in tests of packages alone",
                advice="run the test with `trundle package test`",
            )
        winners = type_.winners(method_key(name))
        if not winners:
            message = expectation(f"a method of {type_.name} to replace", name)
            advice = did_you_mean(name, list(type_.methods))
            raise type_.error(EngineCode.NO_METHOD, message, advice=advice, member=name)
        found = self._make(type_, winners[0], name)
        if name in (INITIALIZER, DESTRUCTOR) or found.routine.usage == "Extension":
            found_ = "the extension method " * (found.routine.usage == "Extension") + name
            message = expectation("a method of objects, or a static one, to replace", found_)
            advice = "replace a method that it calls"
            raise type_.error(EngineCode.INVALID_OPERATION, message, advice=advice, member=name)
        self._mocks.add(type_, mocked(found.routine, found, replacement), holding)
        for each, _, _ in self._found:
            each.called.clear()
        self._found.clear()

    def _extension(self, receiver: Any, name: str, scene: Scene) -> Callee | None:
        origin = scene.origin
        if not isinstance(origin, Type):
            return None
        known = self._extensions.get(origin)
        if known is None:
            known = self._extensions[origin] = self._extensions_of(origin, scene)
        for each in known.get(name, ()):
            found = each.found
            if isinstance(receiver, Instance | Part) and receiver.type.descends_from(
                found.declaring
            ):
                continue
            if self._takes(found, receiver):
                return each
        return None

    def _extensions_of(self, origin: Type, scene: Scene) -> dict[str, list[Extension]]:
        """The extension methods that code of a class uses: its own, then those of what it imports."""
        made: dict[str, list[Extension]] = {}
        imported = (scene.resolve(name) for name in origin.declaration.imports)
        for type_ in (origin, *imported):
            assert isinstance(type_, Type)
            for name, method in type_.methods.items():
                if method.usage == "Extension":
                    found = self._make(type_, method.declaring_type, name)
                    made.setdefault(name, []).append(Extension(found))
        return made

    def _takes(self, found: Found, receiver: Any) -> bool:
        """Whether the first argument of an extension method takes a receiver."""
        single = found.routine.single
        if not single:
            return False
        frame = Frame(self.world, found.declaring, found.declaring, found.routine.name)
        try:
            single[0].contract.validate(receiver, frame)
        except EngineError:
            return False
        return True

    def variables(self) -> Iterator[Any]:
        """The values of all variables of the methods that run now: nothing else may lead to the objects in them."""
        for frame in self.world.turns.all_frames():
            yield from frame.variables.values()
        if self._mocks:
            yield from self._mocks.values()

    def begin(self, made: Iterable[Instance]) -> None:
        """Runs `.init` of objects: of owned ones before their owners, and of parents of a class before it."""
        waiting = [each for each in made if self._initializers_of(each.type)]
        if not waiting:
            return
        waiting.sort(key=_height, reverse=True)
        for instance in waiting:
            instance.is_beginning = True
            try:
                for found in self._initializers_of(instance.type):
                    known = {each.name for each in found.routine.arguments}
                    given = {
                        name: value for name, value in instance.arguments.items() if name in known
                    }
                    found.call(instance, (), given)
            finally:
                instance.is_beginning = False

    def _initializers_of(self, type_: Type) -> tuple[Found, ...]:
        found = self._initializers.get(type_)
        if found is None:
            declaring = set(type_.lineage.declarers(method_key(INITIALIZER)))
            found = self._initializers[type_] = tuple(
                self._make(type_, each, INITIALIZER)
                for each in each_after([type_], type_.lineage.parents)  # Bases come first.
                if each in declaring
            )
        return found

    def destructors(self, type_: Type) -> Sequence[Found]:
        """The `.destroy` of each class that has one, those of derived classes first."""
        return [
            self._make(type_, each, DESTRUCTOR)
            for each in type_.lineage.declarers(method_key(DESTRUCTOR))
        ]


def _height(instance: Instance) -> int:
    """How many owners an object has above it."""
    count, at = 0, instance.holder
    while at is not None:
        count, at = count + 1, at.holder
    return count
