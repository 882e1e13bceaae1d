"""The classes of one package through its versions: as schemas, and with the rules and hooks that they inherit."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TypeAlias

import msgspec

from trundle.engine import Type
from trundle.errors import Finding
from trundle.evolution import Neighbours, TypeChanges, VersionMap
from trundle.packages import Package
from trundle.project._release_hooks import Homes
from trundle.project._release_rules import ReleaseHook, ReleaseRules
from trundle.project.findings import ProjectCode, finding
from trundle.schema import EnumType, ObjectType, Resource, Schema, SchemaNote
from trundle.version import ApiVersion

_BY_PROPERTY = ("rename", "wrap", "unwrap", "move", "convert", "variant", "default")
_REFERENCE = "reference to "

Hop: TypeAlias = tuple[tuple[TypeChanges, ...], tuple[ReleaseHook, ...]]
"""The rules and hooks of a package between two neighbours."""


class PackageClasses:
    """The classes of one package.

    Args:
        name: the package.
        packages: all packages by name and version.
        type_: gives a class of a package in a version.
        between: gives the rules and hooks of a package from one of its versions to a later one, pair by pair.

    Raises:
        EngineError: a class cannot be built.
    """

    def __init__(
        self,
        name: str,
        packages: Mapping[str, Mapping[ApiVersion, Package]],
        type_: Callable[[str, ApiVersion, str], Type],
        between: Callable[[str, ApiVersion, ApiVersion], Iterable[Hop]],
    ) -> None:
        self.name = name
        self.types: dict[tuple[ApiVersion, str], Type] = {
            (version, class_name): type_(name, version, class_name)
            for version, package in packages[name].items()
            for class_name in package.classes
        }
        self._packages = packages
        self._type = type_
        self._between = between
        self._renamed: dict[tuple[ApiVersion, str], str | None] = {}

    @cached_property
    def pairs(self) -> tuple[Neighbours, ...]:
        """The neighbours among its versions."""
        return version_map(self._packages[self.name]).pairs

    def lines(self, changes: Iterable[TypeChanges]) -> dict[tuple[ApiVersion, str], str]:
        """What each class is called through all versions: as the newest version calls it that it leads to."""
        renames = {(each.version, each.type): each.rename_type for each in changes}
        after = {each.older: each.newer for each in self.pairs}
        found: dict[tuple[ApiVersion, str], str] = {}
        for version, name in sorted(self.types, reverse=True):
            newer = after.get(version)
            to = renames.get((version, name)) or name
            found[version, name] = found.get((newer, to), name) if newer is not None else name
        return found

    def schema(self, version: ApiVersion, lines: Mapping[tuple[ApiVersion, str], str]) -> Schema:
        """All classes of a version as one schema."""
        definitions: dict[str, ObjectType | EnumType] = {}
        resources: list[Resource] = []
        notes: list[SchemaNote] = []
        sources: list[str] = []
        for (at, name), type_ in sorted(self.types.items()):
            if at != version:
                continue
            schema = type_.schema
            definitions |= schema.definitions
            notes += schema.notes
            sources += schema.sources
            (resource,) = schema.resources
            resources.append(
                msgspec.structs.replace(resource, name=lines[version, name], kept=True)
            )
        ordered = tuple(sorted(resources, key=lambda each: each.name))
        return Schema(version, definitions, ordered, tuple(sources), tuple(notes))

    def refers(self, version: ApiVersion, name: str) -> bool:
        """Whether a class of a version refers to another one by this definition."""
        return any(
            name in type_.schema.definitions
            for (at, _), type_ in self.types.items()
            if at == version
        )

    def inherited(self, own: Iterable[TypeChanges]) -> Iterator[TypeChanges]:
        """The rules of the package, each class also under those of its ancestors in other classes."""
        left = {(each.version, each.type): each for each in own}
        self._renamed = {key: each.rename_type for key, each in left.items()}
        for pair in self.pairs:
            for older, newer in self._met(pair):
                for each in self._rules_of_ancestors(older, newer, pair.older):
                    mine = left.pop((pair.older, each.type), None)
                    yield each if mine is None else _over(each, mine)
        yield from left.values()

    def _met(self, pair: Neighbours) -> Iterator[tuple[Type, Type]]:
        """The classes that both of two neighbours have, as each of them has it."""
        for (version, name), older in sorted(self.types.items()):
            newer = self.types.get((pair.newer, self._newer_name(version, name)))
            if version == pair.older and newer is not None:
                yield older, newer

    def _newer_name(self, version: ApiVersion, name: str) -> str:
        """What the next version calls a class."""
        return self._renamed.get((version, name)) or name

    def _rules_of_ancestors(
        self, older: Type, newer: Type, version: ApiVersion
    ) -> Iterator[TypeChanges]:
        """What the rules of its ancestors say of a class and of the objects in it, by type."""
        found: dict[str, TypeChanges] = {}
        for ancestor, _, hops in self._ancestors(older, newer):
            for rules, _ in hops:
                for each in rules:
                    rest = _rest(each.type, ancestor.class_name)
                    if rest is None:
                        continue
                    name = f"{older.class_name}{rest}"
                    moved = msgspec.structs.replace(
                        each, version=version, type=name, rename_type=None
                    )
                    before = found.get(name)
                    found[name] = moved if before is None else _after(before, moved)
        return iter(found.values())

    def _ancestors(self, older: Type, newer: Type) -> Iterator[tuple[Type, Type, list[Hop]]]:
        """The ancestors that a class has in both of two versions, the farthest first, with what leads from one to the other."""
        for ancestor in reversed(older.ancestors):
            for same in [x for x in newer.ancestors if _key(x) == _key(ancestor)][:1]:
                ends = ApiVersion.of_package(ancestor.version), ApiVersion.of_package(same.version)
                yield ancestor, same, list(self._between(ancestor.package, *ends))

    def hooks(
        self, own: Iterable[ReleaseHook], wrong: list[Finding]
    ) -> Iterator[tuple[ReleaseHook, Homes]]:
        """The hooks of the package, each class also with those of its ancestors in other classes, with where their methods are.

        Args:
            own: the hooks of its releases.
            wrong: takes what is wrong with inherited ones.
        """
        known = set()
        for each in own:
            known.add((each.version, each.newer, each.type, each.name))
            yield each, self._homes(self.name, each.newer, self._holder(each))
        for pair in self.pairs:
            for older, newer in self._met(pair):
                for several, hook, homes in self._hooks_of_ancestors(older, newer, pair):
                    key = (hook.version, hook.newer, hook.type, hook.name)
                    if key in known:
                        continue
                    known.add(key)
                    if several:
                        wrong.append(_several(older, newer, hook))
                    else:
                        yield hook, homes

    def alone(self, rules: ReleaseRules) -> Iterator[tuple[ReleaseHook, Homes]]:
        """The hooks of one release, with where their methods are, without the release before."""
        renamed = {(x.version, x.type): x.rename_type for x in rules.changes if x.rename_type}
        for each in rules.hooks:
            own = renamed.get((each.version, each.type), each.type)
            names = [name for _, name in self.types if _rest(own, name) is not None]
            holder = max(names, key=len) if names else None
            yield each, self._homes(self.name, each.newer, holder)

    def _hooks_of_ancestors(
        self, older: Type, newer: Type, pair: Neighbours
    ) -> Iterator[tuple[bool, ReleaseHook, Homes]]:
        """The hooks of its ancestors for a class and the maps in it, the nearest first, and whether several releases lie between."""
        for ancestor, same, hops in reversed(list(self._ancestors(older, newer))):
            for _, hooks in hops:
                for each in hooks:
                    rest = _rest(each.type, ancestor.class_name)
                    if rest is not None:
                        moved = msgspec.structs.replace(
                            each,
                            version=pair.older,
                            newer=pair.newer,
                            type=f"{older.class_name}{rest}",
                        )
                        homes = self._homes(same.package, each.newer, same.class_name)
                        yield len(hops) > 1, moved, homes

    def _homes(self, package: str, version: ApiVersion, own: str | None) -> Homes:
        classes = tuple(self._packages[package][version].classes)
        return Homes(own, classes, lambda name: self._type(package, version, name))

    def _holder(self, hook: ReleaseHook) -> str | None:
        """The class that a hook is for, or that has the map which it is for, as the newer side names it."""
        names = [name for version, name in self.types if version == hook.version]
        fitting = [each for each in names if _rest(hook.type, each) is not None]
        return self._newer_name(hook.version, max(fitting, key=len)) if fitting else None


def version_map(versions: Iterable[ApiVersion]) -> VersionMap:
    """The versions of a package, with their neighbours."""
    listed = tuple(versions)
    return VersionMap.stored(listed, [], listed)


def of_references(classes: PackageClasses, own: Iterable[TypeChanges]) -> Iterator[TypeChanges]:
    """A class that is renamed is renamed where others refer to it, too."""
    after = {each.older: each.newer for each in classes.pairs}
    for each in own:
        if each.rename_type is None or each.version not in after:
            continue
        older, newer = f"{_REFERENCE}{each.type}", f"{_REFERENCE}{each.rename_type}"
        if classes.refers(each.version, older) and classes.refers(after[each.version], newer):
            yield TypeChanges(version=each.version, type=older, rename_type=newer, where=each.where)


def _several(older: Type, newer: Type, hook: ReleaseHook) -> Finding:
    """The finding for a hook that a class inherits over several releases of the package that has it."""
    found = (
        f"{older.label} becomes {newer.label} over several releases with the hook {hook.name}, "
        "and one call cannot take them all"
    )
    advice = f"write {hook.name} for {older.class_name} in the `evolution.yaml` of {newer.package} {newer.version}"
    return finding(ProjectCode.HOOK, hook.where, found, advice)


def _key(type_: Type) -> tuple[str, str]:
    return type_.package, type_.class_name


def _rest(name: str, class_name: str) -> str | None:
    """What follows the name of a class in that of a type in it; None for other types."""
    if name == class_name:
        return ""
    rest = name.removeprefix(f"{class_name}.")
    return None if rest == name or rest[:1].isupper() else f".{rest}"


def _over(inherited: TypeChanges, own: TypeChanges) -> TypeChanges:
    """The rules of a class with those that it inherits; its own win."""
    fields = {name: {**getattr(inherited, name), **getattr(own, name)} for name in _BY_PROPERTY}
    return msgspec.structs.replace(
        own,
        **fields,
        values={**inherited.values, **own.values},
        keep=tuple(dict.fromkeys((*inherited.keep, *own.keep))),
        where={**inherited.where, **own.where},
    )


def _after(one: TypeChanges, other: TypeChanges) -> TypeChanges:
    """Two rules in a row as one: properties are called as the first of them calls them."""
    back = {newer: older for _, older, newer in one.placed()}

    def named(rules: Mapping[str, object]) -> dict[str, object]:
        return {back.get(name, name): each for name, each in rules.items()}

    values = {name: dict(each) for name, each in one.values.items()}
    for name, each in other.values.items():
        before = values.get(back.get(name, name), {})
        values[back.get(name, name)] = {
            **each,
            **{older: each.get(newer, newer) for older, newer in before.items()},
        }
    fields = {name: {**getattr(one, name), **named(getattr(other, name))} for name in _BY_PROPERTY}
    kept = (back.get(name, name) for name in other.keep)
    return msgspec.structs.replace(
        one,
        **fields,
        values=values,
        keep=tuple(dict.fromkeys((*one.keep, *kept))),
        where={**other.where, **one.where},
    )
