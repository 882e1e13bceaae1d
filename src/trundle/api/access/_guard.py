"""Lets requests through to an application: who asks, as whom, and whether that is allowed."""

import asyncio
import ipaddress
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import msgspec
from msgspec.structs import replace
from starlette.responses import Response

from trundle.api._patches import APPLY
from trundle.api._status import ApiError, answer_to_any
from trundle.api.access._attributes import Attributes, at_each_version, attributes_of
from trundle.api.access._certificates import user_of
from trundle.api.access._impersonation import impersonated
from trundle.api.access._refusals import forbidden, unauthorized
from trundle.api.access._reloading import Reloaded
from trundle.api.access._rules import BUILT_IN, Decision, Rule, Rules
from trundle.api.access._rules_file import read_rules
from trundle.api.access._tokens import Tokens, digest, read_tokens
from trundle.api.access._users import ANONYMOUS, UNSECURED, User
from trundle.errors import TrundleError

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

PEER = "trundle.peer"
"""Where a request's extensions have the client's certificate: what it says, and its bytes."""

_LOCAL_NAMES = frozenset(("localhost",))
_MOST_WAITING = 32
"""How many requests may wait for others to say who may do what at a time."""


class UnaskedError(TrundleError):
    """An answer that only others have, which were not asked."""


class Gate(Protocol):
    """Finds out who asks, and says whether they may; it may ask others for that, which takes time."""

    @property
    def at_once(self) -> "Gate":
        """The same without asking others: its methods raise `UnaskedError` where only these know."""

    def user(self, scope: Scope) -> User:
        """Who sends a request.

        Raises:
            ApiError: the user is refused (`unauthorized`).
            TrundleError: that cannot be found out.
        """

    def decide(self, user: User, asked: Attributes) -> Decision:
        """Whether a user may do something.

        Raises:
            TrundleError: that cannot be found out.
        """


class Access:
    """Who may do what.

    Files are read again when they change. Without any of them there is no access control: every client may do everything, so
    the server may listen on this machine only.

    Args:
        tokens: the file of bearer tokens.
        rules: the file of roles and bindings; without it only those count that every server has.
        certificates: whether clients may bring certificates.
        complain: is given what is wrong with a change of a file.

    Raises:
        TrundleError: a file cannot be used.
        OSError: a file cannot be read.
    """

    def __init__(
        self,
        tokens: Path | None = None,
        rules: Path | None = None,
        *,
        certificates: bool = False,
        complain: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.is_open = tokens is None and rules is None and not certificates
        self.authenticates = tokens is not None or certificates
        self._tokens: Reloaded[Tokens] | None = None
        if tokens is not None:
            self._tokens = Reloaded([tokens], lambda: read_tokens(tokens), complain)
        self._rules: Reloaded[Rules] | None = None
        if rules is not None:
            self._rules = Reloaded([rules], lambda: read_rules(rules), complain)

    @property
    def at_once(self) -> "Access":
        """The same: it asks no others."""
        return self

    def user(self, scope: Scope) -> User:
        """Who sends a request.

        Raises:
            ApiError: the client's token is not known, or another site sends it.
        """
        headers = dict(reversed(scope["headers"]))  # The first one counts.
        if self.is_open:
            _require_local(scope, headers)
            return UNSECURED
        peer = scope.get("extensions", {}).get(PEER)
        if peer is not None and (found := user_of(*peer)) is not None:
            return found
        scheme, _, token = _said(headers, b"authorization").strip().partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return ANONYMOUS
        known = self.by_token(token.strip())
        if known is None:
            raise unauthorized()
        return known

    def by_token(self, token: str) -> User | None:
        """The user of a bearer token; None where it is not known."""
        return None if self._tokens is None else self._tokens.value.get(digest(token))

    def decide(self, user: User, asked: Attributes) -> Decision:
        """Whether a user may do something."""
        return self._current.decide(user, asked)

    def rules_of(self, user: User, namespace: str) -> tuple[list[Rule], str]:
        """The rules that count for a user in a namespace, and what kept others from counting."""
        return self._current.of(user, namespace)

    @property
    def _current(self) -> Rules:
        return BUILT_IN if self._rules is None else self._rules.value


class Guard:
    """Lets requests through that their users may make.

    What it lets through has its user in `scope["user"]`, and what it does in `scope["attributes"]`. Where it applies a configuration and may
    not create the object, `scope["creation_refusal"]` is the answer to that.

    Args:
        application: answers the requests.
        access: who may do what.
    """

    def __init__(self, application: Application, access: Gate) -> None:
        self._application = application
        self._access = access
        self._waiting = ThreadPoolExecutor(_MOST_WAITING, "access")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        if scope["type"] == "http":
            try:
                await self._checked(scope)
            except TrundleError as error:
                await refusal(answer_to_any(error))(scope, receive, send)
                return
        await self._application(scope, receive, send)

    async def _checked(self, scope: Scope) -> None:
        """Finds out who asks for what; in a thread where others have to be asked, so that only requests wait that need their answers.

        Raises:
            ApiError: the user may not do it.
        """
        try:
            _check(scope, self._access.at_once)
        except UnaskedError:
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._waiting, _check, scope, self._access)


