"""Values as JSON: their decoders, their text, and whether two have the same."""

from collections.abc import Callable
from typing import Any

import msgspec

from trundle.runtime._by_class import once
from trundle.runtime._first_use import FIRST_USE
from trundle.runtime._objects import ABSENT


def same(one: Any, other: Any) -> bool:
    """Whether two values are the same to the byte."""
    if one is other:
        return True
    if one is ABSENT or other is ABSENT:
        return False
    if type(one) in _SCALARS and type(other) in _SCALARS:
        return type(one) is type(other) and bool(one == other)
    return encode(one) == encode(other)


_SCALARS = frozenset({str, int, bool, type(None)})
"""What is written alike where it is equal; 0.0 and -0.0 are not."""


encode: Callable[[Any], bytes] = msgspec.json.Encoder().encode
"""The compact JSON of a value; unknown and additional properties stay under their own names."""


def new_decoder(type_: Any) -> msgspec.json.Decoder[Any]:
    """A decoder of a type, to be kept. What `msgspec.convert` needs of a class is known after that, too."""
    with FIRST_USE:
        return msgspec.json.Decoder(type_)


decoder: Callable[[Any], msgspec.json.Decoder[Any]] = once(new_decoder)
"""The decoder of a type, made once."""
