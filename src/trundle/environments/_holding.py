"""Holds an environment, so that nothing else runs it or changes what its runs rely on."""

import contextlib
import datetime as dt
from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import select

from trundle._clock import Clock
from trundle.database import BusyError, Database, upsert
from trundle.environments import _tables as t
from trundle.environments._errors import EnvironmentBusyError
from trundle.environments._rows import Rows
from trundle.errors import duration_text


class Holder(NamedTuple):
    """What holds an environment, for those that cannot have it meanwhile.

    Attributes:
        action: what it does.
        by: who asked for it; empty where that is not known.
    """

    action: str
    by: str = ""


@contextlib.contextmanager
def alone(
    database: Database, name: str, tenant: str, holder: Holder, clock: Clock
) -> Iterator[None]:
    """Keeps runs of an environment out, and changes of what it reaches.

    Args:
        database: where the environment is.
        name: its name.
        tenant: whose it is.
        holder: what is to hold it.
        clock: gives the time.

    Raises:
        EnvironmentBusyError: another one has it; the error says which one, and for how long.
        DatabaseError: the database cannot be written.
    """
    with contextlib.ExitStack() as left:
        try:
            left.enter_context(database.alone(f"environment {tenant}/{name}"))
        except BusyError:
            expected, found = (
                "no other run of the environment",
                _found(database, name, tenant, clock),
            )
            advice = "try again when it has ended"
            raise EnvironmentBusyError(name, expected, found, advice) from None
        row = {"tenant": tenant, "environment": name, **holder._asdict()}
        row["since"] = clock().isoformat(timespec="seconds")
        with database.writing() as connection:
            # Nothing would ever remove what is noted of a name that is no environment's.
            if Rows(connection).environment(tenant, name) is not None:
                upsert(connection, t.HOLDERS, [row])
        yield


def _found(database: Database, name: str, tenant: str, clock: Clock) -> str:
    """What holds an environment, as it has written down. One that has just begun may not have done so yet."""
    mine = (t.HOLDERS.c.tenant == tenant, t.HOLDERS.c.environment == name)
    with database.reading() as connection:
        row = connection.execute(select(t.HOLDERS).where(*mine)).first()
    if row is None:
        return "one that goes on"
    since = dt.datetime.fromisoformat(row.since)
    by = f" by {row.by}" if row.by else ""
    lasts = duration_text(max(clock() - since, dt.timedelta()))
    return f"`{row.action}`{by}, which goes on since {row.since} ({lasts})"
