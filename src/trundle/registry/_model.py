"""Descriptors, manifests and indexes as the OCI image specification 1.1 writes them, and their media types."""

import base64
import binascii
import hashlib
import re
from collections.abc import Callable
from typing import Any

import msgspec

from trundle.registry.errors import DigestMismatchError, InvalidManifestError, TooLargeError

OCI_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
OCI_INDEX = "application/vnd.oci.image.index.v1+json"
OCI_EMPTY = "application/vnd.oci.empty.v1+json"
DOCKER_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
DOCKER_INDEX = "application/vnd.docker.distribution.manifest.list.v2+json"
MANIFEST_TYPES = (OCI_MANIFEST, OCI_INDEX, DOCKER_MANIFEST, DOCKER_INDEX)
"""The kinds of manifest that are read."""

MAX_MANIFEST = 4 * 1024 * 1024
"""The largest manifest, the size that registries have to accept by the distribution specification."""
_MAX_SIZE = 2**62
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


class Descriptor(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel", kw_only=True):
    """Names content by its digest.

    Attributes:
        media_type: what the content is.
        digest: `sha256:` and 64 hexadecimal digits.
        size: number of bytes.
        artifact_type: what the described manifest is for.
        annotations: further facts.
        data: the content itself in base64, where it is small and travels with its descriptor.
        platform: the platform of an image in an index; carried along.
        urls: where else the content may be had; carried along, never followed.
    """

    media_type: str
    digest: str
    size: int
    artifact_type: str | None = None
    annotations: dict[str, str] = msgspec.field(default_factory=dict)
    data: str | None = None
    platform: dict[str, Any] | None = None
    urls: tuple[str, ...] = ()


class ImageManifest(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel", kw_only=True):
    """A manifest: a configuration, layers, and what they are about.

    Attributes:
        schema_version: 2.
        media_type: `OCI_MANIFEST`, or Docker's, or absent in manifests of early tools.
        artifact_type: what the artifact is for.
        config: the configuration blob.
        layers: the blobs, in order.
        subject: the manifest that this one refers to, such as a package that is signed here.
        annotations: further facts.
    """

    schema_version: int
    media_type: str | None = None
    artifact_type: str | None = None
    config: Descriptor
    layers: tuple[Descriptor, ...]
    subject: Descriptor | None = None
    annotations: dict[str, str] = msgspec.field(default_factory=dict)

    def blobs(self) -> tuple[Descriptor, ...]:
        """The blobs without which the manifest is incomplete, each once, in order."""
        return tuple({each.digest: each for each in (self.config, *self.layers)}.values())

    def children(self) -> tuple[Descriptor, ...]:
        """The manifests without which it is incomplete: none."""
        return ()


class ImageIndex(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel", kw_only=True):
    """A list of manifests.

    Attributes:
        schema_version: 2.
        media_type: `OCI_INDEX`, or Docker's, or absent.
        artifact_type: what the artifact is for.
        manifests: the members, in order.
        subject: the manifest that this one refers to.
        annotations: further facts.
    """

    schema_version: int
    media_type: str | None = None
    artifact_type: str | None = None
    manifests: tuple[Descriptor, ...]
    subject: Descriptor | None = None
    annotations: dict[str, str] = msgspec.field(default_factory=dict)

    def blobs(self) -> tuple[Descriptor, ...]:
        """The blobs without which the index is incomplete: none."""
        return ()

    def children(self) -> tuple[Descriptor, ...]:
        """The manifests without which it is incomplete, each once, in order."""
        return tuple({each.digest: each for each in self.manifests}.values())


def digest_of(content: bytes) -> str:
    """The digest of content in memory."""
    return "sha256:" + hashlib.sha256(content).hexdigest()


def is_digest(text: str) -> bool:
    """Whether text is a digest of the kind that is understood, SHA-256."""
    return _DIGEST.fullmatch(text) is not None


def describe(content: bytes, media_type: str, **further: Any) -> Descriptor:
    """The descriptor of content in memory; further fields as `Descriptor` has them."""
    return Descriptor(
        media_type=media_type, digest=digest_of(content), size=len(content), **further
    )


EMPTY = b"{}"
"""The content that stands where a manifest needs a blob and has nothing to say."""
EMPTY_DESCRIPTOR = describe(EMPTY, OCI_EMPTY)
"""The descriptor of `EMPTY`."""


def encode(document: ImageManifest | ImageIndex) -> bytes:
    """A manifest or index as the same bytes every time."""
    return msgspec.json.encode(document, order="deterministic")


def parse_manifest(content: bytes, media_type: str, where: str) -> ImageManifest | ImageIndex:
    """Reads a manifest or an index.

    Args:
        content: its bytes.
        media_type: its media type, as its descriptor or the registry says.
        where: names it in messages.

    Raises:
        TooLargeError: it has more than `MAX_MANIFEST` bytes.
        InvalidManifestError: it is no manifest, says another media type of itself, or names digests or
            sizes that are none.
    """
    check_manifest_size(len(content), where)
    kind: type[ImageManifest | ImageIndex]
    match media_type:
        case "application/vnd.oci.image.manifest.v1+json" | (
            "application/vnd.docker.distribution.manifest.v2+json"
        ):
            kind = ImageManifest
        case "application/vnd.oci.image.index.v1+json" | (
            "application/vnd.docker.distribution.manifest.list.v2+json"
        ):
            kind = ImageIndex
        case _:
            raise InvalidManifestError(
                where,
                f"a manifest of one of the types {', '.join(MANIFEST_TYPES)}",
                f"the media type {media_type!r}",
                "push it with a tool that writes OCI manifests",
            )
    try:
        document = msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _invalid(where, str(error)) from None
    if document.schema_version != 2:  # noqa: PLR2004 - the one version of both formats
        raise _invalid(where, f"schemaVersion {document.schema_version}")
    if document.media_type not in {None, media_type}:
        raise _invalid(where, f"the media type {document.media_type!r} within {media_type!r}")
    subject = () if document.subject is None else (document.subject,)
    for each in (*document.blobs(), *document.children(), *subject):
        check_descriptor(each, where)
    return document


class _Shape(msgspec.Struct, rename="camel"):
    """What identifies the kind of a manifest."""

    media_type: str | None = None
    manifests: Any = None


def sniff_media_type(content: bytes, where: str) -> str:
    """The media type that a manifest says of itself, else OCI's for its shape.

    Raises:
        InvalidManifestError: it is not JSON, or not an object.
    """
    try:
        shape = msgspec.json.decode(content, type=_Shape)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _invalid(where, str(error)) from None
    return shape.media_type or (OCI_MANIFEST if shape.manifests is None else OCI_INDEX)


def check_descriptor(descriptor: Descriptor, where: str) -> None:
    """Refuses a descriptor whose digest or size cannot be.

    Raises:
        InvalidManifestError: the digest is not a SHA-256 one, or the size is negative or absurd.
    """
    if not is_digest(descriptor.digest):
        raise _invalid(where, f"the digest {descriptor.digest!r}")
    if not 0 <= descriptor.size <= _MAX_SIZE:
        raise _invalid(where, f"the size {descriptor.size}")


def check_manifest_size(size: int, where: str) -> None:
    """Refuses a manifest that is too large.

    Raises:
        TooLargeError: it has more than `MAX_MANIFEST` bytes.
    """
    if size > MAX_MANIFEST:
        raise TooLargeError(
            where,
            f"a manifest of at most {MAX_MANIFEST} bytes",
            f"{size} bytes",
            "push a smaller manifest; large content belongs into blobs",
        )


def check_content(content: bytes, descriptor: Descriptor, where: str) -> bytes:
    """Content, when it is what its descriptor says.

    Raises:
        DigestMismatchError: it is not.
    """
    found = digest_of(content)
    if found != descriptor.digest or len(content) != descriptor.size:
        raise DigestMismatchError(
            where,
            f"{descriptor.digest} with {descriptor.size} bytes",
            f"{found} with {len(content)} bytes",
            "the content was damaged or exchanged; do not use it, and ask its publisher",
        )
    return content


def small_content(
    descriptor: Descriptor, where: str, limit: int, read: Callable[[], bytes]
) -> bytes:
    """The content of a small blob, verified: what travels with its descriptor, else what is read.

    Args:
        descriptor: the blob.
        where: names it in messages.
        limit: the most bytes that the caller takes.
        read: reads the blob.

    Raises:
        TooLargeError: the descriptor announces more than the limit.
        DigestMismatchError: the content is not what the descriptor says.
    """
    check_blob_size(descriptor.size, limit, where)
    inline = inline_content(descriptor, where)
    return check_content(read(), descriptor, where) if inline is None else inline


def check_blob_size(size: int, limit: int, where: str) -> None:
    """Refuses a blob that is too large.

    Raises:
        TooLargeError: it has more than `limit` bytes.
    """
    if size > limit:
        expected = f"at most {limit} bytes"
        raise TooLargeError(where, expected, f"{size} bytes", "do not use the artifact")


def inline_content(descriptor: Descriptor, where: str) -> bytes | None:
    """The content that travels with its descriptor, when it does.

    Raises:
        DigestMismatchError: it is not what the descriptor says.
    """
    if descriptor.data is None:
        return None
    try:
        content = base64.b64decode(descriptor.data, validate=True)
    except (binascii.Error, ValueError):
        raise _invalid(where, "inline data that is not base64") from None
    return check_content(content, descriptor, where)


def _invalid(where: str, found: str) -> InvalidManifestError:
    return InvalidManifestError(
        where, "a valid OCI manifest", found, "do not use it, and ask its publisher"
    )
