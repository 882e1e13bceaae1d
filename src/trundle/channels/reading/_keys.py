"""Keys: Ed25519, one to a file, in PEM, with a passphrase or without."""

import os
from pathlib import Path
from typing import TypeAlias

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from securesystemslib.signer import CryptoSigner

from trundle.errors import Code, ExpectationError

Signer: TypeAlias = CryptoSigner
"""A private key that signs, with its public key."""


_CHECK = "check the passphrase, and that this is the file of the key"


class KeyCode(Code):
    """What can be wrong with the keys of a publisher."""

    UNUSABLE = "unusable-key"
    EXISTS = "keys-exist"


class KeyFileError(ExpectationError):
    """A key file cannot be read or written."""

    code = KeyCode.UNUSABLE


def generate_key() -> Signer:
    """A new key."""
    return CryptoSigner.generate_ed25519()


def write_key(key: Signer, path: Path, passphrase: bytes | None = None) -> None:
    """Writes a private key to a new file that only its owner may read.

    Args:
        key: the key.
        path: the file, which must not exist: a key is never overwritten.
        passphrase: what the file is encrypted with; None for a plain one.

    Raises:
        KeyFileError: the file exists, or cannot be written.
    """
    private = load_pem_private_key(key.private_bytes, None)
    encryption = NoEncryption() if passphrase is None else BestAvailableEncryption(passphrase)
    data = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        expected, advice = "a name for a new key", "a key is never overwritten"
        raise KeyFileError(str(path), expected, "a file", advice) from None
    except OSError as error:
        raise _not_written(path, error) from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        path.unlink(missing_ok=True)
        raise _not_written(path, error) from None


def read_key(path: Path, passphrase: bytes | None = None) -> Signer:
    """Reads a private key.

    Args:
        path: a PEM file, as `write_key` writes it.
        passphrase: what the file was encrypted with; None for a plain one.

    Raises:
        KeyFileError: the file cannot be read, is no Ed25519 key, or the passphrase is wrong or missing.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise key_unread(path, error) from None
    try:
        private = load_pem_private_key(data, passphrase)
    except TypeError:
        expected, found = (
            ("a passphrase", "none") if passphrase is None else ("none", "a passphrase")
        )
        raise KeyFileError(str(path), expected, found, _CHECK) from None
    except (ValueError, UnsupportedAlgorithm):
        expected = "an Ed25519 private key in PEM and its passphrase"
        raise KeyFileError(str(path), expected, "what does not fit", _CHECK) from None
    if not isinstance(private, Ed25519PrivateKey):
        advice = "make keys with: trundle keys init"
        raise KeyFileError(str(path), "an Ed25519 key", "another kind of key", advice)
    return CryptoSigner(private)


def key_unread(path: Path, error: OSError) -> KeyFileError:
    """The error for a key file that cannot be read."""
    found, advice = error.strerror or str(error), "check the path and its permissions"
    return KeyFileError(str(path), "a key", found, advice)


def _not_written(path: Path, error: OSError) -> KeyFileError:
    found, advice = error.strerror or str(error), "check the folder's permissions, and its space"
    return KeyFileError(str(path), "to write a key", found, advice)
