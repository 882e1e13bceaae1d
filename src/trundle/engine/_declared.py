"""The classes of one release as their files declare them, without the packages that they require."""

from collections.abc import Mapping
from functools import cache
from typing import Literal, NamedTuple, TypeAlias

from trundle.engine._core import core_packages
from trundle.engine._declarations import (
    DESTRUCTOR,
    INITIALIZER,
    ArgumentDeclaration,
    ClassDeclaration,
    MethodDeclaration,
    PropertyDeclaration,
)
from trundle.engine._errors import EngineError
from trundle.engine._limits import Limits
from trundle.engine._nodes import ScalarNode
from trundle.engine._sources import Sources, format_of
from trundle.engine._type import ROOT_CLASS
from trundle.engine.contracts import Contract, Where, compile_contract
from trundle.engine.expressions import code_of
from trundle.packages import Package

Kind: TypeAlias = Literal["properties", "methods"]
Declaration: TypeAlias = PropertyDeclaration | MethodDeclaration

OWN = (INITIALIZER, DESTRUCTOR)
"""Methods that a class does not inherit: those of its ancestors run as well."""


class Member(NamedTuple):
    """A member with the class that declares it.

    Attributes:
        owner: the class.
        declaration: the property or method.
    """

    owner: ClassDeclaration
    declaration: Declaration


class Declared:
    """The classes of a release.

    Attributes:
        package: the release.
        unreadable: why classes cannot be read, by their names.
    """

    def __init__(self, package: Package) -> None:
        self.package = package
        self.unreadable: dict[str, EngineError] = {}
        self._classes: dict[str, ClassDeclaration] = {}
        sources = Sources(Limits())
        for name in package.classes:
            try:
                self._classes[name] = sources.declaration(package, name)
            except EngineError as error:
                self.unreadable[name] = error

    @property
    def classes(self) -> Mapping[str, ClassDeclaration]:
        """The classes that can be read, by their full names."""
        return self._classes

    def find(self, name: str) -> ClassDeclaration | None:
        """A class of the release, or of those that Trundle brings along; None for any other class."""
        return self._classes.get(name) or _core_class(name)

    def parents(self, name: str) -> tuple[str, ...]:
        """The full names of the parents of a class that is known."""
        found = self.find(name)
        if found is None or name == ROOT_CLASS:
            return ()
        return found.parents or (ROOT_CLASS,)

    def ancestors(self, name: str) -> tuple[str, ...]:
        """The full names of a class and its ancestors, nearest first, as far as they are known."""
        found = {name: None}
        for each in (queue := [name]):
            new = [parent for parent in self.parents(each) if parent not in found]
            found |= dict.fromkeys(new)
            queue += new
        return tuple(found)

    def unknown(self, name: str) -> tuple[str, ...]:
        """The ancestors of a class that are neither in the release nor brought along by Trundle."""
        return tuple(each for each in self.ancestors(name) if self.find(each) is None)

    def descends(self, child: str, parent: str) -> bool | None:
        """Whether a class is another one, or has it among its ancestors; None where that is not known."""
        ancestors = self.ancestors(child)
        if parent in ancestors or parent == ROOT_CLASS:
            return True
        return None if any(self.find(each) is None for each in ancestors) else False

    def members(self, name: str, kind: Kind) -> dict[str, Member]:
        """The members of a class, inherited ones included as far as they are known; the nearest declaration of each."""
        found: dict[str, Member] = {}
        for each in self.ancestors(name):
            declaration = self.find(each)
            if declaration is not None:
                declared: Mapping[str, Declaration] = getattr(declaration, kind)
                for key, member in declared.items():
                    if each == name or key not in OWN:
                        found.setdefault(key, Member(declaration, member))
        return found

    def contract(
        self,
        owner: ClassDeclaration,
        declared: PropertyDeclaration | ArgumentDeclaration,
        member: str = "",
    ) -> Contract:
        """The contract of a property, or of an argument of a member.

        Raises:
            EngineError: it cannot be read.
        """
        name, argument = (member, declared.name) if member else (declared.name, "")
        where = Where(owner.name, name, argument, owner.file, declared.line)
        node = declared.contract or ScalarNode(None, "", declared.line)
        return compile_contract(
            code_of(node, owner.file), format_=format_of(self.package), where=where
        )


@cache
def _core_class(name: str) -> ClassDeclaration | None:
    for package in core_packages():
        if name in package.classes:
            return Sources(Limits()).declaration(package, name)
    return None
