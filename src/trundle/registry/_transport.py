"""Sends requests to a registry: timeouts, retries, proxies and authentication in one place."""

import contextlib
import ssl
import time
from collections.abc import Callable, Collection, Iterator
from urllib.parse import urljoin, urlsplit

import httpx2
import msgspec

from trundle._http import LateAnswerError, allow
from trundle.errors import Kind, TrundleError
from trundle.registry._auth import Authenticator
from trundle.registry._docker_config import Credentials
from trundle.registry._outages import Asking, Late
from trundle.registry._pool import Body, Pool, asked_pause, pause_before
from trundle.registry._settings import HttpSettings
from trundle.registry.errors import (
    RegistryError,
    RegistryRefusedError,
    TooLargeError,
    UnauthorisedError,
    UnreachableError,
)

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
_ENOUGH = 64 * 1024
_ANY = range(100, 600)
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
        self._pool = Pool(base, settings, _CONNECTIONS)
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
    ) -> httpx2.Response:
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
        asking = self._asking(url, repository)
        attempts = self._attempts(asking, url) if repeatable else 1
        for attempt in range(attempts):
            failure, pause, is_trouble = "", None, False
            try:
                response = self._authorised(method, url, repository, headers, body)
            except httpx2.HTTPError as error:
                failure = str(error)
                is_late = repeatable and _is_late(error, asking)
                if is_late and method in _READING:
                    self.give_up(url, repository, failure, headers)
                elif is_late or attempt + 1 == attempts:
                    asking.failed(failure)
                if is_late or _is_final(error):
                    raise self._unreachable(url, failure) from None
            else:
                if response.status_code in accept:
                    return response
                message = fault_text(response)
                if response.status_code not in _TRANSIENT:
                    raise self._refused(url, response.status_code, message)
                failure, pause = message, asked_pause(response)
                is_trouble = response.status_code in _TROUBLE
            if not repeatable:
                raise TransferError(failure)
            if attempt + 1 < attempts and not pause_before(attempt, pause, self.settings):
                break
        if is_trouble:
            asking.troubled(failure)
        raise self._unreachable(url, failure)

    def pause(self, attempt: int) -> None:
        """Waits before something is tried again; longer with each attempt, and not as long as others do."""
        pause_before(attempt, None, self.settings)

    def url(self, path: str) -> str:
        """A URL at the registry, from a path or from what a header says."""
        return urljoin(f"{self.base}/", path)

    def give_up(
        self, url: str, repository: str, reason: str, headers: dict[str, str] | None = None
    ) -> None:
        """Takes note that an answer did not come whole: the host is not asked again in this round of `settings.outages`."""
        late = Late(reason, lambda: self._ask_again(url, repository, headers))
        self._asking(url, repository).late(late)

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

    def _authorised(
        self, method: str, url: str, repository: str, headers: dict[str, str] | None, body: Body
    ) -> httpx2.Response:
        """Sends a request, and once more when the registry asks who is there."""
        url = self.url(url)
        parts = urlsplit(url)
        ours = (parts.scheme, parts.netloc) == self._origin
        for again in (True, False):
            known = self._authenticator.headers(repository) if ours else {}
            response = self._send(method, url, {**(headers or {}), **known}, body)
            if response.status_code != _UNAUTHORISED or not again or not ours:
                break
            challenge = ", ".join(response.headers.get_list("WWW-Authenticate"))
            if not self._authenticator.answer(repository, challenge):
                break
            read_some(response, _LARGEST_ERROR, _LAST_WORDS)
        return response

    def _send(self, method: str, url: str, headers: dict[str, str], body: Body) -> httpx2.Response:
        response = self._pool.send(method, url, headers, body, redirects=method in _READING)
        if response.status_code not in _TROUBLE:
            self._asking(url, "").answered()
        return response

    def _asking(self, url: str, repository: str) -> Asking:
        return Asking(self.settings.outages, urlsplit(self.url(url)).netloc, repository)

    def _attempts(self, asking: Asking, url: str) -> int:
        """How often a request is sent.

        Raises:
            UnreachableError: the host is not to be asked in this round.
        """
        reason = asking.reason()
        if reason is not None:
            raise self._unreachable(url, reason)
        return asking.attempts(self.settings.retries)

    def _ask_for_token(
        self, repository: str, method: str, url: str, headers: dict[str, str], body: bytes | None
    ) -> tuple[int, bytes]:
        """Asks a token service; asking twice does no harm."""
        asking = self._asking(url, repository)
        attempts = self._attempts(asking, url)
        for attempt in range(attempts):
            is_trouble = False
            try:
                response = self._send(method, url, headers, body)
            except httpx2.HTTPError as error:
                failure = str(error)
                is_late = _is_late(error, asking)
                if is_late or attempt + 1 == attempts:
                    asking.failed(failure)
                if is_late:
                    break
            else:
                if response.status_code not in _TRANSIENT:
                    return response.status_code, read_some(response, _LARGEST_TOKEN, _LAST_WORDS)
                failure = fault_text(response)
                is_trouble = response.status_code in _TROUBLE
            self.pause(attempt)
        if is_trouble:
            asking.troubled(failure)
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
def closing(response: httpx2.Response) -> Iterator[httpx2.Response]:
    """Gives the connection back when the content was read, and closes it when it was not."""
    try:
        yield response
    except BaseException:
        response.close()
        raise
    read_some(response, _LARGEST_ERROR, _LAST_WORDS)


