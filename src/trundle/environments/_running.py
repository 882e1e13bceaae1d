"""Runs of environments that deploy: deployments, rollbacks, deletions.

A run holds the environment, so that no other one runs beside it, and has a number. Before anything happens the deployment is written down as unfinished, and the
number of the run is taken; the journal refuses every write of a run that is not the last. What a killed run left is in the journal, and the next run goes on there:
with the objects that are wanted, and those that the last deployment which succeeded had.
"""

import contextlib
from collections.abc import Callable

from trundle.database import DatabaseError
from trundle.engine import Session
from trundle.environments._drafts import check_tag, draft_to_deploy
from trundle.environments._environments import Environments
from trundle.environments._errors import UnfinishedError
from trundle.environments._existing import check_alive
from trundle.environments._holding import Holder
from trundle.environments._journal import DatabaseJournal
from trundle.environments._notes import Done, Plan, begin, end, fail, pending_upgrades
from trundle.environments._records import Environment, Opening, RunResult
from trundle.environments._rows import Rows
from trundle.environments._sessions import dumped, loaded, used
from trundle.environments._wanted import wanted_now
from trundle.environments._work import Work, dry, opened_work, raise_own

_UPGRADE, _FROM = "upgrade", "from"


def deploy(
    environments: Environments,
    name: str,
    *,
    tenant: str,
    opening: Opening,
    draft: str = "",
    tag: str | None = None,
    by: str = "",
    dry_run: bool = False,
) -> RunResult:
    """Deploys a draft, or what is wanted already.

    Args:
        environments: the environments.
        name: the environment.
        tenant: whose it is.
        opening: opens what acts on the world, once the run holds the environment.
        draft: the name of the draft; what is wanted already is deployed where it is empty, and where the last deployment has taken the draft.
        tag: the tag of the draft that the caller has read; None where any is meant.
        by: who does it.
        dry_run: whether nothing is done, nor written down.

    Raises:
        NoSuchDraftError: there is none of that name, and the last deployment has not taken it; nothing was done.
        OutdatedDraftError: others have deployed since the draft was begun, or changed it since it was read; nothing was done.
        EnvironmentBusyError: another process deploys it.
        NoSuchEnvironmentError: the tenant has none of that name, or it was deleted.
        EngineError: the model does not fit its classes, then nothing was done; or the deployment failed, which the history has.
        DatabaseError: the database cannot be written.
    """

    def plan(rows: Rows, environment: Environment) -> Plan:
        check_alive(environment)
        found = draft_to_deploy(rows, environment, draft)
        check_tag(environment, draft, found, tag)
        wanted, lock = wanted_now(rows, environment)
        pending = pending_upgrades(rows, environment)
        if found is None:
            last = rows.deployment(environment, environment.revision)
            return Plan("deploy", wanted, lock, pending, taken="" if last is None else last.draft)
        return Plan("deploy", found.model, found.lock, pending, found, found.name)

    holder = Holder("deploy", by)
    return carry_out(environments, name, tenant, opening, holder, plan, dry_run=dry_run)


def rollback(
    environments: Environments,
    name: str,
    number: int,
    *,
    tenant: str,
    opening: Opening,
    by: str = "",
    dry_run: bool = False,
) -> RunResult:
    """Makes the model of an earlier deployment the wanted one, and deploys it; also of an environment that was deleted.

    Args:
        environments: the environments.
        name: the environment.
        number: the deployment.
        tenant: whose it is.
        opening: opens what acts on the world, once the run holds the environment.
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

    holder = Holder(f"rollback to {number}", by)
    return carry_out(environments, name, tenant, opening, holder, plan, dry_run=dry_run)


def delete(
    environments: Environments,
    name: str,
    *,
    tenant: str,
    opening: Opening,
    by: str = "",
    dry_run: bool = False,
) -> RunResult:
    """Destroys the objects of an environment and removes all that was deployed, in the reverse order; its history stays.

    Args:
        environments: the environments.
        name: the environment.
        tenant: whose it is.
        opening: opens what acts on the world, once the run holds the environment.
        by: who does it.
        dry_run: whether nothing is done, nor written down.

    Raises:
        TrundleError: as for `deploy`.
    """

    def plan(rows: Rows, environment: Environment) -> Plan:
        check_alive(environment)
        return Plan("delete", None, wanted_now(rows, environment)[1], {})

    holder = Holder("delete", by)
    return carry_out(environments, name, tenant, opening, holder, plan, dry_run=dry_run)


def carry_out(
    environments: Environments,
    name: str,
    tenant: str,
    opening: Opening,
    holder: Holder,
    plan: Callable[[Rows, Environment], Plan],
    *,
    dry_run: bool,
) -> RunResult:
    """Deploys what a plan wants."""
    with opened_work(environments, name, tenant, opening, holder, dry_run=dry_run) as work:
        with environments.database.reading() as connection:
            planned = plan(Rows(connection), work.environment)
        checked = loaded(work.engine, work.snapshot, work.whole(planned.wanted), planned.lock)
        planned = planned._replace(wanted=checked.model, lock=checked.lock)

        def run(session: Session, work: Work) -> Done:
            return _deployed(session, work, planned)

        if dry_run:
            return RunResult(None, dry(environments, work, planned.lock, run).changes)
        environment, deployment = begin(
            environments, work.environment, planned, checked.uses, holder.by
        )
        journal = DatabaseJournal(environments.database, environment)
        session = work.session(planned.lock, journal)
        try:
            with session:
                done = run(session, work)
        except BaseException as error:
            # What went wrong counts, even if it cannot be written down.
            with contextlib.suppress(DatabaseError):
                fail(environments, environment, deployment, error, session.changes)
            raise_own(error)
            raise
        end(environments, environment, deployment, done)
        return RunResult(deployment.number, done.changes)


def _deployed(session: Session, work: Work, plan: Plan) -> Done:
    """Deploys a model in a session."""
    root = session.load(work.whole(plan.wanted))
    session.finish()  # What is no longer wanted ends before anything else runs
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
    return Done(dumped(session, root), *used(session, work.snapshot), session.changes)
