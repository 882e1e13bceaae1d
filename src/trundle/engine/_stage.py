"""The scene that contracts and defaults run in while a model is loaded."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Protocol

import msgspec

from trundle.engine._dump import Dump
from trundle.engine._frozen import frozen
from trundle.engine._object import Instance, Part
from trundle.engine._scene import Callee, ObjectValue, TypeValue
from trundle.engine._type import Type
from trundle.engine._world import World
from trundle.errors import listed


class Loader(Protocol):
    """What loads the model in which contracts and defaults run.

    Attributes:
        world: the session.
    """

    world: World

    def start(
        self,
        model: Mapping[Any, Any],
        owner: Instance | None,
        default: Type | None,
        spec: str | None,
        member: str = "",
    ) -> Instance:
        """The object that a map stands for; its properties are computed later."""
        ...

    def find(self, identifier: str) -> Instance | None:
        """The object with an id; None where there is none."""
        ...

    def on_trial(
        self,
        model: Mapping[Any, Any],
        default: Type,
        excluded: frozenset[str],
        member: str,
        *,
        is_made: bool,
    ) -> Instance:
        """An object that stays no part of the session."""
        ...


class Code(msgspec.Struct, eq=False):
    """What code sees of a session while it runs: a scene.

    Attributes:
        world: the session.
        this: the object that it is about; the class itself for static code.
        origin: the class whose code it is.
        member: the property or method.
    """

    world: World
    this: ObjectValue | Type
    origin: Type
    member: str

    __repr__ = object.__repr__

    @property
    @abstractmethod
    def owner(self) -> Instance | None:
        """What owns the objects that maps stand for."""

    @abstractmethod
    def model(self) -> Loader:
        """The model to which the objects belong that maps stand for."""

    @property
    def functions(self) -> Mapping[str, Callable[..., Any]]:
        """Functions of the operator."""
        return self.world.functions

    def method(self, receiver: Any, name: str) -> Callee | None:
        """The method of a value."""
        return self.world.calls.method(receiver, name, self)

    def extension(self, name: str) -> str:
        """What to do about the call of an extension method."""
        origin = self.origin
        imported = [origin.name, *(origin.full_name(each) for each in origin.declaration.imports)]
        having = self.world.classes.with_extension(origin.source, name)
        known = [each for each in having if each in imported]
        called = f"call it with a dot, `value.{name}(..)`"
        if known:
            methods = listed(f"{each}.{name}" for each in known)
            return f"{called}, where the value fits the first argument of {methods}"
        return f"import a class that has it, `Import: {having[0]}`, and {called}" if having else ""

    def builtin(self, name: str) -> Callable[..., Any]:
        """A function of the engine."""
        return self.world.calls.builtin(name)

    def resolve(self, name: str) -> Type:
        """The type that a name in the code stands for."""
        origin = self.origin
        found = self.world.resolved.get((origin, name))
        if found is not None:
            return found
        found = self.world.classes.resolve(origin.source, origin.full_name(name))
        self.world.resolved[origin, name] = found
        return found

    def is_instance(self, value: ObjectValue, type_: TypeValue, spec: str | None = None) -> bool:
        """Whether an object is of a type, in a version that the code takes."""
        key = (self.origin, value.type, type_, spec)
        found = self.world.accepted.get(key)
        if found is None:
            assert isinstance(value, Instance | Part)
            assert isinstance(type_, Type)
            versions = self.world.wanted(self.origin, type_.package, spec)
            found = self.world.accepted[key] = any(
                each.name == type_.name
                and each.package == type_.package
                and each.version in versions
                for each in value.type.lineage.order
            )
        return found

    def mismatch(
        self, value: ObjectValue, type_: TypeValue, spec: str | None = None
    ) -> tuple[str, ...]:
        """Which requirements disagree, where an object is of a type but in a version that the code does not take."""
        assert isinstance(value, Instance | Part)
        assert isinstance(type_, Type)
        versions = self.world.wanted(self.origin, type_.package, spec)
        near = [
            each
            for each in value.type.lineage.order
            if each.name == type_.name and each.package == type_.package
        ]
        if not near:
            return ()
        code = f"{self.origin.package}/{self.origin.version} requires {type_.package} {versions}"
        edges = [edge for each in near for _, edge in value.type.lineage.edges[each]]
        reached = [str(edge) for edge in edges] or [f"the object is {value.type.label}"]
        return (code, *dict.fromkeys(reached))

    def load(self, model: Mapping[Any, Any], default: TypeValue, spec: str | None) -> Instance:
        """Loads a map as an object of this one."""
        assert isinstance(default, Type)
        owner = self.owner
        return self.model().start(model, owner, default, spec, self.member if owner else "")

    def find(self, identifier: str) -> Instance | None:
        """The object with an id."""
        return self.model().find(identifier)

    def template(
        self,
        value: Mapping[Any, Any] | ObjectValue,
        default: TypeValue,
        excluded: AbstractSet[str],
        *,
        is_made: bool = False,
    ) -> tuple[ObjectValue, Mapping[str, Any]]:
        """An object as a model."""
        if isinstance(value, Instance | Part):
            found = value.instance
        else:
            assert isinstance(value, Mapping)
            assert isinstance(default, Type)
            trial = self.model().on_trial
            found = trial(value, default, frozenset(excluded), self.member, is_made=is_made)
        dumped = Dump(self.world, "Mixed", frozenset(excluded), is_part=True).tree(found)
        return found, frozen(dumped, self.world.limits)


class Stage(Code):
    """What contracts and defaults of properties see.

    Attributes:
        loading: what loads the model.
    """

    loading: Loader

    @property
    def owner(self) -> Instance | None:
        """The object itself."""
        return self.this if isinstance(self.this, Instance) else None

    def model(self) -> Loader:
        """What loads the model."""
        return self.loading
