"""Requests about objects: from what HTTP says to an answer.

Most requests are about objects, so they go past what other paths pass through: routes that are tried one after the other, and
requests and headers that are looked at again and again.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import NamedTuple

import msgspec
from msgspec.structs import replace
from starlette.requests import ClientDisconnect
from starlette.responses import Response, StreamingResponse

from trundle._clock import Clock
from trundle.api import _protobuf as protobuf
from trundle.api._bodies import received
from trundle.api._compression import Packer, accepts_gzip, mark_packed, packed
from trundle.api._feeds import Feed
from trundle.api._hook_threads import HookThreads
from trundle.api._kinds import ServedKind
from trundle.api._options import require_options
from trundle.api._representations import (
    JSON,
    Representation,
    accepted_of,
    representation_of,
)
from trundle.api._requests import Answer, Request, Target
from trundle.api._resources import Resources
from trundle.api._responses import answered, broken, deprecated, failed, fresh, warning
from trundle.api._selections import FieldSelector, labels_of
from trundle.api._status import (
    ApiError,
    answer_to,
    answer_to_any,
    bad_request,
    missing,
    not_allowed,
    unknown_path,
)
from trundle.api._steps import Steps, Together, done
from trundle.api._watches import events
from trundle.api.access import UNSECURED, Receive, Scope, Send, attributes_of, parameters_of
from trundle.api.apply import STATUS
from trundle.errors import TrundleError

MOST_BYTES = 3 * 1024 * 1024
"""How large a body may be; the limit of an API server."""

_MOST_ASKED = 32
"""How many writes may wait for hooks at a time."""

_PATIENCE = 30.0
"""How many seconds further writes wait until one of these is done."""

_LONG = 256 * 1024
"""Bodies from this length on have threads of their own, so that short ones need not wait for them."""

_LONGEST_WATCH = 3600.0
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"})
_READING = frozenset({"GET", "HEAD"})
_PATH = re.compile(
    r"/api(?:s/([^/]+))?/([^/]+)(/watch)?(?:/namespaces/([^/]+))?/([^/]+)(?:/([^/]+)(?:/([^/]+))?)?/?"
)
_NAMESPACES = "namespaces"
_STATUS = ("", "status", "")
"""Group, plural and name as the path of the status of a namespace reads: like one of something in the namespace."""


class Served(NamedTuple):
    """How a resource type is served.

    Attributes:
        kind: the resource type.
        resources: answers requests.
        feed: gives its changes.
        asks: whether hooks are asked before its objects are written.
    """

    kind: ServedKind
    resources: Resources
    feed: Feed
    asks: bool


class Objects:
    """Answers requests about objects.

    Args:
        served: the resource types.
        clock: gives the time, for ages in tables.
    """

    def __init__(self, served: Iterable[Served], clock: Clock) -> None:
        self._served = {(each.kind.group, each.kind.plural): each for each in served}
        self._clock = clock
        self._asking = HookThreads(_MOST_ASKED, _PATIENCE)
        self._together = Together()
        self._is_stopping = False

    @property
    def is_stopping(self) -> bool:
        """Whether watches end."""
        return self._is_stopping

    def stop(self) -> None:
        """Ends all watches."""
        self._is_stopping = True

    def target(self, path: str) -> tuple[Served, Target] | None:
        """What a path names; None where it is no path of objects that are served."""
        match = _PATH.fullmatch(path)
        if match is None:
            return None
        group, version, watched, namespace, plural, name, subresource = match.groups("")
        if namespace and (group, plural, name) == _STATUS:
            plural, name, namespace, subresource = _NAMESPACES, namespace, "", plural
        found = self._served.get((group, plural))
        served = None if found is None else found.kind.versions.get(version)
        if found is None or served is None:
            return None
        kind = found.kind
        fits = not namespace if not kind.namespaced else bool(namespace or not name)
        if not fits or (kind.is_review and (name or watched or kind.namespaced != bool(namespace))):
            return None
        return found, Target(kind, served, namespace, name, subresource, bool(watched))

    async def answer(
        self, found: Served, target: Target, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Answers a request about what a path names."""
        try:
            response = await self._response(found, target, scope, receive)
        except TrundleError as error:  # The request is refused, or the store cannot be used.
            response = failed(answer_to_any(error), _type_of_failures(scope))
        except ClientDisconnect:
            raise
        except Exception as error:
            await broken(error)(scope, receive, send)
            raise
        await warning(fresh(response), deprecated(target))(scope, receive, send)

    async def _response(
        self, found: Served, target: Target, scope: Scope, receive: Receive
    ) -> Response:
        """The answer to a request.

        Raises:
            ApiError: it is no success.
        """
        method: str = scope["method"]
        wrongly = target.watched and (method != "GET" or target.subresource)
        wrongly = wrongly or (target.kind.is_review and method != "POST")
        if method not in _METHODS or wrongly:
            raise _not_allowed(target, scope)
        if target.subresource and not (target.subresource == STATUS and target.served.has_status):
            raise unknown_path() if target.kind.is_core else missing(target.kind, target.name)
        if target.name in {".", ".."} or "%" in target.name:
            found_name = msgspec.json.encode(target.name).decode()
            raise bad_request(
                f"Name parameter invalid: {found_name}: may not be '.' or '..', or contain '%'"
            )
        request = await _read(target, scope, receive)
        target = request.target
        accept, query = _accepted(scope), request.query
        watches = method == "GET" and not target.name and request.flag("watch")
        shown = representation_of(accept, query, self._clock, method, target, streams=watches)
        require_options(method, request)
        if watches:
            return self._watch(found, request, shown)
        if method == "GET" and not target.name and shown.is_plain:
            return await self._list(found, request, shown, scope)
        writing = _writing(method, found, target)
        if writing is not None:
            answer = await self._written(found, writing, request)
        elif (action := _action(method, found, target)) is not None:
            answer = await self._done(found, action, request, method)
        else:
            raise _not_allowed(target, scope)
        return await packed(answered(answer, shown, target), scope)

    async def _done(
        self, found: Served, action: Callable[[Request], Answer], request: Request, method: str
    ) -> Answer:
        """Does what is asked in a thread; what waits for hooks has threads of its own, so that slow ones hold nothing else.

        One object of a file is read at once: a thread would cost more than that.
        """
        reads = method in _READING
        if reads and request.target.name and found.resources.is_local:
            return action(request)
        if reads or not found.asks:
            return await asyncio.to_thread(action, request)
        return await self._asking.run(lambda: action(request))

    async def _written(
        self, found: Served, writing: Callable[[Request], Steps], request: Request
    ) -> Answer:
        """Writes an object: together with others, unless it may hold these up."""
        if found.asks:
            return await self._asking.run(lambda: done(writing(request)))
        if len(request.body) >= _LONG:
            return await asyncio.to_thread(lambda: done(writing(request)))
        return await self._together.done(writing(request))

    async def _list(
        self, found: Served, request: Request, shown: Representation, scope: Scope
    ) -> Response:
        """Streams objects where they are more than a page."""
        target = request.target
        parts = found.resources.parts(request)
        first, is_whole = await asyncio.to_thread(next, parts)
        if is_whole:
            return await packed(answered(Answer(first), shown, target), scope)
        packer = Packer() if accepts_gzip(scope) else None

        def following(part: bytes | None = None) -> tuple[bytes, bool]:
            found, is_last = next(parts) if part is None else (part, False)
            return found if packer is None else packer.packed(found, is_last=is_last), is_last

        async def streamed() -> AsyncIterator[bytes]:
            part, is_last = await asyncio.to_thread(following, first)
            yield part
            while not is_last:
                part, is_last = await asyncio.to_thread(following)
                yield part

        response = StreamingResponse(streamed(), media_type=JSON)
        return response if packer is None else mark_packed(response)

    def _watch(self, served: Served, request: Request, shown: Representation) -> Response:
        """Streams changes, one JSON object in each line."""
        target = request.target
        fields = FieldSelector(request.query.get("fieldSelector", ""), target)
        labels = labels_of(request.query.get("labelSelector", ""))
        seconds = min(request.seconds or _LONGEST_WATCH, _LONGEST_WATCH)
        found = events(request, served.resources, served.feed, fields, labels, shown, seconds)

        async def lines() -> AsyncIterator[bytes]:
            try:
                async for each in found:
                    if each:
                        yield each + b"\n"
                    if self._is_stopping:
                        return
            except TrundleError as error:
                gone = answer_to(error, target.kind, target.name)
                yield msgspec.json.encode({"type": "ERROR", "object": gone.status}) + b"\n"

        return StreamingResponse(lines(), media_type=shown.media_type)


