"""Reviews: questions that clients create as objects, and that are answered and not stored. Who one is, who others are, and who may do what.

Source: `pkg/registry/authorization`, `pkg/registry/authentication` and `pkg/apis/authorization/validation` of Kubernetes.
"""

import datetime as dt
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from trundle._clock import Clock
from trundle.api._bodies import document_of
from trundle.api._causes import invalid_value
from trundle.api._documents import text_of, with_tidy_metadata
from trundle.api._reading import Reading
from trundle.api._requests import Answer, Request, Target
from trundle.api._requirements import metadata_of, require_namespace
from trundle.api._resources import Resources
from trundle.api._review_selectors import ignored_selectors, selector_causes
from trundle.api._status import Cause, bad_request, invalid
from trundle.api._steps import Steps
from trundle.api.access import Access, Attributes, Decision, User
from trundle.store import Store

_ALL = "*"
_ABOUT, _PATH = "resourceAttributes", "nonResourceAttributes"
_UNKNOWN_TOKEN = "invalid bearer token"  # noqa: S105 - what is said of one

_Object = Mapping[str, Any]


class Reviews(Resources):
    """Answers reviews.

    Args:
        store: reads documents; nothing is stored in it.
        access: who may do what.
        clock: gives the time.
    """

    def __init__(self, store: Store, access: Access, clock: Clock) -> None:
        super().__init__(store, clock)
        self._access = access

    def create(self, request: Request) -> Steps:
        """The answer to a question."""
        target = request.target
        document = document_of(request)
        reading = Reading(request, document)
        reading.note_metadata(document)
        with reading.heard(target, self._unknown(target, document)):
            reading.require_strict(target)
            require_namespace(target, metadata_of(document))
            self._validators.require_valid(target, None, document)
            document = self._validators.of(target).without_nulls(document, {})
            with reading.explained(target):
                kind, served = target.kind, target.served
                read = self.views.as_read(document, kind, served, reading.lenience, None)
            read = with_tidy_metadata({**read, "metadata": _metadata(target, document)})
            found = self._answer(request, read)
        yield from ()  # Nothing is asked of the store.
        return Answer(text_of(found), 201, reading.warnings)

    def _answer(self, request: Request, review: dict[str, Any]) -> dict[str, Any]:
        """A review with its answer.

        Raises:
            ApiError: it makes no sense.
        """
        spec, head = _in(review, "spec"), {key: review[key] for key in ("kind", "apiVersion")}
        match request.target.kind.kind:
            case "SelfSubjectReview":
                created = self._clock().astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
                status = {"userInfo": request.user.to_plain()}
                return {**head, "metadata": {"creationTimestamp": created}, "status": status}
            case "SelfSubjectRulesReview":
                return {**head, "metadata": {}, "spec": {}, "status": self._rules(request, spec)}
            case "TokenReview":
                return {**self._owned(request, review), "status": self._token(spec)}
        _require(request.target, [*_causes(request.target, review)])
        asks_for_oneself = request.target.kind.kind == "SelfSubjectAccessReview"
        user = request.user if asks_for_oneself else _user(spec)
        return {**self._owned(request, review), "status": self._decision(user, spec)}

    def _owned(self, request: Request, review: dict[str, Any]) -> dict[str, Any]:
        """A review with who owns its fields, as if it were stored."""
        ownership = self.views.ownership(request.target.kind, request.target.served)
        owned = ownership.after_update({}, review, request.manager, self._clock())
        found: dict[str, Any] = msgspec.json.decode(ownership.shown(text_of(owned)))
        return found

    def _decision(self, user: User, spec: _Object) -> dict[str, Any]:
        """Whether a user may do something. Without access control every client may do everything."""
        decision = Decision(allowed=True)
        if not self._access.is_open:
            decision = self._access.decide(user, _attributes(spec))
        ignored = ignored_selectors(f"spec.{_ABOUT}", _in(spec, _ABOUT))
        return {
            "allowed": decision.allowed,
            **({"reason": decision.reason} if decision.reason else {}),
            **({"evaluationError": ignored} if ignored else {}),
        }

    def _rules(self, request: Request, spec: _Object) -> dict[str, Any]:
        """What the user of a request may do in a namespace.

        Raises:
            ApiError: none is named.
        """
        if not spec.get("namespace"):
            raise bad_request("no namespace on request")
        rules, missing = self._access.rules_of(request.user, spec["namespace"])
        return {
            "resourceRules": [each.to_plain() for each in rules if each.resources],
            "nonResourceRules": [each.to_plain() for each in rules if each.paths],
            "incomplete": False,
            **({"evaluationError": missing} if missing else {}),
        }

    def _token(self, spec: _Object) -> dict[str, Any]:
        """Whose a token is. Tokens are meant for this server, so that none is right for another audience.

        Raises:
            ApiError: there is none.
        """
        if not spec.get("token"):
            raise bad_request("token is required for TokenReview in authentication")
        user = None if spec.get("audiences") else self._access.by_token(spec["token"])
        if user is None:
            return {"user": {}, "error": _UNKNOWN_TOKEN}
        return {"authenticated": True, "user": user.to_plain()}


