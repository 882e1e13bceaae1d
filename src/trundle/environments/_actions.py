"""Actions: runs of environments that were asked for and go on in the background, with what is known of each while it runs and afterwards.

A server has a *seat* while it lives: a number whose lock dies with the server. What it was asked for has the number, so other servers see whose runs have
died. Where the connection with the lock is lost, the server takes its seat again before it looks at actions or begins one.
"""

import contextlib
import json
from collections.abc import Collection, Iterator
from typing import Any, Literal, TypeAlias

import msgspec
from sqlalchemy import ColumnElement, Connection, Row, Table, and_, delete, func, select, update

from trundle.database import BusyError, Database, DatabaseError, upsert
from trundle.environments import _tables as t
from trundle.environments._environments import Environments
from trundle.environments._errors import NoSuchActionError
from trundle.environments._existing import existing
from trundle.environments._rows import OPEN, Rows
from trundle.environments._seats import Seat, alone_at, free_seat
from trundle.errors import TrundleError, expectation

ActionState: TypeAlias = Literal["waiting", "running", "succeeded", "failed", "interrupted"]
"""How an action is: `interrupted` is one whose process or server has died."""

CALL = "call "
"""How the titles of calls begin."""
_KEPT = 200
"""How many actions of an environment are kept, and how many dry runs beside them."""
_A, _L = t.ACTIONS.c, t.LINES.c


class Action(msgspec.Struct, frozen=True):
    """A run that was asked for.

    Attributes:
        tenant: whose it is.
        environment: the environment.
        number: its number within the environment.
        action: what it does: `deploy`, `call web.scale`, `rollback to 3`, `upgrade`, `delete`.
        by: who asked for it; empty where that is not known.
        state: how it is.
        created: when it was asked for.
        begun: when it began; empty where it has not.
        ended: when it ended; empty where it has not.
        doing: the method that runs.
        error: why it failed, as `message` and `code`; None where it did not.
        result: what it came to, as plain values; None before that.
        seat: the seat of its server; 0 for none.
        effects: how many effects it has carried out or removed.
        dry_run: whether nothing is done.
    """

    tenant: str
    environment: str
    number: int
    action: str
    by: str
    state: ActionState
    created: str
    begun: str
    ended: str
    doing: str
    error: dict[str, str] | None
    result: dict[str, Any] | None
    seat: int
    effects: int
    dry_run: bool

    def to_plain_deployment(self) -> dict[str, Any]:
        """A call that failed as the plain values of a deployment, for histories of both."""
        return {
            "number": None,
            "action": self.action,
            "by": self.by,
            "begun": self.begun,
            "ended": self.ended,
            "outcome": self.state,
            "error": (self.error or {}).get("message", ""),
            "uses": [],
            "changes": [],
        }


class ActionLine(msgspec.Struct, frozen=True):
    """What an action said.

    Attributes:
        number: its number within the action, from 1 on.
        at: when.
        line: the text.
    """

    number: int
    at: str
    line: str


