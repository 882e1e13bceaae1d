"""What one server is shown where channels are read from it: by the environment, or by a folder, as a cluster has a Secret."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from trundle.cli._channels import web_settings
from trundle.cli._settings import SettingsError, header_token
from trundle.errors import TrundleError, expectation

if TYPE_CHECKING:
    from trundle.registry import ServerToken

SERVER_FILE, TOKEN_FILE = "server", "token"


def server_token(
    folder: Path | None, complain: Callable[[str], object]
) -> "Callable[[], ServerToken | None]":
    """What reads which server is shown which token, whenever it is called.

    Args:
        folder: has the files `server` and `token`, which may come, change and go at any time; the environment counts where None.
        complain: is called with what is wrong with the files, once until that changes; no server is shown a token meanwhile.
    """
    if folder is None:
        settings = web_settings()
        found = None if settings is None else settings.token
        return lambda: found
    said = ""

    def read() -> "ServerToken | None":
        nonlocal said
        try:
            token, wrong = _read(folder), ""
        except (TrundleError, OSError, UnicodeDecodeError) as error:
            token, wrong = None, str(error)
        if wrong and wrong != said:
            complain(wrong)
        said = wrong
        return token

    return read


def _read(folder: Path) -> "ServerToken | None":
    """What the files of a folder say; None where there are none.

    Raises:
        SettingsError: one of them is missing or empty, or the token is one that no request can have.
        InvalidServerUrlError: the server is no URL.
    """
    from trundle.registry import ServerToken, require_url  # noqa: PLC0415

    names = (SERVER_FILE, TOKEN_FILE)
    there = [folder / each for each in names if (folder / each).exists()]
    if not there:
        return None
    server, token = (
        (folder / each).read_text("utf-8").strip() if folder / each in there else ""
        for each in names
    )
    if not (server and token):
        expected = f"the files {SERVER_FILE} and {TOKEN_FILE}"
        found = f"none, or an empty one, called {TOKEN_FILE if server else SERVER_FILE}"
        raise SettingsError(f"{folder}: {expectation(expected, found, 'write both')}")
    require_url(server, str(folder / SERVER_FILE))
    return ServerToken(server=server, token=header_token(token, str(folder / TOKEN_FILE)))
