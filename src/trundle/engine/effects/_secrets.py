"""Secrets: the run and its records have a marker in place of each; providers alone get the texts."""

import hashlib
import re
from collections.abc import Callable, Mapping

from trundle.engine.effects._plain import Plain
from trundle.errors import expectation

_MARKER = re.compile(r"\{\{secret:([^{}]+)\}\}")
_COST = 2**14


def secret_marker(name: str) -> str:
    """The text that stands for a secret in models, expressions and effects: `{{secret:NAME}}`, alone or within other text.

    Raises:
        ValueError: the name is empty or has braces.
    """
    marker = f"{{{{secret:{name}}}}}"
    if not _MARKER.fullmatch(marker):
        raise ValueError(expectation("the name of a secret without braces", repr(name)))
    return marker


def secrets_in(value: Plain) -> frozenset[str]:
    """The names of the secrets that stand in plain data."""
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
    """
    return _each_text(value, lambda text: _MARKER.sub(lambda found: secrets[found[1]], text))


def hidden(value: Plain, secrets: Mapping[str, str]) -> Plain:
    """Plain data with markers in place of secrets, the longest first."""
    texts = {text: secret_marker(name) for name, text in sorted(secrets.items()) if text}
    if not texts:
        return value
    known = re.compile("|".join(map(re.escape, sorted(texts, key=len, reverse=True))))
    return _each_text(value, lambda text: known.sub(lambda found: texts[found[0]], text), keys=True)


def fingerprint(key: str, secrets: Mapping[str, str]) -> str:
    """A digest that differs once one of the secrets has changed, and from which they cannot be found; empty for none."""
    if not secrets:
        return ""
    salt = hashlib.sha256(f"trundle effect {key}".encode()).digest()
    text = "".join(f"{len(part)}:{part}" for pair in sorted(secrets.items()) for part in pair)
    return hashlib.scrypt(text.encode(), salt=salt, n=_COST, r=8, p=1, dklen=32).hex()


def _each_text(value: Plain, change: Callable[[str], str], *, keys: bool = False) -> Plain:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_each_text(each, change, keys=keys) for each in value]
    if isinstance(value, dict):
        return {
            change(key) if keys else key: _each_text(each, change, keys=keys)
            for key, each in value.items()
        }
    return value
