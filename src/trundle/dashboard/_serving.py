"""Serves the page: beside the API of a server, or by itself where there is none."""

import socket
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence

import uvicorn
from starlette.applications import Starlette
from starlette.routing import BaseRoute, Route

from trundle.api import ServedKind, seldom_collecting
from trundle.api.access import Access, Application, Guard, Receive, Scope, Send
from trundle.dashboard._api_client import ApiClient
from trundle.dashboard._dashboard import Dashboard, ServedObjects
from trundle.dashboard._frame import (
    ENVIRONMENTS,
    HOME,
    INSTALLED,
    OBJECTS,
    PACKAGES,
    STORAGE,
    VERSIONS,
    Frame,
)
from trundle.dashboard._sessions import Sessions, SignedIn
from trundle.dashboard._shown import ShownInstallation, ShownProject, shown_kinds
from trundle.store import Store

PREPARING = "page-preparing"
"""The name of the thread that computes what first requests would wait for."""


class ServerPage:
    """The page of a server.

    Args:
        access: knows users by their tokens.
        installed: the installation whose packages are served, where that is so.
        has_packages: whether the API has a catalog of packages.
        has_environments: whether it has environments, too.
    """

    def __init__(
        self,
        access: Access,
        installed: ShownInstallation | None = None,
        *,
        has_packages: bool = False,
        has_environments: bool = False,
    ) -> None:
        self._access = access
        self._installed = installed
        self._has_packages = has_packages
        self._has_environments = has_environments
        further = [
            *([PACKAGES] if has_packages else []),
            *([ENVIRONMENTS] if has_environments else []),
            *([INSTALLED] if installed else []),
        ]
        self._frame = Frame([VERSIONS, OBJECTS, STORAGE, *further])
        self._sessions = Sessions()
        self._application: Application | None = None

    def around(self, application: Application) -> Application:
        """The sessions of browsers, put in front of an API with its guard; the page asks this API."""
        self._application = application
        return SignedIn(application, self._sessions, self._frame)

    def routes(self, kinds: Iterable[ServedKind], store: Store) -> Sequence[BaseRoute]:
        """The routes of the page, for the API.

        Args:
            kinds: the resource types that are served.
            store: keeps their objects.
        """
        kinds = tuple(kinds)
        client = ApiClient(self._ask)
        served = ServedObjects(kinds, store, client, self._has_packages, self._has_environments)
        projects = shown_kinds(kinds)
        dashboard = Dashboard(
            projects, self._access, self._sessions, self._frame, served, self._installed
        )
        _prepared(dashboard)
        return dashboard.routes

    async def _ask(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._application is not None, "requests come through what `around` gives"
        await self._application(scope, receive, send)


def page_application(
    projects: Mapping[str, ShownProject], installed: ShownInstallation | None = None
) -> Application:
    """The page as an ASGI application for this machine alone: it answers requests that name the machine so."""
    access, sessions = Access(), Sessions()
    frame = Frame([VERSIONS, *([INSTALLED] if installed else [])])
    dashboard = Dashboard(projects, access, sessions, frame, installed=installed)
    _prepared(dashboard)
    start = Route("/", lambda request: frame.redirect(request, HOME))
    guarded = Guard(Starlette(routes=[start, *dashboard.routes]), access)
    return SignedIn(guarded, sessions, frame)


def serve_page(
    projects: Mapping[str, ShownProject],
    listener: socket.socket,
    on_ready: Callable[[], None],
    installed: ShownInstallation | None = None,
) -> None:
    """Serves the page until a signal.

    Args:
        projects: what it shows, by the name that addresses have for each.
        listener: the socket, bound.
        on_ready: is called when requests are answered.
        installed: the installation, where one is shown.
    """
    config = uvicorn.Config(
        page_application(projects, installed),
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=5,
    )
    with seldom_collecting():
        _Announcing(config, on_ready).run(sockets=[listener])


def _prepared(dashboard: Dashboard) -> None:
    """Lets a thread compute what first requests would wait for, while the server starts."""
    threading.Thread(target=dashboard.prepare, name=PREPARING, daemon=True).start()


class _Announcing(uvicorn.Server):
    """Says when it answers requests."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Starts to answer."""
        await super().startup(sockets)
        self._on_ready()
