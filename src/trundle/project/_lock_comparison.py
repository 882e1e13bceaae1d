"""Compares the stored formats of a project's parts with what its lock records of them.

The lock names a resource type as its package does. Where several groups have one of a name, it writes
`group/name`, so that each keeps its own records.
"""

from collections.abc import Mapping

import msgspec

from trundle.errors import Finding
from trundle.project._lock_file import LockFile
from trundle.project._parts import Outline
from trundle.project._readable import objections
from trundle.project._stored import StoredRelease, release_of, respelt
from trundle.project.findings import ProjectCode, finding
from trundle.project.loading import Project
from trundle.version import own_spelling


class Share(msgspec.Struct, frozen=True):
    """What a lock has to do with one part.

    Attributes:
        names: what the lock calls a resource type, by its name in small letters.
        releases: what is recorded, by the resource type and its storage version.
    """

    names: Mapping[str, str] = {}
    releases: Mapping[str, Mapping[str, StoredRelease]] = {}


class BrokenRelease(msgspec.Struct, frozen=True):
    """A recorded release whose stored objects could not be read any more.

    Attributes:
        name: the resource type, as the lock calls it.
        version: the storage version.
        findings: why.
        now: what would be recorded in its place; None where no schema has it.
    """

    name: str
    version: str
    findings: tuple[Finding, ...]
    now: StoredRelease | None


class Hub(msgspec.Struct, frozen=True):
    """The release of a resource type as it is now."""

    name: str
    version: str
    release: StoredRelease


class LockComparison(msgspec.Struct, frozen=True):
    """How the stored formats of a part compare with what its lock records."""

    broken: tuple[BrokenRelease, ...] = ()
    hubs: tuple[Hub, ...] = ()


def spelt_as_declared(lock: LockFile, outline: Outline) -> LockFile:
    """A lock that spells each version as the schemas do."""
    known = {each.version for part in outline.parts for each in part.declared}

    def own(text: str) -> str:
        found = own_spelling(text, known)
        return text if found is None else found.text

    resources = {
        name: {own(version): respelt(release, own) for version, release in releases.items()}
        for name, releases in lock.resources.items()
    }
    return LockFile(lock.format, resources)


def shares_of(
    outline: Outline, lock: LockFile, where: str
) -> tuple[Mapping[str, Share], tuple[Finding, ...]]:
    """The share of each part in a lock, by its name, and what belongs to several.

    What belongs to no part is in the share of the first.
    """
    holders: dict[str, list[tuple[str, str]]] = {}
    groups = {part.name: part.group or "" for part in outline.parts}
    for part in outline.parts:
        for name in part.resources:
            holders.setdefault(name.casefold(), []).append((part.name, name))
    names: dict[str, dict[str, str]] = {part.name: {} for part in outline.parts}
    releases: dict[str, dict[str, Mapping[str, StoredRelease]]] = {name: {} for name in names}
    owners: dict[str, tuple[str, str]] = {}
    for key, found in holders.items():
        for part_name, name in found:
            full = name if len(found) == 1 else f"{groups[part_name]}/{name}"
            names[part_name][key] = full
            owners[full.casefold()] = (part_name, name)
            owners.setdefault(f"{groups[part_name]}/{name}".casefold(), (part_name, name))
    findings = []
    for entry, recorded in lock.resources.items():
        key = entry.casefold()
        if key not in owners and key in holders:
            findings.append(_ambiguous(entry, [groups[part] for part, _ in holders[key]], where))
            continue
        first = outline.parts[0].name if outline.parts else None
        owner, name = owners.get(key, (first, entry))
        if owner is not None:
            names[owner][name.casefold()] = entry
            releases[owner][name] = recorded
    shares = {name: Share(names[name], releases[name]) for name in names}
    return shares, tuple(findings)


def _ambiguous(entry: str, groups: list[str], where: str) -> Finding:
    choices = " or ".join(f"{group}/{entry}" for group in groups)
    expected = f"{entry} to be recorded with its group, because several groups have one"
    return finding(
        ProjectCode.LOCK, where, "it without", f"write {choices} in its place", expected=expected
    )


def compare_with_lock(project: Project, share: Share) -> LockComparison:
    """How a part stands to its share of the lock."""
    where = str(project.config.path.with_name("trundle.lock"))
    resources = {each.name.casefold(): each for each in project.evolution.resources}
    broken = []
    for name, releases in share.releases.items():
        called = share.names[name.casefold()]
        for version, release in releases.items():
            found = tuple(
                objections(project.evolution, name, version, release, where, called=called)
            )
            if not found:
                continue
            resource = resources.get(name.casefold())
            at = (
                next((x for x in resource.resources if x.text == version), None)
                if resource
                else None
            )
            now = None if resource is None or at is None else release_of(resource, at)
            broken.append(BrokenRelease(called, version, found, now))
    hubs = [
        Hub(share.names[key], hub.text, release_of(resource, hub))
        for key, resource in resources.items()
        if (hub := resource.versions.hub)
        and key in share.names  # Not so of namesakes in one package.
    ]
    return LockComparison(tuple(broken), tuple(hubs))
