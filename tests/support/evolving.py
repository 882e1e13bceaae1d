"""Small evolutions, written down in a line each, generated and imported.

A version is a mapping from type names to properties, a property a mapping from its name (with `!` where it
is required) to its type: `string`, `integer`, `number`, `boolean`, `any`, a type's name, `[T]`,
`[T;name,port]` with declared keys, `{T}` for a map, `T?` for nullable, `A|B` for a union. A type that is a
list is an enum of these values; one whose name starts with `~` is unnamed. `*` are additional properties.
A default follows the type in a tuple. `Thing` is the resource.
"""

import importlib
import itertools
import shutil
import sys
import tempfile
import types
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import msgspec

from trundle.codegen import generate_package
from trundle.evolution import (
    Evolution,
    HookDeclaration,
    HookMethod,
    HookReference,
    TypeChanges,
)
from trundle.runtime import Scheme
from trundle.schema import (
    ABSENT,
    EnumType,
    FreeForm,
    ListOf,
    MapOf,
    Nullable,
    ObjectType,
    Property,
    Ref,
    Resource,
    Scalar,
    Schema,
    Type,
    Union,
)
from trundle.version import ApiVersion

Version = Mapping[str, Any]
_NUMBERS = itertools.count()

_MOST = 40
_TAKEN: dict[str, tuple[str, Scheme]] = {}
"""The schemes that tests have from `evolve`, with what they are of, by package."""
_GIVEN_BACK: dict[str, Scheme] = {}
"""The last schemes that tests gave back, by what they are of. No two tests have one at the same time."""


def parse_type(text: str) -> Type:
    """A type in the short spelling of these tests."""
    text = text.strip()
    parts = _split(text, "|")
    if len(parts) > 1:
        return Union(tuple(map(parse_type, parts)))
    if text.endswith("?"):
        return Nullable(parse_type(text[:-1]))
    if text.startswith("["):
        inner, _, keys = text[1:-1].partition(";")
        return ListOf(parse_type(inner), tuple(keys.split(",")) if keys else ())
    if text.startswith("{"):
        return MapOf(parse_type(text[1:-1]))
    if text == "any":
        return FreeForm()
    if text in {"string", "integer", "number", "boolean"}:
        return Scalar(text)  # type: ignore[arg-type]
    if text.startswith("("):
        return parse_type(text[1:-1])
    return Ref(text)


def _split(text: str, mark: str) -> list[str]:
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "[{(") - (letter in "]})")
        if letter == mark and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def parse_schema(version: str, definitions: Version, resource: str = "Thing") -> Schema:
    """A version in the short spelling of these tests."""
    found: dict[str, ObjectType | EnumType] = {}
    for key, definition in definitions.items():
        plain, named = key.lstrip("~"), not key.startswith("~")
        if isinstance(definition, list):
            kind = {str: "string", int: "integer", bool: "boolean"}[type(definition[0])]
            found[plain] = EnumType(plain, named, kind, tuple(definition))  # type: ignore[arg-type]
            continue
        properties = []
        additional = None
        for name, declared in definition.items():
            text, default = declared if isinstance(declared, tuple) else (declared, ABSENT)
            if name == "*":
                additional = parse_type(text)
                continue
            properties.append(
                Property(name.removesuffix("!"), parse_type(text), name.endswith("!"), default)
            )
        ordered = tuple(sorted(properties, key=lambda each: each.name))
        found[plain] = ObjectType(plain, named, ordered, additional)
    return Schema(ApiVersion.parse(version), found, (Resource(resource, resource),))


def rules(version: str, type_: str = "Thing", **changes: Any) -> TypeChanges:
    """Configured changes from a version to its newer neighbour."""
    return TypeChanges(version=ApiVersion.parse(version), type=type_, **changes)


