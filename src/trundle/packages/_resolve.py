"""Chooses the releases that belong together: one of each package, so that every requirement is met.

What is installed stays where it fits; else the newest release is taken. Pre-releases are only tried where a range asks for
them, or where nothing can be found without them. A wish that cannot be met together with the others is refused with the
reason, and the others go on. Nothing depends on the order in which wishes, versions or requirements are given.
"""

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

import msgspec
from resolvelib import BaseReporter, ResolutionImpossible, ResolutionTooDeep
from resolvelib.resolvers import RequirementInformation
from resolvelib.resolvers import Resolution as Search

from trundle.packages._conflict import Clash, Conflict, Side
from trundle.packages._exact import ExactSearch, GaveUpError
from trundle.packages._lock import Lock, Release, lock_of
from trundle.packages._model import Requirement
from trundle.packages._provider import Candidates, Provider, Shelf, Unusable, needs_of
from trundle.version import VersionRange

_MOST_ROUNDS = 1_000_000  # The conflicts end a search long before.
_MOST_CONFLICTS = 200  # Few searches come to this, and the complete one deals better with them.


class Refused(msgspec.Struct, frozen=True):
    """A wish that was not granted.

    Attributes:
        wish: the requirement.
        conflict: why not.
    """

    wish: Requirement
    conflict: Conflict

    def __str__(self) -> str:
        return "\n".join(f"{self.wish}: {line}" for line in str(self.conflict).splitlines())


class Resolution(msgspec.Struct, frozen=True):
    """What a resolution came to.

    Attributes:
        lock: the releases that belong together. A package whose wish is refused is in it as it is installed, or, where
            it is not installed and nobody else needs it, not at all.
        refused: the wishes that were not granted, in alphabetical order.
    """

    lock: Lock
    refused: tuple[Refused, ...]


def resolve(
    wishes: Iterable[Requirement],
    candidates: Candidates,
    installed: Mapping[str, Release] = MappingProxyType({}),
) -> Resolution:
    """Chooses a release for each wished package, and for everything that these need.

    Where wishes exclude each other, a package that is installed comes before one that is not, and then the
    alphabet decides. To change an installed package, wish for the range or the version that it should have.

    Args:
        wishes: what is wanted of each package that was asked for, those included that should stay as they are. Several
            for one package all hold.
        candidates: the packages to choose from.
        installed: the installed releases by name; they are kept where they fit, also if they are no candidates any more.
    """
    ranges: dict[str, VersionRange] = {}
    for wish in wishes:
        known = ranges.get(wish.name)
        ranges[wish.name] = wish.range if known is None else known & wish.range
    ordered = sorted(ranges, key=lambda name: (name not in installed, name))
    asked = _Wishes(Shelf(candidates, installed))
    refused: dict[str, Refused] = {}
    while True:
        # What is refused stays as it is, and the others must get along with that.
        staying = [
            _as_installed(installed[name])
            for name in ordered
            if name in refused and name in installed
        ]
        kept, _ = asked.grow(_Found(), staying)
        rest = [Requirement(name, ranges[name]) for name in ordered if name not in refused]
        kept, new = asked.grow(kept, rest)
        if not new:
            return Resolution(kept.lock, tuple(refused[name] for name in sorted(refused)))
        refused.update({each.wish.name: each for each in new})


def _as_installed(release: Release) -> Requirement:
    return Requirement(release.name, VersionRange.exactly(release.version))


class _Found(msgspec.Struct, frozen=True):
    """Requirements that can be met together, and how."""

    wishes: tuple[Requirement, ...] = ()
    lock: Lock = Lock()


