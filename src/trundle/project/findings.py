"""Findings of `trundle check`: what is wrong with a project, or what its author should know."""

from collections.abc import Iterable

import msgspec

from trundle.errors import Code, Finding, Kind, Place, Severity
from trundle.project.errors import ProjectError


class ProjectCode(Code):
    """What a finding about a project is about."""

    CIRCLE = "circular-packages"
    DEFAULT = "default"
    DEPRECATED = "deprecated"
    GROUP = "group"
    HOOK = "hook"
    HUB = "hub"
    KEYWORD = "keyword"
    LOCK = "lock"
    LOSS = "loss"
    NAMES = "names"
    NULL = "null"
    SCALE = "scale"
    STALE = "stale"
    TYPE_CHANGE = "type-change"
    UNUSED = "unused"
    UNION = "union"
    VARIANT = "variant"


def finding(
    code: ProjectCode,
    where: str,
    found: str,
    advice: str = "",
    *,
    expected: str = "",
    severity: Severity = "error",
) -> Finding:
    """A finding about a project.

    Args:
        code: what it is about.
        where: the file, with its line or a JSON pointer into it where that is known.
        found: what is there, or what is to be known.
        advice: what to do about it; may be empty for a note.
        expected: what should be there, where that can be said in a few words.
        severity: an error makes `trundle check` fail, a note does not.
    """
    return Finding(code, Place.parse(where), expected, found, advice, severity)


class Misfit(msgspec.Struct, frozen=True):
    """A configured change or hook that does not fit the schemas it was checked against.

    Attributes:
        rule: what does not fit: version, type, rule and name, where the last two are empty for all changes
            of a type; or what a hook is called; nothing for what is wrong whatever the schemas are.
        finding: what is wrong.
        stays: whether the property that the rule names stays what and where it is in the next version.
    """

    rule: tuple[str, ...]
    finding: Finding
    stays: bool = False


class FindingsError(ProjectError):
    """A project that cannot be used as it is.

    Attributes:
        findings: everything that is in the way.
    """

    kind = Kind.REFUSED

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(str(each) for each in self.findings))
