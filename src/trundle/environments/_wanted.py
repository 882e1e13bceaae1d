"""What an environment is to have, and whether it may have anything."""

from trundle.environments._errors import NoSuchEnvironmentError
from trundle.environments._models import new_model
from trundle.environments._records import Environment, Lock, Model
from trundle.environments._rows import Rows


def wanted_now(rows: Rows, environment: Environment) -> tuple[Model, Lock]:
    """The model that an environment is to have, and its lock; a new one where it has none."""
    last = rows.deployment(environment, environment.revision)
    if last is None or last.objects is None:
        return new_model(environment.name, environment.root), {}
    return last.objects, last.lock


def check_alive(environment: Environment) -> None:
    """Makes sure that an environment was not deleted.

    Raises:
        NoSuchEnvironmentError: it was.
    """
    if environment.deleted:
        advice = f"roll it back, or run `trundle env create {environment.name}`"
        found = "one that was deleted"
        raise NoSuchEnvironmentError(environment.name, "an environment", found, advice)
