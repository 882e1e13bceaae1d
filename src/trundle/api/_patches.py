"""The patches that resources take: JSON merge patches and JSON patches, and strategic merge patches where these are Kubernetes' own.

Sources: RFC 7386, RFC 6902.
"""

import copy
import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from trundle.api._documents import require_bounded, text_of, too_deep
from trundle.api._kinds import ServedKind
from trundle.api._status import ApiError, bad_request, type_name, unsupported_media_type
from trundle.api._strategic import merge_strategically
from trundle.errors import expectation

MERGE = "application/merge-patch+json"
JSON = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"
STRATEGIC = "application/strategic-merge-patch+json"
_MOST_OPERATIONS = 10_000
_MEMBERS = frozenset({"op", "path", "from", "value"})
_INDEX = re.compile("[-+]?[0-9]{1,9}")
"""A place in a list, which may be counted from the end."""


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
    operations = _read(operations)
    patched = copy.deepcopy(document)
    for number, operation in enumerate(operations, 1):
        try:
            patched = _done(operation, patched)
        except _UnfitError as error:
            why = f"operation {number} of the JSON patch does not fit: {error}"
            raise ApiError(422, "Invalid", why, details={}) from None
        except RecursionError:  # Operations can put a document into itself.
            raise too_deep() from None
    require_bounded(patched)
    return patched


def _read(operations: Any) -> list[dict[str, Any]]:
    """The operations of a JSON patch; none where it is null.

    Raises:
        ApiError: it is no JSON patch, or has too many.
    """
    operations = [] if operations is None else operations
    if not isinstance(operations, list):
        raise bad_request("a JSON patch is a list of operations")
    if len(operations) > _MOST_OPERATIONS:
        message = f"the allowed maximum operations in a JSON patch is {_MOST_OPERATIONS}, got {len(operations)}"
        raise ApiError(413, "RequestEntityTooLarge", message)
    found = [{} if each is None else each for each in operations]
    for number, each in enumerate(found, 1):
        if not isinstance(each, dict):
            said = expectation("an object", type_name(each))
            raise bad_request(f"operation {number} of the JSON patch: {said}")
        for name in ("op", "path", "from"):
            if not isinstance(each.get(name), str | None):
                said = expectation(f"a text as {name}", type_name(each[name]))
                raise bad_request(f"operation {number} of the JSON patch: {said}")
    return found


def unknown_of_operations(body: bytes) -> list[str]:
    """The places in the text of a JSON patch of members that no operation has; none where it is no patch."""
    try:
        operations = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return []
    return [
        f"[{index}].{name}"
        for index, each in enumerate(operations if isinstance(operations, list) else ())
        for name in (each if isinstance(each, dict) else ())
        if name not in _MEMBERS
    ]


class _UnfitError(Exception):
    """An operation does not fit a document."""


def _done(operation: dict[str, Any], document: Any) -> Any:
    """A document after an operation, as API servers do it.

    Places in lists may be counted from the end, a value that is not given is null, a member that is not there can be replaced, and `test` and
    `copy` find null in its place, by which clients say that nothing is there.

    Raises:
        _UnfitError: it does not fit.
    """
    kind, value = operation.get("op"), operation.get("value")
    place = _Place(document, operation, "path")
    match kind:
        case "test":
            if not _alike(place.found(), value):
                raise _UnfitError(f"{place.said} does not have the value that `test` expects")
        case "remove":
            place.remove()
        case "replace":
            if not place.parts:
                return value
            place.replace(value)
        case "add":
            place.add(value)
        case "copy":
            source = _Place(document, operation, "from")
            place.add(copy.deepcopy(source.found() if source.parts else source.required()))
        case "move":
            source = _Place(document, operation, "from")
            moved = source.required()
            source.remove()
            _Place(document, operation, "path").add(moved)
        case _:
            raise _UnfitError(
                expectation("add, remove, replace, move, copy or test as op", repr(kind))
            )
    return document


class _Place:
    """What a pointer of an operation leads to.

    Args:
        document: the document.
        operation: the operation.
        member: which of its members is the pointer.

    Raises:
        _UnfitError: the document has no such place, or the pointer is none.
    """

    def __init__(self, document: Any, operation: dict[str, Any], member: str) -> None:
        said = operation.get(member)
        if said is None or (said and not said.startswith("/")):
            found = "none" if said is None else repr(said)
            raise _UnfitError(expectation(f"a pointer that begins with / as {member}", found))
        self.said = said
        self.parts = [each.replace("~1", "/").replace("~0", "~") for each in said.split("/")[1:]]
        self._op = operation.get("op")
        self._owner: Any = document
        for part in self.parts[:-1]:
            self._owner = self._inside(self._owner, part)
        self._last = self.parts[-1] if self.parts else ""
        self._document = document
        if not isinstance(self._owner, dict | list):
            raise self._missing()

    def found(self) -> Any:
        """What is there; None where nothing is."""
        if not self.parts:
            return self._document
        if isinstance(self._owner, dict):
            return self._owner.get(self._last)
        return self._owner[self._index(len(self._owner))]

    def required(self) -> Any:
        """What is there.

        Raises:
            _UnfitError: nothing is.
        """
        if not self.parts or (isinstance(self._owner, dict) and self._last not in self._owner):
            raise self._missing()
        return self.found()

    def remove(self) -> None:
        """Removes it."""
        self.required()
        del self._owner[
            self._last if isinstance(self._owner, dict) else self._index(len(self._owner))
        ]

    def replace(self, value: Any) -> None:
        """Puts a value in its place."""
        at = self._last if isinstance(self._owner, dict) else self._index(len(self._owner))
        self._owner[at] = value

    def add(self, value: Any) -> None:
        """Adds a value: a member, or an element before the one that is there."""
        if not self.parts:
            raise self._missing()
        if isinstance(self._owner, dict):
            self._owner[self._last] = value
        elif self._last == "-":
            self._owner.append(value)
        else:
            self._owner.insert(self._index(len(self._owner) + 1), value)

    def _index(self, length: int) -> int:
        """The place in a list.

        Raises:
            _UnfitError: the list has no such place.
        """
        index = int(self._last) if _INDEX.fullmatch(self._last) else length
        if not -length <= index < length:
            raise self._missing()
        return index + length if index < 0 else index

    def _inside(self, owner: Any, part: str) -> Any:
        if isinstance(owner, dict):
            return owner.get(part)
        if isinstance(owner, list) and _INDEX.fullmatch(part):
            index = int(part)
            return owner[index] if -len(owner) <= index < len(owner) else None
        return None

    def _missing(self) -> _UnfitError:
        return _UnfitError(f"the object has no place for `{self._op}` at {self.said or 'its root'}")


def _alike(one: Any, other: Any) -> bool:
    """Whether values are spelt alike, but for the order of members: API servers do not find 1.0 where an object has 1."""
    match one, other:
        case dict(), dict():
            return one.keys() == other.keys() and all(
                _alike(one[each], other[each]) for each in one
            )
        case list(), list():
            return len(one) == len(other) and all(map(_alike, one, other))
    return text_of(one) == text_of(other)


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
    known = [each for each in PATCHES if each != STRATEGIC or kind.is_core]
    if media_type not in known:
        raise unsupported_media_type(media_type, (*known, APPLY))
    return PATCHES[media_type]
