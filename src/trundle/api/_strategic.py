"""Strategic merge patches, which clients send for Kubernetes' own resource types, such as namespaces.

kubectl applies and edits namespaces by them, and recorders of events count by them. They are merge patches that say more of lists.

Source: `sig-api-machinery/strategic-merge-patch.md` of the Kubernetes community.
"""

from collections.abc import Mapping
from typing import Any

_MERGED: Mapping[str, str] = {"conditions": "type", "finalizers": "", "ownerReferences": "uid"}
"""The lists that are merged, and by which member of their elements; empty where elements are texts. All others are replaced."""

_DIRECTIVE = "$patch"
_REMOVED = "$deleteFromPrimitiveList/"
_RETAINED = "$retainKeys"


def merge_strategically(document: Any, patch: Any) -> Any:
    """A document after a strategic merge patch; the input is not changed."""
    if not isinstance(patch, dict):
        return patch
    said = {name: each for name, each in patch.items() if not name.startswith("$")}
    if patch.get(_DIRECTIVE) == "delete":
        return {}
    if patch.get(_DIRECTIVE) == "replace" or not isinstance(document, dict):
        return merge_strategically({}, said)
    retained = patch.get(_RETAINED)
    merged = {
        name: each
        for name, each in document.items()
        if not isinstance(retained, list) or name in retained
    }
    for name, gone in patch.items():
        listed = merged.get(name.removeprefix(_REMOVED))
        if name.startswith(_REMOVED) and isinstance(listed, list) and isinstance(gone, list):
            merged[name.removeprefix(_REMOVED)] = [each for each in listed if each not in gone]
    for name, value in said.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = _merged(name, merged.get(name), value)
    return merged


def _merged(name: str, known: Any, value: Any) -> Any:
    """The value of a member."""
    if name not in _MERGED or not isinstance(value, list):
        return merge_strategically(known, value)
    listed = known if isinstance(known, list) else []
    key = _MERGED[name]
    if not key:
        return [*listed, *(each for each in value if each not in listed)]
    return _by_key(listed, value, key)


def _by_key(known: list[Any], given: list[Any], key: str) -> list[Any]:
    """A list of objects with what is given for those that a member identifies."""
    found = list(known)
    for each in given:
        if not isinstance(each, dict):
            continue
        same = [
            other for other in found if isinstance(other, dict) and other.get(key) == each.get(key)
        ]
        if each.get(_DIRECTIVE) == "delete":
            found = [other for other in found if other not in same]
        elif same:
            found[found.index(same[0])] = merge_strategically(same[0], each)
        else:
            found.append(merge_strategically({}, each))
    return found
