"""The API as an ASGI application: paths to requests, requests to answers."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from trundle._clock import Clock, now
from trundle.api._admission import placed
from trundle.api._bodies import body_of
from trundle.api._conversion_reviews import ConversionReviews, PlainConversions
from trundle.api._discovery import Discovery
from trundle.api._feeds import Feed
from trundle.api._kept_answers import kept, kept_by_digest
from trundle.api._kinds import ServedKind, ServedVersion
from trundle.api._namespaces import Host
from trundle.api._objects import Objects, Served
from trundle.api._openapi import OpenApi
from trundle.api._representations import JSON
from trundle.api._resources import Resources
from trundle.api._responses import as_json, broken, failed
from trundle.api._status import ApiError, answer_to_any, not_allowed, unknown_path
from trundle.api._surroundings import Alone, Hosted, Surroundings
from trundle.api.access import Access, Receive, Scope, Send
from trundle.api.monitoring import MEDIA_TYPE, Health, Metrics
from trundle.errors import TrundleError
from trundle.project import AdmissionHook
from trundle.runtime import ConversionError
from trundle.store import Store, StoredObject, counted

_MOST_REVIEWED = 256 * 1024 * 1024
"""How large a conversion review may be; an API server sends a page of objects at once."""

_WITH_SLASH = re.compile(r"/(?:apis?(?:/[^/]+)*|version)/")
"""The paths that say the same with a slash at their end; those of objects are read so anyway."""

_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


class _Application(Starlette):
    """Answers requests about objects before any route is looked at.

    Args:
        objects: answers them.
        options: those of Starlette.
    """

    def __init__(self, objects: Objects, **options: Any) -> None:
        super().__init__(**options)
        self.router.redirect_slashes = False
        self._objects = objects

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        found = self._objects.target(scope["path"]) if scope["type"] == "http" else None
        if found is None:
            if scope["type"] == "http" and _WITH_SLASH.fullmatch(scope["path"]):
                scope = {**scope, "path": scope["path"][:-1]}
            await super().__call__(scope, receive, send)
        else:
            await self._objects.answer(*found, scope, receive, send)


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
        host: the cluster that the API is a part of, which says who may do what and has the namespaces; None where it stands by itself.

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
        host: Host | None = None,
    ) -> None:
        kinds = tuple(kinds)
        hooks = placed(kinds, admission, complain)
        surroundings: Surroundings = (
            Alone(store, kinds, access or Access(), clock)
            if host is None
            else Hosted(store, kinds, host, complain)
        )
        self._surroundings = surroundings
        self.access = surroundings.access
        shared = Resources(store, clock, surroundings.require, self._cannot_be_shown, hooks)
        resources = {**dict.fromkeys(kinds, shared), **surroundings.own}
        self._kinds = {(each.group, each.plural): each for each in resources}
        asked = set(kinds) if surroundings.waits else {each.kind for each in hooks}
        self._objects = Objects(
            (
                Served(each, of, Feed(of.store, each.resource), each in asked)
                for each, of in resources.items()
            ),
            clock,
        )
        self._discovery = Discovery(self._kinds.values())
        self._openapi = OpenApi(self._kinds.values(), version)
        self.controllers = surroundings.controllers
        self._store = store
        self._beside = tuple(beside)
        self._reviews = ConversionReviews(PlainConversions(kinds, store.scheme).convert)
        self._version = version
        self._clock = clock
        known = {(x.group, label, x.plural) for x in self._kinds.values() for label in x.versions}
        self.metrics = Metrics(known, self._stored)

    def _cannot_be_shown(
        self, found: StoredObject, kind: ServedKind, served: ServedVersion, error: ConversionError
    ) -> None:
        message = f"{served.label} cannot show it: {error}"
        self._surroundings.warn(kind, served, found, "CannotBeConverted", message)

    def stop(self) -> None:
        """Ends all watches."""
        self._objects.stop()

    @property
    def application(self) -> Starlette:
        """The ASGI application."""
        routes = self._routes()
        return _Application(
            self._objects,
            routes=[*routes, Route("/", self._index(routes))],
            exception_handlers={
                404: _not_found,
                405: _refused,
                500: _broken,
                TrundleError: _troubled,
            },
        )

    def _routes(self) -> list[BaseRoute]:
        return [
            *Health(self._read_something, lambda: self._objects.is_stopping).routes,
            Route("/metrics", self._shown_metrics),
            Route("/version", self._served_version),
            Route("/convert", self._convert, methods=["POST"]),
            *self._beside,
            Route("/api", self._core),
            Route("/api/{version}", self._group_version),
            Route("/apis", self._groups),
            *self._surroundings.routes,
            Route("/apis/{group}", self._group),
            Route("/apis/{group}/{version}", self._group_version),
            Route("/openapi/v2", self._openapi_v2),
            Route("/openapi/v3", self._openapi_paths),
            Route("/openapi/v3/api/{version}", self._openapi_v3),
            Route("/openapi/v3/apis/{group}/{version}", self._openapi_v3),
        ]

    # What there is

    def _index(self, routes: Iterable[BaseRoute]) -> Callable[[HttpRequest], Awaitable[Response]]:
        """Answers with the paths that there are, as `kubectl get --raw /` asks for them."""
        paths = {each.path for each in routes if isinstance(each, Route)}
        fixed = {each for each in paths if not each.startswith("/apis/") and "{" not in each}
        found = as_json({"paths": sorted({*fixed, *self._discovery.paths()})})

        async def answer(_: HttpRequest) -> Response:
            return found

        return answer

    def _read_something(self) -> None:
        self._store.newest(next(iter(self._kinds.values())).resource)

    def _stored(self) -> Iterator[tuple[str, str, str, int]]:
        """How many objects are stored, by group, resource and storage version."""
        for each in counted(self._store).resources:
            for one in each.versions:
                yield each.group, each.name, one.version, one.objects

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
        return as_json(found)

    async def _core(self, request: HttpRequest) -> Response:
        if "apidiscovery.k8s.io" in request.headers.get("accept", ""):
            found = as_json(self._discovery.aggregated(core=True), media_type=_AGGREGATED)
            return await kept(found, request)
        addresses = [{"clientCIDR": "0.0.0.0/0", "serverAddress": request.url.netloc}]
        return as_json(
            {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": addresses}
        )

    async def _groups(self, request: HttpRequest) -> Response:
        if "apidiscovery.k8s.io" in request.headers.get("accept", ""):
            found = self._discovery.aggregated(core=False)
            return await kept(as_json(found, media_type=_AGGREGATED), request)
        return as_json(self._discovery.groups())

    async def _group(self, request: HttpRequest) -> Response:
        return _found(self._discovery.group(request.path_params["group"]))

    async def _group_version(self, request: HttpRequest) -> Response:
        given = request.path_params
        return _found(self._discovery.resources(given.get("group", ""), given["version"]))

    async def _openapi_v2(self, request: HttpRequest) -> Response:
        found, media_type = self._openapi.v2(request.headers.get("accept", ""))
        return await kept(Response(found, media_type=media_type), request)

    async def _openapi_paths(self, _: HttpRequest) -> Response:
        return as_json(self._openapi.paths())

    async def _openapi_v3(self, request: HttpRequest) -> Response:
        given = request.path_params
        found = self._openapi.v3(given.get("group", ""), given["version"])
        if found is None:
            return failed(unknown_path())
        return await kept_by_digest(Response(found, media_type=JSON), request, self._clock())

    async def _convert(self, http: HttpRequest) -> Response:
        try:
            body = await body_of(http, _MOST_REVIEWED)
            return Response(await asyncio.to_thread(self._reviews.answer, body), media_type=JSON)
        except ApiError as error:
            return failed(error)


def _found(value: Any) -> Response:
    return failed(unknown_path()) if value is None else as_json(value)


async def _not_found(_: HttpRequest, __: Exception) -> Response:
    return failed(unknown_path())


async def _broken(_: HttpRequest, error: Exception) -> Response:
    return broken(error)


async def _troubled(_: HttpRequest, error: Exception) -> Response:
    """The answer where the store cannot be used."""
    assert isinstance(error, TrundleError), "it is called for no others"
    return failed(answer_to_any(error))


async def _refused(_: HttpRequest, __: Exception) -> Response:
    return failed(not_allowed())
