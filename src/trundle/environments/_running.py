"""Runs of environments: deploys, calls, rollbacks, deletions.

A run holds the environment, so that no other one runs beside it, and has a number. Before anything happens the deployment is written down as unfinished, and the
number of the run is taken; the journal refuses every write of a run that is not the last. What a killed run left is in the journal, and the next run goes on there:
with the objects that are wanted, and those that the last deployment which succeeded had.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from trundle.catalog import Snapshot
from trundle.database import BusyError, DatabaseError
from trundle.engine import Engine, EngineError, Session
from trundle.engine.effects import Change, Journal, MemoryJournal, Provider
from trundle.environments._environments import Environments, check_alive, check_edition, wanted_now
from trundle.environments._errors import (
    EnvironmentBusyError,
    NoSuchObjectError,
    SupersededError,
    UnfinishedError,
)
from trundle.environments._journal import DatabaseJournal, check_running
from trundle.environments._models import (
    dumped,
    handle_of,
    loaded,
    plain_value,
    used,
)
from trundle.environments._records import (
    Deployment,
    Draft,
    Environment,
    Lock,
    Model,
    Outcome,
    Result,
    Uses,
)
from trundle.environments._rows import Rows
from trundle.errors import did_you_mean

_UPGRADE, _FROM = "upgrade", "from"


class Plan(NamedTuple):
    """What a deployment is to do.

    Attributes:
        action: what it is called in the history.
        wanted: the objects that are wanted; None for none.
        lock: which versions requirements got.
        upgraded: the objects whose `upgrade` method is to run, each with the version that it comes from.
        draft: the draft that it takes.
    """

    action: str
    wanted: Model | None
    lock: Lock
    upgraded: dict[str, str]
    draft: Draft | None = None


class Work(NamedTuple):
    """What a run works with.

    Attributes:
        environment: the environment, with the number of the run.
        engine: the engine.
        snapshot: the packages of the engine that the catalog has.
        secrets: the secrets, by name.
        before: the last deployment that succeeded; None where none did.
    """

    environment: Environment
    engine: Engine
    snapshot: Snapshot
    secrets: Mapping[str, str]
    before: Deployment | None

    def session(self, lock: Lock, journal: Journal, *, dry_run: bool = False) -> Session:
        """A session of the engine, with the secrets."""
        return self.engine.session(lock, journal=journal, secrets=self.secrets, dry_run=dry_run)

    def whole(self, wanted: Model | None) -> dict[str, Any]:
        """The model to load: what is wanted, what is there, and what code remembers of it."""
        there = None if self.before is None else self.before.model
        found: dict[str, Any] = {"Objects": wanted}
        return (
            found if there is None else {**found, "ObjectsCopy": there["Objects"], **_rest(there)}
        )


class _Done(NamedTuple):
    """What a run has come to."""

    model: dict[str, Any]
    uses: Uses
    lock: Lock
    changes: tuple[Change, ...]
    value: Any = None
    is_changed: bool = True


def deploy(
    environments: Environments,
    name: str,
    *,
    tenant: str,
    providers: Mapping[str, Provider],
    draft: str = "",
    by: str = "",
    dry_run: bool = False,
) -> Result:
    """Deploys a draft, or what is wanted already where there is none.

    Args:
        environments: the environments.
        name: the environment.
        tenant: whose it is.
        providers: what acts on the world.
        draft: the name of the draft.
        by: who does it.
        dry_run: whether nothing is done, nor written down.

    Raises:
        OutdatedDraftError: others have deployed since the draft was begun; nothing was done.
        EnvironmentBusyError: another process deploys it.
        NoSuchEnvironmentError: the tenant has none of that name, or it was deleted.
        EngineError: the model does not fit its classes, then nothing was done; or the deployment failed, which the history has.
        DatabaseError: the database cannot be written.
    """

    def plan(rows: Rows, environment: Environment) -> Plan:
        check_alive(environment)
        found = environments.draft_of(rows, environment, draft)
        wanted, lock = wanted_now(rows, environment)
        pending = pending_upgrades(rows, environment)
        if found is None:
            return Plan("deploy", wanted, lock, pending)
        return Plan("deploy", found.model, found.lock, pending, found)

    return carry_out(environments, name, tenant, providers, plan, by=by, dry_run=dry_run)


def rollback(
    environments: Environments,
    name: str,
    number: int,
    *,
    tenant: str,
    providers: Mapping[str, Provider],
    by: str = "",
    dry_run: bool = False,
) -> Result:
    """Makes the model of an earlier deployment the wanted one, and deploys it; also of an environment that was deleted.

    Args:
        environments: the environments.
        name: the environment.
        number: the deployment.
        tenant: whose it is.
        providers: what acts on the world.
        by: who does it.
        dry_run: whether nothing is done, nor written down.

    Raises:
        NoSuchDeploymentError: there is none of that number.
        EngineError: a package of it is not there any more, or as for `deploy`.
        TrundleError: as for `deploy`.
    """
    chosen = environments.deployment(name, number, tenant=tenant)

    def plan(rows: Rows, environment: Environment) -> Plan:
        del rows
        wanted = chosen.objects
        if wanted is None:
            expected, advice = "a deployment with objects", "choose an earlier one"
            raise UnfinishedError(environment.name, expected, chosen.action, advice)
        return Plan(f"rollback to {number}", wanted, chosen.lock, {})

    return carry_out(environments, name, tenant, providers, plan, by=by, dry_run=dry_run)


def delete(
    environments: Environments,
    name: str,
    *,
    tenant: str,
    providers: Mapping[str, Provider],
    by: str = "",
    dry_run: bool = False,
) -> Result:
    """Destroys the objects of an environment and removes all that was deployed, in the reverse order; its history stays.

    Args:
        environments: the environments.
        name: the environment.
        tenant: whose it is.
        providers: what acts on the world.
        by: who does it.
        dry_run: whether nothing is done, nor written down.

    Raises:
        TrundleError: as for `deploy`.
    """

    def plan(rows: Rows, environment: Environment) -> Plan:
        check_alive(environment)
        return Plan("delete", None, wanted_now(rows, environment)[1], {})

    return carry_out(environments, name, tenant, providers, plan, by=by, dry_run=dry_run)


def call(
    environments: Environments,
    name: str,
    target: str,
    method: str,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    tenant: str,
    providers: Mapping[str, Provider],
    by: str = "",
    dry_run: bool = False,
) -> Result:
    """Calls a public method of an object as it was deployed, and keeps what it changed.

    Args:
        environments: the environments.
        name: the environment.
        target: the id of the object, or its name.
        method: the method.
        args: values by position.
        kwargs: values by name.
        tenant: whose it is.
        providers: what acts on the world.
        by: who does it.
        dry_run: whether nothing is done, nor written down.

    Raises:
        UnfinishedError: the environment is not deployed as it is wanted.
        NoSuchObjectError: there is no such object.
        TrundleError: as for `deploy`; what the method throws is an `EngineError`.
    """

    def run(session: Session, work: Work) -> _Done:
        assert work.before is not None
        assert work.before.model is not None
        root = session.load(work.whole(work.before.model["Objects"]))
        before = dumped(session, root)
        object_ = handle_of(session, target)
        if object_ is None:
            known = [*session.objects, *(x.name for x in session.objects.values() if x.name)]
            advice = did_you_mean(target, known, f"run `trundle env show {name}` to see them")
            raise NoSuchObjectError(name, f"one object {target}", "none, or several", advice)
        value = plain_value(session, session.call(object_, method, args, kwargs or {}))
        session.finish()
        after, (uses, lock) = dumped(session, root), used(session, work.snapshot)
        acted = any(each.action != "unchanged" for each in session.changes)
        is_changed = acted or after != before
        return _Done(after, uses, lock, session.changes, value, is_changed)

    with contextlib.ExitStack() as left:
        if not dry_run:
            left.enter_context(alone(environments, name, tenant))
        work = _work(environments, name, tenant, providers)
        check_alive(work.environment)
        if work.before is None or work.before.number != work.environment.revision:
            expected, found = "an environment that is deployed as it is wanted", "one that is not"
            raise UnfinishedError(name, expected, found, f"run `trundle env deploy {name}`")
        if dry_run:
            done = _dry(environments, work, work.before.lock, run)
            return Result(None, done.changes, done.value)
        environment = _begin_run(environments, work.environment)
        journal = DatabaseJournal(environments.database, environment)
        begun = environments.time()
        try:
            with work.session(work.before.lock, journal) as session:
                done = run(session, work)
        except EngineError as error:
            _raise_own(error)
            raise
        if not done.is_changed:
            return Result(None, done.changes, done.value)
        objects = done.model["Objects"]
        action = f"call {target}.{method}"
        deployment = _unfinished(environment, Plan(action, objects, done.lock, {}), by, begun)
        _end(environments, environment, deployment, done)
        return Result(deployment.number, done.changes, done.value)


def carry_out(
    environments: Environments,
    name: str,
    tenant: str,
    providers: Mapping[str, Provider],
    plan: Callable[[Rows, Environment], Plan],
    *,
    by: str,
    dry_run: bool,
) -> Result:
    """Deploys what a plan wants."""
    with contextlib.ExitStack() as left:
        if not dry_run:
            left.enter_context(alone(environments, name, tenant))
        work = _work(environments, name, tenant, providers)
        with environments.database.reading() as connection:
            planned = plan(Rows(connection), work.environment)
        checked = loaded(work.engine, work.snapshot, work.whole(planned.wanted), planned.lock)
        planned = planned._replace(wanted=checked.model, lock=checked.lock)

        def run(session: Session, work: Work) -> _Done:
            return _deployed(session, work, planned)

        if dry_run:
            return Result(None, _dry(environments, work, planned.lock, run).changes)
        environment, deployment = _begin(environments, work.environment, planned, checked.uses, by)
        journal = DatabaseJournal(environments.database, environment)
        session = work.session(planned.lock, journal)
        try:
            with session:
                done = run(session, work)
        except BaseException as error:
            # What went wrong counts, even if it cannot be written down.
            with contextlib.suppress(DatabaseError):
                _fail(environments, environment, deployment, error, session.changes)
            _raise_own(error)
            raise
        _end(environments, environment, deployment, done)
        return Result(deployment.number, done.changes)


def _deployed(session: Session, work: Work, plan: Plan) -> _Done:
    """Deploys a model in a session."""
    root = session.load(work.whole(plan.wanted))
    for identifier, version in plan.upgraded.items():
        object_ = session.objects.get(identifier)
        method = None if object_ is None else object_.type.methods.get(_UPGRADE)
        if object_ is not None and method is not None:
            values = {_FROM: version} if _FROM in method.arguments else {}
            session.call(object_, _UPGRADE, (), values, internal=True)
    if root is not None:
        session.call(root, "deploy")
    session.finish()
    session.settle()
    return _Done(dumped(session, root), *used(session, work.snapshot), session.changes)


def _dry(
    environments: Environments, work: Work, lock: Lock, run: Callable[[Session, Work], _Done]
) -> _Done:
    journal = MemoryJournal(
        environments.effects(work.environment.name, tenant=work.environment.tenant)
    )
    with work.session(lock, journal, dry_run=True) as session:
        return run(session, work)


@contextlib.contextmanager
def alone(environments: Environments, name: str, tenant: str) -> Iterator[None]:
    """Keeps other runs of an environment out.

    Raises:
        EnvironmentBusyError: another one has it.
    """
    with contextlib.ExitStack() as left:
        try:
            left.enter_context(environments.database.alone(f"environment {tenant}/{name}"))
        except BusyError:
            expected, found = "no other run of the environment", "one that goes on"
            advice = "try again when it has ended"
            raise EnvironmentBusyError(name, expected, found, advice) from None
        yield


def _work(
    environments: Environments, name: str, tenant: str, providers: Mapping[str, Provider]
) -> Work:
    environment = environments.get(name, tenant=tenant)
    snapshot = environments.snapshot(tenant)
    with environments.database.reading() as connection:
        rows = Rows(connection)
        secrets, before = rows.secrets(environment), rows.succeeded(environment)
    engine = Engine(snapshot, providers=providers, limits=environments.limits)
    return Work(environment, engine, snapshot, secrets, before)


def pending_upgrades(rows: Rows, environment: Environment) -> dict[str, str]:
    """The objects whose `upgrade` method is still to run, as the last deployment did not succeed."""
    last = rows.deployment(environment, environment.revision)
    return {} if last is None or last.outcome == "succeeded" else last.upgraded


def _begin(
    environments: Environments, environment: Environment, plan: Plan, uses: Uses, by: str
) -> tuple[Environment, Deployment]:
    """Writes down that a deployment begins."""
    with environments.catalog.changing() as connection:
        rows = Rows(connection)
        check_running(rows, environment)
        rows.interrupt(environment, environments.time())
        begun = msgspec.structs.replace(
            environment,
            run=environment.run + 1,
            revision=environment.revision + 1,
            deleted=False,
        )
        deployment = _unfinished(environment, plan, by, environments.time(), uses)
        rows.put(begun)
        rows.put_deployment(begun, deployment)
        if plan.draft is not None:
            check_edition(rows, begun, plan.draft.name, plan.draft.edition)
            rows.forget_draft(begun, plan.draft.name)
        environments.record_uses(rows, begun)
    return begun, deployment


def _begin_run(environments: Environments, environment: Environment) -> Environment:
    """Takes the number of a run that is no deployment yet."""
    with environments.database.writing() as connection:
        rows = Rows(connection)
        check_running(rows, environment)
        begun = msgspec.structs.replace(environment, run=environment.run + 1)
        rows.put(begun)
    return begun


def _unfinished(
    environment: Environment, plan: Plan, by: str, begun: str, uses: Uses = ()
) -> Deployment:
    return Deployment(
        number=environment.revision + 1,
        action=plan.action,
        by=by,
        begun=begun,
        ended="",
        outcome="unfinished",
        error="",
        wanted=plan.wanted,
        upgraded=plan.upgraded,
        uses=uses,
        lock=plan.lock,
        model=None,
        changes=(),
    )


def _end(
    environments: Environments, environment: Environment, deployment: Deployment, done: _Done
) -> None:
    """Writes down what a deployment came to."""
    ended = msgspec.structs.replace(
        deployment,
        ended=environments.time(),
        outcome="succeeded",
        uses=done.uses,
        lock=done.lock,
        model=done.model,
        changes=_noted(done.changes),
    )
    is_gone = done.model["Objects"] is None
    with environments.catalog.changing() as connection:
        rows = Rows(connection)
        check_running(rows, environment)
        rows.put_deployment(environment, ended)
        if is_gone:
            rows.forget_drafts(environment)
        changed = msgspec.structs.replace(environment, revision=deployment.number, deleted=is_gone)
        rows.put(changed)
        environments.record_uses(rows, changed)


def _fail(
    environments: Environments,
    environment: Environment,
    deployment: Deployment,
    error: BaseException,
    changes: tuple[Change, ...],
) -> None:
    outcome: Outcome = "failed" if isinstance(error, Exception) else "interrupted"
    failed = msgspec.structs.replace(
        deployment,
        ended=environments.time(),
        outcome=outcome,
        error=str(error) if isinstance(error, Exception) else "",
        changes=_noted(changes),
    )
    with environments.database.writing() as connection:
        rows = Rows(connection)
        if rows.is_running(environment):
            rows.put_deployment(environment, failed)


def _raise_own(error: BaseException) -> None:
    """Raises what the journal raised, in place of what the engine made of it.

    Raises:
        SupersededError: a later run has begun.
        DatabaseError: the database cannot be written.
    """
    original = error.original if isinstance(error, EngineError) else None
    if isinstance(original, SupersededError | DatabaseError):
        raise original from None


def _noted(changes: tuple[Change, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((each.action, each.key) for each in changes)


def _rest(model: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in model.items() if key != "Objects"}
