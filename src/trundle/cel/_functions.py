"""The functions that Kubernetes adds to CEL, as far as the library has none of the kind.

Source: https://kubernetes.io/docs/reference/using-api/cel/. Where a function gives something that CEL has no type for, such as a quantity,
it is a map with one key here, by which the functions that take it know it. What a function raises is the error of the rule.

What gives an optional value gives a list with nothing or that value in it (see `as_read`).
"""

import functools
import ipaddress
import re
import urllib.parse
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from cel_expr_python import cel

from trundle.cel._formats import FORMATS, format_errors
from trundle.cel._spelling import INDEX_PREFIX
from trundle.runtime import read_quantity
from trundle.version import SemVer

_Value: TypeAlias = Mapping[str, Any]
_Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

_T = cel.Type
_QUANTITY, _URL, _IP, _CIDR, _SEMVER = "quantity", "url", "ip", "cidr", "semver"
_FORMAT = "format"
_NUMBERS_OF_VERSIONS = 3
_VALUES = (
    *(_T.BOOL, _T.BYTES, _T.DOUBLE, _T.DURATION, _T.INT, _T.LIST, _T.MAP, _T.NULL, _T.STRING),
    *(_T.TIMESTAMP, _T.UINT),
)
_LOCAL_GROUPS_4, _LOCAL_GROUPS_6 = map(ipaddress.ip_network, ("224.0.0.0/24", "ff02::/16"))
_GROUP = re.compile(
    r"\\Q.*?(?:\\E|\Z)|\\.|\[\^?\]?(?:\\.|\[:[a-z^]+:\]|[^\]\\])*\]|\((?:\?P?<\w+>)?(?!\?)",
    re.DOTALL,
)
"""A group of a pattern that has a number, or what only looks like one in a text or in brackets."""


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
    for element in _VALUES:
        of(f"{INDEX_PREFIX}indexOf", _index, _T.INT, _T.LIST, element)
        of(f"{INDEX_PREFIX}lastIndexOf", _last_index, _T.INT, _T.LIST, element)


def _add_texts(of: _Add) -> None:
    of("find", _find, _T.STRING, _T.STRING, _T.STRING)
    of("findAll", _find_all, _T.LIST, _T.STRING, _T.STRING)
    of("findAll", _find_all, _T.LIST, _T.STRING, _T.STRING, _T.INT)
    for more in ((), (_T.INT,)):
        of(f"{INDEX_PREFIX}indexOf", _place, _T.INT, _T.STRING, _T.STRING, *more)
        of(f"{INDEX_PREFIX}lastIndexOf", _last_place, _T.INT, _T.STRING, _T.STRING, *more)
    of("format.named", _named_format, _T.LIST, _T.STRING, member=False)
    for name in FORMATS:
        of(f"format.{name}", lambda name=name: {_FORMAT: name}, _T.MAP, member=False)
    of("validate", _against_format, _T.LIST, _T.MAP, _T.STRING)
    of("url", _url, _T.MAP, _T.STRING, member=False)
    of("isURL", _is(_url), _T.BOOL, _T.STRING, member=False)
    for name, part in _PARTS_OF_URLS.items():
        of(name, lambda each, part=part: part(urllib.parse.urlsplit(each[_URL])), _T.STRING, _T.MAP)
    of("getQuery", _query, _T.MAP, _T.MAP)


def _add_quantities(of: _Add) -> None:
    of("quantity", _quantity, _T.MAP, _T.STRING, member=False)
    of("isQuantity", _is(_quantity), _T.BOOL, _T.STRING, member=False)
    for more in ((), (_T.BOOL,)):
        of("semver", _semver, _T.MAP, _T.STRING, *more, member=False)
        of("isSemver", _is(_semver), _T.BOOL, _T.STRING, *more, member=False)
    for name in ("major", "minor", "patch"):
        of(name, lambda each, name=name: getattr(SemVer.parse(each[_SEMVER]), name), _T.INT, _T.MAP)
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


def _same(one: Any, two: Any) -> bool:
    """Whether two values are equal for CEL: numbers are of any type, and `true` is no number."""
    if isinstance(one, bool) or isinstance(two, bool):
        return one is two
    if isinstance(one, Mapping) and isinstance(two, Mapping):
        return one.keys() == two.keys() and all(_same(one[key], two[key]) for key in one)
    if isinstance(one, str | bytes) or not isinstance(one, Sequence):
        return bool(one == two)
    is_list = isinstance(two, Sequence) and not isinstance(two, str | bytes)
    return is_list and len(one) == len(two) and all(map(_same, one, two))


