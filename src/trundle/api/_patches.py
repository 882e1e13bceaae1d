"""The patches that resources take: JSON merge patches and JSON patches, and strategic merge patches where these are Kubernetes' own.

Sources: RFC 7386, RFC 6902.
"""

import copy
import re
from collections.abc import Callable, Mapping
from typing import Any

import jsonpatch
import jsonpointer

from trundle.api._documents import require_bounded, too_deep
from trundle.api._kinds import ServedKind
from trundle.api._status import ApiError, bad_request, unsupported_media_type
from trundle.api._strategic import merge_strategically

MERGE = "application/merge-patch+json"
JSON = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"
STRATEGIC = "application/strategic-merge-patch+json"
_MOST_OPERATIONS = 10_000
_FROM_THE_END = re.compile("-[1-9][0-9]{0,8}")
_ADDING = frozenset({"add", "copy", "move"})


def merge(document: Any, patch: Any) -> Any:
    """A document after a JSON merge patch; the input is not changed."""
    if not isinstance(patch, dict):
        return _without_nulls(patch)
    merged = dict(document) if isinstance(document, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge(merged.get(name), value)
    return merged


def _without_nulls(value: Any) -> Any:
    """A list without the null members of objects in it, as API servers read it."""
    if isinstance(value, list):
        return [_without_nulls(each) for each in value]
    return merge({}, value) if isinstance(value, dict) else value


def apply_operations(document: Any, operations: Any) -> Any:
    """A document after a JSON patch; the input is not changed.

    Raises:
        ApiError: the patch is none, or does not fit the document, or makes it nested too deeply.
    """
    if not isinstance(operations, list):
        raise bad_request("a JSON patch is a list of operations")
    if len(operations) > _MOST_OPERATIONS:
        message = f"the allowed maximum operations in a JSON patch is {_MOST_OPERATIONS}, got {len(operations)}"
        raise ApiError(413, "RequestEntityTooLarge", message)
    patched = copy.deepcopy(document)
    for number, operation in enumerate(operations, 1):
        try:
            meant = _meant(operation, patched)
            patched = jsonpatch.JsonPatch(meant).apply(patched, in_place=True)
        except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException, TypeError) as error:
            why = f"operation {number} of the JSON patch does not fit: {_reason(operation, error)}"
            raise ApiError(422, "Invalid", why, details={}) from None
        except RecursionError:  # Operations can put a document into itself.
            raise too_deep() from None
    require_bounded(patched)
    return patched


def _meant(operation: Any, document: Any) -> list[Any]:
    """An operation as API servers apply it to a document.

    Places in lists may be counted from the end. A member that is not there is replaced by being added, and `test` finds null in its place,
    by which clients say that nothing is there.
    """
    if not isinstance(operation, dict):
        return [operation]
    operation = _counted(operation, document)
    if operation.get("op") not in {"replace", "test"}:
        return [operation]
    path = operation.get("path")
    if not isinstance(path, str) or not path.startswith("/"):
        return [operation]
    owner, name = jsonpointer.JsonPointer(path).to_last(document)
    if not isinstance(owner, dict) or name in owner:
        return [operation]
    if operation["op"] == "replace":
        return [{**operation, "op": "add"}]
    return [] if operation.get("value", "") is None else [operation]


def _counted(operation: dict[str, Any], document: Any) -> dict[str, Any]:
    """An operation whose places in lists are counted from the start."""
    found = dict(operation)
    for member in ("from", "path"):
        path = operation.get(member)
        if not isinstance(path, str) or "/-" not in path:
            continue
        owner, parts = document, path.split("/")
        for place, part in enumerate(parts[1:], 1):
            if isinstance(owner, list) and _FROM_THE_END.fullmatch(part):
                is_last = place == len(parts) - 1
                adds = is_last and member == "path" and operation.get("op") in _ADDING
                moves = adds and operation.get("op") == "move"
                within = moves and _owner_of(found.get("from")) == "/".join(parts[:place])
                parts[place] = str(len(owner) + int(part) + adds - within)
            owner = _inside(owner, parts[place])
        found[member] = "/".join(parts)
    return found


def _owner_of(path: Any) -> Any:
    return path.rpartition("/")[0] if isinstance(path, str) else None


def _inside(owner: Any, part: str) -> Any:
    """What a part of a path leads to; None where there is nothing."""
    if isinstance(owner, list):
        return owner[int(part)] if part.isdigit() and int(part) < len(owner) else None
    return owner.get(jsonpointer.unescape(part)) if isinstance(owner, dict) else None


def _reason(operation: Any, error: Exception) -> str:
    """Why an operation cannot be applied, without the document that it does not fit."""
    if not isinstance(operation, dict):
        return "it is no object"
    place = operation.get("path")
    if isinstance(error, jsonpatch.JsonPatchTestFailed):
        return f"{place} does not have the value that `test` expects"
    if isinstance(error, jsonpatch.InvalidJsonPatch):
        return str(error)
    places = " and ".join(str(operation[each]) for each in ("from", "path") if each in operation)
    return f"the object has no place for `{operation.get('op')}` at {places}"


def merge_object(document: Any, patch: Any) -> Any:
    """A document after a merge patch of a whole object; the input is not changed.

    Raises:
        ApiError: the patch is no JSON object.
    """
    return merge(document, _required_object(patch))


def merge_object_strategically(document: Any, patch: Any) -> Any:
    """A document after a strategic merge patch of a whole object; the input is not changed.

    Raises:
        ApiError: the patch is no JSON object.
    """
    return merge_strategically(document, _required_object(patch))


def _required_object(patch: Any) -> dict[str, Any]:
    if not isinstance(patch, dict):
        raise bad_request("a merge patch is a JSON object")
    return patch


PATCHES: Mapping[str, Callable[[Any, Any], Any]] = {
    JSON: apply_operations,
    MERGE: merge_object,
    STRATEGIC: merge_object_strategically,
}
"""How to apply a patch, by its media type."""


def patch_of(media_type: str, kind: ServedKind) -> Callable[[Any, Any], Any]:
    """How to apply a patch of a media type to objects of a resource type.

    Raises:
        ApiError: it is not supported.
    """
    # As in a cluster: custom resources have a group, Kubernetes' own have none.
    known = [each for each in PATCHES if each != STRATEGIC or not kind.group]
    if media_type not in known:
        raise unsupported_media_type(media_type, (*known, APPLY))
    return PATCHES[media_type]
