"""Requests about what tenants have: read, answered in threads, and refused in the words of Kubernetes."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from trundle.api._bodies import body_of
from trundle.api._status import answer_to_any, bad_request, not_allowed
from trundle.api.access import UNSECURED
from trundle.catalog import DamagedContentError, NoSuchChannelError, NoSuchPackageError
from trundle.database import DatabaseError
from trundle.errors import TrundleError, expectation

Version: TypeAlias = Literal["v1", "v2"]
VERSIONS: tuple[Version, ...] = ("v1", "v2")
NEWEST: Version = "v2"
"""What documents are made in; all others are converted from it."""

_JSON = "application/json"
_MOST_BYTES = 256 * 1024 * 1024
"""How large a body may be: that of an upload."""


class Asked(NamedTuple):
    """A request.

    Attributes:
        version: the version of the API.
        tenant: the tenant.
        path: the names in the path.
        query: the parameters.
        body: what is uploaded.
        media_type: the form of the body.
        user: the name of the user; empty without access control.
        if_match: the tags that the client names, as HTTP writes them; empty where it names none.
    """

    version: Version
    tenant: str
    path: dict[str, str]
    query: dict[str, str]
    body: bytes
    media_type: str
    user: str = ""
    if_match: str = ""

    def flag(self, name: str) -> bool:
        """Whether a parameter is true.

        Raises:
            ApiError: its value is neither true nor false.
        """
        given = self.query.get(name, "false")
        if given not in {"true", "false"}:
            raise bad_request(expectation(f"true or false as {name}", repr(given), "correct it"))
        return given == "true"

    @property
    def dry_run(self) -> bool:
        """Whether nothing is to be stored.

        Raises:
            ApiError: the parameter has another value than it may have.
        """
        given = self.query.get("dryRun")
        if given not in {None, "All"}:
            raise bad_request(expectation("All as dryRun", repr(given), "correct it"))
        return given == "All"


Method: TypeAlias = Callable[[Asked], Response]


def route(
    version: Version,
    path: str,
    methods: dict[str, Method],
    executor: Executor | None = None,
    most: int = _MOST_BYTES,
) -> Route:
    """A path that each of some methods answers in a thread.

    Args:
        version: the version of the API.
        path: the path.
        methods: what answers, by the methods of HTTP.
        executor: has the threads; those of the server where None.
        most: how many bytes a body may have.
    """

    async def respond(http: HttpRequest) -> Response:
        try:
            method = methods.get("GET" if http.method == "HEAD" else http.method)
            if method is None:
                raise not_allowed()
            asked = await _asked(http, version, most)
            return await asyncio.get_running_loop().run_in_executor(executor, method, asked)
        except TrundleError as error:
            return failed(error)

    return Route(path, respond, methods=["GET", "POST", "PUT", "PATCH", "DELETE"])


def failed(error: TrundleError) -> Response:
    """What a client is answered for an error: where the server keeps its catalog is not for clients."""
    message = ""
    hidden = DatabaseError | DamagedContentError | NoSuchChannelError | NoSuchPackageError
    if isinstance(error, hidden):
        message = f"the catalog: {expectation(error.expected, error.found, error.advice)}"
    found = answer_to_any(error, message)
    seconds = (found.details or {}).get("retryAfterSeconds")
    headers = {"retry-after": str(seconds)} if seconds else None
    return Response(msgspec.json.encode(found.status), found.code, headers, media_type=_JSON)


async def _asked(http: HttpRequest, version: Version, most: int) -> Asked:
    user = http.scope.get("user")
    return Asked(
        version,
        http.path_params["tenant"],
        http.path_params,
        dict(http.query_params),
        await body_of(http, most),
        http.headers.get("content-type", "").partition(";")[0].strip().lower(),
        "" if user is None or user == UNSECURED else user.name,
        http.headers.get("if-match", ""),
    )


def json_answer(value: Any, code: int = 200, headers: dict[str, str] | None = None) -> Response:
    """An answer in JSON."""
    return Response(msgspec.json.encode(value), code, headers, media_type=_JSON)
