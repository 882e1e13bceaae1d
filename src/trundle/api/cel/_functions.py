"""The functions that Kubernetes adds to CEL, as far as the library has none of the kind.

Source: https://kubernetes.io/docs/reference/using-api/cel/. Where a function gives something that CEL has no type for, such as a quantity,
it is a map with one key here, by which the functions that take it know it. What a function raises is the error of the rule.

Not there: `indexOf` and `lastIndexOf` of lists, whose names the library keeps for texts, and `format`, which gives optional values.
"""

import ipaddress
import re
import urllib.parse
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from cel_expr_python import cel

from trundle.runtime import read_quantity

_Value: TypeAlias = Mapping[str, Any]
_Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

_T = cel.Type
_QUANTITY, _URL, _IP, _CIDR, _SEMVER = "quantity", "url", "ip", "cidr", "semver"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_LOCAL_GROUPS_4, _LOCAL_GROUPS_6 = map(ipaddress.ip_network, ("224.0.0.0/24", "ff02::/16"))
_NUMBER = r"(0|[1-9]\d*)"
_WORD = r"[0-9A-Za-z-]+"
_SEMANTIC = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-(?P<pre>{_WORD}(\.{_WORD})*))?(\+{_WORD}(\.{_WORD})*)?",
    re.ASCII,
)


def functions() -> list[cel.FunctionDecl]:
    """What rules may call."""
    return [cel.FunctionDecl(name, overloads) for name, overloads in _overloads().items()]


def _overloads() -> dict[str, list[cel.Overload]]:
    found: dict[str, list[cel.Overload]] = {}

    def of(
        name: str, does: Callable[..., Any], gives: cel.Type, *takes: cel.Type, member: bool = True
    ) -> None:
        overloads = found.setdefault(name, [])
        overloads.append(
            cel.Overload(
                id=f"trundle_{name.replace('.', '_')}_{len(overloads)}",
                return_type=gives,
                parameters=list(takes),
                is_member=member,
                impl=does,
            )
        )

    _add_lists(of)
    _add_texts(of)
    _add_quantities(of)
    _add_networks(of)
    return found


_Add: TypeAlias = Callable[..., None]


def _add_lists(of: _Add) -> None:
    of("isSorted", lambda each: list(each) == sorted(each), _T.BOOL, _T.LIST)
    of("sum", sum, _T.DYN, _T.LIST)
    of("min", min, _T.DYN, _T.LIST)
    of("max", max, _T.DYN, _T.LIST)


def _add_texts(of: _Add) -> None:
    of("find", _find, _T.STRING, _T.STRING, _T.STRING)
    of("findAll", _find_all, _T.LIST, _T.STRING, _T.STRING)
    of("findAll", _find_all, _T.LIST, _T.STRING, _T.STRING, _T.INT)
    of("url", _url, _T.MAP, _T.STRING, member=False)
    of("isURL", _is(_url), _T.BOOL, _T.STRING, member=False)
    for name, part in _PARTS_OF_URLS.items():
        of(name, lambda each, part=part: part(urllib.parse.urlsplit(each[_URL])), _T.STRING, _T.MAP)
    of("getQuery", _query, _T.MAP, _T.MAP)


def _add_quantities(of: _Add) -> None:
    of("quantity", _quantity, _T.MAP, _T.STRING, member=False)
    of("isQuantity", _is(_quantity), _T.BOOL, _T.STRING, member=False)
    of("semver", _semver, _T.MAP, _T.STRING, member=False)
    of("isSemver", _is(_semver), _T.BOOL, _T.STRING, member=False)
    for place, name in enumerate(("major", "minor", "patch")):
        of(name, lambda each, place=place: int(_release(each[_SEMVER])[0][place]), _T.INT, _T.MAP)
    of("isLessThan", lambda one, two: _order(one, two) < 0, _T.BOOL, _T.MAP, _T.MAP)
    of("isGreaterThan", lambda one, two: _order(one, two) > 0, _T.BOOL, _T.MAP, _T.MAP)
    of("compareTo", _order, _T.INT, _T.MAP, _T.MAP)
    of("sign", lambda each: _sign(_amount(each)), _T.INT, _T.MAP)
    of("isInteger", lambda each: _amount(each).denominator == 1, _T.BOOL, _T.MAP)
    of("asInteger", _as_integer, _T.INT, _T.MAP)
    of("asApproximateFloat", lambda each: float(_amount(each)), _T.DOUBLE, _T.MAP)
    for other in (_T.MAP, _T.INT):
        of("add", lambda one, two: _made(_amount(one) + _amount(two)), _T.MAP, _T.MAP, other)
        of("sub", lambda one, two: _made(_amount(one) - _amount(two)), _T.MAP, _T.MAP, other)


