"""Seats of servers: numbers whose locks die with their servers."""

import contextlib
import itertools
import secrets
import threading
from collections.abc import Iterator

from trundle.database import BusyError, Database

_MOST = 2**31 - 1
"""The largest number that the column of a seat can have."""


class Seat:
    """A seat that a server has taken.

    Attributes:
        number: its number.

    Args:
        database: has the lock.
        number: its number.

    Raises:
        BusyError: another one has it.
        DatabaseError: the database cannot be reached.
    """

    def __init__(self, database: Database, number: int) -> None:
        self.number = number
        self._database = database
        self._keeping = threading.Lock()
        self._held = self._taken()

    def keep(self) -> None:
        """Takes the seat again where the connection with its lock was lost.

        Raises:
            DatabaseError: the database cannot be reached.
        """
        with self._keeping, contextlib.suppress(BusyError):
            again = self._taken()
            self._held.close()
            self._held = again

    def leave(self) -> None:
        """Lets others have it."""
        self._held.close()

    def _taken(self) -> contextlib.ExitStack:
        with contextlib.ExitStack() as held:
            held.enter_context(alone_at(self._database, self.number))
            return held.pop_all()


def free_seat(database: Database) -> Seat:
    """Takes a seat that no other server has.

    Raises:
        DatabaseError: the database cannot be reached.
    """
    for number in _numbers(database):
        with contextlib.suppress(BusyError):
            return Seat(database, number)
    raise AssertionError


def alone_at(database: Database, number: int) -> contextlib.AbstractContextManager[None]:
    """Has a seat as long as the block runs.

    Raises:
        BusyError: another one has it.
        DatabaseError: the database cannot be reached.
    """
    return database.alone(f"server of environments {number}")


def _numbers(database: Database) -> Iterator[int]:
    if not database.is_server:
        return itertools.count(1)  # Each has a file, which stays.
    # A server of a database can lose a connection, and must find its seat free then.
    return iter(lambda: 1 + secrets.randbelow(_MOST), 0)
