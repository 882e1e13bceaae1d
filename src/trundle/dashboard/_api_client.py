"""Asks the API of the server for what a page shows, as the user who looks at it.

Requests go through the guard, the limits and the records of the server, as those of any other client do. So the page has no rules of its own about who may do what.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, MutableMapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import msgspec
from starlette.requests import Request

from trundle.api.access import PEER, Application, Receive, Scope
from trundle.dashboard._plain import values_of
from trundle.errors import TrundleError

JSON = "application/json"
_KEPT = ("authorization", "host", "origin")
_COPIED = ("type", "asgi", "http_version", "scheme", "server", "client", "root_path")
_FAILURE = 400


class ApiRefusedError(TrundleError):
    """The API refuses what a page asks for.

    Attributes:
        code: the status of HTTP.
        message: why.
        causes: what is wrong with a document: the field, and what about it.
    """

    def __init__(self, code: int, message: str, causes: Sequence[tuple[str, str]] = ()) -> None:
        self.code = code
        self.message = message
        self.causes = tuple(causes)
        super().__init__(message)


class Answered(NamedTuple):
    """What the API answers.

    Attributes:
        value: the body, as plain values.
        warnings: what it warns of.
    """

    value: Any
    warnings: tuple[str, ...]


class ApiClient:
    """Sends requests to an API in this process.

    Args:
        application: the API, with its guard before it.
    """

    def __init__(self, application: Application) -> None:
        self._application = application

    async def ask(
        self,
        page: Request,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        accept: str = JSON,
        body: bytes = b"",
        media_type: str = "",
    ) -> Answered:
        """The answer to a request of the user who asks for a page.

        Args:
            page: the request for the page.
            method: the method of HTTP.
            path: the path, not quoted.
            query: the parameters; empty ones are left out.
            accept: the form of the answer.
            body: the body.
            media_type: its form.

        Raises:
            ApiRefusedError: the answer is no success.
        """
        headers = {"accept": accept}
        if media_type:
            headers["content-type"] = media_type
        found = await self._answer(page, method, path, query or {}, headers, body)
        value = values_of(found.body) if found.body else None
        return Answered(value, tuple(found.warnings))

    async def fetch(
        self, page: Request, path: str, query: Mapping[str, str] | None = None
    ) -> bytes:
        """The content at a path, for the user who asks for a page.

        Raises:
            ApiRefusedError: the answer is no success.
        """
        return (await self._answer(page, "GET", path, query or {}, {"accept": "*/*"}, b"")).body

    async def _answer(
        self,
        page: Request,
        method: str,
        path: str,
        query: Mapping[str, str],
        headers: Mapping[str, str],
        body: bytes,
    ) -> "_Kept":
        given = {**headers, "content-length": str(len(body))}
        found = _Kept()
        await self._application(_scope(page, method, path, query, given), _once(body), found.send)
        if found.code >= _FAILURE:
            raise _refused(found.code, found.body)
        return found

    async def lines(
        self, page: Request, path: str, query: Mapping[str, str]
    ) -> AsyncIterator[bytes]:
        """The lines of a streamed answer; the request ends with the iteration.

        Raises:
            ApiRefusedError: the answer is no success.
        """
        scope = _scope(page, "GET", path, query, {"accept": JSON})
        sent: asyncio.Queue[MutableMapping[str, Any] | None] = asyncio.Queue(16)

        async def answer() -> None:
            try:
                await self._application(scope, _once(b""), sent.put)
            finally:
                await sent.put(None)

        task = asyncio.create_task(answer())
        code, text = 0, b""
        try:
            while (message := await sent.get()) is not None:
                code = message.get("status", code)
                text += message.get("body", b"")
                if code < _FAILURE:
                    *whole, text = text.split(b"\n")
                    for each in whole:
                        yield each
            if code >= _FAILURE:
                raise _refused(code, text)
        finally:
            task.cancel()
            while not sent.empty():  # So that the answer can end, however much of it waits.
                sent.get_nowait()


def object_path(group: str, version: str, namespace: str, plural: str, name: str = "") -> str:
    """The path of objects of a resource type, or of one of them.

    Raises:
        ApiRefusedError: a name is none.
    """
    for each in (namespace, name):
        if "/" in each or each in {".", ".."}:
            raise ApiRefusedError(400, f"{each!r} is no name of an object or of a namespace.")
    start = ["apis", group, version] if group else ["api", version]
    within = ["namespaces", namespace] if namespace else []
    return "/" + "/".join([*start, *within, plural, *([name] if name else [])])


def _scope(
    page: Request, method: str, path: str, query: Mapping[str, str], headers: Mapping[str, str]
) -> Scope:
    given = {key: page.headers[key] for key in _KEPT if key in page.headers}
    every = {**given, **headers, "user-agent": "trundle-page"}
    peer = page.scope.get("extensions", {}).get(PEER)
    return {
        **{key: page.scope[key] for key in _COPIED if key in page.scope},
        "method": method,
        "path": path,
        "raw_path": quote(path).encode(),
        "query_string": urlencode({key: each for key, each in query.items() if each}).encode(),
        "headers": [(key.encode("latin-1"), each.encode("latin-1")) for key, each in every.items()],
        "extensions": {} if peer is None else {PEER: peer},
    }


def _once(body: bytes) -> Receive:
    """Gives the body; after that the client stays, and says nothing more."""
    parts = [body]

    async def receive() -> MutableMapping[str, Any]:
        if not parts:
            await asyncio.Event().wait()
        return {"type": "http.request", "body": parts.pop(), "more_body": False}

    return receive


class _Kept:
    """Keeps an answer."""

    def __init__(self) -> None:
        self.code = 0
        self.warnings: list[str] = []
        self.body = b""

    async def send(self, message: MutableMapping[str, Any]) -> None:
        """Takes a part of it."""
        self.code = message.get("status", self.code)
        self.body += message.get("body", b"")
        for name, value in message.get("headers", ()):
            if name == b"warning":
                quoted = value.decode("latin-1").partition('"')[2].rpartition('"')[0]
                self.warnings.append(quoted.replace('\\"', '"').replace("\\\\", "\\"))


def _refused(code: int, body: bytes) -> ApiRefusedError:
    try:
        status = values_of(body)
    except msgspec.DecodeError:  # No path of the API answers with it.
        status = None
    found = status if isinstance(status, dict) else {}
    causes = (found.get("details") or {}).get("causes") or ()
    named = [(each.get("field", ""), each.get("message", "")) for each in causes]
    return ApiRefusedError(code, str(found.get("message", f"status {code}")), named)
