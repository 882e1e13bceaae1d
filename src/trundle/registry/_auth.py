"""Answers a registry that asks who is there: basic authentication, and bearer tokens of a token service.

The protocol of token services is that of the distribution project ("Token Authentication Specification").
"""

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias
from urllib.parse import urlencode, urlsplit

import msgspec

from trundle.registry._docker_config import Credentials
from trundle.registry.errors import UnauthorisedError

_SCHEMES = re.compile(r"(?:^|,)\s*(Bearer|Basic)\s+", re.IGNORECASE)
_PARAMETER = re.compile(r'(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))')
_OK = 200
_CLIENT = "trundle"

Send: TypeAlias = Callable[[str, str, str, dict[str, str], bytes | None], tuple[int, bytes]]
"""Sends a request to a token service: repository, method, URL, headers, body; gives status and content."""


class _Token(msgspec.Struct):
    token: str = ""
    access_token: str = ""


class Authenticator:
    """Remembers what to say to one registry, for each repository.

    Attributes:
        host: the registry's host, with its port.
    """

    def __init__(
        self,
        host: str,
        *,
        secure: bool,
        find: Callable[[str], Credentials | None],
        send: Send,
    ) -> None:
        self.host = host
        self._secure = secure
        self._find = find
        self._send = send
        self._headers: dict[str, str] = {}

    def headers(self, repository: str) -> dict[str, str]:
        """What is said without being asked, after a first answer for the repository."""
        value = self._headers.get(repository)
        return {} if value is None else {"Authorization": value}

    def answer(self, repository: str, challenge: str) -> bool:
        """Answers a challenge, so that `headers` says it from now on.

        Args:
            repository: the repository that was asked for.
            challenge: the value of the `WWW-Authenticate` header.

        Returns:
            Whether there is something new to say.

        Raises:
            UnauthorisedError: the token service refuses, or cannot be trusted with credentials.
            UnreachableError: the token service does not answer.
        """
        challenges = parse_challenges(challenge)
        credentials = self._find(self.host)
        if "bearer" in challenges:
            value = f"Bearer {self._token(repository, challenges['bearer'], credentials)}"
        elif "basic" in challenges and credentials is not None:
            value = credentials.basic()
        else:
            return False
        changed = self._headers.get(repository) != value
        self._headers[repository] = value
        return changed

    def _token(
        self, repository: str, wanted: Mapping[str, str], credentials: Credentials | None
    ) -> str:
        realm = wanted.get("realm", "")
        try:
            parts = urlsplit(realm)
        except ValueError:  # It is no URL.
            parts = urlsplit("")
        if parts.scheme != "https" and (self._secure or parts.scheme != "http"):
            raise UnauthorisedError(
                self.host,
                "a token service over https",
                repr(realm),
                "do not use this registry; it would send credentials in the clear",
            )
        fields = [("service", wanted.get("service", ""))]
        fields += [("scope", scope) for scope in wanted.get("scope", "").split(" ") if scope]
        if credentials is not None and credentials.identity_token:
            fields += [
                ("grant_type", "refresh_token"),
                ("refresh_token", credentials.identity_token),
                ("client_id", _CLIENT),
            ]
            # The scopes of an OAuth request are one field.
            scopes = " ".join(value for name, value in fields if name == "scope")
            plain = {name: value for name, value in fields if name != "scope"} | {"scope": scopes}
            headers = {"Content-Type": "application/x-www-form-urlencoded"}
            status, content = self._send(
                repository, "POST", realm, headers, urlencode(plain).encode()
            )
        else:
            headers = {} if credentials is None else {"Authorization": credentials.basic()}
            separator = "&" if parts.query else "?"
            status, content = self._send(
                repository, "GET", f"{realm}{separator}{urlencode(fields)}", headers, None
            )
        return self._read(status, content, realm, known=credentials is not None)

    def _read(self, status: int, content: bytes, realm: str, *, known: bool) -> str:
        if status != _OK:
            advice = "log in again" if known else f"log in with: docker login {self.host}"
            raise UnauthorisedError(realm, "a token", f"HTTP status {status}", advice)
        try:
            answer = msgspec.json.decode(content, type=_Token)
        except msgspec.DecodeError:
            answer = _Token()
        token = answer.token or answer.access_token
        if not token or not token.isascii() or not token.isprintable():
            raise UnauthorisedError(
                realm, "a token", "an answer without one", "ask who runs the token service"
            )
        return token


def parse_challenges(header: str) -> dict[str, dict[str, str]]:
    """The parameters of each challenge of a `WWW-Authenticate` header, by the scheme in lower case."""
    starts = list(_SCHEMES.finditer(header))
    found: dict[str, dict[str, str]] = {}
    for number, start in enumerate(starts):
        end = starts[number + 1].start() if number + 1 < len(starts) else len(header)
        pairs = _PARAMETER.finditer(header, start.end(), end)
        found[start[1].lower()] = {pair[1].lower(): pair[2] or pair[3] or "" for pair in pairs}
    return found
