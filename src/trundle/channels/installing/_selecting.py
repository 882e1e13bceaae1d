"""Selects what is installed of several packages, so that all requirements between them are met. Pure.

Each package is tried with the best version that its plan allows; what is installed stays where it can. A package that
cannot go on holds no other one back, unless that one needs it.
"""

from collections.abc import Iterable, Mapping

import msgspec

from trundle.channels.files import Entry
from trundle.packages import Conflict, Release, Requirement, Resolution, resolve
from trundle.version import ANY, SemVer, VersionRange


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """What may become of a package.

    Attributes:
        name: the package.
        installed: what is installed; None for nothing.
        ready: the versions that may be installed now, best first.
        wanted: whether it is to go on by itself; else only where another package needs it.
    """

    name: str
    installed: Release | None = None
    ready: tuple[Entry, ...] = ()
    wanted: bool = True


class Selection(msgspec.Struct, frozen=True):
    """What is to be installed.

    Attributes:
        chosen: the version of each package that changes.
        conflicts: why the best version of a package is not chosen.
    """

    chosen: Mapping[str, Entry]
    conflicts: Mapping[str, tuple[Conflict, ...]]

    def __bool__(self) -> bool:
        return bool(self.chosen)


def select(offers: Iterable[Offer]) -> Selection:
    """Selects what is installed of each package; the order of the offers does not matter."""
    choice = _Choice({each.name: each for each in offers})
    conflicts: dict[str, tuple[Conflict, ...]] = {}
    for name in sorted(choice.offers):
        offer = choice.offers[name]
        if offer.wanted and offer.ready:
            found = choice.take_best(offer)
            if found:
                conflicts[name] = found
    return Selection(choice.chosen(), conflicts)


def check_together(releases: Iterable[Release]) -> tuple[Conflict, ...]:
    """Why releases cannot be installed together; nothing where they can."""
    found = {each.name: each for each in releases}
    resolution = resolve([_exactly(each) for each in found.values()], _Nothing(), found)
    return tuple(each.conflict for each in resolution.refused)


class _Nothing:
    """No candidates but what is installed."""

    def versions(self, _name: str) -> Iterable[SemVer]:
        return ()

    def release(self, name: str, version: SemVer) -> Release:
        raise AssertionError((name, version))


class _Candidates:
    """The versions that plans allow."""

    def __init__(self, offers: Mapping[str, Offer]) -> None:
        self._entries = {
            name: {each.version: each for each in offer.ready} for name, offer in offers.items()
        }

    def versions(self, name: str) -> Iterable[SemVer]:
        return self._entries.get(name, ())

    def release(self, name: str, version: SemVer) -> Release:
        entry = self._entries[name][version]
        return Release(name, version, entry.identity, entry.depends_on)


class _Choice:
    """What was decided so far."""

    def __init__(self, offers: Mapping[str, Offer]) -> None:
        self.offers = offers
        self._candidates = _Candidates(offers)
        self._installed = self._sound()
        self._decided: dict[str, SemVer] = {}
        self._releases = dict(self._installed)

    def take_best(self, offer: Offer) -> tuple[Conflict, ...]:
        """Takes the best version that can be had; gives what is in the way of a better one."""
        best = offer.ready[0].version
        resolution = self._attempt(offer, VersionRange.exactly(best), self._installed)
        if not resolution.refused:
            self._accept(offer, resolution)
            return ()
        others = {name: each for name, each in self._installed.items() if name != offer.name}
        if len(offer.ready) > 1:
            second = self._attempt(offer, ANY, others)
            if not second.refused:
                self._accept(offer, second)
        return tuple(each.conflict for each in resolution.refused)

    def chosen(self) -> dict[str, Entry]:
        """The version of each package that changes."""
        chosen = {}
        for name, release in self._releases.items():
            offer = self.offers[name]
            before = offer.installed.version if offer.installed else None
            if release.version != before:
                chosen[name] = next(e for e in offer.ready if e.version == release.version)
        return chosen

    def _attempt(
        self, offer: Offer, allowed: VersionRange, installed: Mapping[str, Release]
    ) -> Resolution:
        wishes = [Requirement(offer.name, allowed)]
        for name in self._installed.keys() | self._decided.keys():
            if name == offer.name:
                continue
            decided = self._decided.get(name)
            wishes.append(Requirement(name, VersionRange.exactly(decided) if decided else ANY))
        return resolve(wishes, self._candidates, installed)

    def _accept(self, offer: Offer, resolution: Resolution) -> None:
        self._releases = {each.name: each for each in resolution.lock.releases}
        self._decided[offer.name] = self._releases[offer.name].version

    def _sound(self) -> dict[str, Release]:
        """What is installed; the requirements of what is broken already hold nobody back."""
        installed = {each.name: each.installed for each in self.offers.values() if each.installed}
        resolution = resolve([_exactly(each) for each in installed.values()], _Nothing(), installed)
        broken = {each.wish.name for each in resolution.refused}
        return {
            name: msgspec.structs.replace(each, requirements=()) if name in broken else each
            for name, each in installed.items()
        }


def _exactly(release: Release) -> Requirement:
    return Requirement(release.name, VersionRange.exactly(release.version))
