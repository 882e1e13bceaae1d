"""Rewrites the objects of installations beside everything else that an operator does."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from trundle.errors import Finding, TrundleError
from trundle.kubernetes._cluster import Cluster
from trundle.kubernetes._migration import Migration, Subject, subjects
from trundle.kubernetes.operator._advice import advised
from trundle.kubernetes.operator._schemas import Schemas

_RATE = 50
"""How many objects are rewritten in a second, at most, where the cluster does not do it."""

_FIRST_PAUSE = 1.0
_MOST_DOUBLINGS = 9


class MigrationEndedError(TrundleError):
    """A migration that is not to go on."""


@dataclass(frozen=True)
class Progress:
    """How far the objects of an installation are rewritten.

    Attributes:
        objects: how many there are.
        rewritten: how many were stored anew.
        done: whether none is left.
        failed: whether it is tried again later.
        new: whether it was not known before that none is left.
        message: what is being done, or has gone wrong.
        findings: the objects that cannot be rewritten, and why.
    """

    objects: int = 0
    rewritten: int = 0
    done: bool = False
    failed: bool = False
    new: bool = False
    message: str = ""
    findings: tuple[Finding, ...] = ()

    @property
    def goes_on(self) -> bool:
        """Whether there is something new to see soon."""
        return self.new or not (self.done or self.failed)


@dataclass
class _Task:
    """The migration of one installation."""

    aim: str
    progress: Progress = field(
        default_factory=lambda: Progress(message="rewriting the objects begins")
    )
    failures: int = 0
    again: float = 0.0
    ended: bool = False
    thread: threading.Thread | None = None

    @property
    def running(self) -> bool:
        return self.thread is not None and self.thread.is_alive()


class Migrations:
    """The migrations of an operator, each in a thread of its own. What fails is tried again, after longer and longer pauses.

    Args:
        cluster: the cluster.
        check: raises an error where this operator is no longer the one that acts.
        clock: seconds that only grow.
    """

    def __init__(
        self,
        cluster: Cluster,
        check: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cluster = cluster
        self._check = check
        self._clock = clock
        self._tasks: dict[str, _Task] = {}

    def progress(self, owner: str, aim: str, schemas: Schemas) -> Progress:
        """How far a migration is; one that does not run begins.

        Args:
            owner: the installation.
            aim: what is different where objects are rewritten otherwise.
            schemas: those that the objects are rewritten by.
        """
        task = self._tasks.get(owner)
        if task is not None and task.aim != aim:
            self.forget(owner)
            task = None
        if task is None:
            task = self._tasks[owner] = _Task(aim)
        if not task.running and not task.progress.done and self._clock() >= task.again:
            task.thread = threading.Thread(
                target=self._run, args=(task, schemas), name=f"migrate {owner}", daemon=True
            )
            task.thread.start()
        return task.progress

    def forget(self, owner: str) -> None:
        """Ends a migration, and waits until it has."""
        task = self._tasks.pop(owner, None)
        if task is not None and task.thread is not None:
            task.ended = True
            task.thread.join()

    def close(self) -> None:
        """Ends all of them."""
        for each in list(self._tasks):
            self.forget(each)

    def _run(self, task: _Task, schemas: Schemas) -> None:
        try:
            found = self._migrated(task, schemas)
        except MigrationEndedError:
            return
        except Exception as error:  # noqa: BLE001 - it is tried again
            self._failed(task, Progress(failed=True, message=str(error) or type(error).__name__))
            return
        findings = tuple(advised(each) for subject in found for each in subject.findings)
        objects, rewritten = sum(e.objects for e in found), sum(e.rewritten for e in found)
        if findings:
            message = "\n".join(each.coded for each in findings)
            found_out = Progress(
                objects, rewritten, failed=True, message=message, findings=findings
            )
            self._failed(task, found_out)
        else:
            task.progress = Progress(objects, rewritten, done=True)

    def _migrated(self, task: _Task, schemas: Schemas) -> list[Subject]:
        def step(what: str, done: int = 0, total: int = 0) -> None:
            if task.ended:
                raise MigrationEndedError
            self._check()
            of = f": {done} of {total}" if total else f": {done}" if done else ""
            task.progress = Progress(total, done, message=f"{what}{of}")

        migration = Migration(self._cluster, task.aim, rate=_RATE, step=step)
        pairs = subjects(schemas.kinds, schemas.known)
        found = [migration.examined(*each) for each in pairs]
        if not any(each.findings for each in found):
            found = [migration.migrated(each, self._cluster.migrations()) for each in found]
        return found

    def _failed(self, task: _Task, progress: Progress) -> None:
        seconds = _FIRST_PAUSE * 2 ** min(task.failures, _MOST_DOUBLINGS)
        task.failures += 1
        task.again = self._clock() + seconds
        task.progress = progress
