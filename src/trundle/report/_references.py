"""References to objects whose `apiVersion` became a group."""

from collections.abc import Iterator
from typing import NamedTuple

from trundle.evolution import Lineage, Place
from trundle.report._matched_properties import Meeting
from trundle.schema import Nullable, Scalar

VERSION = "apiVersion"
GROUPS = ("group", "apiGroup")
KIND = "kind"


class RegroupedReference(NamedTuple):
    """The properties of a reference to an object.

    Attributes:
        version: the property that has group and version.
        group: the newer property that has the group alone.
    """

    version: str
    group: str


def regrouped(lineage: Lineage, met: tuple[Meeting, ...]) -> Iterator[RegroupedReference]:
    """What became of a reference: it has a kind on both sides, lost its `apiVersion`, and gained a group."""
    stays = any(
        each.older is not None and each.newer is not None and each.older.property == KIND
        for each in met
    )
    gone = [
        each.older for each in met if each.newer is None and _is(lineage, each.older, (VERSION,))
    ]
    came = [each.newer for each in met if each.older is None and _is(lineage, each.newer, GROUPS)]
    if stays and len(gone) == len(came) == 1 and gone[0] and came[0]:
        yield RegroupedReference(gone[0].property, came[0].property)


def _is(lineage: Lineage, place: Place | None, names: tuple[str, ...]) -> bool:
    """Whether a place is a text of one of some names."""
    if place is None or place.property not in names:
        return False
    type_ = lineage.type(place)
    bare = type_.inner if isinstance(type_, Nullable) else type_
    return isinstance(bare, Scalar) and bare.kind == "string"
