"""The routes of the page."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from trundle.api import ServedKind, status_of
from trundle.api.access import Access
from trundle.dashboard._api_client import ApiClient, ApiRefusedError
from trundle.dashboard._editing import Editor
from trundle.dashboard._forms import form_of
from trundle.dashboard._frame import (
    ASSETS,
    CHANNELS,
    HOME,
    SIGN_IN,
    SIGN_OUT,
    Frame,
    own_path,
    prepare,
)
from trundle.dashboard._objects import Objects, ServedKinds
from trundle.dashboard._sessions import COOKIE, Sessions
from trundle.dashboard._shown import Shown, ShownInstallation, ShownProject
from trundle.dashboard._storage import Storage
from trundle.dashboard._versions import Versions
from trundle.errors import TrundleError
from trundle.store import Store

if TYPE_CHECKING:
    from trundle.dashboard._adding_applications import AddingApplications
    from trundle.dashboard._environments import EnvironmentPages
    from trundle.dashboard._followed_channels import FollowedChannels
    from trundle.dashboard._installed import InstalledPackages
    from trundle.dashboard._packages import Packages

_LONGEST_SIGN_IN = 64 * 1024

Handler: TypeAlias = Callable[[Request], Awaitable[Response]]


class ServedObjects(NamedTuple):
    """The objects of a server.

    Attributes:
        kinds: their resource types.
        store: keeps them.
        client: asks the API about them.
        has_packages: whether the server has a catalog of packages, too.
        has_environments: whether it has environments.
    """

    kinds: Iterable[ServedKind]
    store: Store
    client: ApiClient
    has_packages: bool = False
    has_environments: bool = False


class Dashboard:
    """The page over some projects, and over the objects of a server.

    Args:
        projects: what it shows, by the name that addresses have for each.
        access: knows users by their tokens.
        sessions: the sessions of browsers; those of `SignedIn` in front of the guard.
        frame: makes pages.
        served: the server, where there is one.
        installed: the installation, where one is shown.
    """

    _packages: "Packages | None"
    _channels: "FollowedChannels | None"
    _environments: "EnvironmentPages | None"
    _adding: "AddingApplications | None"
    _installed: "InstalledPackages | None"

    def __init__(
        self,
        projects: Mapping[str, ShownProject],
        access: Access,
        sessions: Sessions,
        frame: Frame,
        served: ServedObjects | None = None,
        installed: ShownInstallation | None = None,
    ) -> None:
        self._frame = frame
        self._access = access
        self._sessions = sessions
        self._versions = Versions(Shown(projects), self._frame)
        self._objects: Objects | None = None
        self._editor: Editor | None = None
        self._storage: Storage | None = None
        self._packages = self._channels = self._environments = self._adding = self._installed = None
        if served is not None:
            kinds = ServedKinds(served.kinds)
            self._objects = Objects(kinds, served.store, served.client, self._frame)
            self._editor = Editor(kinds, served.client, self._frame)
            self._storage = Storage(served.store, self._frame)
            # These need extras that nothing else on the page needs.
            if served.has_packages:
                from trundle.dashboard._followed_channels import FollowedChannels  # noqa: PLC0415
                from trundle.dashboard._packages import Packages  # noqa: PLC0415

                self._packages = Packages(served.client, self._frame)
                self._channels = FollowedChannels(served.client, self._frame)
            if served.has_environments:
                from trundle.dashboard._adding_applications import (  # noqa: PLC0415
                    AddingApplications,
                )
                from trundle.dashboard._environments import EnvironmentPages  # noqa: PLC0415

                self._environments = EnvironmentPages(served.client, self._frame)
                self._adding = AddingApplications(served.client, self._frame)
        if installed is not None:
            from trundle.dashboard._installed import InstalledPackages  # noqa: PLC0415

            self._installed = InstalledPackages(installed, self._frame)

    def prepare(self) -> None:
        """Computes what the first requests would wait for; in a thread without an event loop."""
        anyio.run(anyio.sleep, 0)  # Imports what threads of requests need.
        prepare()
        self._versions.prepare()
        for each in (self._packages, self._installed):
            if each is not None:
                each.prepare()

    @property
    def routes(self) -> list[BaseRoute]:
        """The routes, for an application behind a guard."""
        return [
            Route("/ui", self._start),
            Route(HOME, self._start),
            Route(ASSETS + "{name}", self._asset),
            Route(SIGN_IN, self._sign_in_form),
            Route(SIGN_IN, self._answering(self._sign_in), methods=["POST"]),
            Route(SIGN_OUT, self._sign_out, methods=["POST"]),
            *(Route(path, self._answering(handler)) for path, handler in self._pages().items()),
            *(
                Route(path, self._answering(handler), methods=["POST"])
                for path, handler in self._changes().items()
            ),
            *(Route(path, self._for_forms) for path in self._taking_forms()),
            Route("/ui/{rest:path}", self._unknown),
        ]

    def _pages(self) -> dict[str, Handler]:
        """What shows pages, by path."""
        pages: dict[str, Handler] = {
            "/ui/versions": _threaded(self._versions.listed),
            "/ui/versions/type": _threaded(self._versions.type),
            "/ui/versions/property": _threaded(self._versions.property),
        }
        if self._objects and self._editor and self._storage:
            pages |= {
                "/ui/objects": self._objects.types,
                "/ui/objects/list": self._objects.listed,
                "/ui/objects/changes": self._objects.changes,
                "/ui/objects/one": self._objects.shown,
                "/ui/objects/edit": self._editor.opened,
                "/ui/storage": self._storage.shown,
            }
        if self._packages and self._channels:
            pages |= {
                "/ui/packages": self._packages.listed,
                "/ui/packages/one": self._packages.one,
                "/ui/packages/class": self._packages.class_,
                "/ui/packages/resource": self._packages.resource,
                CHANNELS.path: self._channels.listed,
                "/ui/packages/channel": self._channels.one,
            }
        if self._environments and self._adding:
            pages |= {
                "/ui/environments": self._environments.listed,
                "/ui/environments/one": self._environments.one,
                "/ui/environments/draft": self._environments.draft,
                "/ui/environments/deployment": self._environments.deployment,
                "/ui/environments/action": self._environments.action,
                "/ui/environments/add": self._adding.opened,
            }
        if self._installed:
            pages |= {
                "/ui/installed": _threaded(self._installed.listed),
                "/ui/installed/one": _threaded(self._installed.one),
                "/ui/installed/back": _threaded(self._installed.back),
            }
        return pages

    def _changes(self) -> dict[str, Handler]:
        """What takes the forms of pages, by path."""
        changes: dict[str, Handler] = {}
        if self._objects and self._editor and self._storage:
            changes |= {
                "/ui/objects/edit": self._editor.submitted,
                "/ui/objects/delete": self._editor.deleted,
                "/ui/storage": self._storage.changed,
            }
        if self._environments and self._adding:
            changes |= {
                "/ui/environments": self._environments.created,
                "/ui/environments/one": self._environments.changed,
                "/ui/environments/add": self._adding.submitted,
            }
        if self._installed:
            changes["/ui/installed/one"] = self._installed.changed
        return changes

    def _taking_forms(self) -> list[str]:
        """The paths that take forms, and show no page of their own."""
        return [SIGN_OUT, *(self._changes().keys() - self._pages().keys())]

    def _answering(self, handler: Handler) -> Handler:
        """A handler that answers errors with a page of their own."""

        async def answer(request: Request) -> Response:
            try:
                return await handler(request)
            except ApiRefusedError as error:
                return self._frame.refused(request, error.code, error.message)
            except TrundleError as error:
                return self._frame.refused(request, status_of(error), str(error))

        return answer

    async def _start(self, request: Request) -> Response:
        return self._frame.redirect(request, "/ui/versions")

    async def _unknown(self, request: Request) -> Response:
        message = f"The page has nothing at {request.url.path}."
        return self._frame.refused(request, 404, message)

    async def _for_forms(self, request: Request) -> Response:
        message = f"{request.url.path} takes what a form of another page sends, and shows nothing by itself. Nothing was done."
        answer = self._frame.refused(request, 405, message)
        answer.headers["allow"] = "POST"
        return answer

    async def _asset(self, request: Request) -> Response:
        found = self._frame.asset(request.path_params["name"])
        return await self._unknown(request) if found is None else found

    # Signing in

    async def _sign_in_form(self, request: Request) -> Response:
        following = own_path(request.query_params.get("next", HOME))
        if self._access.is_open:
            return self._frame.redirect(request, following)
        values = {"next": following, "wrong": False}
        return self._frame.shown(request, "sign_in.html", values)

    async def _sign_in(self, request: Request) -> Response:
        given = await form_of(request, _LONGEST_SIGN_IN)
        following, token = own_path(given.get("next", HOME)), given.get("token", "").strip()
        if self._access.by_token(token) is None:
            values = {"next": following, "wrong": True}
            return self._frame.shown(request, "sign_in.html", values, 401)
        answer = self._frame.redirect(request, following)
        answer.set_cookie(
            COOKIE,
            self._sessions.begin(token),
            path="/ui",
            secure=_is_secure(request),
            httponly=True,
            samesite="strict",
        )
        return answer

    async def _sign_out(self, request: Request) -> Response:
        self._sessions.end(request.scope)
        answer = self._frame.redirect(request, SIGN_IN)
        answer.delete_cookie(COOKIE, path="/ui", httponly=True, samesite="strict")
        return answer


def _is_secure(request: Request) -> bool:
    """Whether the browser speaks TLS, with this server or with a proxy before it."""
    said = request.headers.get("x-forwarded-proto", "")
    first = said.partition(",")[0].strip().lower()  # That next to the browser, of several proxies.
    return "https" in (request.url.scheme, first)


def _threaded(handler: Callable[[Request], Response]) -> Handler:
    """A handler that computes, in a thread of its own."""

    async def answer(request: Request) -> Response:
        return await run_in_threadpool(handler, request)

    return answer
