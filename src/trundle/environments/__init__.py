"""Kept object models of tenants: drafted, deployed, called, upgraded, rolled back; with a journal and a history in the database.

`Environments` keeps them beside the catalog. Providers are given to what runs.
"""

from typing import TYPE_CHECKING

from trundle._faces import on_demand

if TYPE_CHECKING:
    from trundle.environments._actions import Action, ActionLine, Actions, ActionState, failure_of
    from trundle.environments._applications import (
        HiddenAnswers,
        adding,
        check_application,
        chosen_package,
        form_parameters,
        object_of,
        removing,
        replacing,
    )
    from trundle.environments._calling import call
    from trundle.environments._environments import Environments
    from trundle.environments._errors import (
        ArrivalError,
        ChoiceError,
        EnvironmentBusyError,
        EnvironmentExistsError,
        EnvironmentsError,
        InvalidNameError,
        InvalidSecretError,
        MajorError,
        NoSuchActionError,
        NoSuchDeploymentError,
        NoSuchDraftError,
        NoSuchEnvironmentError,
        NoSuchObjectError,
        NoSuchSecretError,
        OutdatedDraftError,
        ProviderInUseError,
        SupersededError,
        UnfinishedError,
    )
    from trundle.environments._models import APPLICATIONS, label_of, left_out, objects_in, pinned
    from trundle.environments._records import (
        Deployment,
        Draft,
        Environment,
        Model,
        Opening,
        Overview,
        Providers,
        RunResult,
    )
    from trundle.environments._running import delete, deploy, rollback
    from trundle.environments._seats import Seat
    from trundle.environments._static_calls import CalledClass, call_static
    from trundle.environments._upgrading import newer_majors, upgrade

__all__ = [
    "APPLICATIONS",
    "Action",
    "ActionLine",
    "ActionState",
    "Actions",
    "ArrivalError",
    "CalledClass",
    "ChoiceError",
    "Deployment",
    "Draft",
    "Environment",
    "EnvironmentBusyError",
    "EnvironmentExistsError",
    "Environments",
    "EnvironmentsError",
    "HiddenAnswers",
    "InvalidNameError",
    "InvalidSecretError",
    "MajorError",
    "Model",
    "NoSuchActionError",
    "NoSuchDeploymentError",
    "NoSuchDraftError",
    "NoSuchEnvironmentError",
    "NoSuchObjectError",
    "NoSuchSecretError",
    "Opening",
    "OutdatedDraftError",
    "Overview",
    "ProviderInUseError",
    "Providers",
    "RunResult",
    "Seat",
    "SupersededError",
    "UnfinishedError",
    "adding",
    "call",
    "call_static",
    "check_application",
    "chosen_package",
    "delete",
    "deploy",
    "failure_of",
    "form_parameters",
    "label_of",
    "left_out",
    "newer_majors",
    "object_of",
    "objects_in",
    "pinned",
    "removing",
    "replacing",
    "rollback",
    "upgrade",
]

on_demand(__name__)
