"""Sends requests to a registry: timeouts, retries, proxies and authentication in one place."""

import contextlib
import email.utils
import random
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import UTC
from typing import TypeAlias
from urllib.parse import urljoin, urlsplit

import msgspec
import urllib3
from urllib3.util import Retry

from trundle._clock import now
from trundle._late_answers import LateAnswerError
from trundle.errors import Kind, TrundleError, plain_reason
from trundle.registry._auth import Authenticator
from trundle.registry._docker_config import Credentials
from trundle.registry._outages import Late
from trundle.registry._pool import open_pool
from trundle.registry._settings import HttpSettings
from trundle.registry.errors import (
    RegistryError,
    RegistryRefusedError,
    TooLargeError,
    UnauthorisedError,
    UnreachableError,
)

Body: TypeAlias = bytes | Callable[[], Iterable[bytes]] | None
"""What a request sends: bytes, or a function that gives them anew for each attempt."""

_TROUBLE = frozenset({429, 500, 502, 503, 504})
"""What a registry answers that is in trouble itself."""
_TRANSIENT = frozenset({408, 425}) | _TROUBLE
_UNAUTHORISED = 401
_FORBIDDEN = 403
_READING = frozenset({"GET", "HEAD"})
_LARGEST_ERROR = 64 * 1024
_LAST_WORDS = 10.0
_LARGEST_TOKEN = 1024 * 1024
_LONGEST_MESSAGE = 500
_PIECE = 256 * 1024
_ENOUGH = 64 * 1024
_ANY = range(100, 600)
_REDIRECTS = 5
_CONNECTIONS = 8


class TransferError(TrundleError):
    """A transfer broke off; it can be gone on with."""

    kind = Kind.UNREACHABLE


class SlowTransferError(TransferError):
    """A transfer took longer than it may as a whole; the next one would take as long."""


class _Fault(msgspec.Struct):
    code: str = ""
    message: str = ""


class _Faults(msgspec.Struct):
    errors: list[_Fault] = msgspec.field(default_factory=list)


