"""Converts objects of a cluster between all versions, the stored one included, and loses nothing that a carrier can hold.

What is stored is what the runtime stores. A version that cannot express all of it shows a carrier beside what it can: with it, what a client writes is
put over what was stored, as a store does it. A carrier is only there where the object, written as it is shown, would not be stored the same.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from trundle.api import ServedKind, ServedVersion, first_status, to_client, to_scheme
from trundle.errors import ExpectationError, TrundleError
from trundle.kubernetes._carrier import (
    CarrierError,
    is_as_marked,
    is_marker,
    name_of,
    reason_name,
    sealed,
    unsealed,
    with_annotation,
    without_annotation,
)
from trundle.kubernetes._definitions import STORAGE, STORED
from trundle.kubernetes._errors import KubernetesCode
from trundle.kubernetes._metrics import WebhookMetrics
from trundle.kubernetes._quick_conversions import QuickConversions
from trundle.kubernetes._server_json import as_before, json_of, passed_json, spelt_values, values_of
from trundle.runtime import WEBHOOK, AnyScheme

_HEAD = ("apiVersion", "kind", "metadata")
_WRITTEN_WITH = re.compile(r"\$+writtenWith")
_LONGEST_REASON = 1000

_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


class ObjectError(ExpectationError):
    """An object that cannot be converted."""

    code = KubernetesCode.UNCONVERTED


@dataclass(frozen=True, slots=True)
class _Stored:
    """What is stored of an object, and what goes with it to whichever version it is shown at.

    Attributes:
        data: what the runtime stores, without metadata.
        metadata: its metadata, without the carrier.
        marker: what stands for a carrier that had no room; else None.
    """

    data: bytes
    metadata: Mapping[str, Any]
    marker: str | None = None


class Conversions:
    """Converts objects one by one.

    Args:
        kinds: the resource types, with all versions that the scheme converts.
        scheme: converts their objects.
        metrics: counts what happens.
        guarded: whether admission refuses writes where a carrier has no room; an API server converts such an object for storage before it deletes it, so conversions only refuse it
            where nothing else does.
    """

    def __init__(
        self,
        kinds: Iterable[ServedKind],
        scheme: AnyScheme,
        metrics: WebhookMetrics,
        *,
        guarded: bool = False,
    ) -> None:
        self._kinds = {(each.group, each.kind): each for each in kinds}
        self._scheme = scheme
        self._metrics = metrics
        self._guarded = guarded
        self._first_statuses: dict[str, Any] = {}
        self.quick = QuickConversions(self._kinds, scheme, metrics).convert
        """The quick way: converts the JSON of objects; gives None for one about which anything is unusual, and where the version does not show all of it."""

    def convert(self, document: Any, wanted: Any) -> bytes:
        """An object at another version, as JSON.

        Args:
            document: the object.
            wanted: the `apiVersion` that it is to have.

        Raises:
            TrundleError: it cannot be converted. What is stored always can: a version that cannot show it shows its metadata, and why.
        """
        if not isinstance(document, dict):
            raise ObjectError("the object", "a JSON object", type(document).__name__, "")
        kind, source = self.version_of(document)
        _, target = self._version(wanted, kind.kind)
        names = [STORAGE if each is None else each.label for each in (source, target)]
        with self._metrics.counted(kind, *names):
            if source is target:
                return json_of(document)
            return self._converted(document, kind, source, target)

    def require_carrier(self, document: Mapping[str, Any]) -> None:
        """Checks the carrier that a client brings along with a new object.

        Args:
            document: the object.

        Raises:
            TrundleError: what it carries could not be used, and would be lost without a word.
        """
        kind, served = self.version_of(document)
        metadata, carrier = without_annotation(document["metadata"], name_of(kind.group))
        if carrier is None or served is None:
            return
        where = f"{_called(document)}: the annotation {name_of(kind.group)}"
        if is_marker(carrier):
            raise roomless(_called(document), kind)
        if reason_name(kind.group) in (metadata.get("annotations") or {}):
            return
        given = to_scheme({**document, "metadata": metadata}, kind, served)
        if self._carried(str(carrier), given, metadata, served)[0] is None:
            expected = f"what Trundle wrote for {kind.qualified}, in this release or an earlier one"
            advice = "remove the annotation, which gives up what it carries"
            raise ObjectError(where, expected, "something else, or a damaged one", advice)

    def version_of(self, document: Mapping[str, Any]) -> tuple[ServedKind, ServedVersion | None]:
        """The resource type and the version of an object; None for the one that is stored.

        Raises:
            ObjectError: the project has no such version.
        """
        return self._version(document.get("apiVersion"), document.get("kind"))

    def _version(self, api_version: Any, kind: Any) -> tuple[ServedKind, ServedVersion | None]:
        """A resource type and its version; None for the one that is stored."""
        group, _, label = str(api_version).rpartition("/")
        found = self._kinds.get((group, str(kind)))
        if found is None or (label != STORAGE and label not in found.versions):
            said = f"{kind} of {api_version}"
            raise ObjectError(
                said, "a version that the project has", "none", "run the webhook of this release"
            )
        return found, found.versions.get(label)

    def _converted(
        self,
        document: dict[str, Any],
        kind: ServedKind,
        source: ServedVersion | None,
        target: ServedVersion | None,
    ) -> bytes:
        metadata = document.get("metadata")
        document = {**document, "metadata": metadata if isinstance(metadata, dict) else {}}
        if source is None:
            assert target is not None
            return self._read(document, kind, target)
        if reason_name(kind.group) in (document["metadata"].get("annotations") or {}):
            return self._given_back(document, kind, source, target)
        if target is not None:
            stored = self._put(document, kind, source)
            return self._shown(stored, stored.data, kind, target)
        if "status" not in document and (status := self._first_status(kind, source)) is not None:
            document["status"] = status
        stored = self._put(document, kind, source)
        if stored.marker is not None:
            # What is written to the subresource `scale` passes no admission that could see the marker.
            as_it_was = is_as_marked(stored.marker, stored.metadata)
            if not (self._guarded and as_it_was):
                raise roomless(_called(document), kind)
        return json_of(
            {
                "apiVersion": f"{kind.group}/{STORAGE}",
                "kind": kind.kind,
                "metadata": stored.metadata,
                STORED: stored.data.decode(),
            }
        )

    def _first_status(self, kind: ServedKind, source: ServedVersion) -> Any:
        """The status of an object that has none yet. The stored version has no defaults by which an API server would fill it in."""
        key = f"{kind.qualified} {source.label}"
        if key not in self._first_statuses:
            self._first_statuses[key] = first_status(kind, source)
        return self._first_statuses[key]

    def _read(self, document: dict[str, Any], kind: ServedKind, target: ServedVersion) -> bytes:
        """What is stored, at a version; in the place of what the version cannot show stands why."""
        try:
            data = _text_of(document).encode()
            present = self._settled(self._scheme.convert_json(data))
            return self._shown(_Stored(data, document["metadata"]), present, kind, target)
        except Exception as error:  # noqa: BLE001 - one object must not break the lists of all
            self._metrics.unreadable(kind, target.label)
            return _not_shown(document, kind, target, error)

    def _put(self, document: dict[str, Any], kind: ServedKind, source: ServedVersion) -> _Stored:
        """What is stored of an object that a client writes, over what its carrier has.

        Raises:
            TrundleError: the object is not what its version says.
        """
        metadata, carrier = without_annotation(document["metadata"], name_of(kind.group))
        given = to_scheme({**document, "metadata": metadata}, kind, source)
        marker, base = None, None
        if carrier is not None and is_marker(carrier):
            marker = carrier
        elif carrier is not None:
            base, given = self._carried(carrier, given, metadata, source)
            self._metrics.carried(kind, source.label, "unusable" if base is None else "used")
        made = self._scheme.put(None, given, base, resource=kind.resource, lenience=WEBHOOK)
        if base is not None:  # Its shape may be that of an earlier release.
            made = self._scheme.convert_json(made)
        return _Stored(self._settled(made), metadata, marker)

    def _carried(
        self, carrier: str, given: bytes, metadata: Mapping[str, Any], source: ServedVersion
    ) -> tuple[bytes | None, bytes]:
        """What was stored, by a carrier, and the document without what the API server did to its spelling.

        A carrier that is damaged, or of something else, counts as none.
        """
        data = _unsealed_or_none(carrier)
        if data is None:
            return None, given
        try:
            base = _with_metadata(data, metadata)
            if not _same_head(base, given):
                return None, given
            seen = spelt_values(self._scheme.read(source.version, base))
        except Exception:  # noqa: BLE001 - whatever it is, nothing can be written over it
            return None, given
        return base, json_of(as_before(spelt_values(given), seen))

    def _given_back(
        self,
        document: dict[str, Any],
        kind: ServedKind,
        source: ServedVersion,
        target: ServedVersion | None,
    ) -> bytes:
        """An object that was not shown, on its way back: its metadata may have changed, nothing else.

        Raises:
            ObjectError: more of it was changed, or the carrier is not there any more.
        """
        rest = [key for key in document if key not in _HEAD]
        metadata, carrier = without_annotation(document["metadata"], name_of(kind.group))
        data = None if carrier is None else _unsealed_or_none(carrier)
        if target is not None:
            return json_of({**document, "apiVersion": kind.api_version(target)})
        if self._guarded and carrier is not None and is_marker(carrier) and not rest:
            data = json_of({STORED: ""})  # Admission lets nothing but its deletion through.
        if data is None or (rest and not self._is_readable(data, source)):
            raise unshown(_called(document), kind)
        if rest:
            raise outdated(_called(document))
        metadata, _ = without_annotation(metadata, reason_name(kind.group))
        head = {"apiVersion": f"{kind.group}/{STORAGE}", "kind": kind.kind, "metadata": metadata}
        return json_of({**head, **_members(data)})

    def shown_by_now(self, document: dict[str, Any]) -> dict[str, Any] | None:
        """An object that an API server remembers without content, as its version shows it now; None where it does not."""
        kind, served = self.version_of(document)
        metadata, carrier = without_annotation(document["metadata"], name_of(kind.group))
        data = None if carrier is None else _unsealed_or_none(carrier)
        if served is None or data is None or not self._is_readable(data, served):
            return None
        metadata, _ = without_annotation(metadata, reason_name(kind.group))
        stored = {"kind": kind.kind, "metadata": metadata, **values_of(data)}
        found: dict[str, Any] = values_of(self._read(stored, kind, served))
        return found

    def _is_readable(self, data: bytes, version: ServedVersion) -> bool:
        """Whether a version can show what it could not show when an API server asked."""
        try:
            text = _text_of(values_of(data))
            self._scheme.read(version.version, self._scheme.convert_json(text.encode()))
        except Exception:  # noqa: BLE001 - for whichever reason it was not shown
            return False
        return True

    def _shown(
        self, stored: _Stored, present: bytes, kind: ServedKind, target: ServedVersion
    ) -> bytes:
        """What a version shows of what is stored, with a carrier where that is not all.

        Args:
            stored: what is stored.
            present: the same, settled.
            kind: the resource type.
            target: the version.

        Raises:
            TrundleError: the version cannot show it.
        """
        base = _with_metadata(stored.data, stored.metadata)
        shown = self._scheme.read(target.version, base)
        found = to_client(shown, kind, target)
        name, carrier = name_of(kind.group), stored.marker
        if carrier is None and self._alone(shown, kind) != present:
            carrier = sealed(stored.data)
        if carrier is None:
            return found
        members = _members(found)
        metadata = with_annotation(stored.metadata, name, carrier)
        if stored.marker is None:
            text = metadata["annotations"][name]
            self._metrics.carrier(kind, target.label, len(text), fits=not is_marker(text))
        return json_of({**members, "metadata": metadata})

    def _alone(self, shown: bytes, kind: ServedKind) -> bytes | None:
        """What would be stored of an object that a client writes as it is shown; None where that fails."""
        written = passed_json(shown)
        try:
            return self._settled(
                self._scheme.put(None, written, resource=kind.resource, lenience=WEBHOOK)
            )
        except TrundleError:
            return None

    def _settled(self, stored: bytes) -> bytes:
        """What is stored in the shape of this release, without metadata, and without the version that it was written with.

        The version would change with each client that writes what is there already, and a cluster would take that for a change.
        """
        members = _members(stored)
        members.pop("metadata", None)
        mark = max(filter(_WRITTEN_WITH.fullmatch, members), key=len)
        members[mark] = msgspec.Raw(json_of(values_of(members["apiVersion"]).rpartition("/")[2]))
        return json_of(members)


def roomless(where: str, kind: ServedKind) -> ObjectError:
    """The refusal of a write at a version whose carrier has no room.

    Args:
        where: the object.
        kind: its resource type.
    """
    return ObjectError(where, *without_room(name_of(kind.group)))


def unshown(where: str, kind: ServedKind) -> ObjectError:
    """The error for a change of what a version cannot show.

    Args:
        where: the object.
        kind: its resource type.
    """
    names = f"{reason_name(kind.group)} and {name_of(kind.group)}"
    advice = f"leave all but its metadata as it is; or remove the annotations {names}, which gives up what is stored"
    return ObjectError(where, "an object that this version can show", "one that it cannot", advice)


def outdated(where: str) -> ObjectError:
    """The error for a change of what a version can show by now, and an API server remembers without content.

    Args:
        where: the object.
    """
    expected = "an object as this version shows it"
    found = "one without content: the API server remembers it from when it could not be shown"
    advice = "run `trundle kube migrate`, or change an annotation of the object, and write it again"
    return ObjectError(where, expected, found, advice)


def without_room(name: str) -> tuple[str, str, str]:
    """What is expected of a carrier, what is found, and what to do, where it has no room.

    Args:
        name: the carrier's annotation.
    """
    expected = f"the annotation {name} with what this version cannot express"
    advice = "all annotations together have more than 256 KiB: write it at a version that shows more of it, and shorten them there"
    return expected, "no room for it", advice


def _text_of(document: Mapping[str, Any]) -> str:
    """What is stored of an object.

    Raises:
        ObjectError: nothing is.
    """
    text = document.get(STORED)
    if isinstance(text, str):
        return text
    raise ObjectError(_called(document), f"an object with `{STORED}`", "none", "")


def _unsealed_or_none(carrier: str) -> bytes | None:
    """The data of a carrier; None for one that is damaged."""
    try:
        return unsealed(carrier)
    except CarrierError:
        return None


def _not_shown(
    document: dict[str, Any], kind: ServedKind, target: ServedVersion, error: Exception
) -> bytes:
    """An object of which a version can only show the metadata; its carrier has all of it."""
    rest = {key: value for key, value in document.items() if key not in _HEAD}
    metadata = document["metadata"]
    annotations = {**(metadata.get("annotations") or {})}
    annotations[reason_name(kind.group)] = str(error)[:_LONGEST_REASON] or type(error).__name__
    carrier = sealed(json_of(rest))
    return json_of(
        {
            "apiVersion": kind.api_version(target),
            "kind": kind.kind,
            "metadata": with_annotation(
                {**metadata, "annotations": annotations}, name_of(kind.group), carrier
            ),
        }
    )


def _with_metadata(data: bytes, metadata: Mapping[str, Any]) -> bytes:
    """What is stored, as the runtime stores it."""
    return json_of({**_members(data), "metadata": metadata})


def _same_head(one: bytes, other: bytes) -> bool:
    """Whether two documents are of one resource type."""
    heads = [
        {key: values_of(value) for key, value in _members(each).items() if key in {"kind", "type"}}
        for each in (one, other)
    ]
    return all(heads[0].get(key) == value for key, value in heads[1].items())


def _called(document: Mapping[str, Any]) -> str:
    metadata = document.get("metadata") or {}
    name = "/".join(filter(None, (metadata.get("namespace"), metadata.get("name"))))
    return f"{document.get('kind')} {name}".strip()
