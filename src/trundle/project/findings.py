"""Findings: what is wrong with a project, each with its place, what was found, and what to do."""

import difflib
from collections.abc import Collection, Iterable
from typing import Literal, TypeAlias

import msgspec

from trundle.project.errors import ProjectError

Severity: TypeAlias = Literal["error", "note"]
Kind: TypeAlias = Literal[
    "change",
    "default",
    "deprecated",
    "group",
    "hook",
    "hub",
    "lock",
    "loss",
    "null",
    "stale",
    "type-change",
    "unused",
    "union",
    "variant",
]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing about a project that its author should know.

    Attributes:
        where: the file, with line or JSON pointer where that is known.
        what: what was expected, and what was found.
        advice: what to do about it; may be empty for a note.
        severity: an error makes `trundle check` fail, a note does not.
        kind: what it is about.
    """

    where: str
    what: str
    advice: str = ""
    severity: Severity = "error"
    kind: Kind

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        return f"{text}; {self.advice}" if self.advice else text


class Misfit(msgspec.Struct, frozen=True):
    """A configured change or hook that does not fit the schemas it was held against.

    Attributes:
        rule: what does not fit: version, type, rule and name, where the last two are empty for all changes
            of a type; or what a hook is called; nothing for what is wrong whatever the schemas are.
        finding: what is wrong.
    """

    rule: tuple[str, ...]
    finding: Finding


class FindingsError(ProjectError):
    """A project that cannot be used as it is.

    Attributes:
        findings: everything that stands in the way.
    """

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(str(each) for each in self.findings))


def errors_among(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings that are errors."""
    return tuple(each for each in findings if each.severity == "error")


def did_you_mean(name: str, known: Collection[str]) -> str:
    """Advice that names what looks like a name, or else all that there is to choose from."""
    folded = {each.casefold(): each for each in sorted(known, reverse=True)}
    close = difflib.get_close_matches(name.casefold(), sorted(folded), n=1)
    if close:
        return f"did you mean {folded[close[0]]}?"
    return f"write one of {listed(known)}" if known else "remove it"


def listed(names: Iterable[str], most: int = 12) -> str:
    """Names in alphabetical order, parted by commas; of many, the first."""
    ordered = sorted(names)
    more = f", and {len(ordered) - most} more" if len(ordered) > most else ""
    return ", ".join(ordered[:most]) + more
