"""What the page shows: evolutions, the resource types in them, and where a word is found."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import msgspec

from trundle._clock import Clock, now
from trundle.api import ServedKind
from trundle.evolution import Evolution, ResourceLineage
from trundle.registry import HttpSettings
from trundle.report import ReportError, ResourceMap, find_resource, reached, version_map
from trundle.schema import EnumType
from trundle.version import ApiVersion

_MOST_PLACES = 3
"""How many places in a resource type a search names."""


class Match(NamedTuple):
    """A resource type that a search found.

    Attributes:
        of: the project that it is in.
        drawn: its map.
        group: its API group; may be empty.
        places: properties and types in it that have the word, a few of them; none where its own name has it.
        further: how many more there are.
    """

    of: str
    drawn: ResourceMap
    group: str
    places: tuple[str, ...] = ()
    further: int = 0


@dataclass(frozen=True, eq=False)
class ShownProject:
    """A project as the page shows it.

    Attributes:
        evolution: how its schemas evolve.
        horizon: how many of the newest GA versions are served; None for all.
        served: the versions that a server serves of each resource type, by its name in lower case; None where none serves them.
    """

    evolution: Evolution
    horizon: int | None = None
    served: Mapping[str, frozenset[ApiVersion]] | None = None

    def map_of(self, resource: str) -> ResourceMap:
        """The version map of a resource type.

        Raises:
            ReportError: there is no such resource type.
        """
        drawn = version_map(self.evolution, resource, self.horizon)
        if self.served is None:
            return drawn
        served = self.served.get(drawn.resource.casefold(), frozenset())
        versions = tuple(
            msgspec.structs.replace(each, served=each.version in served) for each in drawn.versions
        )
        return msgspec.structs.replace(drawn, versions=versions)

    @cached_property
    def maps(self) -> tuple[tuple[ResourceMap, ResourceLineage], ...]:
        """The maps of all resource types."""
        return tuple((self.map_of(each.name), each) for each in self.evolution.resources)

    @cached_property
    def _places(self) -> Mapping[str, tuple[str, ...]]:
        """The types, properties and values in each resource type, by its name."""
        return {
            each.name: tuple(sorted(set(_places_in(self.evolution, each))))
            for each in self.evolution.resources
        }

    def matches(self, of: str, word: str) -> Iterator[Match]:
        """The resource types that have a word in them, in their own names or further inside; all without a word."""
        wanted = word.casefold()
        for drawn, resource in self.maps:
            group = resource.resources[resource.versions.versions[-1]].group
            if wanted in f"{drawn.resource} {group}".casefold():
                yield Match(of, drawn, group)
                continue
            found = [each for each in self._places[drawn.resource] if wanted in each.casefold()]
            if found:
                further = max(0, len(found) - _MOST_PLACES)
                yield Match(of, drawn, group, tuple(found[:_MOST_PLACES]), further)


def _places_in(evolution: Evolution, resource: ResourceLineage) -> Iterator[str]:
    for version, each in resource.resources.items():
        for definition in reached(evolution.schema(version), each.root).values():
            yield definition.name
            if isinstance(definition, EnumType):
                yield from (f"{definition.name}: {value}" for value in definition.values)
            else:
                yield from (f"{definition.name}.{one.name}" for one in definition.properties)


class ShownInstallation(NamedTuple):
    """An installation that the page shows.

    Attributes:
        folder: where it is; it may not be there yet.
        clock: returns the time.
        settings: how web servers are asked for channels.
    """

    folder: Path
    clock: Clock = now
    settings: HttpSettings | None = None


class Shown:
    """All projects of a page.

    Args:
        projects: by the name that addresses have for each.
    """

    def __init__(self, projects: Mapping[str, ShownProject]) -> None:
        self._projects = dict(projects)

    def each_first(self) -> Iterator[tuple[Evolution, ResourceLineage]]:
        """The first resource type of each project."""
        for each in self._projects.values():
            yield from ((each.evolution, one) for one in each.evolution.resources[:1])

    def matches(self, word: str) -> list[Match]:
        """The resource types that have a word in them; those whose own names have it come first."""
        found = [each for of, one in self._projects.items() for each in one.matches(of, word)]
        return sorted(found, key=lambda each: (bool(each.places), each.drawn.resource.casefold()))

    def find(self, of: str, resource: str) -> tuple[ShownProject, ResourceLineage]:
        """A resource type with its project.

        Raises:
            ReportError: there is no such project, or no such resource type in it.
        """
        project = self._projects.get(of)
        if project is None:
            raise ReportError("project", of, filter(None, self._projects), "this page")
        return project, find_resource(project.evolution, resource)


def shown_kinds(kinds: Iterable[ServedKind]) -> Mapping[str, ShownProject]:
    """The projects of the resource types that a server serves, by the API group of each."""
    evolutions: dict[Evolution, list[ServedKind]] = {}
    for each in kinds:
        evolution = each.lineage.evolution
        assert isinstance(evolution, Evolution), "kinds are made from those of projects"
        evolutions.setdefault(evolution, []).append(each)
    found: dict[str, ShownProject] = {}
    for evolution, members in evolutions.items():
        group, number = members[0].group, 1
        name = group
        while name in found:
            number += 1
            name = f"{group}-{number}"
        by_root = {each.lineage: each for each in members}
        served = {
            resource.name.casefold(): frozenset(
                version
                for version in resource.versions.versions
                if any(one.is_version(version) for one in by_root[resource.root].versions.values())
            )
            for resource in evolution.resources
            if resource.root in by_root
        }
        found[name] = ShownProject(evolution, served=served)
    return found