def _add_networks(of: _Add) -> None:
    of("ip", lambda text: {_IP: str(_address(text))}, _T.MAP, _T.STRING, member=False)
    of("isIP", _is(_address), _T.BOOL, _T.STRING, member=False)
    of("ip.isCanonical", lambda text: str(_address(text)) == text, _T.BOOL, _T.STRING, member=False)
    of("family", lambda each: _address(each[_IP]).version, _T.INT, _T.MAP)
    for name, has in _KINDS_OF_ADDRESSES.items():
        of(name, lambda each, has=has: has(_address(each[_IP])), _T.BOOL, _T.MAP)
    of("cidr", lambda text: {_CIDR: _network(text) and text}, _T.MAP, _T.STRING, member=False)
    of("isCIDR", _is(_network), _T.BOOL, _T.STRING, member=False)
    of("ip", lambda each: {_IP: each[_CIDR].partition("/")[0]}, _T.MAP, _T.MAP)
    of("masked", lambda each: {_CIDR: str(_network(each[_CIDR]))}, _T.MAP, _T.MAP)
    of("prefixLength", lambda each: _network(each[_CIDR]).prefixlen, _T.INT, _T.MAP)
    for name, key, reads in (
        ("containsIP", _IP, _single),
        ("containsCIDR", _CIDR, _network),
    ):
        of(
            name,
            lambda each, other, reads=reads: _contains(each, reads(other)),
            _T.BOOL,
            _T.MAP,
            _T.STRING,
        )
        of(
            name,
            lambda each, other, key=key, reads=reads: _contains(each, reads(other[key])),
            _T.BOOL,
            _T.MAP,
            _T.MAP,
        )


def _is(reads: Callable[[str], object]) -> Callable[[str], bool]:
    """Whether a text is what a function reads."""

    def does(text: str) -> bool:
        try:
            reads(text)
        except ValueError:
            return False
        return True

    return does


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise ValueError(f"invalid regular expression: {error}") from None


def _find(text: str, pattern: str) -> str:
    match = _pattern(pattern).search(text)
    return match.group() if match else ""


def _find_all(text: str, pattern: str, most: int = -1) -> list[str]:
    found: Iterator[str] = (each.group() for each in _pattern(pattern).finditer(text))
    return [each for place, each in enumerate(found) if most < 0 or place < most]


def _url(text: str) -> _Value:
    """A URL with a scheme, or an absolute path, as `url.ParseRequestURI` of Go reads it."""
    parts = urllib.parse.urlsplit(text)
    if (
        any(each <= " " or each == "\x7f" for each in text)
        or not (_SCHEME.match(text) or text.startswith("/"))
        or (parts.port is None and parts.netloc.rpartition("@")[2].endswith(":x"))
    ):
        raise ValueError(f"invalid URI for request: {text}")
    return {_URL: text}


_PARTS_OF_URLS: Mapping[str, Callable[[urllib.parse.SplitResult], str]] = {
    "getScheme": lambda parts: parts.scheme,
    "getHost": lambda parts: parts.netloc.rpartition("@")[2],
    "getHostname": lambda parts: (
        parts.netloc.rpartition("@")[2].rpartition(":")[0].strip("[]")
        if parts.port is not None
        else parts.netloc.rpartition("@")[2].strip("[]")
    ),
    "getPort": lambda parts: "" if parts.port is None else str(parts.port),
    "getEscapedPath": lambda parts: urllib.parse.quote(parts.path, safe="/%:@!$&'()*+,;=~-._"),
}


