"""Trust: who may say what a channel holds, by The Update Framework (TUF).

Each channel is a small TUF repository over its two files. The root keys stay offline and name all others; the
publisher's key signs what the channel holds; the online key signs that this is still so.
"""

try:
    import tuf as _tuf
except ImportError as error:  # pragma: no cover - depends on the installation
    raise ImportError(
        "signed channels need python-tuf; run: python -m pip install 'trundle[channels]'"
    ) from error

from trundle.channels.reading._keys import (
    KeyCode,
    KeyFileError,
    Signer,
    generate_key,
    key_unread,
    read_key,
    write_key,
)
from trundle.channels.reading._roots import (
    Replacement,
    contradicts,
    first_root,
    next_root,
    role_keys,
)
from trundle.channels.reading._signing import Lifetimes, SignedFiles, refresh, sign
from trundle.channels.reading._trust_errors import TrustError
from trundle.channels.reading._trust_store import (
    TrustFolder,
    TrustMemory,
    TrustStore,
    trust_key,
)
from trundle.channels.reading._verifying import TrustState, signed_files, trust, verify

__all__ = [
    "KeyCode",
    "KeyFileError",
    "Lifetimes",
    "Replacement",
    "SignedFiles",
    "Signer",
    "TrustError",
    "TrustFolder",
    "TrustMemory",
    "TrustState",
    "TrustStore",
    "contradicts",
    "first_root",
    "generate_key",
    "key_unread",
    "next_root",
    "read_key",
    "refresh",
    "role_keys",
    "sign",
    "signed_files",
    "trust",
    "trust_key",
    "verify",
    "write_key",
]

del _tuf
