"""Web servers that are no registries: files of a channel that was exported, and webhooks."""

import contextlib
import itertools
import time
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

import httpx2
import msgspec

from trundle._http import LateAnswerError
from trundle.registry._outages import Asking, Late
from trundle.registry._pool import Pool, asked_pause, pause_before
from trundle.registry._settings import HttpSettings
from trundle.registry._transport import TransferError, pieces, read_beginning
from trundle.registry.errors import RegistryRefusedError, UnauthorisedError, UnreachableError

_OK, _NOT_FOUND, _SERVER_ERROR = 200, 404, 500
_SUCCESS = range(200, 300)
_DENIED = (401, 403)
_TRANSIENT = (429, 502, 503, 504)
_LONGEST_PAUSE = 5.0
_ADVICE = "check the address and the network, and try again"


def fetch_pieces(url: str, settings: HttpSettings | None = None) -> Iterator[bytes]:
    """Fetches a file, piece by piece; a transfer that breaks off is an error, never a shorter file.

    The server is shown `settings.token` where that is for it, and no server that a redirect leads to. The whole transfer
    takes at most `request_time` seconds for the headers, and as many for the content. A host that did not answer before in a round of
    `settings.outages` is not asked.

    Raises:
        FileNotFoundError: there is no such file.
        UnauthorisedError: the server demands credentials.
        UnreachableError: the server does not answer, not in time, or with an error.
    """
    settings = settings or HttpSettings()
    asking = Asking(settings.outages, urlsplit(url).netloc, url.rpartition("/")[0])
    reason = asking.reason()
    if reason is not None:
        raise UnreachableError(url, "an answer", reason, _ADVICE)
    headers = {"Cache-Control": "no-cache", **_identity(url, settings)}
    attempts = asking.attempts(settings.retries)
    once = (
        ()
        if asking.is_patient
        else (httpx2.TimeoutException, httpx2.ReadError, httpx2.ProtocolError)
    )
    try:
        with _asked("GET", url, settings, headers, attempts, redirects=True, once=once) as response:
            if response.status_code in _TRANSIENT:
                asking.troubled(f"status {response.status_code}")
            else:
                asking.answered()
            _check_status(response.status_code, url)
            yield from pieces(response, time.monotonic() + settings.request_time)
    except (httpx2.HTTPError, TransferError) as error:
        failure = _unreachable(url, error)
        alone = msgspec.structs.replace(settings, outages=None)
        asking.late(Late(failure.found, lambda: reach(url, alone)))
        raise failure from None


def ask(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes | None,
    settings: HttpSettings | None = None,
) -> tuple[int, bytes]:
    """Sends a request, and gives the status and the content of the answer, whatever the status is.

    Only what changes nothing is sent again where a server is busy. Redirects are not followed, so that no other server gets the headers.

    Raises:
        UnreachableError: the server does not answer, or not in time.
    """
    settings = settings or HttpSettings()
    attempts = settings.retries + 1 if method == "GET" else 1
    try:
        with _asked(method, url, settings, dict(headers), attempts, body=body) as response:
            deadline = time.monotonic() + settings.request_time
            return response.status_code, b"".join(pieces(response, deadline))
    except (httpx2.HTTPError, TransferError) as error:
        raise _unreachable(url, error) from None


def reach(url: str, settings: HttpSettings) -> None:
    """Waits until a server has answered, whatever it says; of a long answer only the beginning is waited for.

    Raises:
        UnreachableError: the server does not answer, or not in time.
    """
    try:
        with _asked("GET", url, settings, _identity(url, settings), redirects=True) as response:
            read_beginning(response, time.monotonic() + settings.request_time)
    except (httpx2.HTTPError, TransferError) as error:
        raise _unreachable(url, error) from None


