"""Faces of rooms that import what they show when it is first asked for, so that a command starts with what it needs."""

import ast
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from trundle.errors import expectation

_FACES: dict[str, tuple[str, ...]] = {}
"""The names that a face shows, by the name of its package."""


def on_demand(face: str) -> None:
    """Lets a package import what it shows when that is first asked for.

    The package has its imports under `if TYPE_CHECKING:`; this function reads them there, as type checkers do. No name that it shows is that of a
    module in it, whose import would take the place of what is shown.

    Args:
        face: the name of the package.

    Raises:
        ImportError: the source of the package is not there.
    """
    package: Any = sys.modules[face]
    places = {shown: (module, name) for shown, module, name in _shown(package)}
    _FACES[face] = tuple(places)

    def find(shown: str) -> Any:
        if shown not in places:
            message = f"module {face!r} has no attribute {shown!r}"
            raise AttributeError(message, name=shown, obj=package)
        module, name = places[shown]
        found = getattr(import_module(module), name)
        setattr(package, shown, found)
        return found

    package.__getattr__ = find
    package.__dir__ = lambda: sorted({*vars(package), *places})


def _shown(package: Any) -> Iterator[tuple[str, str, str]]:
    """What a package imports for type checkers: what it calls it, the module, and its name there."""
    source = package.__loader__.get_source(package.__name__)
    if source is None:
        expected, advice = "the source of the package", "install Trundle with its sources"
        raise ImportError(
            f"{package.__name__}: {expectation(expected, 'only compiled code', advice)}"
        )
    for block in ast.parse(source).body:
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            for each in block.body:
                if isinstance(each, ast.ImportFrom) and each.module:
                    for name in each.names:
                        yield name.asname or name.name, each.module, name.name


def complete() -> None:
    """Imports everything that loaded faces show, and what the faces show that this loads.

    What has several threads does it first, so that none of them imports while others work.
    """
    done: set[str] = set()
    while waiting := _FACES.keys() - done:
        for face in waiting:
            for shown in _FACES[face]:
                getattr(sys.modules[face], shown)
        done |= waiting
