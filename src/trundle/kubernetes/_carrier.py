"""The carrier: one annotation with what is stored of an object, for versions that cannot express all of it.

It has the very text that is stored, compressed, with a checksum.
"""

import base64
import binascii
import hashlib
import zlib
from collections.abc import Mapping
from typing import Any

from trundle.errors import ExpectationError
from trundle.kubernetes._errors import KubernetesCode

MOST_ANNOTATIONS = 256 * 1024
"""How many bytes all annotations of an object may have, names included; the limit of an API server."""

_FORM = "1"
TOO_LARGE = "too-large"
"""How the marker begins that stands for a carrier without room."""

_MOST = 16 * 1024 * 1024
"""How many bytes a carrier may have when it is unpacked; etcd keeps no object of more than 1.5 MB, in JSON."""


class CarrierError(ExpectationError):
    """A carrier that cannot be read."""

    code = KubernetesCode.CARRIER


def name_of(group: str) -> str:
    """The annotation that is the carrier of a group's objects."""
    return f"{group}/carrier"


def reason_name(group: str) -> str:
    """The annotation with the reason why an object of a group is not shown."""
    return f"{group}/not-shown"


def sealed(data: bytes) -> str:
    """A carrier of some data."""
    packed = base64.urlsafe_b64encode(zlib.compress(data, 9)).decode()
    return f"{_FORM}.{_checksum(data)}.{packed}"


def unsealed(text: str) -> bytes:
    """The data of a carrier.

    Raises:
        CarrierError: it was changed, or nothing that `sealed` made.
    """
    form, _, rest = text.partition(".")
    checksum, _, packed = rest.partition(".")
    if form != _FORM:
        raise _damaged(f"one of the form {form[:20]!r}")
    try:
        unpacking = zlib.decompressobj()
        data = unpacking.decompress(base64.b64decode(packed, altchars=b"-_", validate=True), _MOST)
    except (ValueError, binascii.Error, zlib.error) as error:
        raise _damaged(str(error)) from None
    if not unpacking.eof or _checksum(data) != checksum:
        raise _damaged("one whose checksum does not fit")
    return data


def is_marker(text: str) -> bool:
    """Whether an annotation only says that a carrier had no room."""
    return text.partition(".")[0] == TOO_LARGE


def is_as_marked(marker: str, metadata: Mapping[str, Any]) -> bool:
    """Whether the content of an object is what it was when its marker was made; an API server counts changes of it in the generation."""
    generation = marker.removeprefix(f"{TOO_LARGE}.").partition(".")[2]
    return not generation or generation == str(metadata.get("generation"))


def with_annotation(metadata: Mapping[str, Any], name: str, text: str) -> dict[str, Any]:
    """The metadata of an object with a carrier; with a marker instead, where there is no room for it.

    Where the marker has no room either, the largest annotations make room. An API server fails all lists with an object that has too many, and refuses
    every write of one that has a marker, so they are not lost.
    """
    annotations = {**_annotations(metadata), name: text}
    if _size(annotations) > MOST_ANNOTATIONS:
        if not is_marker(text):
            generation = metadata.get("generation")
            counted = "" if generation is None else f".{generation}"
            annotations[name] = f"{TOO_LARGE}.{len(text)}{counted}"
        others = (each for each in annotations if each != name)
        for each in sorted(others, key=lambda other: -len(str(annotations[other]).encode())):
            if _size(annotations) <= MOST_ANNOTATIONS:
                break
            del annotations[each]
    return {**metadata, "annotations": annotations}


def _size(annotations: Mapping[str, Any]) -> int:
    """How many bytes annotations have, as an API server counts."""
    return sum(len(key.encode()) + len(str(value).encode()) for key, value in annotations.items())


def without_annotation(metadata: Mapping[str, Any], name: str) -> tuple[dict[str, Any], str | None]:
    """The metadata of an object without an annotation, and the annotation; None where there is none."""
    annotations = _annotations(metadata)
    text = annotations.pop(name, None)
    rest = {key: value for key, value in metadata.items() if key != "annotations"}
    return {**rest, **({"annotations": annotations} if annotations else {})}, text


def _annotations(metadata: Mapping[str, Any]) -> dict[str, Any]:
    found = metadata.get("annotations")
    return dict(found) if isinstance(found, dict) else {}


def _checksum(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def _damaged(found: str) -> CarrierError:
    return CarrierError("the carrier", "one that Trundle wrote", found, "remove the annotation")
