"""A complete search, for when the resolver of `resolvelib` finds nothing: that one may give up although there is an answer.

Packages are decided one after the other, the one with the fewest versions left first. Where none of these will do, the
search goes back to the last decision that has a part in the failure (conflict-directed backjumping, P. Prosser, 1993),
so decisions that have nothing to do with it are not tried again.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from trundle.packages._lock import Release
from trundle.packages._model import Requirement
from trundle.packages._provider import Shelf, needs_of
from trundle.version import SemVer, VersionRange

MOST_STEPS = 50_000
"""After how many tried releases a search is given up."""


class GaveUpError(Exception):
    """The search took too many steps."""


class ExactSearch:
    """Finds releases that meet all wishes, if there are any."""

    def __init__(self, shelf: Shelf, wishes: Iterable[Requirement], *, prereleases: bool) -> None:
        self.shelf = shelf
        self.prereleases = prereleases
        self.chosen: dict[str, Release] = {}
        self.levels: list[_Level] = []
        self.needs: dict[str, list[_Need]] = {}
        self.steps = 0
        for wish in wishes:
            self._need("", wish)

    def run(self) -> tuple[Release, ...] | None:
        """Searches.

        Returns:
            The releases; None if no releases meet all wishes.

        Raises:
            GaveUpError: neither was found out in the steps allowed.
        """
        while (name := self._next()) is not None:
            self.levels.append(_Level(name, self.needs[name]))
            while not self._advance(self.levels[-1]):
                if not self._jump_back():
                    return None
        return tuple(self.chosen.values())

    def _next(self) -> str | None:
        """The undecided package that leaves the least choice; None when all are decided."""
        undecided = (name for name in self.needs if name not in self.chosen)
        return min(
            undecided, key=lambda name: (len(self.needs[name][-1].versions), name), default=None
        )

    def _narrowed(self, requirement: Requirement) -> tuple[VersionRange, tuple[SemVer, ...]]:
        """What is left of a package when a requirement comes to those there are."""
        needs = self.needs.get(requirement.name)
        allowed = needs[-1].allowed & requirement.range if needs else requirement.range
        name = requirement.name
        return allowed, self.shelf.fitting(name, allowed, prereleases=self.prereleases)

    def _need(self, who: str, requirement: Requirement) -> None:
        need = _Need(who, *self._narrowed(requirement))
        self.needs.setdefault(requirement.name, []).append(need)

    def _advance(self, level: "_Level") -> bool:
        """Takes the next release of a package that agrees with what is decided."""
        for release in level.releases(self.shelf):
            self.steps += 1
            if self.steps > MOST_STEPS:
                raise GaveUpError
            culprits = self._objections(release)
            if culprits is None:
                self.chosen[release.name] = release
                for each in needs_of(release):
                    self._need(release.name, each)
                return True
            level.culprits.update(culprits)
        return False

    def _objections(self, release: Release) -> set[str] | None:
        """Whose decisions a release contradicts; None if it contradicts nothing."""
        for each in needs_of(release):
            other = self.chosen.get(each.name)
            if other and other.version not in each.range:
                return {each.name}
            if not other:
                _, versions = self._narrowed(each)
                if next(self.shelf.usable(each.name, versions), None) is None:
                    return {need.who for need in self.needs.get(each.name, ())}
        return None

    def _undo(self, name: str) -> None:
        for each in needs_of(self.chosen.pop(name)):
            self.needs[each.name].pop()
            if not self.needs[each.name]:
                del self.needs[each.name]

    def _jump_back(self) -> bool:
        """Leaves the last level, goes back to the last one that has a part in its failure, and undoes its decision."""
        culprits = self.levels.pop().culprits
        while self.levels:
            level = self.levels[-1]
            self._undo(level.name)
            if level.name in culprits:
                level.culprits.update(culprits - {level.name})
                return True
            self.levels.pop()
        return False


class _Need(NamedTuple):
    """A requirement with what is left after it.

    Attributes:
        who: the package that requires it; the empty name stands for the wishes.
        allowed: the range of this and all earlier requirements of the same package.
        versions: the versions in it, the best first.
    """

    who: str
    allowed: VersionRange
    versions: tuple[SemVer, ...]


class _Level:
    """A package that is being decided.

    Attributes:
        name: the package.
        culprits: the packages whose decisions have a part in what failed so far: those that narrowed the choice, and
            those that stood against a release.
    """

    def __init__(self, name: str, needs: Sequence[_Need]) -> None:
        self.name = name
        self.culprits = {each.who for each in needs}
        self._versions = iter(needs[-1].versions)

    def releases(self, shelf: Shelf) -> Iterator[Release]:
        """The releases that have not been tried yet, the best first."""
        return shelf.usable(self.name, self._versions)
