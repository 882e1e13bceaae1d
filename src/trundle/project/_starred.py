"""Names with stars: what each `*` stands for in a name, and the names that follow for the newer side."""

import re
from collections.abc import Iterator, Sequence

from trundle.evolution import PathError, split_path

ANY = "*"
"""Stands for any part of a name, none included."""

_CAPITALS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]")  # a whole abbreviation, or one letter


def captures(pattern: str, name: str) -> tuple[str, ...] | None:
    """What each `*` of a pattern stands for in a name; None where the pattern is not that of the name."""
    expression = "(.*)".join(re.escape(each) for each in pattern.split(ANY))
    found = re.fullmatch(expression, name)
    return None if found is None else found.groups()


def filled(pattern: str, stands_for: Sequence[str]) -> str:
    """A pattern with each `*` replaced by what it stands for."""
    texts = iter(stands_for)
    return re.sub(re.escape(ANY), lambda _: next(texts), pattern)


def fillings(older: str, newer: str, stands_for: Sequence[str]) -> Iterator[str]:
    """The names that the newer of two patterns may mean, the most literal one first.

    What an older name begins with, and the newer one does not, begins with a capital there, and the other way round:
    `key*: privateKey.*` leads from `keySize` to `privateKey.size`.
    """
    yield filled(newer, stands_for)
    begins = zip(_beginning(older), _beginning(newer), strict=True)
    adapted = [
        text if begun is still else _small(text) if still else _large(text)
        for text, (begun, still) in zip(stands_for, begins, strict=True)
    ]
    if adapted != list(stands_for):
        yield filled(newer, adapted)


def _beginning(pattern: str) -> Iterator[bool]:
    """For each star of a pattern, whether a name begins with it."""
    try:
        names: Sequence[str] = split_path(pattern)
    except PathError:
        names = (pattern,)
    for name in names:
        for place, letter in enumerate(name):
            if letter == ANY:
                yield place == 0


def _small(text: str) -> str:
    """A text as a name in camel case begins with it: `DNSNames` as `dnsNames`."""
    found = _CAPITALS.match(text)
    return text[: found.end()].lower() + text[found.end() :] if found else text


def _large(text: str) -> str:
    """A text as it goes on in a name in camel case."""
    return text[:1].upper() + text[1:]