def _query(each: _Value) -> dict[str, list[str]]:
    parts = urllib.parse.urlsplit(each[_URL])
    return urllib.parse.parse_qs(parts.query, keep_blank_values=True)


def _quantity(text: str) -> _Value:
    number = read_quantity(text)
    if number is None:
        raise ValueError("quantities must match the regular expression of Kubernetes' quantities")
    return _made(Fraction(number))


def _made(number: Fraction) -> _Value:
    """A quantity in one spelling, so that equal ones are equal."""
    return {_QUANTITY: str(number)}


def _amount(each: _Value | int) -> Fraction:
    return Fraction(each if isinstance(each, int) else each[_QUANTITY])


def _as_integer(each: _Value) -> int:
    number = _amount(each)
    if number.denominator != 1:
        raise ValueError("cannot convert value to integer")
    return int(number)


def _sign(number: Fraction) -> int:
    return (number > 0) - (number < 0)


def _semver(text: str) -> _Value:
    if not _SEMANTIC.fullmatch(text):
        raise ValueError(f"invalid semantic version: {text}")
    return {_SEMVER: text}


def _release(text: str) -> tuple[tuple[int, ...], Sequence[tuple[int, int, str]]]:
    """What semantic versions are ordered by."""
    match = _SEMANTIC.fullmatch(text)
    if match is None:
        raise ValueError(f"invalid semantic version: {text}")
    numbers = tuple(int(each) for each in match.groups()[:3])
    if match["pre"] is None:
        return numbers, [(2, 0, "")]
    parts = match["pre"].split(".")
    return numbers, [(0, int(each), "") if each.isdecimal() else (1, 0, each) for each in parts]


def _order(one: _Value, two: _Value) -> int:
    if _SEMVER in one:
        ours, theirs = _release(one[_SEMVER]), _release(two[_SEMVER])
        return (ours > theirs) - (ours < theirs)
    return _sign(_amount(one) - _amount(two))


def _address(text: str) -> _Address:
    """An address, as Kubernetes reads it: without a zone, and none of IPv4 in the form of IPv6."""
    found = ipaddress.ip_address(text)
    if "%" in text or (isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped):
        raise ValueError(f"IP Address {text} parse error during conversion from string")
    return found


def _network(text: str) -> _Network:
    if not re.fullmatch(r".*/(0|[1-9]\d*)", text, re.ASCII):
        raise ValueError(f"network address parse error during conversion from string: {text}")
    return ipaddress.ip_network(text, strict=False)


def _single(text: str) -> _Network:
    """An address as the network that holds it alone."""
    return ipaddress.ip_network(str(_address(text)))


def _contains(each: _Value, other: _Network) -> bool:
    network = _network(each[_CIDR])
    if isinstance(network, ipaddress.IPv4Network) and isinstance(other, ipaddress.IPv4Network):
        return other.subnet_of(network)
    if isinstance(network, ipaddress.IPv6Network) and isinstance(other, ipaddress.IPv6Network):
        return other.subnet_of(network)
    return False


_KINDS_OF_ADDRESSES: Mapping[str, Callable[[_Address], bool]] = {
    "isUnspecified": lambda each: each.is_unspecified,
    "isLoopback": lambda each: each.is_loopback,
    "isLinkLocalMulticast": lambda each: (
        each in (_LOCAL_GROUPS_4 if isinstance(each, ipaddress.IPv4Address) else _LOCAL_GROUPS_6)
    ),
    "isLinkLocalUnicast": lambda each: each.is_link_local,
    "isGlobalUnicast": lambda each: (
        not (each.is_unspecified or each.is_loopback or each.is_multicast or each.is_link_local)
        and str(each) != "255.255.255.255"
    ),
}
