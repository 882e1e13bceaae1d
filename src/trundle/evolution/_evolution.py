"""The whole of a project's versions: where lineages, changes and hooks are looked up."""

from collections import Counter
from collections.abc import Mapping
from functools import cached_property

import msgspec

from trundle.evolution._declared import Declared
from trundle.evolution._hooks import written_by_hooks
from trundle.evolution._labels import written_labels
from trundle.evolution._lineage import Lineage
from trundle.evolution._neighbours import VersionMap
from trundle.evolution._threads import ENVELOPE
from trundle.schema import Resource
from trundle.version import ApiVersion


class ResourceLineage(msgspec.Struct, frozen=True):
    """A resource type through all versions that have it.

    Attributes:
        name: as the newest version writes it.
        resources: the resource of each version.
        root: the lineage of its root object.
    """

    name: str
    resources: Mapping[ApiVersion, Resource]
    root: Lineage

    @property
    def versions(self) -> VersionMap:
        """The versions that have the resource type."""
        return self.root.versions

    def served(self, horizon: int | None) -> tuple[ApiVersion, ...]:
        """The versions in which clients are meant to use it, under a horizon of so many GA versions."""
        return tuple(x for x in self.versions.served(horizon) if self.resources[x].served)


class Evolution(Declared):
    """How the resource types of some schemas evolve, under configured changes and hooks."""

    def as_of(self, version: ApiVersion) -> "Evolution":
        """The evolution as the release of a version had it, without later versions and without hooks."""
        return Evolution(
            tuple(each for each in self.schemas if each.version <= version),
            tuple(each for each in self.all_changes if each.version < version),
        )

    def served(self, horizon: int | None) -> frozenset[ApiVersion]:
        """The versions in which clients are meant to use some resource type.

        Args:
            horizon: how many of the newest GA versions of each are served; all without.
        """
        return frozenset(version for each in self.resources for version in each.served(horizon))

    @cached_property
    def resources(self) -> tuple[ResourceLineage, ...]:
        """All resource types in alphabetical order, whatever their letter case.

        Where several groups have one of a name, each is called `group/name`.
        """
        newest = [resources[max(resources)] for resources in self.resource_types]
        names = Counter(each.name.casefold() for each in newest)
        return tuple(
            ResourceLineage(
                each.name if names[each.name.casefold()] == 1 else f"{each.group}/{each.name}",
                resources,
                self._root(resources),
            )
            for each, resources in zip(newest, self.resource_types, strict=True)
        )

    def _root(self, resources: Mapping[ApiVersion, Resource]) -> Lineage:
        versions = VersionMap.stored(
            resources,
            [version for version, each in resources.items() if each.hub],
            [version for version, each in resources.items() if each.kept],
        )
        nodes = {version: each.root for version, each in resources.items()}
        names = {version: self.schema(version).object(key).name for version, key in nodes.items()}
        name = resources[max(resources)].name_property
        return Lineage(
            self,
            nodes,
            versions=versions,
            labels=written_labels(written_by_hooks(self.hooks), versions, names),
            envelope=ENVELOPE if name == "kind" else ("apiVersion", name),
        )
