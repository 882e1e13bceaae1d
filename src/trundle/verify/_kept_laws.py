"""The law of what a store keeps: in whichever version's shape, every version reads the same."""

import zlib
from typing import Any

from trundle.runtime import Scheme, UnknownVersionError
from trundle.verify._broken import LawBroken, differences, shown
from trundle.verify._seen import context_of, named, reloaded, some_versions, view

_SHAPES = 2
"""Of more storage versions, so many are tried."""


def law_of_shapes(scheme: Scheme, document: Any, edited: Any, base: Any) -> None:
    """Whichever storage version a store keeps, every version reads the same of it, before an edit and after.

    Args:
        scheme: the scheme of the generated package.
        document: what is written first, a valid object of some version.
        edited: what is then written over it.
        base: what is stored of the document in the hub's shape.
    """
    resource, version = named(scheme, document)
    found = scheme.resources[resource]
    data = scheme.encode(document)
    shapes = sorted(
        (
            each
            for each in found.storage
            if each != found.hub and _stored_in(scheme, resource, each)
        ),
        key=lambda each: zlib.crc32(each.encode() + data),
    )
    for shape in shapes[:_SHAPES]:
        other = scheme.storing({resource: shape})
        kept = reloaded(scheme, other.to_storage(document))
        again = reloaded(scheme, other.to_storage(edited, kept))
        for one, two in ((base, kept), (scheme.to_storage(edited, base), again)):
            for each in some_versions(scheme, resource, data):
                for place in differences(view(scheme, one, each), view(scheme, two, each)):
                    raise LawBroken(
                        "whichever storage version is kept, the same is read",
                        resource,
                        (version, shape, each),
                        path=shown(place.path),
                        expected=place.one,
                        found=place.other,
                        context=context_of(scheme, stored=one, kept=two)(),
                    )


def _stored_in(scheme: Scheme, resource: str, version: str) -> bool:
    """Whether a store may keep a version's shape; of those that no release has stored it only reads."""
    try:
        scheme.storing({resource: version})
    except UnknownVersionError:
        return False
    return True
