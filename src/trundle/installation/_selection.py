"""Selects what is installed of several packages, so that all requirements between them are met. Pure.

Each package is tried with the best version that its plan allows; what is installed stays where it can. A package that
cannot go on holds no other one back, unless that one needs it.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from trundle.channels.files import ListedVersion
from trundle.packages import (
    Conflict,
    Refused,
    Release,
    Requirement,
    Resolution,
    resolve,
    to_install,
)
from trundle.version import ANY, SemVer, VersionRange


class UpgradeOffer(msgspec.Struct, frozen=True, kw_only=True):
    """What may become of a package.

    Attributes:
        name: the package.
        installed: what is installed; None for nothing.
        ready: the versions that may be installed now, best first.
        wanted: whether it is to go on by itself; else only where another package needs it.
    """

    name: str
    installed: Release | None = None
    ready: tuple[ListedVersion, ...] = ()
    wanted: bool = True


class Selection(msgspec.Struct, frozen=True):
    """What is to be installed.

    Attributes:
        chosen: the version of each package that changes.
        conflicts: why the best version of a package is not chosen.
    """

    chosen: Mapping[str, ListedVersion]
    conflicts: Mapping[str, tuple[Conflict, ...]]

    def __bool__(self) -> bool:
        return bool(self.chosen)


def select(offers: Iterable[UpgradeOffer]) -> Selection:
    """Selects what is installed of each package; the order of the offers does not matter."""
    by_name = {each.name: each for each in offers}
    chosen: dict[str, ListedVersion] = {}
    conflicts: dict[str, tuple[Conflict, ...]] = {}
    for part in _parts({name: _needs(each) for name, each in by_name.items()}):
        choice = _Choice({name: by_name[name] for name in part})
        wanted = [by_name[name] for name in part]
        conflicts |= choice.take([each for each in wanted if each.wanted and each.ready])
        chosen |= choice.chosen()
    return Selection(
        {name: chosen[name] for name in sorted(chosen)},
        {name: conflicts[name] for name in sorted(conflicts)},
    )


def check_together(releases: Iterable[Release]) -> tuple[Conflict, ...]:
    """Why releases cannot be installed together; nothing where they can."""
    found = {each.name: each for each in releases}
    needs = {name: {need.name for need in each.requirements} for name, each in found.items()}
    refused: list[Refused] = []
    for part in _parts(needs):
        present = {name: found[name] for name in part}
        wishes = [_exactly(each) for each in present.values()]
        refused += resolve(wishes, _Nothing(), present).refused
    return tuple(each.conflict for each in sorted(refused, key=lambda each: each.wish.name))


def _needs(offer: UpgradeOffer) -> set[str]:
    """The packages that one may need, whichever version of it is taken."""
    needs = [to_install(each.depends_on) for each in offer.ready]
    needs.append(offer.installed.requirements if offer.installed else ())
    return {each.name for some in needs for each in some}


def _parts(needs: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """The packages in parts that have nothing to do with each other, so that many packages take little time."""
    neighbours: dict[str, set[str]] = {name: set() for name in needs}
    for name, others in needs.items():
        for other in others:
            neighbours[name].add(other)
            neighbours.setdefault(other, set()).add(name)
    parts, seen = [], set()
    for name in sorted(needs):
        part, waiting = [], [name]
        while waiting:
            each = waiting.pop()
            if each not in seen:
                seen.add(each)
                part.append(each)
                waiting += neighbours[each]
        if part:
            parts.append(sorted(each for each in part if each in needs))
    return parts


class _Nothing:
    """No candidates but what is installed."""

    def versions(self, _name: str) -> Iterable[SemVer]:
        return ()

    def release(self, name: str, version: SemVer) -> Release:
        raise AssertionError((name, version))


class _Candidates:
    """The versions that plans allow."""

    def __init__(self, offers: Mapping[str, UpgradeOffer]) -> None:
        self._entries = {
            name: {each.version: each for each in offer.ready} for name, offer in offers.items()
        }

    def versions(self, name: str) -> Iterable[SemVer]:
        return self._entries.get(name, ())

    def release(self, name: str, version: SemVer) -> Release:
        entry = self._entries[name][version]
        return Release(name, version, entry.identity, to_install(entry.depends_on))


class _Choice:
    """What was decided so far."""

    def __init__(self, offers: Mapping[str, UpgradeOffer]) -> None:
        self.offers = offers
        self._candidates = _Candidates(offers)
        self._installed = self._sound()
        self._decided: dict[str, SemVer] = {}
        self._releases = dict(self._installed)

    def take(self, offers: Sequence[UpgradeOffer]) -> dict[str, tuple[Conflict, ...]]:
        """Takes the best versions that can be had, of each package in its turn; gives what is in the way of better ones.

        Tries all at once, and in pieces where that fails, cut where the first of them seems not to fit: what can be had
        together, can be had in part.
        """
        if len(offers) == 1:
            found = self.take_best(offers[0])
            return {offers[0].name: found} if found else {}
        if not offers:
            return {}
        best = {each.name: VersionRange.exactly(each.ready[0].version) for each in offers}
        together = self._attempt(best, self._installed)
        if not together.refused:
            self._accept(best, together)
            return {}
        refused = {each.wish.name for each in together.refused}
        unfit = (at for at, each in enumerate(offers) if each.name in refused)
        cut = next(unfit, len(offers) // 2)
        pieces = (offers[:cut], offers[cut : cut + 1], offers[cut + 1 :])
        return {name: found for piece in pieces for name, found in self.take(piece).items()}

    def take_best(self, offer: UpgradeOffer) -> tuple[Conflict, ...]:
        """Takes the best version that can be had; gives what is in the way of a better one."""
        best = offer.ready[0].version
        exactly = {offer.name: VersionRange.exactly(best)}
        resolution = self._attempt(exactly, self._installed)
        if not resolution.refused:
            self._accept(exactly, resolution)
            return ()
        others = {name: each for name, each in self._installed.items() if name != offer.name}
        if len(offer.ready) > 1:
            second = self._attempt({offer.name: ANY}, others)
            if not second.refused:
                self._accept([offer.name], second)
        return tuple(each.conflict for each in resolution.refused)

    def chosen(self) -> dict[str, ListedVersion]:
        """The version of each package that changes."""
        chosen = {}
        for name, release in self._releases.items():
            offer = self.offers[name]
            before = offer.installed.version if offer.installed else None
            if release.version != before:
                chosen[name] = next(e for e in offer.ready if e.version == release.version)
        return chosen

    def _attempt(
        self, allowed: Mapping[str, VersionRange], installed: Mapping[str, Release]
    ) -> Resolution:
        wishes = [Requirement(name, each) for name, each in allowed.items()]
        for name in self._installed.keys() | self._decided.keys():
            if name in allowed:
                continue
            decided = self._decided.get(name)
            wishes.append(Requirement(name, VersionRange.exactly(decided) if decided else ANY))
        return resolve(wishes, self._candidates, installed)

    def _accept(self, names: Iterable[str], resolution: Resolution) -> None:
        self._releases = {each.name: each for each in resolution.lock.releases}
        self._decided.update({name: self._releases[name].version for name in names})

    def _sound(self) -> dict[str, Release]:
        """What is installed; the requirements of what is broken already block no other package."""
        installed = {each.name: each.installed for each in self.offers.values() if each.installed}
        resolution = resolve([_exactly(each) for each in installed.values()], _Nothing(), installed)
        broken = {each.wish.name for each in resolution.refused}
        return {
            name: msgspec.structs.replace(each, requirements=()) if name in broken else each
            for name, each in installed.items()
        }


def _exactly(release: Release) -> Requirement:
    return Requirement(release.name, VersionRange.exactly(release.version))
