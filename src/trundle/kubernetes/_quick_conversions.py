"""The quick way to convert objects, by a view of the runtime and without a carrier: the version shows all of them.

What comes out is what the careful way of `_conversions.py` comes to, but for the order of members and the spelling of texts in `metadata`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from trundle.api import ServedKind, first_status
from trundle.errors import TrundleError
from trundle.kubernetes._carrier import name_of, reason_name
from trundle.kubernetes._definitions import STORAGE
from trundle.kubernetes._metrics import WebhookMetrics
from trundle.kubernetes._server_json import json_of, may_be_long, passed_without_long, values_of
from trundle.runtime import AnyScheme, QuickView

_STARTS, _LONGEST_START = 1000, 500
"""For how many beginnings of objects is remembered what they are, and how long these are at most."""

_BACKSLASH = ord("\\")
_MOST_NESTED = 150
"""How many objects and lists metadata and free-form data may have; in more of them, some may be nested too deeply."""


class _Head(msgspec.Struct):
    """What an object says it is."""

    apiVersion: str  # noqa: N815 - as it is written
    kind: str


class _Kept(msgspec.Struct, forbid_unknown_fields=True):
    """An object at the version that is stored; its last member is the one that `STORED` names."""

    apiVersion: str  # noqa: N815 - as it is written
    kind: str
    metadata: msgspec.Raw
    stored: str


class _Metadata(msgspec.Struct):
    annotations: dict[str, msgspec.Raw] | msgspec.UnsetType = msgspec.UNSET


class _Whole(msgspec.Struct):
    status: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_head = msgspec.json.Decoder(_Head).decode
_kept = msgspec.json.Decoder(_Kept).decode
_metadata = msgspec.json.Decoder(_Metadata).decode
_whole = msgspec.json.Decoder(_Whole).decode


@dataclass(frozen=True, slots=True, eq=False)
class _Way:
    """How objects of one version become objects of another.

    Attributes:
        said: the `apiVersion` and the kind of the former.
        wanted: those of the latter.
        view: converts them; None where the careful way has to be taken.
        is_kept: whether the latter is the one that is stored.
        apart: the annotations that make an object one for the careful way.
        has_first_status: whether an object gets a status where it has none, which the careful way fills in.
        count: counts objects.
    """

    said: tuple[str, str]
    wanted: tuple[str, str]
    view: QuickView | None
    is_kept: bool
    apart: tuple[str, str]
    has_first_status: bool
    count: Callable[[float], None]

    def convert(self, data: bytes) -> bytes | None:
        """An object at the other version; None for the careful way."""
        if self.view is None:
            return None
        if self.view.is_stored:
            kept = _kept(data)
            stored = kept.stored.encode()
            value = None if may_be_long(stored) else self.view.read(stored)
            if value is None or (kept.apiVersion, kept.kind) != self.said:
                return None
            value.metadata = kept.metadata
        else:
            if self.has_first_status and _whole(data).status is msgspec.UNSET:
                return None
            # An API server has written it, as it would write it again; integers beyond int64 are numbers to it.
            value = self.view.read(data, self.said)
        if value is None or not self._goes_along(value.metadata):
            return None
        metadata = value.metadata
        made = self.view.convert(value, self.wanted)
        if made is None or not self.is_kept:
            return made
        version, kind = self.wanted
        return json_of(_Kept(version, kind, metadata, made.decode()))

    def _goes_along(self, metadata: Any) -> bool:
        """Whether metadata goes along as it is."""
        if not isinstance(metadata, msgspec.Raw) or not _goes_along(bytes(metadata)):
            return False
        annotations = _metadata(metadata).annotations
        return annotations is msgspec.UNSET or (
            bool(annotations) and annotations.keys().isdisjoint(self.apart)
        )


class QuickConversions:
    """Converts the JSON of objects.

    Args:
        kinds: the resource types, by group and kind.
        scheme: has the views.
        metrics: counts what happens.
    """

    def __init__(
        self,
        kinds: Mapping[tuple[str, str], ServedKind],
        scheme: AnyScheme,
        metrics: WebhookMetrics,
    ) -> None:
        self._kinds = kinds
        self._scheme = scheme
        self._metrics = metrics
        self._ways: dict[tuple[str, str, str], _Way] = {}
        self._starts: dict[tuple[bytes, Any], _Way] = {}

    def convert(self, objects: Iterable[bytes], wanted: Any) -> list[bytes | None]:
        """Objects at another version; None for those for which the careful way has to be taken.

        Args:
            objects: their JSON.
            wanted: the `apiVersion` that they are to have.
        """
        done: dict[_Way, int] = {}
        made = [self._converted(each, wanted, done) for each in objects]
        for way, number in done.items():
            way.count(number)
        return made

    def _converted(self, data: bytes, wanted: Any, done: dict[_Way, int]) -> bytes | None:
        if not isinstance(wanted, str):
            return None
        try:
            if _BACKSLASH in data and b"\\u" in data:
                data = json_of(values_of(data))  # Go escapes some characters that need not be.
            way = self._known(data, wanted)
            made = None if way is None else way.convert(data)
            if made is None and (other := self._way(data, wanted)) not in (None, way):
                assert other is not None
                way = other  # Another resource type of the same group and version.
                made = way.convert(data)
        except (TrundleError, msgspec.MsgspecError, UnicodeError, RecursionError):
            return None  # The careful way says what is wrong.
        if made is not None:
            assert way is not None
            done[way] = done.get(way, 0) + 1
        return made

    def _known(self, data: bytes, wanted: str) -> _Way | None:
        """The way of objects that begin like this one; None where it has none."""
        start = data[: data.find(b",")], wanted
        way = self._starts.get(start)
        if way is None:
            way = self._way(data, wanted)
            if way is not None and len(self._starts) < _STARTS and len(start[0]) < _LONGEST_START:
                self._starts[start] = way
        return way

    def _way(self, data: bytes, wanted: str) -> _Way | None:
        """The way of an object; None where there is none."""
        head = _head(data)
        key = head.apiVersion, head.kind, wanted
        if key not in self._ways:
            kind = self._kinds.get((head.apiVersion.rpartition("/")[0], head.kind))
            if kind is None:
                return None
            way = self._made(kind, head.apiVersion, wanted)
            if way is None:
                return None
            self._ways[key] = way
        return self._ways[key]

    def _made(self, kind: ServedKind, given: str, wanted: str) -> _Way | None:
        """The way from one version of a resource type to another; None where it has no such versions."""
        groups, labels = zip(*(each.rpartition("/")[::2] for each in (given, wanted)), strict=True)
        known = {STORAGE: None, **kind.versions}
        if set(groups) != {kind.group} or not known.keys() >= {*labels} or labels[0] == labels[1]:
            return None
        source, target = (known[each] for each in labels)

        view = None
        if not kind.type_text:
            one, other = (None if each is None else each.version for each in (source, target))
            keeps = _comes_back if source is None else _goes_along
            view = self._scheme.quick_view(kind.resource, one, other, keeps)
        apart = name_of(kind.group), reason_name(kind.group)
        count = self._metrics.done(kind, *labels)
        names = (given, kind.kind), (wanted, kind.kind)
        fills = target is None and source is not None and first_status(kind, source) is not None
        return _Way(*names, view, target is None, apart, fills, count)


def _comes_back(text: bytes) -> bool:
    """Whether free-form data of a document in which no integer may be long comes back from an API server as it is."""
    return _is_flat(text) and passed_without_long(text) == text


def _goes_along(text: bytes) -> bool:
    """Whether free-form data that an API server has written goes along as it is.

    Raises:
        UnicodeDecodeError: it is no UTF-8.
    """
    if not text.isascii():
        text.decode()
    return _is_flat(text)


def _is_flat(text: bytes) -> bool:
    """Whether nothing in JSON can be nested too deeply: each object and list has two brackets."""
    return len(text) <= 2 * _MOST_NESTED or text.count(b"{") + text.count(b"[") <= _MOST_NESTED