def _metadata(target: Target, document: _Object) -> dict[str, Any]:
    """The metadata of a review: what is in a namespace says so."""
    named = {"namespace": target.namespace} if target.namespace else {}
    return {**metadata_of(document), **named}


def _user(spec: _Object) -> User:
    """Whom a review is about."""
    extra = {key: tuple(values) for key, values in _in(spec, "extra").items()}
    groups = tuple(spec.get("groups") or ())
    return User(spec.get("user") or "", spec.get("uid") or "", groups, extra)


def _attributes(spec: _Object) -> Attributes:
    """What a review asks about."""
    path = spec.get(_PATH)
    if path is not None:
        return Attributes(verb=path.get("verb", ""), path=path.get("path", ""))
    about = _in(spec, _ABOUT)
    return Attributes(
        verb=about.get("verb", ""),
        is_resource=True,
        group=about.get("group", ""),
        version=about.get("version") or _ALL,
        resource=about.get("resource", ""),
        subresource=about.get("subresource", ""),
        namespace=about.get("namespace", ""),
        name=about.get("name", ""),
    )


def _require(target: Target, causes: list[Cause]) -> None:
    """Raises where there are causes.

    Raises:
        ApiError: there are.
    """
    if causes:
        raise invalid(target.kind, "", causes)


def _causes(target: Target, review: _Object) -> Iterator[Cause]:
    """What is wrong with a review of access."""
    kind, spec, metadata = target.kind, _in(review, "spec"), _in(review, "metadata")
    about, path = spec.get(_ABOUT), spec.get(_PATH)
    if about is not None and path is not None:
        why = "cannot be specified in combination with resourceAttributes"
        yield invalid_value(f"spec.{_PATH}", _as_go(path), why)
    if about is None and path is None:
        why = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        yield invalid_value(f"spec.{_ABOUT}", None, why)
    if kind.kind != "SelfSubjectAccessReview" and not spec.get("user") and not spec.get("groups"):
        yield invalid_value("spec.user", "", "at least one of user or group must be specified")
    yield from selector_causes(f"spec.{_ABOUT}", _in(spec, _ABOUT))
    if metadata.keys() - {"managedFields", *(["namespace"] if kind.namespaced else [])}:
        why = "must be empty except for namespace" if kind.namespaced else "must be empty"
        yield invalid_value("metadata", metadata, why)
    if kind.namespaced:
        yield from _local_causes(target, about, path)


def _local_causes(target: Target, about: _Object | None, path: _Object | None) -> Iterator[Cause]:
    """What is wrong with a review in a namespace beside that."""
    named = "" if about is None else about.get("namespace", "")
    if about is not None and named != target.namespace:
        yield invalid_value(f"spec.{_ABOUT}.namespace", named, "must match metadata.namespace")
    if path is not None:
        yield invalid_value(f"spec.{_PATH}", _as_go(path), "disallowed on this kind of request")


def _as_go(path: _Object) -> _Object:
    """What a review asks about a path, as Go calls it."""
    return {"Path": path.get("path", ""), "Verb": path.get("verb", "")}


def _in(document: _Object, name: str) -> _Object:
    """An object in another one; empty where it is not there."""
    found: _Object | None = document.get(name)
    return {} if found is None else found
