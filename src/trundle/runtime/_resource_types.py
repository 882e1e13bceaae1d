"""Resource types as a generated package knows them."""

from collections.abc import Mapping
from typing import NamedTuple


class ResourceType(NamedTuple):
    """A resource type as a generated package knows it.

    Attributes:
        name: as its newest version writes it.
        hub: the version whose storage type keeps it.
        name_property: the property of a document that names the resource type.
        versions: class path by API version, relative to the package.
        storage: class path by storage version, relative to the package.
        group: the API group that documents name before the version; empty where it has none.
    """

    name: str
    hub: str
    name_property: str
    versions: Mapping[str, str]
    storage: Mapping[str, str]
    group: str = ""
