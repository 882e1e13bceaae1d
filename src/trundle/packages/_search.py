"""Finds releases that meet all wishes, or proves that there are none and says why.

Packages are decided one after the other, and each takes its best release that contradicts no decision. Where no release of
a package is left, the decisions with a part in that are remembered as a combination that cannot be, and the search goes
back to the last of them (conflict-directed backjumping, P. Prosser, 1993, with learning, as SAT solvers do). So the
search is complete, repeats no failure, and knows the causes of each.

The rules:

- A *need* is a requirement with its owner: a chosen release, or the request.
- A *level* is a package that is being decided. It fails when none of its releases is left.
- The *culprits* of a failure are decided packages and wishes that cannot stay together as they are.
- A *clash* is a package of which no version serves all needs. Every failure comes down to clashes.

The versions of a package are bits of a number here, the oldest the lowest, since a search narrows choices all the time.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from trundle.packages._candidates import CandidateTable, Unusable, needs_of
from trundle.packages._conflict import Clash, Conflict, Side
from trundle.packages._lock import Release
from trundle.packages._model import Requirement
from trundle.version import SemVer

MOST_STEPS = 20_000
"""After how many tried releases a search is given up."""


class Impossible(msgspec.Struct, frozen=True):
    """No releases meet all wishes.

    Attributes:
        conflict: why not.
        wishes: the names of wishes that cannot be met together; of all wishes where the search was given up.
    """

    conflict: Conflict
    wishes: frozenset[str]


class Search:
    """One search, over the releases in a table.

    Args:
        table: the releases to choose from.
        wishes: what has to be met, at most one for each package. These packages are decided before others.
        prereleases: whether pre-releases that no range asks for may be chosen, too.
    """

    def __init__(
        self, table: CandidateTable, wishes: Iterable[Requirement], *, prereleases: bool
    ) -> None:
        self._table = table
        self._prereleases = prereleases
        self._wishes = {each.name: each for each in wishes}
        self._chosen: dict[str, Release] = {}
        self._levels: list[_Level] = []
        self._needs: dict[str, list[_Need]] = {}
        self._learned: dict[tuple[str, SemVer], list[_Learned]] = {}
        self._failed: Counter[str] = Counter()
        self._steps = 0
        for wish in self._wishes.values():
            self._need(None, wish)

    def run(self) -> tuple[Release, ...] | Impossible:
        """Searches.

        Returns:
            The releases that the wishes need, each package once; or why there are none.
        """
        while (name := self._next()) is not None:
            self._levels.append(_Level(name, self._best_first(name, self._needs[name])))
            while not self._advance(self._levels[-1]):
                failure = self._failure(self._levels.pop())
                if self._steps > MOST_STEPS:
                    return self._gave_up(failure)
                if not self._jump_back(failure):
                    return self._impossible(failure)
        return tuple(self._chosen.values())

    def _next(self) -> str | None:
        """The next package to decide; None when all are decided.

        First those without a choice, then those that failed most often, then the wished ones, then by name.
        """
        undecided = (name for name in self._needs if name not in self._chosen)
        return min(undecided, key=self._rank, default=None)

    def _rank(self, name: str) -> tuple[bool, int, bool, str]:
        _, choice = self._choice(name, self._needs[name])
        return choice.bit_count() > 1, -self._failed[name], name not in self._wishes, name

    def _need(self, owner: Release | None, requirement: Requirement) -> None:
        need = _Need(owner, requirement, self._table.bits(requirement))
        self._needs.setdefault(requirement.name, []).append(need)

    def _choice(self, name: str, needs: Iterable["_Need"]) -> tuple[int, int]:
        """The versions of a package that may be chosen for all of some needs: those to try first, and all."""
        bits, named = -1, False
        for need in needs:
            bits &= need.bits
            named |= need.requirement.range.names_prerelease
        first = bits if named else self._table.preferred(name, bits)
        return first, bits if self._prereleases else first

    def _best_first(self, name: str, needs: Iterable["_Need"]) -> Iterator[Release]:
        return self._table.usable(name, *self._choice(name, needs))

    def _advance(self, level: "_Level") -> bool:
        """Takes the next release of a package that contradicts no decision."""
        for release in level.releases:
            self._steps += 1
            if self._steps > MOST_STEPS:
                return False
            objection = self._objection(release)
            if objection is None:
                self._chosen[release.name] = release
                for each in needs_of(release):
                    self._need(release, each)
                return True
            level.failures.append(objection)
        return False

    def _objection(self, release: Release) -> "_Failure | None":
        """What a release contradicts; None if it contradicts nothing."""
        for each in needs_of(release):
            needs = [
                *self._needs.get(each.name, ()),
                _Need(release, each, self._table.bits(each)),
            ]
            if next(self._best_first(each.name, needs), None) is None:
                clash = self._enough(each.name, needs)
                return _Failure(_culprits(clash) - {release.name}, clash=clash)
            other = self._chosen.get(each.name)
            if other and other.version not in each.range:
                return _Failure(frozenset([each.name]))
        for learned in self._learned.get((release.name, release.version), ()):
            if learned.holds(self._chosen, but=release.name):
                return _Failure(
                    learned.failure.culprits - {release.name}, causes=(learned.failure,)
                )
        return None

    def _enough(self, name: str, needs: Sequence["_Need"]) -> tuple["_Need", ...]:
        """As few needs of one package as leave no more to choose than all of them; the earliest."""
        useless = self._choice(name, needs)[1] | self._table.unusable(name)
        kept = list(needs)
        for each in reversed(needs):
            rest = [one for one in kept if one is not each]
            if rest and not self._choice(name, rest)[1] & ~useless:
                kept = rest
        return tuple(kept)

    def _failure(self, level: "_Level") -> "_Failure":
        """Why none of the releases of a package can be chosen."""
        self._failed[level.name] += 1
        needs = self._enough(level.name, self._needs[level.name])
        culprits = _culprits(needs).union(*(each.culprits for each in level.failures))
        clash = () if level.failures else needs
        return _Failure(culprits, clash=clash, causes=tuple(level.failures))

    def _undo(self, name: str) -> None:
        for each in needs_of(self._chosen.pop(name)):
            self._needs[each.name].pop()
            if not self._needs[each.name]:
                del self._needs[each.name]

    def _jump_back(self, failure: "_Failure") -> bool:
        """Undoes decisions back to the last one that has a part in a failure."""
        made = [self._chosen[name] for name in sorted(failure.culprits) if name in self._chosen]
        learned = _Learned(tuple((each.name, each.version) for each in made), failure)
        for choice in learned.choices:
            self._learned.setdefault(choice, []).append(learned)
        while self._levels:
            level = self._levels[-1]
            self._undo(level.name)
            if level.name in failure.culprits:
                level.failures.append(_Failure(failure.culprits - {level.name}, causes=(failure,)))
                return True
            self._levels.pop()
        return False

    def _impossible(self, failure: "_Failure") -> Impossible:
        wishes = frozenset(each.removeprefix(_REQUEST) for each in failure.culprits)
        return Impossible(Conflict(self._clashes(failure)), wishes)

    def _gave_up(self, failure: "_Failure") -> Impossible:
        conflict = Conflict(self._clashes(failure), gave_up=True)
        return Impossible(conflict, frozenset(self._wishes))

    def _clashes(self, failure: "_Failure") -> tuple[Clash, ...]:
        sides: dict[str, set[Side]] = {}
        for needs in failure.clashes():
            named = sides.setdefault(needs[0].requirement.name, set())
            named.update(Side(each.requirement, each.owner) for each in needs)
        return tuple(self._clash(name, sides[name]) for name in sorted(sides))

    def _clash(self, name: str, sides: Iterable[Side]) -> Clash:
        known = self._table.versions(name)[::-1]
        unusable = []
        for version in known:
            if all(version in side.requirement.range for side in sides):
                release = self._table.release(name, version)
                if isinstance(release, Unusable):
                    unusable.append((version, release.reason))
        newest_first = sorted(sides, key=lambda each: each.order, reverse=True)
        ordered = sorted(newest_first, key=lambda each: each.package)
        return Clash(name, tuple(ordered), known, tuple(unusable))


_REQUEST = "the request for "  # No name of a package has a space.


class _Need(NamedTuple):
    """A requirement with its owner.

    Attributes:
        owner: the release that has the requirement; None for a wish.
        requirement: the requirement.
        bits: the versions in its range.
    """

    owner: Release | None
    requirement: Requirement
    bits: int


def _culprits(needs: Iterable[_Need]) -> frozenset[str]:
    """The packages whose decisions some needs are, and the wishes."""
    return frozenset(
        each.owner.name if each.owner else _REQUEST + each.requirement.name for each in needs
    )


class _Failure:
    """Why something cannot be chosen.

    Attributes:
        culprits: the decided packages and the wishes that have a part in it.
        clash: needs of one package that no version of it serves; empty where other failures are the cause.
        causes: those failures.
    """

    def __init__(
        self,
        culprits: frozenset[str],
        *,
        clash: tuple[_Need, ...] = (),
        causes: tuple["_Failure", ...] = (),
    ) -> None:
        self.culprits = culprits
        self.clash = clash
        self.causes = causes

    def clashes(self) -> Iterator[tuple[_Need, ...]]:
        """All the clashes that it comes down to, each once."""
        seen: set[int] = set()
        waiting = [self]
        while waiting:
            failure = waiting.pop()
            if id(failure) not in seen:
                seen.add(id(failure))
                waiting += failure.causes
                if failure.clash:
                    yield failure.clash


class _Learned(NamedTuple):
    """Choices that cannot be made together, and why."""

    choices: tuple[tuple[str, SemVer], ...]
    failure: _Failure

    def holds(self, chosen: dict[str, Release], *, but: str) -> bool:
        """Whether all of the choices are made, or would be with the one package that is not decided yet."""
        return all(
            name == but or (name in chosen and chosen[name].version == version)
            for name, version in self.choices
        )


class _Level:
    """A package that is being decided.

    Attributes:
        name: the package.
        releases: those that have not been tried yet, the best first.
        failures: why each of those tried so far cannot be chosen.
    """

    def __init__(self, name: str, releases: Iterator[Release]) -> None:
        self.name = name
        self.releases = releases
        self.failures: list[_Failure] = []
