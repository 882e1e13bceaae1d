"""The journal of an environment in its database."""

import itertools
from collections.abc import Callable, Sequence

from trundle.database import Database
from trundle.engine.effects import Journal, Record
from trundle.environments._errors import SupersededError
from trundle.environments._records import Environment
from trundle.environments._rows import Rows


class DatabaseJournal(Journal):
    """The journal of one run of an environment: each write is a transaction, which fails once a later run has begun.

    Args:
        database: the database.
        environment: the environment, with the number of the run.
    """

    def __init__(self, database: Database, environment: Environment) -> None:
        self._database = database
        self._environment = environment
        with database.reading() as connection:
            found = Rows(connection).effects(environment)
        self._records = {each.key: each for _, each in found}
        self._positions = {each.key: at for at, each in found}
        self._next = itertools.count(max(self._positions.values(), default=0) + 1)

    def records(self) -> Sequence[Record]:
        return tuple(self._records.values())

    def write(self, record: Record) -> None:
        position = self._positions.get(record.key)
        if position is None:
            position = self._positions[record.key] = next(self._next)
        self._change(lambda rows: rows.put_effect(self._environment, position, record))
        self._records[record.key] = record

    def forget(self, key: str) -> None:
        self._change(lambda rows: rows.forget_effect(self._environment, key))
        self._records.pop(key, None)
        self._positions.pop(key, None)

    def _change(self, change: Callable[[Rows], None]) -> None:
        with self._database.writing() as connection:
            rows = Rows(connection)
            check_running(rows, self._environment)
            change(rows)


def check_running(rows: Rows, environment: Environment) -> None:
    """Makes sure that no later run of an environment has begun.

    Raises:
        SupersededError: one has.
    """
    if not rows.is_running(environment):
        expected, found = f"run {environment.run} to be the last one", "a later one"
        advice = "look at the history of the environment, and deploy it again"
        raise SupersededError(environment.name, expected, found, advice)
