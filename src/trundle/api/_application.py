"""The API as an ASGI application: paths to requests, requests to answers."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from trundle._clock import Clock, now
from trundle.api import _protobuf as protobuf
from trundle.api._admission import placed
from trundle.api._bodies import body_of
from trundle.api._controllers import Controllers
from trundle.api._conversion_reviews import ConversionReviews, PlainConversions
from trundle.api._core import NAMESPACES
from trundle.api._discovery import Discovery, has_status
from trundle.api._events import EventRecorder
from trundle.api._feeds import Feed
from trundle.api._garbage import GarbageCollector
from trundle.api._inventory import Inventory
from trundle.api._kinds import ServedKind, ServedVersion
from trundle.api._namespaces import DEFAULT, NamespaceController, Namespaces
from trundle.api._openapi import OpenApi
from trundle.api._representations import Representation, representation_of
from trundle.api._requests import Answer, Request, Target
from trundle.api._resources import Resources
from trundle.api._selections import FieldSelector, labels_of
from trundle.api._status import ApiError, answer_to, answer_to_any, not_allowed, unknown_path
from trundle.api._steps import Steps, Together, done
from trundle.api._watches import events
from trundle.api.access import UNSECURED, Access, Reviews, aggregated_groups, group_list
from trundle.api.monitoring import MEDIA_TYPE, Health, Metrics
from trundle.errors import TrundleError
from trundle.project import AdmissionHook
from trundle.runtime import ConversionError
from trundle.store import Store, StoredObject, status

MOST_BYTES = 3 * 1024 * 1024
"""How large a body may be; the limit of an API server."""

_MOST_REVIEWED = 256 * 1024 * 1024
"""How large a conversion review may be; an API server sends a page of objects at once."""

_MOST_ASKED = 32
"""How many writes may wait for hooks at a time."""

_LONG = 256 * 1024
"""Bodies from this length on have threads of their own, so that short ones need not wait for them."""

_READING = frozenset({"GET", "HEAD"})
_JSON = "application/json"
_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_LONGEST_WATCH = 3600.0


class Api:
    """Serves every version of resource types over one store, in Kubernetes' conventions.

    Args:
        store: keeps the objects.
        kinds: the resource types that are served.
        version: the version of the server, as `/version` shows it.
        clock: gives the time, for ages in tables.
        access: who may do what; without it every client may do everything.
        beside: what else is served, such as the packages of a catalog (`CatalogRoutes`).
        admission: the hooks that are asked before objects are written.
        complain: is given what goes wrong where no client is answered so.

    Attributes:
        access: who may do what.
        metrics: what operators see of requests; the server of the application counts them.
        controllers: do what follows from changes; the server of the application runs them.
    """

    def __init__(
        self,
        store: Store,
        kinds: Iterable[ServedKind],
        version: str,
        clock: Clock = now,
        access: Access | None = None,
        beside: Sequence[BaseRoute] = (),
        admission: Iterable[AdmissionHook] = (),
        complain: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.access = access or Access()
        kinds = tuple(kinds)
        hooks = placed(kinds, admission, complain)
        inventory = Inventory(store, kinds)
        self._kinds = {(each.group, each.plural): each for each in inventory.kinds}
        self._recorder = EventRecorder(inventory, clock)
        namespaces = Namespaces(inventory, clock)
        for each in {DEFAULT, *store.namespaces()}:
            namespaces.ensure(each)
        shared = {
            store: Resources(store, clock, namespaces.require, self._cannot_be_shown, hooks),
            inventory.core: Resources(inventory.core, clock, namespaces.require),
        }
        self._resources = {each: shared[inventory.store_of(each)] for each in inventory.kinds}
        self._resources[inventory.core_kind(NAMESPACES)] = namespaces
        self._discovery = Discovery(self._kinds.values())
        self._openapi = OpenApi(self._kinds.values(), version)
        self._feeds = {
            each: Feed(inventory.store_of(each), each.resource) for each in inventory.kinds
        }
        self.controllers = Controllers(
            inventory,
            [GarbageCollector(inventory), NamespaceController(inventory, self._recorder)],
            self._recorder.flush,
        )
        self._asked = {each.kind for each in hooks}
        self._asking = ThreadPoolExecutor(_MOST_ASKED, "admission")
        self._together = Together()
        self._store = store
        self._beside = tuple(beside)
        self._reviews = ConversionReviews(PlainConversions(kinds, store.scheme).convert)
        self._version = version
        self._clock = clock
        self._is_stopping = False
        known = {(x.group, label, x.plural) for x in self._kinds.values() for label in x.versions}
        self.metrics = Metrics(known, self._stored)

    def _cannot_be_shown(
        self, found: StoredObject, kind: ServedKind, served: ServedVersion, error: ConversionError
    ) -> None:
        message = f"{served.label} cannot show it: {error}"
        self._recorder.note(kind, served, found, "CannotBeConverted", message, warning=True)

    def stop(self) -> None:
        """Ends all watches."""
        self._is_stopping = True

    @property
    def application(self) -> Starlette:
        """The ASGI application."""
        return Starlette(
            routes=self._routes(),
            exception_handlers={
                404: _not_found,
                405: _refused,
                500: _broken,
                TrundleError: _troubled,
            },
        )

    def _routes(self) -> list[BaseRoute]:
        objects = [
            "/api/{version}/namespaces/{namespace}/{plural}",
            "/api/{version}/namespaces/{namespace}/{plural}/{name}",
            "/api/{version}/{plural}",
            "/api/{version}/{plural}/{name}",
            "/apis/{group}/{version}/namespaces/{namespace}/{plural}",
            "/apis/{group}/{version}/namespaces/{namespace}/{plural}/{name}/{subresource}",
            "/apis/{group}/{version}/{plural}",
            "/apis/{group}/{version}/{plural}/{name}",
            "/apis/{group}/{version}/{plural}/{name}/{subresource}",
        ]
        methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]
        # Most requests are about one object: no other path comes before it, since each that is compared takes time.
        one = "/apis/{group}/{version}/namespaces/{namespace}/{plural}/{name}"
        return [
            Route(one, self._objects, methods=methods),
            *Health(self._read_something, lambda: self._is_stopping).routes,
            Route("/metrics", self._shown_metrics),
            Route("/version", self._served_version),
            Route("/convert", self._convert, methods=["POST"]),
            *self._beside,
            Route("/api", self._core),
            Route("/api/{version}", self._group_version),
            Route("/apis", self._groups),
            *Reviews(self.access, self._clock).routes,
            Route("/apis/{group}", self._group),
            Route("/apis/{group}/{version}", self._group_version),
            Route("/openapi/v2", self._openapi_v2),
            Route("/openapi/v3", self._openapi_paths),
            Route("/openapi/v3/api/{version}", self._openapi_v3),
            Route("/openapi/v3/apis/{group}/{version}", self._openapi_v3),
            Route("/api/{version}/namespaces/{name}/status", self._objects, methods=methods),
            *(Route(each, self._objects, methods=methods) for each in objects),
        ]

    # What there is

    def _read_something(self) -> None:
        self._store.newest(next(iter(self._feeds)).resource)

    def _stored(self) -> Iterator[tuple[str, str, str, int]]:
        """How many objects are stored, by group, resource and storage version."""
        for each in status(self._store).resources:
            for found in each.versions:
                yield each.group, each.name, found.version, found.objects

    async def _shown_metrics(self, _: HttpRequest) -> Response:
        found = await asyncio.to_thread(self.metrics.shown)
        return Response(found, media_type=MEDIA_TYPE)

    async def _served_version(self, _: HttpRequest) -> Response:
        major, minor = "1", "36"
        found = {
            "major": major,
            "minor": minor,
            "gitVersion": f"v{major}.{minor}.0+trundle.{self._version.replace('+', '.')}",
            "gitCommit": "",
            "gitTreeState": "clean",
            "buildDate": "1970-01-01T00:00:00Z",
            "goVersion": "",
            "compiler": "",
            "platform": "",
        }
        return _json(found)

    async def _core(self, request: HttpRequest) -> Response:
        if "apidiscovery.k8s.io" in request.headers.get("accept", ""):
            return _json(self._discovery.aggregated(core=True), media_type=_AGGREGATED)
        addresses = [{"clientCIDR": "0.0.0.0/0", "serverAddress": request.url.netloc}]
        return _json(
            {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": addresses}
        )

    async def _groups(self, request: HttpRequest) -> Response:
        if "apidiscovery.k8s.io" in request.headers.get("accept", ""):
            found = self._discovery.aggregated(core=False)
            found["items"] += aggregated_groups()
            return _json(found, media_type=_AGGREGATED)
        found = self._discovery.groups()
        found["groups"] += group_list()
        return _json(found)

    async def _group(self, request: HttpRequest) -> Response:
        return _found(self._discovery.group(request.path_params["group"]))

    async def _group_version(self, request: HttpRequest) -> Response:
        given = request.path_params
        return _found(self._discovery.resources(given.get("group", ""), given["version"]))

    async def _openapi_v2(self, request: HttpRequest) -> Response:
        found, media_type = self._openapi.v2(request.headers.get("accept", ""))
        return Response(found, media_type=media_type)

    async def _openapi_paths(self, _: HttpRequest) -> Response:
        return _json(self._openapi.paths())

    async def _openapi_v3(self, request: HttpRequest) -> Response:
        given = request.path_params
        found = self._openapi.v3(given.get("group", ""), given["version"])
        return _failed(unknown_path()) if found is None else Response(found, media_type=_JSON)

    async def _convert(self, http: HttpRequest) -> Response:
        try:
            body = await body_of(http, _MOST_REVIEWED)
            return Response(await asyncio.to_thread(self._reviews.answer, body), media_type=_JSON)
        except ApiError as error:
            return _failed(error)

    # Objects

    async def _objects(self, http: HttpRequest) -> Response:
        """Answers a request about objects."""
        try:
            target = self._target(http.path_params)
            body = await body_of(http, MOST_BYTES)
            media_type = http.headers.get("content-type", "").partition(";")[0].strip().lower()
            if media_type == protobuf.MEDIA_TYPE:
                body, media_type = protobuf.json_of(body), _JSON
            agent = http.headers.get("user-agent", "")
            user = http.scope.get("user") or UNSECURED
            request = Request(target, dict(http.query_params), body, media_type, agent, user)
            shown = representation_of(http.headers.get("accept", ""), request.query, self._clock)
            if http.method == "GET" and not target.name and request.flag("watch"):
                return self._watch(request, shown)
            if http.method == "GET" and not target.name and shown.is_whole:
                return await self._list(request, shown)
            writing = self._writing(http.method, target)
            if writing is None:
                action = self._action(http.method, target)
                answer = await self._done(action, request, http.method)
            else:
                answer = await self._written(writing, request)
            return _answered(answer, shown, target)
        except ApiError as error:
            return _failed(error)

    async def _done(
        self, action: Callable[[Request], Answer], request: Request, method: str
    ) -> Answer:
        """Does what is asked in a thread; what waits for hooks has threads of its own, so that slow ones hold nothing else.

        One object of a file is read at once: a thread would cost more than that.
        """
        target, reads = request.target, method in _READING
        if reads and target.name and self._resources[target.kind].is_quick:
            return action(request)
        if reads or target.kind not in self._asked:
            return await asyncio.to_thread(action, request)
        return await asyncio.get_running_loop().run_in_executor(self._asking, action, request)

    async def _written(self, writing: Callable[[Request], Steps], request: Request) -> Answer:
        """Writes an object: together with others, unless it may hold these up."""
        if request.target.kind in self._asked:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._asking, lambda: done(writing(request)))
        if len(request.body) >= _LONG:
            return await asyncio.to_thread(lambda: done(writing(request)))
        return await self._together.done(writing(request))

    def _writing(self, method: str, target: Target) -> Callable[[Request], Steps] | None:
        """How a method writes at a path, in steps; None where it does not, or has none."""
        found = self._resources[target.kind]
        if target.name:
            one = {"PUT": found.replace, "PATCH": found.patch}
            return one.get(method)
        may_create = target.namespace or not target.kind.namespaced
        return found.create if method == "POST" and may_create else None

    def _target(self, given: Mapping[str, str]) -> Target:
        """What a path names."""
        if "plural" not in given:  # It is that of the status of a namespace.
            given = {**given, "plural": "namespaces", "subresource": "status"}
        kind = self._kinds.get((given.get("group", ""), given["plural"]))
        served = None if kind is None else kind.versions.get(given["version"])
        if kind is None or served is None:
            raise unknown_path()
        target = Target(
            kind,
            served,
            given.get("namespace", ""),
            given.get("name", ""),
            given.get("subresource", ""),
        )
        if target.namespace and not kind.namespaced:
            raise unknown_path()
        if target.name and kind.namespaced and not target.namespace:
            raise unknown_path()
        if target.subresource and (
            target.subresource != "status" or not has_status(kind, served.label)
        ):
            raise unknown_path()
        return target

    def _action(self, method: str, target: Target) -> Callable[[Request], Answer]:
        """What a method does at a path."""
        found = self._resources[target.kind]
        one: dict[str, Callable[[Request], Answer]] = {
            "GET": found.get,
            "HEAD": found.get,
        }
        if not target.subresource:
            one["DELETE"] = found.delete
        some: dict[str, Callable[[Request], Answer]] = {
            "GET": found.get_all,
            "HEAD": found.get_all,
            "DELETE": found.delete_all,
        }
        action = (one if target.name else some).get(method)
        if action is None:
            raise not_allowed()
        return action

    async def _list(self, request: Request, shown: Representation) -> Response:
        """Streams objects where they are more than a page."""
        target = request.target
        parts = self._resources[target.kind].parts(request)
        first, is_whole = await asyncio.to_thread(next, parts)
        if is_whole:
            return _answered(Answer(first), shown, target)

        async def streamed() -> AsyncIterator[bytes]:
            part, is_last = first, False
            yield part
            while not is_last:
                part, is_last = await asyncio.to_thread(next, parts)
                yield part

        return _warning(StreamingResponse(streamed(), media_type=_JSON), _deprecated(target))

    def _watch(self, request: Request, shown: Representation) -> Response:
        """Streams changes, one JSON object in each line."""
        target = request.target
        fields = FieldSelector(request.query.get("fieldSelector", ""), target.kind.selectable)
        labels = labels_of(request.query.get("labelSelector", ""))
        seconds = min(request.number("timeoutSeconds") or _LONGEST_WATCH, _LONGEST_WATCH)
        until = time.monotonic() + seconds
        found = events(
            request,
            self._resources[target.kind],
            self._feeds[target.kind],
            fields,
            labels,
            shown,
        )

        async def lines() -> AsyncIterator[bytes]:
            try:
                async for each in found:
                    if each:
                        yield each + b"\n"
                    if time.monotonic() > until or self._is_stopping:
                        return
            except TrundleError as error:
                failed = answer_to(error, target.kind, target.name)
                yield msgspec.json.encode({"type": "ERROR", "object": failed.status}) + b"\n"

        return StreamingResponse(lines(), media_type=shown.media_type)


def _answered(answer: Answer, shown: Representation, target: Target) -> Response:
    response = Response(shown.of(answer.body, target), answer.code, media_type=shown.media_type)
    return _warning(response, [*answer.warnings, *_deprecated(target)])


def _deprecated(target: Target) -> list[str]:
    """What a client of a deprecated version is warned with."""
    return [target.served.deprecated] if target.served.deprecated else []


def _warning(response: Response, warnings: Iterable[str]) -> Response:
    """An answer with what the client shows its user."""
    for each in warnings:
        plain = "".join(x if x.isprintable() else " " for x in " ".join(each.split()))
        quoted = plain.replace("\\", "\\\\").replace('"', '\\"')
        response.raw_headers.append((b"warning", f'299 - "{quoted}"'.encode()))
    return response


def _json(value: Any, media_type: str = _JSON) -> Response:
    return Response(msgspec.json.encode(value), media_type=media_type)


def _found(value: Any) -> Response:
    return _failed(unknown_path()) if value is None else _json(value)


def _failed(error: ApiError) -> Response:
    response = Response(msgspec.json.encode(error.status), error.code, media_type=_JSON)
    if seconds := (error.details or {}).get("retryAfterSeconds"):
        response.headers["retry-after"] = str(seconds)
    return _warning(response, error.warnings)


async def _not_found(_: HttpRequest, __: Exception) -> Response:
    return _failed(unknown_path())


async def _broken(_: HttpRequest, error: Exception) -> Response:
    message = f"Internal error occurred: {type(error).__name__}"
    return _failed(ApiError(500, "InternalError", message))


async def _troubled(_: HttpRequest, error: Exception) -> Response:
    """The answer where the store cannot be used."""
    assert isinstance(error, TrundleError), "it is called for no others"
    return _failed(answer_to_any(error))


async def _refused(_: HttpRequest, __: Exception) -> Response:
    return _failed(not_allowed())
