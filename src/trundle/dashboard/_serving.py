"""Serves the page: beside the API of a server, or by itself where there is none."""

import socket
from collections.abc import Callable, Iterable, Mapping, Sequence

import uvicorn
from starlette.applications import Starlette
from starlette.routing import BaseRoute

from trundle.api import ServedKind
from trundle.api.access import Access, Application, Guard, Receive, Scope, Send
from trundle.dashboard._api_client import ApiClient
from trundle.dashboard._dashboard import Dashboard, ServedObjects
from trundle.dashboard._sessions import Sessions, SignedIn
from trundle.dashboard._shown import ShownProject, shown_kinds
from trundle.store import Store


class ServerPage:
    """The page of a server.

    Args:
        access: knows users by their tokens.
    """

    def __init__(self, access: Access) -> None:
        self._access = access
        self._sessions = Sessions()
        self._application: Application | None = None

    def around(self, application: Application) -> Application:
        """The sessions of browsers, put in front of an API with its guard; the page asks this API."""
        self._application = application
        return SignedIn(application, self._sessions, has_objects=True)

    def routes(self, kinds: Iterable[ServedKind], store: Store) -> Sequence[BaseRoute]:
        """The routes of the page, for the API.

        Args:
            kinds: the resource types that are served.
            store: keeps their objects.
        """
        kinds = tuple(kinds)
        served = ServedObjects(kinds, store, ApiClient(self._ask))
        return Dashboard(shown_kinds(kinds), self._access, self._sessions, served).routes

    async def _ask(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._application is not None, "requests come through what `around` gives"
        await self._application(scope, receive, send)


def page_application(projects: Mapping[str, ShownProject]) -> Application:
    """The page as an ASGI application for this machine alone: it answers requests that name the machine so."""
    access, sessions = Access(), Sessions()
    dashboard = Dashboard(projects, access, sessions)
    return SignedIn(Guard(Starlette(routes=dashboard.routes), access), sessions)


def serve_page(
    projects: Mapping[str, ShownProject], listener: socket.socket, on_ready: Callable[[], None]
) -> None:
    """Serves the page until a signal.

    Args:
        projects: what it shows, by the name that addresses have for each.
        listener: the socket, bound.
        on_ready: is called when requests are answered.
    """
    config = uvicorn.Config(
        page_application(projects),
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=5,
    )
    _Announcing(config, on_ready).run(sockets=[listener])


class _Announcing(uvicorn.Server):
    """Says when it answers requests."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Starts to answer."""
        await super().startup(sockets)
        self._on_ready()
