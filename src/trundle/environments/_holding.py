"""Holds an environment, so that nothing else runs it or changes what its runs rely on."""

import contextlib
from collections.abc import Iterator

from trundle.database import BusyError, Database
from trundle.environments._errors import EnvironmentBusyError


@contextlib.contextmanager
def alone(database: Database, name: str, tenant: str) -> Iterator[None]:
    """Keeps runs of an environment out, and changes of what it reaches.

    Raises:
        EnvironmentBusyError: another one has it.
    """
    with contextlib.ExitStack() as left:
        try:
            left.enter_context(database.alone(f"environment {tenant}/{name}"))
        except BusyError:
            expected, found = "no other run of the environment", "one that goes on"
            advice = "try again when it has ended"
            raise EnvironmentBusyError(name, expected, found, advice) from None
        yield
