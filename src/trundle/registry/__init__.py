"""Registries of OCI artifacts: image layouts in a folder, and the distribution API over HTTP.

Both do the same (`Repository`). Content is named by its digest and verified whenever it is read.
"""

from typing import TYPE_CHECKING

from trundle._faces import on_demand

if TYPE_CHECKING:
    from trundle.registry._collect import Garbage
    from trundle.registry._copy import Copied, copy
    from trundle.registry._directory_registry import DirectoryRegistry
    from trundle.registry._docker_config import Credentials, find_credentials
    from trundle.registry._entries import Entries, LedgerEntry, mark_of
    from trundle.registry._interface import (
        ANYTHING,
        Expected,
        Lease,
        Progress,
        Registry,
        Repository,
        StoredManifest,
    )
    from trundle.registry._layout import DirectoryRepository
    from trundle.registry._ledger import MARK_ANNOTATION, Ledger, PendingError, Turn
    from trundle.registry._markers import REMOVED_ARTIFACT
    from trundle.registry._model import (
        EMPTY,
        EMPTY_DESCRIPTOR,
        OCI_INDEX,
        OCI_MANIFEST,
        Descriptor,
        ImageIndex,
        ImageManifest,
        describe,
        digest_of,
        encode,
        parse_manifest,
    )
    from trundle.registry._open import (
        fetch_file,
        open_registry,
        open_repository,
        post,
        reach,
        request,
        url_of,
    )
    from trundle.registry._outages import Outages
    from trundle.registry._reference import Reference, tag_for, version_of
    from trundle.registry._settings import HttpSettings, ServerToken, require_url
    from trundle.registry.errors import (
        BusyError,
        ConflictError,
        DigestMismatchError,
        InvalidManifestError,
        InvalidReferenceError,
        InvalidServerUrlError,
        LeaseLostError,
        MissingExtraError,
        NotFoundError,
        RegistryError,
        RegistryRefusedError,
        StorageError,
        TooLargeError,
        UnauthorisedError,
        UnreachableError,
    )

__all__ = [
    "ANYTHING",
    "EMPTY",
    "EMPTY_DESCRIPTOR",
    "MARK_ANNOTATION",
    "OCI_INDEX",
    "OCI_MANIFEST",
    "REMOVED_ARTIFACT",
    "BusyError",
    "ConflictError",
    "Copied",
    "Credentials",
    "Descriptor",
    "DigestMismatchError",
    "DirectoryRegistry",
    "DirectoryRepository",
    "Entries",
    "Expected",
    "Garbage",
    "HttpSettings",
    "ImageIndex",
    "ImageManifest",
    "InvalidManifestError",
    "InvalidReferenceError",
    "InvalidServerUrlError",
    "Lease",
    "LeaseLostError",
    "Ledger",
    "LedgerEntry",
    "MissingExtraError",
    "NotFoundError",
    "Outages",
    "PendingError",
    "Progress",
    "Reference",
    "Registry",
    "RegistryError",
    "RegistryRefusedError",
    "Repository",
    "ServerToken",
    "StorageError",
    "StoredManifest",
    "TooLargeError",
    "Turn",
    "UnauthorisedError",
    "UnreachableError",
    "copy",
    "describe",
    "digest_of",
    "encode",
    "fetch_file",
    "find_credentials",
    "mark_of",
    "open_registry",
    "open_repository",
    "parse_manifest",
    "post",
    "reach",
    "request",
    "require_url",
    "tag_for",
    "url_of",
    "version_of",
]

on_demand(__name__)
