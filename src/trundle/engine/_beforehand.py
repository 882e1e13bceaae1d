"""Constants that class files give, held to the contracts that take them: what is wrong with them before any object is made."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Never

from trundle.engine._classes import Classes
from trundle.engine._declarations import INITIALIZER, ArgumentDeclaration, PropertyDeclaration
from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._frozen import frozen
from trundle.engine._layout import Layouts
from trundle.engine._limits import Limits
from trundle.engine._mentions import Making, makings
from trundle.engine._object import Instance
from trundle.engine._scene import NotYetHere, ObjectValue, Scene
from trundle.engine._sources import Sources, compile_declared
from trundle.engine._stage import Code
from trundle.engine._structure import Fixed
from trundle.engine._type import Type, method_key
from trundle.engine._world import World
from trundle.engine._written import shortened
from trundle.engine.effects import Effects
from trundle.errors import shown

_LIMITS = Limits(steps=100_000, seconds=2.0)
"""What the contract of one constant may take."""


class _Taking(NamedTuple):
    """What takes a value.

    Attributes:
        declaring: the class that declares it.
        declaration: how.
        member: the property or the method.
        transform: makes a value of what is given.
        validators: checks it against what ancestors declare; with the classes that do.
    """

    declaring: Type
    declaration: PropertyDeclaration | ArgumentDeclaration
    member: str
    transform: Callable[[Any, Scene], Any]
    validators: tuple[tuple[Callable[[Any, Scene], None], Type], ...] = ()


class Beforehand:
    """Finds constants that contracts refuse, whatever the object is.

    What depends on an object, on code of a package or on a model is left to the run.
    """

    def __init__(self, classes: Classes, sources: Sources) -> None:
        self._classes = classes
        self._layouts = Layouts(sources, {})
        self._world = World(classes, self._layouts, _LIMITS, {}, Effects())

    def defaults(self, type_: Type) -> Iterator[tuple[EngineError, bool]]:
        """What is wrong with the defaults of the properties that a class declares, and of the arguments of its methods.

        Returns:
            Each error, and whether it is one that objects show: not where the default is null, as if there were none, nor where the property stays without
            a value.
        """
        for taking, default in self._declared(type_):
            if not isinstance(default, Fixed):
                continue
            node = taking.declaration.default
            line = node.line if node is not None else taking.declaration.line
            for error, declaring in self._wrong(taking, default.value):
                contract = _contract(declaring, taking)
                whose = "" if declaring is type_ else f" of {declaring.name}"
                message = f"the default {shortened(node)} breaks the contract {contract}{whose}: {error.message}"
                advice = "change the default" if whose else "change the default or the contract"
                is_shown = default.value is not None and taking.declaration.usage != "Runtime"
                yield (
                    type_.error(
                        EngineCode.CONTRACT, message, advice=advice, member=taking.member, line=line
                    ),
                    is_shown,
                )

    def made(self, type_: Type) -> Iterator[EngineError]:
        """What is wrong with the constants that a class gives to `new`."""
        for making in makings(type_.declaration):
            try:
                made = self._classes.resolve(type_.source, type_.full_name(making.name))
                taking = self._taken(made, making)
            except EngineError:  # What is wrong with that class is said where it is
                continue
            if taking is None:
                continue
            for error, declaring in self._wrong(taking, making.value):
                contract = _contract(declaring, taking)
                message = f"`new({making.name}, {making.property} => {shown(making.value)})` breaks the contract {contract}: {error.message}"
                advice = "give a value that the contract takes"
                yield type_.error(
                    EngineCode.CONTRACT,
                    message,
                    advice=advice,
                    member=making.member,
                    line=making.line,
                )

    def _declared(self, type_: Type) -> Iterator[tuple[_Taking, Any]]:
        """What a class declares that takes values, each with its default."""
        for name, each in type_.declaration.properties.items():
            try:
                yield self._property(type_, name), self._default(type_, each)
            except EngineError:  # What cannot be compiled is found by itself
                continue
        for method in type_.declaration.methods.values():
            for argument in method.arguments:
                try:
                    compiled = compile_declared(
                        type_.source, type_.declaration, argument, method.name
                    )
                except EngineError:
                    continue
                taking = _Taking(type_, argument, method.name, compiled.contract.transform)
                yield taking, compiled.default

    def _default(self, type_: Type, declared: PropertyDeclaration) -> Any:
        return compile_declared(type_.source, type_.declaration, declared).default

    def _property(self, type_: Type, name: str) -> _Taking:
        """A property of a class that the class declares.

        Raises:
            EngineError: a contract or a default of the class cannot be compiled.
        """
        declaration = type_.declaration.properties[name]
        if declaration.usage == "Static":
            slot = self._layouts.static(type_, name)
        else:
            slot = next(
                each
                for each in self._layouts.of(type_).slots
                if each.name == name and each.declaring is type_
            )
        return _Taking(type_, declaration, name, slot.transform, tuple(slot.validators))

    def _taken(self, made: Type, making: Making) -> _Taking | None:
        """What takes a value that is given to `new`; None where no property or several do.

        Raises:
            EngineError: it cannot be compiled.
        """
        name = making.property
        for declaring in made.lineage.declarers(method_key(INITIALIZER)):
            for argument in declaring.declaration.methods[INITIALIZER].arguments:
                if argument.name == name:
                    compiled = compile_declared(
                        declaring.source, declaring.declaration, argument, INITIALIZER
                    )
                    return _Taking(declaring, argument, INITIALIZER, compiled.contract.transform)
        slots = [each for each in self._layouts.of(made).slots if each.name == name]
        if len(slots) != 1 or not slots[0].in_model:
            return None
        (slot,) = slots
        return _Taking(
            slot.declaring, slot.declaration, name, slot.transform, tuple(slot.validators)
        )

    def _wrong(self, taking: _Taking, value: Any) -> Iterator[tuple[EngineError, Type]]:
        """The violations by a constant, each with the class whose contract it is."""
        self._world.begin()
        declaring = taking.declaring
        try:
            if isinstance(value, tuple | Mapping):
                value = frozen(value, _LIMITS)
            made = taking.transform(value, _Apart(self._world, _NOTHING, declaring, taking.member))
            for validate, above in taking.validators:
                declaring = above
                validate(made, _Apart(self._world, _NOTHING, above, taking.member))
        except NotYetHere:
            return
        except (EngineError, RecursionError) as error:
            if isinstance(error, EngineError):
                yield from (
                    (each, declaring) for each in error.errors if each.code is EngineCode.CONTRACT
                )


def _contract(declaring: Type, taking: _Taking) -> str:
    node = taking.declaration.contract
    if declaring is not taking.declaring:
        node = declaring.declaration.properties[taking.member].contract
    return f"`{shortened(node)}`"


def _unknown(*_: Any, **__: Any) -> Never:
    raise NotYetHere


class _Nothing(ObjectValue):
    """Stands for an object that is not there, so that nothing is known of it."""

    __slots__ = ()

    id = property(_unknown)
    type = property(_unknown)
    owner = property(_unknown)
    read = _unknown


_NOTHING = _Nothing()


class _Apart(Code):
    """What contracts see where there are no objects: whatever needs one, or runs code of a package, is not known."""

    @property
    def owner(self) -> Instance | None:
        """None: there are no objects."""
        return None

    def resolve(self, name: str) -> Type:
        """The class that a name means."""
        try:
            return super().resolve(name)
        except EngineError:
            raise NotYetHere from None

    model = _unknown
    method = _unknown
    builtin = _unknown
    is_instance = _unknown
    template = _unknown
