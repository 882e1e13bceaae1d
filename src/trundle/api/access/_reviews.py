"""What clients ask about themselves: who they are, and what they may do."""

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

import msgspec
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from trundle._clock import Clock, now
from trundle.api._status import ApiError, Cause, bad_request
from trundle.api.access._attributes import Attributes
from trundle.api.access._guard import Access, refusal
from trundle.api.access._protobuf import MEDIA_TYPE, decoded
from trundle.api.access._rules import ALL
from trundle.api.access._users import UNSECURED, User
from trundle.errors import expectation

_MOST_BYTES = 64 * 1024
_VERSION = "v1"
ReviewKind = Literal["SelfSubjectAccessReview", "SelfSubjectReview", "SelfSubjectRulesReview"]


class Review(NamedTuple):
    """A question that clients create as an object.

    Attributes:
        group: its API group.
        kind: its name in documents.
    """

    group: str
    kind: ReviewKind

    @property
    def plural(self) -> str:
        """Its name in URLs."""
        return f"{self.kind.lower()}s"


REVIEWS = (
    Review("authentication.k8s.io", "SelfSubjectReview"),
    Review("authorization.k8s.io", "SelfSubjectAccessReview"),
    Review("authorization.k8s.io", "SelfSubjectRulesReview"),
)


class Reviews:
    """Answers what clients ask about themselves.

    Args:
        access: who may do what.
        clock: gives the time.
    """

    def __init__(self, access: Access, clock: Clock = now) -> None:
        self._access = access
        self._clock = clock

    @property
    def routes(self) -> list[BaseRoute]:
        """Where clients ask, and where they find out that they can."""
        groups = dict.fromkeys(each.group for each in REVIEWS)
        return [
            *(
                Route(
                    f"/apis/{each.group}/{_VERSION}/{each.plural}",
                    self._asked(each),
                    methods=["POST"],
                )
                for each in REVIEWS
            ),
            *(Route(f"/apis/{each}/{_VERSION}", _constant(_resources(each))) for each in groups),
            *(Route(f"/apis/{each}", _constant(_with_kind(_group(each)))) for each in groups),
        ]

    def _asked(self, review: Review) -> Callable[[HttpRequest], Any]:
        async def answer(http: HttpRequest) -> Response:
            try:
                body = await _body(http)
                user = http.scope.get("user", UNSECURED)
                given = _document(body, http.headers.get("content-type", ""), review)
                return _json(self._answer(review, given, user), 201)
            except ApiError as error:
                return refusal(error)

        return answer

    def _answer(self, review: Review, given: Mapping[str, Any], user: User) -> dict[str, Any]:
        spec = given.get("spec")
        spec = {} if spec is None else _object(spec, "spec")
        head = {"kind": review.kind, "apiVersion": f"{review.group}/{_VERSION}"}
        match review.kind:
            case "SelfSubjectReview":
                created = self._clock().astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
                status = {"userInfo": user.to_plain()}
                return {**head, "metadata": {"creationTimestamp": created}, "status": status}
            case "SelfSubjectAccessReview":
                decision = self._access.decide(user, _attributes(spec))
                reason = {"reason": decision.reason} if decision.reason else {}
                metadata = _object(given.get("metadata") or {}, "metadata")
                allowed = {"allowed": decision.allowed, **reason}
                return {**head, "metadata": metadata, "spec": spec, "status": allowed}
            case "SelfSubjectRulesReview":
                return {**head, "metadata": {}, "spec": {}, "status": self._rules(spec, user)}

    def _rules(self, spec: Mapping[str, Any], user: User) -> dict[str, Any]:
        namespace = _text(spec, "namespace")
        if not namespace:
            raise bad_request("no namespace on request")
        rules, missing = self._access.rules_of(user, namespace)
        return {
            "resourceRules": [each.to_plain() for each in rules if each.resources],
            "nonResourceRules": [each.to_plain() for each in rules if each.paths],
            "incomplete": False,
            **({"evaluationError": missing} if missing else {}),
        }


def group_list() -> list[dict[str, Any]]:
    """The groups of reviews, as `/apis` lists groups."""
    return [_group(each) for each in dict.fromkeys(each.group for each in REVIEWS)]