class Transport:
    """The way to one registry; threads may share it.

    Attributes:
        base: the URL of the registry, without a slash at its end.
        settings: times and sizes.
    """

    def __init__(
        self, base: str, settings: HttpSettings, find: Callable[[str], Credentials | None]
    ) -> None:
        self.base = base
        self.settings = settings
        self._find = find
        parts = urlsplit(base)
        self._origin = (parts.scheme, parts.netloc)
        self._pool = open_pool(base, settings, _CONNECTIONS)
        self._authenticator = Authenticator(
            parts.netloc,
            secure=parts.scheme == "https",
            find=find,
            send=self._ask_for_token,
        )

    def call(
        self,
        method: str,
        url: str,
        *,
        repository: str,
        accept: Collection[int],
        headers: dict[str, str] | None = None,
        body: Body = None,
        repeatable: bool = True,
    ) -> urllib3.BaseHTTPResponse:
        """Sends a request until it is answered.

        Args:
            method: the HTTP method.
            url: the URL, or the path at the registry.
            repository: the repository concerned, for its token.
            accept: the status codes that the caller understands.
            headers: further headers.
            body: what to send.
            repeatable: whether it may be sent again when it is not known whether it arrived.

        Returns:
            The response, its content unread; the caller closes it.

        Raises:
            TransferError: it failed in a way that time may heal, and is not repeatable.
            UnreachableError: the same, after all retries; or the host did not answer before in a round of `settings.outages`.
            UnauthorisedError: credentials are missing or do not suffice.
            RegistryRefusedError: the registry answers with another status.
        """
        attempts = self._attempts(url, repository) if repeatable else 1
        for attempt in range(attempts):
            failure, pause, is_trouble = "", None, False
            try:
                response = self._authorised(method, url, repository, headers, body)
            except urllib3.exceptions.HTTPError as error:
                failure = plain_reason(error)
                is_late = repeatable and self._is_late(error)
                if is_late and method in _READING:
                    self.give_up(url, repository, failure, headers)
                elif is_late or attempt + 1 == attempts:
                    self._note(url, failure)
                if is_late or _is_final(error):
                    raise self._unreachable(url, failure) from None
            else:
                if response.status in accept:
                    return response
                message = fault_text(response)
                if response.status not in _TRANSIENT:
                    raise self._refused(url, response.status, message)
                failure, pause = message, _asked_pause(response)
                is_trouble = response.status in _TROUBLE
            if not repeatable:
                raise TransferError(failure)
            if attempt + 1 < attempts and not self._pause(attempt, pause):
                break
        if is_trouble:
            self._note_trouble(url, repository, failure)
        raise self._unreachable(url, failure)

    def pause(self, attempt: int) -> None:
        """Waits before something is tried again; longer with each attempt, and not as long as others do."""
        self._pause(attempt, None)

    def url(self, path: str) -> str:
        """A URL at the registry, from a path or from what a header says."""
        return urljoin(f"{self.base}/", path)

    def give_up(
        self, url: str, repository: str, reason: str, headers: dict[str, str] | None = None
    ) -> None:
        """Takes note that an answer did not come whole: the host is not asked again in this round of `settings.outages`."""
        if self.settings.outages is not None:
            late = Late(reason, lambda: self._ask_again(url, repository, headers))
            self.settings.outages.give_up(urlsplit(self.url(url)).netloc, repository, late)

    def _ask_again(self, url: str, repository: str, headers: dict[str, str] | None) -> None:
        """Asks once more what was answered too slowly, whatever the outages are; of a long answer only the beginning is waited for.

        Raises:
            UnreachableError: there is no answer, or not in time.
        """
        alone = msgspec.structs.replace(self.settings, outages=None, retries=0)
        way = Transport(self.base, alone, self._find)
        response = way.call("GET", url, repository=repository, accept=_ANY, headers=headers)
        with contextlib.closing(response):
            try:
                read_beginning(response, time.monotonic() + alone.request_time)
            except TransferError as error:
                raise self._unreachable(url, str(error)) from None

    def _is_late(self, error: urllib3.exceptions.HTTPError) -> bool:
        """Whether an answer took so long that it is not asked for again; callers with many registries in turn wait once."""
        cause = getattr(error, "reason", error)
        patient = self.settings.outages is None
        return isinstance(error, LateAnswerError) or (
            not patient and isinstance(cause, urllib3.exceptions.TimeoutError)
        )

    def _pause(self, attempt: int, asked: float | None) -> bool:
        """Waits, unless the registry asks for more than the longest pause."""
        longest = self.settings.longest_pause
        if asked is not None and asked > longest:
            return False
        usual = min(longest, self.settings.first_pause * 2**attempt)
        time.sleep(random.uniform(usual / 2, usual) + (asked or 0.0))  # noqa: S311 - no secret
        return True

    def _authorised(
        self, method: str, url: str, repository: str, headers: dict[str, str] | None, body: Body
    ) -> urllib3.BaseHTTPResponse:
        """Sends a request, and once more when the registry asks who is there."""
        url = self.url(url)
        parts = urlsplit(url)
        ours = (parts.scheme, parts.netloc) == self._origin
        for again in (True, False):
            known = self._authenticator.headers(repository) if ours else {}
            response = self._send(method, url, {**(headers or {}), **known}, body)
            if response.status != _UNAUTHORISED or not again or not ours:
                break
            challenge = ", ".join(response.headers.getlist("WWW-Authenticate"))
            if not self._authenticator.answer(repository, challenge):
                break
            read_some(response, _LARGEST_ERROR, _LAST_WORDS)
        return response

    def _send(
        self, method: str, url: str, headers: dict[str, str], body: Body
    ) -> urllib3.BaseHTTPResponse:
        reads = method in _READING
        response = self._pool.request(
            method,
            url,
            headers={"User-Agent": "trundle", "Accept-Encoding": "identity", **headers},
            body=body() if callable(body) else body,
            redirect=reads,
            # Retries are made here, where it is known what may be repeated.
            retries=Retry(total=None, connect=0, read=0, status=0, other=0, redirect=_REDIRECTS),
            preload_content=False,
            decode_content=False,
        )
        if self.settings.outages is not None and response.status not in _TROUBLE:
            self.settings.outages.end(urlsplit(url).netloc)
        return response

    def _attempts(self, url: str, repository: str) -> int:
        """How often a request is sent.

        Raises:
            UnreachableError: the host is not to be asked in this round.
        """
        outages, host = self.settings.outages, urlsplit(self.url(url)).netloc
        if outages is None:
            return self.settings.retries + 1
        reason = outages.reason(host, repository)
        if reason is not None:
            raise self._unreachable(url, reason)
        return 1 if outages.is_away(host) else self.settings.retries + 1

    def _note(self, url: str, reason: str) -> None:
        if self.settings.outages is not None:
            self.settings.outages.note(urlsplit(self.url(url)).netloc, reason)

    def _note_trouble(self, url: str, repository: str, reason: str) -> None:
        if self.settings.outages is not None:
            self.settings.outages.trouble(urlsplit(self.url(url)).netloc, repository, reason)

    def _ask_for_token(
        self, repository: str, method: str, url: str, headers: dict[str, str], body: bytes | None
    ) -> tuple[int, bytes]:
        """Asks a token service; asking twice does no harm."""
        attempts = self._attempts(url, repository)
        for attempt in range(attempts):
            is_trouble = False
            try:
                response = self._send(method, url, headers, body)
            except urllib3.exceptions.HTTPError as error:
                failure = plain_reason(error)
                is_late = self._is_late(error)
                if is_late or attempt + 1 == attempts:
                    self._note(url, failure)
                if is_late:
                    break
            else:
                if response.status not in _TRANSIENT:
                    return response.status, read_some(response, _LARGEST_TOKEN, _LAST_WORDS)
                failure = fault_text(response)
                is_trouble = response.status in _TROUBLE
            self.pause(attempt)
        if is_trouble:
            self._note_trouble(url, repository, failure)
        raise self._unreachable(url, failure)

    def _unreachable(self, url: str, found: str) -> UnreachableError:
        return UnreachableError(
            _bare(self.url(url)),
            "an answer of the registry",
            found,
            "check the address, the network and the registry, and try again",
        )

    def _refused(self, url: str, status: int, message: str) -> RegistryError:
        where, host = _bare(self.url(url)), self._authenticator.host
        if status == _UNAUTHORISED:
            return UnauthorisedError(
                where,
                "credentials that are allowed this",
                message,
                f"log in with: docker login {host}",
            )
        if status == _FORBIDDEN:
            return UnauthorisedError(
                where, "the right to do this", message, "ask who runs the registry for it"
            )
        return RegistryRefusedError(
            where, "the registry to do this", message, "see what the registry allows"
        )


