"""The formats of texts that API servers know otherwise than JSON Schema, or beside it.

Source: `strfmt` of go-openapi, as `apiextensions-apiserver` uses it.
"""

import ipaddress
import re
from collections.abc import Callable, Mapping

from trundle.cel import format_errors

_GO_DURATION = re.compile(r"[-+]?(0|((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)", re.ASCII)
_ISO_DURATION = re.compile(
    r"P(?=.)(\d+W|(\d+Y)?(\d+M)?(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?)", re.ASCII
)
_IN_WORDS = re.compile(
    r"\d+\s*(ns|nano[A-Z]*|us|µs|micro[A-Z]*|ms|milli[A-Z]*|s|sec[A-Z]*|m|min[A-Z]*|h|hr|hour[A-Z]*|d|day[A-Z]*|w|wk|week[A-Z]*)"
    "(?![A-Zµ])",
    re.ASCII | re.IGNORECASE,
)
"""A part of a duration such as `2 weeks` or `1d`; what stands around it is passed over."""


def is_go_duration(text: str) -> bool:
    """Whether a text is a duration as API servers write it, such as `1h30m`."""
    return bool(_GO_DURATION.fullmatch(text))


def _is_duration(text: str) -> bool:
    """Whether a text is a duration: `1h30m`, `2 days`, or as JSON Schema writes it, `PT1H30M`."""
    known = _GO_DURATION.fullmatch(text) or _ISO_DURATION.fullmatch(text)
    return bool(known or _IN_WORDS.search(text))


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_interface(text)
    except ValueError:
        return False
    return "/" in text


def _like(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern, re.ASCII | re.IGNORECASE)
    return lambda text: bool(compiled.fullmatch(text))


def _named(name: str) -> Callable[[str], bool]:
    return lambda text: not format_errors(name, text)


def _uuid(version: str) -> Callable[[str], bool]:
    third = rf"{version}[0-9a-f]{{3}}"
    fourth = "[89ab][0-9a-f]{3}" if version in {"4", "5"} else "[0-9a-f]{4}"
    return _like(rf"[0-9a-f]{{8}}-?[0-9a-f]{{4}}-?{third}-?{fourth}-?[0-9a-f]{{12}}")


FORMATS: Mapping[str, Callable[[str], bool]] = {
    "bsonobjectid": _like("[0-9a-f]{24}"),
    "byte": _named("byte"),
    "cidr": _is_network,
    "datetime": _named("datetime"),
    "duration": _is_duration,
    "hexcolor": _like("#?([0-9a-f]{3}|[0-9a-f]{6})"),
    "k8s-long-name": _named("dns1123Subdomain"),
    "k8s-short-name": _named("dns1123Label"),
    "mac": _like(
        r"[0-9a-f]{2}(([:-])[0-9a-f]{2}(\2[0-9a-f]{2}){4}|[0-9a-f]{2}(\.[0-9a-f]{4}){2}|[0-9a-f]{10})"
    ),
    "ssn": _like(r"\d{3}[- ]\d{2}[- ]\d{4}"),
    "uuid": _named("uuid"),
    **{f"uuid{version}": _uuid(version) for version in "345"},
}
"""Whether a text is of a format, by its name."""
