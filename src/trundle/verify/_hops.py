"""Going hop by hop: the reference that fused conversions are compared with.

For each pair of neighbours a package is generated from these two versions alone, with the rules and hooks
between them. Its conversions know no other version, so that nothing can be fused. In
these packages nothing is required, because a value that a version shows only for requiring it must not go
on to the next.
"""

import importlib
import importlib.abc
import importlib.util
import itertools
import sys
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from importlib.machinery import ModuleSpec
from types import ModuleType

from trundle.codegen import generate_package
from trundle.evolution import VersionMap
from trundle.runtime import Scheme
from trundle.verify._parts import Part
from trundle.verify._stored import read_document

_NUMBERS = itertools.count()


class Hops:
    """The ways between the versions of one resource type, neighbour by neighbour.

    Args:
        part: the resource type, in all its versions.
    """

    def __init__(self, part: Part) -> None:
        self.part = part
        self._versions = {each.version.text: each.version for each in part.schemas}
        self._map = VersionMap.of(self._versions.values())
        self._schemes: dict[tuple[str, str], Scheme] = {}

    def way(self, start: str, end: str) -> list[str]:
        """The versions on the way from one to another, both included; each is a neighbour of the next."""
        up, down = self._chain(start), self._chain(end)
        meeting = next(each for each in up if each in down)
        return [*up[: up.index(meeting) + 1], *reversed(down[: down.index(meeting)])]

    def _chain(self, version: str) -> list[str]:
        found = [version]
        while (following := self._map.neighbour(self._versions[found[-1]])) is not None:
            found.append(following.text)
        return found

    def hop(self, data: bytes, one: str, other: str) -> bytes:
        """A document of one version as one of its neighbour."""
        key = (min(one, other), max(one, other))
        if key not in self._schemes:
            self._schemes[key] = self._scheme(key)
        scheme = self._schemes[key]
        value = read_document(scheme, data)
        return scheme.encode(scheme.convert(value, other))

    def _scheme(self, pair: Sequence[str]) -> Scheme:
        package = f"trundle_hop_{next(_NUMBERS)}"
        evolution = self.part.between(pair).evolution()
        files = generate_package(
            evolution, package=package, straight=0
        )  # one of the two is the hub
        return imported(package, files)

    def forget(self) -> None:
        """Lets go of all packages."""
        forget_packages({each.package for each in self._schemes.values()})
        self._schemes.clear()


class _Sources(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Imports a generated package from memory."""

    def __init__(self, package: str, files: Mapping[str, bytes]) -> None:
        self.package = package
        self.files = files

    def find_spec(
        self, fullname: str, path: object = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module of a name, if the package has it."""
        del path, target
        if fullname.partition(".")[0] != self.package or self._path(fullname) is None:
            return None
        return importlib.util.spec_from_loader(
            fullname, self, is_package=self.is_package(fullname), origin=self._path(fullname)
        )

    def _path(self, fullname: str) -> str | None:
        inside = fullname.split(".")[1:]
        module, package = "/".join(inside) + ".py", "/".join([*inside, "__init__.py"])
        return next((each for each in (package, module) if each in self.files), None)

    def is_package(self, fullname: str) -> bool:
        """Whether a name is that of a folder."""
        return (self._path(fullname) or "").endswith("__init__.py")

    def get_source(self, fullname: str) -> str:
        """The text of a module."""
        path = self._path(fullname)
        if path is None:
            raise ImportError(fullname)
        return self.files[path].decode()


def imported(package: str, files: Mapping[str, bytes]) -> Scheme:
    """The scheme of a generated package that is kept in memory."""
    sys.meta_path.insert(0, _Sources(package, files))
    scheme: Scheme = importlib.import_module(package).scheme
    return scheme


def forget_packages(packages: AbstractSet[str]) -> None:
    """Lets go of packages that are kept in memory."""
    for name in [each for each in sys.modules if each.partition(".")[0] in packages]:
        del sys.modules[name]
    sys.meta_path[:] = [
        each
        for each in sys.meta_path
        if not (isinstance(each, _Sources) and each.package in packages)
    ]
