"""Secrets: the run and its records have a marker in place of each; providers alone get the texts."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping

from trundle.engine.effects._plain import Plain
from trundle.errors import expectation, shown

_MARKER = re.compile(r"\{\{secret:([^{}]+)\}\}")
_COST = 2**14
_QUOTATIONS = 2
"""How often a secret may be quoted where it is still found: a refusal quotes an object that was written as JSON."""


def secret_marker(name: str) -> str:
    """The text that stands for a secret in models, expressions and effects: `{{secret:NAME}}`, alone or within other text.

    Raises:
        ValueError: the name is empty or has braces.
    """
    marker = f"{{{{secret:{name}}}}}"
    if not _MARKER.fullmatch(marker):
        raise ValueError(expectation("the name of a secret without braces", shown(name)))
    return marker


def secrets_in(value: Plain) -> frozenset[str]:
    """The names of the secrets that stand in plain data, in keys of maps too."""
    found: set[str] = set()

    def note(text: str) -> str:
        found.update(_MARKER.findall(text))
        return text

    _each_text(value, note)
    return frozenset(found)


def revealed(value: Plain, secrets: Mapping[str, str]) -> Plain:
    """Plain data with secrets in place of their markers. What a secret looks like itself does not matter.

    Raises:
        KeyError: there is no such secret.
        ValueError: two keys of a map are the same with their secrets; the message has the markers.
    """

    def text_of(text: str) -> str:
        return _MARKER.sub(lambda found: secrets[found[1]], text)

    _check_keys(value, text_of)
    return _each_text(value, text_of)


def hidden(value: Plain, secrets: Mapping[str, str]) -> Plain:
    """Plain data with markers in place of secrets, the longest first: as they are, and as servers and programs quote them."""
    found = [(text, secret_marker(name)) for name, text in sorted(secrets.items()) if text]
    texts = {form: marker for text, marker in found for form in _quoted(text)} | dict(found)
    if not texts:
        return value
    known = re.compile("|".join(map(re.escape, sorted(texts, key=len, reverse=True))))
    return _each_text(value, lambda text: known.sub(lambda found: texts[found[0]], text))


class Fingerprints:
    """Digests that differ once a secret has changed, and from which none can be found. They are slow to compute, so each secret has one.

    Args:
        secrets: the secrets, by name.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._secrets = secrets
        self._known: dict[str, str] = {}

    def of(self, key: str, names: Iterable[str]) -> str:
        """The digest of some secrets in the effect with a key; empty for none."""
        found = [f"{name}={self._digest(name)}" for name in sorted(names)]
        return hashlib.sha256("\n".join([key, *found]).encode()).hexdigest() if found else ""

    def _digest(self, name: str) -> str:
        if name not in self._known:
            salt = hashlib.sha256(f"trundle secret {name}".encode()).digest()
            text = self._secrets[name].encode()
            self._known[name] = hashlib.scrypt(text, salt=salt, n=_COST, r=8, p=1).hex()
        return self._known[name]


def _quoted(text: str) -> set[str]:
    """A text as it stands within quotes, and within a quotation of these."""
    found = {text}
    for _ in range(_QUOTATIONS):
        found |= {form for each in found for form in _written(each)}
    return found


def _written(text: str) -> Iterable[str]:
    """A text as languages write it within quotes."""
    yield repr(text)[1:-1]
    for ascii_only in (True, False):
        form = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
        yield form
        # Go writes these so in JSON, and those above alone within quotes: https://pkg.go.dev/encoding/json#Marshal
        yield form.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _check_keys(value: Plain, change: Callable[[str], str]) -> None:
    if isinstance(value, dict):
        known: dict[str, str] = {}
        for key in value:
            if (other := known.setdefault(change(key), key)) != key:
                found = f"{shown(other)} and {shown(key)}, which are the same"
                raise ValueError(expectation("keys that differ with their secrets", found))
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            _check_keys(each, change)


def _each_text(value: Plain, change: Callable[[str], str]) -> Plain:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_each_text(each, change) for each in value]
    if isinstance(value, dict):
        return {change(key): _each_text(each, change) for key, each in value.items()}
    return value
