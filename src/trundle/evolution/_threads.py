"""Threads, and what they are found by: places, links and derivations, as data."""

from collections.abc import Mapping
from functools import cached_property

import msgspec

from trundle.evolution._neighbours import Neighbours
from trundle.evolution.conversions import Conversion
from trundle.version import ApiVersion

METADATA = "metadata"
"""What every resource of a kind has: free-form data, the same in all versions, which hooks may read."""

ENVELOPE = ("apiVersion", "kind", METADATA)
"""Properties of a root object that every resource has; they are carried by rules of their own."""


ADDITIONAL = "*"
"""The name under which the additional properties of an object are followed, as a map."""


PRESENCE = "?"
"""What is put behind the name of a nested object in the entry that has whether its own side has the object."""

OWN_TEXT = "~"
"""What is put behind the name of a property in the entry that has a text as its writer spelled it."""


class Place(msgspec.Struct, frozen=True, order=True, cache_hash=True):
    """A property of a lineage's type in one version."""

    version: ApiVersion
    property: str


class ByConversion(msgspec.Struct, frozen=True):
    """A value derives from another by a conversion; `up` is the way from the older side to the newer."""

    conversion: Conversion
    up: bool


class ByHook(msgspec.Struct, frozen=True):
    """A hook's method derives several outputs from its inputs."""

    use: str
    method: str
    between: Neighbours
    up: bool


class Derivation(msgspec.Struct, frozen=True):
    """How the value at one place follows from the values at others, across one pair of neighbours."""

    how: ByConversion | ByHook
    inputs: tuple[Place, ...]
    output: Place


class Link(msgspec.Struct, frozen=True):
    """Two places that meet; `conversion` is None where they only share a name."""

    older: Place
    newer: Place
    conversion: Conversion | None


class Thread(msgspec.Struct, frozen=True, dict=True):
    """One property through the versions between which its conversion is exact both ways."""

    number: int
    places: tuple[Place, ...]

    def at(self, version: ApiVersion) -> Place | None:
        """The thread's place in a version."""
        return self._by_version.get(version)

    @cached_property
    def _by_version(self) -> Mapping[ApiVersion, Place]:
        return {place.version: place for place in self.places}

    def home(self, storage: ApiVersion) -> Place:
        """Where a storage object of some version keeps the thread's value.

        That is its own property where it has one. Else the value rides in the bag, in the shape it had
        before the gap: the newest earlier one, a GA's before a preview's, or else the oldest later one.
        """
        if place := self.at(storage):
            return place
        earlier = [place for place in self.places if place.version < storage]
        stable = [place for place in earlier if not place.version.preview]
        return (stable or earlier or self.places[:1])[-1]