def _accepted(scope: Scope) -> str:
    """What the client of a request accepts, as HTTP writes it."""
    said = (each for name, each in scope["headers"] if name == b"accept")
    return next(said, b"").decode("latin-1")  # The first one counts.


def _type_of_failures(scope: Scope) -> str:
    """The type of answers that are no success: the one that the client likes best."""
    accepted = accepted_of(_accepted(scope))
    return JSON if accepted is None or accepted.form != "whole" else accepted.media_type


def _changes_of(target: Target, query: dict[str, str]) -> tuple[Target, dict[str, str]]:
    """A path of changes as the request that clients make today."""
    query = {**query, "watch": "true"}
    if target.name:
        named = re.sub(r"([\\,=])", r"\\\1", target.name)
        query["fieldSelector"] = f"metadata.name={named}"
    return replace(target, name="", watched=False), query


async def _read(target: Target, scope: Scope, receive: Receive) -> Request:
    """A request."""
    headers: Mapping[bytes, bytes] = dict(reversed(scope["headers"]))  # The first one counts.
    query: bytes = scope["query_string"]
    body, media_type = b"", ""
    if headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers:
        body = await received(receive, MOST_BYTES)
    if b"content-type" in headers:
        said = headers[b"content-type"].decode("latin-1")
        media_type = said.partition(";")[0].strip().lower()
    is_own = target.kind.is_core
    if media_type == protobuf.MEDIA_TYPE and (body or (is_own and scope["method"] == "POST")):
        body, media_type = protobuf.json_of(body, has_form=is_own), JSON
    parameters = parameters_of(query)
    if target.watched:
        target, parameters = _changes_of(target, parameters)
    agent = headers.get(b"user-agent", b"").decode("latin-1")
    user, creation_refusal = scope.get("user") or UNSECURED, scope.get("creation_refusal")
    return Request(target, parameters, body, media_type, agent, user, creation_refusal)


def _writing(method: str, found: Served, target: Target) -> Callable[[Request], Steps] | None:
    """How a method writes at a path, in steps; None where it does not, or has none."""
    resources = found.resources
    if target.name:
        if method == "PUT":
            return resources.replace
        return resources.patch if method == "PATCH" else None
    may_create = target.namespace or not target.kind.namespaced
    return resources.create if method == "POST" and may_create else None


def _not_allowed(target: Target, scope: Scope) -> ApiError:
    """There is something at a path, but it cannot do what is asked."""
    return not_allowed(target.kind, attributes_of(scope["method"], scope["path"]).verb)


def _action(method: str, found: Served, target: Target) -> Callable[[Request], Answer] | None:
    """What else a method does at a path; None where that is nothing."""
    resources = found.resources
    if method in _READING:
        return resources.get if target.name else resources.get_all
    if method == "DELETE" and not target.subresource:
        if target.name:
            return resources.delete
        if target.namespace or not target.kind.namespaced:  # Never those of all namespaces at once.
            return resources.delete_all
    return None
