"""Tells the resolver of `resolvelib` what packages are: which releases there are, and what they need."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import and_
from typing import Protocol

import msgspec
from resolvelib import AbstractProvider
from resolvelib.resolvers import RequirementInformation

from trundle.packages._lock import Release
from trundle.packages._model import Requirement
from trundle.version import ANY, SemVer, VersionRange


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


class Shelf:
    """All that is known of the candidates, looked up once and kept over several searches.

    Attributes:
        left_out: whether any range has passed over a pre-release so far because a release fits.
    """

    def __init__(self, candidates: Candidates, installed: Mapping[str, Release]) -> None:
        self.candidates = candidates
        self.installed = installed
        self.left_out = False
        self._versions: dict[str, tuple[SemVer, ...]] = {}
        self._releases: dict[tuple[str, SemVer], Release | Unusable] = {}
        self._fitting: dict[tuple[str, VersionRange, bool], tuple[SemVer, ...]] = {}

    def versions(self, name: str) -> tuple[SemVer, ...]:
        """The versions of a package, oldest first; the installed one is among them."""
        if name not in self._versions:
            found = set(self.candidates.versions(name))
            if name in self.installed:
                found.add(self.installed[name].version)
            self._versions[name] = tuple(sorted(found))
        return self._versions[name]

    def release(self, name: str, version: SemVer) -> Release | Unusable:
        """One version; the installed one is as it was installed."""
        key = (name, version)
        if key not in self._releases:
            installed = self.installed.get(name)
            if installed and installed.version == version:
                self._releases[key] = installed
            else:
                self._releases[key] = self.candidates.release(name, version)
        return self._releases[key]

    def fitting(self, name: str, allowed: VersionRange, *, prereleases: bool) -> tuple[SemVer, ...]:
        """The versions to try, best first: the installed one, then as the range prefers them.

        Args:
            name: the package.
            allowed: the range that they must lie in.
            prereleases: also those pre-releases that the range would leave out, after all others.
        """
        key = (name, allowed, prereleases)
        if key not in self._fitting:
            versions = [each for each in allowed.stretch(self.versions(name)) if each in allowed]
            found = dict.fromkeys(allowed.fitting(versions))
            self.left_out |= len(found) < len(versions)
            if prereleases:
                found |= dict.fromkeys(reversed(versions))
            installed = self.installed.get(name)
            if installed and installed.version in allowed:
                found = {installed.version: None} | found
            self._fitting[key] = tuple(found)
        return self._fitting[key]

    def usable(self, name: str, versions: Iterable[SemVer]) -> Iterator[Release]:
        """Those of some versions that can be used, in the same order, looked up one by one."""
        for version in versions:
            release = self.release(name, version)
            if isinstance(release, Release):
                yield release


def needs_of(release: Release) -> Iterator[Requirement]:
    """What a release needs of others; what it requires of its own package, it meets itself."""
    return (each for each in release.requirements if each.name != release.name)


class Provider(AbstractProvider[Requirement, Release, str]):
    """Answers the questions of the resolver.

    Names are pinned in alphabetical order, those of the last conflict first. So the answer does not depend on the order in
    which anything was declared.
    """

    def __init__(self, shelf: Shelf, *, prereleases: bool) -> None:
        self.shelf = shelf
        self.prereleases = prereleases

    def identify(self, requirement_or_candidate: Requirement | Release) -> str:
        return requirement_or_candidate.name

    def narrow_requirement_selection(
        self,
        identifiers: Iterable[str],
        resolutions: Mapping[str, Release],  # noqa: ARG002 - the resolver's signature
        candidates: Mapping[str, Iterator[Release]],  # noqa: ARG002 - the same
        information: Mapping[str, Iterator[RequirementInformation[Requirement, Release]]],  # noqa: ARG002 - the same
        backtrack_causes: Sequence[RequirementInformation[Requirement, Release]],
    ) -> Iterable[str]:
        names = list(identifiers)
        causes = {each.requirement.name for each in backtrack_causes}
        causes |= {each.parent.name for each in backtrack_causes if each.parent}
        return [min([each for each in names if each in causes] or names)]

    def get_preference(
        self,
        identifier: str,
        resolutions: Mapping[str, Release],  # noqa: ARG002 - the resolver's signature
        candidates: Mapping[str, Iterator[Release]],  # noqa: ARG002 - the same
        information: Mapping[str, Iterator[RequirementInformation[Requirement, Release]]],  # noqa: ARG002 - the same
        backtrack_causes: Sequence[RequirementInformation[Requirement, Release]],  # noqa: ARG002 - the same
    ) -> str:
        return identifier

    def find_matches(
        self,
        identifier: str,
        requirements: Mapping[str, Iterator[Requirement]],
        incompatibilities: Mapping[str, Iterator[Release]],
    ) -> Callable[[], Iterator[Release]]:
        allowed = reduce(and_, {each.range for each in requirements[identifier]}, ANY)
        fitting = self.shelf.fitting(identifier, allowed, prereleases=self.prereleases)
        barred = {each.version for each in incompatibilities[identifier]}
        versions = [each for each in fitting if each not in barred] if barred else fitting
        return lambda: self.shelf.usable(identifier, versions)

    def is_satisfied_by(self, requirement: Requirement, candidate: Release) -> bool:
        return candidate.version in requirement.range

    def get_dependencies(self, candidate: Release) -> Iterable[Requirement]:
        return needs_of(candidate)
