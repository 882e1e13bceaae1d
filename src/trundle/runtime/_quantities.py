"""Kubernetes quantities and numbers, as `k8s.io/apimachinery/pkg/api/resource` reads and writes them.

A quantity is a decimal number with a suffix: `n u m k M G T P E` for powers of a thousand, `Ki Mi Gi Ti Pi Ei` for
powers of 1024, or an exponent as in `1e3`. What Kubernetes would round or cut has no counterpart here: a number
finer than a billionth, and one beyond 64 bits.
"""

import re
from collections.abc import Mapping
from fractions import Fraction

from trundle.runtime._numbers import LONGEST, Exact, whole

_QUANTITY = re.compile(
    r"(?P<sign>[-+]?)(?P<number>\d+\.?\d*|\.\d+)(?:(?P<suffix>[KMGTPE]i|[numkMGTPE])|[eE](?P<exponent>[-+]?\d+))?",
    re.ASCII,
)
_DECIMAL: Mapping[str, int] = {
    "n": -9,
    "u": -6,
    "m": -3,
    "": 0,
    "k": 3,
    "M": 6,
    "G": 9,
    "T": 12,
    "P": 15,
    "E": 18,
}
"""Powers of ten by suffix."""
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
"""Suffixes in the order of the powers of 1024."""
_MOST = 2**63 - 1
_FINEST = 10**9
_MOST_DIGITS = 4
"""How many digits of an exponent are read; more of them leave what a quantity can be."""


def read_quantity(text: str) -> Exact | None:
    """The number that a quantity stands for; None where it is no quantity, or is one only after rounding."""
    match = _QUANTITY.fullmatch(text) if len(text) <= LONGEST else None
    if match is None or len(exponent := match["exponent"] or "0") > _MOST_DIGITS:
        return None
    before, _, after = match["number"].partition(".")
    number = Fraction(int(before + after), 10 ** len(after)) * _power(int(exponent))
    suffix = match["suffix"] or ""
    if suffix in _BINARY:
        number *= 1024 ** _BINARY.index(suffix)
    else:
        number *= _power(_DECIMAL[suffix])
    return whole(-number if match["sign"] == "-" else number) if _fits(number) else None


def write_quantity(number: Exact) -> str | None:
    """The canonical quantity with decimal suffixes: `100m`, `1500`, `2k`; None where it would be rounded."""
    if not _fits(number):
        return None
    if number == 0:
        return "0"
    suffix = max(
        (name for name, power in _DECIMAL.items() if (number / _power(power)).denominator == 1),
        key=_DECIMAL.__getitem__,
    )
    return f"{int(number / _power(_DECIMAL[suffix]))}{suffix}"


def write_bytes(number: Exact) -> str | None:
    """The canonical quantity with binary suffixes: `1Gi`; None where it would be rounded.

    A number with a fraction, and one below 1024, is written with decimal suffixes.
    """
    if number.denominator != 1 or -1024 < number < 1024 or not _fits(number):  # noqa: PLR2004 - one Ki
        return write_quantity(number)
    count, power = int(number), 0
    while count % 1024 == 0:
        count, power = count // 1024, power + 1
    return f"{count}{_BINARY[power]}"


def _power(exponent: int) -> Fraction:
    """A power of ten."""
    return Fraction(10**exponent) if exponent >= 0 else Fraction(1, 10**-exponent)


def _fits(number: Exact) -> bool:
    return -_MOST <= number <= _MOST and (number * _FINEST).denominator == 1
