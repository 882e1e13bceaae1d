"""Opens what a reference names."""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from trundle.registry._directory_registry import DirectoryRegistry
from trundle.registry._interface import Registry, Repository
from trundle.registry._reference import LAYOUT_PREFIX, Reference
from trundle.registry.errors import MissingExtraError

if TYPE_CHECKING:
    from trundle.registry._settings import HttpSettings


def open_registry(location: str, *, settings: "HttpSettings | None" = None) -> Registry:
    """Opens a registry; nothing is read or asked yet.

    Args:
        location: `oci:DIR`, or a host with its port, as `Reference.registry` has it.
        settings: times and sizes for one over HTTP.

    Raises:
        MissingExtraError: it is one over HTTP, and `trundle[registry]` is not installed.
    """
    if location.startswith(LAYOUT_PREFIX):
        return DirectoryRegistry(Path(location.removeprefix(LAYOUT_PREFIX)))
    with _needs_extra(location):
        from trundle.registry._http_registry import HttpRegistry  # noqa: PLC0415 - needs an extra
    return HttpRegistry(location, settings=settings)


def url_of(location: str) -> str:
    """The URL of a registry over HTTP; empty for one in a folder.

    Raises:
        MissingExtraError: `trundle[registry]` is not installed.
    """
    if location.startswith(LAYOUT_PREFIX):
        return ""
    with _needs_extra(location):
        from trundle.registry._transport import base_url  # noqa: PLC0415 - needs an extra
    return base_url(location)


def open_repository(
    reference: Reference | str, *, settings: "HttpSettings | None" = None
) -> Repository:
    """Opens the repository that a reference is in.

    Raises:
        InvalidReferenceError: the text is no reference.
        MissingExtraError: as `open_registry` has it.
    """
    parsed = Reference.parse(reference) if isinstance(reference, str) else reference
    return open_registry(parsed.registry, settings=settings).repository(parsed.repository)


def fetch_file(url: str, *, settings: "HttpSettings | None" = None) -> Iterator[bytes]:
    """Fetches a file of any web server, piece by piece, within the times of the settings.

    Raises:
        FileNotFoundError: there is no such file.
        UnauthorisedError: the server demands credentials.
        UnreachableError: the server does not answer, not in time, or with an error.
        MissingExtraError: `trundle[registry]` is not installed.
    """
    with _needs_extra(url):
        from trundle.registry._web import fetch_pieces  # noqa: PLC0415 - needs an extra
    return fetch_pieces(url, settings)


def reach(url: str, settings: "HttpSettings") -> None:
    """Waits until a web server has answered, whatever it says, and once.

    Raises:
        UnreachableError: the server does not answer, or not in time.
        MissingExtraError: `trundle[registry]` is not installed.
    """
    with _needs_extra(url):
        from trundle.registry import _web  # noqa: PLC0415 - needs an extra
    _web.reach(url, settings)


def post(url: str, content: bytes, *, settings: "HttpSettings | None" = None) -> None:
    """Posts JSON to any web server, as to a webhook; of the answer only the status counts.

    All attempts together take at most `request_time` seconds. What may have arrived is not sent again.

    Raises:
        UnauthorisedError: the server demands credentials.
        UnreachableError: the server does not answer, or not in time.
        RegistryRefusedError: the server answers with another status than one of success.
        MissingExtraError: `trundle[registry]` is not installed.
    """
    with _needs_extra(url):
        from trundle.registry._web import post_json  # noqa: PLC0415 - needs an extra
    post_json(url, content, settings)


def request(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] = MappingProxyType({}),
    body: bytes | None = None,
    settings: "HttpSettings | None" = None,
) -> tuple[int, bytes]:
    """Sends a request to any web server, and gives the status and the content of the answer, whatever the status is.

    What changes nothing is sent again where a server is busy. Redirects are not followed.

    Raises:
        UnreachableError: the server does not answer, or not in time.
        MissingExtraError: `trundle[registry]` is not installed.
    """
    with _needs_extra(url):
        from trundle.registry._web import ask  # noqa: PLC0415 - needs an extra
    return ask(method, url, headers, body, settings)


@contextlib.contextmanager
def _needs_extra(location: str) -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in {"httpx2", "httpcore2"}:
            raise
        expected, advice = "the packages for HTTP", "run: pip install 'trundle[registry]'"
        raise MissingExtraError(location, expected, "no httpx2", advice) from None
