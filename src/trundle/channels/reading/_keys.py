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

from trundle.errors import TrundleError

Signer: TypeAlias = CryptoSigner
"""A private key that signs, with its public key."""


class KeyFileError(TrundleError):
    """A key file cannot be read or written."""


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
        what = f"{path}: expected a name for a new key, found a file; a key is never overwritten"
        raise KeyFileError(what) from None
    except OSError as error:
        raise KeyFileError(f"{path}: expected to write a key, found: {error.strerror}") from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        path.unlink(missing_ok=True)
        raise KeyFileError(f"{path}: expected to write a key, found: {error.strerror}") from None


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
        raise KeyFileError(f"{path}: expected a key, found: {error.strerror}") from None
    try:
        private = load_pem_private_key(data, passphrase)
    except TypeError:
        wanted = "a passphrase, found none" if passphrase is None else "no passphrase, found one"
        raise KeyFileError(f"{path}: expected {wanted}") from None
    except (ValueError, UnsupportedAlgorithm):
        what = (
            f"{path}: expected an Ed25519 private key in PEM and its passphrase, found neither fits"
        )
        raise KeyFileError(what) from None
    if not isinstance(private, Ed25519PrivateKey):
        raise KeyFileError(f"{path}: expected an Ed25519 key, found another kind of key")
    return CryptoSigner(private)
