"""Which elements of a stored list a writer sees, where a conversion leaves some of them out.

What a writer sees of a stored object is converted back to find what it has edited. A list in which elements were left
out keeps, on both ways, the places of those that were not; elements that look alike are distinguished by nothing else.
"""

from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from typing import Any

PLACING: ContextVar[bool] = ContextVar("PLACING", default=False)
"""Whether lists are to note which elements of a stored object's lists they have."""


class Placed(list[Any]):
    """Elements that were converted from some of those of a stored list.

    Attributes:
        whole: the stored list.
        places: where each was converted from.
    """

    __slots__ = ("places", "whole")

    def __init__(self, items: Iterable[Any], whole: Sequence[Any], places: list[int]) -> None:
        super().__init__(items)
        self.whole = whole
        self.places = places


def placed(items: list[Any], places: list[int], whole: Any) -> list[Any]:
    """Elements with the places in another list that they were converted from, as far as that is asked for."""
    if type(whole) is Placed:
        return Placed(items, whole.whole, [whole.places[each] for each in places])
    return Placed(items, whole, places) if PLACING.get() else items


def is_placing(whole: Any) -> bool:
    """Whether elements that are converted from a list are to keep their places."""
    return type(whole) is Placed or (isinstance(whole, list) and PLACING.get())


def places_in(stored: Sequence[Any], before: Sequence[Any]) -> list[int] | None:
    """Where the elements that a writer sees stand in a stored list; None where that is not known."""
    return before.places if type(before) is Placed and before.whole is stored else None
