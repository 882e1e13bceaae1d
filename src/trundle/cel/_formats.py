"""The named formats of texts that Kubernetes has for rules, and what it says of a text that is none; in its words.

Source: the library `format` of `k8s.io/apiserver`, over `k8s.io/apimachinery` and `strfmt`.
"""

import datetime as dt
import json
import re
import urllib.parse
from collections.abc import Callable, Iterator, Mapping, Sequence

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_NAME})?"
_CHARACTERS = "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
_LONGEST, _LONGEST_SUBDOMAIN = 63, 253
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_BASE64 = re.compile(
    "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})"
)
_UUID = re.compile("[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[-+]\d\d:\d\d)", re.ASCII)


def format_errors(name: str, text: str) -> Sequence[str]:
    """What Kubernetes has against a text as one of a format, in its words; empty where it is one.

    Args:
        name: the format's name, one of `FORMATS`.
        text: the text.
    """
    return tuple(FORMATS[name](text))


def _pattern(why: str, pattern: str, *examples: str) -> str:
    """What is said of a text that does not match a pattern."""
    shown = ",  or ".join(f"'{each}'" for each in examples)
    return f"{why} (e.g. {shown}, regex used for validation is '{pattern}')"


def _longest(text: str, most: int, of: str = "characters") -> Iterator[str]:
    if len(text.encode()) > most:
        yield f"must be no more than {most} {of}"


def _label(text: str) -> Iterator[str]:
    yield from _longest(text, _LONGEST)
    if re.fullmatch(_LABEL, text):
        return
    if re.fullmatch(_SUBDOMAIN, text):
        yield "must not contain dots"
        return
    why = (
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an "
        "alphanumeric character"
    )
    yield _pattern(why, _LABEL, "my-name", "123-abc")


def _subdomain(text: str, of: str = "characters") -> Iterator[str]:
    yield from _longest(text, _LONGEST_SUBDOMAIN, of)
    if not re.fullmatch(_SUBDOMAIN, text):
        why = (
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
            "end with an alphanumeric character"
        )
        yield _pattern(why, _SUBDOMAIN, "example.com")


def _label_1035(text: str) -> Iterator[str]:
    yield from _longest(text, _LONGEST)
    if not re.fullmatch(_LABEL_1035, text):
        why = (
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and "
            "end with an alphanumeric character"
        )
        yield _pattern(why, _LABEL_1035, "my-name", "abc-123")


def _label_key(text: str) -> Iterator[str]:
    """What is wrong with a name that may have a domain before it."""
    prefix, slash, name = text.rpartition("/")
    characters = _pattern(f"must {_CHARACTERS}", _NAME, "MyName", "my.name", "123-abc")
    if "/" in prefix:
        end = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        yield f"a valid label key {characters} {end}"
        return
    if slash and not prefix:
        yield "prefix part must be non-empty"
    elif slash:
        yield from (f"prefix part {each}" for each in _subdomain(prefix, "bytes"))
    if name:
        yield from (f"name part {each}" for each in _longest(name, _LONGEST, "bytes"))
    else:
        yield "name part must be non-empty"
    if not re.fullmatch(_NAME, name):
        yield f"name part {characters}"


def _label_value(text: str) -> Iterator[str]:
    yield from _longest(text, _LONGEST, "bytes")
    if not re.fullmatch(_VALUE, text):
        why = f"a valid label must be an empty string or {_CHARACTERS}"
        yield _pattern(why, _VALUE, "MyValue", "my_value", "12345")


def _prefix_of(errors: Callable[[str], Iterator[str]]) -> Callable[[str], Iterator[str]]:
    """What is wrong with the beginning of a name: a hyphen at its end is followed by more."""
    return lambda text: errors(re.sub("(?s).-$", "a", text) if text[-1:] == "-" else text)


def _uri(text: str) -> Iterator[str]:
    """What is wrong with a URL with a scheme, or an absolute path, as `url.ParseRequestURI` of Go reads it."""
    shown = f"parse {json.dumps(text, ensure_ascii=False)}"
    if not text:
        yield f"{shown}: empty url"
    elif any(each < " " or each == "\x7f" for each in text):
        yield f"{shown}: net/url: invalid control character in URL"
    elif " " in text or not (_SCHEME.match(text) or text.startswith("/")):
        yield f"{shown}: invalid URI for request"
    elif port := _wrong_port(text):
        yield f"{shown}: invalid port {json.dumps(port)} after host"


def _wrong_port(url: str) -> str:
    """What a URL has in place of a port that is none; empty where it has a port or none at all."""
    try:
        _ = urllib.parse.urlsplit(url).port
    except ValueError:
        return ":" + url.split("/")[2].rpartition(":")[2]
    return ""


def _uuid(text: str) -> Iterator[str]:
    if not _UUID.fullmatch(text):
        yield "does not match the UUID format"


def _base64(text: str) -> Iterator[str]:
    if not _BASE64.fullmatch(text):
        yield "invalid base64"


def _date(text: str) -> Iterator[str]:
    if not (_DATE.fullmatch(text) and _is_time(text)):
        yield "invalid date"


def _datetime(text: str) -> Iterator[str]:
    if not (_TIME.fullmatch(text) and _is_time(text[:19].upper())):
        yield "invalid datetime"


def _is_time(text: str) -> bool:
    try:
        dt.datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


FORMATS: Mapping[str, Callable[[str], Iterator[str]]] = {
    "dns1123Label": _label,
    "dns1123Subdomain": _subdomain,
    "dns1035Label": _label_1035,
    "qualifiedName": _label_key,
    "dns1123LabelPrefix": _prefix_of(_label),
    "dns1123SubdomainPrefix": _prefix_of(_subdomain),
    "dns1035LabelPrefix": _prefix_of(_label_1035),
    "labelValue": _label_value,
    "uri": _uri,
    "uuid": _uuid,
    "byte": _base64,
    "date": _date,
    "datetime": _datetime,
}
"""What is wrong with a text of each format."""
