"""Edits of free-form data by clients that see only part of it."""

from collections.abc import Mapping
from typing import Any

import msgspec

from trundle.runtime._json import encode

_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])


def merge_free_form(stored: Any, before: Any, after: msgspec.Raw) -> msgspec.Raw:
    """Like `merge`, of free-form data: what the writer has, with the members of objects that it cannot see.

    The writer's version may know the types of what the stored version has as free-form data, and not see all of it.
    """
    mine, ours, theirs = (_members(each) for each in (stored, before, after))
    if mine is None or ours is None or theirs is None or _kinds(ours) != _kinds(theirs):
        return after
    merged = {
        name: merge_free_form(mine[name], ours[name], each)
        if name in mine and name in ours
        else each
        for name, each in theirs.items()
    }
    hidden = {name: mine[name] for name in mine if name not in ours and name not in theirs}
    if not hidden and all(merged[name] is theirs[name] for name in merged):
        return after  # as the writer spells it
    return msgspec.Raw(encode({**merged, **hidden}))


def _members(value: Any) -> dict[str, msgspec.Raw] | None:
    """The members of a free-form object; None where it is something else."""
    if not isinstance(value, msgspec.Raw) or not bytes(value).lstrip().startswith(b"{"):
        return None
    return _MEMBERS.decode(value)


def _kinds(members: Mapping[str, msgspec.Raw]) -> list[Any]:
    """What says of which variant a free-form object is, as far as its members show that."""
    return [members[name] for name in ("kind", "type") if name in members]
