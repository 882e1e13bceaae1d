"""Where a generated package has what a hook reads and writes: records, and the attributes of properties in them."""

import msgspec

from trundle.codegen._blueprint import Blueprint
from trundle.codegen._hook_names import record_name
from trundle.codegen._lifted import attribute_at
from trundle.codegen._live_hooks import HookKey
from trundle.codegen._types import TypeRenderer
from trundle.evolution import (
    HookDeclaration,
    Lineage,
    Neighbours,
    Place,
    converter_names,
    hooks_among,
)


class HookRecords(msgspec.Struct, frozen=True, kw_only=True):
    """What a method of a hook is given by generated code, and what it returns.

    Attributes:
        module: the module of the records in each generated package; where there are many places, it has numbered parts.
        written: the record of the side that is written.
        reads: the attributes that it reads, by property.
        writes: the attributes that it writes, by property; of a converter, those that may get what it makes.
    """

    module: str
    written: str
    reads: dict[str, str]
    writes: dict[str, str]


def hook_records(blueprint: Blueprint) -> dict[HookKey, HookRecords]:
    """The records of all methods of hooks that a generated package calls."""
    types = TypeRenderer(blueprint.classes)
    found: dict[HookKey, HookRecords] = {}
    for lineage in dict.fromkeys(key.lineage for key in blueprint.plans):
        for hook in hooks_among(lineage):
            found.update(_assigning(types, lineage, hook))
            found.update(_converting(types, lineage, hook))
    return found


def _between(hook: HookDeclaration) -> Neighbours:
    return Neighbours(hook.reference.older, hook.reference.newer)


def _key(hook: HookDeclaration, name: str, *, up: bool, assigns: bool) -> HookKey:
    return HookKey(hook.reference.type, _between(hook), up, assigns, hook.method(name))


def _records(
    hook: HookDeclaration, *, up: bool, reads: dict[str, str], writes: dict[str, str]
) -> HookRecords:
    between = _between(hook)
    return HookRecords(
        module=f"hooks.{between.older.identifier}_to_{between.newer.identifier}",
        written=record_name(hook.reference.type, older=not up),
        reads=reads,
        writes=writes,
    )


def _assigning(
    types: TypeRenderer, lineage: Lineage, hook: HookDeclaration
) -> dict[HookKey, HookRecords]:
    found = {}
    for name, declared in hook.assign.items():
        up = name == "assign_to"
        older, newer = hook.reference.older, hook.reference.newer
        ends = (older, newer) if up else (newer, older)
        reads, writes = (
            {each: attribute_at(types, lineage, Place(version, each)) for each in names}
            for version, names in zip(ends, (declared.reads, declared.writes), strict=True)
        )
        key = _key(hook, name, up=up, assigns=True)
        found[key] = _records(hook, up=up, reads=reads, writes=writes)
    return found


def _converting(
    types: TypeRenderer, lineage: Lineage, hook: HookDeclaration
) -> dict[HookKey, HookRecords]:
    found: dict[HookKey, HookRecords] = {}
    for link in lineage.links:
        if Neighbours(link.older.version, link.newer.version) != _between(hook):
            continue
        up, down = converter_names(lineage, link.older, link.newer)
        for name, target in ((up, link.newer), (down, link.older)):
            if up == down or name not in hook.converters:
                continue
            key = _key(hook, name, up=name == up, assigns=False)
            known = found.get(key)
            writes = {} if known is None else known.writes
            attribute = attribute_at(types, lineage, target)
            written = {**writes, target.property: attribute}
            found[key] = _records(hook, up=name == up, reads={}, writes=written)
    return found
