"""What a package would be without sharing: every version with classes and conversions of its own.

Sharing rests on three answers: which definitions of which versions are the same all the way down, which
subtrees no version ever changes, and which storage types, conversions and records for hooks come to the same.
Here each of them is answered with "none", and everything else is done as always.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any
from unittest.mock import patch

from trundle.codegen import generate_package
from trundle.evolution import Evolution, Lineage
from trundle.version import ApiVersion


class Unshared(Evolution):
    """An evolution in which nothing is the same as anything else."""

    @cached_property
    def identities(self) -> Mapping[tuple[ApiVersion, str], int]:
        """A number of its own for each definition."""
        nodes = ((schema.version, key) for schema in self.schemas for key in schema.definitions)
        return {node: number for number, node in enumerate(nodes)}

    def stable(self, lineage: Lineage) -> bool:
        """Whether a subtree is passed on as it is: none is."""
        del lineage
        return False


def _apart(items: Iterable[Any], own: object, parts: object) -> dict[Any, int]:
    del own, parts
    return {item: number for number, item in enumerate(items)}


def _none(known: object, side: object) -> None:
    del known, side


def unshared_package(evolution: Evolution, package: str) -> Mapping[str, bytes]:
    """The package that would be generated without sharing."""
    apart = Unshared(evolution.schemas, evolution.all_changes, evolution.hooks)
    with (
        patch("trundle.codegen._classes.partition", _apart),
        patch("trundle.codegen._conversions.partition", _apart),
        patch("trundle.codegen._common_functions.partition", _apart),
        patch("trundle.codegen._hooks.known_side", _none),
    ):
        return generate_package(apart, package=package)