class _Wishes:
    """Finds out what can be had together."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf

    def grow(self, base: _Found, wishes: Sequence[Requirement]) -> tuple[_Found, list[Refused]]:
        """Adds wishes to those that can be met, each in its turn unless it conflicts with those before it.

        Tries all at once, and halves where that fails: what can be had together, can be had in part. So few bad
        wishes among many cost few attempts.
        """
        if not wishes:
            return base, []
        together = (*base.wishes, *wishes)
        result = self._attempt(together)
        if isinstance(result, Lock):
            return _Found(together, result), []
        if len(wishes) == 1:
            return base, [Refused(wishes[0], result)]
        middle = len(wishes) // 2
        first, refused = self.grow(base, wishes[:middle])
        second, more = self.grow(first, wishes[middle:])
        return second, refused + more

    def _attempt(self, wishes: tuple[Requirement, ...]) -> Lock | Conflict:
        """Meets all wishes, if need be with pre-releases that nobody asked for."""
        result = self._run(wishes, prereleases=False)
        if isinstance(result, Conflict) and self.shelf.left_out:
            return self._run(wishes, prereleases=True)
        return result

    def _run(self, wishes: tuple[Requirement, ...], *, prereleases: bool) -> Lock | Conflict:
        reporter = _Reporter()
        provider = Provider(self.shelf, prereleases=prereleases)
        # Not by `Resolver`: what that one makes of the result recurses, and not always to an end.
        search = Search(provider, reporter)
        ordered = sorted(wishes, key=lambda each: each.name)
        try:
            state = search.resolve(ordered, max_rounds=_MOST_ROUNDS)
            found = _reachable(ordered, state.mapping)
            if _agree(ordered, found):
                return lock_of(found.values())
            causes = reporter.causes
        except ResolutionImpossible as error:
            causes = error.causes
        except (_TooManyConflictsError, ResolutionTooDeep):
            causes = reporter.causes
        # It may find nothing although there is something: https://github.com/sarugaku/resolvelib/issues/206
        try:
            exact = ExactSearch(self.shelf, ordered, prereleases=prereleases).run()
        except GaveUpError:
            return Conflict(self._clashes(causes), gave_up=True)
        return Conflict(self._clashes(causes)) if exact is None else lock_of(exact)

    def _clashes(
        self, causes: Iterable[RequirementInformation[Requirement, Release]]
    ) -> tuple[Clash, ...]:
        sides: dict[str, dict[Side, None]] = {}
        for cause in causes:
            named = sides.setdefault(cause.requirement.name, {})
            named[Side(cause.requirement, cause.parent)] = None
        return tuple(self._clash(name, tuple(sides[name])) for name in sorted(sides))

    def _clash(self, name: str, sides: tuple[Side, ...]) -> Clash:
        known = self.shelf.versions(name)[::-1]
        unusable = []
        for version in known:
            if all(version in side.requirement.range for side in sides):
                release = self.shelf.release(name, version)
                if isinstance(release, Unusable):
                    unusable.append((version, release.reason))
        newest_first = sorted(sides, key=lambda each: each.order, reverse=True)
        ordered = sorted(newest_first, key=lambda each: each.package)
        return Clash(name, tuple(ordered), known, tuple(unusable))


def _reachable(wishes: Iterable[Requirement], found: Mapping[str, Release]) -> dict[str, Release]:
    """The releases that the wishes lead to; others are left from what was tried."""
    reached: dict[str, Release] = {}
    waiting = [each.name for each in wishes]
    while waiting:
        name = waiting.pop()
        if name not in reached and name in found:
            reached[name] = found[name]
            waiting += [each.name for each in needs_of(found[name])]
    return reached


def _agree(wishes: Iterable[Requirement], found: Mapping[str, Release]) -> bool:
    """Whether releases meet the wishes and each other's requirements."""
    needs = itertools.chain(wishes, *(needs_of(each) for each in found.values()))
    return all(each.name in found and found[each.name].version in each.range for each in needs)


class _TooManyConflictsError(Exception):
    """A search that runs into one conflict after the other."""


class _Reporter(BaseReporter[Requirement, Release, str]):
    """Keeps the last conflict, and ends a search that has too many."""

    def __init__(self) -> None:
        self.causes: Collection[RequirementInformation[Requirement, Release]] = ()
        self.conflicts = 0

    def resolving_conflicts(
        self, causes: Collection[RequirementInformation[Requirement, Release]]
    ) -> None:
        self.causes = causes
        self.conflicts += 1
        if self.conflicts > _MOST_CONFLICTS:
            raise _TooManyConflictsError
