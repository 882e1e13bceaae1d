"""The agent: follows all channels on an interval, and upgrades what the policies allow.

It has no state of its own: whenever it dies, the next run continues from the installation's database.
"""

import contextlib
import datetime as dt
import threading
from collections.abc import Callable, Iterator

import msgspec

from trundle.channels import RefusalCode, format_time
from trundle.database import DatabaseError
from trundle.installation._applying import ChangeResult
from trundle.installation._errors import StateError
from trundle.installation._installation import Installation
from trundle.installation._upgrade import upgrade
from trundle.registry import RegistryError

INTERVAL = dt.timedelta(minutes=15)
"""How often the agent looks at channels, by default."""

LONGEST_PAUSE = dt.timedelta(hours=6)
"""The longest pause while channels cannot be reached; longer only where the interval is."""

_SHORTEST = dt.timedelta(seconds=1)
_MOST_DOUBLINGS = 16


class LogLine(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A line of the agent's log.

    Attributes:
        at: when.
        event: what: the name of an action, `scheduled`, `blocked`, `announced`, `refused`, `error`, `idle` or `stopped`.
        package: the package; empty where it is about none.
        message: the same in words.
        version: the version that it is about; empty for none.
        code: the code of a refusal; empty for none.
        not_before: when something may happen; None for no such time.
    """

    at: dt.datetime
    event: str
    message: str
    package: str = ""
    version: str = ""
    code: str = ""
    not_before: dt.datetime | None = None

    def __str__(self) -> str:
        subject = " ".join(each for each in (self.package, self.version) if each)
        parts = (format_time(self.at), self.event, f"{subject}:" if subject else "", self.message)
        return " ".join(each for each in parts if each)


class Round(msgspec.Struct, frozen=True):
    """What one look at all channels came to.

    Attributes:
        lines: what there is to report.
        failed: whether a channel could not be reached, so that it is better to wait longer.
        next_change: when the first scheduled upgrade may start; None for none.
        refusals: how many packages were refused.
    """

    lines: tuple[LogLine, ...]
    failed: bool = False
    next_change: dt.datetime | None = None
    refusals: int = 0


def run_round(installation: Installation) -> Round:
    """Looks at all channels once, and upgrades what may be upgraded; what goes wrong is among its lines."""
    now = installation.now()
    try:
        result = upgrade(installation)
    except (DatabaseError, StateError, RegistryError, OSError) as error:
        return Round((LogLine(now, "error", str(error)),), failed=True)
    codes = {each.code for each in result.all_refusals}
    times = (each.plan.next_change for each in result.outlooks.values())
    return Round(
        tuple(_lines(installation, result)),
        failed=not codes.isdisjoint({RefusalCode.UNREACHABLE, RefusalCode.ACCESS_REFUSED}),
        next_change=min((each for each in times if each), default=None),
        refusals=len(result.refusals),
    )


def pause_after(
    done: Round, failures: int, now: dt.datetime, interval: dt.timedelta = INTERVAL
) -> dt.timedelta:
    """How long to wait for the next round: the interval, less where an upgrade may start before.

    Args:
        done: the result of the last round.
        failures: how many rounds failed one after the other; each doubles the pause.
        now: the time.
        interval: the pause where nothing is wrong.
    """
    if done.failed:
        factor: int = 2 ** min(failures, _MOST_DOUBLINGS)
        return min(interval * factor, max(interval, LONGEST_PAUSE))
    if done.next_change is None:
        return interval
    return min(interval, max(done.next_change - now, _SHORTEST))


class _StoppedError(Exception):
    """The agent was stopped while it fetched something; what it has is kept."""


class Agent:
    """Follows the channels of an installation until it is stopped.

    Args:
        installation: the installation.
        log: called with each line of the log.
        interval: the pause between two looks.
        stopped: set to end the agent; it ends at once while it waits or fetches, else after what it is doing.
    """

    def __init__(
        self,
        installation: Installation,
        log: Callable[[LogLine], None],
        *,
        interval: dt.timedelta = INTERVAL,
        stopped: threading.Event | None = None,
    ) -> None:
        self._installation = installation
        self._log = log
        self._interval = interval
        self.stopped = stopped or threading.Event()
        self._logged: set[tuple[str, str, str, str]] = set()

    def run(self) -> None:
        """Follows until `stopped` is set."""
        failures = 0
        with self._interruptible(), contextlib.suppress(_StoppedError):
            while not self.stopped.is_set():
                done = run_round(self._installation)
                self._log_new(done)
                failures = failures + 1 if done.failed else 0
                pause = pause_after(done, failures, self._installation.now(), self._interval)
                self.stopped.wait(pause.total_seconds())
        self._log(LogLine(self._installation.now(), "stopped", "stopped by a signal"))

    @contextlib.contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Lets the agent stop in the middle of a long transfer."""
        before = self._installation.progress

        def progress(size: int) -> None:
            if before is not None:
                before(size)
            if self.stopped.is_set():
                raise _StoppedError

        self._installation.progress = progress
        try:
            yield
        finally:
            self._installation.progress = before

    def _log_new(self, done: Round) -> None:
        """Reports what the last round did not report already; actions and errors always."""
        logged = set()
        for line in done.lines:
            key = (line.event, line.package, line.version, line.message)
            logged.add(key)
            if key not in self._logged or line.event in _ALWAYS:
                self._log(line)
        self._logged = logged


_ALWAYS = frozenset(("install", "upgrade", "downgrade", "error", "refused"))


def _lines(installation: Installation, result: ChangeResult) -> Iterator[LogLine]:
    now = installation.now()
    changed = set()
    for event in result.events:
        changed.add(event.package)
        words = f"from {event.before}, {event.after_digest}" if event.before else event.after_digest
        yield LogLine(event.at, event.action, words, event.package, event.after)
    for name, refusals in sorted(result.refusals.items()):
        for each in refusals:
            yield LogLine(now, "refused", each.coded, name, code=str(each.code))
    for name, outlook in sorted(result.outlooks.items()):
        plan = outlook.plan
        for waiting in plan.scheduled:
            version, start = str(waiting.entry.version), waiting.not_before
            yield LogLine(now, "scheduled", waiting.message, name, version, not_before=start)
        for blocked in plan.blocked:
            version, code = str(blocked.entry.version), str(blocked.reason)
            yield LogLine(now, "blocked", blocked.message, name, version, code)
        for note in plan.notes:
            yield LogLine(now, "note", note, name)
        quiet = not (plan.scheduled or plan.blocked or plan.refusals)
        if quiet and name not in changed and name not in result.refusals:
            yield LogLine(now, "idle", "nothing to do", name)
    for note in result.notes:
        yield LogLine(now, "note", note)
