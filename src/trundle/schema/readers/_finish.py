"""From a table under temporary keys to a schema: equal definitions joined, unreachable ones left out."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from trundle.schema._model import (
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
    SchemaError,
    Type,
    Union,
)
from trundle.schema.readers._names import pascal
from trundle.schema.readers._roots import Root
from trundle.schema.readers._table import Definition, Table, references, types_of
from trundle.version import ApiVersion

Group = Sequence[tuple[Root, Type]]


def finish(version: ApiVersion, table: Table, groups: Iterable[Group]) -> Schema:
    """The schema of one API version.

    Args:
        version: the API version.
        table: everything that was read.
        groups: for each resource, its declarations with the type of each; several where a document
            declares it for several scopes.

    Raises:
        SchemaError: a resource is no object.
    """
    groups = list(groups)
    _join_equal(table)
    leaders = {key: key for key in table.definitions}
    leaders.update(table.joined)
    resources = [_resource(group, table, leaders) for group in groups]
    reached = _reached(table, (each.root for each in resources))
    keys = _final_keys(table, reached)
    definitions = {keys[key]: _rekey(table.definitions[key], keys) for key in reached}
    return Schema(
        version=version,
        definitions=dict(sorted(definitions.items())),
        resources=tuple(
            msgspec.structs.replace(each, root=keys[each.root])
            for each in sorted(resources, key=lambda x: (x.name, x.group))
        ),
        sources=tuple(sorted({root.file for group in groups for root, _ in group})),
    )


def _join_equal(table: Table) -> None:
    """Joins namesakes that have the same shape, all that they refer to included.

    Starts from the assumption that all namesakes are equal and splits them until nothing more splits, so
    that recursive definitions join too.
    """
    definitions = table.definitions
    namesakes: dict[Any, list[str]] = defaultdict(list)
    for key, each in definitions.items():
        namesakes[each.name, each.named, type(each)].append(key)
    colors = {key: number for number, keys in enumerate(namesakes.values()) for key in keys}
    doubtful = [key for keys in namesakes.values() if len(keys) > 1 for key in keys]
    count = len(namesakes)
    while doubtful:
        seen: dict[Any, int] = {}
        renewed = {}
        for key in doubtful:
            signature = (colors[key], _signature(definitions[key], colors))
            renewed[key] = seen.setdefault(signature, len(definitions) + count + len(seen))
        before = len(set(colors.values()))
        colors.update(renewed)
        count += len(seen)
        if len(set(colors.values())) == before:
            break
    classes: dict[int, list[str]] = defaultdict(list)
    for key in doubtful:
        classes[colors[key]].append(key)
    for keys in classes.values():
        leader = min(keys, key=lambda key: table.order[key])
        table.joined.update((key, leader) for key in keys if key != leader)
    if table.joined:
        for key in table.joined:
            del definitions[key]
        leaders = {key: key for key in definitions} | table.joined
        for key, each in definitions.items():
            definitions[key] = _rekey(each, leaders)


def _signature(definition: Definition, colors: Mapping[str, int]) -> Any:
    if isinstance(definition, EnumType):
        return definition.kind, tuple((type(x), x) for x in definition.values)
    return (
        definition.embedded,
        _sign(definition.additional, colors),
        tuple(
            (x.name, x.required, _sign(x.type, colors), repr(x.default), repr(x.constraints))
            for x in definition.properties
        ),
    )


def _sign(kind: Type | None, colors: Mapping[str, int]) -> Any:
    match kind:
        case Ref(key):
            return colors[key]
        case ListOf(items, keys):
            return "list", _sign(items, colors), keys
        case MapOf(values):
            return "map", _sign(values, colors)
        case Nullable(inner):
            return "null", _sign(inner, colors)
        case Union(variants):
            return "union", frozenset(Counter(_sign(each, colors) for each in variants).items())
        case _:
            return kind


def _resource(group: Group, table: Table, leaders: Mapping[str, str]) -> Resource:
    """The resource that some declarations describe together."""
    first = group[0][0]
    keys: dict[str, None] = {}
    for root, kind in group:
        for variant in _object_variants(kind):
            key = leaders.get(variant.key) if isinstance(variant, Ref) else None
            if key is None or not isinstance(table.definitions[key], ObjectType):
                raise SchemaError(
                    root.node.document.file,
                    f"#{root.node.pointer}",
                    f"the resource {root.resource} must be an object with properties",
                )
            keys[key] = None
    found = next(iter(keys))
    if len(keys) > 1:
        objects = [x for key in keys if isinstance(x := table.definitions[key], ObjectType)]
        combined = _combine(objects, first.definition, table)
        order: tuple[Any, ...] = (False, first.node.document.file, -1, [], 0)
        found = table.add(combined, order).key
    return Resource(
        name=first.resource,
        root=found,
        scope=",".join(dict.fromkeys(root.scope for root, _ in group if root.scope)),
        group=first.group,
        name_property=first.name_property,
        served=any(root.served for root, _ in group),
        deprecated=first.deprecated,
        hub=any(root.hub for root, _ in group),
        status_apart=first.status_apart,
        scaling=first.scaling,
        selectable=first.selectable,
        names=first.names,
    )


def _object_variants(kind: Type) -> tuple[Type, ...]:
    match kind:
        case Nullable(inner):
            return _object_variants(inner)
        case Union(variants):
            return variants
        case _:
            return (kind,)


def _combine(objects: Sequence[ObjectType], name: str, table: Table) -> ObjectType:
    """One object that admits whatever one of these admits."""
    names = sorted({each.name for kind in objects for each in kind.properties})
    properties = []
    for each in names:
        declared = [found for kind in objects if (found := kind.property(each)) is not None]
        properties.append(_combine_property(declared, len(objects), name, table))
    additional = [x.additional for x in objects if x.additional is not None]
    return ObjectType(
        name=name,
        named=True,
        properties=tuple(properties),
        additional=table.union(additional) if additional else None,
        doc=next((each.doc for each in objects if each.doc), ""),
        source=objects[0].source,
        embedded=False,
        example=next((x.example for x in objects if x.example is not ABSENT), ABSENT),
    )


def _combine_property(
    declared: Sequence[Property], count: int, owner: str, table: Table
) -> Property:
    first = declared[0]
    kind = table.union(each.type for each in declared)
    enum = table.enum(kind)
    if isinstance(kind, Ref) and enum is not None and not enum.named and len(declared) > 1:
        renamed = msgspec.structs.replace(enum, name=owner + pascal(first.name))
        if renamed != enum:
            kind = table.add(renamed, table.order[kind.key])
    shared = [
        each for each in first.constraints if all(each in x.constraints for x in declared[1:])
    ]
    return Property(
        name=first.name,
        type=kind,
        required=len(declared) == count and all(each.required for each in declared),
        default=first.default if all(x.default == first.default for x in declared) else ABSENT,
        doc=next((each.doc for each in declared if each.doc), ""),
        constraints=tuple(shared),
        about=next((each.about for each in declared if each.about), ()),
    )


def _reached(table: Table, roots: Iterable[str]) -> list[str]:
    found: dict[str, None] = {}
    pending = list(roots)
    while pending:
        key = pending.pop()
        if key not in found:
            found[key] = None
            for kind in types_of(table.definitions[key]):
                pending.extend(references(kind))
    return list(found)


def _final_keys(table: Table, reached: Iterable[str]) -> dict[str, str]:
    """The name for each definition, with a suffix where an earlier one has it already."""
    ordered = sorted(reached, key=lambda key: (table.definitions[key].name, table.order[key]))
    plain = {table.definitions[key].name for key in ordered}
    taken: set[str] = set()
    keys = {}
    for key in ordered:
        name = candidate = table.definitions[key].name
        number = 1
        while candidate in taken or (number > 1 and candidate in plain):
            number += 1
            candidate = f"{name}_{number}"
        taken.add(candidate)
        keys[key] = candidate
    return keys


def _rekey(definition: Definition, keys: Mapping[str, str]) -> Definition:
    if isinstance(definition, EnumType):
        return definition
    properties = tuple(
        msgspec.structs.replace(each, type=_renamed(each.type, keys))
        for each in definition.properties
    )
    additional = None if definition.additional is None else _renamed(definition.additional, keys)
    return msgspec.structs.replace(definition, properties=properties, additional=additional)


def _renamed(kind: Type, keys: Mapping[str, str]) -> Type:
    match kind:
        case Ref(key):
            return Ref(keys[key])
        case ListOf(items, names):
            return ListOf(_renamed(items, keys), names)
        case MapOf(values):
            return MapOf(_renamed(values, keys))
        case Nullable(inner):
            return Nullable(_renamed(inner, keys))
        case Union(variants):
            renamed = tuple(dict.fromkeys(_renamed(each, keys) for each in variants))
            return renamed[0] if len(renamed) == 1 else Union(renamed)
        case Scalar() | FreeForm():
            return kind
