"""Objects of one version, read and written as Kubernetes' API does it."""

import re
import secrets
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from trundle.api._documents import (
    object_of,
    require_kind,
    require_object,
    text_of,
    to_scheme,
    values_of,
)
from trundle.api._kinds import ServedKind
from trundle.api._patches import patch_of
from trundle.api._requests import Answer, Request, Target
from trundle.api._selections import FieldSelector, labels_of
from trundle.api._status import (
    ApiError,
    Cause,
    answer_to,
    bad_request,
    field_of,
    invalid,
    modified,
)
from trundle.api._validation import Validator
from trundle.api._views import Views
from trundle.errors import TrundleError, expectation
from trundle.runtime import DocumentError, Lenience, Tolerated, ValueCode
from trundle.store import ConflictError, Key, Store, StoredObject

_ATTEMPTS = 8
"""How often a patch is tried anew over what another client wrote meanwhile."""

_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX = 5
_LONGEST_BASE = 58
_PAGE = 500
_STATUS = "status"
_LONGEST_NAME = 253
_SUBDOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"

_decode = msgspec.json.decode


class Resources:
    """Answers requests about objects.

    Each method raises `ApiError` where the answer is no success.

    Args:
        store: keeps the objects.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self.views = Views(store)
        self._validators: dict[tuple[str, str], Validator] = {}

    # Reading

    def get(self, request: Request) -> Answer:
        """One object."""
        target = request.target
        with _explained(target):
            return Answer(self._shown(self.store.get(_key(target)), target))

    def get_all(self, request: Request) -> Answer:
        """The objects of a resource type, or a page of them."""
        target = request.target
        fields = FieldSelector(request.query.get("fieldSelector", ""))
        labels = labels_of(request.query.get("labelSelector", ""))
        limit = request.number("limit")
        match = request.query.get("resourceVersionMatch", "")
        at = request.number("resourceVersion") if match == "Exact" else None
        name = fields.exact("metadata.name")
        namespace = target.namespace or fields.exact("metadata.namespace")
        token = request.query.get("continue", "")
        items: list[bytes] = []
        with _explained(target):
            while True:
                page = self.store.list(
                    target.kind.resource,
                    namespace=namespace or None,
                    name=name,
                    labels=labels,
                    limit=limit or _PAGE,
                    token=token,
                    at=at,
                )
                items += (
                    self.views.listed(each, target.kind, target.served)
                    for each in page.objects
                    if fields.matches(each.key.namespace, each.key.name)
                )
                token = page.token
                if limit or not token:
                    break
        metadata = {"resourceVersion": str(page.resource_version)}
        if page.token:
            metadata["continue"] = page.token
        return Answer(list_of(target, metadata, items))

    # Writing

    def create(self, request: Request) -> Answer:
        """Stores a new object."""
        target = request.target
        document = object_of(request.body)
        require_kind(document, target.kind, target.served)
        metadata = _metadata(document)
        _require_namespace(target, metadata)
        name = metadata.get("name") or _generated(metadata.get("generateName"))
        if not isinstance(name, str):
            cause = Cause("FieldValueRequired", "metadata.name", "Required value: name is required")
            raise invalid(target.kind, "", [cause])
        if metadata.get("resourceVersion"):
            raise bad_request("resourceVersion should not be set on objects to be created")
        _require_name(target.kind, name)
        document["metadata"] = {**metadata, "name": name}
        if _has_status(target.kind):
            document.pop(_STATUS, None)
        target = _named(target, name)
        if causes := self._causes(target, document):
            raise invalid(target.kind, name, causes)
        reading = _Reading(request, name)
        with reading.explained(target):
            made = self.store.create(
                _key(target),
                to_scheme(document, target.kind, target.served),
                lenience=reading.lenience,
                dry_run=request.dry_run,
            )
            return Answer(self._shown(made, target), 201, reading.warnings)

    def replace(self, request: Request) -> Answer:
        """Puts a document over an object; what its version cannot see stays as it was."""
        target = request.target
        document = object_of(request.body)
        metadata = _metadata(document)
        if metadata.get("name") not in {None, target.name}:
            raise bad_request(
                f"the name of the object ({metadata['name']}) does not match the name on the URL ({target.name})"
            )
        _require_namespace(target, metadata)
        expected = metadata.get("resourceVersion")
        if not expected:
            message = "Invalid value: 0: must be specified for an update"
            cause = Cause("FieldValueInvalid", "metadata.resourceVersion", message)
            raise invalid(target.kind, target.name, [cause])
        return self._write(request, lambda _: document)

    def patch(self, request: Request) -> Answer:
        """Changes an object by a patch."""
        apply = patch_of(request.media_type)
        patch = values_of(request.body)
        return self._write(request, lambda current: require_object(apply(current, patch)))

    def delete(self, request: Request) -> Answer:
        """Deletes an object, or marks it as deleted while it has finalizers."""
        target = request.target
        options = object_of(request.body) if request.body.strip() else {}
        given = options.get("preconditions")
        conditions: Mapping[str, Any] = given if isinstance(given, dict) else {}
        dry_run = request.dry_run or options.get("dryRun") == ["All"]
        with _explained(target):
            done = self.store.delete(
                _key(target),
                resource_version=_number(conditions.get("resourceVersion")),
                uid=conditions.get("uid"),
                dry_run=dry_run,
            )
            if done.kind == "deleted":
                return Answer(_deleted(target, done.object))
            return Answer(self._shown(done.object, target))

    def delete_all(self, request: Request) -> Answer:
        """Deletes all objects that selectors choose."""
        target = request.target
        listed = self.get_all(Request(target, {**request.query, "limit": ""}))
        for each in _decode(listed.body)["items"]:
            namespace, name = each["metadata"].get("namespace", ""), each["metadata"]["name"]
            one = Target(target.kind, target.served, namespace, name)
            try:
                self.delete(Request(one, request.query, request.body, request.media_type))
            except ApiError as error:
                if error.reason != "NotFound":  # Another client was quicker.
                    raise
        return listed

    def _write(
        self, request: Request, change: Callable[[dict[str, Any]], dict[str, Any]]
    ) -> Answer:
        """Writes what a change makes of an object; over what another client wrote meanwhile, again."""
        target = request.target
        for _ in range(_ATTEMPTS):
            with _explained(target):
                current = self.store.get(_key(target))
                shown = self._shown(current, target)
            before = object_of(shown)
            document = change(values_of(shown))
            require_kind(document, target.kind, target.served)
            _require_same(target, before, document)
            wanted = _status_apart(target, before, document)
            if text_of(wanted) == text_of(before):
                return Answer(shown)
            known = self._causes(target, before)  # What was stored before may be written back.
            if causes := [x for x in self._causes(target, wanted) if x not in known]:
                raise invalid(target.kind, target.name, causes)
            reading = _Reading(request, target.name)
            try:
                written = self.store.replace(
                    _key(target),
                    to_scheme(wanted, target.kind, target.served),
                    resource_version=current.resource_version,
                    uid=current.uid,
                    counts=target.subresource != _STATUS,
                    lenience=reading.lenience,
                    dry_run=request.dry_run,
                )
            except ConflictError:
                continue
            except TrundleError as error:
                raise reading.answer_to(error, target) from error
            with _explained(target):
                return Answer(self._shown(written, target), 200, reading.warnings)
        raise modified(target.kind, target.name)

    def _causes(self, target: Target, document: Mapping[str, Any]) -> list[Cause]:
        """What the schema of a version has against a document."""
        served = target.served
        key = target.kind.resource, served.label
        if key not in self._validators:
            self._validators[key] = Validator(served)
        return self._validators[key].causes(document)

    def _shown(self, found: StoredObject, target: Target) -> bytes:
        return self.views.exact(found, target.kind, target.served)


class _Reading:
    """How a document is read, and what was tolerated about it.

    Attributes:
        lenience: what is tolerated: nulls are dropped, defaults filled in, unknown fields as the client asks for.
    """

    def __init__(self, request: Request, name: str) -> None:
        self._name = name
        self._strict = request.field_validation == "Strict"
        self._warns = request.field_validation == "Warn"
        self._tolerated: list[Tolerated] = []
        self.lenience = Lenience(
            nulls=True,
            defaults=True,
            unknown="error" if self._strict else "prune",
            report=self._tolerated.append,
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the client shows its user."""
        if not self._warns:
            return ()
        unknown = (each for each in self._tolerated if each.expected == "a known property")
        return tuple(dict.fromkeys(f'unknown field "{field_of(each.path)}"' for each in unknown))

    def explained(self, target: Target) -> "_Explained":
        """Turns errors within into answers."""
        return _Explained(lambda error: self.answer_to(error, target))

    def answer_to(self, error: TrundleError, target: Target) -> ApiError:
        """What the client is answered for an error."""
        if self._strict and isinstance(error, DocumentError):
            unknown = [
                f'unknown field "{field_of(each.place.path)}"'
                for each in error.findings
                if each.code is ValueCode.UNKNOWN
            ]
            if unknown:
                kind = target.kind.kind
                return bad_request(
                    f'{kind} in version "{target.served.label}" cannot be handled as a {kind}: '
                    f"strict decoding error: {', '.join(unknown)}"
                )
        return answer_to(error, target.kind, self._name)


