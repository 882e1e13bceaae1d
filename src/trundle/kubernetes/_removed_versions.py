"""`managedFields` that name a version which leaves a CRD: an API server drops such entries, and no manager owns their fields any more."""

from collections.abc import Collection
from typing import Any

from trundle.api import ServedKind, ServedVersion, renamed_fields
from trundle.api.apply import UnreadableFieldsError, encode
from trundle.kubernetes._owners import fields_of, identity


def without_leaving(
    entries: list[Any], kind: ServedKind, staying: Collection[str], target: ServedVersion
) -> list[Any]:
    """Entries of `managedFields` of which none names a version that leaves.

    Args:
        entries: the entries.
        kind: the resource type, with all versions that were ever served.
        staying: the versions that stay, by label.
        target: the version that entries name instead; what it does not show of their fields is given up.
    """
    found: dict[tuple[Any, ...], Any] = {}
    for each in entries:
        moved = _moved(each, kind, staying, target)
        if moved is None:
            continue
        same = found.get(identity(moved))
        if same is not None:
            moved = {**moved, "fieldsV1": encode(fields_of(same) | fields_of(moved))}
        found[identity(moved)] = moved
    return list(found.values())


def _moved(
    entry: dict[str, Any], kind: ServedKind, staying: Collection[str], target: ServedVersion
) -> dict[str, Any] | None:
    """An entry at a version that stays; None where that shows nothing of it."""
    group, _, label = str(entry.get("apiVersion")).rpartition("/")
    if group != kind.group or label in staying or label not in kind.versions:
        return entry
    try:
        fields = renamed_fields(kind, kind.versions[label], target, entry.get("fieldsV1"))
    except UnreadableFieldsError:
        return None
    if not fields:
        return None
    return {**entry, "apiVersion": kind.api_version(target), "fieldsV1": fields}