class Actions:
    """The actions of environments.

    Args:
        environments: the environments.
    """

    def __init__(self, environments: Environments) -> None:
        self._environments = environments
        self._seats: dict[int, Seat] = {}

    @property
    def _database(self) -> Database:
        return self._environments.database

    @contextlib.contextmanager
    def seated(self) -> Iterator[Seat]:
        """Takes a seat for a server as long as the block runs, and notes which actions of others were interrupted."""
        seat = free_seat(self._database)
        try:
            self._interrupt(seat.number)
            self._seats[seat.number] = seat
            self.settle()
            yield seat
        finally:
            self._seats.pop(seat.number, None)
            seat.leave()

    def begin(
        self,
        name: str,
        action: str,
        *,
        tenant: str,
        by: str,
        seat: Seat | None = None,
        dry_run: bool = False,
    ) -> Action:
        """Writes down that a run was asked for.

        Args:
            name: the environment.
            action: what it does.
            tenant: whose it is.
            by: who asked for it.
            seat: the seat of the server that runs it; None for a run of no server.
            dry_run: whether nothing is done.

        Raises:
            NoSuchEnvironmentError: the tenant has no such environment.
            DatabaseError: it cannot be written.
        """
        if seat is not None:
            seat.keep()
        number = 0 if seat is None else seat.number
        with self._environments.catalog.changing() as connection:
            existing(Rows(connection), name, tenant)
            mine = and_(_A.tenant == tenant, _A.environment == name)
            newest = connection.execute(select(func.max(_A.number)).where(mine)).scalar() or 0
            made = Action(
                tenant, name, newest + 1, action, by, "waiting", self._environments.time(),
                "", "", "", None, None, number, 0, dry_run,
            )  # fmt: skip
            _put(connection, made)
            self._forget_old(connection, made)
        return made

    def start(self, action: Action) -> None:
        """Writes down that the run has begun."""
        self._change(action, state="running", begun=self._environments.time())

    def note(self, action: Action, lines: Collection[ActionLine], doing: str, effects: int) -> None:
        """Writes down what a run says and does."""
        with self._database.writing() as connection:
            key = {"tenant": action.tenant, "environment": action.environment}
            rows = [
                {**key, "action": action.number, "number": x.number, "at": x.at, "line": x.line}
                for x in lines
            ]
            upsert(connection, t.LINES, rows)
            values = {"doing": doing, "effects": effects}
            connection.execute(update(t.ACTIONS).where(_is(t.ACTIONS, action)).values(**values))

    def end(
        self,
        action: Action,
        state: ActionState,
        *,
        error: dict[str, str] | None = None,
        result: dict[str, Any] | None = None,
    ) -> None:
        """Writes down how the run came out; nothing where the environment is gone by then."""
        ended = self._environments.time()
        self._change(action, state=state, ended=ended, doing="", error=error, result=result)

    def list(
        self, name: str, *, tenant: str, before: int | None = None, most: int | None = None
    ) -> tuple[Action, ...]:
        """The actions of an environment, the newest first.

        Args:
            name: the environment.
            tenant: whose it is.
            before: only those with a smaller number, where it is given.
            most: how many of them; all where None.

        Raises:
            NoSuchEnvironmentError: the tenant has no such environment.
        """
        self._environments.get(name, tenant=tenant)
        self.settle()
        with self._database.reading() as connection:
            found = select(t.ACTIONS).where(_A.tenant == tenant, _A.environment == name)
            if before is not None:
                found = found.where(_A.number < before)
            rows = connection.execute(found.order_by(_A.number.desc()).limit(most))
            return tuple(map(_action, rows))

    def get(self, name: str, number: int, *, tenant: str) -> Action:
        """An action.

        Raises:
            NoSuchActionError: there is none of that number.
            NoSuchEnvironmentError: the tenant has no such environment.
        """
        self._environments.get(name, tenant=tenant)
        self.settle()
        with self._database.reading() as connection:
            mine = and_(_A.tenant == tenant, _A.environment == name, _A.number == number)
            row = connection.execute(select(t.ACTIONS).where(mine)).first()
        if row is None:
            advice = "list the actions of the environment to see them"
            raise NoSuchActionError(name, f"action {number}", "none", advice)
        return _action(row)

    def lines(self, action: Action, *, after: int = 0, most: int = 1000) -> tuple[ActionLine, ...]:
        """What an action said after a line, in order."""
        with self._database.reading() as connection:
            mine = and_(_of(t.LINES, action), _L.action == action.number, _L.number > after)
            found = select(_L.number, _L.at, _L.line).where(mine).order_by(_L.number).limit(most)
            return tuple(ActionLine(*row) for row in connection.execute(found))

    def fail_call(
        self, name: str, action: str, *, tenant: str, by: str, begun: str, error: BaseException
    ) -> None:
        """Writes down a call of a method that failed and was not asked for as an action."""
        made = self.begin(name, action, tenant=tenant, by=by)
        failed = failure_of(error)
        state: ActionState = "failed" if isinstance(error, Exception) else "interrupted"
        self._change(made, state=state, begun=begun, ended=self._environments.time(), error=failed)

    def failed_calls(self, name: str, *, tenant: str) -> tuple[Action, ...]:
        """The calls of methods that came to no end, the newest first; dry runs are left out.

        Raises:
            NoSuchEnvironmentError: the tenant has no such environment.
        """
        found = self.list(name, tenant=tenant)
        return tuple(
            each
            for each in found
            if each.action.startswith(CALL)
            and each.state in ("failed", "interrupted")
            and not each.dry_run
        )

    def settle(self) -> None:
        """Notes which actions were interrupted since their servers have died; those of the seats that were taken here go on."""
        with self._database.reading() as connection:
            found = select(_A.seat).where(_A.state.in_(OPEN)).distinct()
            numbers = [number for (number,) in connection.execute(found)]
        for number in numbers:
            if (own := self._seats.get(number)) is not None:
                own.keep()
                continue
            with contextlib.suppress(BusyError), alone_at(self._database, number):
                self._interrupt(number)

    def _interrupt(self, seat: int) -> None:
        """Notes that the open actions of a seat were interrupted."""
        error = {"message": "the server ended before the action did", "code": "interrupted"}
        values = {"state": "interrupted", "ended": self._environments.time(), "doing": ""}
        with self._database.writing() as connection:
            mine = and_(_A.seat == seat, _A.state.in_(OPEN))
            connection.execute(
                update(t.ACTIONS).where(mine).values(**values, error=json.dumps(error))
            )

    def _forget_old(self, connection: Connection, newest: Action) -> None:
        """Forgets what is too old; dry runs make no other action old, and one that still runs is kept."""
        ended = and_(_of(t.ACTIONS, newest), _A.state.not_in(OPEN), _A.dry_run == newest.dry_run)
        beyond = select(_A.number).where(ended).order_by(_A.number.desc()).offset(_KEPT - 1)
        old = [number for (number,) in connection.execute(beyond)]
        for table, number in ((t.LINES, _L.action), (t.ACTIONS, _A.number)):
            connection.execute(delete(table).where(_of(table, newest), number.in_(old)))

    def _change(self, action: Action, **values: Any) -> None:
        changed = {x: json.dumps(y) if x in _AS_JSON else y for x, y in values.items()}
        with self._database.writing() as connection:
            connection.execute(update(t.ACTIONS).where(_is(t.ACTIONS, action)).values(**changed))


