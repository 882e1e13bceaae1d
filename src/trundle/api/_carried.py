"""The resource types of installed packages, joined to one scheme; what cannot be served is left out, with its reason."""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from trundle.api._kinds import ServedKind, converted_kinds, require_apart, served_kinds
from trundle.errors import TrundleError, expectation
from trundle.project import CarriedProject, CarriedProjects, FindingsError
from trundle.runtime import AnyScheme, JoinedScheme
from trundle.store import OWN_GROUP


@dataclass(frozen=True, slots=True)
class CarriedTypes:
    """What installed packages bring.

    Attributes:
        scheme: converts all of it.
        kinds: the resource types that are served.
        known: the same, with all versions that the scheme converts.
        refused: why a package is not served as it is installed, by its name.
        packages: the folder that each package is served from.
    """

    scheme: AnyScheme
    kinds: tuple[ServedKind, ...]
    known: tuple[ServedKind, ...]
    refused: Mapping[str, str]
    packages: Mapping[str, Path]


@dataclass(slots=True)
class _Joined:
    """The packages that were taken so far."""

    members: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    served: dict[str, None] = field(default_factory=dict)
    kinds: list[tuple[ServedKind, str, str]] = field(default_factory=list)
    known: list[tuple[ServedKind, str, str]] = field(default_factory=list)
    owners: dict[tuple[str, str, str], str] = field(default_factory=dict)


class CarriedPackages:
    """Loads the projects of installed packages, each release once.

    Args:
        projects: generates their packages.
    """

    def __init__(self, projects: CarriedProjects) -> None:
        self._projects = projects
        self._loaded: dict[Path, tuple[CarriedProject, ...]] = {}
        self._unusable: dict[Path, str] = {}

    def join(
        self,
        packages: Mapping[str, Path],
        before: Mapping[str, Path],
        unreadable: Mapping[Path, str],
    ) -> CarriedTypes:
        """The resource types of packages.

        A package that cannot be used stays as it was served before, if it was; others are not held up by it.

        Args:
            packages: the folder of each package, by its name.
            before: the folders that packages were served from until now.
            unreadable: the folders whose release cannot read what is stored, and why.
        """
        joined = _Joined()
        refused: dict[str, str] = {}
        taken: dict[str, Path] = {}
        for name, folder in sorted(packages.items()):
            for each in dict.fromkeys((folder, before.get(name, folder))):
                why = unreadable.get(each) or self._load(each)
                why = why or _take(joined, name, self._loaded[each])
                if not why:
                    taken[name] = each
                    break
                refused.setdefault(name, why)
        scheme = JoinedScheme(self._projects.package, joined.members, served=tuple(joined.served))
        names = {
            (each.group.casefold(), each.name.casefold()): called
            for called, each in scheme.resources.items()
        }
        kinds, known = (
            tuple(
                dataclasses.replace(kind, resource=names[group, name])
                for kind, group, name in found
            )
            for found in (joined.kinds, joined.known)
        )
        return CarriedTypes(scheme, kinds, known, refused, taken)

    def loaded(self, folder: Path) -> Iterable[CarriedProject]:
        """The projects of a release that was loaded."""
        return self._loaded.get(folder, ())

    def keep(self, folders: Iterable[Path]) -> None:
        """Forgets the releases that are in none of some folders."""
        for folder in self._loaded.keys() - set(folders):
            for project in self._loaded.pop(folder):
                for member in project.members:
                    self._projects.forget(member.partition(".")[0])
        for folder in self._unusable.keys() - set(folders):
            del self._unusable[folder]

    def _load(self, folder: Path) -> str:
        """Loads a release; why it cannot be used, else nothing."""
        if folder in self._loaded:
            return ""
        if folder not in self._unusable:
            try:
                self._loaded[folder] = self._projects.load(folder)
            except (TrundleError, OSError) as error:
                self._unusable[folder] = str(error)
        return self._unusable.get(folder, "")


def _take(joined: _Joined, package: str, projects: Iterable[CarriedProject]) -> str:
    """Adds the projects of a package; why they cannot be together with what is there, else nothing."""
    projects = list(projects)
    try:
        kinds, known = (
            [
                (kind, type_.group.casefold(), type_.name.casefold())
                for project in projects
                for kind in of(project.parts, project.scheme)
                if (type_ := project.scheme.resources[kind.resource])
            ]
            for of in (served_kinds, converted_kinds)
        )
        require_apart(kind for kind, _, _ in kinds)
    except FindingsError as error:
        return str(error)
    owners = dict.fromkeys(_owned(kinds), package)
    for what in owners:
        _, group, name = what
        if group == OWN_GROUP:
            return expectation("a group of its own", OWN_GROUP, "ask the publisher for another one")
        if what in joined.owners:
            expected = "resource types that no other package brings"
            found = f"{'.'.join(filter(None, (name, group)))}, which {joined.owners[what]} brings"
            return expectation(expected, found, f"uninstall {package} or {joined.owners[what]}")
    joined.owners.update(owners)
    joined.kinds += kinds
    joined.known += known
    for project in projects:
        joined.members.update(project.members)
        joined.served.update(dict.fromkeys(project.scheme.served))
    return ""


def _owned(kinds: Iterable[tuple[ServedKind, str, str]]) -> Iterator[tuple[str, str, str]]:
    """What no two packages may both have: names in the store, and what clients call resource types."""
    for kind, group, name in kinds:
        yield "stored", group, name
        yield from ((what, kind.group, called) for what, called in kind.named.taken)
