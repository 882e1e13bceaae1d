"""What a run of an environment works with: the engine over its packages, the secrets, and what is there."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from trundle.catalog import Snapshot
from trundle.database import DatabaseError
from trundle.engine import Engine, EngineError, Session
from trundle.engine.effects import Journal, MemoryJournal
from trundle.environments._environments import Environments
from trundle.environments._errors import SupersededError
from trundle.environments._holding import Holder, alone
from trundle.environments._notes import Done
from trundle.environments._records import Deployment, Environment, Lock, Model, Opening
from trundle.environments._rows import Rows


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


@contextlib.contextmanager
def opened_work(
    environments: Environments,
    name: str,
    tenant: str,
    opening: Opening,
    holder: Holder,
    *,
    dry_run: bool,
) -> Iterator[Work]:
    """What a run works with as long as the block goes on; it holds the environment, but for a dry run.

    What acts on the world is opened once the environment is held: until then, it may be put elsewhere.

    Raises:
        EnvironmentBusyError: another run has it.
        NoSuchEnvironmentError: the tenant has none of that name.
    """
    with contextlib.ExitStack() as left:
        if not dry_run:
            database, clock = environments.database, environments.clock
            left.enter_context(alone(database, name, tenant, holder, clock))
        environment = environments.get(name, tenant=tenant)
        providers = left.enter_context(opening(environment))
        snapshot = environments.snapshot(tenant)
        with environments.database.reading() as connection:
            rows = Rows(connection)
            secrets, before = rows.secrets(environment), rows.succeeded(environment)
        engine = Engine(snapshot, providers=providers, limits=environments.limits)
        yield Work(environment, engine, snapshot, secrets, before)


def dry(
    environments: Environments, work: Work, lock: Lock, run: Callable[[Session, Work], Done]
) -> Done:
    journal = MemoryJournal(
        environments.effects(work.environment.name, tenant=work.environment.tenant)
    )
    with work.session(lock, journal, dry_run=True) as session:
        return run(session, work)


def raise_own(error: BaseException) -> None:
    """Raises what the journal raised, in place of what the engine made of it.

    Raises:
        SupersededError: a later run has begun.
        DatabaseError: the database cannot be written.
    """
    original = error.original if isinstance(error, EngineError) else None
    if isinstance(original, SupersededError | DatabaseError):
        raise original from None


def _rest(model: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in model.items() if key != "Objects"}
