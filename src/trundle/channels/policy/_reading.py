"""Reads an upgrade policy from the plain data that a YAML or JSON reader makes."""

import datetime as dt
import zoneinfo
from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Any, TypeVar

from trundle.channels._refusals import ChannelError
from trundle.channels._times import format_duration, format_time, parse_duration, parse_time
from trundle.channels.policy._model import LEVELS, Exclusion, Policy, Scope, UpgradeAction, Window
from trundle.channels.policy._schedule import CronError, check_cron
from trundle.errors import Code, Finding, Kind, Place, did_you_mean, shown
from trundle.version import Level

LONGEST_WINDOW = dt.timedelta(days=366)
"""The longest that a window may be; whatever is longer is no window."""

LONGEST_WAIT = dt.timedelta(days=3660)
"""The longest that `minAge` may be."""

_KEYS = (*LEVELS, "zeroMajor", "minAge", "minRemaining", "windows", "exclusions")
_WINDOW_KEYS = ("start", "duration", "timezone", "levels")
_EXCLUSION_KEYS = ("start", "end", "scope", "allowCritical", "reason")
_NEVER = dt.datetime.min.replace(tzinfo=dt.UTC)
_Word = TypeVar("_Word", bound=StrEnum)


class PolicyCode(Code):
    """What can be wrong with a policy."""

    INVALID = "invalid-policy"
    ODD = "odd-policy"


class PolicyError(ChannelError):
    """A policy that cannot be used.

    Attributes:
        findings: everything that is wrong.
    """

    kind = Kind.REFUSED


def read_policy(data: Any, where: str = "upgrade") -> Policy:
    """Reads what is under `upgrade:`.

    Args:
        data: mappings, lists, text, numbers and booleans. Times may be text or `datetime` values.
        where: names the place in messages; keys are added to it.

    Raises:
        PolicyError: the policy cannot be used; the error lists everything that is wrong.
    """
    findings: list[Finding] = []
    fields = _Fields({} if data is None else data, where, _KEYS, findings)
    policy = Policy(
        patch=fields.word("patch", UpgradeAction, UpgradeAction.IMMEDIATE),
        minor=fields.word("minor", UpgradeAction, UpgradeAction.WINDOW),
        major=fields.word("major", UpgradeAction, UpgradeAction.NEVER),
        prerelease=fields.word("prerelease", UpgradeAction, UpgradeAction.IMMEDIATE),
        zero_major="plain"
        if fields.word("zeroMajor", _ZeroMajor, _ZeroMajor.CARET) == "plain"
        else "caret",
        min_age=fields.duration("minAge", dt.timedelta(0), LONGEST_WAIT),
        min_remaining=fields.duration("minRemaining", dt.timedelta(minutes=15), LONGEST_WINDOW),
        windows=tuple(_window(each) for each in fields.objects("windows", _WINDOW_KEYS)),
        exclusions=tuple(
            _exclusion(each) for each in fields.objects("exclusions", _EXCLUSION_KEYS)
        ),
    )
    if findings:
        raise PolicyError(findings)
    return policy


class _ZeroMajor(StrEnum):
    CARET = "caret"
    PLAIN = "plain"


def _window(fields: "_Fields") -> Window:
    return Window(
        start=fields.cron("start"),
        duration=fields.duration("duration", None, LONGEST_WINDOW),
        timezone=fields.zone("timezone"),
        levels=fields.levels("levels") or LEVELS,
    )


def _exclusion(fields: "_Fields") -> Exclusion:
    start, end = fields.time("start"), fields.time("end")
    if _NEVER not in (start, end) and end <= start:
        expected = "a time after the start"
        fields.note("end", expected, shown(fields.value["end"]), "exchange the two, or correct one")
    return Exclusion(
        start=start,
        end=end,
        scope=fields.scope("scope"),
        allow_critical=fields.flag("allowCritical"),
        reason=fields.text("reason"),
    )


def _finding(path: str, expected: str, found: str, advice: str) -> Finding:
    return Finding(PolicyCode.INVALID, Place(path=path), expected, found, advice)


