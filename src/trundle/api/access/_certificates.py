"""TLS: the server's certificate, and the certificates of clients, read again when their files change."""

import hashlib
import ssl
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from trundle.api.access._errors import AccessCode, AccessFileError
from trundle.api.access._reloading import Reloaded
from trundle.api.access._users import User, with_default_group
from trundle.errors import Finding, Place

_CERTIFICATE, _KEY = "tls.crt", "tls.key"
"""What a secret of Kubernetes calls them."""


def certificate_files(given: str) -> tuple[Path, Path]:
    """The files of a certificate and its key.

    Args:
        given: `CERT,KEY`; or a folder with `tls.crt` and `tls.key`; or one file with both.
    """
    first, comma, second = given.partition(",")
    path = Path(first)
    if comma:
        return path, Path(second)
    if path.is_dir():
        return path / _CERTIFICATE, path / _KEY
    return path, path


class Tls:
    """What a server needs for TLS.

    Certificates that were rotated are used from the next connection on.

    Args:
        certificate: the server's certificate, with those of intermediate authorities behind it.
        key: its key.
        clients: the certificates of the authorities that sign those of clients, as a file, or as a function that gives them in PEM and may
            give others later; None where clients bring none.
        complain: is given what is wrong with a change.

    Raises:
        AccessFileError: the files cannot be used.
    """

    def __init__(
        self,
        certificate: Path,
        key: Path,
        clients: Path | Callable[[], str] | None,
        complain: Callable[[str], None],
    ) -> None:
        files = [certificate, key, *([clients] if isinstance(clients, Path) else [])]
        self._contexts = Reloaded(
            files,
            lambda: _context(certificate, key, clients),
            complain,
            clients if callable(clients) else lambda: None,
        )
        self.context = _context(certificate, key, clients)
        self.context.sni_callback = self._choose

    def _choose(self, connection: ssl.SSLObject, *_: object) -> None:
        """Gives a new connection what the files say now."""
        connection.context = self._contexts.value


def _context(
    certificate: Path, key: Path, clients: Path | Callable[[], str] | None
) -> ssl.SSLContext:
    found = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    found.minimum_version = ssl.TLSVersion.TLSv1_2
    found.set_alpn_protocols(["http/1.1"])
    try:
        # A key with a passphrase would ask for it at the terminal.
        found.load_cert_chain(certificate, key, password=_no_passphrase)
    except (OSError, ValueError) as error:
        expected = "a certificate in PEM with its key, without a passphrase"
        raise _unusable(certificate, expected, error) from None
    if clients is not None:
        try:
            if callable(clients):
                found.load_verify_locations(cadata=clients())
            else:
                found.load_verify_locations(clients)
        except (OSError, ValueError) as error:
            place = Path("authorities of clients") if callable(clients) else clients
            raise _unusable(place, "certificates of authorities in PEM", error) from None
        found.verify_mode = ssl.CERT_OPTIONAL
    return found


def _no_passphrase() -> str:
    raise ValueError("the key has a passphrase")


def _unusable(path: Path, expected: str, error: Exception) -> AccessFileError:
    found = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    place = Place(str(path))
    finding = Finding(AccessCode.CERTIFICATE, place, expected, found, "name another file")
    return AccessFileError([finding])


def user_of(certificate: Mapping[str, Any], der: bytes) -> User | None:
    """The user that a client's certificate names: its common name, with its organizations as groups.

    Args:
        certificate: what Python's `getpeercert` says of it.
        der: its bytes.
    """
    subject: Sequence[Sequence[tuple[str, str]]] = certificate.get("subject", ())
    named = [each for relative in subject for each in relative]
    names = [value for key, value in named if key == "commonName"]
    if not names or not names[-1]:
        return None
    groups = tuple(value for key, value in named if key == "organizationName")
    identity = f"X509SHA256={hashlib.sha256(der).hexdigest()}"
    extra = {"authentication.kubernetes.io/credential-id": (identity,)}
    return with_default_group(User(names[-1], "", groups, extra))
