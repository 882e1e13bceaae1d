"""Environments: made, listed, drafted. What runs is in `_running.py`."""

import contextlib
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping

import msgspec

from trundle._clock import Clock, now
from trundle.catalog import Catalog, Snapshot
from trundle.database import Database
from trundle.engine import Limits
from trundle.engine.effects import Record, secrets_in
from trundle.environments import _tables as t
from trundle.environments._drafts import (
    check_base,
    check_root,
    check_same,
    check_tag,
    draft_of,
    named,
)
from trundle.environments._errors import (
    EnvironmentExistsError,
    InvalidNameError,
    NoSuchDeploymentError,
)
from trundle.environments._existing import (
    check_alive,
    check_deleted,
    check_free,
    check_unasked,
    existing,
)
from trundle.environments._holding import Holder, alone
from trundle.environments._provider_settings import changed_reach
from trundle.environments._records import (
    Deployment,
    Draft,
    Environment,
    Model,
    Overview,
    Providers,
)
from trundle.environments._rows import Rows
from trundle.environments._secrets import (
    UnusedSecrets,
    check_kept,
    check_secrets,
    forget_unused,
    unused_secrets,
)
from trundle.environments._wanted import wanted_now
from trundle.packages import Package
from trundle.version import SemVer


class Environments:
    """The environments that are kept in the database of a catalog.

    Args:
        catalog: the catalog, open.
        clock: gives the time.
        limits: how much the code of packages may ask for.
        arriving: packages that all tenants see beside those of the catalog, for dry runs with them.

    Raises:
        DatabaseError: the database cannot be used; the class says why.
    """

    def __init__(
        self,
        catalog: Catalog,
        *,
        clock: Clock = now,
        limits: Limits | None = None,
        arriving: Collection[Package] = (),
    ) -> None:
        self.catalog = catalog
        self._arriving = arriving
        self.limits = limits
        self.clock = clock
        self.database.migrate(t.MIGRATIONS)

    @property
    def database(self) -> Database:
        """The database."""
        return self.catalog.database

    def get(self, name: str, *, tenant: str) -> Environment:
        """An environment.

        Raises:
            NoSuchEnvironmentError: the tenant has none of that name.
        """
        with self._reading() as rows:
            return existing(rows, name, tenant)

    def create(
        self,
        name: str,
        *,
        tenant: str,
        providers: Providers | None = None,
        place: str = "",
        dry_run: bool = False,
    ) -> Environment:
        """Makes an environment; one that was deleted begins anew, and keeps its history.

        Args:
            name: its name.
            tenant: whose it is.
            providers: the settings of its providers, by their names.
            place: the place of a server that these are of; empty for none.
            dry_run: whether nothing is written.

        Raises:
            EnvironmentExistsError: there is one of that name.
            EnvironmentBusyError: a run of one that was deleted goes on.
            InvalidNameError: no environment can be called so.
            InvalidTenantError: no environment or no tenant can be called so.
            DatabaseError: it cannot be written; nothing was.
        """
        if not name or not name.isprintable() or "/" in name:
            expected, advice = "a name that can be printed, without a slash", "correct the name"
            raise InvalidNameError("the environment", expected, repr(name), advice)
        with self._reading() as rows:
            check_free(rows.environment(tenant, name))
        with self._held(name, tenant, "create", dry_run=dry_run) as rows:
            check_free(old := rows.environment(tenant, name))
            there = self.catalog.environments(tenant, within=rows.connection)
            if name in {each.name for each in there}:
                expected, found = "no environment of that name", "one whose model is kept elsewhere"
                advice = f"choose another name, or run `trundle catalog use {name} --forget`"
                raise EnvironmentExistsError(name, expected, found, advice)
            made = Environment(
                tenant,
                name,
                uuid.uuid4().hex if old is None else old.root,
                providers or {},
                0 if old is None else old.revision,
                0 if old is None else old.run + 1,
                self.time(),
                deleted=False,
                place=place,
            )
            self.catalog.use(name, (), tenant=tenant, dry_run=dry_run, within=rows.connection)
            if not dry_run:
                rows.put(made)
        return made

    def configure(
        self, name: str, providers: Providers, *, tenant: str, dry_run: bool = False
    ) -> Environment:
        """Changes the settings of providers; those that are not named stay.

        While there are effects at the place of a provider, its settings may only say what was left open: a context that was `-`, and
        the kubeconfig.

        Args:
            name: the environment.
            providers: the settings, by the names of providers.
            tenant: whose it is.
            dry_run: whether nothing is written.

        Returns:
            The environment as it is then.

        Raises:
            ProviderInUseError: there are effects at the place where a provider is now.
            EnvironmentBusyError: a run of it goes on.
            NoSuchEnvironmentError: the tenant has none of that name.
            DatabaseError: it cannot be written; nothing was.
        """
        with self._held(name, tenant, "configure", dry_run=dry_run) as rows:
            old = existing(rows, name, tenant)
            new = msgspec.structs.replace(old, providers={**old.providers, **providers})
            return changed_reach(rows, old, new, old.providers, dry_run=dry_run)

    def put_at(
        self,
        name: str,
        place: str,
        providers: Providers,
        *,
        tenant: str,
        reached: Callable[[Environment], Providers],
        dry_run: bool = False,
    ) -> Environment:
        """Puts an environment at a place of a server: it has the providers of that one, and no others.

        Args:
            name: the environment.
            place: the place; empty for none.
            providers: the settings of its providers, by their names.
            tenant: whose it is.
            reached: gives the settings with which its runs reach the world where it is now.
            dry_run: whether nothing is written.

        Returns:
            The environment as it is then.

        Raises:
            TrundleError: as for `configure`.
        """
        with self._held(name, tenant, "move to another place", dry_run=dry_run) as rows:
            old = existing(rows, name, tenant)
            new = msgspec.structs.replace(old, providers=providers, place=place)
            return changed_reach(rows, old, new, reached(old), dry_run=dry_run)

    def overviews(self, tenant: str) -> tuple[Overview, ...]:
        """The environments of a tenant, by name, with what a list says of each."""
        with self._reading() as rows:
            return rows.overviews(tenant)

    def overview(self, name: str, *, tenant: str) -> Overview:
        """An environment, with what a list says of it.

        Raises:
            NoSuchEnvironmentError: the tenant has none of that name.
        """
        with self._reading() as rows:
            return rows.overview(existing(rows, name, tenant))

    def history(
        self, name: str, *, tenant: str, before: int | None = None, most: int | None = None
    ) -> tuple[Deployment, ...]:
        """The deployments of an environment, the oldest first.

        Args:
            name: the environment.
            tenant: whose it is.
            before: only those with a smaller number, where it is given.
            most: how many of them, the newest; all where None.

        Raises:
            NoSuchEnvironmentError: the tenant has none of that name.
        """
        with self._reading() as rows:
            return rows.deployments(existing(rows, name, tenant), before, most)

    def deployment(self, name: str, number: int, *, tenant: str) -> Deployment:
        """A deployment.

        Raises:
            NoSuchDeploymentError: there is none of that number.
            NoSuchEnvironmentError: the tenant has none of that name.
        """
        with self._reading() as rows:
            environment = existing(rows, name, tenant)
            found = rows.deployment(environment, number)
        if found is None:
            known = f"1 to {environment.revision}" if environment.revision else "none yet"
            advice = f"run `trundle env history {name}` to see them"
            raise NoSuchDeploymentError(name, f"deployment {number}", known, advice)
        return found

    def effects(self, name: str, *, tenant: str) -> tuple[Record, ...]:
        """What the journal of an environment has, in its order.

        Raises:
            NoSuchEnvironmentError: the tenant has none of that name.
        """
        with self._reading() as rows:
            return tuple(each for _, each in rows.effects(existing(rows, name, tenant)))

    def model(self, name: str, *, tenant: str) -> Model:
        """The model that is wanted now, without any draft.

        Raises:
            NoSuchEnvironmentError: the tenant has none of that name.
        """
        with self._reading() as rows:
            return wanted_now(rows, existing(rows, name, tenant))[0]

    def purge(self, name: str, *, tenant: str, dry_run: bool = False) -> None:
        """Removes the history of an environment that was deleted.

        Args:
            name: the environment.
            tenant: whose it is.
            dry_run: whether nothing is written.

        Raises:
            EnvironmentExistsError: it is not deleted.
            EnvironmentBusyError: a run of it goes on, or was asked for.
            NoSuchEnvironmentError: the tenant has none of that name.
        """
        check_deleted(self.get(name, tenant=tenant))
        with self._held(name, tenant, "purge", dry_run=dry_run) as rows:
            check_deleted(environment := existing(rows, name, tenant))
            check_unasked(rows, environment)
            if dry_run:
                return
            rows.purge(environment)
            self.catalog.use(name, (), tenant=tenant, within=rows.connection)

    # Drafts

    def drafts(self, name: str, *, tenant: str) -> tuple[Draft, ...]:
        """The drafts of an environment, by name.

        Raises:
            NoSuchEnvironmentError: the tenant has none of that name.
        """
        with self._reading() as rows:
            return rows.drafts(existing(rows, name, tenant))

    def edit(
        self,
        name: str,
        change: Callable[[Model], Model],
        *,
        tenant: str,
        draft: str,
        by: str = "",
        secrets: Mapping[str, str] | None = None,
        tag: str | None = None,
        dry_run: bool = False,
    ) -> Draft:
        """Changes a draft; where there is none, it begins with the model that is wanted now.

        Args:
            name: the environment.
            change: gives the changed model; it may take its time, and what others have changed meanwhile is a conflict.
            tenant: whose it is.
            draft: the name of the draft.
            by: who changes it.
            secrets: secrets that the change adds, by name; they go when nothing refers to them any more.
            tag: the tag of the draft that is changed; empty where there shall be none, None where any may be there.
            dry_run: whether nothing is written.

        Returns:
            The draft, with the version of each object.

        Raises:
            OutdatedDraftError: others have changed the environment since the draft was begun, or the draft, or have put another environment in its place; nothing was written.
            InvalidSecretError: no database can keep a secret.
            NoSuchEnvironmentError: the tenant has none of that name.
            EngineError: the model does not fit the classes of its packages.
            DatabaseError: it cannot be written; nothing was.
        """
        from trundle.environments._sessions import loaded_once  # noqa: PLC0415 - it needs the engine

        check_secrets(secrets or {})
        with self._reading() as rows:
            environment = existing(rows, name, tenant)
            check_alive(environment)
            old = draft_of(rows, environment, draft)
            check_tag(environment, draft, old, tag)
            model, lock = wanted_now(rows, environment)
        base = environment.revision if old is None else old.base
        changed = change(model if old is None else old.model)
        kept = lock if old is None else old.lock
        found = loaded_once(self.snapshot(tenant), self.limits, {"Objects": changed}, kept)
        assert found.model is not None
        edition = 1 if old is None else old.edition + 1
        made = Draft(draft, base, edition, by, self.time(), found.uses, found.lock, found.model)
        if dry_run:
            return made
        named_in = secrets_in(made.model)
        wanted = {x: text for x, text in (secrets or {}).items() if x in named_in}
        unused = self._unused(environment, draft, made.model)
        with self.catalog.changing() as connection:
            rows = Rows(connection)
            environment, read = existing(rows, name, tenant), environment
            check_root(environment, draft, read)
            check_base(rows, environment, base)
            check_same(rows, environment, draft, old)
            rows.put_draft(environment, made)
            rows.put_secrets_of_draft(environment, wanted)
            forget_unused(rows, environment, unused)
            self.record_uses(rows, environment)
        return made

    def draft(self, name: str, draft: str, *, tenant: str) -> Draft:
        """A draft.

        Raises:
            NoSuchDraftError: there is none of that name.
            NoSuchEnvironmentError: the tenant has none of that name.
        """
        with self._reading() as rows:
            environment = existing(rows, name, tenant)
            return named(rows.drafts(environment), environment, draft)

    def discard(
        self, name: str, *, tenant: str, draft: str, tag: str | None = None, dry_run: bool = False
    ) -> None:
        """Removes a draft, and the secrets that came with it and are not used elsewhere.

        Args:
            name: the environment.
            tenant: whose it is.
            draft: the name of the draft.
            tag: the tag of the draft that the caller has read; None where any is meant.
            dry_run: whether nothing is written.

        Raises:
            OutdatedDraftError: it was changed since it was read.
            NoSuchDraftError: there is none of that name.
            NoSuchEnvironmentError: the tenant has none of that name.
            DatabaseError: it cannot be written; nothing was.
        """
        unused = self._unused(self.get(name, tenant=tenant), draft)
        with self.catalog.changing() as connection:
            rows = Rows(connection)
            environment = existing(rows, name, tenant)
            check_tag(environment, draft, named(rows.drafts(environment), environment, draft), tag)
            if dry_run:
                return
            rows.forget_draft(environment, draft)
            forget_unused(rows, environment, unused)
            self.record_uses(rows, environment)

    # Secrets

    def set_secret(
        self, name: str, secret: str, text: str | None, *, tenant: str, dry_run: bool = False
    ) -> None:
        """Keeps a secret, or removes it.

        Args:
            name: the environment.
            secret: the name of the secret.
            text: the secret; None to remove it.
            tenant: whose it is.
            dry_run: whether nothing is written.

        Raises:
            InvalidNameError: no secret can be called so.
            InvalidSecretError: no database can keep it.
            NoSuchEnvironmentError: the tenant has none of that name.
            NoSuchSecretError: there is none of that name to remove.
            DatabaseError: it cannot be written; nothing was.
        """
        check_secrets({secret: text or ""})
        with self.catalog.changing() as connection:
            rows = Rows(connection)
            environment = existing(rows, name, tenant)
            if text is None:
                check_kept(rows, environment, secret)
            if dry_run:
                return
            if text is None:
                rows.forget_secret(environment, secret)
            else:
                rows.put_secret(environment, secret, text)

    # For runs

    def secret_texts(self, name: str, *, tenant: str) -> dict[str, str]:
        """The secrets of an environment by name, so that what is shown of a run has none of them.

        Raises:
            NoSuchEnvironmentError: the tenant has none of that name.
        """
        with self._reading() as rows:
            return rows.secrets(existing(rows, name, tenant))

    def time(self) -> str:
        """The time, as it is kept."""
        return self.clock().isoformat(timespec="seconds")

    def record_uses(self, rows: Rows, environment: Environment) -> None:
        """Records in the catalog what an environment uses.

        Raises:
            NoSuchPackageError: it uses what the tenant does not see any more.
        """
        versions = [(name, SemVer.parse(version)) for name, version in rows.uses(environment)]
        tenant, within = environment.tenant, rows.connection
        self.catalog.use(environment.name, versions, tenant=tenant, within=within)

    def snapshot(self, tenant: str) -> Snapshot:
        """The packages that a tenant sees."""
        return self.catalog.snapshot(tenant).beside(self._arriving)

    def expecting(self, arriving: Collection[Package]) -> "Environments":
        """The same environments, as if the catalog had further packages; for dry runs."""
        return Environments(self.catalog, clock=self.clock, limits=self.limits, arriving=arriving)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[Rows]:
        with self.database.reading() as connection:
            yield Rows(connection)

    @contextlib.contextmanager
    def _held(self, name: str, tenant: str, action: str, *, dry_run: bool) -> Iterator[Rows]:
        """Changes what runs of an environment rely on, while none goes on; a dry run waits for none."""
        mine = alone(self.database, name, tenant, Holder(action), self.clock)
        with contextlib.nullcontext() if dry_run else mine, self.catalog.changing() as connection:
            yield Rows(connection)

    def _unused(self, environment: Environment, draft: str, *model: Model) -> UnusedSecrets:
        """The secrets to which nothing refers once a draft has another model, or is gone."""
        with self._reading() as rows:
            kept = (each.model for each in rows.drafts(environment) if each.name != draft)
            return unused_secrets(rows, environment, [*model, *kept])
