"""Finds which resource types and API versions the next version of a package brings, and which it no longer does."""

import msgspec

from trundle.channels import RefusedError
from trundle.channels.decision import Bringing, UpgradePlan
from trundle.installation._installation import Installation
from trundle.installation._records import InstalledPackage
from trundle.packages import resource_changes
from trundle.registry import RegistryError, open_repository


def with_resources(
    installation: Installation, package: InstalledPackage, plan: UpgradePlan
) -> UpgradePlan:
    """A plan that says what its next version changes about resource types.

    The manifest of that version is read, none of its files. If it cannot be read, the plan has a note.
    """
    entry = plan.next_version
    if entry is None or package.pinned is not None:
        return plan
    where = f"{package.name} {entry.version}"
    place = package.subscription.repository
    try:
        source = open_repository(place, settings=installation.settings)
        reference = entry.digest or entry.tag_name
        manifest = installation.content.look(source, reference, where).package
    except (RefusedError, RegistryError) as error:
        note = f"what {entry.version} brings is not known: {error}"
        return msgspec.structs.replace(plan, notes=(*plan.notes, note))
    changes = resource_changes(package.manifest, manifest)
    bringing = Bringing(entry.version, changes) if changes else None
    return msgspec.structs.replace(plan, bringing=bringing)
