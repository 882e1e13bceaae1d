"""What has to hold of a client's document beside its schema: its name, its namespace, and which object it means."""

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from trundle.api._core import NAMESPACES
from trundle.api._event_words import is_event
from trundle.api._requests import Target
from trundle.api._status import Cause, bad_request, invalid, modified
from trundle.cel import format_errors

_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX = 5
_LONGEST_BASE = 58
_OF_NO_OBJECT = -1
_OF_DELETION = ("deletionTimestamp", "deletionGracePeriodSeconds")


def require_kind(target: Target, document: Mapping[str, Any]) -> None:
    """Raises where a document does not say that it is of the API version of its request, or says that it is of another resource type.

    A document of Kubernetes' own may leave out what it is, as in a cluster.

    Raises:
        ApiError: it does not.
    """
    kind, wanted = target.kind, target.kind.api_version(target.served)
    for name in ("apiVersion", "kind"):
        if not isinstance(document.get(name), str | None):
            raise bad_request(f"{name} is no text")
    version, said = document.get("apiVersion") or "", document.get("kind") or ""
    if not kind.is_core and not said:
        found = "the object provided is unrecognized"
        raise bad_request(f"{found} (must be of type {kind.kind}): Object 'Kind' is missing")
    if version != wanted and (version or not kind.is_core):
        found = f"the API version in the data ({version})"
        raise bad_request(f"{found} does not match the expected API version ({wanted})")
    if kind.is_core and said not in {"", kind.kind}:
        raise bad_request(
            f"the kind in the data ({said}) does not match the expected kind ({kind.kind})"
        )


def require_configuration(target: Target, config: Mapping[str, Any]) -> None:
    """Raises where a configuration does not say that it is of the resource type and the API version of its request.

    Raises:
        ApiError: it does not.
    """
    kind, wanted = target.kind, target.kind.api_version(target.served)
    version, said = (config.get(name) or "" for name in ("apiVersion", "kind"))
    group = str(version).rpartition("/")[0]
    if said and version and said != kind.kind and version == wanted:
        found = f"the kind in the data ({said})"
        raise bad_request(f"{found} does not match the expected kind ({kind.kind})")
    if said == kind.kind and version and version != wanted and group == kind.group:
        found = f"the API version in the data ({version})"
        raise bad_request(f"{found} does not match the expected API version ({wanted})")
    if (version, said) != (wanted, kind.kind):
        named = f"{version}" if group else f"/{version}"
        raise bad_request(f"invalid object type: {named}, Kind={said}")


def require_said_kind(target: Target, patched: Mapping[str, Any]) -> None:
    """Raises where what a patch makes of an object does not say what it is.

    Raises:
        ApiError: it does not.
    """
    for name, wanted in _wanted(target).items():
        found = patched.get(name)
        if not isinstance(found, str) or not found:
            raise invalid(target.kind, target.name, [_not_as_wanted(name, found, wanted)])


def require_same_kind(target: Target, document: Mapping[str, Any]) -> None:
    """Raises where a document, or what a patch makes of an object, is of another resource type or version than the object.

    Raises:
        ApiError: it is.
    """
    kind = target.kind
    for name, wanted in _wanted(target).items():
        if document[name] != wanted:
            said = replace(kind, kind=document["kind"])
            raise invalid(said, target.name, [_not_as_wanted(name, document[name], wanted)])


def _wanted(target: Target) -> Mapping[str, str]:
    """What a document has to say that it is; nothing where it is of Kubernetes' own."""
    kind = target.kind
    if kind.is_core:
        return {}
    return {"kind": kind.kind, "apiVersion": kind.api_version(target.served)}


def _not_as_wanted(name: str, found: Any, wanted: str) -> Cause:
    said = msgspec.json.encode(found).decode()
    return Cause("FieldValueInvalid", name, f"Invalid value: {said}: must be {wanted}")


