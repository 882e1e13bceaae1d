"""What an environment is to have, without any draft."""

from trundle.environments._models import new_model
from trundle.environments._records import Environment, Lock, Model
from trundle.environments._rows import Rows


def wanted_now(rows: Rows, environment: Environment) -> tuple[Model, Lock]:
    """The model that an environment is to have, and its lock; a new one where it has none."""
    last = rows.deployment(environment, environment.revision)
    if last is None or last.objects is None:
        return new_model(environment.name, environment.root), {}
    return last.objects, last.lock
