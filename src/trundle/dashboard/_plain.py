"""JSON as plain values and back; numbers with a fraction are decimal numbers, so that they are written as they were read."""

import re
from decimal import Decimal
from typing import Any

import msgspec

_decode = msgspec.json.Decoder(float_hook=Decimal).decode
_encode = msgspec.json.Encoder(decimal_format="number").encode
_NOT_SHOWN = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Controls, marks of direction and separators of lines: in a text of JSON they only stand within strings."""


def values_of(data: bytes) -> Any:
    """JSON as values."""
    return _decode(data)


def text_of(value: Any) -> bytes:
    """Values as JSON."""
    return _encode(value)


def shown_text(value: Any) -> str:
    """Values as JSON to be looked at: what changes the direction of the text around it, or ends a line, is escaped."""
    return _NOT_SHOWN.sub(lambda found: f"\\u{ord(found[0]):04x}", text_of(value).decode())
