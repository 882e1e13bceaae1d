"""The law that fused conversions agree with those of neighbours, one after the other."""

import itertools
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from trundle.runtime import Scheme
from trundle.verify._broken import MISSING, Difference, LawBroken, differences, same, shown, tree
from trundle.verify._seen import context_of, equal, lacking_in, named
from trundle.verify._stored import read_document

_LAW = "hop by hop agrees with fused"


def law_hops(
    scheme: Scheme,
    document: Any,
    way: Sequence[str],
    hop: Callable[[bytes, str, str], bytes],
    written: AbstractSet[str] = frozenset(),
) -> None:
    """Going from neighbour to neighbour leads to the same as going straight.

    Compared is what every version on the way can express: what is left of the document after a walk to the
    end of the way and back. Without a stored object, each version on the way drops the rest.

    The reference requires nothing, so that it takes an object out of free-form data that lacks something required. No
    version does: where the walk ends with such an object, the straight way may show nothing, or what stands for it.

    Args:
        scheme: the scheme of the generated package.
        document: a valid object of the first version of the way.
        way: versions, each a neighbour of the one before.
        hop: converts a document from one version to a neighbour, by these two versions alone.
        written: names of properties that hooks beyond the way derive from the stored object; these are not compared.
    """
    resource, _ = named(scheme, document)
    data = _walked(scheme.encode(document), [*way, *reversed(way[:-1])], hop)
    known = read_document(scheme, data)
    walked = read_document(scheme, _walked(data, way, hop))
    straight = scheme.convert(known, way[-1])
    ends = [
        scheme.encode(scheme.from_storage(scheme.to_storage(each), way[-1]))
        for each in (walked, straight)  # with what the last version shows for requiring it
    ]
    lacking = lacking_in(scheme, walked)
    silent = False
    for each in differences(*map(tree, ends)):
        if not written.isdisjoint(each.path) or _lacks(each, lacking):
            silent = True
            continue
        raise LawBroken(
            _LAW,
            resource,
            tuple(way),
            path=shown(each.path),
            expected=each.one,
            found=each.other,
            context=context_of(scheme, known=known, walked=walked)(),
        )
    if not silent:
        equal(
            _LAW,
            (resource, tuple(way)),
            ends[0],
            ends[1],
            context_of(scheme, known=known, walked=walked),
        )


def _lacks(difference: Difference, lacking: Sequence[str]) -> bool:
    """Whether the straight way just leaves out or completes what lacks something required at the end of the walk."""
    path, walked, straight = difference
    if walked is MISSING:
        return shown(path) in lacking
    if not (isinstance(walked, list) and isinstance(straight, list)):
        return straight is MISSING and _among(path, lacking)
    kept = [each for n, each in enumerate(walked) if not _among((*path, n), lacking)]
    return same(kept, straight)


def _among(path: tuple[str | int, ...], lacking: Sequence[str]) -> bool:
    """Whether something is lacking at a place or inside of it."""
    place = shown(path)
    return any(
        each.startswith(place) and each[len(place) :][:1] in {"", ".", "["} for each in lacking
    )


def _walked(data: bytes, way: Sequence[str], hop: Callable[[bytes, str, str], bytes]) -> bytes:
    for one, other in itertools.pairwise(way):
        data = hop(data, one, other)
    return data