def hooked(
    older: str,
    newer: str,
    class_: type[Any],
    type_: str = "Thing",
    *,
    to: tuple[tuple[str, ...], tuple[str, ...]] | None = None,
    back: tuple[tuple[str, ...], tuple[str, ...]] | None = None,
) -> HookDeclaration:
    """A hook class between two neighbours, with what its methods read and write."""
    module = types.ModuleType(f"hooks_of_{class_.__name__.lower()}_{next(_NUMBERS)}")
    setattr(module, class_.__name__, class_)
    sys.modules[module.__name__] = module
    reference = HookReference(
        type_,
        ApiVersion.parse(older),
        ApiVersion.parse(newer),
        f"{module.__name__}:{class_.__name__}",
    )
    declared = {"assign_to": to, "assign_from": back}
    return HookDeclaration(
        reference,
        {name: HookMethod(*each) for name, each in declared.items() if each is not None},
        tuple(name for name in vars(class_) if name.startswith("convert_")),
    )


def evolution(
    versions: Mapping[str, Version],
    *more: TypeChanges | HookDeclaration,
    hub: str = "",
    kept: Collection[str] = (),
) -> Evolution:
    """The evolution of some versions under changes and hooks, with the hub and storage versions that are said."""
    said = {
        version: Resource("Thing", "Thing", hub=version == hub, kept=version in kept)
        for version in versions
    }
    return Evolution(
        tuple(
            msgspec.structs.replace(parse_schema(version, each), resources=(said[version],))
            for version, each in versions.items()
        ),
        tuple(each for each in more if isinstance(each, TypeChanges)),
        tuple(each for each in more if isinstance(each, HookDeclaration)),
    )


def load(made: Evolution, **options: Any) -> Scheme:
    """Generates a package, imports it and returns its scheme; its files are gone afterwards."""
    package = f"evolved_{next(_NUMBERS)}"
    folder = Path(tempfile.mkdtemp())
    for path, data in generate_package(made, package=package, **options).items():
        target = folder / package / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # each is imported once
    sys.path.insert(0, str(folder))
    try:
        root = importlib.import_module(package)
        for path in sorted((folder / package).rglob("*.py")):
            relative = path.relative_to(folder).with_suffix("")
            importlib.import_module(".".join(relative.parts).removesuffix(".__init__"))
    finally:
        sys.path.remove(str(folder))
        sys.dont_write_bytecode = bytecode
        for each in [name for name in sys.path_importer_cache if name.startswith(str(folder))]:
            del sys.path_importer_cache[each]
        shutil.rmtree(folder, ignore_errors=True)
    scheme: Scheme = root.scheme
    return scheme


def evolve(
    versions: Mapping[str, Version],
    *more: TypeChanges | HookDeclaration,
    hub: str = "",
    kept: Collection[str] = (),
) -> Scheme:
    """The scheme of some versions under changes and hooks; one of the same that was given back, where there is one."""
    described = repr((versions, more, hub, sorted(kept)))
    found = _GIVEN_BACK.pop(described, None) or load(evolution(versions, *more, hub=hub, kept=kept))
    _TAKEN[found.package] = described, found
    return found


def forget(scheme: Scheme) -> None:
    """Gives a scheme back. The last ones are kept for `evolve`, the modules of others are forgotten."""
    if scheme.package in _TAKEN:
        described, scheme = _TAKEN.pop(scheme.package)
        _GIVEN_BACK[described] = scheme
        if len(_GIVEN_BACK) <= _MOST:
            return
        scheme = _GIVEN_BACK.pop(next(iter(_GIVEN_BACK)))
    for name in [each for each in sys.modules if each.partition(".")[0] == scheme.package]:
        del sys.modules[name]


def thing(version: str, **properties: Any) -> dict[str, Any]:
    """A document of the resource."""
    return {"apiVersion": version, "kind": "Thing", **properties}


class Store:
    """One stored object, as the documents that clients of all versions see and write."""

    def __init__(self, scheme: Scheme, stored: dict[str, Any] | None = None) -> None:
        self.scheme = scheme
        self.stored = stored

    def put(self, version: str, **properties: Any) -> "Store":
        self.stored = self.scheme.convert(thing(version, **properties), base=self.stored)
        return self

    def read(self, version: str) -> dict[str, Any]:
        assert self.stored is not None
        found: dict[str, Any] = self.scheme.convert(self.stored, to=version)
        assert found.pop("apiVersion") == version
        assert found.pop("kind") == "Thing"
        return found

    def edit(self, version: str, **properties: Any) -> "Store":
        """Reads, changes some properties and writes back; None removes one."""
        seen = {**self.read(version), **properties}
        return self.put(version, **{name: each for name, each in seen.items() if each is not None})
