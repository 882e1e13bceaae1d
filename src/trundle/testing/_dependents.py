"""Which packages a release may break: those whose requirements lead to it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trundle.errors import did_you_mean, expectation, listed
from trundle.packages import Package
from trundle.testing._errors import NoTestError
from trundle.version import SemVer, VersionRange


@dataclass(frozen=True, slots=True)
class Dependent:
    """A package that requires another one.

    Attributes:
        package: the package, in its newest version.
        path: the names of the packages that lead from it to the other one, both included.
        takes: whether the requirement of the last but one takes the release.
    """

    package: Package
    path: tuple[str, ...]
    takes: bool


def dependents(
    packages: Iterable[Package], name: str, version: SemVer
) -> tuple[list[Dependent], list[Package]]:
    """The packages that depend on a release, and all packages with that release in the place of those that would be chosen before it.

    Args:
        packages: all packages; the release is among them.
        name: the package.
        version: the version of the release.

    Returns:
        The newest version of each package whose requirements lead to the package, by name, and the packages to run their
        tests with.

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
    newest: dict[str, Package] = {}
    for each in known:
        if each.name not in newest or newest[each.name].version < each.version:
            newest[each.name] = each
    dependent = []
    for each in sorted(newest.values(), key=lambda one: one.name):
        path = _path(each, name, newest)
        if path:
            takes = any(
                wanted.name == name and version in wanted.range
                for wanted in newest[path[-2]].requirements
            )
            dependent.append(Dependent(each, path, takes))
    ranges = [each.range for one in known for each in one.requirements if each.name == name]
    kept = [
        each for each in known if each.name != name or not _gives_way(each.version, version, ranges)
    ]
    return dependent, kept


def _gives_way(other: SemVer, version: SemVer, ranges: Iterable[VersionRange]) -> bool:
    """Whether another release has to go, so that what takes both gets the one that is tested."""
    if other <= version and version.is_prerelease:  # Others are chosen before it
        return other != version and any(other in each and version in each for each in ranges)
    return other > version


def _path(start: Package, name: str, newest: dict[str, Package]) -> tuple[str, ...]:
    """The shortest way from a package to another one over requirements; empty where there is none."""
    if start.name == name:
        return ()
    left: list[tuple[str, ...]] = [(start.name,)]
    seen = {start.name}
    while left:
        following: list[tuple[str, ...]] = []
        for path in left:
            for name_ in _required(newest.get(path[-1])):
                if name_ == name:
                    return (*path, name)
                if name_ not in seen:
                    seen.add(name_)
                    following.append((*path, name_))
        left = following
    return ()


def _required(package: Package | None) -> Sequence[str]:
    if package is None:
        return ()
    return [each.name for each in package.requirements if each.name != package.name]
