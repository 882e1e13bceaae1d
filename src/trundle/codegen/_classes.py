"""Which classes a generated package has, what they are called, and which module holds each.

A type whose closure is identical in several versions is one class that they share. A module holds types of
one set of versions and a bounded number of them, dependencies first; so importing a version imports its own
modules and the ones it shares, and no other version's.
"""

from collections.abc import Container, Hashable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import msgspec

from trundle.codegen._naming import class_name
from trundle.evolution import (
    Evolution,
    Lineage,
    Place,
    discriminators,
    entries_as_free_form,
    entries_of_one_value,
    entries_within,
    entries_within_entries,
    list_keys,
    outside,
    partition,
    required_values,
)
from trundle.schema import EnumType, ObjectType, Type
from trundle.version import ApiVersion

MODULE_LIMIT = 250
"""How many classes a module holds at most, unless they refer to each other in a circle."""


class ClassPath(msgspec.Struct, frozen=True, order=True):
    """A generated class: its module, relative to the package, and its name."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}:{self.name}"


class ApiNode(msgspec.Struct, frozen=True, order=True, cache_hash=True):
    """An API type, or an enum: a definition of a version; a resource's root is a class of its own."""

    version: ApiVersion
    key: str
    root: bool = False


class StorageNode(msgspec.Struct, frozen=True, cache_hash=True):
    """A storage type: a lineage in the shape of one version."""

    lineage: Lineage
    version: ApiVersion


