"""What the database has of a run: written down before it begins, and when it has ended."""

from typing import Any, NamedTuple

import msgspec

from trundle.engine.effects import EffectChange
from trundle.environments._drafts import check_same
from trundle.environments._environments import Environments
from trundle.environments._journal import check_running
from trundle.environments._records import Deployment, Draft, Environment, Lock, Model, Outcome, Uses
from trundle.environments._rows import Rows
from trundle.environments._secrets import forget_unused, unused_secrets


class Plan(NamedTuple):
    """What a deployment is to do.

    Attributes:
        action: what it is called in the history.
        wanted: the objects that are wanted; None for none.
        lock: which versions requirements got.
        upgraded: the objects whose `upgrade` method is to run, each with the version that it comes from.
        draft: the draft that it takes.
        taken: the name of the draft whose model is wanted; empty for none, None where that is not known.
    """

    action: str
    wanted: Model | None
    lock: Lock
    upgraded: dict[str, str]
    draft: Draft | None = None
    taken: str | None = ""


class Done(NamedTuple):
    """What a run has come to."""

    model: dict[str, Any]
    uses: Uses
    lock: Lock
    changes: tuple[EffectChange, ...]
    value: Any = None
    is_changed: bool = True


def pending_upgrades(rows: Rows, environment: Environment) -> dict[str, str]:
    """The objects whose `upgrade` method is still to run, as the last deployment did not succeed."""
    last = rows.deployment(environment, environment.revision)
    return {} if last is None or last.outcome == "succeeded" else last.upgraded


def begin(
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
        deployment = unfinished(environment, plan, by, environments.time(), uses)
        rows.put(begun)
        rows.put_deployment(begun, deployment)
        if plan.draft is not None:
            check_same(rows, begun, plan.draft.name, plan.draft)
            rows.forget_draft(begun, plan.draft.name)
        environments.record_uses(rows, begun)
    return begun, deployment


def begin_run(environments: Environments, environment: Environment) -> Environment:
    """Takes the number of a run that is no deployment yet."""
    with environments.database.writing() as connection:
        rows = Rows(connection)
        check_running(rows, environment)
        begun = msgspec.structs.replace(environment, run=environment.run + 1)
        rows.put(begun)
    return begun


def unfinished(
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
        draft=plan.taken,
    )


def end(
    environments: Environments, environment: Environment, deployment: Deployment, done: Done
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
    with environments.database.reading() as connection:
        unused = unused_secrets(Rows(connection), environment, ()) if is_gone else None
    with environments.catalog.changing() as connection:
        rows = Rows(connection)
        check_running(rows, environment)
        rows.put_deployment(environment, ended)
        if unused is not None:
            rows.forget_drafts(environment)
            forget_unused(rows, environment, unused)
        changed = msgspec.structs.replace(environment, revision=deployment.number, deleted=is_gone)
        rows.put(changed)
        environments.record_uses(rows, changed)


def fail(
    environments: Environments,
    environment: Environment,
    deployment: Deployment,
    error: BaseException,
    changes: tuple[EffectChange, ...],
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


def _noted(changes: tuple[EffectChange, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((each.action, each.key) for each in changes)
