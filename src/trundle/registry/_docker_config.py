"""Finds credentials where `docker login` keeps them."""

import base64
import binascii
import shutil
import subprocess
from pathlib import Path

import msgspec

from trundle._environment import home, variables
from trundle.registry.errors import UnauthorisedError

_HUB = "https://index.docker.io/v1/"
_HUB_HOSTS = {"docker.io", "index.docker.io", "registry-1.docker.io"}
_HELPER_TIME = 30.0
_TOKEN_USER = "<token>"  # noqa: S105 - what a helper says in place of a user's name


class Credentials(msgspec.Struct, frozen=True):
    """Who asks.

    Attributes:
        user: the user's name.
        password: the password.
        identity_token: a refresh token, in place of both.
    """

    user: str = ""
    password: str = ""
    identity_token: str = ""

    def __repr__(self) -> str:
        """Keeps secrets out of logs and tracebacks."""
        return f"Credentials(user={self.user!r})"

    def basic(self) -> str:
        """The value of an `Authorization` header."""
        pair = f"{self.user}:{self.password}".encode()
        return "Basic " + base64.b64encode(pair).decode()


class _Entry(msgspec.Struct, rename={"identity_token": "identitytoken"}):
    auth: str = ""
    username: str = ""
    password: str = ""
    identity_token: str = ""


class _Config(msgspec.Struct, rename="camel"):
    auths: dict[str, _Entry] = msgspec.field(default_factory=dict)
    cred_helpers: dict[str, str] = msgspec.field(default_factory=dict)
    creds_store: str = ""


class _Answer(msgspec.Struct, rename="pascal"):
    username: str = ""
    secret: str = ""


def find_credentials(host: str) -> Credentials | None:
    """The credentials for a registry: from its helper, else the store, else the file itself.

    The file is `config.json` in the folder that `DOCKER_CONFIG` names, else in `~/.docker`.

    Args:
        host: the registry's host, with its port.

    Raises:
        UnauthorisedError: the file cannot be read, or a helper fails.
    """
    folder = variables().get("DOCKER_CONFIG") or home() / ".docker"
    path = Path(folder) / "config.json"
    try:
        config = msgspec.json.decode(path.read_bytes(), type=_Config)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, msgspec.DecodeError) as error:
        raise UnauthorisedError(
            str(path), "Docker's configuration", str(error), "correct the file, or log in again"
        ) from None
    key = _HUB if host in _HUB_HOSTS else host
    helper = config.cred_helpers.get(host) or config.creds_store
    found = _ask(helper, key) if helper else None
    if found is not None:
        return found
    for name, entry in config.auths.items():
        if name == key or _host_of(name) == host:
            return _read(entry, path, name)
    return None


def _host_of(name: str) -> str:
    """The host of an entry, which may be written as a URL."""
    return name.partition("://")[2].partition("/")[0] if "://" in name else name.partition("/")[0]


def _read(entry: _Entry, path: Path, name: str) -> Credentials | None:
    user, password = entry.username, entry.password
    if entry.auth:
        try:
            text = base64.b64decode(entry.auth, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            raise UnauthorisedError(
                f"{path}: auths: {name}", "base64 text", "something else", "log in again"
            ) from None
        user, _, password = text.partition(":")
    if not (user or entry.identity_token):
        return None
    return Credentials(user, password.rstrip("\0"), entry.identity_token)


def _ask(helper: str, key: str) -> Credentials | None:
    """Asks a credential helper, by the protocol of docker-credential-helpers."""
    name = f"docker-credential-{helper}"
    program = shutil.which(name) if helper.replace("-", "").replace("_", "").isalnum() else None
    if program is None:
        raise UnauthorisedError(
            name,
            "the credential helper on the PATH",
            "no such program",
            "install it, or log in again",
        )
    try:
        done = subprocess.run(  # noqa: S603 - the user's configuration names the program
            [program, "get"],
            input=key.encode(),
            capture_output=True,
            timeout=_HELPER_TIME,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _helper_failed(name, str(error)) from None
    if done.returncode != 0:
        message = done.stdout.decode(errors="replace").strip()
        if "credentials not found" in message.lower():
            return None
        raise _helper_failed(name, message or f"exit code {done.returncode}")
    try:
        answer = msgspec.json.decode(done.stdout, type=_Answer)
    except msgspec.DecodeError:
        raise _helper_failed(name, "an answer that is not its protocol") from None
    if answer.username == _TOKEN_USER:
        return Credentials(identity_token=answer.secret)
    return Credentials(answer.username, answer.secret)


def _helper_failed(name: str, found: str) -> UnauthorisedError:
    return UnauthorisedError(
        name, "credentials from the helper", found, "run it by hand to see why"
    )
