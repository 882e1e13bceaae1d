"""Sessions of browsers: a cookie stands for the token that a user signed in with.

A token is kept in memory alone, and given to the guard of the API with each request for the page, as if the browser had sent it. So the page knows
no access rules of its own, and a token that is withdrawn ends its sessions.
"""

import secrets
from collections.abc import MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any

import msgspec
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response

from trundle._clock import Timer
from trundle.api.access import ANONYMOUS, Application, Receive, Scope, Send
from trundle.dashboard._api_client import ApiRefusedError
from trundle.dashboard._forms import form_of
from trundle.dashboard._frame import (
    ASSETS,
    SIGN_IN,
    SIGN_OUT,
    Frame,
    is_of_page,
    own_path,
    path_of,
    sign_in_path,
)

COOKIE = "trundle-session"
_SECONDS = 8 * 3600.0
_MOST = 10_000
_BEARER = b"Bearer "
_LONGEST_KEPT = 1024 * 1024
"""How many bytes a form may have that is kept while its user signs in again."""


class Sessions:
    """The sessions of one server; they end with it.

    Args:
        timer: measures the time.
        seconds: how long a session lasts.
    """

    def __init__(self, timer: Timer | None = None, seconds: float = _SECONDS) -> None:
        self._seconds = (timer or Timer()).seconds
        self._lasting = seconds
        self._tokens: dict[str, tuple[str, float]] = {}

    def begin(self, token: str) -> str:
        """Begins a session of a user; gives what the cookie has."""
        name = secrets.token_urlsafe(32)
        self._tokens[name] = token, self._seconds() + self._lasting
        while len(self._tokens) > _MOST:
            del self._tokens[next(iter(self._tokens))]
        return name

    def token(self, scope: Scope) -> str | None:
        """The token of the session that a request is part of; None where there is none, or it has expired."""
        found = self._tokens.get(session_of(scope))
        return found[0] if found is not None and found[1] > self._seconds() else None

    def end(self, scope: Scope) -> None:
        """Ends the session that a request is part of."""
        self._tokens.pop(session_of(scope), None)


def session_of(scope: Scope) -> str:
    """What the cookie of a request has; empty where it has none."""
    try:
        morsel = SimpleCookie(Headers(scope=scope).get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return "" if morsel is None else morsel.value


class SignedIn:
    """Lets browsers in by their sessions, and answers them in HTML where the guard refuses.

    Requests to change something must come from the page itself. What is not of the page passes through as it is.

    Args:
        application: the API, with its guard before it.
        sessions: the sessions of the server.
        frame: makes pages.
    """

    def __init__(self, application: Application, sessions: Sessions, frame: Frame) -> None:
        self._application = application
        self._sessions = sessions
        self._frame = frame

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        if scope["type"] != "http" or not is_of_page(scope["path"]):
            await self._application(scope, receive, send)
            return
        if scope["method"] not in {"GET", "HEAD"} and not _is_from_page(scope):
            text = "The request comes from another site. Open the page itself, and try again."
            await self._frame.refused(Request(scope), 403, text)(scope, receive, send)
            return
        token = None if _is_for_all(scope["path"]) else self._sessions.token(scope)
        if token is not None and "authorization" not in Headers(scope=scope):
            scope["headers"] = [*scope["headers"], (b"authorization", _BEARER + token.encode())]
        refusal = _Refusal(send)
        await self._application(scope, receive, refusal.send)
        if refusal.code:
            answer = await self._refusing(Request(scope, receive), refusal)
            await answer(scope, receive, send)

    async def _refusing(self, request: Request, refusal: "_Refusal") -> Response:
        """The answer to a browser that the guard refuses: the form to sign in, or why the user may not see the page."""
        scope = request.scope
        user = scope.get("user")
        if scope["path"] == SIGN_IN:  # It is what others are led to.
            return self._frame.refused(request, refusal.code, refusal.message)
        if refusal.code == 401 or user is None or user.name == ANONYMOUS.name:  # noqa: PLR2004
            if refusal.code == 403 and user is None:  # noqa: PLR2004 - by its address, not by its user
                return self._frame.refused(request, 403, refusal.message)
            return await self._signed_out(request)
        return self._frame.refused(request, refusal.code, refusal.message)

    async def _signed_out(self, request: Request) -> Response:
        """Leads to the form to sign in. What a form sends is kept in the answer, so that a user may send it again."""
        if request.method == "POST" and request.url.path != SIGN_OUT:
            try:
                kept = await form_of(request, _LONGEST_KEPT)
            except ApiRefusedError:
                pass  # It is longer than what people type.
            else:
                values = {"kept": kept, "to": own_path(path_of(request)), "sign_in": SIGN_IN}
                return self._frame.shown(request, "signed_out.html", values, 401)
        return self._frame.redirect(request, sign_in_path(request))


class _Refusal:
    """Sends an answer on, but for a refusal, of which it keeps what it says."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.code = 0
        self._body = b""

    async def send(self, message: MutableMapping[str, Any]) -> None:
        """Takes a part of an answer."""
        if message["type"] == "http.response.start":
            kind = Headers(raw=message["headers"]).get("content-type", "")
            if message["status"] >= 400 and kind.startswith("application/json"):  # noqa: PLR2004
                self.code = message["status"]
        elif self.code:
            self._body += message.get("body", b"")
        if not self.code:
            await self._send(message)

    @property
    def message(self) -> str:
        """Why it was refused."""
        found = msgspec.json.decode(self._body)
        return str(found.get("message", "")) if isinstance(found, dict) else ""


def _is_for_all(path: str) -> bool:
    """Whether a path belongs to the form to sign in, or out, which those need whose token was withdrawn."""
    return path in {SIGN_IN, SIGN_OUT} or path.startswith(ASSETS)


def _is_from_page(scope: Scope) -> bool:
    """Whether a browser sends a request from the page itself; each says where from when it changes something."""
    headers = Headers(scope=scope)
    origin = headers.get("origin", "")
    return bool(origin) and origin.partition("://")[2] == headers.get("host", "")
