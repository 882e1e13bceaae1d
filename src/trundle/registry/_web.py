"""Web servers that are no registries: files of a channel that was exported, and webhooks."""

import contextlib
import itertools
import time
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

import msgspec
import urllib3

from trundle.errors import plain_reason
from trundle.registry._outages import Late
from trundle.registry._pool import open_pool
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

    The whole transfer takes at most `request_time` seconds for the headers, and as many for the content. A host that did not answer before in a round of
    `settings.outages` is not asked.

    Raises:
        FileNotFoundError: there is no such file.
        UnauthorisedError: the server demands credentials.
        UnreachableError: the server does not answer, not in time, or with an error.
    """
    settings = settings or HttpSettings()
    outages, host, folder = settings.outages, urlsplit(url).netloc, url.rpartition("/")[0]
    retry = _retry(settings)
    if outages is not None:
        reason = outages.reason(host, folder)
        if reason is not None:
            raise UnreachableError(url, "an answer", reason, _ADVICE)
        again = 0 if outages.is_away(host) else settings.retries
        retry = retry.new(total=again, read=0)  # What took too long is not asked for again.
    headers = {"Cache-Control": "no-cache"}
    try:
        with _asked("GET", url, settings, headers, retry) as response:
            if outages is not None and response.status in _TRANSIENT:
                outages.trouble(host, folder, f"status {response.status}")
            elif outages is not None:
                outages.end(host)
            _check_status(response.status, url)
            yield from pieces(response, time.monotonic() + settings.request_time)
    except (urllib3.exceptions.HTTPError, TransferError) as error:
        failure = _unreachable(url, error)
        if outages is not None:
            alone = msgspec.structs.replace(settings, outages=None)
            outages.give_up(host, folder, Late(failure.found, lambda: reach(url, alone)))
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
    retry = _retry(settings, redirect=0) if method == "GET" else False
    try:
        with _asked(method, url, settings, dict(headers), retry, body=body) as response:
            deadline = time.monotonic() + settings.request_time
            return response.status, b"".join(pieces(response, deadline))
    except (urllib3.exceptions.HTTPError, TransferError) as error:
        raise _unreachable(url, error) from None


def reach(url: str, settings: HttpSettings) -> None:
    """Waits until a server has answered, whatever it says; of a long answer only the beginning is waited for.

    Raises:
        UnreachableError: the server does not answer, or not in time.
    """
    try:
        with _asked("GET", url, settings, {}, retry=False) as response:
            read_beginning(response, time.monotonic() + settings.request_time)
    except (urllib3.exceptions.HTTPError, TransferError) as error:
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
        except urllib3.exceptions.ConnectTimeoutError as error:  # Refused, too: nothing was sent
            if not again:
                raise _unreachable(url, error) from None
        except urllib3.exceptions.HTTPError as error:
            raise _unreachable(url, error) from None
        else:
            if not again or status not in _TRANSIENT:
                break
        time.sleep(pause)
    _check_taken(status, url)


def _retry(settings: HttpSettings, redirect: int | None = None) -> urllib3.Retry:
    """How often a request is sent that changes nothing."""
    return urllib3.Retry(
        total=settings.retries,
        redirect=redirect,
        backoff_factor=settings.first_pause,
        backoff_max=_LONGEST_PAUSE,
        status_forcelist=_TRANSIENT,
        raise_on_status=False,
        raise_on_redirect=False,
    )


def _post_once(url: str, content: bytes, settings: HttpSettings) -> int:
    headers = {"Content-Type": "application/json"}
    with _asked("POST", url, settings, headers, retry=False, body=content) as response:
        return response.status


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
    retry: urllib3.Retry | bool,  # noqa: FBT001 - as urllib3 has it
    body: bytes | None = None,
) -> Iterator[urllib3.BaseHTTPResponse]:
    """The answer to a request, its content unread; what is not read of it is never received."""
    headers = {"User-Agent": "trundle", "Accept-Encoding": "identity", **headers}
    with open_pool(url, settings) as pool:
        response = pool.request(
            method, url, body=body, preload_content=False, retries=retry, headers=headers
        )
        with contextlib.closing(response):
            yield response


def _check_status(status: int, url: str) -> None:
    if status == _OK:
        return
    if status == _NOT_FOUND:
        raise FileNotFoundError(url)
    if status in _DENIED:
        advice = "check who may read the file"
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


def _unreachable(url: str, error: urllib3.exceptions.HTTPError | TransferError) -> UnreachableError:
    found = str(error) if isinstance(error, TransferError) else plain_reason(error)
    return UnreachableError(url, "an answer", found, _ADVICE)
