"""The rows of environments in one transaction: read as records, and changed."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Result,
    Row,
    Table,
    and_,
    delete,
    select,
    update,
)

from trundle.database import upsert
from trundle.engine.effects import Record
from trundle.environments import _tables as t
from trundle.environments._records import Deployment, Draft, Environment, Overview, State, Uses

_E, _D, _F, _S = t.ENVIRONMENTS.c, t.DEPLOYMENTS.c, t.EFFECTS.c, t.SECRETS.c
OPEN = ("waiting", "running")
"""How actions are that have not ended."""
_AS_JSON = frozenset(("providers", "wanted", "upgraded", "uses", "lock", "model", "changes"))


class Rows:
    """The rows of environments.

    Args:
        connection: the transaction.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    # Environments

    def environments(self, tenant: str) -> tuple[Environment, ...]:
        """The environments of a tenant, by name."""
        rows = self.connection.execute(select(t.ENVIRONMENTS).where(_E.tenant == tenant))
        return tuple(sorted((Environment(**_plain(row)) for row in rows), key=lambda x: x.name))

    def environment(self, tenant: str, name: str) -> Environment | None:
        """An environment; None where there is none."""
        found = select(t.ENVIRONMENTS).where(_E.tenant == tenant, _E.name == name)
        row = self.connection.execute(found).first()
        return None if row is None else Environment(**_plain(row))

    def put(self, environment: Environment) -> None:
        """Writes an environment."""
        row = {name: getattr(environment, name) for name in environment.__struct_fields__}
        upsert(self.connection, t.ENVIRONMENTS, [_row(row)])

    def is_running(self, environment: Environment) -> bool:
        """Whether it is still there, and its last run is the one that a record names; no other run begins until the transaction ends."""
        same = _E.root == environment.root
        mine = and_(_is(t.ENVIRONMENTS, environment), same, _E.run == environment.run)
        changed = update(t.ENVIRONMENTS).where(mine).values(run=environment.run)
        return self.connection.execute(changed).rowcount == 1

    def is_asked_for(self, environment: Environment) -> bool:
        """Whether actions of it wait or go on."""
        asked = and_(_is(t.ACTIONS, environment), t.ACTIONS.c.state.in_(OPEN))
        return self.connection.execute(select(t.ACTIONS.c.number).where(asked)).first() is not None

    def purge(self, environment: Environment) -> None:
        """Removes an environment with all that is kept of it."""
        for table in (
            t.LINES,
            t.ACTIONS,
            t.DRAFTS,
            t.EFFECTS,
            t.SECRETS,
            t.DEPLOYMENTS,
            t.HOLDERS,
            t.ENVIRONMENTS,
        ):
            self.connection.execute(delete(table).where(_is(table, environment)))

    # Deployments

    def deployments(
        self, environment: Environment, before: int | None = None, most: int | None = None
    ) -> tuple[Deployment, ...]:
        """Its deployments, the oldest first; the newest of those before a number, where these are given."""
        found = select(t.DEPLOYMENTS).where(_is(t.DEPLOYMENTS, environment))
        if before is not None:
            found = found.where(_D.number < before)
        rows = self.connection.execute(found.order_by(_D.number.desc()).limit(most))
        return tuple(map(_deployment, rows))[::-1]

    def deployment(self, environment: Environment, number: int) -> Deployment | None:
        """A deployment; None where there is none of that number."""
        mine = _is(t.DEPLOYMENTS, environment)
        found = select(t.DEPLOYMENTS).where(mine, _D.number == number)
        row = self.connection.execute(found).first()
        return None if row is None else _deployment(row)

    def succeeded(self, environment: Environment) -> Deployment | None:
        """The last deployment that succeeded; None where none did."""
        mine = and_(_is(t.DEPLOYMENTS, environment), _D.outcome == "succeeded")
        found = select(t.DEPLOYMENTS).where(mine).order_by(_D.number.desc()).limit(1)
        row = self.connection.execute(found).first()
        return None if row is None else _deployment(row)

    def put_deployment(self, environment: Environment, deployment: Deployment) -> None:
        """Writes a deployment."""
        row = {name: getattr(deployment, name) for name in deployment.__struct_fields__}
        upsert(self.connection, t.DEPLOYMENTS, [_key(environment) | _row(row)])

    def interrupt(self, environment: Environment, at: str) -> None:
        """Notes that deployments were interrupted which did not end."""
        mine = and_(_is(t.DEPLOYMENTS, environment), _D.outcome == "unfinished")
        self.connection.execute(
            update(t.DEPLOYMENTS).where(mine).values(outcome="interrupted", ended=at)
        )

    # Drafts

    def drafts(self, environment: Environment) -> tuple[Draft, ...]:
        """Its drafts, by name."""
        rows = self.connection.execute(select(t.DRAFTS).where(_is(t.DRAFTS, environment)))
        return tuple(sorted(map(_draft, rows), key=lambda each: each.name))

    def put_draft(self, environment: Environment, draft: Draft) -> None:
        """Writes a draft."""
        row = {name: getattr(draft, name) for name in draft.__struct_fields__}
        upsert(self.connection, t.DRAFTS, [_key(environment) | _row(row)])

    def forget_draft(self, environment: Environment, name: str) -> None:
        """Removes a draft."""
        mine = and_(_is(t.DRAFTS, environment), t.DRAFTS.c.name == name)
        self.connection.execute(delete(t.DRAFTS).where(mine))

    def forget_drafts(self, environment: Environment) -> None:
        """Removes all drafts."""
        self.connection.execute(delete(t.DRAFTS).where(_is(t.DRAFTS, environment)))

    # Effects

    def effects(self, environment: Environment) -> tuple[tuple[int, Record], ...]:
        """What the journal has, in its order, each with its position."""
        mine = _is(t.EFFECTS, environment)
        found = select(_F.position, _F.record).where(mine).order_by(_F.position)
        return tuple(
            (position, Record.from_plain(json.loads(text)))
            for position, text in self.connection.execute(found)
        )

    def put_effect(self, environment: Environment, position: int, record: Record) -> None:
        """Writes a record of the journal."""
        row = {"key": record.key, "position": position, "record": json.dumps(record.to_plain())}
        upsert(self.connection, t.EFFECTS, [_key(environment) | row])

    def forget_effect(self, environment: Environment, key: str) -> None:
        """Removes a record of the journal."""
        mine = and_(_is(t.EFFECTS, environment), _F.key == key)
        self.connection.execute(delete(t.EFFECTS).where(mine))

    # Secrets

    def secrets(self, environment: Environment) -> dict[str, str]:
        """Its secrets, by name."""
        found = select(_S.name, _S.secret).where(_is(t.SECRETS, environment)).order_by(_S.name)
        return {name: secret for name, secret in self.connection.execute(found)}  # noqa: C416 - rows

    def secrets_of_drafts(self, environment: Environment) -> set[str]:
        """The names of those that came with drafts."""
        mine = and_(_is(t.SECRETS, environment), _S.of_draft.is_(True))
        return set(self.connection.execute(select(_S.name).where(mine)).scalars())

    def put_secret(self, environment: Environment, name: str, secret: str) -> None:
        """Writes a secret; it stays, but for one that came with a draft."""
        upsert(self.connection, t.SECRETS, [_key(environment) | {"name": name, "secret": secret}])

    def put_secrets_of_draft(self, environment: Environment, secrets: Mapping[str, str]) -> None:
        """Writes secrets that come with a draft, and go when nothing refers to them; those that there are stay what they are."""
        there = self.secrets(environment).keys()
        new = [
            _key(environment) | {"name": x, "secret": text, "of_draft": True}
            for x, text in secrets.items()
            if x not in there
        ]
        upsert(self.connection, t.SECRETS, new)
        for name in secrets.keys() & there:
            self.put_secret(environment, name, secrets[name])

    def forget_secret(self, environment: Environment, name: str) -> None:
        """Removes a secret."""
        mine = and_(_is(t.SECRETS, environment), _S.name == name)
        self.connection.execute(delete(t.SECRETS).where(mine))

    # All of these

    def overviews(self, tenant: str) -> tuple[Overview, ...]:
        """What a list says of the environments of a tenant, by name."""
        return self._overviews(self.environments(tenant), _E.tenant == tenant)

    def overview(self, environment: Environment) -> Overview:
        """What a list says of an environment."""
        (found,) = self._overviews([environment], _is(t.ENVIRONMENTS, environment))
        return found

    def _overviews(
        self, environments: Sequence[Environment], chosen: ColumnElement[bool]
    ) -> tuple[Overview, ...]:
        """What a list says of environments, read at once however many there are."""

        def of(table: Table, *columns: Column[Any]) -> Iterable[Any]:
            theirs = and_(table.c.tenant == _E.tenant, table.c.environment == _E.name)
            rows = select(table.c.environment, *columns).join(t.ENVIRONMENTS, theirs).where(chosen)
            return self.connection.execute(rows.order_by(*columns[:1]))

        last = {row.environment: _deployment(row) for row in self._last(chosen)}
        drafts: dict[str, dict[str, Uses]] = {}
        for environment, name, uses in of(t.DRAFTS, t.DRAFTS.c.name, t.DRAFTS.c.uses):
            drafts.setdefault(environment, {})[name] = _pairs(json.loads(uses))
        secrets: dict[str, list[str]] = {}
        for environment, name in of(t.SECRETS, _S.name):
            secrets.setdefault(environment, []).append(name)
        return tuple(
            Overview(
                each,
                _state(each, last.get(each.name)),
                self._used(each, last.get(each.name), drafts.get(each.name, {}).values()),
                tuple(sorted(drafts.get(each.name, ()))),
                tuple(secrets.get(each.name, ())),
            )
            for each in environments
        )

    def _last(self, chosen: ColumnElement[bool]) -> Result[Any]:
        """The last deployments of environments."""
        same = and_(_D.tenant == _E.tenant, _D.environment == _E.name, _D.number == _E.revision)
        return self.connection.execute(
            select(t.DEPLOYMENTS).join(t.ENVIRONMENTS, same).where(chosen)
        )

    def uses(self, environment: Environment) -> Uses:
        """What its drafts and its last deployments use: the one that is wanted, and the one that is there."""
        last = self.deployment(environment, environment.revision)
        drafts = self.drafts(environment)
        return self._used(environment, last, [each.uses for each in drafts])

    def _used(
        self, environment: Environment, last: Deployment | None, drafts: Iterable[Uses]
    ) -> Uses:
        used = {each for uses in drafts for each in uses}
        is_there = last is None or last.outcome == "succeeded"
        for deployment in (last, last if is_there else self.succeeded(environment)):
            used |= set(deployment.uses) if deployment is not None else set()
        return tuple(sorted(used))


