"""Which versions the requirements of packages get: the newest that meet them, unless a lock says otherwise.

A lock has a row for each package version in use: `{"app/1.0.0": {"lib": "1.2.0"}}` says that the requirement of app 1.0.0 on
lib got 1.2.0. A class whose ancestors meet in several versions has a row of its own, `{"app/1.0.0 app.A": {"lib lib.D": "1.2.0"}}`. What is
bundled with the engine is not locked: it goes with the engine.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._repository import Repository, is_implied, label
from trundle.errors import expectation, listed, shown
from trundle.packages import Package, Requirement
from trundle.version import SemVer, VersionError, VersionRange


class Edge(NamedTuple):
    """How one class gets to another: by a requirement of its package, and the version that this one chose.

    Attributes:
        package: the package whose requirement it is.
        requirement: the requirement.
        version: the version that it chose.
        class_name: the class that is meant.
    """

    package: Package
    requirement: Requirement
    version: SemVer
    class_name: str

    def __str__(self) -> str:
        return f"{label(self.package)} requires {self.requirement}"


class Lock:
    """The versions that were chosen in one session, those of a given lock among them."""

    def __init__(self, repository: Repository, given: Mapping[str, Any] | None = None) -> None:
        """Takes what an earlier session chose.

        Raises:
            EngineError: the lock is not one, or names what is not there, or what a requirement does not take.
        """
        self._repository = repository
        self._given = _read(given)
        self._rows: dict[tuple[str, SemVer], dict[str, SemVer]] = {}
        self._decisions: dict[str, dict[str, str]] = {}
        for key, row in self._given.items():
            self._check(key, row)

    def to_plain(self) -> dict[str, dict[str, str]]:
        """What was chosen, as plain values for JSON, in alphabetical order."""
        rows = {
            f"{name}/{version}": {
                each: str(chosen)
                for each, chosen in row.items()
                if not self._repository.is_bundled(each, chosen)
            }
            for (name, version), row in self._rows.items()
        }
        found = {**self._given_text, **rows, **self._decisions}
        kept = {key: row for key, row in found.items() if row or " " in key}
        return {key: dict(sorted(row.items())) for key, row in sorted(kept.items())}

    def versions(self, package: Package) -> Mapping[str, SemVer]:
        """The version that each requirement of a package gets; those that are implied may be missing.

        Raises:
            EngineError: nothing meets a requirement.
        """
        key = (package.name, package.version)
        row = self._rows.get(key)
        if row is None:
            row = {}
            given = self._given.get(label(package), {})
            for requirement in package.requirements:
                version = self._version(package, requirement, given.get(requirement.name))
                if version is not None:
                    row[requirement.name] = version
            self._rows[key] = row
        return row

    def given(self, owner: str) -> dict[tuple[str, str], SemVer]:
        """The versions in which the ancestors of a class met before, by package and class, as far as there are such versions."""
        found = {}
        for meeting, version in self._given.get(owner, {}).items():
            name, _, class_name = meeting.partition(" ")
            if version in self._repository.with_class(class_name).get(name, ()):
                found[name, class_name] = version
        return found

    def keep(self, owner: str, decided: Mapping[tuple[str, str], SemVer]) -> None:
        """Keeps in which versions the ancestors of a class meet, by package and class; all others stay apart."""
        self._decisions[owner] = {" ".join(at): str(each) for at, each in decided.items()}

    def decide(self, owner: str, meeting: str, edges: Sequence[Edge]) -> SemVer | None:
        """The version in which all paths to one class meet; None if there is none.

        Args:
            owner: the class whose ancestors meet, with its package.
            meeting: the package and the class that they meet in.
            edges: the paths, with more than one version among them.
        """
        name, class_name = edges[0].requirement.name, edges[0].class_name
        wanted = edges[0].requirement.range
        for edge in edges[1:]:
            wanted &= edge.requirement.range
        known = self._repository.with_class(class_name).get(name, ())
        fitting = wanted.fitting(known)
        if owner not in self._given:
            return fitting[0] if fitting else None
        given = self._given[owner].get(meeting)
        if given is not None and given not in fitting:
            raise _unmet(f"{owner} at {meeting}", given, wanted, known)
        return given  # None where they were apart

    def _version(
        self, package: Package, requirement: Requirement, given: SemVer | None
    ) -> SemVer | None:
        if given is not None:
            return given
        if requirement.name == package.name and package.version in requirement.range:
            return None  # The package itself
        version = self._repository.choose(requirement.name, requirement.range)
        if version is None and not is_implied(package, requirement):
            raise missing_package(self._repository, package, requirement)
        return version

    @property
    def _given_text(self) -> dict[str, dict[str, str]]:
        return {
            key: {name: str(version) for name, version in row.items()}
            for key, row in self._given.items()
        }

    def _check(self, key: str, row: Mapping[str, SemVer]) -> None:
        """Makes sure that a row still fits its package; the row of a package that is gone has no effect."""
        if " " in key:
            return  # The ancestors of a class, checked when it is built
        name, _, version = key.rpartition("/")
        package = self._repository.find(name, _version(key, version))
        if package is None:
            return
        requirements = {each.name: each for each in package.requirements}
        for required, chosen in row.items():
            requirement = requirements.get(required)
            if requirement is None:
                raise _error(expectation(f"only what {key} requires", required), "remove it")
            known = self._repository.versions(required)
            if chosen not in known or chosen not in requirement.range:
                raise _unmet(f"{key} at {required}", chosen, requirement.range, known)


def missing_package(
    repository: Repository, package: Package, requirement: Requirement
) -> EngineError:
    """The error for a requirement that nothing meets."""
    known = repository.versions(requirement.name)
    found = f"only {listed(map(str, known))}" if known else "no such package"
    return EngineError(
        EngineCode.NO_PACKAGE,
        f"{label(package)} requires {requirement}: "
        + expectation(f"a version of {requirement.name} in {requirement.range}", found),
        advice="add such a version, or change the requirement",
        package=package.name,
        version=package.version,
        requirements=(f"{label(package)} requires {requirement}",),
    )


def _read(given: Mapping[str, Any] | None) -> dict[str, dict[str, SemVer]]:
    if given is None:
        return {}
    found: dict[str, dict[str, SemVer]] = {}
    if not isinstance(given, Mapping):
        raise _error(expectation("a lock as an object", shown(given)), "give what `lock` gave")
    for key, row in given.items():
        if not isinstance(key, str) or "/" not in key or not isinstance(row, Mapping):
            expected = "versions by package under NAME/VERSION"
            raise _error(expectation(expected, shown(key)), "give what `lock` gave")
        found[key] = {str(name): _version(key, version) for name, version in row.items()}
    return found


def _version(key: str, text: object) -> SemVer:
    try:
        return SemVer.parse(text if isinstance(text, str) else "")
    except VersionError:
        message = expectation(f"a version such as 1.2.0 in {key}", shown(text))
        raise _error(message, "give what `lock` gave") from None


def _unmet(
    where: str, chosen: SemVer, wanted: VersionRange, known: Sequence[SemVer]
) -> EngineError:
    found = listed(map(str, known)) or "none"
    message = f"the lock has {chosen} for {where}, which takes {wanted}; there are {found}"
    return _error(message, "add that version, or remove the row from the lock")


def _error(message: str, advice: str) -> EngineError:
    return EngineError(EngineCode.LOCK, message, advice=advice)
