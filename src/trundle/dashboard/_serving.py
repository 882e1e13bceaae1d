"""Serves the page by itself, where there is no API."""

import socket
from collections.abc import Callable, Mapping

import uvicorn
from starlette.applications import Starlette

from trundle.api.access import Access, Application, Guard
from trundle.dashboard._dashboard import Dashboard
from trundle.dashboard._sessions import Sessions, SignedIn
from trundle.dashboard._shown import ShownProject


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
