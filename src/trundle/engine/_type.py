"""A class of a package in one version."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from trundle.engine._declarations import (
    ClassDeclaration,
    MethodDeclaration,
    MethodUsage,
    PropertyDeclaration,
    PropertyUsage,
)
from trundle.engine._errors import UNKNOWN_PREFIX, EngineCode, EngineError
from trundle.engine._lineage import Lineage
from trundle.engine._lock import Edge
from trundle.engine._scene import Callee, Scene, TypeValue
from trundle.engine.schemas import class_json_schema, class_schema
from trundle.errors import did_you_mean, expectation, shown
from trundle.packages import Package
from trundle.schema import Schema

ROOT_CLASS = "io.murano.Object"
"""The class that all others descend from; it has no parent."""


class Type(TypeValue):
    """A class of a package in one version, as one session sees it; in a session, there is one object for each.

    Attributes:
        version: the version of its package.
        package: the name of its package.
        source: its package.
        declaration: what its file says.
        plain: where its objects keep the declared properties that were read of them; not static ones.
        called: the methods that code has called on its objects.
    """

    __slots__ = (
        "__dict__",
        "_name",
        "called",
        "declaration",
        "package",
        "plain",
        "source",
        "version",
    )

    def __init__(
        self,
        source: Package,
        declaration: ClassDeclaration,
        edges: Callable[["Type"], Sequence[Edge]],
        lineage: Callable[["Type"], Lineage["Type"]],
        read_static: Callable[["Type", str], Any],
    ) -> None:
        self._name = declaration.name
        self.version = source.version
        self.package = source.name
        self.source = source
        self.declaration = declaration
        self.plain: dict[str, Any] = {}
        self.called: dict[str, Callee] = {}
        self._find_edges = edges
        self._find_lineage = lineage
        self._read_static = read_static

    @property
    def name(self) -> str:
        """Its full name."""
        return self._name

    @property
    def class_name(self) -> str:
        """Its full name."""
        return self._name

    def read(self, name: str, scene: Scene) -> Any:  # noqa: ARG002 - anyone may read it
        """The value of a static property."""
        return self.static(name)

    def static(self, name: str) -> Any:
        """The value of a static property, in this session.

        Raises:
            EngineError: there is no such property.
        """
        return self._read_static(self, name)

    @property
    def label(self) -> str:
        """How models spell it: `a.B/1.2.3@package`."""
        return f"{self._name}/{self.version}@{self.package}"

    @property
    def is_meta(self) -> bool:
        """Whether its objects describe other things."""
        return self.declaration.usage == "Meta"

    @functools.cached_property
    def edges(self) -> Sequence[Edge]:
        """How it gets to its parents."""
        return self._find_edges(self)

    @functools.cached_property
    def lineage(self) -> Lineage["Type"]:
        """It and its ancestors."""
        return self._find_lineage(self)

    @functools.cached_property
    def own_members(self) -> Mapping[str, object]:
        """What it declares itself: properties by name, methods by name with `()` after it."""
        methods = {method_key(name): each for name, each in self.declaration.methods.items()}
        return {**self.declaration.properties, **methods}

    @property
    def parents(self) -> tuple["Type", ...]:
        """Its parents, in the order in which they are written."""
        return self.lineage.parents[self]

    @property
    def ancestors(self) -> tuple["Type", ...]:
        """All that it descends from, in lookup order."""
        return self.lineage.order[1:]

    @functools.cached_property
    def properties(self) -> Mapping[str, "Property"]:
        """Its properties by name, inherited ones included; of several that are ambiguous, the first in lookup order."""
        names = (each for each in self.lineage.members if not each.endswith("()"))
        found = {name: self.lineage.winners(name)[0] for name in names}
        return MappingProxyType({name: Property.of(each, name) for name, each in found.items()})

    @functools.cached_property
    def methods(self) -> Mapping[str, "Method"]:
        """Its methods by name, in the same way."""
        keys = [each for each in self.lineage.members if each.endswith("()")]
        found = {each[:-2]: self.lineage.winners(each)[0] for each in keys}
        return MappingProxyType({name: Method.of(each, name) for name, each in found.items()})

    @functools.cached_property
    def schema(self) -> Schema:
        """What models give to its objects: inputs with contracts and defaults, and its parents; its version is an API version."""
        return class_schema(self)

    def json_schema(self) -> dict[str, Any]:
        """The JSON Schema of the maps that stand for its objects; what JSON Schema cannot say is left out."""
        return class_json_schema(self)

    def winners(self, key: str, start: "Type | None" = None) -> tuple["Type", ...]:
        """The classes whose declaration of a member counts; several where it is ambiguous.

        Args:
            key: the name of a property, or that of a method with `()` after it.
            start: the ancestor where the lookup starts; the class itself where None.
        """
        return self.lineage.winners(key, start)

    def descends_from(self, other: "Type") -> bool:
        """Whether it is a class or a child of it."""
        return self.lineage.includes(other)

    def full_name(self, name: str) -> str:
        """The full name that a name in the code of this class stands for.

        Raises:
            EngineError: its prefix is not declared.
        """
        names = self.declaration.names
        try:
            return names.full(name)
        except KeyError as error:
            (prefix,) = error.args
            known = [each for each in names.prefixes if each != "="]
            raise self.error(
                EngineCode.NO_CLASS,
                expectation("a declared prefix", f"{shown(prefix)} in {shown(name)}"),
                advice=did_you_mean(prefix, known, "declare it under `Namespaces`"),
                names=UNKNOWN_PREFIX,
            ) from None

    def error(self, code: EngineCode, message: str, **about: Any) -> EngineError:
        """An error about this class, at its place unless another one is given; the statement in which it arises takes that place."""
        error = EngineError(
            code,
            message,
            package=self.package,
            version=self.version,
            class_name=self.name,
            **{"file": self.declaration.file, "line": self.declaration.line, **about},
        )
        error.is_at_class = not about.keys() & {"file", "line"}
        return error

    def __str__(self) -> str:
        return self.label

    def __repr__(self) -> str:
        return f"<type {self.label}>"


def method_key(name: str) -> str:
    """The key of a method among the members of a class."""
    return f"{name}()"


@dataclass(frozen=True, slots=True)
class Property:
    """A property of a class.

    Attributes:
        name: its name.
        usage: when it gets its value, and who may change it.
        has_default: whether it has a default.
        declaring_type: the class that declares it.
        declaration: what that class's file says.
    """

    name: str
    usage: PropertyUsage
    has_default: bool
    declaring_type: Type
    declaration: PropertyDeclaration

    @classmethod
    def of(cls, declaring: Type, name: str) -> "Property":
        """The property that a class declares."""
        found = declaring.declaration.properties[name]
        return cls(name, found.usage, found.has_default, declaring, found)


@dataclass(frozen=True, slots=True)
class Method:
    """A method of a class.

    Attributes:
        name: its name.
        usage: what it is called on.
        is_public: whether it may be called from outside of the package language.
        arguments: the names of its arguments.
        waits: whether it is a function of Python that waits for something outside of the process.
        declaring_type: the class that declares it.
        declaration: what that class's file says.
    """

    name: str
    usage: MethodUsage
    is_public: bool
    arguments: tuple[str, ...]
    waits: bool
    declaring_type: Type
    declaration: MethodDeclaration

    @classmethod
    def of(cls, declaring: Type, name: str) -> "Method":
        """The method that a class declares."""
        found = declaring.declaration.methods[name]
        arguments = tuple(each.name for each in found.arguments)
        return cls(name, found.usage, found.is_public, arguments, found.waits, declaring, found)
