"""Which versions a store keeps objects in: what the project's file and its lock say, in the schemas.

A schema says it itself where its format does, as a CRD by `storage`. What `hub:` in the project's file says counts
more; the lock adds every shape that a release may have stored.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec

from trundle.errors import Finding, did_you_mean, listed
from trundle.project.config import Config, HeldHub
from trundle.project.findings import ProjectCode, finding
from trundle.schema import Resource, Schema, group_of
from trundle.schema.readers import Declared
from trundle.version import ApiVersion, own_spelling

Recorded = Mapping[str, Collection[str]]
"""The storage versions that a lock records of each resource type, as it calls them."""


def with_storage(
    schemas: Iterable[Schema], hubs: Collection[HeldHub], recorded: Recorded
) -> tuple[Schema, ...]:
    """Schemas whose resources say what is stored in their shape."""
    held = {each.resource.casefold(): each.version for each in hubs}
    kept = {name.casefold(): versions for name, versions in recorded.items()}

    def said(version: ApiVersion, resource: Resource) -> Resource:
        names = _names(resource.name, group_of(resource.name, resource.group))
        hub = next((held[name] for name in names if name in held), None)
        stored = next((kept[name] for name in names if name in kept), ())
        was = resource.hub and hub not in (None, version)
        return msgspec.structs.replace(
            resource,
            hub=resource.hub if hub is None else version == hub,
            kept=resource.kept or was or any(own_spelling(x, [version]) for x in stored),
        )

    return tuple(
        msgspec.structs.replace(
            schema, resources=tuple(said(schema.version, each) for each in schema.resources)
        )
        for schema in schemas
    )


def _names(name: str, group: str) -> tuple[str, ...]:
    """What a resource type may be called, the more exact name first."""
    return (f"{group}/{name}".casefold(), name.casefold())


def unknown_hubs(config: Config, declared: Iterable[Declared]) -> Iterator[Finding]:
    """What `hub:` names and no schema has, or several groups do."""
    found: dict[str, dict[str, set[ApiVersion]]] = {}
    spelling: dict[str, str] = {}
    for each in declared:
        for name in _names(each.resource, each.group):
            found.setdefault(name, {}).setdefault(each.group, set()).add(each.version)
        spelling[each.resource.casefold()] = each.resource
    for held in config.hubs:
        groups = found.get(held.resource.casefold())
        if groups is None:
            what = f"`hub` names {held.resource}, which no schema has"
            yield _finding(held, what, did_you_mean(held.resource, spelling.values()))
        elif len(groups) > 1:
            what = f"`hub` names {held.resource}, which several groups have"
            choices = " or ".join(f"{group}/{held.resource}" for group in sorted(groups))
            yield _finding(held, what, f"write {choices}")
        else:
            (versions,) = groups.values()
            if held.version not in versions:
                what = f"`hub` holds {held.resource} at {held.version}, which it does not have"
                yield _finding(held, what, f"it has {listed(map(str, sorted(versions)))}")


def _finding(held: HeldHub, what: str, advice: str) -> Finding:
    return finding(ProjectCode.HUB, held.where, what, advice)
