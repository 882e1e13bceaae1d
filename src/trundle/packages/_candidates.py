"""What a resolution chooses from: the releases of each package, looked up once."""

import bisect
from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

import msgspec

from trundle.packages._lock import Release
from trundle.packages._model import Requirement
from trundle.version import SemVer, VersionRange


class Unusable(msgspec.Struct, frozen=True):
    """A version that cannot be used, as when its manifest is broken.

    Attributes:
        reason: why not, in words that fit in brackets.
    """

    reason: str


class Candidates(Protocol):
    """The packages to choose from. Both methods must give the same answer throughout one resolution."""

    def versions(self, name: str) -> Iterable[SemVer]:
        """The versions of a package in any order; none for a package that is not known. Called once for each name."""

    def release(self, name: str, version: SemVer) -> Release | Unusable:
        """One of these versions. Called at most once for each that is tried, the best first."""


class CandidateTable:
    """All that is known of the candidates, looked up once and kept over several searches.

    Sets of versions are numbers: the bit at a place stands for the version at that place, the oldest first.

    Attributes:
        left_out: whether any choice has passed over a pre-release so far because a release fits.
    """

    def __init__(self, candidates: Candidates, installed: Mapping[str, Release]) -> None:
        self.candidates = candidates
        self.installed = installed
        self.left_out = False
        self._packages: dict[str, _Package] = {}

    def versions(self, name: str) -> tuple[SemVer, ...]:
        """The versions of a package, oldest first; the installed one is among them."""
        return self._package(name).versions

    def release(self, name: str, version: SemVer) -> Release | Unusable:
        """One version; the installed one is as it was installed."""
        return self._release(self._package(name), self._package(name).versions.index(version))

    def bits(self, requirement: Requirement) -> int:
        """The versions in the range of a requirement."""
        package = self._package(requirement.name)
        allowed = requirement.range
        if allowed not in package.ranges:
            versions = package.versions
            near = allowed.stretch(versions)  # By bisection, since packages may have thousands.
            below = bisect.bisect_left(versions, near[0]) if near else 0
            package.ranges[allowed] = _bits(each in allowed for each in near) << below
        return package.ranges[allowed]

    def preferred(self, name: str, bits: int) -> int:
        """Those of some versions that are releases or installed; all of them where none is a release."""
        package = self._package(name)
        if not bits & package.stable:
            return bits
        preferred = bits & (package.stable | package.installed)
        self.left_out |= preferred != bits
        return preferred

    def unusable(self, name: str) -> int:
        """The versions that turned out so far not to be usable."""
        return self._package(name).unusable

    def usable(self, name: str, first: int, then: int = 0) -> Iterator[Release]:
        """Those of some versions that can be used, looked up one by one: the installed one, then the newest first.

        Args:
            name: the package.
            first: the versions to begin with.
            then: the versions to go on with.
        """
        package = self._package(name)
        installed = package.installed & (first | then)
        for bits in (installed, first & ~installed, then & ~first & ~installed):
            for place in _newest_first(bits & ~package.unusable):
                release = self._release(package, place)
                if isinstance(release, Release):
                    yield release

    def _package(self, name: str) -> "_Package":
        if name not in self._packages:
            found = set(self.candidates.versions(name))
            installed = self.installed.get(name)
            if installed:
                found.add(installed.version)
            self._packages[name] = _Package(name, tuple(sorted(found)), installed)
        return self._packages[name]

    def _release(self, package: "_Package", place: int) -> Release | Unusable:
        found = package.found.get(place)
        if found is None:
            found = self.candidates.release(package.name, package.versions[place])
            package.found[place] = found
            if isinstance(found, Unusable):
                package.unusable |= 1 << place
        return found


class _Package:
    """What is known of one package.

    Attributes:
        name: its name.
        versions: its versions, oldest first.
        stable: those that are no pre-releases.
        installed: the one that is installed.
        unusable: those that turned out not to be usable.
        ranges: the versions in each range that was asked for.
        found: the releases that were looked up, by place.
    """

    def __init__(self, name: str, versions: tuple[SemVer, ...], installed: Release | None) -> None:
        self.name = name
        self.versions = versions
        self.stable = _bits(not each.is_prerelease for each in versions)
        self.installed = 0
        self.unusable = 0
        self.ranges: dict[VersionRange, int] = {}
        self.found: dict[int, Release | Unusable] = {}
        if installed:
            place = versions.index(installed.version)
            self.installed = 1 << place
            self.found[place] = installed


def _newest_first(bits: int) -> Iterator[int]:
    """The places of versions."""
    while bits:
        place = bits.bit_length() - 1
        bits ^= 1 << place
        yield place


def _bits(flags: Iterable[bool]) -> int:
    digits = "".join("1" if flag else "0" for flag in flags)
    return int(digits[::-1] or "0", 2)  # Linear, unlike a sum of shifted ones.


def needs_of(release: Release) -> Iterator[Requirement]:
    """What a release needs of others; what it requires of its own package, it meets itself."""
    return (each for each in release.requirements if each.name != release.name)
