"""Objects as Python code outside of the engine sees them."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from trundle.engine._assigning import assign
from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._object import Instance, Part, part, read
from trundle.engine._type import Type
from trundle.engine._world import World
from trundle.engine.expressions import FrozenDict, check_size
from trundle.errors import expectation, listed


class Handle:
    """An object of a session. Handles of one object are equal, whatever it is cast to."""

    __slots__ = ("_instance", "_start", "_world")

    def __init__(self, world: World, instance: Instance, start: Type | None = None) -> None:
        self._world = world
        self._instance = instance
        self._start = start or instance.type

    @property
    def id(self) -> str:
        """Its id."""
        return self._instance.id

    @property
    def name(self) -> str | None:
        """What people call it."""
        return self._instance.name

    @property
    def type(self) -> Type:
        """Its class; after `cast`, the class that it was cast to."""
        return self._start

    @property
    def owner(self) -> "Handle | None":
        """The object that owns it; None for a root."""
        self._world.check_open()
        holder = self._instance.holder
        return None if holder is None else Handle(self._world, holder)

    def get(self, name: str) -> Any:
        """The value of a property: a scalar, a list, a dictionary or a handle; a private one as the code of its class sees it.

        Raises:
            EngineError: there is no such property, it has no value, or several classes declare it.
        """
        self._world.check_open()
        return outside(self._world, read(self._instance, self._start, name, self._start))

    def set(self, name: str, value: Any) -> None:
        """Assigns a property, as the code of its class could.

        Args:
            name: the property; one that is not declared is private to the class.
            value: the value; handles, or dictionaries as in models, for objects.

        Raises:
            EngineError: nothing but `.init` may assign it, or the value violates a contract.
        """
        self._world.check_open()
        try:
            given = inside(self._world, value)
        except RecursionError:
            message = f"the value for {name} is nested too deeply"
            raise self._start.error(EngineCode.LIMIT, message, member=name) from None
        assign(self._world, self._instance, self._start, name, given, self._start)

    def cast(self, type_: "Type | str") -> "Handle":
        """The object as one of its classes: lookups start there.

        Args:
            type_: the class, or its full name. A name is looked for among the class that the handle shows and its ancestors
                first, and after that among all classes of the object.

        Raises:
            EngineError: the object is not of the class, or of several versions of it.
        """
        self._world.check_open()
        lineage = self._instance.type.lineage
        order = lineage.order
        found = [each for each in order if type_ in (each, each.name)]
        if len(found) > 1:
            found = [each for each in found if lineage.includes(each, self._start)] or found
        if len(found) == 1:
            return Handle(self._world, self._instance, found[0])
        name = type_.label if isinstance(type_, Type) else type_
        if found:
            both = listed(each.label for each in found)
            message = expectation(f"one class {name} among those of {self.id}", both)
            advice = "give the type itself in place of its name"
            raise self._instance.type.error(EngineCode.AMBIGUOUS, message, advice=advice)
        message = expectation(
            f"a class of {self.id}, which is of {self._instance.type.label}", name
        )
        advice = f"name one of {listed(each.name for each in order)}"
        raise self._instance.type.error(EngineCode.NO_CLASS, message, advice=advice)

    def find_owner(self, type_: "Type | str") -> "Handle | None":
        """The nearest owner that is of a class; None where there is none.

        Args:
            type_: the class, or its full name, which stands for all its versions.
        """
        self._world.check_open()
        holder = self._instance.holder
        while holder is not None:
            if any(type_ in (each, each.name) for each in holder.type.lineage.order):
                return Handle(self._world, holder)
            holder = holder.holder
        return None

    @property
    def world(self) -> World:
        """The session inside of the engine."""
        return self._world

    @property
    def instance(self) -> Instance:
        """The object inside of the engine."""
        return self._instance

    def __eq__(self, other: object) -> bool:
        return self._instance is other.instance if isinstance(other, Handle) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._instance)

    def __repr__(self) -> str:
        return f"<{self.id} of {self._start.label}>"


class Handles(Mapping[str, Handle]):
    """All objects of a session by id, as they are when one looks."""

    def __init__(self, world: World) -> None:
        self._world = world

    def __getitem__(self, identifier: str) -> Handle:
        return Handle(self._world, self._world.objects[identifier])

    def __iter__(self) -> Iterator[str]:
        return iter(self._world.objects)

    def __len__(self) -> int:
        return len(self._world.objects)


def outside(world: World, value: Any) -> Any:
    """A value as code outside of the engine has it; what it changes in it, it keeps for itself.

    Raises:
        EngineError: it has more values in it, or nests more deeply, than the limits allow.
    """
    if isinstance(value, tuple | list | set | frozenset | Mapping):
        check_size(value, world.limits.results)
        try:
            return _outside(world, value)
        except RecursionError:
            message = "a value is nested too deeply to be given to other code"
            raise EngineError(EngineCode.LIMIT, message, advice="make it flatter") from None
    return _outside(world, value)


def _outside(world: World, value: Any) -> Any:
    if isinstance(value, Instance):
        return Handle(world, value)
    if isinstance(value, Part):
        return Handle(world, value.instance, value.type)
    if isinstance(value, tuple | list | set | frozenset):
        return [_outside(world, each) for each in value]
    if isinstance(value, Mapping):
        return {_key(world, key, _outside): _outside(world, each) for key, each in value.items()}
    return value


def _key(world: World, value: Any, change: Callable[[World, Any], Any]) -> Any:
    """A key of a map, changed: Python takes no list and no dictionary there."""
    if isinstance(value, tuple | list):
        return tuple([_key(world, each, change) for each in value])
    if isinstance(value, set | frozenset):
        return frozenset([_key(world, each, change) for each in value])
    if isinstance(value, Mapping):
        items = value.items()
        return FrozenDict({_key(world, x, change): _key(world, y, change) for x, y in items})
    return change(world, value)


def inside(world: World, value: Any) -> Any:
    """A value with objects in place of handles.

    Raises:
        EngineError: a handle is of another session.
    """
    if isinstance(value, Handle):
        if value.world is not world:
            expected, found = "an object of this session", "one of another session"
            advice = "load it in this session, and give the handle that `load` returns"
            if world.is_pure:
                expected, found = "plain values where code only computes", "an object"
                advice = "give what it needs of the object"
            message = expectation(expected, f"{value.id}, which is {found}")
            raise EngineError(EngineCode.INVALID_TARGET, message, advice=advice)
        return part(value.instance, value.type)
    if isinstance(value, list | tuple | set | frozenset):
        return [inside(world, each) for each in value]
    if isinstance(value, Mapping):
        return {_key(world, key, inside): inside(world, each) for key, each in value.items()}
    return value
