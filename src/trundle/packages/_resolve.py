"""Chooses the releases that belong together: one of each package, so that every requirement is met.

What is installed stays where it fits; else the newest release is taken. Pre-releases are only tried where a range asks for
them, or where nothing can be found without them. A wish that cannot be met together with the others is refused with the
reason, and the others go on. Nothing depends on the order in which wishes, versions or requirements are given.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import msgspec

from trundle.packages._candidates import Candidates, CandidateTable
from trundle.packages._conflict import Conflict
from trundle.packages._lock import Lock, Release, lock_of
from trundle.packages._model import Requirement
from trundle.packages._search import Impossible, Search
from trundle.version import VersionRange


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
            it is not installed and no other package needs it, not at all.
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
    table = CandidateTable(candidates, installed)
    refused: dict[str, Refused] = {}
    while True:
        # What is refused stays as it is, and the others must get along with that.
        staying = [
            _as_installed(installed[name])
            for name in ordered
            if name in refused and name in installed
        ]
        rest = [Requirement(name, ranges[name]) for name in ordered if name not in refused]
        lock, new = _grant(table, [*staying, *rest])
        news = [each for each in new if each.wish.name not in refused]
        if not news:
            return Resolution(lock, tuple(refused[name] for name in sorted(refused)))
        refused.update({each.wish.name: each for each in news})


def _as_installed(release: Release) -> Requirement:
    return Requirement(release.name, VersionRange.exactly(release.version))


def _grant(table: CandidateTable, wishes: Sequence[Requirement]) -> tuple[Lock, list[Refused]]:
    """Grants each wish in its turn, unless it conflicts with those before it.

    Tries all at once. Where that fails, the search names wishes that cannot be met together: the last of them is the one to
    refuse if those before it can be met. So each bad wish costs about two searches, however many good ones there are.
    """
    granted = list(wishes)
    refused = []
    while isinstance(found := _search(table, granted), Impossible):
        last = _last(granted, found)
        while isinstance(before := _search(table, granted[:last]), Impossible):
            found, last = before, _last(granted[:last], before)
        refused.append(Refused(granted.pop(last), found.conflict))
    return found, refused


def _last(wishes: Sequence[Requirement], found: Impossible) -> int:
    """The place of the last wish with a part in a conflict."""
    return max(place for place, each in enumerate(wishes) if each.name in found.wishes)


def _search(table: CandidateTable, wishes: Sequence[Requirement]) -> Lock | Impossible:
    """Meets all wishes, if need be with pre-releases that no range asks for."""
    found = Search(table, wishes, prereleases=False).run()
    if isinstance(found, Impossible) and table.left_out:
        found = Search(table, wishes, prereleases=True).run()
    return found if isinstance(found, Impossible) else lock_of(found)