def _state(environment: Environment, last: Deployment | None) -> State:
    if environment.deleted:
        return "deleted"
    if last is not None and last.outcome != "succeeded":
        return "unfinished"
    return "new" if last is None or last.objects is None else "deployed"


def _key(environment: Environment) -> dict[str, Any]:
    return {"tenant": environment.tenant, "environment": environment.name}


def _is(table: Table, environment: Environment) -> ColumnElement[bool]:
    """The rows of an environment."""
    name = table.c.name if table is t.ENVIRONMENTS else table.c.environment
    return and_(table.c.tenant == environment.tenant, name == environment.name)


def _row(values: Mapping[str, Any]) -> dict[str, Any]:
    return {x: json.dumps(value) if x in _AS_JSON else value for x, value in values.items()}


def _plain(row: Row[Any]) -> dict[str, Any]:
    return {
        name: json.loads(value) if name in _AS_JSON else value
        for name, value in row._mapping.items()  # noqa: SLF001 - public, in spite of its name
    }


def _deployment(row: Row[Any]) -> Deployment:
    found = _plain(row)
    del found["tenant"], found["environment"]
    found["uses"] = _pairs(found["uses"])
    found["changes"] = _pairs(found["changes"])
    return Deployment(**found)


def _draft(row: Row[Any]) -> Draft:
    found = _plain(row)
    del found["tenant"], found["environment"]
    found["uses"] = _pairs(found["uses"])
    return Draft(**found)


def _pairs(rows: list[list[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((one, other) for one, other in rows)
