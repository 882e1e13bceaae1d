"""The routes of the page."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import TypeAlias
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from trundle.api.access import Access
from trundle.dashboard._frame import HOME, SIGN_IN, Frame, own_path
from trundle.dashboard._sessions import COOKIE, Sessions
from trundle.dashboard._shown import Shown, ShownProject
from trundle.dashboard._versions import Versions
from trundle.errors import Kind, TrundleError
from trundle.version import VersionError

_LONGEST_FORM = 64 * 1024

Handler: TypeAlias = Callable[[Request], Response]


class Dashboard:
    """The page over some projects.

    Args:
        projects: what it shows, by the name that addresses have for each.
        access: knows users by their tokens.
        sessions: the sessions of browsers; those of `SignedIn` in front of the guard.
    """

    def __init__(
        self, projects: Mapping[str, ShownProject], access: Access, sessions: Sessions
    ) -> None:
        self._frame = Frame()
        self._access = access
        self._sessions = sessions
        self._versions = Versions(Shown(projects), self._frame)

    @property
    def routes(self) -> list[BaseRoute]:
        """The routes, for an application behind a guard."""
        pages: dict[str, Handler] = {
            "/ui/versions": self._versions.listed,
            "/ui/versions/type": self._versions.type,
            "/ui/versions/property": self._versions.property,
        }
        return [
            Route("/ui", self._start),
            Route(HOME, self._start),
            Route("/ui/assets/{name}", self._asset),
            Route(SIGN_IN, self._sign_in_form),
            Route(SIGN_IN, self._sign_in, methods=["POST"]),
            Route("/ui/sign-out", self._sign_out, methods=["POST"]),
            *(Route(path, self._answering(handler)) for path, handler in pages.items()),
            Route("/ui/{rest:path}", self._unknown),
        ]

    def _answering(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """A handler that answers errors with a page of their own."""

        async def answer(request: Request) -> Response:
            try:
                return await run_in_threadpool(handler, request)
            except TrundleError as error:
                code = 404 if error.kind is Kind.NOT_FOUND else 500
                code = 400 if isinstance(error, VersionError) else code
                return self._frame.refused(request, code, str(error))

        return answer

    async def _start(self, request: Request) -> Response:
        return self._frame.redirect(request, "/ui/versions")

    async def _unknown(self, request: Request) -> Response:
        message = f"The page has nothing at {request.url.path}."
        return self._frame.refused(request, 404, message)

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
        given = await _form_of(request)
        following, token = own_path(given.get("next", HOME)), given.get("token", "").strip()
        if self._access.by_token(token) is None:
            values = {"next": following, "wrong": True}
            return self._frame.shown(request, "sign_in.html", values, 401)
        answer = self._frame.redirect(request, following)
        answer.set_cookie(
            COOKIE,
            self._sessions.begin(token),
            path="/ui",
            secure=request.url.scheme == "https",
            httponly=True,
            samesite="strict",
        )
        return answer

    async def _sign_out(self, request: Request) -> Response:
        self._sessions.end(request.scope)
        answer = self._frame.redirect(request, SIGN_IN)
        answer.delete_cookie(COOKIE, path="/ui", httponly=True, samesite="strict")
        return answer


async def _form_of(request: Request) -> dict[str, str]:
    """The fields of a form that a browser sends; nothing of one that is too long or is no text."""
    body = b""
    parts: AsyncIterator[bytes] = request.stream()
    async for part in parts:
        body += part
        if len(body) > _LONGEST_FORM:
            return {}
    try:
        found = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=100)
    except ValueError:
        return {}
    return {key: values[-1] for key, values in found.items()}
