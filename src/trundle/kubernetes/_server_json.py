"""What an API server makes of JSON on its way through: it sorts members, and writes numbers anew.

Source: `k8s.io/apimachinery` decodes custom resources into maps, int64 and float64, and encodes those.
"""

import math
from decimal import Decimal
from typing import Any

import msgspec

_INT64 = 2**63


class Spelt:
    """A number with a fraction or an exponent, as it was written."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __float__(self) -> float:
        """The number."""
        return float(self.text)


spelt_values = msgspec.json.Decoder(float_hook=Spelt).decode
"""JSON as values that keep the spelling of numbers."""


values_of = msgspec.json.Decoder(float_hook=Decimal).decode
"""JSON as values that keep the digits of numbers."""


def _written(value: Any) -> msgspec.Raw:
    assert isinstance(value, Spelt)
    return msgspec.Raw(value.text.encode())


json_of = msgspec.json.Encoder(decimal_format="number", enc_hook=_written).encode
"""Values as JSON, numbers with their spelling."""


_ZEROS = bytes.maketrans(b"123456789", b"0" * 9)
_LONG = b"0" * 19


def may_be_long(text: bytes) -> bool:
    """Whether JSON may have an integer that is no int64: it has as many digits in a row."""
    return _LONG in text.translate(_ZEROS)  # A regular expression takes twenty times as long.


class _OddError(Exception):
    """A number that Go writes in another way than msgspec."""


_MOST_DIGITS, _LEAST = 16, 1e-4
"""With how many characters a number with a fraction, and from where on, is written the same everywhere."""


def _float(text: str) -> float:
    number = float(text)
    odd = len(text) > _MOST_DIGITS or number.is_integer() or abs(number) < _LEAST
    if odd or "e" in text or "E" in text:
        raise _OddError
    return number


_plain = msgspec.json.Decoder(float_hook=_float).decode
_sorted = msgspec.json.Encoder(order="sorted").encode


def passed_json(text: bytes) -> bytes:
    """JSON as it comes back from an API server."""
    return _passed_at_length(text) if may_be_long(text) else passed_without_long(text)


def passed_without_long(text: bytes) -> bytes:
    """The same of JSON in which no integer may be long."""
    try:
        return _sorted(_plain(text))
    except _OddError:
        return _passed_at_length(text)


def _passed_at_length(text: bytes) -> bytes:
    return json_of(passed(values_of(text)))


def passed(value: Any) -> Any:
    """A value as it comes back from an API server, with sorted members."""
    if isinstance(value, dict):
        return {key: passed(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [passed(each) for each in value]
    return _number(value) if _is_number(value) else value


def as_before(value: Any, before: Any) -> Any:
    """A value that came through an API server, with the order of members and the spelling of numbers that it had before, where it is the same.

    Args:
        value: the value.
        before: what went out, and may have been changed by a client since.
    """
    if isinstance(value, dict) and isinstance(before, dict):
        kept = [key for key in before if key in value]
        added = [key for key in value if key not in before]
        return {key: as_before(value[key], before.get(key)) for key in (*kept, *added)}
    if isinstance(value, list) and isinstance(before, list) and len(value) == len(before):
        return [as_before(*each) for each in zip(value, before, strict=True)]
    if _is_number(value) and _is_number(before) and _number(value) == _number(before):
        return before
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal | Spelt) and not isinstance(value, bool)


def _number(value: Any) -> Any:
    """A number as Go reads it, and writes it again; one that no float64 can hold stays as it is."""
    if isinstance(value, int) and -_INT64 <= value < _INT64:
        return value
    number = float(value)
    if not math.isfinite(number):
        return value
    if number.is_integer() and -_INT64 <= number < _INT64:
        return int(number)
    return Decimal(repr(number))
