"""The packages that an engine knows: which versions there are, and which have a class."""

from collections.abc import Iterable, Mapping, Sequence

from trundle.engine._errors import EngineCode, EngineError
from trundle.errors import expectation
from trundle.packages import CORE_LIBRARY, Package, Requirement
from trundle.version import SemVer, VersionRange


class Repository:
    """All packages of an engine. It reads manifests only."""

    def __init__(self, packages: Iterable[Package], core: Iterable[Package] = ()) -> None:
        """Takes packages, and bundled ones of which no version with the same major number is among them.

        Raises:
            EngineError: two packages of one name and version differ.
        """
        self._packages: dict[str, dict[SemVer, Package]] = {}
        self._with_class: dict[str, dict[str, list[SemVer]]] | None = None
        self._chosen: dict[tuple[str, VersionRange], SemVer | None] = {}
        for package in packages:
            self._add(package)
        self._bundled: set[tuple[str, SemVer]] = set()
        for package in core:
            major = VersionRange.parse(str(package.version.major) if package.version.major else "")
            if self.choose(package.name, major) is None:
                self._add(package)
                self._bundled.add((package.name, package.version))
        self._chosen.clear()

    def _add(self, package: Package) -> None:
        versions = self._packages.setdefault(package.name, {})
        other = versions.setdefault(package.version, package)
        if other is not package and other.digest != package.digest:
            raise EngineError(
                EngineCode.CONFLICT,
                expectation(f"one package {package.name} {package.version}", "two that differ"),
                advice="remove one of them, or give it another version",
                package=package.name,
                version=package.version,
            )

    @property
    def names(self) -> list[str]:
        """The names of all packages."""
        return list(self._packages)

    def versions(self, name: str) -> tuple[SemVer, ...]:
        """The versions of a package, the oldest first; none for a package that is not known."""
        return tuple(sorted(self._packages.get(name, ())))

    def is_bundled(self, name: str, version: SemVer) -> bool:
        """Whether a version came with the engine, rather than with the packages."""
        return (name, version) in self._bundled

    def package(self, name: str, version: SemVer) -> Package:
        """One version that is there."""
        return self._packages[name][version]

    def find(self, name: str, version: SemVer) -> Package | None:
        """One version; None where it is not there."""
        return self._packages.get(name, {}).get(version)

    def choose(self, name: str, wanted: VersionRange) -> SemVer | None:
        """The version of a package that a requirement gets; None where no version meets it."""
        key = (name, wanted)
        if key not in self._chosen:
            self._chosen[key] = wanted.choose(self._packages.get(name, ()))
        return self._chosen[key]

    def with_class(self, class_name: str) -> Mapping[str, Sequence[SemVer]]:
        """The versions that have a class, by package."""
        if self._with_class is None:
            found: dict[str, dict[str, list[SemVer]]] = {}
            for name, versions in self._packages.items():
                for version, package in versions.items():
                    for each in package.classes:
                        found.setdefault(each, {}).setdefault(name, []).append(version)
            self._with_class = found
        return self._with_class.get(class_name, {})

    @property
    def class_names(self) -> Iterable[str]:
        """The names of all classes."""
        self.with_class("")
        return (self._with_class or {}).keys()


def label(package: Package) -> str:
    """A package version as messages and locks spell it: `app/1.0.0`."""
    return f"{package.name}/{package.version}"


def own_requirement(package: Package) -> Requirement:
    """The versions of itself that a package may use; always its own one."""
    for each in package.requirements:
        if each.name == package.name and package.version in each.range:
            return each
    return Requirement(package.name, VersionRange.exactly(package.version))


def is_implied(package: Package, requirement: Requirement) -> bool:
    """Whether a requirement is one that the manifest does not write."""
    known = requirement.name in (package.name, CORE_LIBRARY)
    return known and all(each.name != requirement.name for each in package.manifest.requirements)
