"""What the package language needs of objects and types, and what it offers to them; one module between both.

Expressions and contracts are compiled without knowing any object. When they run, they get a *scene*: whose code it
is, which object it is about, and how objects are found, loaded and dumped.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Protocol

from trundle.version import SemVer


class NotYet(BaseException):
    """Raised by `Scene.find` for an object that a model which is still loading may have elsewhere; then all is tried again."""


class NotYetHere(NotYet):
    """Raised where it concerns one part of a value, and what stands beside that is worth trying: it may be the object."""


class TypeValue:
    """Base of what `ns:Type` yields: one class, in one version or, before a version is chosen, by requirement."""

    __slots__ = ()

    @property
    @abstractmethod
    def name(self) -> str:
        """The full name of the class."""

    @property
    def methods(self) -> Mapping[str, Any]:
        """Its methods by name."""
        return {}

    @property
    def called(self) -> "Mapping[str, Callee]":
        """The methods that code has called on its objects; `Scene.method` finds all others."""
        return {}

    @abstractmethod
    def read(self, name: str, scene: "Scene") -> Any:
        """The value of a static property.

        Raises:
            EngineError: there is no such property, or it has no value yet.
        """


class ObjectValue:
    """Base of objects, and of objects cast to one of their classes; equal and hashed by the identity of the object."""

    __slots__ = ()

    @property
    @abstractmethod
    def id(self) -> str:
        """The object's id."""

    @property
    @abstractmethod
    def type(self) -> TypeValue:
        """The object's class."""

    @property
    @abstractmethod
    def owner(self) -> "ObjectValue | None":
        """The object that owns it; None for a root."""

    @abstractmethod
    def read(self, name: str, scene: "Scene") -> Any:
        """The value of a property, as the code of a scene sees it.

        Raises:
            EngineError: there is no such property, it has no value yet, or several classes declare it.
        """


class WholeObject(ObjectValue):
    """Base of objects that are not cast, whose class alone says what names mean on them."""

    __slots__ = ()


class Callee(Protocol):
    """A method that code has found by its name."""

    def call(
        self,
        receiver: Any,
        values: Sequence[Any],
        named: Mapping[str, Any],
        caller: "Scene | None" = None,
    ) -> Any:
        """Calls it.

        Args:
            receiver: the value for which it was looked up.
            values: values by position, as `freeze` makes them.
            named: values by name.
            caller: the code that calls it; None from outside.
        """


class Meter(Protocol):
    """What counts the steps of a run.

    Attributes:
        steps: how many may be taken before `more` is asked.
    """

    steps: int

    def more(self) -> None:
        """Lets the run go on.

        Raises:
            EngineError: it has taken all that it may, or too long.
        """
        ...


class Origin(Protocol):
    """Whose code it is: the class that declares it, for resolution and for messages."""

    @property
    def package(self) -> str:
        """The name of the package."""

    @property
    def version(self) -> SemVer | None:
        """The version of the package."""

    @property
    def class_name(self) -> str:
        """The full name of the class."""


class Scene(Protocol):
    """What code sees while it runs.

    Names of types are those of the class whose code it is: its namespaces, its package, its requirements.
    """

    @property
    def this(self) -> ObjectValue | TypeValue | None:
        """What `$this` is; None where there is no object."""

    @property
    def origin(self) -> Origin:
        """Whose code it is."""

    @property
    def functions(self) -> Mapping[str, Callable[..., Any]]:
        """Functions of the operator, by name; the language's own win."""

    @property
    def world(self) -> Meter | None:
        """What counts its steps; None where there are no objects, and no steps are counted."""

    def method(self, receiver: Any, name: str) -> Callee | None:
        """The method of an object or a type, or an extension method for any value; None where there is none.

        Raises:
            EngineError: several classes declare it.
        """

    def extension(self, name: str) -> str:
        """What to do about the call of an extension method that does not take the value, or is not imported; empty where there is none of that name."""

    def builtin(self, name: str) -> Callable[..., Any]:
        """A function of the engine, such as `new`."""

    def resolve(self, name: str) -> TypeValue:
        """The type that a name stands for: `Type`, `:Type`, `prefix:Type` or `a.b.Type`.

        Raises:
            EngineError: the prefix or the class is unknown, or only packages outside of the requirements have it.
        """

    def is_instance(self, value: ObjectValue, type_: TypeValue, spec: str | None = None) -> bool:
        """Whether an object is of a type, in a version that the requirement of the code's package takes.

        Args:
            value: the object.
            type_: the type.
            spec: a version spec in place of that requirement.
        """

    def mismatch(
        self, value: ObjectValue, type_: TypeValue, spec: str | None = None
    ) -> tuple[str, ...]:
        """The requirements that chose two versions which do not fit, for messages.

        Args:
            value: an object that is not of the type.
            type_: the type.
            spec: a version spec in place of the requirement.

        Returns:
            Each as `app/1.0.0 requires lib 1.2`; empty where versions are not the reason.
        """

    def load(self, model: Mapping[Any, Any], default: TypeValue, spec: str | None) -> ObjectValue:
        """Loads a map of a model as an object; its owner is `this` for a property, none for an argument.

        Args:
            model: the map.
            default: its type where it has no type information.
            spec: the version spec for that type, in place of the requirement.

        Raises:
            EngineError: the map is no such object.
        """

    def find(self, identifier: str) -> ObjectValue | None:
        """The object with an id; None where there is none.

        Raises:
            NotYet: a model that is still loading may have it elsewhere.
        """

    def template(
        self,
        value: Mapping[Any, Any] | ObjectValue,
        default: TypeValue,
        excluded: AbstractSet[str],
        *,
        is_made: bool = False,
    ) -> tuple[ObjectValue, Mapping[str, Any]]:
        """An object as a model: a map is loaded on trial, and stays no part of the session.

        Args:
            value: a map of a model, or an object.
            default: the type of a map without type information.
            excluded: properties, as names or dotted paths, that are neither validated nor kept.
            is_made: whether a contract made the map already: what it lacks was left out there, and gets no default.

        Returns:
            The object, for the check of its type, and its model with types as `TypeValue`.

        Raises:
            EngineError: the map is no such object.
        """