def post_json(url: str, content: bytes, settings: HttpSettings | None = None) -> None:
    """Posts JSON, and leaves aside what the server answers, but for its status.

    All attempts together take at most `request_time` seconds. What may have arrived is not sent again; redirects are not
    followed.

    Raises:
        UnauthorisedError: the server demands credentials.
        UnreachableError: the server does not answer, or not in time.
        RegistryRefusedError: the server answers with another status than one of success.
    """
    settings = settings or HttpSettings()
    deadline = time.monotonic() + settings.request_time
    for attempt in itertools.count():
        pause = min(settings.first_pause * 2**attempt, _LONGEST_PAUSE)
        again = attempt < settings.retries and time.monotonic() + pause < deadline
        try:
            status = _post_once(url, content, _until(deadline, settings))
        except (
            httpx2.ConnectError,
            httpx2.ConnectTimeout,
        ) as error:  # Refused, too: nothing was sent
            if not again:
                raise _unreachable(url, error) from None
        except httpx2.HTTPError as error:
            raise _unreachable(url, error) from None
        else:
            if not again or status not in _TRANSIENT:
                break
        time.sleep(pause)
    _check_taken(status, url)


def _post_once(url: str, content: bytes, settings: HttpSettings) -> int:
    headers = {"Content-Type": "application/json"}
    with _asked("POST", url, settings, headers, body=content) as response:
        return response.status_code


def _until(deadline: float, settings: HttpSettings) -> HttpSettings:
    """The settings for what is left of the time."""
    left = max(deadline - time.monotonic(), 0.001)
    return msgspec.structs.replace(
        settings,
        connect_timeout=min(settings.connect_timeout, left),
        read_timeout=min(settings.read_timeout, left),
        request_time=left,
    )


@contextlib.contextmanager
def _asked(
    method: str,
    url: str,
    settings: HttpSettings,
    headers: dict[str, str],
    attempts: int = 1,
    *,
    body: bytes | None = None,
    redirects: bool = False,
    once: tuple[type[Exception], ...] = (),
) -> Iterator[httpx2.Response]:
    """The answer to a request, its content unread; what is not read of it is never received.

    Args:
        method: the HTTP method.
        url: the URL.
        settings: the times.
        headers: the headers.
        attempts: how often it is sent.
        body: what to send.
        redirects: whether it is asked for elsewhere where the server says so.
        once: after which errors it is not sent again.
    """
    with Pool(url, settings) as pool:
        for attempt in range(1, attempts + 1):
            try:
                response = pool.send(method, url, headers, body, redirects=redirects)
            except httpx2.HTTPError as error:
                if attempt == attempts or isinstance(error, (LateAnswerError, *once)):
                    raise
                asked = None
            else:
                if attempt == attempts or response.status_code not in _TRANSIENT:
                    break
                asked = asked_pause(response)
                response.close()
            if not pause_before(attempt - 1, asked, settings):
                break
        with contextlib.closing(response):
            yield response


def _identity(url: str, settings: HttpSettings) -> dict[str, str]:
    """The header that shows a server who asks; none for any other server than the one that the token is for."""
    token = settings.token
    if token is None or _origin(url) is None or _origin(url) != _origin(token.server):
        return {}
    return {"Authorization": f"Bearer {token.token}"}


def _origin(url: str) -> tuple[str, str, int | None] | None:
    """The server of a URL, as requests find it; None where it is none."""
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL:
        return None
    return (parsed.scheme, parsed.host, parsed.port) if parsed.host else None


def _check_status(status: int, url: str) -> None:
    if status == _OK:
        return
    if status == _NOT_FOUND:
        raise FileNotFoundError(url)
    if status in _DENIED:
        advice = "check who may read the file, and that the server knows you"
        raise UnauthorisedError(url, "to be let in", f"status {status}", advice)
    advice = "try again later" if status >= _SERVER_ERROR else "check the address"
    raise UnreachableError(url, "a file", f"status {status}", advice)


def _check_taken(status: int, url: str) -> None:
    if status in _SUCCESS:
        return
    if status in _DENIED:
        advice = "check who may post there"
        raise UnauthorisedError(url, "to be let in", f"status {status}", advice)
    expected, advice = "a status of success", "check the address, and what the server logs"
    raise RegistryRefusedError(url, expected, f"status {status}", advice)


def _unreachable(url: str, error: httpx2.HTTPError | TransferError) -> UnreachableError:
    return UnreachableError(url, "an answer", str(error), _ADVICE)