def _check(scope: Scope, access: Gate) -> None:
    """Finds out who asks for what.

    Raises:
        ApiError: the user may not do it.
    """
    asked = attributes_of(scope["method"], scope["path"], scope["query_string"])
    scope["attributes"] = asked
    user = scope["user"] = access.user(scope)
    other = impersonated(user, scope["headers"], access.decide)
    if other is not None:
        scope["impersonated"] = user = other
    for each in at_each_version(asked, scope["query_string"]):
        decision = access.decide(user, each)
        scope["decision"] = decision
        if not decision.allowed:
            why = "" if each is asked else f"`versions` names {each.version}"
            raise forbidden(user, each, decision.reason or why)
    if _applies(scope):
        creation = replace(asked, verb="create")
        decision = access.decide(user, creation)
        if not decision.allowed:
            scope["creation_refusal"] = forbidden(user, creation, decision.reason)
    scope["user"], scope["requester"] = user, scope["user"]


def _applies(scope: Scope) -> bool:
    """Whether a request applies a configuration, which creates what is not there."""
    return scope["method"] == "PATCH" and any(
        name == b"content-type" and APPLY in value.decode("latin-1").lower()
        for name, value in scope["headers"]
    )


def refusal(error: ApiError) -> Response:
    """An answer that is no success."""
    seconds = (error.details or {}).get("retryAfterSeconds")
    headers = {"x-content-type-options": "nosniff"}
    if seconds is not None:
        headers["retry-after"] = str(seconds)
    body = msgspec.json.encode(error.status)
    return Response(body, error.code, headers, media_type="application/json")


def _said(headers: Mapping[bytes, bytes], name: bytes) -> str:
    """The text of a header; empty where there is none."""
    return headers.get(name, b"").decode("latin-1")


def _require_local(scope: Scope, headers: Mapping[bytes, bytes]) -> None:
    """Refuses what a web page of another site makes a browser send.

    Raises:
        ApiError: the request names another host, or comes from another site.
    """
    server = scope.get("server")
    if server is None or server[1] is None:  # A Unix socket: no browser sends there.
        return
    host = _said(headers, b"host")
    is_other = b"origin" in headers and _said(headers, b"origin").partition("://")[2] != host
    if is_other or not _is_local(host):
        message = "the server has no access control, and answers requests to this machine's own names only"
        raise ApiError(403, "Forbidden", message)


@lru_cache(256)  # Requests name few hosts.
def _is_local(host: str) -> bool:
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
    name = name.removeprefix("[").removesuffix("]").lower()
    if name in _LOCAL_NAMES:
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
