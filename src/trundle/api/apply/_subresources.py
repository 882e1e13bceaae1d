"""What of an object a write through a subresource, or beside it, can change."""

from trundle.api.apply._fields import Json, Path, member

STATUS = "status"


def ignored(subresource: str) -> tuple[Path, ...]:
    """The places that a write cannot change where `status` is a subresource; they get no owner by it."""
    if subresource == STATUS:
        return ((member("metadata"),), (member("spec"),))
    return ((member(STATUS),),)


def restricted(subresource: str, live: Json, new: Json) -> Json:
    """An object after a write, with only those changes that the write can make where `status` is a subresource.

    Args:
        subresource: `status`, or nothing where the object itself is written.
        live: the object before; what has no `status` where it is created.
        new: the object after, with the `managedFields` of the write.
    """
    kept, changed = (live, new) if subresource == STATUS else (new, live)
    result = {key: value for key, value in kept.items() if key != STATUS}
    if STATUS in changed:
        result[STATUS] = changed[STATUS]
    managed = new.get("metadata", {}).get("managedFields")
    metadata = {
        key: value for key, value in result.get("metadata", {}).items() if key != "managedFields"
    }
    if managed:
        metadata["managedFields"] = managed
    return {**result, "metadata": metadata}
