"""The carrier at admission: on every update that of the object in the cluster counts, whatever the client sends.

A conversion cannot know a carrier of today from one of long ago, nor that a client dropped it. Admission can: it gets the object as it is in the cluster, at the
version of the request, with the carrier that was made for it just now.
"""

import base64
from collections.abc import Mapping
from typing import Any

import msgspec

from trundle.api import ServedKind
from trundle.errors import Kind, TrundleError, expectation
from trundle.kubernetes._carrier import is_marker, name_of, reason_name
from trundle.kubernetes._conversions import Conversions, roomless
from trundle.kubernetes._metrics import WebhookMetrics
from trundle.kubernetes._owners import with_owners, without_path
from trundle.kubernetes._server_json import json_of, values_of
from trundle.kubernetes._withdrawn import without_withdrawn

_API_VERSION, _KIND = "admission.k8s.io/v1", "AdmissionReview"
_MEMBERS = ("annotations", "managedFields")
"""The members of metadata that admission changes."""


_STAYING = ("Foreground", "Orphan")
"""How objects are deleted that get a finalizer first."""


class ReviewError(TrundleError):
    """A body that is no admission review."""

    kind = Kind.REFUSED


class Admissions:
    """Answers admission reviews.

    Args:
        conversions: converts the objects.
        metrics: counts what happens.
    """

    def __init__(self, conversions: Conversions, metrics: WebhookMetrics) -> None:
        self._conversions = conversions
        self._metrics = metrics

    def answer(self, body: bytes) -> bytes:
        """The review with its response: what has to be put back as a patch, or a refusal.

        Raises:
            ReviewError: it is no such review.
        """
        request = _request(body)
        response: dict[str, Any] = {"uid": request.get("uid", ""), "allowed": True}
        try:
            patch = self._patch(request)
        except TrundleError as error:
            status = {"message": str(error), "reason": "Invalid", "code": 422}
            response |= {"allowed": False, "status": status}
        else:
            if patch:
                encoded = base64.b64encode(json_of(patch)).decode()
                response |= {"patchType": "JSONPatch", "patch": encoded}
        return json_of({"apiVersion": _API_VERSION, "kind": _KIND, "response": response})

    def _patch(self, request: Mapping[str, Any]) -> list[dict[str, Any]]:
        """What has to be changed about the object of a request.

        Raises:
            TrundleError: it cannot be written.
        """
        given, old = request.get("object"), request.get("oldObject")
        deleted = request.get("operation") == "DELETE"
        document = old if deleted else given
        if not isinstance(document, dict) or not isinstance(document.get("metadata"), dict):
            return []
        kind, served = self._conversions.version_of(document)
        if served is None:
            return []
        labels = kind, served.label, str(request.get("operation"))
        try:
            if deleted:
                _require_whole(document, kind, _options(request))
                made: Mapping[str, Any] = document
            elif isinstance(old, dict):
                made = self._updated(document, old, kind, _options(request))
            else:
                made = {**document, "metadata": self._created(document, kind)}
        except TrundleError:
            self._metrics.admitted(*labels, "refused")
            raise
        patch = _differences(document, made)
        self._metrics.admitted(*labels, "restored" if patch else "unchanged")
        return patch

    def _created(self, given: Mapping[str, Any], kind: ServedKind) -> dict[str, Any]:
        """The metadata of a new object.

        Raises:
            TrundleError: its carrier is none.
        """
        self._conversions.require_carrier(given)
        return _unowned(given["metadata"], kind)

    def _updated(
        self,
        given: Mapping[str, Any],
        old: Mapping[str, Any],
        kind: ServedKind,
        options: Mapping[str, Any],
    ) -> dict[str, Any]:
        """An object that a client writes, with what the object in the cluster has, and without what an apply takes away.

        Raises:
            ObjectError: what this version cannot express would be lost.
        """
        names = name_of(kind.group), reason_name(kind.group)
        if names[1] in _annotations(old) and names[1] not in _annotations(given):
            # Its writer has seen it, and the API server remembers it from before.
            old = self._conversions.shown_by_now({**old}) or old
        before = _annotations(old)
        if is_marker(str(before.get(names[0], ""))):
            raise roomless(f"{kind.kind} {given['metadata'].get('name')}", kind)
        annotations = {key: value for key, value in _annotations(given).items() if key not in names}
        annotations |= {each: before[each] for each in names if each in before}
        metadata = {**given["metadata"], "annotations": annotations}
        if annotations != _annotations(given):
            metadata |= self._owners({**given, "metadata": metadata}, old)
        made = without_withdrawn({**given, "metadata": metadata}, old, options, self._shown)
        return {**made, "metadata": _unowned(metadata, kind)}

    def _shown(self, document: Mapping[str, Any], version: str) -> Any:
        """What of an object is shown at a version, but for its metadata.

        Raises:
            TrundleError: it cannot be converted.
        """
        return {**values_of(self._conversions.convert(document, version)), "metadata": None}

    def _owners(self, given: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
        """The `managedFields` of an object that has its carrier again."""

        def shown(version: str) -> tuple[Any, Any]:
            before = self._conversions.convert(old, version)
            return values_of(before), values_of(self._conversions.convert(given, version))

        version = str(given.get("apiVersion"))
        try:
            return {"managedFields": with_owners(_entries(old), _entries(given), version, shown)}
        except TrundleError:
            return {}  # What is wrong with the object is said when it is stored.


def _require_whole(old: Mapping[str, Any], kind: ServedKind, options: Mapping[str, Any]) -> None:
    """Raises where an object is stored once more before it is deleted, and this version cannot say all of it.

    Raises:
        ObjectError: it is.
    """
    stays = old["metadata"].get("finalizers") or options.get("propagationPolicy") in _STAYING
    if stays and is_marker(str(_annotations(old).get(name_of(kind.group), ""))):
        raise roomless(f"{kind.kind} {old['metadata'].get('name')}", kind)


def _options(request: Mapping[str, Any]) -> Mapping[str, Any]:
    found = request.get("options")
    return found if isinstance(found, dict) else {}


def _request(body: bytes) -> dict[str, Any]:
    """The request of an admission review.

    Raises:
        ReviewError: it is none.
    """
    expected = f"{_KIND} of {_API_VERSION} with a request"
    try:
        review = values_of(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ReviewError(expectation(expected, str(error))) from None
    head = (review.get("apiVersion"), review.get("kind")) if isinstance(review, dict) else None
    if head != (_API_VERSION, _KIND) or not isinstance(review.get("request"), dict):
        raise ReviewError(expectation(expected, "something else"))
    request: dict[str, Any] = review["request"]
    return request


def _unowned(metadata: Mapping[str, Any], kind: ServedKind) -> dict[str, Any]:
    """Metadata in whose `managedFields` no manager owns the carrier, or why an object is not shown."""
    entries = metadata.get("managedFields")
    if not isinstance(entries, list):
        return dict(metadata)
    for name in (name_of(kind.group), reason_name(kind.group)):
        entries = without_path(entries, ("f:metadata", "f:annotations", f"f:{name}"))
    return {**metadata, "managedFields": entries}


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A JSON patch from one object to another."""
    found: list[dict[str, Any]] = []
    for name in before.keys() - {"metadata"}:
        path = f"/{name.replace('~', '~0').replace('/', '~1')}"
        if name not in after:
            found.append({"op": "remove", "path": path})
        elif after[name] is not before[name]:
            found.append({"op": "replace", "path": path, "value": after[name]})
    old, new = before["metadata"], after["metadata"]
    for name in _MEMBERS:
        path = f"/metadata/{name}"
        if new.get(name) and new[name] != old.get(name):
            found.append({"op": "add", "path": path, "value": new[name]})
        elif old.get(name) and not new.get(name):
            found.append({"op": "remove", "path": path})
    return found


def _annotations(document: Mapping[str, Any]) -> dict[str, Any]:
    found = (document.get("metadata") or {}).get("annotations")
    return dict(found) if isinstance(found, dict) else {}


def _entries(document: Mapping[str, Any]) -> list[Any]:
    found = document["metadata"].get("managedFields")
    return found if isinstance(found, list) else []
