"""The order of what has others before it: ancestors of a class, objects that go."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


def each_after(roots: Iterable[T], before: Mapping[T, Sequence[T]]) -> Iterator[T]:
    """Each of some things, and of all that is before them, once: after what is before it, from left to right.

    Args:
        roots: the things; a circle begins with the one of it that is reached first.
        before: what is before each thing.
    """
    seen: set[T] = set()
    for root in roots:
        left = [(root, False)]
        while left:
            each, is_done = left.pop()
            if is_done:
                yield each
            elif each not in seen:
                seen.add(each)
                left.append((each, True))
                left.extend((other, False) for other in reversed(before[each]))
