"""Exact numbers between texts and the numbers of JSON."""

from fractions import Fraction
from typing import Any, TypeAlias

from trundle.runtime._objects import ABSENT

Exact: TypeAlias = int | Fraction
"""A number without any rounding."""

LONGEST = 4300
"""How many digits Python reads as an integer by default; documents have no longer ones."""


def whole(value: Fraction) -> Exact:
    """An integer where the number is one, else the number itself."""
    return value.numerator if value.denominator == 1 else value


def from_number(value: Any) -> Exact | None:
    """The exact number that a number of JSON is written as; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and fit_finite(value) is not ABSENT:
        return whole(Fraction(repr(value)))
    return None


def to_number(value: Exact) -> Any:
    """A number of JSON whose text is an exact number; absent where no float is written as it."""
    if isinstance(value, int):
        return value
    try:
        found = value.numerator / value.denominator
    except OverflowError:
        return ABSENT
    return found if Fraction(repr(found)) == value else ABSENT


def fit_finite(value: float) -> Any:
    """A float, or absent where it is infinite or no number."""
    return value if value - value == 0 else ABSENT
