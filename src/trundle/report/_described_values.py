"""Values of an enum that a description names as others for ones that stay."""

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

_POINT = re.compile(r"\n\s*(?:\n|(?=[-*•] ))")
_LATTER = re.compile(
    r"deprecated|renamed|replaced|superseded|(?:old|former|previous) name|alias", re.IGNORECASE
)


def successors(
    described: str, ours: AbstractSet[str], theirs: AbstractSet[str]
) -> Iterator[tuple[str, str]]:
    """Values that are gone, each with the one that the description names for it.

    A point of the description counts that says of one value that it gave way, and names one other value beside it,
    as "`Borrow` (deprecated): old name for `MayStop`" does.

    Args:
        described: the description of the older version.
        ours: the values of the older version.
        theirs: those of the newer version.
    """
    known = ours | theirs
    for point in _POINT.split(described):
        named = {each for each in known if _names(point, each)}
        gone, stays = named - theirs, named & theirs
        if len(gone) == len(stays) == 1 and _LATTER.search(point):
            yield gone.pop(), stays.pop()


def _names(point: str, value: str) -> bool:
    """Whether a text has a value as a word of its own, in the letter case of the schema."""
    return re.search(rf"(?<![\w-]){re.escape(value)}(?![\w-])", point) is not None