def pieces(response: httpx2.Response, deadline: float) -> Iterator[bytes]:
    """The content of a response, piece by piece.

    Args:
        response: the response.
        deadline: when it is given up, on the monotonic clock.

    Raises:
        TransferError: it broke off, or took too long.
    """
    if response.is_closed:  # It was read already.
        return
    allow(response, deadline)
    try:
        yield from response.iter_raw()
    except LateAnswerError:
        raise SlowTransferError("a transfer that takes too long") from None
    except httpx2.HTTPError as error:
        raise TransferError(str(error)) from None


def read_beginning(response: httpx2.Response, deadline: float) -> None:
    """Reads an answer whose content does not matter; of a long one only the beginning.

    Raises:
        TransferError: it broke off, or took too long.
    """
    size = 0
    for piece in pieces(response, deadline):
        size += len(piece)
        if size > _ENOUGH:
            return


def read_small(response: httpx2.Response, limit: int, seconds: float, where: str) -> bytes:
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


def read_some(response: httpx2.Response, limit: int, seconds: float) -> bytes:
    """What is left of a response, up to a limit; the connection is kept only where that was all."""
    content = b""
    try:
        for piece in pieces(response, time.monotonic() + seconds):
            content += piece
            if len(content) > limit:
                response.close()
                return content[:limit]
    except TransferError:
        pass
    response.close()
    return content


def fault_text(response: httpx2.Response) -> str:
    """What a response says went wrong, in one line; the response is done with."""
    content = read_some(response, _LARGEST_ERROR, _LAST_WORDS)
    try:
        faults = msgspec.json.decode(content, type=_Faults).errors
    except (msgspec.DecodeError, UnicodeDecodeError):
        faults = []
    text = "; ".join(f"{each.code}: {each.message}" for each in faults)
    text = "".join(char if char.isprintable() else " " for char in text)[:_LONGEST_MESSAGE]
    return f"HTTP status {response.status_code}" + (f" ({text})" if text else "")


def base_url(location: str) -> str:
    """The URL of a registry: https, but for this machine and where something else is said."""
    if "://" in location:
        return location.rstrip("/")
    host = urlsplit(f"//{location}").hostname or ""
    near = host == "localhost" or host.startswith("127.") or host == "::1"
    return f"{'http' if near else 'https'}://{location}"


def _is_late(error: httpx2.HTTPError, asking: Asking) -> bool:
    """Whether an answer took so long that it is not asked for again; callers with many registries in turn wait once."""
    return isinstance(error, LateAnswerError if asking.is_patient else httpx2.TimeoutException)


def _is_final(error: httpx2.HTTPError) -> bool:
    """Whether time does not heal an error."""
    return isinstance(error.__cause__, ssl.SSLError) or isinstance(
        error, httpx2.UnsupportedProtocol | httpx2.TooManyRedirects | httpx2.LocalProtocolError
    )


def _bare(url: str) -> str:
    """A URL without its query, which may carry secrets."""
    return url.partition("?")[0]