@contextlib.contextmanager
def closing(response: urllib3.BaseHTTPResponse) -> Iterator[urllib3.BaseHTTPResponse]:
    """Gives the connection back when the content was read, and closes it when it was not."""
    try:
        yield response
    except BaseException:
        response.close()
        raise
    read_some(response, _LARGEST_ERROR, _LAST_WORDS)


def pieces(response: urllib3.BaseHTTPResponse, deadline: float) -> Iterator[bytes]:
    """The content of a response, piece by piece.

    Args:
        response: the response.
        deadline: when it is given up, on the monotonic clock.

    Raises:
        TransferError: it broke off, or took too long.
    """
    try:
        while piece := response.read1(_PIECE):
            yield piece
            if time.monotonic() > deadline:
                raise SlowTransferError("a transfer that takes too long")
    except urllib3.exceptions.HTTPError as error:
        raise TransferError(plain_reason(error)) from None


def read_beginning(response: urllib3.BaseHTTPResponse, deadline: float) -> None:
    """Reads an answer whose content does not matter; of a long one only the beginning.

    Raises:
        TransferError: it broke off, or took too long.
    """
    size = 0
    for piece in pieces(response, deadline):
        size += len(piece)
        if size > _ENOUGH:
            return


def read_small(response: urllib3.BaseHTTPResponse, limit: int, seconds: float, where: str) -> bytes:
    """The whole content of a response.

    Raises:
        TransferError: it broke off, or took too long.
        TooLargeError: it is larger than the limit.
    """
    content = bytearray()
    for piece in pieces(response, time.monotonic() + seconds):
        content += piece
        if len(content) > limit:
            raise TooLargeError(
                where, f"at most {limit} bytes", "more", "do not use this registry's answer"
            )
    return bytes(content)


def read_some(response: urllib3.BaseHTTPResponse, limit: int, seconds: float) -> bytes:
    """What is left of a response, up to a limit; the connection is kept only where that was all."""
    content = b""
    try:
        for piece in pieces(response, time.monotonic() + seconds):
            content += piece
            if len(content) > limit:
                response.close()
                return content[:limit]
    except TransferError:
        response.close()
    response.release_conn()
    return content


def fault_text(response: urllib3.BaseHTTPResponse) -> str:
    """What a response says went wrong, in one line; the response is done with."""
    content = read_some(response, _LARGEST_ERROR, _LAST_WORDS)
    try:
        faults = msgspec.json.decode(content, type=_Faults).errors
    except (msgspec.DecodeError, UnicodeDecodeError):
        faults = []
    text = "; ".join(f"{each.code}: {each.message}" for each in faults)
    text = "".join(char if char.isprintable() else " " for char in text)[:_LONGEST_MESSAGE]
    return f"HTTP status {response.status}" + (f" ({text})" if text else "")


def base_url(location: str) -> str:
    """The URL of a registry: https, but for this machine and where something else is said."""
    if "://" in location:
        return location.rstrip("/")
    host = urlsplit(f"//{location}").hostname or ""
    near = host == "localhost" or host.startswith("127.") or host == "::1"
    return f"{'http' if near else 'https'}://{location}"


def _asked_pause(response: urllib3.BaseHTTPResponse) -> float | None:
    """The seconds that a `Retry-After` header asks for."""
    value = response.headers.get("Retry-After", "").strip()
    if value.isdecimal():
        return float(value)
    try:
        moment = email.utils.parsedate_to_datetime(value)
    except (ValueError, TypeError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now()).total_seconds())


def _is_final(error: urllib3.exceptions.HTTPError) -> bool:
    """Whether time does not heal an error."""
    cause = getattr(error, "reason", error)
    return isinstance(
        cause,
        urllib3.exceptions.SSLError
        | urllib3.exceptions.LocationValueError
        | urllib3.exceptions.ResponseError,
    )


def _bare(url: str) -> str:
    """A URL without its query, which may carry secrets."""
    return url.partition("?")[0]
