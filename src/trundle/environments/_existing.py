"""Which environments there are, and whether one may be changed, made or removed."""

from trundle.environments._errors import (
    EnvironmentBusyError,
    EnvironmentExistsError,
    NoSuchEnvironmentError,
)
from trundle.environments._records import Environment
from trundle.environments._rows import Rows
from trundle.errors import did_you_mean

_LIST = "run `trundle env list` to see what there is"


def existing(rows: Rows, name: str, tenant: str) -> Environment:
    """The environment of a name.

    Raises:
        NoSuchEnvironmentError: the tenant has none.
    """
    found = rows.environment(tenant, name)
    if found is None:
        known = [each.name for each in rows.environments(tenant)]
        advice = did_you_mean(name, known, _LIST)
        raise NoSuchEnvironmentError(name, f"an environment of {tenant}", "none", advice)
    return found


def check_alive(environment: Environment) -> None:
    """Makes sure that an environment was not deleted.

    Raises:
        NoSuchEnvironmentError: it was.
    """
    if environment.deleted:
        advice = f"roll it back, or run `trundle env create {environment.name}`"
        found = "one that was deleted"
        raise NoSuchEnvironmentError(environment.name, "an environment", found, advice)


def check_deleted(environment: Environment) -> None:
    """Makes sure that an environment was deleted.

    Raises:
        EnvironmentExistsError: it was not.
    """
    if not environment.deleted:
        expected, advice = "a deleted environment", "delete it first"
        raise EnvironmentExistsError(environment.name, expected, "one that is there", advice)


def check_unasked(rows: Rows, environment: Environment) -> None:
    """Makes sure that no action of an environment waits or goes on: it would act on the next environment of that name.

    Raises:
        EnvironmentBusyError: one does.
    """
    if rows.is_asked_for(environment):
        expected, found = "no action that waits or goes on", "one"
        advice = "try again when it has ended"
        raise EnvironmentBusyError(environment.name, expected, found, advice)


def check_free(environment: Environment | None) -> None:
    """Makes sure that the name of an environment is free: there is none, or it was deleted.

    Raises:
        EnvironmentExistsError: it is not.
    """
    if environment is not None and not environment.deleted:
        expected, advice = "no environment of that name", "choose another name"
        raise EnvironmentExistsError(environment.name, expected, "one", advice)
