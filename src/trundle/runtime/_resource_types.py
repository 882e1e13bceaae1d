"""Resource types as a generated package knows them, and which versions of them are to be stored."""

from collections.abc import Mapping
from typing import NamedTuple

from trundle.errors import expectation, shown
from trundle.runtime._errors import ConversionError


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


def chosen_storage(storage: object) -> Mapping[str, str]:
    """The storage versions that a caller chooses, by resource type.

    Raises:
        ConversionError: it is no mapping from names to versions.
    """
    if isinstance(storage, Mapping) and all(
        isinstance(each, str) for pair in storage.items() for each in pair
    ):
        return storage
    raise ConversionError(
        expectation(
            "a mapping from resource types to the versions that they are stored in",
            shown(storage),
            "write `storing({NAME: VERSION})`",
        )
    )
