"""What is wrong: where, what was expected, what was found, what to do, and a code for programs."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Literal, TypeAlias

from trundle.errors._wording import expectation

Severity: TypeAlias = Literal["error", "warning", "note"]


class Code(StrEnum):
    """Base of the codes of findings; each room lists its own.

    Codes are for people and for scripts. They stay as they are once they are released, mean one thing each, and are
    explained in docs/findings.md.
    """


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is wrong; what is not known, or does not apply, is left out.

    Attributes:
        file: the file, folder, repository or URL, as the user named it.
        line: the line in the file; the first is 1.
        object: the thing that is concerned, such as a package, a resource or an option.
        path: the place inside of the document: a JSON path that starts with `$`, or a JSON pointer that starts
            with `#`.
    """

    file: str = ""
    line: int | None = None
    object: str = ""
    path: str = ""

    @classmethod
    def parse(cls, text: str) -> "Place":
        """The place that a text names: `FILE`, `FILE:LINE` or `FILE#POINTER`."""
        file, mark, pointer = text.partition("#")
        if mark:
            return cls(file, path=f"#{pointer}")
        file, _, line = text.rpartition(":")
        return cls(file, int(line)) if file and line.isdecimal() else cls(text)

    def __str__(self) -> str:
        at = self.file if self.line is None else f"{self.file}:{self.line}"
        if self.path.startswith("#"):
            return ": ".join(filter(None, (f"{at}{self.path}", self.object)))
        return ": ".join(filter(None, (at, self.object, self.path)))


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it should be.

    Attributes:
        code: what kind of thing it is.
        place: where it is.
        expected: what should be there; empty where the finding only informs.
        found: what is there instead; or, without `expected`, what is to be known.
        advice: what to do about it; may be empty where that is plain.
        severity: an error makes what it is about unusable; a warning and a note do not.
    """

    code: Code
    place: Place
    expected: str
    found: str
    advice: str = ""
    severity: Severity = "error"

    @property
    def where(self) -> str:
        """The place as text."""
        return str(self.place)

    @property
    def message(self) -> str:
        """What was expected, what was found, and what to do; without the place."""
        return expectation(self.expected, self.found, self.advice)

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message

    @property
    def coded(self) -> str:
        """The finding as text, with its code at the end."""
        return f"{self} [{self.code}]"

    def to_plain(self) -> dict[str, Any]:
        """The finding as plain values, for programs."""
        place = {name: value for name, value in asdict(self.place).items() if value or value == 0}
        return {
            "code": str(self.code),
            "severity": self.severity,
            "place": place,
            "expected": self.expected,
            "found": self.found,
            "advice": self.advice,
        }


def errors_among(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings that are errors."""
    return tuple(each for each in findings if each.severity == "error")