class _Explained:
    """Turns errors of Trundle into answers."""

    def __init__(self, answer: Callable[[TrundleError], ApiError]) -> None:
        self._answer = answer

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, TrundleError):
            raise self._answer(error) from error


def _explained(target: Target) -> _Explained:
    return _Explained(lambda error: answer_to(error, target.kind, target.name))


def list_of(target: Target, metadata: Mapping[str, Any], items: list[bytes]) -> bytes:
    """A list as JSON, from its items as JSON."""
    head = {
        "apiVersion": target.kind.api_version(target.served),
        "kind": f"{target.kind.kind}List",
        "metadata": metadata,
    }
    return msgspec.json.encode(head)[:-1] + b',"items":[' + b",".join(items) + b"]}"


def _key(target: Target) -> Key:
    return Key(target.kind.resource, target.namespace, target.name)


def _named(target: Target, name: str) -> Target:
    return Target(target.kind, target.served, target.namespace, name, target.subresource)


def _metadata(document: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = document.get("metadata")
    if metadata is None:
        return {}
    if not isinstance(metadata, dict):
        raise bad_request("metadata is no JSON object")
    return metadata


def _require_namespace(target: Target, metadata: Mapping[str, Any]) -> None:
    if metadata.get("namespace") in {None, "", target.namespace}:
        return
    raise bad_request(
        "the namespace of the provided object does not match the namespace sent on the request"
    )


def _require_same(target: Target, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Raises where a document means another object, or another state of it, than there is."""
    was, said = _metadata(before), _metadata(after)
    if said.get("name", target.name) != target.name:
        cause = Cause("FieldValueInvalid", "metadata.name", "Invalid value: field is immutable")
        raise invalid(target.kind, target.name, [cause])
    if said.get("uid") not in {None, "", was["uid"]}:
        reason = f"Precondition failed: UID in precondition: {said['uid']}, UID in object meta: {was['uid']}"
        raise modified(target.kind, target.name, reason)
    if said.get("resourceVersion") not in {None, "", was["resourceVersion"]}:
        raise modified(target.kind, target.name)


def _require_name(kind: ServedKind, name: str) -> None:
    """Raises where no object of Kubernetes can be called so."""
    if len(name) <= _LONGEST_NAME and re.fullmatch(_SUBDOMAIN, name):
        return
    said = msgspec.json.encode(name).decode()
    text = f"Invalid value: {said}: must be no more than {_LONGEST_NAME} bytes"
    if len(name) <= _LONGEST_NAME:
        text = (
            f"Invalid value: {said}: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
            "characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', "
            f"regex used for validation is '{_SUBDOMAIN}')"
        )
    raise invalid(kind, name, [Cause("FieldValueInvalid", "metadata.name", text)])


def _has_status(kind: ServedKind) -> bool:
    """Whether the status of a resource type is written apart: where any version of it declares one."""
    return any(each.declares(_STATUS) for each in kind.versions.values())


def _status_apart(target: Target, before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """What is written of a document: only its status, or all but that."""
    if not _has_status(target.kind):
        return after
    whole, other = (before, after) if target.subresource == _STATUS else (after, before)
    kept = {key: value for key, value in whole.items() if key != _STATUS}
    return {**kept, _STATUS: other[_STATUS]} if _STATUS in other else kept


def _generated(base: Any) -> str | None:
    if not isinstance(base, str) or not base:
        return None
    return base[:_LONGEST_BASE] + "".join(secrets.choice(_LETTERS) for _ in range(_SUFFIX))


def _number(given: Any) -> int | None:
    if given is None:
        return None
    if isinstance(given, str) and given.isascii() and given.isdigit():
        return int(given)
    raise bad_request(expectation("a resource version", repr(given)))


def _deleted(target: Target, gone: StoredObject) -> bytes:
    details = {
        "name": gone.key.name,
        "group": target.kind.group,
        "kind": target.kind.plural,
        "uid": gone.uid,
    }
    return msgspec.json.encode(
        {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Success",
            "details": details,
        }
    )
