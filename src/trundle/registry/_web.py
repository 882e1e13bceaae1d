"""Files of a web server that is no registry, such as a channel that was exported."""

import time
from collections.abc import Iterator

import urllib3

from trundle.registry._pool import open_pool
from trundle.registry._settings import HttpSettings
from trundle.registry._transport import TransferError, closing, pieces
from trundle.registry.errors import UnauthorisedError, UnreachableError

_OK, _NOT_FOUND, _SERVER_ERROR = 200, 404, 500
_DENIED = (401, 403)
_LONGEST_PAUSE = 5.0


def fetch_pieces(url: str, settings: HttpSettings | None = None) -> Iterator[bytes]:
    """Fetches a file, piece by piece; a transfer that breaks off is an error, never a shorter file.

    The whole transfer takes at most `request_time` seconds for the headers, and as many for the content.

    Raises:
        FileNotFoundError: there is no such file.
        UnauthorisedError: the server demands credentials.
        UnreachableError: the server does not answer, not in time, or with an error.
    """
    settings = settings or HttpSettings()
    retry = urllib3.Retry(
        total=settings.retries,
        backoff_factor=settings.first_pause,
        backoff_max=_LONGEST_PAUSE,
        status_forcelist=(429, 502, 503, 504),
        raise_on_status=False,
    )
    headers = {"Accept-Encoding": "identity", "Cache-Control": "no-cache"}
    try:
        with open_pool(url, settings) as pool:
            response = pool.request(
                "GET", url, preload_content=False, retries=retry, headers=headers
            )
            with closing(response):
                _check_status(response.status, url)
                yield from pieces(response, time.monotonic() + settings.request_time)
    except (urllib3.exceptions.HTTPError, TransferError) as error:
        advice = "check the address and the network, and try again"
        raise UnreachableError(url, "an answer", str(error), advice) from None


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
