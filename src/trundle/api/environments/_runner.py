"""Runs environments in the background, each in a process of its own."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from trundle.api.environments import _bodies as bodies
from trundle.api.environments._turns import Places, Turns
from trundle.api.environments._work import (
    EditOfDraft,
    Means,
    Run,
    Subject,
    carried_out,
    edited,
    form_schema,
    static_value,
    title_of,
)
from trundle.database import DatabaseError
from trundle.environments import Action, Actions, ActionState, Draft, Seat, failure_of
from trundle.workers import EndedError, FreshProcesses

R = TypeVar("R")

_EDIT_SECONDS = 60.0
"""How long a change of a draft may take."""
_MOST_RUNS = 8
"""How many runs go on at a time; others wait."""
_MOST_RUNS_OF_TENANT = 4
_MOST_ASKED = 50
"""How many runs of a tenant go on or wait."""
_MOST_EDITS_OF_TENANT = 3
"""How many drafts of a tenant are changed at a time; fewer than the threads that there are for drafts."""
_PAUSE = 1.0
"""Seconds until it is tried again to write down how a run came out."""


class Runner:
    """Runs environments in the background, and changes drafts while a client waits.

    Attributes:
        actions: what is known of runs; it keeps the seat of the server.
        places: what environments may reach, by name.

    Args:
        actions: keeps what is known of runs.
        means: what they run with.
        seat: the seat of the server.
        processes: starts their processes.
    """

    def __init__(
        self, actions: Actions, means: Means, seat: Seat, processes: FreshProcesses
    ) -> None:
        self.actions, self._host, self._seat = actions, means, seat
        self.places = means.places
        self._processes = processes
        self._turns = Turns(_MOST_RUNS, _MOST_RUNS_OF_TENANT)
        self._asked = Places(_MOST_ASKED, "actions that run or wait")
        self._edits = Places(_MOST_EDITS_OF_TENANT, "changes of drafts")
        self._closed = threading.Event()

    def edit(self, subject: Subject, asked: EditOfDraft) -> Draft:
        """Changes a draft.

        Raises:
            ApiError: the tenant changes too many drafts at a time.
            TrundleError: as for `Environments.edit`, or the change took too long.
        """
        return self._edit(subject, edited, asked)

    def form(self, subject: Subject, asked: bodies.WantedNewestForm) -> dict[str, Any] | None:
        """The JSON Schema of the answers to the form of a package; None where it has no form.

        Raises:
            ApiError: the tenant changes too many drafts at a time.
            TrundleError: there is no such package or form, its code fails, or it took too long.
        """
        return self._edit(subject, form_schema, asked)

    def call_static(self, subject: Subject, asked: bodies.StaticCall) -> Any:
        """What a static method returns; it reaches nothing, and nothing of it is kept.

        Raises:
            ApiError: the tenant changes too many drafts at a time.
            TrundleError: there is no such class or method, its code fails, or it took too long.
        """
        return self._edit(subject, static_value, asked)

    def begin(self, subject: Subject, run: Run, *, dry_run: bool) -> Action:
        """Begins a run, and returns while it goes on.

        Raises:
            ApiError: too many runs of the tenant go on or wait.
            TrundleError: as for `Actions.begin`.
        """
        self._asked.take(subject.tenant)
        try:
            action = self.actions.begin(
                subject.environment,
                title_of(run),
                tenant=subject.tenant,
                by=subject.by,
                seat=self._seat,
                dry_run=dry_run,
            )
        except BaseException:
            self._asked.leave(subject.tenant)
            raise
        self._turns.submit(subject.tenant, self._carry_out, run, action)
        return action

    def _edit(self, subject: Subject, work: Callable[..., R], asked: Any) -> R:
        self._edits.take(subject.tenant)
        try:
            return self._apart(_EDIT_SECONDS, work, subject, asked)
        finally:
            self._edits.leave(subject.tenant)

    def close(self) -> None:
        """Ends all that runs; waits until that is written down."""
        self._closed.set()
        self._processes.close()
        self._turns.close()

    def _carry_out(self, run: Run, action: Action) -> None:
        try:
            found = self._apart(self._host.limits.seconds, carried_out, run, action)
        except EndedError as error:
            is_limit = error.is_limit and not self._closed.is_set()
            code = "limit" if is_limit else "interrupted"
            self._end(action, "interrupted", error={**failure_of(error), "code": code})
        except Exception as error:  # noqa: BLE001 - whatever it is, a client reads of it
            self._end(action, "failed", error=failure_of(error))
        else:
            self._end(action, "succeeded", result=found)
        finally:
            self._asked.leave(action.tenant)

    def _end(self, action: Action, state: ActionState, **outcome: Any) -> None:
        """Writes down how a run came out; where the database is busy or lost, again and again until the server closes."""
        is_last = False
        while True:
            try:
                return self.actions.end(action, state, **outcome)
            except DatabaseError:
                if is_last:
                    return None  # The next server notes that the action was interrupted.
                is_last = self._closed.wait(_PAUSE)

    def _apart(self, seconds: float, work: Callable[..., R], *arguments: Any) -> R:
        limits = self._host.limits
        return self._processes.run(
            work, self._host, *arguments, seconds=seconds, memory=limits.memory
        )


@contextlib.contextmanager
def running(actions: Actions, means: Means) -> Iterator[Runner]:
    """Runs environments as long as the block goes on."""
    modules = [__name__, means.opening.__module__]
    with actions.seated() as seat, FreshProcesses(modules) as processes:
        runner = Runner(actions, means, seat, processes)
        try:
            yield runner
        finally:
            runner.close()