class Classes:
    """All classes of a package.

    Args:
        evolution: what the package is generated from.
        served: the versions that clients are meant to use; the others are kept for compatibility.
        storage: the storage types that are needed.
    """

    def __init__(
        self,
        evolution: Evolution,
        served: frozenset[ApiVersion],
        storage: Iterable[StorageNode],
    ) -> None:
        self.evolution = evolution
        self.served = served
        self.api_nodes: dict[ApiNode, ApiNode] = {}
        self.api_versions: dict[ApiNode, tuple[ApiVersion, ...]] = {}
        self.modules: dict[str, list[ApiNode | StorageNode]] = {}
        self._api_firsts: dict[ApiVersion, list[ApiNode]] = {}
        self._paths: dict[ApiNode | StorageNode, ClassPath] = {}
        self._storage_first: dict[StorageNode, StorageNode] = {}
        self._stored_as_is: set[ApiNode] = set()
        self._name_api()
        self._name_storage(tuple(storage))

    def api(self, version: ApiVersion, key: str, *, root: bool = False) -> ClassPath:
        """The class of a definition of a version."""
        return self._paths[self.api_nodes[ApiNode(version, key, root)]]

    def storage(self, lineage: Lineage, version: ApiVersion) -> ClassPath:
        """The class that keeps a lineage in the shape of a version."""
        if lineage.stable:
            return self.api(version, lineage.nodes[version])
        return self._paths[self._storage_first[StorageNode(lineage, version)]]

    def path(self, node: ApiNode | StorageNode) -> ClassPath:
        """The class of a node that stands for itself."""
        return self._paths[node]

    def required_values(self, node: ApiNode) -> Mapping[str, Any]:
        """What objects of a type that is stored as it is show of what they require, by property, as plain JSON."""
        definition = self.evolution.schema(node.version).definitions[node.key]
        if node not in self._stored_as_is or not isinstance(definition, ObjectType):
            return {}
        return required_values(self.evolution, node.version, definition)

    def modules_of(self, version: ApiVersion) -> list[str]:
        """The modules whose classes make up a version: each has types of one set of versions."""
        return sorted({self._paths[each].module for each in self._api_firsts.get(version, ())})

    def version_module(self, version: ApiVersion) -> str:
        """The package of a version, relative to the generated package."""
        prefix = "" if version in self.served else "compat."
        return prefix + version.identifier

    def _name_api(self) -> None:
        """Groups API types by identity, then names them and gives them modules."""
        groups: dict[Hashable, list[ApiNode]] = {}
        for node in self._reachable():
            identity: Hashable = (
                node if node.root else self.evolution.identities[node.version, node.key]
            )
            groups.setdefault(identity, []).append(node)
        units: dict[str, list[ApiNode]] = {}
        unit_names: dict[tuple[ApiVersion, ...], str] = {}
        for members in groups.values():
            newest = max(members)
            versions = tuple(sorted({member.version for member in members}))
            self.api_nodes.update(dict.fromkeys(members, newest))
            for member in members:
                self._api_firsts.setdefault(member.version, []).append(newest)
            self.api_versions[newest] = versions
            unit = unit_names.get(versions)
            if unit is None:
                unit = unit_names[versions] = self._unit(versions, set(unit_names.values()))
            units.setdefault(unit, []).append(newest)
        taken: dict[ApiVersion, set[str]] = {}
        for unit, nodes in sorted(units.items()):
            for node in sorted(nodes, key=lambda each: (not each.root, each.key, each.version)):
                versions = self.api_versions[node]
                name = self._free(node, [taken.setdefault(v, set()) for v in versions])
                self._paths[node] = ClassPath(unit, name)
            self._place(unit, nodes)

    def _unit(self, versions: tuple[ApiVersion, ...], taken: set[str]) -> str:
        if len(versions) == 1:
            return f"{self.version_module(versions[0])}.types"
        first, last = versions[0].identifier, versions[-1].identifier
        base = f"shared.{first}_to_{last}"
        name, number = base, 2
        while name in taken:
            name, number = f"{base}_set{number}", number + 1
        return name

    def _free(self, node: ApiNode, taken: list[set[str]]) -> str:
        definition = self.evolution.schema(node.version).definitions[node.key]
        plain = class_name(definition.name)
        name, number = plain, 2
        while any(name in each for each in taken):
            name, number = f"{plain}{number}", number + 1
        for each in taken:
            each.add(name)
        return name

    def _reachable(self) -> Iterator[ApiNode]:
        for schema in self.evolution.schemas:
            roots = [ApiNode(schema.version, each.root, root=True) for each in schema.resources]
            waiting, seen = list(roots), set(roots)
            yield from roots
            while waiting:
                for part in self.parts(waiting.pop()):
                    if part not in seen:
                        seen.add(part)
                        waiting.append(part)
                        yield part

    def parts(self, node: ApiNode) -> tuple[ApiNode, ...]:
        """The API types that one refers to."""
        definition = self.evolution.schema(node.version).definitions[node.key]
        return tuple(
            ApiNode(node.version, key)
            for each in types_of(definition, self.unspoken(node))
            for key in self.evolution.definitions_in(each)
        )

    def unspoken(self, node: ApiNode) -> frozenset[str]:
        """The properties that a class has no types for: its tag, and what names a resource."""
        schema = self.evolution.schema(node.version)
        definition = schema.definitions[node.key]
        tag = definition.tag if isinstance(definition, ObjectType) else None
        names = self._name_properties.get((node.version, node.key), ()) if node.root else ()
        return frozenset([tag, *names]) - {None}

    @cached_property
    def _name_properties(self) -> Mapping[tuple[ApiVersion, str], tuple[str, str]]:
        """What identifies each root's version and resource type."""
        return {
            (schema.version, each.root): ("apiVersion", each.name_property)
            for schema in self.evolution.schemas
            for each in schema.resources
        }

    def storage_parts(self, node: StorageNode) -> tuple[StorageNode, ...]:
        """The storage types that one refers to; stable subtrees are API types."""
        return tuple(
            StorageNode(child, node.version) for child in self.children(node) if not child.stable
        )

    @staticmethod
    def children(node: StorageNode) -> Iterator[Lineage]:
        """The lineages of the objects that a storage type refers to."""
        lineage = node.lineage
        for name in lineage.held(node.version):
            place = Place(node.version, name)
            for key in lineage.evolution.objects_in(node.version, lineage.type(place)):
                yield lineage.child(place, key)

    def _name_storage(self, wanted: tuple[StorageNode, ...]) -> None:
        nodes: dict[StorageNode, None] = {}
        waiting = [node for node in wanted if not node.lineage.stable]
        while waiting:
            node = waiting.pop()
            if node not in nodes:
                nodes[node] = None
                waiting.extend(self.storage_parts(node))
        self._find_stored_as_is(nodes)
        ordered = sorted(
            nodes,
            key=lambda each: (
                not each.lineage.is_root,
                each.version,
                each.lineage.nodes[each.version],
                tuple(each.lineage.nodes.items()),
            ),
        )
        own: dict[StorageNode, Hashable] = {node: self._own(node) for node in ordered}
        numbers = partition(ordered, own, {node: self.storage_parts(node) for node in ordered})
        first: dict[int, StorageNode] = {}
        for node in ordered:
            known = first.setdefault(numbers[node], node)
            if known.version < node.version:
                first[numbers[node]] = node
        units: dict[str, list[StorageNode]] = {}
        taken: dict[str, set[str]] = {}
        for node in ordered:
            if first[numbers[node]] is node:
                unit = f"storage.{node.version.identifier}"
                plain = class_name(node.lineage.definition(node.version).name)
                name, count = plain, 2
                while name in taken.setdefault(unit, set()):
                    name, count = f"{plain}{count}", count + 1
                taken[unit].add(name)
                self._paths[node] = ClassPath(unit, name)
                units.setdefault(unit, []).append(node)
            self._storage_first[node] = first[numbers[node]]
        for unit, members in units.items():
            self._place(unit, members)

    def _find_stored_as_is(self, nodes: Iterable[StorageNode]) -> None:
        """Finds the API types that storage types hold, and all that these do."""
        waiting = [
            ApiNode(node.version, child.nodes[node.version])
            for node in nodes
            for child in self.children(node)
            if child.stable
        ]
        for each in waiting:
            first = self.api_nodes[each]
            if first not in self._stored_as_is:
                self._stored_as_is.add(first)
                waiting.extend(self.parts(each))

    def _own(self, node: StorageNode) -> Hashable:
        """What a storage class is by itself: its tables depend on all versions of the type, not on its shape alone."""
        lineage, version = node.lineage, node.version
        root = id(lineage) if lineage.is_root or lineage.given else 0
        api = tuple(
            str(self.api(version, child.nodes[version]))
            for child in self.children(node)
            if child.stable
        )
        nullable = tuple(lineage.nullable(Place(version, name)) for name in lineage.held(version))
        number = self.evolution.identities[version, lineage.nodes[version]]
        alone = root or self.evolution.ruled(lineage.nodes)
        tables = (
            discriminators(lineage, version),
            tuple(list_keys(lineage, version).items()),
            tuple(entries_within(lineage, version).items()),
            tuple(entries_within_entries(lineage, version).items()),
            tuple(entries_as_free_form(lineage, version).items()),
            tuple(outside(lineage, version).items()),
            entries_of_one_value(lineage, version),
        )
        return (root, version if alone else None, number, api, nullable, tables)

    def _place(self, unit: str, nodes: Iterable[ApiNode | StorageNode]) -> None:
        """Spreads the classes of a unit over modules, dependencies first."""
        module, filled, number = unit, 0, 1
        for circle in self._circles(list(nodes)):
            if filled and filled + len(circle) > MODULE_LIMIT:
                number += 1
                module, filled = f"{unit}_{number}", 0
            for node in circle:
                self._paths[node] = ClassPath(module, self._paths[node].name)
                self.modules.setdefault(module, []).append(node)
            filled += len(circle)

    def _circles(self, nodes: list[ApiNode | StorageNode]) -> list[list[ApiNode | StorageNode]]:
        """The strongly connected components of some classes, dependencies first."""
        own = set(nodes)
        edges = {node: self._uses(node) & own for node in nodes}
        return strongly_connected(
            sorted(nodes, key=lambda each: self._paths[each]), edges, self._paths
        )

    def _uses(self, node: ApiNode | StorageNode) -> set[ApiNode | StorageNode]:
        if isinstance(node, ApiNode):
            return {self.api_nodes[part] for part in self.parts(node)}
        return {self._storage_first.get(part, part) for part in self.storage_parts(node)}


