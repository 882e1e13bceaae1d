"""Judges one version after another: whether it may be installed now, when it may, or why it may not."""

import datetime as dt

from trundle.channels._times import format_duration, format_time
from trundle.channels.decision._model import (
    Block,
    Blocked,
    Hold,
    Installed,
    Ready,
    Request,
    Scheduled,
    State,
    Verdict,
)
from trundle.channels.files import ListedVersion
from trundle.channels.policy import Gates, Policy, UpgradeAction, Wait, cooldown_end, gates_for
from trundle.version import Level, SemVer, change_level


class Judge:
    """Judges versions for one installation at one time; ten thousand of them in little more time than ten."""

    def __init__(self, state: State, policy: Policy, request: Request, at: dt.datetime) -> None:
        self._state = state
        self._policy = policy
        self._request = request
        self._at = at
        self._gates: dict[tuple[Level, bool], Gates] = {}
        self._starts: dict[tuple[Level, bool, dt.datetime], dt.datetime | None] = {}
        self._holds = tuple(each for each in state.holds if each.until is None or each.until > at)
        self._approvals: dict[SemVer, list[str]] = {}
        for approval in state.approvals:
            self._approvals.setdefault(approval.version, []).append(approval.digest)

    def judge(self, entry: ListedVersion, installed: Installed | None) -> Verdict:
        """What becomes of a version.

        Args:
            entry: the version; it is listed, and not what is installed.
            installed: what is installed; None for an installation from scratch, which waits for holds alone.
        """
        version = installed.version if installed else None
        level = change_level(version, entry.version, self._policy.zero_major) if version else None
        blocked = self._blocked(entry, level, version)
        if blocked:
            return blocked
        ends = [each.until for each in self._holds_on(entry) if each.until]
        begin = max(ends, default=self._at)
        waits = [Wait.HOLD] if ends else []
        if level is None:
            if not ends:
                return Ready(entry, level)
            return Scheduled(
                entry, level, begin, tuple(waits), self._words(waits, entry, None, begin)
            )
        return self._scheduled(entry, level, begin, waits)

    def _blocked(
        self, entry: ListedVersion, level: Level | None, installed: SemVer | None
    ) -> Blocked | None:
        for hold in self._holds_on(entry):
            if hold.until is None:
                return Blocked(entry, level, Block.HOLD, _held(hold))
        if level is None or installed is None:
            return None
        lowest = entry.min_upgrade_from
        if lowest is not None and installed < lowest:
            message = f"{entry.version} needs at least {lowest} installed, and {installed} is"
            advice = f"upgrade to a version from {lowest} on first"
            return Blocked(entry, level, Block.UPGRADE_PATH, f"{message}; {advice}")
        if self._request.to is not None or self._is_ordered_down(entry, installed):
            return None
        match self._policy.action(level):
            case UpgradeAction.NEVER:
                message = f"the policy says never for {level} upgrades"
                advice = f"ask for it with --to {entry.version}, or change the policy"
                return Blocked(entry, level, Block.NEVER, f"{message}; {advice}")
            case UpgradeAction.APPROVAL:
                return self._unapproved(entry, level)
            case _:
                return None

    def _is_ordered_down(self, entry: ListedVersion, installed: SemVer) -> bool:
        return self._request.allow_downgrade and entry.version < installed

    def _unapproved(self, entry: ListedVersion, level: Level) -> Blocked | None:
        digests = self._approvals.get(entry.version)
        if not digests:
            message = f"{level} upgrades need an approval"
            advice = f"approve {entry.version}"
            return Blocked(entry, level, Block.APPROVAL, f"{message}; {advice}")
        if entry.identity in digests:
            return None
        message = f"it was approved with the content {digests[-1]}, and is {entry.identity}"
        advice = "look at it and approve it again"
        return Blocked(entry, level, Block.OTHER_DIGEST_APPROVED, f"{message}; {advice}")

    def _scheduled(
        self, entry: ListedVersion, level: Level, begin: dt.datetime, waits: list[Wait]
    ) -> Verdict:
        critical = entry.critical
        cool = cooldown_end(self._policy, level, entry.create_time, critical=critical)
        if cool is not None and cool > self._at and not self._request.now:
            waits.append(Wait.COOLDOWN)
            begin = max(begin, cool)
        gates = self._gates_for(level, critical=critical)
        waits.extend(self._shut(gates, level, critical=critical))
        if not waits:
            return Ready(entry, level)
        start = self._start(gates, level, begin, critical=critical)
        if start is None:
            return Blocked(entry, level, Block.NO_WINDOW, self._never_open(level))
        message = self._words(waits, entry, gates, start)
        return Scheduled(entry, level, start, tuple(waits), message)

    def _never_open(self, level: Level) -> str:
        if not self._policy.windows_of(level):
            return f"the policy has no window for {level} upgrades; add one, or upgrade with --now"
        if self._policy.all_too_short(level):
            need = format_duration(self._policy.min_remaining)
            message = f"no window for {level} upgrades is as long as minRemaining, {need}"
            return f"{message}; make one longer, or lower minRemaining"
        message = f"no window is ever open for {level} upgrades that no exclusion covers"
        return f"{message}; look at `trundle policy lint`"

    def _gates_for(self, level: Level, *, critical: bool) -> Gates:
        key = (level, critical)
        if key not in self._gates:
            without = self._request.now
            gates = gates_for(self._policy, level, critical=critical, without_window=without)
            self._gates[key] = gates
        return self._gates[key]

    def _shut(self, gates: Gates, level: Level, *, critical: bool) -> tuple[Wait, ...]:
        """What the gates wait for now; nothing if that is also the first moment at which they are open."""
        if self._start(gates, level, self._at, critical=critical) == self._at:
            return ()
        return gates.waits_for(self._at)

    def _start(
        self, gates: Gates, level: Level, begin: dt.datetime, *, critical: bool
    ) -> dt.datetime | None:
        key = (level, critical, begin)
        if key not in self._starts:
            self._starts[key] = gates.next_start(begin)
        return self._starts[key]

    def _holds_on(self, entry: ListedVersion) -> tuple[Hold, ...]:
        return tuple(each for each in self._holds if each.version in (None, entry.version))

    def _words(
        self, waits: list[Wait], entry: ListedVersion, gates: Gates | None, start: dt.datetime
    ) -> str:
        parts = []
        for wait in waits:
            match wait:
                case Wait.HOLD:
                    parts.append("; ".join(_held(each) for each in self._holds_on(entry)))
                case Wait.COOLDOWN:
                    parts.append(
                        f"it was published at {format_time(entry.create_time)}, too recently"
                    )
                case Wait.WINDOW:
                    parts.append("no window with enough time left is open")
                case Wait.EXCLUSION:
                    exclusion = gates.exclusion_at(self._at) if gates else None
                    why = (
                        f": {' '.join(exclusion.reason.split())}"
                        if exclusion and exclusion.reason
                        else ""
                    )
                    parts.append(f"an exclusion holds it back{why}")
        return f"{', and '.join(parts)}; not before {format_time(start)}"


def hold_text(hold: Hold) -> str:
    """A hold in words, for a message about the version that is held."""
    what = "everything" if hold.version is None else "it"
    until = f" until {format_time(hold.until)}" if hold.until else ""
    why = f": {hold.why}" if hold.reason else ""
    return f"{what} is held{until}{why}"


def _held(hold: Hold) -> str:
    advice = "" if hold.until else "; release it with unhold"
    return f"{hold_text(hold)}{advice}"
