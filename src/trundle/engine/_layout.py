"""What objects of a class are made of: the properties that count, with their contracts and defaults compiled."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from trundle.engine._declarations import INITIALIZER, PropertyDeclaration
from trundle.engine._metas import actions, is_serialized_as_reference
from trundle.engine._object import Key, key_of
from trundle.engine._scene import Scene
from trundle.engine._selecting import most_exact
from trundle.engine._sources import Compiled, Sources
from trundle.engine._structure import Fixed
from trundle.engine._type import Type, method_key
from trundle.engine.contracts import Contract
from trundle.engine.expressions import freeze

ABSENT: Any = object()
"""Stands for no value."""

FROM_MODEL = frozenset({"In", "Out", "InOut", "Const"})
"""The usages of properties that models give, and that are dumped."""


class Slot(NamedTuple):
    """A property as objects of one class have it.

    Attributes:
        key: where objects keep it.
        name: its name.
        declaring: the class whose declaration counts.
        declaration: that declaration.
        in_model: whether models give it, and dumps have it.
        transform: makes a value of what is given.
        validators: checks a value against the declarations that do not count; with the classes that have them.
        default: the value where none is given; None where there is none.
        is_reference: whether dumps have ids of its objects only.
        kept: the types of values that it always takes as they are.
        taken_class: the class, as it is written, if the value is an object of it as it is, or null.
        taken_items: the same of the items of a list.
        glanced: the types of other values for which `keeps` is worth asking.
        keeps: whether it is certain at a glance that it takes a value as it is.
        standing: the value where none is given, if it is the same for all objects; else `ABSENT`.
    """

    key: Key
    name: str
    declaring: Type
    declaration: PropertyDeclaration
    in_model: bool
    transform: Callable[[Any, Scene], Any]
    validators: Sequence[tuple[Callable[[Any, Scene], None], Type]]
    default: Callable[[Scene], Any] | None
    is_reference: bool
    kept: frozenset[type]
    taken_class: str | None
    taken_items: str | None
    glanced: frozenset[type]
    keeps: Callable[[Any], bool]
    standing: Any


class Layout:
    """The properties of objects of one class.

    Attributes:
        slots: all but static ones, those of the class itself first.
        by_key: the same by where they stand.
        loaded: those that get a value when a model loads, each behind its key and its name: not those whose name is an argument of `.init`.
        arguments: the names of arguments of `.init`, which models give in place of properties.
        actions: what dumps say of public methods, by name.
    """

    def __init__(
        self,
        slots: Sequence[Slot],
        arguments: frozenset[str],
        actions: Mapping[str, Mapping[str, Any]],
    ) -> None:
        self.slots = tuple(slots)
        self.by_key = {each.key: each for each in slots}
        self.loaded = tuple((x.key, x.name, x) for x in slots if x.name not in arguments)
        self.arguments = arguments
        self.actions = actions

    def takes(self, name: str) -> bool:
        """Whether what a model has under a name becomes a property, or an argument of `.init`."""
        return name in self.arguments or any(
            each.name == name and each.in_model for each in self.slots
        )


class Layouts:
    """The layouts of classes in one session."""

    def __init__(self, sources: Sources, configs: Mapping[str, Mapping[str, Any]]) -> None:
        self._sources = sources
        self._configs = configs
        self._found: dict[Type, Layout] = {}
        self._slots: dict[tuple[Type, str], Slot] = {}

    def of(self, type_: Type) -> Layout:
        """The layout of a class.

        Raises:
            EngineError: a contract or a default cannot be compiled.
        """
        if type_ not in self._found:
            self._found[type_] = self._make(type_)
        return self._found[type_]

    def static(self, declaring: Type, name: str) -> Slot:
        """A static property of the class that declares it."""
        key = (declaring, name)
        if key not in self._slots:
            self._slots[key] = self._slot(declaring, declaring, name, ())
        return self._slots[key]

    def _make(self, type_: Type) -> Layout:
        slots = []
        for name in type_.properties:
            declaring = type_.winners(name)
            others = [each for each in type_.lineage.declarers(name) if each not in declaring]
            for each in declaring:
                if each.declaration.properties[name].usage != "Static":
                    above = [one for one in others if each.descends_from(one)]
                    slots.append(self._slot(type_, each, name, above))
        initializers = (
            each.declaration.methods[INITIALIZER]
            for each in type_.lineage.declarers(method_key(INITIALIZER))
        )
        arguments = frozenset(argument.name for each in initializers for argument in each.arguments)
        return Layout(slots, arguments, actions(type_))

    def _slot(self, type_: Type, declaring: Type, name: str, above: Sequence[Type]) -> Slot:
        declaration = declaring.declaration.properties[name]
        compiled = self._sources.compiled(declaring, declaration)
        others = [
            (self._sources.compiled(each, each.declaration.properties[name]).contract, each)
            for each in above
            if each.declaration.properties[name].usage != "Static"
        ]
        kept = compiled.contract.kept.intersection(*[contract.kept for contract, _ in others])
        default = self._default(declaring, name, compiled)
        return Slot(
            key=key_of(type_, declaring, name),
            name=name,
            declaring=declaring,
            declaration=declaration,
            in_model=declaration.usage in FROM_MODEL,
            transform=compiled.contract.transform,
            validators=[(contract.validate, each) for contract, each in others],
            default=default,
            is_reference=is_serialized_as_reference(name, (declaring, *above)),
            kept=kept,
            taken_class=None if others else compiled.contract.taken_class,
            taken_items=None if others else compiled.contract.taken_items,
            glanced=frozenset() if others else compiled.contract.glanced,
            keeps=compiled.contract.keeps,
            standing=_standing(default, declaration, kept, None if others else compiled.contract),
        )

    def _default(
        self, declaring: Type, name: str, compiled: Compiled
    ) -> Callable[[Scene], Any] | None:
        """What the most exact configuration of the class has, else what the class declares."""
        entries = most_exact(self._configs, declaring.name, declaring.version)
        if entries and name in entries[-1]:
            return Fixed(freeze(entries[-1][name]))
        return compiled.default


def _standing(
    default: Callable[[Scene], Any] | None,
    declaration: PropertyDeclaration,
    kept: frozenset[type],
    only: Contract | None,
) -> Any:
    """The value of all objects whose model gives none; `ABSENT` where that is not the same for all of them."""
    if default is None:
        value = ABSENT if declaration.usage == "Runtime" else None
    else:
        value = default.value if isinstance(default, Fixed) else ABSENT
    is_kept = type(value) in kept or (only is not None and only.keeps(value))
    return value if is_kept else ABSENT
