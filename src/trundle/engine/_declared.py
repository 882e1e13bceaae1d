"""The classes of one release as their files declare them, without the packages that they require."""

from collections.abc import Iterable, Mapping
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
from trundle.engine._sources import Sources, compile_declared
from trundle.engine._type import ROOT_CLASS
from trundle.engine.contracts import Contract
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

    Args:
        package: the release.
        among: packages that may be what it requires; classes of theirs are known, too.

    Attributes:
        package: the release.
        unreadable: why classes cannot be read, by their names.
    """

    def __init__(self, package: Package, among: Iterable[Package] = ()) -> None:
        self.package = package
        self.required = required_packages(package, among)
        self.unreadable: dict[str, EngineError] = {}
        self._classes: dict[str, ClassDeclaration] = {}
        self._others: dict[str, ClassDeclaration | None] = {}
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
        """A class of the release, of what it requires, or of what Trundle brings along; None for any other class."""
        return self._classes.get(name) or core_class(name) or self._required_class(name)

    def _required_class(self, name: str) -> ClassDeclaration | None:
        if name not in self._others:
            package = next((each for each in self.required if name in each.classes), None)
            try:
                found = None if package is None else Sources(Limits()).declaration(package, name)
            except EngineError:
                found = None
            self._others[name] = found
        return self._others[name]

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
        return compile_declared(self.package, owner, declared, member).contract


def required_packages(package: Package, among: Iterable[Package]) -> tuple[Package, ...]:
    """What a package requires, and what that requires, as far as it is among some packages: the newest that fits."""
    known: dict[str, list[Package]] = {}
    for each in among:
        known.setdefault(each.name, []).append(each)
    found: list[Package] = []
    for each in (queue := [package]):
        for requirement in each.requirements:
            versions = {one.version: one for one in known.get(requirement.name, ())}
            version = requirement.range.choose(versions)
            if version is None or requirement.name == each.name or versions[version] in found:
                continue
            found.append(versions[version])
            queue.append(versions[version])
    return tuple(found)


@cache
def core_class(name: str) -> ClassDeclaration | None:
    """A class that comes with Trundle; None for any other."""
    for package in core_packages():
        if name in package.classes:
            return Sources(Limits()).declaration(package, name)
    return None
