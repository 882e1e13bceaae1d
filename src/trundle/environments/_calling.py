"""Calls of methods of deployed objects, and of static methods in environments."""

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from trundle.database import DatabaseError
from trundle.engine import Handle, Session, Type
from trundle.environments._actions import CALL, Action, Actions
from trundle.environments._environments import Environments
from trundle.environments._errors import NoSuchObjectError, UnfinishedError
from trundle.environments._existing import check_alive
from trundle.environments._holding import Holder
from trundle.environments._journal import DatabaseJournal
from trundle.environments._notes import Done, Plan, begin_run, end, unfinished
from trundle.environments._records import Lock, Opening, RunResult
from trundle.environments._sessions import dumped, handles_of, plain_value, used
from trundle.environments._static_calls import CalledClass, called_class
from trundle.environments._work import Work, dry, opened_work, raise_own
from trundle.errors import did_you_mean, listed


class _Asked(NamedTuple):
    """A call of a method of a deployed object, or of a static method.

    Attributes:
        environment: the name of the environment.
        target: the id of the object, or its name; or `:` and a class.
        method: the method.
        args: values by position.
        kwargs: values by name.
    """

    environment: str
    target: str
    method: str
    args: Sequence[Any]
    kwargs: Mapping[str, Any]

    @property
    def title(self) -> str:
        """What the history calls it."""
        return f"{CALL}{self.target}.{self.method}"

    def done(self, session: Session, work: Work) -> Done:
        """Makes the call in a session; what it did, and what the model is after it.

        Raises:
            NoSuchObjectError: there is no such object.
            EngineError: what the method throws.
        """
        there = None if work.before is None else work.before.model
        root = None if there is None else session.load(work.whole(there["Objects"]))
        before = dumped(session, root)
        receiver = self._receiver(session, work)
        value = session.call(receiver, self.method, self.args, self.kwargs)
        plain = plain_value(session, value)
        session.finish()
        after, (uses, lock) = dumped(session, root), used(session, work.snapshot)
        acted = any(each.action != "unchanged" for each in session.changes)
        is_changed = root is not None and (acted or after != before)
        return Done(after, uses, lock, session.changes, plain, is_changed)

    @property
    def called(self) -> CalledClass | None:
        """The class whose static method is called; None for a method of an object."""
        return called_class(self.target)

    def _receiver(self, session: Session, work: Work) -> Handle | Type:
        if self.called is None:
            return self._object(session)
        if not self.called.name:
            expected, advice = "a class after `:`", "write it as `:NAME`"
            raise NoSuchObjectError(self.environment, expected, repr(self.target), advice)
        uses = () if work.before is None else work.before.uses
        return self.called.used(work.snapshot, uses).type_in(session)

    def _object(self, session: Session) -> Handle:
        found = handles_of(session, self.target)
        if len(found) > 1:
            advice = "name it by its id"
            several = f"several: {listed(each.id for each in found)}"
            expected = f"one object {self.target}"
            raise NoSuchObjectError(self.environment, expected, several, advice)
        if not found:
            known = [*session.objects, *(x.name for x in session.objects.values() if x.name)]
            hint = f"run `trundle env show {self.environment}` to see them"
            advice = did_you_mean(self.target, known, hint)
            expected = f"an object {self.target}"
            raise NoSuchObjectError(self.environment, expected, "none", advice)
        return found[0]


def call(
    environments: Environments,
    name: str,
    target: str,
    method: str,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    tenant: str,
    opening: Opening,
    by: str = "",
    dry_run: bool = False,
    action: Action | None = None,
) -> RunResult:
    """Calls a public method of an object as it was deployed, or a static one, and keeps what it changed.

    A call that fails is in the history as an action. It is no deployment, so the next call is not kept from anything.

    Args:
        environments: the environments.
        name: the environment.
        target: the id of the object, or its name; for a static method `:` and a class, which may have a version and a package: `:NAME/VERSION@PACKAGE`.
            Without a version it is the one that the environment uses, else the newest. An environment that was never deployed has no objects for it.
        method: the method.
        args: values by position.
        kwargs: values by name.
        tenant: whose it is.
        opening: opens what acts on the world, once the run holds the environment.
        by: who does it.
        dry_run: whether nothing is done, nor written down.
        action: the action that it is, which is written down already; None where it is none.

    Raises:
        UnfinishedError: the environment is not deployed as it is wanted.
        NoSuchObjectError: there is no such object.
        TrundleError: as for `deploy`; what the method throws is an `EngineError`.
    """
    asked = _Asked(name, target, method, args, kwargs or {})
    holder = Holder(asked.title, by)
    with opened_work(environments, name, tenant, opening, holder, dry_run=dry_run) as work:
        check_alive(work.environment)
        is_new = work.before is None and not work.environment.revision
        deployed = 0 if work.before is None else work.before.number
        if deployed != work.environment.revision or (is_new and asked.called is None):
            expected, found = "an environment that is deployed as it is wanted", "one that is not"
            raise UnfinishedError(name, expected, found, f"run `trundle env deploy {name}`")
        if dry_run:
            done = dry(environments, work, _lock(work), asked.done)
            return RunResult(None, done.changes, done.value)
        return _run(environments, work, asked, tenant=tenant, by=by, action=action)


def _run(
    environments: Environments,
    work: Work,
    asked: _Asked,
    *,
    tenant: str,
    by: str,
    action: Action | None,
) -> RunResult:
    """Makes the call, and writes down what it changed."""
    environment = begin_run(environments, work.environment)
    journal = DatabaseJournal(environments.database, environment)
    begun = environments.time()
    try:
        with work.session(_lock(work), journal) as session:
            done = asked.done(session, work)
    except BaseException as error:
        if action is None:
            # What went wrong counts, even if it cannot be written down.
            with contextlib.suppress(DatabaseError):
                Actions(environments).fail_call(
                    asked.environment, asked.title, tenant=tenant, by=by, begun=begun, error=error
                )
        raise_own(error)
        raise
    if not done.is_changed:
        return RunResult(None, done.changes, done.value)
    objects = done.model["Objects"]
    deployment = unfinished(environment, Plan(asked.title, objects, done.lock, {}), by, begun)
    end(environments, environment, deployment, done)
    return RunResult(deployment.number, done.changes, done.value)


def _lock(work: Work) -> Lock:
    return {} if work.before is None else work.before.lock
