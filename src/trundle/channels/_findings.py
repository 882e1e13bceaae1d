"""Findings: what is wrong with a channel file or a policy, each with its place and what to do."""

import difflib
from collections.abc import Collection, Iterable
from typing import Literal, TypeAlias

import msgspec

from trundle.channels._refusals import Refusal, RefusalCode

Severity: TypeAlias = Literal["error", "warning"]


class Finding(msgspec.Struct, frozen=True):
    """One thing that is not as it ought to be.

    Attributes:
        where: the file or key, as a JSON path below it.
        expected: what stands there in good data.
        found: what stands there instead.
        advice: what to do about it.
        severity: data with an error cannot be used; with a warning it can.
        code: the refusal that an error leads to.
    """

    where: str
    expected: str
    found: str
    advice: str
    severity: Severity = "error"
    code: RefusalCode = RefusalCode.INVALID_FILE

    def __str__(self) -> str:
        return f"{self.where}: expected {self.expected}, found {self.found}; {self.advice}"

    @property
    def refusal(self) -> Refusal:
        """The refusal to use data with this finding."""
        return Refusal(self.code, self.where, self.expected, self.found, self.advice)


def errors_among(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings that are errors."""
    return tuple(each for each in findings if each.severity == "error")


def shown(value: object, longest: int = 60) -> str:
    """What a value of plain data is, in the words of a message."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case str():
            return repr(value if len(value) <= longest else value[: longest - 3] + "...")
        case list() | tuple():
            return "a list"
        case dict():
            return "an object"
    text = str(value)
    return text if len(text) <= longest else text[: longest - 3] + "..."


def did_you_mean(text: str, known: Collection[str], otherwise: str) -> str:
    """Advice that names what looks like a text, else other advice."""
    folded = {each.casefold(): each for each in known}
    close = difflib.get_close_matches(text.casefold(), sorted(folded), n=1)
    return f"did you mean {folded[close[0]]}?" if close else otherwise