def failure_of(error: BaseException) -> dict[str, str]:
    """An error as clients read it; where the database is, is not for them."""
    if isinstance(error, DatabaseError):
        message = f"the catalog: {expectation(error.expected, error.found, error.advice)}"
        return {"message": message, "code": str(error.code)}
    if not isinstance(error, TrundleError):
        return {"message": f"the run failed: {type(error).__name__}", "code": "failed"}
    code = next((each.code for each in error.findings), error.kind.name.lower())
    return {"message": str(error), "code": str(code)}


_AS_JSON = frozenset(("error", "result"))


def _put(connection: Connection, action: Action) -> None:
    row = {name: getattr(action, name) for name in action.__struct_fields__}
    upsert(
        connection,
        t.ACTIONS,
        [{x: json.dumps(y) if x in _AS_JSON else y for x, y in row.items()}],
    )


def _action(row: Row[Any]) -> Action:
    found = dict(row._mapping)  # noqa: SLF001 - public, in spite of its name
    return Action(**{x: json.loads(y) if x in _AS_JSON else y for x, y in found.items()})


def _of(table: Table, action: Action) -> ColumnElement[bool]:
    return and_(table.c.tenant == action.tenant, table.c.environment == action.environment)


def _is(table: Table, action: Action) -> ColumnElement[bool]:
    return and_(_of(table, action), table.c.number == action.number)
