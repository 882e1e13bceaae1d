"""Spellings of one version: `2019-09-09`, `v20190909` and `v1api20190909` are the same.

A generated package spells its versions as their schemas do. Documents and callers may spell them otherwise, and so
may what an earlier release stored.
"""

import functools
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import msgspec

from trundle.runtime._documents import member_path
from trundle.runtime._errors import DocumentError, finding
from trundle.runtime._objects import BAG

_BAG = BAG.encode()
_MARK = _BAG[0]
"""As a number: whether one is in a document is found much sooner than a text, and most documents have it at their end alone."""
_LABELS = re.compile(rb'"v(?:1api)?[0-9]{8}[0-9A-Za-z.-]*(?="\s*:)')
_DATES = re.compile(rb'"[0-9]{4}-[0-9]{2}-[0-9]{2}[0-9A-Za-z.-]*(?="\s*:)')
"""Names of members that may be versions; no group, so that they start with a text that is found at once."""


def spelt(text: str, known: Collection[str]) -> str | None:
    """A version as it is spelt among known ones; None where it is none of these."""
    return text if text in known else _spelt(text, tuple(known))


@functools.lru_cache(maxsize=4096)
def _spelt(text: str, known: tuple[str, ...]) -> str | None:
    from trundle.version import ApiVersion, own_spelling  # noqa: PLC0415 - most need no other spelling

    found = own_spelling(text, map(ApiVersion.parse, filter(is_version, known)))
    return None if found is None else found.text


def is_version(text: str) -> bool:
    """Whether a text is the name of an API version."""
    from trundle.version import ApiVersion, VersionError  # noqa: PLC0415

    try:
        ApiVersion.parse(text)
    except VersionError:
        return False
    return True


class BagSpelling:
    """Spells the versions in the bags of stored documents as a package does.

    Args:
        versions: all versions of the package.
    """

    def __init__(self, versions: Collection[str]) -> None:
        self._versions = frozenset(versions)
        labels = any(_LABELS.match(f'"{each}":'.encode()) for each in versions)
        dates = any(_DATES.match(f'"{each}":'.encode()) for each in versions)
        self._patterns = (*((_LABELS,) if labels or dates else ()), *((_DATES,) if labels else ()))

    def respelt(self, data: bytes) -> bytes:
        """A document whose bags spell versions as the package does; mostly the document itself.

        Raises:
            DocumentError: a bag has two entries of one property for one version.
        """
        if not self.spells_otherwise(data):
            return data
        try:
            return msgspec.json.encode(self._object(msgspec.Raw(data), "$"))
        except (msgspec.MsgspecError, RecursionError):
            return data  # reading it reports what is wrong

    def spells_otherwise(self, data: bytes) -> bool:
        """Whether the bags of a document spell versions otherwise than the package."""
        mark = data.find(_MARK)
        has_bag = mark >= 0 and data.find(_BAG, mark) >= 0
        return has_bag and any(map(self._otherwise, self._found(data)))

    def _found(self, data: bytes) -> Iterator[str]:
        for pattern in self._patterns:
            for match in pattern.finditer(data):
                yield match[0][1:].decode()

    def _otherwise(self, text: str) -> bool:
        return text not in self._versions and spelt(text, self._versions) is not None

    def _value(self, value: msgspec.Raw, path: str) -> Any:
        data = bytes(value)
        if _BAG not in data:
            return value
        if data.lstrip()[:1] == b"[":
            items = enumerate(_LIST.decode(data))
            return [self._value(each, f"{path}[{place}]") for place, each in items]
        return self._object(value, path) if data.lstrip()[:1] == b"{" else value

    def _object(self, value: msgspec.Raw, path: str) -> dict[str, Any]:
        members: dict[str, Any] = dict(_OBJECT.decode(value))
        for name, each in members.items():
            place = member_path(path, name)
            bag = f"${name.lstrip('$')}" == BAG
            members[name] = self._bag(each, place) if bag else self._value(each, place)
        return members

    def _bag(self, bag: msgspec.Raw, path: str) -> Any:
        try:
            entries = _ENTRIES.decode(bag)
        except msgspec.ValidationError:
            return self._value(bag, path)  # a property of the name
        return {
            name: self._entries(versions, member_path(path, name))
            for name, versions in entries.items()
        }

    def _entries(self, versions: Mapping[str, msgspec.Raw], path: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for version, entry in versions.items():
            own = spelt(version, self._versions) or version
            if own in found:
                again = f"two, in two spellings of the version ({', '.join(versions)})"
                wrong = finding(path, f"one entry for {own}", again, "remove one of them")
                raise DocumentError("stored document", [wrong])
            found[own] = self._value(entry, member_path(path, version))
        return found


_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_LIST = msgspec.json.Decoder(list[msgspec.Raw])
_ENTRIES = msgspec.json.Decoder(dict[str, dict[str, msgspec.Raw]])
