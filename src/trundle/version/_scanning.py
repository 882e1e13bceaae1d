"""Reads the pieces that versions and ranges are made of, and says where a text goes wrong."""

import re
from typing import NoReturn

from trundle.version._errors import VersionSyntaxError

LONGEST = 255
"""How many characters a version may have; a limit that the SemVer site itself calls generous."""

_DIGITS = re.compile(r"[0-9]+")
_IDENTIFIER = re.compile(r"[0-9A-Za-z-]*")
_BLANK = re.compile(r"[ \t]*")
_MOST_NUMBERS = 3


class Scanner:
    """Goes through a text from left to right.

    Attributes:
        text: the whole text.
        position: how many characters have been read.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def fail(self, expected: str, advice: str = "", at: int | None = None) -> NoReturn:
        """Reports what stands at a place, the current one unless said otherwise.

        Raises:
            VersionSyntaxError: always.
        """
        place = self.position if at is None else at
        found = repr(self.text[place]) if place < len(self.text) else "the end"
        raise VersionSyntaxError(self.text, place + 1, expected, found, advice)

    def take(self, mark: str) -> bool:
        """Reads a mark if it comes next."""
        if not self.text.startswith(mark, self.position):
            return False
        self.position += len(mark)
        return True

    def skip_blank(self) -> None:
        """Reads blanks."""
        self.position = self._match(_BLANK)

    def end(self, expected: str) -> None:
        """Makes sure that nothing is left."""
        if self.position < len(self.text):
            self.fail(expected, "remove the rest")

    def numbers(self) -> tuple[int, ...]:
        """Reads one to three numbers with dots between them."""
        found = [self._number()]
        while len(found) < _MOST_NUMBERS and self.take("."):
            found.append(self._number())
        return tuple(found)

    def suffixes(self, *, allowed: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Reads the identifiers of pre-release and build; both may be missing."""
        if not allowed and self.text.startswith(("-", "+"), self.position):
            self.fail("'.' and the next number", "write all three numbers before a suffix")
        prerelease = self._identifiers(numeric=True) if self.take("-") else ()
        build = self._identifiers(numeric=False) if self.take("+") else ()
        return prerelease, build

    def _match(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self.text, self.position)
        return match.end() if match else self.position

    def _number(self) -> int:
        start = self.position
        end = self._match(_DIGITS)
        if end == start:
            follows = self.text[start : start + 1]
            advice = "remove the v" if follows in ("v", "V") else ""
            wild = follows and follows in "*xX" and start
            self.fail(
                "a number", "leave the part out: 1 stands for every 1.x.y" if wild else advice
            )
        self._check_length(start, end)
        digits = self.text[start:end]
        if len(digits) > 1 and digits[0] == "0":
            self.fail("a number without leading zeros", f"write {int(digits)}", at=start)
        self.position = end
        return int(digits)

    def _identifiers(self, *, numeric: bool) -> tuple[str, ...]:
        """Reads identifiers with dots between them; `numeric` ones have no leading zeros."""
        found = []
        while True:
            start = self.position
            end = self._match(_IDENTIFIER)
            if end == start:
                self.fail("letters, digits or hyphens")
            self._check_length(start, end)
            identifier = self.text[start:end]
            if numeric and identifier.isdigit() and identifier[0] == "0" and identifier != "0":
                advice = f"write {int(identifier)}"
                self.fail("a number without leading zeros", advice, at=start)
            self.position = end
            found.append(identifier)
            if not self.take("."):
                return tuple(found)

    def _check_length(self, start: int, end: int) -> None:
        if end - start > LONGEST:
            expected = f"at most {LONGEST} characters in one part"
            raise VersionSyntaxError(self.text, start + 1, expected, f"{end - start}", "shorten it")