class _Fields:
    """The keys of one mapping; an invalid value gives a finding and a stand-in."""

    def __init__(
        self, value: Any, where: str, known: Collection[str], findings: list[Finding]
    ) -> None:
        self.findings = findings
        self.where = where
        self.value: Mapping[Any, Any] = value if isinstance(value, Mapping) else {}
        if not isinstance(value, Mapping):
            expected = f"the keys {', '.join(known)}"
            findings.append(_finding(where, expected, shown(value), "write an object"))
        for key in self.value:
            if key not in known:
                advice = did_you_mean(str(key), known, "remove it")
                expected = f"one of the keys {', '.join(known)}"
                findings.append(_finding(f"{where}.{key}", expected, shown(key), advice))

    def note(self, key: str, expected: str, found: str, advice: str) -> None:
        self.findings.append(_finding(f"{self.where}.{key}", expected, found, advice))

    def word(self, key: str, kind: type[_Word], absent: _Word) -> _Word:
        value = self.value.get(key, absent)
        known = tuple(each.value for each in kind)
        if isinstance(value, str) and value in known:
            return kind(value)
        advice = did_you_mean(str(value), known, "write one of them")
        self.note(key, f"one of {', '.join(known)}", shown(value), advice)
        return absent

    def duration(
        self, key: str, absent: dt.timedelta | None, longest: dt.timedelta
    ) -> dt.timedelta:
        value = self.value.get(key)
        if key not in self.value and absent is not None:
            return absent
        expected = "an ISO 8601 duration such as PT15M, PT4H or P1D"
        advice = "write it in weeks, or in days, hours, minutes and seconds"
        try:
            duration = parse_duration(value if isinstance(value, str) else "")
        except ValueError:
            self.note(key, expected, shown(value), advice)
            return dt.timedelta(0)
        if absent is None and not duration:
            expected = "a duration longer than nothing"
            self.note(key, expected, str(value), "write how long it is open")
        if duration > longest:
            self.note(
                key, f"a duration of at most {longest.days} days", str(value), "write a shorter one"
            )
        return duration

    def cron(self, key: str) -> str:
        value = self.value.get(key)
        expected = "a cron expression: minute, hour, day of month, month, day of week"
        advice = 'write it in quotes, such as "0 2 * * SUN"'
        if not isinstance(value, str):
            self.note(key, expected, shown(value), advice)
            return ""
        try:
            check_cron(value)
        except CronError as error:
            self.note(key, expected, f"{shown(value)} with {error}", advice)
        return value

    def zone(self, key: str) -> str:
        value = self.value.get(key, "UTC")
        expected = "the name of a time zone such as Europe/Berlin"
        if not isinstance(value, str) or not value:
            self.note(key, expected, shown(value), "write such a name")
            return "UTC"
        try:
            zoneinfo.ZoneInfo(value)
        except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
            known = zoneinfo.available_timezones()
            advice = did_you_mean(value, known, "look it up in the IANA time zone database")
            self.note(key, expected, shown(value), advice)
            return "UTC"
        return value

    def levels(self, key: str) -> tuple[Level, ...]:
        """Levels, each once, from the smallest; nothing where there is a finding or no such key."""
        if key not in self.value:
            return ()
        value = self.value[key]
        found = [value] if isinstance(value, str) else value
        if not isinstance(found, list | tuple) or not found:
            self.note(
                key, f"a list of {', '.join(LEVELS)}", shown(value), "name at least one level"
            )
            return ()
        for index, each in enumerate(found):
            if each not in LEVELS:
                advice = did_you_mean(str(each), LEVELS, "write one of them")
                self.note(f"{key}[{index}]", f"one of {', '.join(LEVELS)}", shown(each), advice)
        return tuple(each for each in LEVELS if each in found)

    def scope(self, key: str) -> Scope:
        if self.value.get(key, "all") == "all":
            return "all"
        return self.levels(key) or "all"

    def flag(self, key: str) -> bool:
        value = self.value.get(key, False)
        if not isinstance(value, bool):
            self.note(key, "true or false", shown(value), "write one of them")
        return value is True

    def text(self, key: str) -> str:
        value = self.value.get(key, "")
        if not isinstance(value, str):
            self.note(key, "text", shown(value), "put it in quotes")
            return ""
        return value

    def time(self, key: str) -> dt.datetime:
        value = self.value.get(key)
        if isinstance(value, dt.datetime) and value.tzinfo:
            return value.astimezone(dt.UTC)
        try:
            moment, strict = parse_time(value if isinstance(value, str) else "")
        except ValueError:
            strict = False
        if strict:
            return moment
        expected = "a time with its offset such as 2026-12-20T00:00:00+01:00"
        self.note(key, expected, shown(value), "write date, time and offset in full")
        return _NEVER

    def objects(self, key: str, known: Collection[str]) -> list["_Fields"]:
        value = self.value.get(key, [])
        if value is None:
            value = []
        if not isinstance(value, list | tuple):
            self.note(key, "a list", shown(value), f"begin each of the {key} with a hyphen")
            return []
        return [
            _Fields(each, f"{self.where}.{key}[{index}]", known, self.findings)
            for index, each in enumerate(value)
        ]


def policy_to_plain(policy: Policy) -> dict[str, Any]:
    """Writes a policy as plain data that `read_policy` reads again."""
    return {
        **{level: policy.action(level).value for level in reversed(LEVELS)},
        "zeroMajor": policy.zero_major,
        "minAge": format_duration(policy.min_age),
        "minRemaining": format_duration(policy.min_remaining),
        "windows": [
            {
                "start": each.start,
                "duration": format_duration(each.duration),
                "timezone": each.timezone,
                "levels": list(each.levels),
            }
            for each in policy.windows
        ],
        "exclusions": [
            {
                "start": format_time(each.start),
                "end": format_time(each.end),
                "scope": each.scope if each.scope == "all" else list(each.scope),
                "allowCritical": each.allow_critical,
                "reason": each.reason,
            }
            for each in policy.exclusions
        ],
    }
