"""The status of an `Installation`: what `channels` says of a package, and what has become of it in the cluster."""

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trundle.channels import (
    Blocked,
    Condition,
    InstallationStatus,
    RefusalCode,
    condition_reason,
    format_time,
)
from trundle.errors import Finding
from trundle.kubernetes._errors import KubernetesCode
from trundle.kubernetes.operator._advice import advised
from trundle.kubernetes.operator._migrating import Progress

_LONGEST = 3000
_AWAY = {
    RefusalCode.UNREACHABLE,
    RefusalCode.ACCESS_REFUSED,
    KubernetesCode.ROOT,
    KubernetesCode.FETCHING,
}
_TAKEN_OVER = ("UpToDate", "ChannelUsable", "Published", "Held")


@dataclass
class Report:
    """What a look at an installation has found.

    Attributes:
        status: what `channels` says; None where that was not asked.
        version: the version in the cluster; empty for none.
        digest: its digest.
        ready: whether all that the release carries is ready.
        reason: why, for programs.
        message: why, for people.
        blocked: why it does not go on, by reason.
        away: whether something is to be tried again: a registry or a channel that could not be reached, content that is not here yet, a Secret that is not there, a release that the cluster rejects.
        changed: whether another version was decided on.
        migration: how far the objects of its resource types are rewritten; None where it brings none.
    """

    status: InstallationStatus | None = None
    version: str = ""
    digest: str = ""
    ready: bool = False
    reason: str = "Unknown"
    message: str = ""
    blocked: dict[str, str] = field(default_factory=dict)
    away: bool = False
    changed: bool = False
    migration: Progress | None = None

    def says(self, reason: str, message: str, *, ready: bool = False) -> None:
        """Says whether it is ready, and why."""
        self.reason, self.message, self.ready = reason, message, ready

    def waits(self, blocked: Iterable[Blocked]) -> None:
        """Says which versions are not taken, however long one waits; only the first of a reason."""
        for each in blocked:
            self.blocked.setdefault(
                condition_reason(str(each.reason)), f"{each.entry.version}: {each.message}"
            )

    def stops(self, findings: Iterable[Finding], reason: str = "", *, ready: bool = False) -> None:
        """Says what is in the way.

        Args:
            findings: what it is.
            reason: the reason of all of them; by their codes where empty.
            ready: whether what is there goes on being looked after.
        """
        findings = [advised(each) for each in findings]
        for each in findings:
            name = reason or condition_reason(str(each.code))
            earlier = self.blocked.get(name, "")
            if each.coded not in earlier:
                self.blocked[name] = f"{earlier}\n{each.coded}" if earlier else each.coded
            self.away = self.away or each.code in _AWAY
        if findings and not ready:
            first = reason or condition_reason(str(findings[0].code))
            self.says(first, self.blocked[first])


def status_document(
    report: Report, before: Mapping[str, Any], generation: int, now: dt.datetime
) -> dict[str, Any]:
    """The status as an `Installation` has it.

    Args:
        report: what was found.
        before: the status until now; conditions that stay keep their time.
        generation: the generation of the spec that was looked at.
        now: the time.
    """
    found: dict[str, Any] = {"observedGeneration": generation}
    if report.version or report.digest:
        found["installed"] = {"version": report.version, "digest": report.digest}
    if report.status is not None:
        plain = report.status.to_plain()
        taken = (
            "package",
            "latest",
            "target",
            "scheduled",
            "blocked",
            "announced",
            "nextChange",
            "notes",
        )
        found |= {name: plain[name] for name in taken if plain[name]}
        if not plain["target"]["version"]:
            found.pop("target", None)
    else:
        kept = ("package", "installed", "latest")
        found = {name: before[name] for name in kept if name in before} | found
    old = {each["type"]: each for each in before.get("conditions") or []}
    found["conditions"] = [
        _condition(old.get(kind), kind, status, reason, message, generation, now)
        for kind, status, reason, message in _conditions(report)
    ]
    return found


def _condition(
    old: Mapping[str, Any] | None,
    kind: str,
    status: str,
    reason: str,
    message: str,
    generation: int,
    now: dt.datetime,
) -> dict[str, Any]:
    stays = old is not None and old["status"] == status
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message[:_LONGEST],
        "lastTransitionTime": old["lastTransitionTime"] if old and stays else format_time(now),
        "observedGeneration": generation,
    }


def _conditions(report: Report) -> Iterator[tuple[str, str, str, str]]:
    yield "Ready", str(report.ready), report.reason, report.message
    if report.blocked:
        yield "Blocked", "True", next(iter(report.blocked)), "\n".join(report.blocked.values())
    else:
        yield "Blocked", "False", "NotBlocked", "nothing is in the way"
    if report.migration is not None:
        yield _migrated(report.migration)
    status = report.status
    if status is None:
        return
    major = status.announced
    if major:
        yield "MajorAvailable", "True", "Announced", f"{major} is a newer major version"
    else:
        yield "MajorAvailable", "False", "NoneNewer", "there is no newer major version"
    for kind in _TAKEN_OVER:
        found = status.condition(kind)
        if found is not None and _is_awaited(found, report, status):
            message = f"{status.installed_version} is not in the cluster yet"
            yield kind, "False", "NotApplied", message
        elif found is not None:
            yield kind, found.status, found.reason, found.message


def _is_awaited(found: Condition, report: Report, status: InstallationStatus) -> bool:
    """Whether a condition says that the latest version is installed which is decided on, but is not in the cluster."""
    says = (found.type, found.status) == ("UpToDate", "True")
    return says and report.digest != status.installed_digest


def _migrated(found: Progress) -> tuple[str, str, str, str]:
    if found.done:
        text = f"all objects are stored in the shape of the release; {found.rewritten} of {found.objects} were rewritten"
        return "Migrated", "True", "Migrated", text
    reason = "Unmigrated" if found.findings else "Migrating"
    return "Migrated", "False", reason, found.message
