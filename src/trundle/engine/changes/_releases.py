"""Two releases of a package beside each other, and the contracts in them compared."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from trundle.engine._declarations import (
    ArgumentDeclaration,
    ClassDeclaration,
    PropertyDeclaration,
)
from trundle.engine._declared import Declared
from trundle.engine._errors import EngineError
from trundle.engine._mentions import named_types
from trundle.engine._nodes import Node
from trundle.engine._written import same, shortened
from trundle.engine.changes._ranges import covers
from trundle.engine.contracts import Difference, differences, takes_null
from trundle.packages import ChangeCode, Level, ReleaseChange
from trundle.version import VersionRange, VersionSyntaxError

_CODES = {
    "refused": (ChangeCode.CONTRACT_NARROWED, Level.MAJOR, "the contract {} no longer accepts"),
    "turned": (ChangeCode.CONTRACT_CHANGED, Level.MAJOR, "by the contract {}"),
    "admitted": (ChangeCode.CONTRACT_WIDENED, Level.MINOR, "the contract {} now accepts"),
    "unclear": (ChangeCode.CONTRACT_CHANGED, Level.PATCH, "the contract is {} now; look at"),
}


@dataclass(frozen=True, slots=True)
class Contracted:
    """A property, or an argument of a method.

    Attributes:
        owner: the class that declares it.
        declared: what it declares.
        member: the method; empty for a property.
    """

    owner: ClassDeclaration
    declared: PropertyDeclaration | ArgumentDeclaration
    member: str = ""


@dataclass(frozen=True, slots=True)
class Releases:
    """Two releases of a package.

    Attributes:
        before: the earlier one.
        now: the later one.
    """

    before: Declared
    now: Declared

    def descends(self, child: str, parent: str) -> bool | None:
        """Whether a class has another one among its ancestors; by the later release where that has the class."""
        known = self.now if self.now.find(child) is not None else self.before
        return known.descends(child, parent)

    def contract_changes(
        self,
        place: str,
        before: Contracted,
        now: Contracted,
    ) -> Iterator[ReleaseChange]:
        """What changed in the contract of a property or an argument."""
        if self.is_same(before.owner, before.declared.contract, now.owner, now.declared.contract):
            return
        text = f"`{shortened(now.declared.contract)}`"
        try:
            contracts = (
                self.before.contract(before.owner, before.declared, before.member),
                self.now.contract(now.owner, now.declared, now.member),
            )
            found = differences(*contracts, _Types(self, before.owner, now.owner))
        except EngineError:
            found = (Difference("unclear", "what it accepts; it cannot be read in both releases"),)
        for effect, (code, level, words) in _CODES.items():
            about = [each.text for each in found if each.effect == effect]
            if about:
                said = f"{words.format(text)} {'; '.join(about)}"
                yield ReleaseChange(place, code, said, level, judge=effect == "unclear")

    def takes_null(self, found: Contracted) -> bool | None:
        """Whether a property or argument of the later release may be left out; None where that is not known."""
        try:
            contract = self.now.contract(found.owner, found.declared, found.member)
        except EngineError:
            return None
        return takes_null(contract, found.owner.names.full)

    def is_same(
        self,
        owner: ClassDeclaration,
        node: Node | None,
        other_owner: ClassDeclaration,
        other: Node | None,
    ) -> bool:
        """Whether two parts of class files say the same, the classes that they name included."""
        return same(node, other) and _named(owner, node) == _named(other_owner, other)


@dataclass(frozen=True, slots=True)
class _Types:
    """What is known of the classes that two contracts name."""

    releases: Releases
    owner: ClassDeclaration
    later: ClassDeclaration

    def before(self, name: str) -> str:
        return self.owner.names.full(name)

    def now(self, name: str) -> str:
        return self.later.names.full(name)

    def descends(self, child: str, parent: str) -> bool | None:
        return self.releases.descends(child, parent)

    def covers(self, versions: str, others: str) -> bool | None:
        try:
            ours, theirs = (VersionRange.parse(json.loads(each)) for each in (versions, others))
        except (ValueError, TypeError, VersionSyntaxError):
            return None
        return covers(ours, theirs)


def _named(owner: ClassDeclaration, node: Node | None) -> list[str]:
    """The full names of the classes that a part of a class file names."""
    found = []
    for name in named_types(node, owner.file):
        try:
            found.append(owner.names.full(name))
        except KeyError:
            found.append(name)
    return found
