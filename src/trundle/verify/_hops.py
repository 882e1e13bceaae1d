"""Going hop by hop: the reference that fused conversions are compared with.

For each pair of neighbours a package is generated from these two versions alone, with the rules and hooks
between them. What leads through it knows nothing of any other version, so that nothing can be fused. In
these packages nothing is required, because a value that a version shows only for requiring it must not go
on to the next.
"""

import importlib
import importlib.abc
import importlib.util
import itertools
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from importlib.machinery import ModuleSpec
from types import ModuleType

import msgspec

from trundle.codegen import generate_package
from trundle.evolution import Evolution, ResourceLineage
from trundle.runtime import Scheme
from trundle.schema import (
    ABSENT,
    EnumType,
    ListOf,
    MapOf,
    Nullable,
    ObjectType,
    Ref,
    Resource,
    Schema,
    Type,
    Union,
)
from trundle.verify._stored import read_document
from trundle.version import ApiVersion

_NUMBERS = itertools.count()
_NAMING = ("apiVersion", "kind", "type")


class Hops:
    """The ways between the versions of one resource type, neighbour by neighbour.

    Args:
        evolution: all versions of the resource type, with configured changes and hooks.
        resource: its name.
    """

    def __init__(self, evolution: Evolution, resource: str) -> None:
        self.evolution = evolution
        self.resource = next(each for each in evolution.resources if each.name == resource)
        self._schemes: dict[tuple[str, str], Scheme] = {}

    @cached_property
    def _versions(self) -> Mapping[str, ApiVersion]:
        return {each.text: each for each in self.resource.versions.versions}

    def way(self, start: str, end: str) -> list[str]:
        """The versions on the way from one to another, both included; each is a neighbour of the next."""
        up, down = self._chain(start), self._chain(end)
        meeting = next(each for each in up if each in down)
        return [*up[: up.index(meeting) + 1], *reversed(down[: down.index(meeting)])]

    def _chain(self, version: str) -> list[str]:
        found = [version]
        while (
            following := self.resource.versions.neighbour(self._versions[found[-1]])
        ) is not None:
            found.append(following.text)
        return found

    def hop(self, data: bytes, one: str, other: str) -> bytes:
        """A document of one version as one of its neighbour."""
        key = (min(one, other), max(one, other))
        if key not in self._schemes:
            self._schemes[key] = self._scheme(key)
        scheme = self._schemes[key]
        name = next(iter(scheme.resources))
        value = read_document(scheme, name, one, data)
        return scheme.encode(scheme.convert(value, other))

    def _scheme(self, pair: Sequence[str]) -> Scheme:
        part = part_of(self.evolution, self.resource, [self._versions[each] for each in pair])
        package = f"trundle_hop_{next(_NUMBERS)}"
        return imported(package, generate_package(part, package=package))

    def forget(self) -> None:
        """Lets go of all packages."""
        packages = {each.package for each in self._schemes.values()}
        for name in [each for each in sys.modules if each.partition(".")[0] in packages]:
            del sys.modules[name]
        sys.meta_path[:] = [
            each
            for each in sys.meta_path
            if not (isinstance(each, _Sources) and each.package in packages)
        ]
        self._schemes.clear()


def part_of(
    evolution: Evolution, resource: ResourceLineage, versions: Iterable[ApiVersion]
) -> Evolution:
    """How one resource type evolves through some of its versions, with nothing required."""
    chosen = sorted(versions)
    return Evolution(
        tuple(_alone(evolution.schema(each), resource.resources[each]) for each in chosen),
        tuple(
            msgspec.structs.replace(each, default={})
            for each in evolution.all_changes
            if each.version in chosen
        ),
        tuple(
            each
            for each in evolution.hooks.declarations
            if each.reference.older in chosen and each.reference.newer in chosen
        ),
    )


def _alone(schema: Schema, resource: Resource) -> Schema:
    """A version with just one resource type, and what that reaches."""
    reached: dict[str, None] = {}
    waiting = [resource.root]
    while waiting:
        key = waiting.pop()
        if key in reached:
            continue
        reached[key] = None
        definition = schema.definitions[key]
        if isinstance(definition, EnumType):
            continue
        for each in definition.properties:
            waiting.extend(_references(each.type))
        if definition.additional is not None:
            waiting.extend(_references(definition.additional))
    definitions = {
        key: _lenient(schema.definitions[key]) for key in schema.definitions if key in reached
    }
    return Schema(schema.version, definitions, (resource,), schema.sources)


def _lenient(definition: ObjectType | EnumType) -> ObjectType | EnumType:
    """A definition that requires nothing but what tells it from others."""
    if isinstance(definition, EnumType):
        return definition
    properties = tuple(
        each
        if each.name in {definition.tag, *_NAMING}
        else msgspec.structs.replace(each, required=False, default=ABSENT)
        for each in definition.properties
    )
    return msgspec.structs.replace(definition, properties=properties)


def _references(type_: Type) -> Iterable[str]:
    match type_:
        case Ref(key):
            yield key
        case ListOf(inner) | MapOf(inner) | Nullable(inner):
            yield from _references(inner)
        case Union(variants):
            for each in variants:
                yield from _references(each)
        case _:
            return


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