def aggregated_groups() -> list[dict[str, Any]]:
    """The groups of reviews, as aggregated discovery lists groups."""
    return [
        {
            "metadata": {"name": group, "creationTimestamp": None},
            "versions": [
                {
                    "version": _VERSION,
                    "resources": [
                        {
                            "resource": each.plural,
                            "responseKind": {
                                "group": group,
                                "version": _VERSION,
                                "kind": each.kind,
                            },
                            "scope": "Cluster",
                            "singularResource": each.kind.lower(),
                            "verbs": ["create"],
                        }
                        for each in REVIEWS
                        if each.group == group
                    ],
                    "freshness": "Current",
                }
            ],
        }
        for group in dict.fromkeys(each.group for each in REVIEWS)
    ]


def _group(name: str) -> dict[str, Any]:
    version = {"groupVersion": f"{name}/{_VERSION}", "version": _VERSION}
    return {"name": name, "versions": [version], "preferredVersion": version}


def _with_kind(group: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "APIGroup", "apiVersion": "v1", **group}


def _resources(group: str) -> dict[str, Any]:
    found = [
        {
            "name": each.plural,
            "singularName": each.kind.lower(),
            "namespaced": False,
            "kind": each.kind,
            "verbs": ["create"],
        }
        for each in REVIEWS
        if each.group == group
    ]
    head = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": f"{group}/{_VERSION}"}
    return {**head, "resources": found}


def _attributes(spec: Mapping[str, Any]) -> Attributes:
    """What a review asks about.

    Raises:
        ApiError: it asks about nothing, or about two things.
    """
    about, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if about is not None and path is not None:
        raise _invalid(
            "nonResourceAttributes",
            path,
            "cannot be specified in combination with resourceAttributes",
        )
    if about is not None:
        found = _object(about, "spec.resourceAttributes")
        return Attributes(
            verb=_text(found, "verb"),
            is_resource=True,
            group=_text(found, "group"),
            version=_text(found, "version") or ALL,
            resource=_text(found, "resource"),
            subresource=_text(found, "subresource"),
            namespace=_text(found, "namespace"),
            name=_text(found, "name"),
        )
    if path is not None:
        found = _object(path, "spec.nonResourceAttributes")
        return Attributes(verb=_text(found, "verb"), path=_text(found, "path"))
    message = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
    raise _invalid("resourceAttributes", None, message)


def _invalid(field: str, value: Any, why: str) -> ApiError:
    said = msgspec.json.encode(value).decode()
    cause = Cause("FieldValueInvalid", f"spec.{field}", f"Invalid value: {said}: {why}")
    review = REVIEWS[1]
    message = f'{review.kind}.{review.group} "" is invalid: {cause.field}: {cause.message}'
    details = {"group": review.group, "kind": review.kind}
    return ApiError(422, "Invalid", message, details, [cause])


def _document(body: bytes, media_type: str, review: Review) -> Mapping[str, Any]:
    is_protobuf = media_type.partition(";")[0].strip() == MEDIA_TYPE
    try:
        found = decoded(body) if is_protobuf else msgspec.json.decode(body)
    except (ValueError, RecursionError) as error:  # msgspec's errors are among them.
        expected = "a review in protobuf" if is_protobuf else "JSON"
        raise bad_request(expectation(expected, str(error))) from None
    document = _object(found, "the body")
    for key, wanted in (("kind", review.kind), ("apiVersion", f"{review.group}/{_VERSION}")):
        if document.get(key, wanted) != wanted:
            raise bad_request(expectation(f"{wanted} as {key}", repr(document[key])))
    return document


def _object(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise bad_request(expectation(f"an object as {what}", "something else"))
    return value


def _text(given: Mapping[str, Any], key: str) -> str:
    found = given.get(key) or ""
    if not isinstance(found, str):
        raise bad_request(expectation(f"a text as {key}", "something else"))
    return found


async def _body(http: HttpRequest) -> bytes:
    found = bytearray()
    async for chunk in http.stream():
        found += chunk
        if len(found) > _MOST_BYTES:
            message = f"Request entity too large: limit is {_MOST_BYTES}"
            raise ApiError(413, "RequestEntityTooLarge", message)
    return bytes(found)


def _constant(value: Any) -> Callable[[HttpRequest], Any]:
    async def answer(_: HttpRequest) -> Response:
        return _json(value)

    return answer


def _json(value: Any, code: int = 200) -> Response:
    return Response(msgspec.json.encode(value), code, media_type="application/json")
