"""Everything that changed from one release of a project to the next, and how far each change goes.

A release is its folder: its schemas, rules, hooks and lock. Nothing of it is imported. What changed is read off the two sets of
plans: what clients of each API version can notice, what becomes of values between versions, and what is stored.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from trundle.packages import ChangeCode, ReleaseChange, judged, major, minor
from trundle.project._contract_changes import contract_changes
from trundle.project._conversion_changes import conversion_changes
from trundle.project._hook_changes import hook_changes
from trundle.project._readable import objections
from trundle.project._stored import release_of
from trundle.project.config import Config, load_config
from trundle.project.loading import Project, load_configured, load_parts
from trundle.schema.readers import is_python
from trundle.version import ApiVersion


def changes_between(before: Path, now: Path) -> Iterator[ReleaseChange]:
    """What changed between two releases of a project.

    Args:
        before: the project's file in the earlier release.
        now: the project's file in the later one.

    Raises:
        ConfigError: one of the files cannot be used.
        SchemaError: a schema cannot be read.
        ProjectError: there are no resources in the schemas, or a lock cannot be read.
    """
    ours, theirs = load_config(before), load_config(now)
    yield from _config_changes(ours, theirs)
    yield from hook_changes(ours, theirs)
    if any(is_python(source) for config in (ours, theirs) for source in config.sources):
        place, text = theirs.package, "schemas written in Python are not compared; compare them"
        yield judged(ChangeCode.NOT_COMPARED, place, text)
        return
    bare = [msgspec.structs.replace(each, hooks=()) for each in (ours, theirs)]  # No code is run.
    if bool(ours.groups) != bool(theirs.groups):
        text = "its resource types are now in " + ("groups" if theirs.groups else "one package")
        yield major(ChangeCode.PACKAGE_RENAMED, ours.package, text)
        yield from _project_changes(*map(load_configured, bare))
        return
    yield from _parts_changes(*map(load_parts, bare))


def _parts_changes(
    before: Mapping[str, Project], now: Mapping[str, Project]
) -> Iterator[ReleaseChange]:
    """What changed in each group, or in a project without groups as a whole."""
    for name in sorted(before.keys() - now.keys()):
        for each in _offered(before[name]).values():
            yield major(ChangeCode.RESOURCE_REMOVED, each.name, "the resource type is removed")
    for name in sorted(now.keys() - before.keys()):
        for each in _offered(now[name]).values():
            yield minor(ChangeCode.RESOURCE_ADDED, each.name, "the resource type is new")
    for name in sorted(before.keys() & now.keys()):
        yield from _project_changes(before[name], now[name])


def _config_changes(before: Config, now: Config) -> Iterator[ReleaseChange]:
    if before.package != now.package:
        text = f"the generated package {before.package} is now {now.package}"
        yield major(ChangeCode.PACKAGE_RENAMED, before.package, text)
    if before.unknown != now.unknown:
        place = f"`unknown` of {now.package}"
        if now.unknown == "error":
            text = "unknown properties that clients write are refused now"
            yield major(ChangeCode.UNKNOWN_REFUSED, place, text)
        else:
            text = "unknown properties that clients write are kept now"
            yield minor(ChangeCode.UNKNOWN_KEPT, place, text)


def _project_changes(before: Project, now: Project) -> Iterator[ReleaseChange]:
    yield from _version_changes(before, now)
    schemas = {each.version: each for each in now.evolution.schemas}
    for each in before.evolution.schemas:
        if each.version in schemas:
            yield from contract_changes(each, schemas[each.version])
    yield from conversion_changes(before, now)
    yield from _stored_changes(before, now)


class _Offered(msgspec.Struct, frozen=True):
    """The API versions of a resource type, and those that clients are meant to use."""

    name: str
    versions: frozenset[ApiVersion]
    served: frozenset[ApiVersion]


def _offered(project: Project) -> dict[str, _Offered]:
    return {
        each.name.casefold(): _Offered(
            each.name,
            frozenset(each.versions.versions),
            frozenset(each.served(project.config.horizon)),
        )
        for each in project.evolution.resources
    }


def _version_changes(before: Project, now: Project) -> Iterator[ReleaseChange]:
    ours, theirs = _offered(before), _offered(now)
    for key in sorted(ours.keys() - theirs.keys()):
        yield major(ChangeCode.RESOURCE_REMOVED, ours[key].name, "the resource type is removed")
    for key in sorted(theirs.keys() - ours.keys()):
        yield minor(ChangeCode.RESOURCE_ADDED, theirs[key].name, "the resource type is new")
    for key in sorted(ours.keys() & theirs.keys()):
        one, other = ours[key], theirs[key]
        for each in sorted(one.versions - other.versions):
            text = "the API version is removed"
            yield major(ChangeCode.VERSION_REMOVED, f"{one.name} {each}", text)
        for each in sorted(other.versions - one.versions):
            text = "the API version is new"
            yield minor(ChangeCode.VERSION_ADDED, f"{other.name} {each}", text)
        both = one.versions & other.versions
        for each in sorted(both & (one.served - other.served)):
            text = "the API version is no longer served"
            yield major(ChangeCode.NOT_SERVED, f"{one.name} {each}", text)
        for each in sorted(both & (other.served - one.served)):
            text = "the API version is served now"
            yield minor(ChangeCode.SERVED, f"{one.name} {each}", text)


def _stored_changes(before: Project, now: Project) -> Iterator[ReleaseChange]:
    """Objects that the earlier release may have stored, and the later one cannot read."""
    for resource in before.evolution.resources:
        stored = {resource.versions.hub, *resource.versions.kept}
        for version in sorted(stored & resource.resources.keys()):
            release = release_of(resource, version)
            for each in objections(now.evolution, resource.name, version.text, release, ""):
                place = f"stored {resource.name} {version}"
                yield major(ChangeCode.STORED_LOST, place, each.found)