def _index(values: Sequence[Any], value: object) -> int:
    return next((place for place, each in enumerate(values) if _same(each, value)), -1)


def _last_index(values: Sequence[Any], value: object) -> int:
    places = (place for place, each in enumerate(values) if _same(each, value))
    return max(places, default=-1)


def _place(text: str, part: str, start: int = 0) -> int:
    if not part:
        return start
    return text.find(part, _in_range(start))


def _last_place(text: str, part: str, start: int | None = None) -> int:
    if start is None:
        return text.rfind(part)
    if not part:
        return start
    return -1 if start >= len(text) else text.rfind(part, 0, _in_range(start) + len(part))


def _in_range(start: int) -> int:
    if start < 0:
        raise ValueError(f"index out of range: {start}")
    return start


def _named_format(name: str) -> list[_Value]:
    return [{_FORMAT: name}] if name in FORMATS else []


def _against_format(form: _Value, text: str) -> list[list[str]]:
    found = format_errors(form[_FORMAT], text)
    return [list(found)] if found else []


def _is(reads: Callable[..., object]) -> Callable[..., bool]:
    """Whether a text is what a function reads."""

    def does(text: str, *more: object) -> bool:
        try:
            reads(text, *more)
        except ValueError:
            return False
        return True

    return does


@functools.cache
def _matches() -> Any:
    """The matches of a pattern in a text, by the library: its time grows with the text alone, whatever the pattern is."""
    config = "name: patterns\nextensions: [{name: optional}, {name: regex}]\n"
    variables = {"text": _T.STRING, "pattern": _T.STRING}
    environment = cel.NewEnv(config=cel.NewEnvConfigFromYaml(config), variables=variables)
    return environment.compile("regex.extractAll(text, pattern)")


def _find_all(text: str, pattern: str, most: int = -1) -> list[str]:
    # With groups that have numbers, the library gives these.
    whole = _GROUP.sub(lambda each: "(?:" if each[0].startswith("(") else each[0], pattern)
    found = _matches().eval(data={"text": text, "pattern": whole})
    if found.type() == _T.ERROR:
        raise ValueError(found.plain_value())
    matches: list[str] = found.plain_value()
    return matches if most < 0 else matches[:most]


def _find(text: str, pattern: str) -> str:
    return next(iter(_find_all(text, pattern, 1)), "")


def _url(text: str) -> _Value:
    """A URL with a scheme, or an absolute path."""
    for each in format_errors("uri", text):
        raise ValueError(f"URL parse error during conversion from string: {each}")
    return {_URL: text}


def _port(parts: urllib.parse.SplitResult) -> int | None:
    """The port of a URL; None where it has none.

    Raises:
        ValueError: it is no port.
    """
    return parts.port


def _host(parts: urllib.parse.SplitResult) -> str:
    """The host of a URL with its port."""
    return parts.netloc.rpartition("@")[2]


def _hostname(parts: urllib.parse.SplitResult) -> str:
    host = _host(parts)
    return (host if _port(parts) is None else host.rpartition(":")[0]).strip("[]")


_PARTS_OF_URLS: Mapping[str, Callable[[urllib.parse.SplitResult], str]] = {
    "getScheme": lambda parts: parts.scheme,
    "getHost": _host,
    "getHostname": _hostname,
    "getPort": lambda parts: "" if _port(parts) is None else str(_port(parts)),
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


def _semver(text: str, lenient: bool = False) -> _Value:  # noqa: FBT001, FBT002 - as in rules
    found = _completed(text) if lenient else text
    SemVer.parse(found)
    return {_SEMVER: found}


def _completed(text: str) -> str:
    """A version without a `v` before it and without zeros before its numbers, and with all three of these."""
    parts = text.removeprefix("v").split(".", 2)
    if len(parts) < _NUMBERS_OF_VERSIONS and re.search("[-+]", parts[-1]):
        raise ValueError("short version cannot contain PreRelease/Build meta data")
    parts = [re.sub("^0+(?=[0-9])", "", each) for each in parts]
    return ".".join([*parts, "0", "0"][:_NUMBERS_OF_VERSIONS])


def _order(one: _Value, two: _Value) -> int:
    if _SEMVER in one:
        ours, theirs = (SemVer.parse(each[_SEMVER]).precedence for each in (one, two))
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