def metadata_of(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The metadata of a client's document; empty where it has none."""
    return document.get("metadata") or {}


def require_some_name(target: Target, metadata: Mapping[str, Any]) -> None:
    """Raises where a document has no name."""
    if not metadata.get("name"):
        text = f"the name of the object ({target.name} based on URL) was undeterminable: name must be provided"
        raise bad_request(text)


def require_named(target: Target, metadata: Mapping[str, Any]) -> None:
    said = metadata.get("name")
    if said not in {None, "", target.name}:
        raise bad_request(
            f"the name of the object ({said}) does not match the name on the URL ({target.name})"
        )


def require_namespace(target: Target, metadata: Mapping[str, Any]) -> None:
    if metadata.get("namespace") in {None, "", target.namespace}:
        return
    raise bad_request(
        "the namespace of the provided object does not match the namespace sent on the request"
    )


def require_same(
    target: Target, before: Mapping[str, Any], after: Mapping[str, Any], *, patched: bool = False
) -> None:
    """Raises where a document means another object, or another state of it, than there is.

    Args:
        target: what the request is about.
        before: the object.
        after: the document.
        patched: whether it came about by a patch, or is a configuration that is applied.
    """
    was, said = metadata_of(before), metadata_of(after)
    require_some_name(target, said)
    require_named(target, said)
    require_namespace(target, said)
    if not patched and said.get("uid") not in {None, "", was["uid"]}:
        reason = f"Precondition failed: UID in precondition: {said['uid']}, UID in object meta: {was['uid']}"
        raise modified(target.kind, target.name, reason)
    if said.get("resourceVersion") not in {None, "", "0", was["resourceVersion"]}:
        raise modified(target.kind, target.name)


def require_kept(target: Target, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Raises where a document changes what no client can: the identity of an object, and its deletion.

    Args:
        target: what the request is about; what a patch of a subresource says of the metadata is not written.
        before: the object.
        after: the document.
    """
    if target.subresource:
        return
    was, said = metadata_of(before), metadata_of(after)
    if said.get("uid") not in {None, "", was["uid"]}:
        shown = msgspec.json.encode(said["uid"]).decode()
        text = f"Invalid value: {shown}: field is immutable"
        raise invalid(target.kind, target.name, [Cause("FieldValueInvalid", "metadata.uid", text)])
    _require_same_deletion(target, was, said)


def _require_same_deletion(target: Target, was: Mapping[str, Any], said: Mapping[str, Any]) -> None:
    """Raises where a document says that an object is being deleted which is not, or in another way than it is."""
    is_deleted = "deletionTimestamp" in was
    if is_deleted:
        _require_no_new_finalizers(target, was, said)
    compared = ("deletionGracePeriodSeconds",) if is_deleted else _OF_DELETION
    causes = []
    for name in compared:
        found = said.get(name)
        if found is not None and found != was.get(name):
            text = f"Invalid value: {msgspec.json.encode(found).decode()}: field is immutable"
            causes.append(Cause("FieldValueInvalid", f"metadata.{name}", text))
    if causes:
        raise invalid(target.kind, target.name, causes)


def _require_no_new_finalizers(
    target: Target, was: Mapping[str, Any], said: Mapping[str, Any]
) -> None:
    known = was.get("finalizers") or ()
    listed = said.get("finalizers")
    found = listed if isinstance(listed, list) else ()
    if new := sorted({each for each in found if isinstance(each, str) and each not in known}):
        shown = ", ".join(msgspec.json.encode(each).decode() for each in new)
        text = (
            "Forbidden: no new finalizers can be added if the object is being deleted, "
            f"found new finalizers []string{{{shown}}}"
        )
        cause = Cause("FieldValueForbidden", "metadata.finalizers", text)
        raise invalid(target.kind, target.name, [cause])


def require_new(target: Target, metadata: Mapping[str, Any]) -> None:
    """Raises where a configuration means an object that is there, and there is none."""
    if uid := metadata.get("uid"):
        reason = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        raise modified(target.kind, target.name, reason)


def require_version(target: Target, metadata: Mapping[str, Any]) -> None:
    """Raises where a document does not say which state of an object it goes over.

    Namespaces and events may leave it out, as in a cluster: they go over the object as it is.
    """
    if (
        target.kind.group
        and not is_event(target.kind)
        and metadata.get("resourceVersion") in {None, "", "0"}
    ):
        message = "Invalid value: 0: must be specified for an update"
        cause = Cause("FieldValueInvalid", "metadata.resourceVersion", message)
        raise invalid(target.kind, target.name, [cause], called=target.kind.plural)


def name_causes(target: Target, base: Any) -> Iterator[Cause]:
    """Why no object can be called so.

    Args:
        target: the object; its name may be empty.
        base: what a client wants the name to be generated from; None or empty where it does not.
    """
    name, kind = target.name, target.kind
    form = "dns1123Label" if (kind.group, kind.kind) == ("", NAMESPACES) else "dns1123Subdomain"
    if not name:
        text = "Required value: name or generateName is required"
        yield Cause("FieldValueRequired", "metadata.name", text)
        return
    if isinstance(base, str) and base:
        yield from _wrong_name("generateName", base, f"{form}Prefix")
    yield from _wrong_name("name", name, form)


def _wrong_name(field: str, name: str, form: str) -> Iterator[Cause]:
    for each in format_errors(form, name):
        text = f"Invalid value: {msgspec.json.encode(name).decode()}: {each}"
        yield Cause("FieldValueInvalid", f"metadata.{field}", text)


def generated_name(base: Any) -> str | None:
    if not isinstance(base, str) or not base:
        return None
    return base[:_LONGEST_BASE] + "".join(secrets.choice(_LETTERS) for _ in range(_SUFFIX))


def resource_version_of(given: str | None) -> int | None:
    """The resource version that a client names; one that no object has where it is no number, as versions are opaque to clients."""
    if given is None:
        return None
    is_number = given.isascii() and given.isdigit() and len(given) <= 18  # noqa: PLR2004 - 64 bits
    return int(given) if is_number else _OF_NO_OBJECT
