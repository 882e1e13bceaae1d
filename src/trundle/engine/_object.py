"""Objects of packages: what a model says of them, and what their properties hold.

An object has one table of values. A declared property is under its name; where classes that do not descend from each other declare
one name, each has its own entry under class and name, and so has what the code of a class assigns without declaring it.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from trundle.engine._errors import EngineCode, EngineError, names_of
from trundle.engine._scene import ObjectValue, Scene, WholeObject
from trundle.engine._type import Type
from trundle.errors import expectation, shown

if TYPE_CHECKING:
    from collections.abc import Callable

Key: TypeAlias = str | tuple[Type, str]
"""Where a value stands in the table of an object."""

PENDING: Any = object()
"""Stands for a value that is just being computed."""

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Instance(WholeObject):
    """An object.

    Attributes:
        type: its class.
        holder: the object that owns it; None for a root.
        home: the property of its owner where its model stood; empty for a root.
        name: what people call it; None for nothing.
        header: the other entries of its header that are kept.
        values: its values.
        arguments: what its model has for the arguments of `.init`.
        is_destroyed: whether it is gone.
        is_beginning: whether its `.init` runs, which may assign what nothing else may.
        complete: while its model loads, computes a value that it does not have yet; None otherwise.
    """

    __slots__ = (
        "_id",
        "arguments",
        "complete",
        "header",
        "holder",
        "home",
        "is_beginning",
        "is_destroyed",
        "name",
        "type",
        "values",
    )

    type: Type

    def __init__(
        self,
        identifier: str,
        type_: Type,
        holder: "Instance | None",
        name: str | None,
        header: Mapping[str, Any],
        home: str = "",
    ) -> None:
        self._id = identifier
        self.type = type_
        self.holder = holder
        self.home = home
        self.name = name
        self.header = header
        self.values: dict[Key, Any] = {}
        self.arguments: Mapping[str, Any] = _NOTHING
        self.is_destroyed = False
        self.is_beginning = False
        self.complete: Callable[[Instance, Key], None] | None = None

    @property
    def id(self) -> str:
        """Its id."""
        return self._id

    @property
    def instance(self) -> "Instance":
        """Itself."""
        return self

    @property
    def owner(self) -> "Instance | None":
        """The object that owns it; None for a root."""
        return self.holder

    def read(self, name: str, scene: Scene) -> Any:
        """The value of a property, as the code of a scene sees it."""
        return read(self, self.type, name, scene.origin)

    def __repr__(self) -> str:
        return f"<object {self._id} of {self.type.label}>"


class Part(ObjectValue):
    """An object cast to one of its classes: lookups start there.

    Attributes:
        instance: the object.
        type: the class.
    """

    __slots__ = ("instance", "type")

    type: Type

    def __init__(self, instance: Instance, type_: Type) -> None:
        self.instance = instance
        self.type = type_

    @property
    def id(self) -> str:
        """The id of the object."""
        return self.instance.id

    @property
    def owner(self) -> Instance | None:
        """The object that owns it."""
        return self.instance.holder

    def read(self, name: str, scene: Scene) -> Any:
        """The value of a property, as the code of a scene sees it."""
        return read(self.instance, self.type, name, scene.origin)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Instance | Part):
            return self.instance is other.instance
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.instance)


def part(instance: Instance, type_: Type) -> ObjectValue:
    """An object cast to one of its classes; the object itself for its own class."""
    return instance if type_ is instance.type else Part(instance, type_)


def find_key(instance: Instance, start: Type, name: str, code: object) -> Key:
    """Where an object keeps what a name means.

    Args:
        instance: the object.
        start: the class where the lookup starts.
        name: the name.
        code: the class whose code asks; what is not declared is private to it.

    Raises:
        EngineError: several classes declare the name.
    """
    found = declaring_class(instance.type, start, name)
    if found is None:
        assert isinstance(code, Type)
        return (code, name)
    return key_of(instance.type, found, name)


def declaring_class(type_: Type, start: Type, name: str) -> Type | None:
    """The class whose declaration of a property counts for an object; None where nothing declares it.

    Args:
        type_: the class of the object.
        start: the class where the lookup starts.
        name: the property.

    Raises:
        EngineError: several classes declare it.
    """
    winners = type_.winners(name)
    if start is not type_:
        seen = type_.winners(name, start)
        winners = tuple(each for each in winners if any(each.descends_from(one) for one in seen))
    if len(winners) <= 1:
        return winners[0] if winners else None
    both = " and ".join(each.label for each in winners)
    message = expectation(f"one property {name}", f"those of {both}")
    advice = f"override {name} in {type_.name}, or cast the object to one of them"
    raise start.error(EngineCode.AMBIGUOUS, message, advice=advice, member=name)


def key_of(type_: Type, declaring: Type, name: str) -> Key:
    """Where objects of a class keep a property whose declaration in one of its ancestors counts."""
    return name if len(type_.winners(name)) == 1 else (declaring, name)


def read(instance: Instance, start: Type, name: str, code: object) -> Any:
    """The value of a property.

    Args:
        instance: the object.
        start: the class where the lookup starts.
        name: the property.
        code: the class whose code asks.

    Raises:
        EngineError: there is no such property, it has no value, several classes declare it, or the object is gone.
    """
    if start is instance.type:
        known = start.plain.get(name)
        if known is not None and not instance.is_destroyed:
            value = instance.values.get(known, PENDING)
            if value is not PENDING:
                return value
    check_alive(instance)
    declared = start.properties.get(name)
    if declared is not None and declared.usage == "Static":
        return start.static(name)
    key = find_key(instance, start, name, code)
    if declared is not None and start is instance.type:
        start.plain[name] = key
    values = instance.values
    if key not in values and instance.complete is not None:
        instance.complete(instance, key)
    try:
        value = values[key]
    except KeyError:
        raise _without_value(start, name, key) from None
    if value is PENDING:
        raise _circle(declaring_class(instance.type, start, name) or start, name)
    return value


def _circle(declaring: Type, name: str) -> EngineError:
    declared = declaring.properties[name].declaration
    message = f"the default of {name} needs itself"
    advice = "give one of the properties a default that needs no other"
    return declaring.error(
        EngineCode.CIRCULAR, message, advice=advice, member=name, line=declared.line
    )


def check_alive(instance: Instance) -> None:
    """Makes sure that an object is not destroyed.

    Raises:
        EngineError: it is.
    """
    if instance.is_destroyed:
        message = f"the object {instance.id} is destroyed"
        raise instance.type.error(EngineCode.DESTROYED, message, advice="use it before `finish`")


def _without_value(start: Type, name: str, key: Key) -> EngineError:
    if isinstance(key, tuple) and name not in start.properties:
        from trundle.errors import did_you_mean  # noqa: PLC0415 - only for what fails

        message = expectation(f"a property of {start.name}", shown(name))
        advice = did_you_mean(name, list(start.properties), "declare it")
        error = start.error(EngineCode.NO_PROPERTY, message, advice=advice, member=name)
        if key[0] is start:  # A name of its own that nothing was assigned to
            error.names += names_of(EngineCode.UNINITIALIZED)
        return error
    message = f"the property {name} of {start.name} has no value yet"
    advice = "assign one, or declare a `Default`"
    return start.error(EngineCode.UNINITIALIZED, message, advice=advice, member=name)
