"""What changed about a method and its arguments."""

from collections.abc import Iterator, Mapping

from trundle.engine._declarations import (
    INITIALIZER,
    ArgumentDeclaration,
    ClassDeclaration,
    MethodDeclaration,
)
from trundle.engine._written import shortened
from trundle.engine.changes._releases import Contracted, Releases
from trundle.packages import ChangeCode, Level, ReleaseChange, judged, major, minor

NOTHING = MethodDeclaration("", "Runtime", False, (), None, None, 0)
"""A method that does nothing, which a class without `.init` has in its place."""


class Methods:
    """Compares a method of two releases.

    Args:
        place: what messages call it, as `a.App.scale`.
        releases: the releases.
        before: the class and the method in the earlier one.
        now: the class and the method in the later one.
    """

    def __init__(
        self,
        place: str,
        releases: Releases,
        before: tuple[ClassDeclaration, MethodDeclaration],
        now: tuple[ClassDeclaration, MethodDeclaration],
    ) -> None:
        self._place = place
        self._releases = releases
        self._owner, self._old = before
        self._later, self._new = now
        self._is_initializer = INITIALIZER in (self._old.name, self._new.name)

    def changes(self) -> Iterator[ReleaseChange]:
        """What changed about it."""
        place, old, new = f"{self._place}()", self._old, self._new
        ours, theirs = _usage(old), _usage(new)
        if ours != theirs:
            level = Level.MINOR if (ours, theirs) == ("Runtime", "Static") else Level.MAJOR
            text = f"its usage was {ours} and is {theirs}"
            yield ReleaseChange(place, ChangeCode.METHOD_USAGE, text, level)
        if old.is_public and not new.is_public:
            text = "it can no longer be called from outside of the package language"
            yield major(ChangeCode.METHOD_SCOPE, place, text)
        elif new.is_public and not old.is_public:
            text = "it can be called from outside of the package language"
            yield minor(ChangeCode.METHOD_SCOPE, place, text)
        yield from self._arguments()
        if not self._is_same("body"):
            is_inherited = self._owner.name != self._later.name
            text = f"it is that of {self._later.name} now" if is_inherited else "its body changed"
            yield judged(ChangeCode.BODY, place, f"{text}; look at what it does")
        if not self._is_same("meta"):
            yield judged(ChangeCode.META, place, "its meta says something else")

    def _is_same(self, part: str) -> bool:
        old, new = getattr(self._old, part), getattr(self._new, part)
        return self._releases.is_same(self._owner, old, self._later, new)

    def _arguments(self) -> Iterator[ReleaseChange]:
        old = {each.name: each for each in self._old.arguments}
        new = {each.name: each for each in self._new.arguments}
        for name in old:
            if name not in new:
                yield major(ChangeCode.ARGUMENT_REMOVED, self._at(name), "the argument is removed")
        for name, each in new.items():
            if name not in old:
                yield self._added(each)
        yield from self._moved(old, new)
        for name, each in new.items():
            if name in old:
                yield from self._argument(old[name], each)

    def _at(self, name: str) -> str:
        return f"{self._place}({name})"

    def _added(self, new: ArgumentDeclaration) -> ReleaseChange:
        place = self._at(new.name)
        if new.usage != "Standard" or new.has_default:
            return minor(ChangeCode.ARGUMENT_ADDED, place, "the argument is new")
        return self._required(new) or minor(ChangeCode.ARGUMENT_ADDED, place, "the argument is new")

    def _required(self, new: ArgumentDeclaration) -> ReleaseChange | None:
        """The change where an argument without a default must be given; None where it may be left out."""
        place, code = self._at(new.name), ChangeCode.ARGUMENT_REQUIRED
        if not self._is_initializer:
            return major(code, place, "the argument must be given: it has no default")
        is_optional = self._releases.takes_null(Contracted(self._later, new, self._new.name))
        text = (
            f"models must give it: it has no default, and its contract `{shortened(new.contract)}`"
        )
        if is_optional is None:
            text = f"look whether {text} refuses null"
            return ReleaseChange(place, code, text, Level.MINOR, judge=True)
        return None if is_optional else major(code, place, f"{text} refuses null")

    def _moved(
        self, old: Mapping[str, ArgumentDeclaration], new: Mapping[str, ArgumentDeclaration]
    ) -> Iterator[ReleaseChange]:
        """Arguments that have another place; those of `.init` are given by name."""
        if self._is_initializer or old.keys() - new.keys():
            return
        ours, theirs = (
            [name for name, each in found.items() if each.usage == "Standard"]
            for found in (old, new)
        )
        moved = [name for name in ours if name in theirs and ours.index(name) != theirs.index(name)]
        if moved:
            text = f"arguments that are given by position have another place: {', '.join(moved)}"
            yield major(ChangeCode.ARGUMENTS_MOVED, f"{self._place}()", text)

    def _argument(
        self, old: ArgumentDeclaration, new: ArgumentDeclaration
    ) -> Iterator[ReleaseChange]:
        place, releases = self._at(new.name), self._releases
        if old.usage != new.usage:
            text = f"its usage was {old.usage} and is {new.usage}"
            yield major(ChangeCode.ARGUMENT_USAGE, place, text)
        yield from releases.contract_changes(
            place,
            Contracted(self._owner, old, self._old.name),
            Contracted(self._later, new, self._new.name),
        )
        required = self._required(new) if old.has_default and not new.has_default else None
        if required:
            yield required
        elif new.has_default and not old.has_default:
            text = f"the argument may be left out: its default is `{shortened(new.default)}`"
            yield minor(ChangeCode.ARGUMENT_OPTIONAL, place, text)
        elif old.has_default != new.has_default or not releases.is_same(
            self._owner, old.default, self._later, new.default
        ):
            words = f"its default was `{shortened(old.default)}` and is `{shortened(new.default)}`"
            yield judged(ChangeCode.DEFAULT_CHANGED, place, words)


def _usage(method: MethodDeclaration) -> str:
    return "Runtime" if method.usage == "Action" else method.usage
