"""What generated code calls the parts of hooks, and how it calls static methods; hooks are found with it where no code is generated."""

from collections.abc import Mapping

import msgspec

from trundle.codegen._naming import class_name
from trundle.evolution import Neighbours

_ROOM = len("OlderOutputs")
"""How many characters are put behind the names of types."""


def record_name(type_name: str, *, older: bool) -> str:
    """The frozen record of one side of a type between two neighbours."""
    return f"{class_name(type_name, _ROOM)}{'Older' if older else 'Newer'}"


STATIC_METHODS = "hooks.static_methods"
"""The module of a package whose classes call static methods."""


def static_class(type_name: str, between: Neighbours) -> str:
    """The class that calls the static methods of one place."""
    name = record_name(type_name, older=True).removesuffix("Older")
    return f"{name}_{between.older.identifier}_to_{between.newer.identifier}"


class StaticCall(msgspec.Struct, frozen=True):
    """How a static method is called.

    Attributes:
        arguments: the argument by the property that it is called after; of a converter, the one that takes the value, by no name.
        outputs: the property by the key of the map that the method returns.
    """

    arguments: Mapping[str, str]
    outputs: Mapping[str, str]
