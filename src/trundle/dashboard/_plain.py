"""JSON as plain values and back; numbers with a fraction are decimal numbers, so that they are written as they were read."""

from decimal import Decimal
from typing import Any

import msgspec

_decode = msgspec.json.Decoder(float_hook=Decimal).decode
_encode = msgspec.json.Encoder(decimal_format="number").encode


def values_of(data: bytes) -> Any:
    """JSON as values."""
    return _decode(data)


def text_of(value: Any) -> bytes:
    """Values as JSON."""
    return _encode(value)
