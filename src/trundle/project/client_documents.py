"""Documents as clients of a server have them: with the API group that a project names for clients alone."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from trundle.runtime import AnyScheme
from trundle.version import ApiVersion, VersionError

if TYPE_CHECKING:
    from trundle.project.config import Config

_Members = dict[str, msgspec.Raw]


class ClientGroup:
    """The API group that clients name before versions of resource types that have none of their own.

    Args:
        group: the group; see `client_group`.
        scheme: converts the documents of the project.
    """

    def __init__(self, group: str, scheme: AnyScheme) -> None:
        self._group = group
        taken = {each.group.casefold() for each in scheme.resources.values()}
        self._is_known = self._group.casefold() in taken

    def without(self, api_version: str) -> str:
        """An API version, without the group if it has it."""
        group, _, version = api_version.rpartition("/")
        named = bool(group) and group.casefold() == self._group.casefold()
        return version if named and not self._is_known else api_version

    def read(self, document: bytes) -> tuple[bytes, bool]:
        """A document as the scheme reads it, and whether it was one with the group, or a list of such."""
        try:
            changed = _edited(document, lambda members: _said(members, self.without))
        except RecursionError:  # Lists in lists; the scheme says what is wrong.
            return document, False
        return changed, changed is not document

    def shown(self, document: bytes) -> bytes:
        """What the scheme made of such a document, as clients have it."""
        return _edited(document, lambda members: _said(members, self._within))

    def _within(self, api_version: str) -> str:
        try:
            return f"{self._group}/{ApiVersion.parse(api_version).label}"
        except VersionError:
            return api_version


def client_group(config: "Config") -> str:
    """The API group that clients name before versions of resource types that have none of their own."""
    return config.kubernetes.group_for(config.package)


def _said(members: Mapping[str, msgspec.Raw], change: Callable[[str], str]) -> Mapping[str, Any]:
    """The API version of a document, if it is text and changes."""
    if bytes(members.get("kind", b"")) == b'"List"':  # It has the version of all lists.
        return {}
    try:
        found = msgspec.json.decode(members.get("apiVersion", b""), type=str)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return {}
    changed = change(found)
    return {} if changed == found else {"apiVersion": msgspec.Raw(msgspec.json.encode(changed))}


def _edited(document: bytes, change: Callable[[_Members], Mapping[str, Any]]) -> bytes:
    """A document with some members changed, and those of the items of a list; the same bytes where nothing changes."""
    try:
        members = msgspec.json.decode(document, type=_Members)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return document
    changed = dict(change(members))
    if bytes(members.get("kind", b"")).endswith(b'List"') and "items" in members:
        try:
            items = msgspec.json.decode(members["items"], type=list[msgspec.Raw])
        except msgspec.MsgspecError:
            items = []
        edited = [_edited(bytes(each), change) for each in items]
        if any(new != bytes(old) for new, old in zip(edited, items, strict=True)):
            changed["items"] = msgspec.Raw(b"[" + b",".join(edited) + b"]")
    return msgspec.json.encode({**members, **changed}) if changed else document
