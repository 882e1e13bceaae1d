"""Edits of free-form data by clients that see only part of it."""

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from trundle.runtime._json import encode

MergeLists: TypeAlias = Callable[[list[Any], list[Any], list[Any]], list[Any]]
"""Merges the elements of stored lists with those before and after an edit."""

_READ = msgspec.json.Decoder(dict[str, msgspec.Raw] | list[msgspec.Raw])


def merge_free_form(
    stored: Any, before: Any, after: msgspec.Raw, merge_lists: MergeLists
) -> msgspec.Raw:
    """Like `merge`, of free-form data: what the writer has, with what is in objects that it cannot see.

    The writer's version may know the types of what the stored version has as free-form data, and not see all of it.
    """
    if not isinstance(stored, msgspec.Raw) or not isinstance(before, msgspec.Raw):
        return after
    if bytes(stored) == bytes(before):  # the writer sees all of it
        return after
    mine, ours, theirs = (_opened(each) for each in (stored, before, after))
    if isinstance(mine, list) and isinstance(ours, list) and isinstance(theirs, list):
        elements = merge_lists(mine, ours, theirs)
        return after if _same_elements(elements, theirs) else msgspec.Raw(encode(elements))
    if not (isinstance(mine, dict) and isinstance(ours, dict) and isinstance(theirs, dict)):
        return after
    if _kinds(ours) != _kinds(theirs):
        return after
    merged = {
        name: merge_free_form(mine[name], ours[name], each, merge_lists)
        if name in mine and name in ours
        else each
        for name, each in theirs.items()
    }
    hidden = {name: mine[name] for name in mine if name not in ours and name not in theirs}
    if not hidden and all(merged[name] is theirs[name] for name in merged):
        return after  # as the writer spells it
    return msgspec.Raw(encode({**merged, **hidden}))


def _opened(value: msgspec.Raw) -> dict[str, msgspec.Raw] | list[msgspec.Raw] | None:
    """The members of a free-form object, or the elements of a list; None where it is something else."""
    if bytes(value).lstrip()[:1] not in (b"{", b"["):
        return None
    found: dict[str, msgspec.Raw] | list[msgspec.Raw] = _READ.decode(value)
    return found


def _same_elements(merged: Sequence[Any], written: Sequence[Any]) -> bool:
    return len(merged) == len(written) and all(map(operator.is_, merged, written))


def _kinds(members: Mapping[str, msgspec.Raw]) -> list[Any]:
    """What says of which variant a free-form object is, as far as its members show that."""
    return [members[name] for name in ("kind", "type") if name in members]
