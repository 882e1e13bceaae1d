"""Plain values: what JSON has."""

from typing import Final

import msgspec

from trundle.api.apply._fields import Json

_ENCODE = msgspec.json.Encoder(decimal_format="number").encode


class Absent:
    """That there is no value, which is something else than null."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent()


def same(one: Json, other: Json) -> bool:
    """Whether two values are the same JSON; `1` and `1.0` are, `1` and `true` are not."""
    return bool(one == other) and _alike(one, other)


def _alike(one: Json, other: Json) -> bool:
    """Whether two equal values are the same JSON: for Python, `1` equals `true`."""
    match one, other:
        case dict(), dict():
            return all(_alike(one[key], other[key]) for key in one)
        case list(), list():
            return all(map(_alike, one, other))
        case _:
            return isinstance(one, bool) == isinstance(other, bool)


def plainly_same(one: Json, other: Json) -> bool:
    """Whether two values are the same at first sight: quick, and sometimes wrong where they are the same."""
    if one is other:
        return True
    if isinstance(one, str):  # It equals no other kind of value.
        return bool(one == other)
    return bool(one == other) and _ENCODE(one) == _ENCODE(other)
