"""Which packages a release may break: those whose requirements lead to it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from trundle.errors import did_you_mean, expectation, listed
from trundle.packages import Package
from trundle.testing._errors import NoTestError
from trundle.version import SemVer, VersionRange


@dataclass(frozen=True, slots=True)
class Dependent:
    """A package that requires another one.

    Attributes:
        package: the package, in its newest version.
        path: the names of the packages that lead from it to the other one, both included: the shortest way to the release, if there is one, else
            the shortest of all.
        takes: whether a way leads to the release.
    """

    package: Package
    path: tuple[str, ...]
    takes: bool


class Dependents(NamedTuple):
    """The packages that depend on a release, and what their tests run with.

    Attributes:
        found: the newest version of each package whose requirements lead to the package, by name.
        among: all packages but those that the release takes the place of.
        lock: gives the release to each requirement that takes it, as the lock of a session.
    """

    found: list[Dependent]
    among: list[Package]
    lock: dict[str, dict[str, str]]


def dependents(packages: Iterable[Package], name: str, version: SemVer) -> Dependents:
    """The packages that depend on a release.

    Args:
        packages: all packages; the release is among them.
        name: the package.
        version: the version of the release.

    Raises:
        NoTestError: the release is not among them.
    """
    known = list(packages)
    versions = sorted(each.version for each in known if each.name == name)
    if version not in versions:
        found = f"only {listed(map(str, versions))}" if versions else "no such package"
        advice = (
            "name one of these" if versions else did_you_mean(name, [each.name for each in known])
        )
        raise NoTestError(expectation(f"{name} in version {version}", found), advice)
    by_name: dict[str, dict[SemVer, Package]] = {}
    for each in known:
        by_name.setdefault(each.name, {})[each.version] = each
    dependent = []
    for other in sorted(by_name.keys() - {name}):
        newest = by_name[other][max(by_name[other])]
        ways = _ways(newest, name, version, by_name)
        path = ways[True] or ways[False]
        if path:
            dependent.append(Dependent(newest, path, bool(ways[True])))
    wanting = [
        (one, each)
        for one in known
        for each in one.requirements
        if each.name == name and one.name != name
    ]
    ranges = [each.range for _, each in wanting]
    kept = [
        each for each in known if each.name != name or not _gives_way(each.version, version, ranges)
    ]
    lock = {
        f"{one.name}/{one.version}": {name: str(version)}
        for one, each in wanting
        if version in each.range
    }
    return Dependents(dependent, kept, lock)


def _gives_way(other: SemVer, version: SemVer, ranges: Iterable[VersionRange]) -> bool:
    """Whether another release has to go, so that models without a version get the one that is tested; not where a requirement takes it alone."""
    taking = [each for each in ranges if other in each]
    if other == version or any(version not in each for each in taking):
        return False
    # Others are chosen before a pre-release
    return other > version or (version.is_prerelease and bool(taking))


def _ways(
    start: Package, name: str, version: SemVer, by_name: Mapping[str, Mapping[SemVer, Package]]
) -> dict[bool, tuple[str, ...]]:
    """The shortest way over requirements from a package to a release of another one, under true, and to others, under false; empty for none."""
    found: dict[bool, tuple[str, ...]] = {True: (), False: ()}
    left: list[tuple[Package, tuple[str, ...]]] = [(start, (start.name,))]
    seen = {start}
    for package, path in left:
        for wanted in package.requirements:
            if wanted.name == name:
                takes = version in wanted.range
                found[takes] = found[takes] or (*path, name)
                continue
            if wanted.name == package.name:
                continue
            versions = by_name.get(wanted.name, {})
            chosen = wanted.range.choose(versions)
            if chosen is not None and versions[chosen] not in seen:
                seen.add(versions[chosen])
                left.append((versions[chosen], (*path, wanted.name)))
    return found