def types_of(definition: ObjectType | EnumType, but: Container[str] = ()) -> tuple[Type, ...]:
    """The types of all properties of a definition but some, additional ones included."""
    if isinstance(definition, EnumType):
        return ()
    types = tuple(each.type for each in definition.properties if each.name not in but)
    return types if definition.additional is None else (*types, definition.additional)


def strongly_connected(
    nodes: list[ApiNode | StorageNode],
    edges: Mapping[ApiNode | StorageNode, set[ApiNode | StorageNode]],
    order: Mapping[ApiNode | StorageNode, ClassPath],
) -> list[list[ApiNode | StorageNode]]:
    """Tarjan's algorithm without recursion: components in the order in which they can be written."""
    index: dict[ApiNode | StorageNode, int] = {}
    low: dict[ApiNode | StorageNode, int] = {}
    stack: list[ApiNode | StorageNode] = []
    on_stack: set[ApiNode | StorageNode] = set()
    found: list[list[ApiNode | StorageNode]] = []
    for start in nodes:
        if start in index:
            continue
        work = [(start, iter(sorted(edges[start], key=order.__getitem__)))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on_stack.add(start)
        while work:
            node, successors = work[-1]
            for successor in successors:
                if successor not in index:
                    index[successor] = low[successor] = len(index)
                    stack.append(successor)
                    on_stack.add(successor)
                    following = sorted(edges[successor], key=order.__getitem__)
                    work.append((successor, iter(following)))
                    break
                if successor in on_stack:
                    low[node] = min(low[node], index[successor])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component: list[ApiNode | StorageNode] = []
                    while not component or component[-1] != node:
                        component.append(stack.pop())
                        on_stack.discard(component[-1])
                    found.append(sorted(component, key=order.__getitem__))
    return found
