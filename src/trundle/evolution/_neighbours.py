"""Neighbours, hubs and horizons: the order in which versions follow each other.

The rules are those of the rolling storage study. A GA version's neighbour is the next GA version. A
preview's is the next version up to the GA that takes it over or, after the last GA, that GA. Without any
GA, previews chain to the newest. They hold for any set of versions, so that a type or property that
exists only in some versions finds its neighbours among those.
"""

from collections.abc import Collection, Iterable
from functools import cached_property

import msgspec

from trundle.version import ApiVersion


class Neighbours(msgspec.Struct, frozen=True, order=True):
    """Two versions that meet, the older one first."""

    older: ApiVersion
    newer: ApiVersion

    def __str__(self) -> str:
        return f"{self.older} and {self.newer}"


class VersionMap(msgspec.Struct, frozen=True, dict=True):
    """The versions in which something exists, and how they relate.

    Attributes:
        versions: in ascending order, without duplicates, at least one.
        held: the version that is said to be the hub; None where none is.
        kept: versions in whose shape an earlier release may have stored objects, whatever the rules say.
    """

    versions: tuple[ApiVersion, ...]
    held: ApiVersion | None = None
    kept: tuple[ApiVersion, ...] = ()

    @classmethod
    def of(cls, versions: Iterable[ApiVersion]) -> "VersionMap":
        """The map of some versions in any order."""
        return cls(tuple(sorted(set(versions))))

    @classmethod
    def stored(
        cls,
        versions: Iterable[ApiVersion],
        hubs: Collection[ApiVersion],
        kept: Collection[ApiVersion] = (),
    ) -> "VersionMap":
        """The map of some versions, of which some are said to be stored.

        Args:
            versions: all versions, in any order.
            hubs: those that are said to be the hub. Several are said by several files; the newest GA among them is
                it, and the others were it.
            kept: those that an earlier release stored.
        """
        held = cls.of(hubs).hub if hubs else None
        return cls(tuple(sorted(set(versions))), held, tuple(sorted({*hubs, *kept})))

    @cached_property
    def ga(self) -> tuple[ApiVersion, ...]:
        """The GA versions in ascending order."""
        return tuple(version for version in self.versions if not version.preview)

    @cached_property
    def hub(self) -> ApiVersion:
        """The version that is said to be it; else the newest GA version, or preview if there is no GA."""
        return self.held or (self.ga or self.versions)[-1]

    @cached_property
    def storage(self) -> tuple[ApiVersion, ...]:
        """Versions in whose shape objects may be stored, the hub's among them, in ascending order.

        These are all GA versions, the previews that came before the first GA, and all that are said to be stored.
        """
        first_ga = self.ga[0] if self.ga else None
        said = {self.hub, *self.kept}
        return tuple(
            version
            for version in self.versions
            if not version.preview or first_ga is None or version < first_ga or version in said
        )

    def successor(self, version: ApiVersion) -> ApiVersion | None:
        """The GA that takes a version over: for a GA itself, for a preview the next GA, else None."""
        return next((ga for ga in self.ga if ga >= version), None)

    def neighbour(self, version: ApiVersion) -> ApiVersion | None:
        """The version that this one's rules and hooks lead to; None for the end of the chain."""
        later = [other for other in self.versions if other > version]
        if not version.preview:
            return next((other for other in later if not other.preview), None)
        if self.successor(version) is None and self.ga:
            return self.ga[-1]
        return later[0] if later else None

    @cached_property
    def pairs(self) -> tuple[Neighbours, ...]:
        """All pairs of neighbours in ascending order."""
        met = []
        for version in self.versions:
            other = self.neighbour(version)
            if other is not None:
                met.append(Neighbours(min(version, other), max(version, other)))
        return tuple(sorted(met))

    def served(self, horizon: int | None) -> tuple[ApiVersion, ...]:
        """The versions that a horizon of so many GA versions still serves; all without a horizon.

        A preview goes with the GA that took it over; one after the last GA is served.
        """
        kept = self.ga if horizon is None else self.ga[-horizon:]
        return tuple(
            version
            for version in self.versions
            if (successor := self.successor(version)) is None or successor in kept
        )
