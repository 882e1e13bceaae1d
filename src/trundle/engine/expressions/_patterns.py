"""Patterns that end: a search that takes too long is an error.

Python's own `re` can search for years (`(a+)+$`). The library `regex` takes the same patterns and a limit of time; `re` still
says which patterns are right, so that nothing beyond Python's patterns is understood.
"""

import re
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final, NoReturn

import regex

from trundle.engine._errors import EngineCode, EngineError
from trundle.engine.expressions._pattern_syntax import parts_with_copies, pythons_only
from trundle.errors import expectation, shown

SECONDS: Final = 0.2
"""How long one search may take; the library looks at its clock now and then only, so that it may be a second."""

MOST_CHARACTERS: Final = 20_000
"""How long a pattern may be; to read a longer one takes seconds, and nothing can end that."""

MOST_CASELESS: Final = 2_000
"""The same where letters match in either case: each range of characters is then gone through."""

MOST_COPIES: Final = 100_000
"""How many parts a pattern may have with those that a count repeats: the library makes a copy for each."""

_CASELESS = re.compile(r"\(\?[a-zA-Z]*i")


class Pattern:
    """A compiled pattern with a limit of time, as `regex()` yields it."""

    __slots__ = ("_compiled", "_text")

    def __init__(self, text: str, flags: int) -> None:
        is_caseless = flags & re.IGNORECASE or _CASELESS.search(text)
        most = MOST_CASELESS if is_caseless else MOST_CHARACTERS
        if len(text) > most:
            message = f"a pattern of {len(text)} characters is too long, {most} are the most"
            raise EngineError(EngineCode.LIMIT, message, advice="write a shorter one")
        self._text = text
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # What may change in later Pythons is not the package's concern
            right = re.compile(text, flags)
            plain = pythons_only(text, is_verbose=bool(right.flags & re.VERBOSE))
            if parts_with_copies(plain) > MOST_COPIES:
                message = f"a pattern repeats more than {MOST_COPIES} parts"
                raise EngineError(EngineCode.LIMIT, message, advice="write smaller counts")
            self._compiled = regex.compile(plain, flags | regex.VERSION0)

    def search(self, text: str) -> Any:
        """The first match; None if there is none."""
        try:
            found = self._compiled.search(text, timeout=SECONDS)
            return None if found is None else self._readable(found)
        except TimeoutError:
            self._too_slow()

    def finditer(self, text: str) -> Iterator[Any]:
        """All matches."""
        try:
            yield from map(self._readable, self._compiled.finditer(text, timeout=SECONDS))
        except TimeoutError:
            self._too_slow()

    def split(self, text: str, most: int = 0) -> list[Any]:
        """The parts of a text between the matches."""
        try:
            return self._compiled.split(text, most, timeout=SECONDS)
        except TimeoutError:
            self._too_slow()

    def sub(self, replacement: str | Callable[[Any], str], text: str, count: int = 0) -> str:
        """The text with its matches replaced."""
        try:
            return self._compiled.sub(self._reading(replacement), text, count, timeout=SECONDS)
        except TimeoutError:
            self._too_slow()

    def _reading(self, replacement: str | Callable[[Any], str]) -> str | Callable[[Any], str]:
        if isinstance(replacement, str):
            return replacement
        return lambda match: replacement(self._readable(match))

    def _readable(self, match: Any) -> Any:
        """A match as yaql can read it."""
        return _NamedMatch(match) if self._compiled.groupindex else match

    def __repr__(self) -> str:
        return f"the pattern {shown(self._text)}"

    def _too_slow(self) -> NoReturn:
        message = f"{self!r} takes too long"
        advice = "write it without repetitions inside of repetitions"
        raise EngineError(EngineCode.LIMIT, message, advice=advice) from None


class _NamedMatch:
    """A match of a pattern with named groups. yaql reads the names wrongly wherever it gives a match to an expression, and fails."""

    __slots__ = ("_match",)

    def __init__(self, match: Any) -> None:
        self._match = match

    def __getattr__(self, name: str) -> Any:
        return getattr(self._match, name)

    def groupdict(self) -> NoReturn:
        """Refuses the names.

        Raises:
            ValueError: always.
        """
        names = ", ".join(f"(?P<{each}>" for each in self._match.re.groupindex)
        found = f"{names}; write `(` alone: `$2` is the first group, `$3` the second"
        raise ValueError(
            expectation("groups without names where an expression reads a match", found)
        )


@lru_cache(maxsize=512)
def pattern(text: str, flags: int = 0) -> Pattern:
    """A pattern; the same one for the same text.

    Raises:
        re.error: the text is no pattern.
    """
    return Pattern(text, flags)
