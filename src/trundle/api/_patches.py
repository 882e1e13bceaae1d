"""The patches that custom resources take: JSON merge patches and JSON patches.

Sources: RFC 7386, RFC 6902.
"""

from collections.abc import Callable, Mapping
from typing import Any

import jsonpatch
import jsonpointer

from trundle.api._status import ApiError, bad_request, unsupported_media_type

MERGE = "application/merge-patch+json"
JSON = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"
_MOST_OPERATIONS = 10_000


def merge(document: Any, patch: Any) -> Any:
    """A document after a JSON merge patch; the input is not changed."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(document) if isinstance(document, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge(merged.get(name), value)
    return merged


def apply_operations(document: Any, operations: Any) -> Any:
    """A document after a JSON patch; the input is not changed.

    Raises:
        ApiError: the patch is none, or does not fit the document.
    """
    if not isinstance(operations, list):
        raise bad_request("a JSON patch is a list of operations")
    if len(operations) > _MOST_OPERATIONS:
        message = f"the allowed maximum operations in a JSON patch is {_MOST_OPERATIONS}, got {len(operations)}"
        raise ApiError(413, "RequestEntityTooLarge", message)
    try:
        return jsonpatch.JsonPatch(operations).apply(document)
    except jsonpatch.JsonPatchTestFailed as error:
        raise ApiError(422, "Invalid", f"the test of a JSON patch failed: {error}") from None
    except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException, TypeError) as error:
        raise ApiError(422, "Invalid", f"the JSON patch does not fit: {error}") from None


def merge_object(document: Any, patch: Any) -> Any:
    """A document after a merge patch of a whole object; the input is not changed.

    Raises:
        ApiError: the patch is no JSON object.
    """
    if not isinstance(patch, dict):
        raise bad_request("a merge patch is a JSON object")
    return merge(document, patch)


PATCHES: Mapping[str, Callable[[Any, Any], Any]] = {JSON: apply_operations, MERGE: merge_object}
"""How to apply a patch, by its media type."""


def patch_of(media_type: str) -> Callable[[Any, Any], Any]:
    """How to apply a patch of a media type.

    Raises:
        ApiError: it is not supported.
    """
    found = PATCHES.get(media_type)
    if found is None:
        raise unsupported_media_type(media_type, (*PATCHES, APPLY))
    return found
