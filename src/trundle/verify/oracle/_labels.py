"""What is shown of metadata where hooks write labels and annotations in it."""

import re
from typing import Any

from trundle.verify.oracle._expected import ANY
from trundle.verify.oracle._meeting import World

_LABEL = re.compile(r"metadata\.(labels|annotations)\[(.+)\]")


def shown_metadata(world: World, metadata: Any) -> Any:
    """What any version shows of a document's metadata: the same, but for what hooks decide.

    Args:
        world: the versions, rules and hooks.
        metadata: the document's; `MISSING` for none. What is no object has no labels, and is shown as it is unless a hook writes one.
    """
    written = [
        found.groups()
        for each in world.hooks
        for name in (*each.to[1], *each.back[1])
        if (found := _LABEL.fullmatch(name)) is not None
    ]
    if not written:
        return metadata
    members = dict(metadata) if isinstance(metadata, dict) else {}
    for field in {field for field, _ in written}:
        before = members.get(field)
        own = {key for at, key in written if at == field}
        rest = {
            key: value
            for key, value in (before if isinstance(before, dict) else {}).items()
            if key not in own
        }
        members[field] = {**rest, **dict.fromkeys(own, ANY)} if rest else ANY
    if all(each is ANY for each in members.values()) and not (
        isinstance(metadata, dict) and metadata
    ):
        return ANY
    return members
